"""Lowering of matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Product, Reader
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.reductions import converted, reduce_array
from aesara.tensor.dot import BatchedDot, Dot

_BLAS_DTYPES = ("float32", "float64")


@lower_op.register
def _dot(op: Dot, node: Apply, context: Context) -> Sequence[Array]:
    x, y = (context.array(v) for v in node.inputs)
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    message = "dot: the last dimension of the first input has size {0}, the first of the second has size {1}."
    guards = context.require_equal(x.shape[-1], y.shape[0], ValueError, message, node)
    if dtype == "float16":
        # as NumPy does: products and sums in single precision, rounded once
        single = _matrix_product(converted(x, "float32"), converted(y, "float32"), "float32", guards, context)
        return [converted(single, dtype)]
    return [_matrix_product(converted(x, dtype), converted(y, dtype), dtype, guards, context)]


def _matrix_product(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """The product of two matrices or vectors of one dtype."""
    left, right = _added(x, context), _added(y, context)
    if x.ndim == y.ndim == 1:
        return _inner(left, right, dtype, guards, context)
    if dtype not in _BLAS_DTYPES:
        return _plain_product(left, right, dtype, guards, context)
    left = left if left.ndim == 2 else _added(_as_row(left), context)
    right = right if right.ndim == 2 else _added(_as_column(right), context)
    product = context.add(Product(left, right, guards))
    if x.ndim == 1:
        return _drop(product, 0)
    return product if y.ndim == 2 else _drop(product, 1)


def _added(array: Array, context: Context) -> Array:
    return array if array.stamp >= 0 else context.add(array)


def _inner(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """Two vectors: a sum of products, which fuses with what makes them."""
    terms = Pointwise(
        dtype, x.shape, (x, y), lambda index, readers: primitive("mul", readers[0](index), readers[1](index)),
        requires=guards,
    )  # fmt: skip
    return reduce_array(context, terms, (0,), "add")


def _plain_product(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """Dtypes that BLAS does not know: a sum over the inner dimension."""
    rows, columns = x.shape[:-1], y.shape[1:]
    shape = (*rows, *columns, x.shape[-1])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        inner = index[-1]
        return primitive("mul", readers[0]((*index[: len(rows)], inner)), readers[1]((inner, *index[len(rows) : -1])))

    terms = Pointwise(dtype, shape, (x, y), body, 1, [bool(columns), bool(rows)], guards)
    return reduce_array(context, terms, (len(shape) - 1,), "add")


def _as_row(vector: Array) -> Array:
    return Pointwise(
        vector.dtype, (ONE, vector.shape[0]), (vector,), lambda index, readers: readers[0]((index[1],)), 0,
        strided=lambda offset, strides: (offset, (ZERO, strides[0])),
    )  # fmt: skip


def _as_column(vector: Array) -> Array:
    return Pointwise(
        vector.dtype, (vector.shape[0], ONE), (vector,), lambda index, readers: readers[0]((index[0],)), 0,
        strided=lambda offset, strides: (offset, (strides[0], ZERO)),
    )  # fmt: skip


def _drop(matrix: Array, axis: int) -> Array:
    """A product with a single row or column as a vector."""
    kept = 1 - axis

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((index[0], const(0)) if kept == 0 else (const(0), index[0]))

    return Pointwise(
        matrix.dtype, (matrix.shape[kept],), (matrix,), body, 0,
        strided=lambda offset, strides: (offset, (strides[kept],)),
    )  # fmt: skip


@lower_op.register
def _batched_dot(op: BatchedDot, node: Apply, context: Context) -> Sequence[Array]:
    """A product for each entry of the first dimension, as sums over the inner one."""
    x, y = (context.array(v) for v in node.inputs)
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    guards: list[object] = []
    message = "batched_dot: the first dimensions have sizes {0} and {1}; they must agree."
    guards += context.require_equal(x.shape[0], y.shape[0], ValueError, message, node)
    message = "batched_dot: the inner dimensions have sizes {0} and {1}; they must agree."
    guards += context.require_equal(x.shape[-1], y.shape[1], ValueError, message, node)
    working = "float32" if dtype == "float16" else dtype
    left, right = _added(converted(x, working), context), _added(converted(y, working), context)
    rows, columns = x.shape[1:-1], y.shape[2:]
    shape = (x.shape[0], *rows, *columns, x.shape[-1])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        batch, inner, middle = index[0], index[-1], index[1:-1]
        return primitive(
            "mul", readers[0]((batch, *middle[: len(rows)], inner)), readers[1]((batch, inner, *middle[len(rows) :]))
        )

    terms = Pointwise(working, shape, (left, right), body, 1, [bool(columns), bool(rows)], guards)
    return [converted(reduce_array(context, terms, (len(shape) - 1,), "add"), dtype)]
