"""Vectorization of ops that are defined by expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_graph, vectorize_node
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.variable import TensorVariable


@vectorize_node.register(ExpressionOp)
def _expression(op: ExpressionOp, node: Apply, *inputs: TensorVariable) -> Sequence[TensorVariable]:
    """Vectorize the definition of the op; the op itself has no form for batches."""
    members: list[Any] = node.inputs
    return [vectorize_graph(op.definition(*members), dict(zip(members, inputs)))]
