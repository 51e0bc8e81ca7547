"""Lowering of matrix products."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import COMPLEX_OF, PART_OF, Expr, complex_number, const
from aesara.lower.arrays import ONE, ZERO, Array, Index, MatrixProduct, Pointwise, Reader
from aesara.lower.context import Context
from aesara.lower.dimensions import with_dimensions
from aesara.lower.dispatch import lower_op
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.products.dot import BatchedDot, Dot
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.shapes.length_one import MessageAboutLengths

BLAS_DTYPES = ("float32", "float64")
#: in steps of loops, products of matrices of at most this order, with at most so many multiplications, are unrolled
_SIDE, _TERMS = 4, 64


def require_inner_sizes(x: Array, y: Array, node: Apply, context: Context) -> tuple[object, ...]:
    """Check the inner sizes of a product."""
    message = "dot: the last dimension of the first input has size {0}, the first of the second has size {1}."
    return context.require_equal(x.shape[-1], y.shape[0], ValueError, message, node)


@lower_op.register
def _dot(op: Dot, node: Apply, context: Context) -> Sequence[Array]:
    x, y = (context.array(v) for v in node.inputs)
    dtype = node.outputs[0].type.dtype
    guards = require_inner_sizes(x, y, node, context)
    if dtype == "float16":
        # as in NumPy: products and sums are in single precision, and rounded once
        single = _matrix_product(convert(x, "float32"), convert(y, "float32"), "float32", guards, context)
        return [convert(single, dtype)]
    return [_matrix_product(convert_factor(x, dtype), convert_factor(y, dtype), dtype, guards, context)]


def convert_factor(array: Array, dtype: str) -> Array:
    """Cast a factor of a product of this dtype; a real factor stays real."""
    return convert(array, dtype if array.is_complex else PART_OF.get(dtype, dtype))


def bilinear(product: Callable[[Array, Array], Array], x: Array, y: Array, context: Context) -> Array:
    """Return a product, which is linear in each factor: that of complex arrays from products of their parts."""
    products = [product(a, b) for a in x.parts for b in y.parts]
    if len(products) == 1:
        return products[0]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        if len(readers) == 2:
            return complex_number(*(read(index) for read in readers))
        a, b, c, d = (read(index) for read in readers)
        return complex_number(a - d, b + c)

    return context.add(Pointwise(COMPLEX_OF[products[0].dtype], products[0].shape, products, body))


def scaled_product(node: Apply, context: Context) -> Array:
    """Lower a matrix product times a scalar, of a BLAS dtype."""
    x, y, scale = (context.array(v) for v in node.inputs)
    guards = require_inner_sizes(x, y, node, context)
    left, right, factor = context.ensure_added(x), context.ensure_added(y), context.ensure_added(scale)
    expression = _elementwise(left, right, guards, context)
    if expression is None and not x.is_complex:
        return context.add(MatrixProduct(left, right, guards, factor))
    if expression is None:
        expression = _product_by_blas(left, right, guards, context)
    return Pointwise(
        x.dtype, expression.shape, (expression, factor), lambda index, readers: readers[0](index) * readers[1](()), 1,
        [False, True],
    )  # fmt: skip


def _matrix_product(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """Return the product of matrices or vectors of the same dtype."""
    left, right = context.ensure_added(x), context.ensure_added(y)
    if x.ndim == y.ndim == 1:
        return _inner(left, right, dtype, guards, context)
    # With a vector, a single loop reads a complex matrix once.
    is_plain = x.is_complex and y.is_complex and not x.ndim == y.ndim == 2
    if is_plain or PART_OF.get(dtype, dtype) not in BLAS_DTYPES:
        return _plain_product(left, right, dtype, guards, context)
    left = left if left.ndim == 2 else context.ensure_added(with_dimensions(left, [None, 0]))
    right = right if right.ndim == 2 else context.ensure_added(with_dimensions(right, [0, None]))
    product = _elementwise(left, right, guards, context) or _product_by_blas(left, right, guards, context)
    if x.ndim == 1:
        return with_dimensions(product, [1])
    return product if y.ndim == 2 else with_dimensions(product, [0])


def _product_by_blas(x: Array, y: Array, guards: Sequence[object], context: Context) -> Array:
    """Return a batched product of matrices."""
    return bilinear(lambda a, b: context.add(MatrixProduct(a, b, guards)), x, y, context)


def _elementwise(x: Array, y: Array, guards: Sequence[object], context: Context) -> Array | None:
    """Return a matrix product as an elementwise expression if that is faster than BLAS, else None."""
    if x.shape[1] is y.shape[0] is ONE:
        return context.add(_outer(x, y, guards))
    return _unrolled_product(x, y, guards, context)


def _unrolled_product(x: Array, y: Array, guards: Sequence[object], context: Context) -> Array | None:
    """Return an unrolled product of small matrices of static sizes in the step of a loop, else None."""
    (rows, inner), (_, columns) = x.shape, y.shape
    if context.outer is None or not (rows.is_const and inner.is_const and columns.is_const):
        return None
    m, k, n = rows.attr, inner.attr, columns.attr
    if not 0 < max(m, k, n) <= _SIDE or m * k * n > _TERMS or not k:
        return None

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        row, column = index
        terms = [readers[0]((row, const(j))) * readers[1]((const(j), column)) for j in range(k)]
        return functools.reduce(lambda total, term: total + term, terms)

    return context.add(Pointwise(_dtype_of(x, y), (rows, columns), (x, y), body, 2 * k, [True, True], guards))


def _dtype_of(x: Array, y: Array) -> str:
    """Return the dtype of a product of factors of one dtype, of which one may be real and the other complex."""
    return x.dtype if x.is_complex else y.dtype


def _inner(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """Return the inner product of vectors as a reduction, which fuses with its operands."""
    terms = Pointwise(
        dtype, x.shape, (x, y), lambda index, readers: readers[0](index) * readers[1](index),
        requires=guards,
    )  # fmt: skip
    return reduce_array(context, terms, (0,), "add")


def _outer(x: Array, y: Array, guards: Sequence[object]) -> Array:
    """Return the outer product of a column and a row as an elementwise expression."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((index[0], ZERO)) * readers[1]((ZERO, index[1]))

    return Pointwise(_dtype_of(x, y), (x.shape[0], y.shape[1]), (x, y), body, 1, [True, True], guards)


