"""Vectorized nodes of ops about diagonals of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag, FillDiagonal, FillDiagonalOffset
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import switch
from aesara.tensor.vectorization.batches import align, batches
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


@vectorize_node.register(ExtractDiag)
def _extract_diag(op: ExtractDiag, node: Apply, x: TensorVariable) -> Apply:
    (batch,) = batches(node, [x])
    ndim = node.inputs[0].type.ndim
    return ExtractDiag(op.offset, op.axis1 % ndim + batch, op.axis2 % ndim + batch, op.view).make_node(x)


@vectorize_node.register(AllocDiag)
def _alloc_diag(op: AllocDiag, node: Apply, diagonal: TensorVariable) -> Apply:
    (batch,) = batches(node, [diagonal])
    ndim = node.outputs[0].type.ndim
    return AllocDiag(op.offset, op.axis1 % ndim + batch, op.axis2 % ndim + batch).make_node(diagonal)


@vectorize_node.register(FillDiagonal)
@vectorize_node.register(FillDiagonalOffset)
def _fill_diagonal(
    op: FillDiagonal | FillDiagonalOffset,
    node: Apply,
    a: TensorVariable,
    value: TensorVariable,
    *offset: TensorVariable,
) -> Apply | Sequence[TensorVariable]:
    """Vectorize by selecting the value with a mask that is the same for all members."""
    of_a, of_value, *of_offset = batches(node, [a, value, *offset])
    if any(of_offset) or node.inputs[0].type.ndim != 2:
        return vectorize_by_blockwise(op, node, a, value, *offset)
    rows, columns = a.shape[of_a], a.shape[of_a + 1]
    chosen = eye(rows, columns, k=offset[0] if offset else 0, dtype="bool")
    return [switch(chosen, align(value, of_value, of_value, 2), a)]
