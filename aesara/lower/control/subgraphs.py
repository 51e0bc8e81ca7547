"""Inlined lowering of `OpFromGraph`."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.cloning import clone
from aesara.graph.nodes import Apply
from aesara.lower.arrays import Array
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_all, lower_op
from aesara.subgraph import OpFromGraph


@lower_op.register
def _op_from_graph(op: OpFromGraph, node: Apply, context: Context) -> Sequence[Array]:
    # Each node gets variables of its own, since arrays are found by variable.
    inputs, outputs = clone(list(op.inner_inputs), list(op.inner_outputs))
    for outer, inner in zip(node.inputs, inputs, strict=True):
        context.set(inner, context.array(outer))
    lower_all(inputs, outputs, context)
    return [context.array(v) for v in outputs]