def _plain_product(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """Return a product of a dtype without BLAS, as a reduction over the inner dimension."""
    rows, columns = x.shape[:-1], y.shape[1:]
    shape = (*rows, *columns, x.shape[-1])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        inner = index[-1]
        return readers[0]((*index[: len(rows)], inner)) * readers[1]((inner, *index[len(rows) : -1]))

    terms = Pointwise(dtype, shape, (x, y), body, 1, [bool(columns), bool(rows)], guards)
    return reduce_array(context, terms, (len(shape) - 1,), "add")


@lower_op.register
def _batched_dot(op: BatchedDot, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a product for each index of the first dimension."""
    x, y = (context.array(v) for v in node.inputs)
    message = "batched_dot: the first dimensions have sizes {0} and {1}; they must agree."
    guards = list(context.require_equal(x.shape[0], y.shape[0], ValueError, message, node))
    message = "batched_dot: the inner dimensions have sizes {0} and {1}; they must agree."
    guards += context.require_equal(x.shape[-1], y.shape[1], ValueError, message, node)
    return [_products(x, y, x.ndim == 2, y.ndim == 2, node.outputs[0].type.dtype, guards, context)]


@lower_op.register
def _matmul(op: MatMul, node: Apply, context: Context) -> Sequence[Array]:
    a, b = node.inputs
    x, y = context.array(a), context.array(b)
    message = "matmul: the inner dimensions have sizes {0} and {1}; they must agree."
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    guards = list(context.require_equal(x.shape[-1], inner, ValueError, message, node))
    for axis in range(-min(x.ndim, y.ndim), -2):
        if 1 not in (a.type.shape[axis], b.type.shape[axis]):
            message = (
                f"matmul: the inputs have sizes {{0}} and {{1}} in dimension {axis}. A dimension is broadcast only "
                "where its static length is 1: use specify_broadcastable to say so."
            )
            error = MessageAboutLengths(message, ((a, x.ndim + axis), (b, y.ndim + axis)))
            guards += context.require_equal(x.shape[axis], y.shape[axis], ValueError, error, node)
    return [_products(x, y, x.ndim == 1, y.ndim == 1, node.outputs[0].type.dtype, guards, context)]


def _products(
    x: Array, y: Array, x_is_row: bool, y_is_column: bool, dtype: str, guards: Sequence[object], context: Context
) -> Array:
    """Return batched products; a missing row or column dimension is inserted and removed again.

    Half precision is computed in single precision and rounded once, as in NumPy.
    """
    working = "float32" if dtype == "float16" else dtype
    left, right = (context.ensure_added(convert_factor(a, working)) for a in (x, y))
    by_blas = PART_OF.get(working, working) in BLAS_DTYPES
    if x_is_row:
        left = with_dimensions(left, [*range(left.ndim - 1), None, left.ndim - 1])
    if y_is_column:
        right = with_dimensions(right, [*range(right.ndim), None])
    lead = max(left.ndim, right.ndim)
    left, right = (with_dimensions(a, [*[None] * (lead - a.ndim), *range(a.ndim)]) for a in (left, right))
    left, right = context.ensure_added(left), context.ensure_added(right)
    expression = _unrolled_product(left, right, guards, context) if lead == 2 and by_blas else None
    if expression is not None:
        result = expression
    elif by_blas:
        result = _product_by_blas(left, right, guards, context)
    else:
        result = _batched_plain_product(left, right, working, guards, context)
    kept = [d for d in range(lead) if not (d == lead - 2 and x_is_row) and not (d == lead - 1 and y_is_column)]
    return convert(with_dimensions(result, kept), dtype)


def _batched_plain_product(x: Array, y: Array, dtype: str, guards: Sequence[object], context: Context) -> Array:
    """Return batched products of a dtype without BLAS, as reductions over the inner dimension."""
    batch = [n if m is ONE else m for m, n in zip(x.shape[:-2], y.shape[:-2], strict=True)]
    shape = (*batch, x.shape[-2], y.shape[-1], x.shape[-1])

    def at(array: Array, lead: Index, matrix: Index) -> Index:
        return (*(ZERO if n is ONE else i for n, i in zip(array.shape, lead)), *matrix)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        *lead, row, column, inner = index
        return readers[0](at(x, tuple(lead), (row, inner))) * readers[1](at(y, tuple(lead), (inner, column)))

    terms = Pointwise(dtype, shape, (x, y), body, 1, [True, True], guards)
    return reduce_array(context, terms, (len(shape) - 1,), "add")
