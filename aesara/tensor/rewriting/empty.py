"""Zeros in place of memory that nobody has written, for those who look at every number."""

from __future__ import annotations

from aesara.graph.rewriting.matching import ops
from aesara.graph.rewriting.pattern import rule
from aesara.tensor.creation.allocation import AllocEmpty, zeros

__all__ = ["local_alloc_empty_to_zeros"]

local_alloc_empty_to_zeros = rule(
    "local_alloc_empty_to_zeros",
    (ops(AllocEmpty, dtype="dtype"), "**lengths"),
    lambda lengths, dtype: zeros(tuple(lengths), dtype),
    why="empty(shape) -> zeros(shape)",
)
