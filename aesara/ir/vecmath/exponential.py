"""exp, exp2, expm1 and the hyperbolic functions made from them.

The argument is split as x = n ln 2 + r with |r| <= ln(2) / 2 (Cody and Waite: n times the first part of
ln 2 is exact) and exp(r) - 1 = r + r**2 q(r) with a minimax polynomial q. Rounding to the integer n happens
by adding a large number, whose sum carries n in its low bits as well: no conversion instruction is needed.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir.instructions import Value
from aesara.records import dataclass

from . import coefficients
from .arithmetic import (
    Format,
    absolute,
    at_least,
    at_most,
    copy_sign,
    fma_add,
    format_of,
    polynomial,
    select,
    split_constant,
)

LN2_DIGITS = "0.69314718055994530941723212145817656807550013436025525412068"
LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class ReducedExponent:
    """exp(x) = 2**n (1 + expm1_r); `low_bits` holds n plus the requested offset in its low bits."""

    n: Value
    low_bits: Value
    expm1_r: Value


def ln2_parts(format: Format) -> tuple[float, float]:
    """ln 2 = high + low; n * high is exact for every n that occurs as an exponent."""
    high, low = split_constant(LN2_DIGITS, format, 40 if format.bits == 64 else 14)
    return high, low


def round_to_integer(x: Value, factor: float, offset: int = 0) -> tuple[Value, Value]:
    """(n, bits): the integer n nearest to x * factor, and a word with n + offset in its low bits."""
    magic = format_of(x).round_magic + offset
    shifted = fma_add(x, factor, magic)
    return shifted - magic, shifted.as_bits()


def expm1_polynomial(r: Value) -> Value:
    """exp(r) - 1 for |r| <= ln(2) / 2."""
    tail = polynomial(coefficients.EXP[format_of(r).dtype], r)
    return fma_add(r * r, tail, r)


def exp2_minus_1(fraction: Value) -> Value:
    """2**fraction - 1 for |fraction| <= 1/2."""
    format = format_of(fraction)
    high, low = split_constant(LN2_DIGITS, format, format.fraction_bits + 1)
    tail = polynomial((low, *coefficients.EXP2[format.dtype]), fraction)
    return fma_add(fraction, tail, fraction * high)


def reduce_exp(x: Value, offset: int = 0) -> ReducedExponent:
    high, low = ln2_parts(format_of(x))
    n, low_bits = round_to_integer(x, LOG2_E, offset)
    r = fma_add(n, -low, fma_add(n, -high, x))
    return ReducedExponent(n, low_bits, expm1_polynomial(r))


def power_of_two(low_bits: Value, format: Format, offset: int = 0) -> Value:
    """2**(n + offset) as a float, for results in the normal range."""
    return ((low_bits << format.fraction_bits) + ((format.bias + offset) << format.fraction_bits)).as_float()


def scale_in_two_steps(value: Value, low_bits: Value) -> Value:
    """value * 2**n where `low_bits` holds n + 2 * bias.

    Two factors, so that the product overflows and underflows (with a single rounding) exactly where it must.
    """
    format = format_of(value)
    first = (low_bits >> 1) << format.fraction_bits
    second = (low_bits << format.fraction_bits) - first
    return value * first.as_float() * second.as_float()


def exp(x: Value) -> Value:
    format = format_of(x)
    # Beyond these bounds the result is inf or 0 by its own rounding.
    x = at_most(at_least(x, -746.0), 710.0) if format.bits == 64 else at_most(at_least(x, -104.5), 89.0)
    reduced = reduce_exp(x, offset=2 * format.bias)
    return scale_in_two_steps(reduced.expm1_r + 1.0, reduced.low_bits)


def exp2(x: Value) -> Value:
    format = format_of(x)
    x = at_most(at_least(x, -1076.0), 1025.0) if format.bits == 64 else at_most(at_least(x, -151.0), 129.0)
    n, low_bits = round_to_integer(x, 1.0, offset=2 * format.bias)
    return scale_in_two_steps(exp2_minus_1(x - n) + 1.0, low_bits)


def expm1(x: Value) -> Value:
    format = format_of(x)
    bounds = (-40.0, 710.0) if format.bits == 64 else (-20.0, 89.0)
    reduced = reduce_exp(at_most(at_least(x, bounds[0]), bounds[1]))
    # 2**n itself may be too large a number: work with half of it and double at the end.
    half = power_of_two(reduced.low_bits, format, offset=-1)
    halved = fma_add(half, reduced.expm1_r, half - 0.5)
    tiny = 2.0 ** -(format.fraction_bits + 2)
    return select(absolute(x) < tiny, x, halved + halved)


def tanh(x: Value) -> Value:
    """E / (E + 2) with E = exp(2 |x|) - 1."""
    format = format_of(x)
    magnitude = at_most(absolute(x), 20.0 if format.bits == 64 else 10.0)
    reduced = reduce_exp(magnitude + magnitude)
    power = power_of_two(reduced.low_bits, format)
    numerator = fma_add(power, reduced.expm1_r, power - 1.0)
    return copy_sign(numerator / (numerator + 2.0), x)


def _quarter_of_exp(magnitude: Value) -> tuple[Value, Value]:
    """(2**(n - 2), exp(r) - 1): a quarter of exp(magnitude) is finite wherever cosh is."""
    format = format_of(magnitude)
    reduced = reduce_exp(at_most(magnitude, 710.6 if format.bits == 64 else 89.5))
    return power_of_two(reduced.low_bits, format, offset=-2), reduced.expm1_r


def sinh(x: Value) -> Value:
    """(E + E / (E + 1)) / 2 with E = exp(|x|) - 1, computed from E / 4."""
    magnitude = absolute(x)
    power, growth = _quarter_of_exp(magnitude)
    quarter = fma_add(power, growth, power - 0.25)
    halved = quarter + quarter / fma_add(quarter, 4.0, 1.0)
    tiny = 2.0 ** -(format_of(x).fraction_bits // 2 + 2)
    return select(magnitude < tiny, x, copy_sign(halved + halved, x))


def cosh(x: Value) -> Value:
    power, growth = _quarter_of_exp(absolute(x))
    quarter = fma_add(power, growth, power)
    halved = quarter + 0.0625 / quarter
    return halved + halved


FORMULAS: dict[str, Callable[..., Value]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
}
