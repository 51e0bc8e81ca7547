"""Lowering of determinants: products over the diagonals of LU factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray
from aesara.lower.linear_algebra.equations import factor_lu
from aesara.lower.linear_algebra.matrices import Matrices, Numbers, adopt, diagonal, each_part, parts_of
from aesara.lower.reductions.careduce import reduce_array
from aesara.lower.sequences.carried import Pair, carried
from aesara.lower.sequences.carried import product as times
from aesara.tensor.linear_algebra.determinant import Det, SLogDet

__all__: list[str] = []


def _factored(of: Matrices) -> tuple[Any, Array, Array]:
    """The diagonal of the factors of matrices, the sizes of its numbers, and the sign of swaps of rows at each."""
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    factors = factor_lu(of, a, None)
    values = diagonal(factors["a"], order)
    dtype = parts_of(a)[0].dtype
    one = const(1, dtype)

    def sign(index: Index, readers: Sequence[Reader]) -> Expr:
        swapped = primitive("ne", cast(readers[0](index), "int64"), index[-1] + 1)
        return primitive("select", swapped, -one, one)

    def magnitude(index: Index, readers: Sequence[Reader]) -> Expr:
        parts = [read(index) for read in readers]
        return primitive("hypot", *parts) if len(parts) == 2 else primitive("abs", parts[0])

    magnitudes = Pointwise(dtype, values.shape, parts_of(values), magnitude, 1 if isinstance(values, Array) else 40)
    return values, magnitudes, Pointwise(dtype, values.shape, (factors["pivots"],), sign, 3)


def _reduced(of: Matrices, array: Array, kind: str) -> Array:
    array = of.context.added(array)
    return reduce_array(of.context, array, (array.ndim - 1,), kind)


def _sign(of: Matrices, values: Numbers, magnitudes: Array, signs: Array) -> Numbers:
    """The product of signs of numbers, or of complex numbers of size one, with those of swaps."""
    if isinstance(values, ComplexArray):
        return _complex_sign(of, values, magnitudes, signs)
    return _real_sign(of, values, signs)


def _real_sign(of: Matrices, values: Array, signs: Array) -> Array:
    """As NumPy has it, the sign of NaN is 1; no sign is a negative zero."""
    dtype = values.dtype
    zero = const(0, dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value, sign = (read(index) for read in readers)
        turned = primitive("select", value < zero, -sign, sign)
        return primitive("select", primitive("eq", value, zero), zero, turned)

    product = _reduced(of, Pointwise(dtype, values.shape, (values, signs), body, 4), "mul")
    return Pointwise(dtype, product.shape, (product,), lambda index, readers: readers[0](index) + zero)


def _complex_sign(of: Matrices, values: ComplexArray, magnitudes: Array, signs: Array) -> ComplexArray:
    """Of a singular matrix it is zero."""
    dtype = magnitudes.dtype
    zero = const(0, dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        part, magnitude, sign = (read(index) for read in readers)
        return primitive("select", primitive("eq", magnitude, zero), zero, sign * (part / magnitude))

    units = ComplexArray(*(Pointwise(dtype, values.shape, (p, magnitudes, signs), body, 20) for p in values.parts))

    def following(so_far: Pair, elements: Sequence[Pair]) -> Pair:
        return times(so_far, elements[0])

    axis = len(values.shape) - 1
    return carried([units], (axis,), lambda elements: elements[0], following, of.context, start=1)


def _sum_of_logarithms(of: Matrices, magnitudes: Array) -> Array:
    logarithms = Pointwise(
        magnitudes.dtype, magnitudes.shape, (magnitudes,),
        lambda index, readers: primitive("log", readers[0](index)), 20,
    )  # fmt: skip
    return _reduced(of, logarithms, "add")


@adopt(SLogDet)
def _slogdet(op: SLogDet, of: Matrices) -> Sequence[Numbers]:
    values, magnitudes, signs = _factored(of)
    return [_sign(of, values, magnitudes, signs), _sum_of_logarithms(of, magnitudes)]


@adopt(Det)
def _det(op: Det, of: Matrices) -> Sequence[Numbers]:
    """A product; where that overflows or underflows on the way, it is computed through logarithms."""
    values, magnitudes, signs = _factored(of)
    dtype = magnitudes.dtype
    product, logarithm = _reduced(of, magnitudes, "mul"), _sum_of_logarithms(of, magnitudes)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        magnitude = readers[0](index)
        lost = primitive("isinf", magnitude) | primitive("eq", magnitude, const(0, dtype))
        magnitude = primitive("select", lost, primitive("exp", readers[1](index)), magnitude)
        return magnitude * readers[2](index)

    def with_sign(sign: Array) -> Array:
        return Pointwise(dtype, product.shape, (product, logarithm, sign), body, 25)

    return [each_part(with_sign, _sign(of, values, magnitudes, signs))]
