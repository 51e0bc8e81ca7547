"""Lowering of determinants by LU factorization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const, parts_of
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.folds import fold
from aesara.lower.linear_algebra.equations import factor_lu
from aesara.lower.linear_algebra.matrices import MatrixBatch, adopt, diagonal, part_dtype
from aesara.lower.reductions.careduce import reduce_array
from aesara.tensor.linear_algebra.determinant import Det, SLogDet

__all__: list[str] = []


def _factorize(batch: MatrixBatch) -> tuple[Any, Array, Array]:
    """Factorize matrices; return the diagonal of U, its absolute values, and the sign of each row swap."""
    (a,) = batch.inputs
    order = batch.require_square(a, batch.linalg_error)
    factors = factor_lu(batch, a, None)
    values = diagonal(factors["a"], order)
    dtype = part_dtype(a)
    one = const(1, dtype)

    def sign(index: Index, readers: Sequence[Reader]) -> Expr:
        is_swapped = primitive("ne", cast(readers[0](index), "int64"), index[-1] + 1)
        return primitive("select", is_swapped, -one, one)

    def magnitude(index: Index, readers: Sequence[Reader]) -> Expr:
        parts = parts_of(readers[0](index))
        return primitive("hypot", *parts) if len(parts) == 2 else primitive("abs", parts[0])

    magnitudes = Pointwise(dtype, values.shape, (values,), magnitude, 40 if values.is_complex else 1)
    return values, magnitudes, Pointwise(dtype, values.shape, (factors["pivots"],), sign, 3)


def _reduce(batch: MatrixBatch, array: Array, kind: str) -> Array:
    array = batch.context.ensure_added(array)
    return reduce_array(batch.context, array, (array.ndim - 1,), kind)


def _sign(batch: MatrixBatch, values: Array, magnitudes: Array, signs: Array) -> Array:
    """Return the sign of the determinant, of absolute value one for complex matrices."""
    if values.is_complex:
        return _complex_sign(batch, values, magnitudes, signs)
    return _real_sign(batch, values, signs)


def _real_sign(batch: MatrixBatch, values: Array, signs: Array) -> Array:
    """Return the product of signs; as in NumPy, that of NaN is 1, and none is a negative zero."""
    dtype = values.dtype
    zero = const(0, dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value, sign = (read(index) for read in readers)
        signed = primitive("select", value < zero, -sign, sign)
        return primitive("select", primitive("eq", value, zero), zero, signed)

    product = _reduce(batch, Pointwise(dtype, values.shape, (values, signs), body, 4), "mul")
    return Pointwise(dtype, product.shape, (product,), lambda index, readers: readers[0](index) + zero)


def _complex_sign(batch: MatrixBatch, values: Array, magnitudes: Array, signs: Array) -> Array:
    """Return the product of phases; it is zero for a singular matrix."""
    dtype = values.dtype
    zero = const(0, dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value, magnitude, sign = (read(index) for read in readers)
        is_zero = primitive("eq", magnitude, const(0, magnitudes.dtype))
        return primitive("select", is_zero, zero, sign * (value / magnitude))

    units = Pointwise(dtype, values.shape, (values, magnitudes, signs), body, 20)
    return fold(units, (values.ndim - 1,), lambda total, unit: total * unit, const(1, dtype))


def _sum_of_logarithms(batch: MatrixBatch, magnitudes: Array) -> Array:
    logarithms = Pointwise(
        magnitudes.dtype, magnitudes.shape, (magnitudes,),
        lambda index, readers: primitive("log", readers[0](index)), 20,
    )  # fmt: skip
    return _reduce(batch, logarithms, "add")


@adopt(SLogDet)
def _slogdet(op: SLogDet, batch: MatrixBatch) -> Sequence[Array]:
    values, magnitudes, signs = _factorize(batch)
    return [_sign(batch, values, magnitudes, signs), _sum_of_logarithms(batch, magnitudes)]


@adopt(Det)
def _det(op: Det, batch: MatrixBatch) -> Sequence[Array]:
    """Multiply the diagonal; if the product overflows or underflows, exponentiate the sum of logarithms."""
    values, magnitudes, signs = _factorize(batch)
    dtype = magnitudes.dtype
    product, logarithm = _reduce(batch, magnitudes, "mul"), _sum_of_logarithms(batch, magnitudes)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        magnitude = readers[0](index)
        out_of_range = primitive("isinf", magnitude) | primitive("eq", magnitude, const(0, dtype))
        magnitude = primitive("select", out_of_range, primitive("exp", readers[1](index)), magnitude)
        return magnitude * readers[2](index)

    sign = _sign(batch, values, magnitudes, signs)
    return [Pointwise(sign.dtype, product.shape, (product, logarithm, sign), body, 25)]
