"""Zeros in place of memory that nobody has written, for those who look at every number."""

from __future__ import annotations

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.node_rewriters import node_rewriter
from aesara.tensor.creation.allocation import AllocEmpty, zeros

__all__ = ["local_alloc_empty_to_zeros"]


@node_rewriter([AllocEmpty])
def local_alloc_empty_to_zeros(fgraph: object, node: Apply) -> list[Variable] | None:
    """An array of a given shape with entries that mean nothing -> zeros."""
    return [zeros(tuple(node.inputs), node.op.dtype)] if isinstance(node.op, AllocEmpty) else None
