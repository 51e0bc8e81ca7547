"""Arithmetic with shapes of symbolic sizes."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.ir.expr import Expr, const
from aesara.ir.steps import BATCH

__all__ = ["batch_offset", "count_of"]


def count_of(shape: Sequence[Expr]) -> Expr:
    """Return the number of elements of a shape."""
    return functools.reduce(lambda a, b: a * b, shape, const(1))


def batch_offset(lead: Sequence[Expr], own: Sequence[Expr], strides: Sequence[Expr]) -> Expr:
    """Return the offset of batch member `BATCH`, in row-major order over `lead`; sizes of 1 broadcast."""
    steps = [const(0) if n is const(1) else step for n, step in zip(own, strides, strict=True)]
    if all(step is (inner * n) for step, inner, n in zip(steps, steps[1:], lead[1:])):
        return BATCH * steps[-1] if steps else const(0)
    total: Expr = const(0)
    rest: Expr = BATCH
    for d in reversed(range(len(lead))):
        index = rest % lead[d] if d else rest
        total = total + index * steps[d]
        rest = rest // lead[d]
    return total
