"""asin, acos, atan and atan2."""

from __future__ import annotations

import math
from collections.abc import Callable

from aesara.ir.instructions import Value

from . import coefficients
from .arithmetic import (
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
from .trigonometric import PI_DIGITS


def _pi_parts(x: Value, divisor: int) -> tuple[float, float]:
    """pi / divisor (a power of two) as the sum of two numbers of the format of x."""
    format = format_of(x)
    high, low = split_constant(PI_DIGITS, format, format.fraction_bits + 1)
    return high / divisor, low / divisor


def _odd_polynomial(x: Value, z: Value, table: dict[str, tuple[float, ...]]) -> Value:
    """x + x z P(z), where z = x**2."""
    return fma_add(x * z, polynomial(table[format_of(x).dtype], z), x)


def _asin_core(magnitude: Value) -> tuple[Value, Value]:
    """(is large, asin(s)) with s = |x|, or sqrt((1 - |x|) / 2) where |x| > 1/2."""
    large = magnitude > 0.5
    z = select(large, fma_add(magnitude, -0.5, 0.5), magnitude * magnitude)
    s = select(large, square_root(z), magnitude)
    return large, _odd_polynomial(s, z, coefficients.ASIN)


def asin(x: Value) -> Value:
    large, value = _asin_core(absolute(x))
    high, low = _pi_parts(x, 2)
    return copy_sign(select(large, high - fma_add(value, 2.0, -low), value), x)


def acos(x: Value) -> Value:
    large, value = _asin_core(absolute(x))
    half_high, half_low = _pi_parts(x, 2)
    negative = x < 0.0
    central = half_high - (copy_sign(value, x) - half_low)
    doubled = value + value
    outer = select(negative, half_high * 2.0 - (doubled - half_low * 2.0), doubled)
    return select(large, outer, central)


def _atan_quotient(numerator: Value, denominator: Value) -> Value:
    """atan(numerator / denominator) for 0 <= numerator <= denominator (neither inf, denominator not 0).

    Beyond tan(pi/8) the quotient is turned by pi / 4: (p - q) / (p + q).
    """
    turn = numerator > denominator * (math.sqrt(2) - 1)
    top = select(turn, numerator - denominator, numerator)
    bottom = select(turn, numerator + denominator, denominator)
    t = top / bottom
    high, low = _pi_parts(numerator, 4)
    z = t * t
    tail = fma_add(t * z, polynomial(coefficients.ATAN[format_of(t).dtype], z), select(turn, constant(t, low), 0.0))
    return select(turn, constant(t, high), 0.0) + (t + tail)


def atan(x: Value) -> Value:
    magnitude = absolute(x)
    inverted = magnitude > 1.0
    # inf becomes the quotient 1 / huge.
    limited = select(magnitude > 1e30, constant(x, 1e30), magnitude)
    value = _atan_quotient(select(inverted, constant(x, 1.0), magnitude), select(inverted, limited, 1.0))
    high, low = _pi_parts(x, 2)
    return copy_sign(select(inverted, high - (value - low), value), x)


def atan2(y: Value, x: Value) -> Value:
    format = format_of(x)
    width, height = absolute(x), absolute(y)
    steep = height > width
    large, small = select(steep, height, width), select(steep, width, height)
    # Keep sums finite and replace the quotients inf / inf and 0 / 0.
    infinite = large.equals(math.inf)
    small = select(infinite, select(small.equals(math.inf), constant(x, 1.0), 0.0), small)
    large = select(infinite, 1.0, large)
    huge = large > 2.0 ** (format.bias - 2)
    factor = select(huge, constant(x, 0.125), 1.0)
    large = select(large.equals(0.0), constant(x, 1.0), large)
    value = _atan_quotient(small * factor, large * factor)
    half_high, half_low = _pi_parts(x, 2)
    value = select(steep, half_high - (value - half_low), value)
    value = select(x.as_bits() < 0, half_high * 2.0 - (value - half_low * 2.0), value)
    either_nan = x.is_unordered(y)
    return select(either_nan, math.nan, copy_sign(value, y))


FORMULAS: dict[str, Callable[..., Value]] = {"asin": asin, "acos": acos, "atan": atan, "atan2": atan2}
