"""log, log2, log10, log1p and the inverse hyperbolic functions made from them.

x = 2**e m with m in [sqrt(1/2), sqrt(2)), found with integer operations on the bits, and f = m - 1, which is
exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from aesara.ir.instructions import Value
from aesara.records import dataclass

from . import coefficients
from .arithmetic import (
    Format,
    absolute,
    constant,
    copy_sign,
    fma_add,
    format_of,
    polynomial,
    select,
    split_constant,
    square_root,
)
from .exponential import ln2_parts

LOG2_E_DIGITS = "1.4426950408889634073599246810018921374266459541529859341354494"
LOG10_E_DIGITS = "0.43429448190325182765112891891660508229439700580366656611445"
LOG10_2_DIGITS = "0.30102999566398119521373889472449302676818988146210854131043"


@dataclass(frozen=True)
class Decomposition:
    """x = 2**exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)); `shifted_bits` keeps the raw exponent."""

    exponent: Value
    mantissa: Value
    shifted_bits: Value


def _sqrt_half_bits(format: Format) -> int:
    return {64: 0x3FE6A09E667F3BCD, 32: 0x3F3504F3}[format.bits]


def _exponent_magic(format: Format) -> float:
    """Return the offset of an exponent field that is read as a float with the magic bits set."""
    return 2.0**format.fraction_bits + format.bias + 1


def split_exponent(x: Value, carried: Value | None = None) -> Decomposition:
    """Mantissa and exponent of a positive normal number; `carried` replaces the usual `_exponent_magic`."""
    format = format_of(x)
    fraction = (1 << format.fraction_bits) - 1
    offset = format.bias + 1
    # The offset keeps the exponent field positive, so that no arithmetic shift is needed.
    shifted = x.as_bits() + ((offset << format.fraction_bits) - _sqrt_half_bits(format))
    mantissa = ((shifted & fraction) + _sqrt_half_bits(format)).as_float()
    magic_bits = (format.bias + format.fraction_bits) << format.fraction_bits
    biased = ((shifted >> format.fraction_bits) | magic_bits).as_float()
    return Decomposition(biased - (_exponent_magic(format) if carried is None else carried), mantissa, shifted)


def log_of_mantissa(f: Value, exponent: Value | None) -> Value:
    """exponent * ln 2 + log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1]; no exponent counts as 0."""
    format = format_of(f)
    high, low = ln2_parts(format)
    half_square = f * f * 0.5
    if format.bits == 64:
        # With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - f**2 / 2 + s (f**2 / 2 + tail(s)).
        s = f / (f + 2.0)
        z = s * s
        tail = polynomial(coefficients.LOG[format.dtype], z) * z
        correction = s * (half_square + tail)
    else:
        correction = f * f * f * polynomial(coefficients.LOG[format.dtype], f)
    if exponent is None:
        return f - (half_square - correction)
    small = half_square - fma_add(exponent, low, correction)
    return fma_add(exponent, high, f - small)


def _with_limits(x: Value, result: Value, at_zero: float, zero: float) -> Value:
    """Values of a logarithm outside its finite domain: NaN and +inf map to themselves."""
    result = select(x < math.inf, result, x)
    result = select(x < zero, math.nan, result)
    return select(x.equals(zero), at_zero, result)


def normalise(x: Value) -> tuple[Value, Value]:
    """(x scaled into the normal range, `_exponent_magic` plus the number of binary places it was moved)."""
    format = format_of(x)
    places = format.fraction_bits + 2
    subnormal = x < format.smallest_normal
    return select(subnormal, x * 2.0**places, x), select(
        subnormal, constant(x, _exponent_magic(format) + places), _exponent_magic(format)
    )


def log(x: Value) -> Value:
    scaled, carried = normalise(x)
    split = split_exponent(scaled, carried)
    return _with_limits(x, log_of_mantissa(split.mantissa - 1.0, split.exponent), -math.inf, 0.0)


def log1p(x: Value) -> Value:
    """log(u) with u = 1 + x rounded; what the rounding lost is added back to the mantissa.

    When the exponent of u is zero the corrected f is x itself.
    """
    format = format_of(x)
    u = x + 1.0
    large, small = select(x > 1.0, x, 1.0), select(x > 1.0, 1.0, x)
    lost = small - (u - large)
    split = split_exponent(u)
    # 2**(1 - exponent): the exponent field of `shifted_bits` carries an offset of bias + 1.
    field = split.shifted_bits & (format.mask ^ ((1 << format.fraction_bits) - 1))
    scale = ((2 * format.bias + 2 << format.fraction_bits) - field).as_float()
    f = fma_add(lost, scale * 0.5, split.mantissa - 1.0)
    result = _with_limits(x, log_of_mantissa(f, split.exponent), -math.inf, -1.0)
    return copy_sign(result, x)


def log2(x: Value) -> Value:
    format = format_of(x)
    split = split_exponent(*normalise(x))
    f = split.mantissa - 1.0
    natural = log_of_mantissa(f, None)
    high, low = split_constant(LOG2_E_DIGITS, format, format.fraction_bits + 1)
    result = fma_add(natural, high, fma_add(natural, low, split.exponent))
    return _with_limits(x, result, -math.inf, 0.0)


def log10(x: Value) -> Value:
    format = format_of(x)
    split = split_exponent(*normalise(x))
    natural = log_of_mantissa(split.mantissa - 1.0, None)
    high, low = split_constant(LOG10_2_DIGITS, format, 40 if format.bits == 64 else 14)
    factor, factor_low = split_constant(LOG10_E_DIGITS, format, format.fraction_bits + 1)
    small = fma_add(natural, factor_low, split.exponent * low)
    result = fma_add(split.exponent, high, fma_add(natural, factor, small))
    return _with_limits(x, result, -math.inf, 0.0)


def _log1p_of_large(x: Value, argument: Value) -> Value:
    """log1p(argument), or log(2 x) where x is so large that the two agree."""
    large = x > 2.0**60 if format_of(x).bits == 64 else x > 2.0**30
    return log1p(select(large, x, argument)) + select(large, constant(x, math.log(2)), 0.0)


def asinh(x: Value) -> Value:
    magnitude = absolute(x)
    square = magnitude * magnitude
    argument = magnitude + square / (square_root(square + 1.0) + 1.0)
    return copy_sign(_log1p_of_large(magnitude, argument), x)


def acosh(x: Value) -> Value:
    above = select(x < 1.0, math.nan, x - 1.0)
    return _log1p_of_large(x, above + square_root(above * (above + 2.0)))


def atanh(x: Value) -> Value:
    magnitude = absolute(x)
    return copy_sign(log1p((magnitude + magnitude) / (1.0 - magnitude)) * 0.5, x)


FORMULAS: dict[str, Callable[..., Value]] = {
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
}
