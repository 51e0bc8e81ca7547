"""Vectorization of products of vectors and matrices.

An unbatched matrix is multiplied once, with the members of the batch as rows of one matrix; batched operands are
multiplied by a product that broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.products.dot import BatchedDot, Dot
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.reductions.sum_prod_max import sum as tensor_sum
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.vectorization.batches import align, batches, most_batches


@vectorize_node.register(Dot)
def _dot(op: Dot, node: Apply, x: TensorVariable, y: TensorVariable) -> Sequence[TensorVariable]:
    of_x, of_y = batches(node, [x, y])
    x_core, y_core = (v.type.ndim for v in node.inputs)
    if not of_y:
        return [_rows_times(x, y)]
    if not of_x and y_core == 1:
        # Each member is a row: the product with the transposed matrix.
        return [_rows_times(y, x if x_core == 1 else x.T)]
    dtype = node.outputs[0].type.dtype
    if x_core == y_core == 1:
        # Write sums of products, which can be fused with the expressions of the vectors.
        return [tensor_sum((x * y).astype(dtype), axis=-1, dtype=dtype)]
    if x_core == y_core == 2 and x.type.shape[-1] == 1 and y.type.shape[-2] == 1:
        # A column times a row.
        return [(x * y).astype(dtype)]
    return [_broadcast_product(x, x_core, y, y_core, dtype)]


def _rows_times(rows: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return the product of the last dimension of a tensor with a vector or matrix, as one matrix product."""
    if rows.type.ndim <= 2:
        return Dot()(rows, y)
    sizes = sizes_of(rows)
    n_rows = sizes[0]
    for size in sizes[1:-1]:
        n_rows = n_rows * size
    product = Dot()(reshape(rows, [n_rows, sizes[-1]], ndim=2), y)
    columns = [] if y.type.ndim == 1 else [sizes_of(y)[1]]
    return reshape(product, [*sizes[:-1], *columns], ndim=rows.type.ndim - 2 + y.type.ndim)


def _broadcast_product(x: TensorVariable, x_core: int, y: TensorVariable, y_core: int, dtype: str) -> TensorVariable:
    """Return a product of matrices or vectors that broadcasts over all other dimensions."""
    if x_core == 1:
        x = dimshuffle(x, (*range(x.type.ndim - 1), "x", x.type.ndim - 1))
    if y_core == 1:
        y = dimshuffle(y, (*range(y.type.ndim), "x"))
    return _without_added(MatMul(dtype)(x, y), x_core == 1, y_core == 1)


def _without_added(product: TensorVariable, row: bool, column: bool) -> TensorVariable:
    """Remove the dimensions from a product that were added to make vectors rows or columns."""
    last = product.type.ndim - 1
    dropped = ([last - 1] if row else []) + ([last] if column else [])
    return dimshuffle(product, [axis for axis in range(last + 1) if axis not in dropped])


@vectorize_node.register(BatchedDot)
def _batched_dot(op: BatchedDot, node: Apply, x: TensorVariable, y: TensorVariable) -> Sequence[TensorVariable]:
    """Vectorize; the batch dimension of the op is another dimension over which the product broadcasts."""
    x_core, y_core = (v.type.ndim - 1 for v in node.inputs)
    return [_broadcast_product(x, x_core, y, y_core, node.outputs[0].type.dtype)]


@vectorize_node.register(MatMul)
def _matmul(op: MatMul, node: Apply, x: TensorVariable, y: TensorVariable) -> Sequence[TensorVariable]:
    of_x, of_y = batches(node, [x, y])
    x_core, y_core = (v.type.ndim for v in node.inputs)
    batch = most_batches(node, [x, y])
    x_vector, y_vector = x_core == 1, y_core == 1
    if x_vector:
        x, x_core = dimshuffle(x, (*range(of_x), "x", of_x)), 2
    if y_vector:
        y, y_core = dimshuffle(y, (*range(of_y + 1), "x")), 2
    core = max(x_core, y_core)
    # Leading dimensions of the matrices broadcast among themselves, and batch dimensions among themselves.
    product = op(align(x, of_x, batch, core), align(y, of_y, batch, core))
    return [_without_added(product, x_vector, y_vector)]
