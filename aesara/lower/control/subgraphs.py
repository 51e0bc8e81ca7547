"""Inlined lowering of `OpFromGraph`."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.cloning import clone
from aesara.graph.nodes import Apply
from aesara.lower.arrays import Array
from aesara.lower.complex import ComplexArray
from aesara.lower.context import Context
from aesara.lower.dispatch import is_complex, lower_all, lower_complex_op, lower_op
from aesara.subgraph import OpFromGraph


@lower_op.register  # type: ignore[arg-type]  # returns arrays for real numbers
@lower_complex_op.register
def _op_from_graph(op: OpFromGraph, node: Apply, context: Context) -> Sequence[Array | ComplexArray]:
    # Each node gets variables of its own, since arrays are found by variable.
    inputs, outputs = clone(list(op.inner_inputs), list(op.inner_outputs))
    for outer, inner in zip(node.inputs, inputs, strict=True):
        context.set(inner, context.pair(outer) if is_complex(outer) else context.array(outer))
    lower_all(inputs, outputs, context)
    return [context.pair(v) if is_complex(v) else context.array(v) for v in outputs]
