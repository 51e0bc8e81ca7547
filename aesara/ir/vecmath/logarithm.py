"""log, log2, log10 and log1p.

x = 2**e m with m in [sqrt(1/2), sqrt(2)), found with integer operations on the bits, and f = m - 1, which is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import coefficients
from .builder import Format, Value, constant, copy_sign, fma_add, format_of, horner, select
from .exponential import ln2_parts


@dataclass(frozen=True)
class Split:
    """x = 2**exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)); `shifted_bits` keeps the raw exponent."""

    exponent: Value
    mantissa: Value
    shifted_bits: Value


def _sqrt_half_bits(format: Format) -> int:
    return {64: 0x3FE6A09E667F3BCD, 32: 0x3F3504F3}[format.bits]


def split_exponent(x: Value, extra: Value | float = 0.0) -> Split:
    """Mantissa and exponent of a positive normal number; `extra` is subtracted from the exponent."""
    format = format_of(x)
    fraction = (1 << format.fraction_bits) - 1
    offset = format.bias + 1
    # The offset keeps the exponent field positive, so that no arithmetic shift is needed.
    shifted = x.as_bits() + ((offset << format.fraction_bits) - _sqrt_half_bits(format))
    mantissa = ((shifted & fraction) + _sqrt_half_bits(format)).as_float()
    magic = 2.0**format.fraction_bits
    magic_bits = (format.bias + format.fraction_bits) << format.fraction_bits
    biased = ((shifted >> format.fraction_bits) | magic_bits).as_float()
    return Split(biased - (extra + (magic + offset)), mantissa, shifted)


def log_of_mantissa(f: Value, exponent: Value) -> Value:
    """exponent * ln 2 + log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1]."""
    format = format_of(f)
    high, low = ln2_parts(format)
    half_square = f * f * 0.5
    if format.bits == 64:
        # With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - f**2 / 2 + s (f**2 / 2 + tail(s)).
        s = f / (f + 2.0)
        z = s * s
        tail = horner(coefficients.LOG[format.dtype], z) * z
        correction = s * (half_square + tail)
    else:
        correction = f * f * f * horner(coefficients.LOG[format.dtype], f)
    small = half_square - fma_add(exponent, low, correction)
    return fma_add(exponent, high, f - small)


def _with_limits(x: Value, result: Value, at_zero: float, zero: float) -> Value:
    """Values of a logarithm outside its finite domain: NaN and +inf map to themselves."""
    result = select(x < math.inf, result, x)
    result = select(x < zero, math.nan, result)
    return select(x.equals(zero), at_zero, result)


def _normalise(x: Value) -> tuple[Value, Value]:
    """(x scaled into the normal range, number of binary places it was moved)."""
    format = format_of(x)
    places = format.fraction_bits + 2
    subnormal = x < format.smallest_normal
    return select(subnormal, x * 2.0**places, x), select(subnormal, constant(x, places), 0.0)


def log(x: Value) -> Value:
    scaled, places = _normalise(x)
    split = split_exponent(scaled, places)
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
    f = fma_add(lost * 0.5, scale, split.mantissa - 1.0)
    result = _with_limits(x, log_of_mantissa(f, split.exponent), -math.inf, -1.0)
    return copy_sign(result, x)


FORMULAS = {"log": log, "log1p": log1p}
