"""Lowering of determinants by LU factorization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray
from aesara.lower.linear_algebra.equations import factor_lu
from aesara.lower.linear_algebra.matrices import MatrixBatch, Numbers, adopt, diagonal, each_part, parts_of
from aesara.lower.reductions.careduce import reduce_array
from aesara.lower.sequences.carried import Pair, carry
from aesara.lower.sequences.carried import product as times
from aesara.tensor.linear_algebra.determinant import Det, SLogDet

__all__: list[str] = []


def _factorize(batch: MatrixBatch) -> tuple[Any, Array, Array]:
    """Factorize matrices; return the diagonal of U, its absolute values, and the sign of each row swap."""
    (a,) = batch.inputs
    order = batch.require_square(a, batch.linalg_error)
    factors = factor_lu(batch, a, None)
    values = diagonal(factors["a"], order)
    dtype = parts_of(a)[0].dtype
    one = const(1, dtype)

    def sign(index: Index, readers: Sequence[Reader]) -> Expr:
        is_swapped = primitive("ne", cast(readers[0](index), "int64"), index[-1] + 1)
        return primitive("select", is_swapped, -one, one)

    def magnitude(index: Index, readers: Sequence[Reader]) -> Expr:
        parts = [read(index) for read in readers]
        return primitive("hypot", *parts) if len(parts) == 2 else primitive("abs", parts[0])

    magnitudes = Pointwise(dtype, values.shape, parts_of(values), magnitude, 1 if isinstance(values, Array) else 40)
    return values, magnitudes, Pointwise(dtype, values.shape, (factors["pivots"],), sign, 3)


def _reduce(batch: MatrixBatch, array: Array, kind: str) -> Array:
    array = batch.context.ensure_added(array)
    return reduce_array(batch.context, array, (array.ndim - 1,), kind)


def _sign(batch: MatrixBatch, values: Numbers, magnitudes: Array, signs: Array) -> Numbers:
    """Return the sign of the determinant, of absolute value one for complex matrices."""
    if isinstance(values, ComplexArray):
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


def _complex_sign(batch: MatrixBatch, values: ComplexArray, magnitudes: Array, signs: Array) -> ComplexArray:
    """Return the product of phases; it is zero for a singular matrix."""
    dtype = magnitudes.dtype
    zero = const(0, dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        part, magnitude, sign = (read(index) for read in readers)
        return primitive("select", primitive("eq", magnitude, zero), zero, sign * (part / magnitude))

    units = ComplexArray(*(Pointwise(dtype, values.shape, (p, magnitudes, signs), body, 20) for p in values.parts))

    def multiply(so_far: Pair, elements: Sequence[Pair]) -> Pair:
        return times(so_far, elements[0])

    axis = len(values.shape) - 1
    return carry([units], (axis,), lambda elements: elements[0], multiply, batch.context, start=1)


def _sum_of_logarithms(batch: MatrixBatch, magnitudes: Array) -> Array:
    logarithms = Pointwise(
        magnitudes.dtype, magnitudes.shape, (magnitudes,),
        lambda index, readers: primitive("log", readers[0](index)), 20,
    )  # fmt: skip
    return _reduce(batch, logarithms, "add")


@adopt(SLogDet)
def _slogdet(op: SLogDet, batch: MatrixBatch) -> Sequence[Numbers]:
    values, magnitudes, signs = _factorize(batch)
    return [_sign(batch, values, magnitudes, signs), _sum_of_logarithms(batch, magnitudes)]


@adopt(Det)
def _det(op: Det, batch: MatrixBatch) -> Sequence[Numbers]:
    """Multiply the diagonal; if the product overflows or underflows, exponentiate the sum of logarithms."""
    values, magnitudes, signs = _factorize(batch)
    dtype = magnitudes.dtype
    product, logarithm = _reduce(batch, magnitudes, "mul"), _sum_of_logarithms(batch, magnitudes)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        magnitude = readers[0](index)
        lost = primitive("isinf", magnitude) | primitive("eq", magnitude, const(0, dtype))
        magnitude = primitive("select", lost, primitive("exp", readers[1](index)), magnitude)
        return magnitude * readers[2](index)

    def with_sign(sign: Array) -> Array:
        return Pointwise(dtype, product.shape, (product, logarithm, sign), body, 25)

    return [each_part(with_sign, _sign(batch, values, magnitudes, signs))]
