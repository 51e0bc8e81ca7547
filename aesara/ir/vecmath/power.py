"""x**y with the special cases of IEEE 754.

exp2(y log2 |x|), where float64 carries the logarithm as a sum of two numbers, a head and a tail. What rounding a
product loses is a fused multiply-add.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from aesara.ir.instructions import Value

from . import coefficients
from .arithmetic import (
    FLOAT64,
    absolute,
    at_least,
    at_most,
    constant,
    fma_add,
    format_of,
    polynomial,
    select,
    split_constant,
)
from .exponential import exp2_minus_1, round_to_integer, scale_in_two_steps
from .logarithm import normalise, split_exponent

# 2 / (3 ln 2)
TWO_THIRDS_LOG2_E_DIGITS = "0.96179669392597560490811612545316306842957789085590"


def _log2_two_parts(x: Value) -> tuple[Value, Value]:
    """log2 of a positive number as head + tail, to about 66 bits.

    With s = (m - 1) / (m + 1): log2(m) = 2 / (3 ln 2) * s * (3 + s**2 + s**4 Q(s**2)).
    """
    split = split_exponent(*normalise(x))
    mantissa = split.mantissa
    f = mantissa - 1.0
    total = mantissa + 1.0
    total_tail = mantissa - (total - 1.0)
    inverse = 1.0 / total
    s = f * inverse
    # What s leaves of f, exactly, gives the tail of the quotient.
    s_tail = fma_add(-s, total_tail, fma_add(-s, total, f)) * inverse
    square = s * s
    square_tail = fma_add(s + s, s_tail, fma_add(s, s, -square))
    small = fma_add(square * square, polynomial(coefficients.POW_LOG["float64"], square), square_tail)
    bracket = square + 3.0
    bracket_tail = square - (bracket - 3.0) + small
    product = s * bracket
    product_tail = fma_add(s, bracket_tail, fma_add(s_tail, bracket, fma_add(s, bracket, -product)))
    factor, factor_tail = split_constant(TWO_THIRDS_LOG2_E_DIGITS, FLOAT64, 53)
    scaled = product * factor
    scaled_tail = fma_add(product, factor_tail, fma_add(product_tail, factor, fma_add(product, factor, -scaled)))
    result = split.exponent + scaled
    return result, scaled - (result - split.exponent) + scaled_tail


def _exp2_two_parts(head: Value, tail: Value) -> Value:
    """2**(head + tail) with gradual underflow."""
    total = at_most(at_least(head + tail, -1080.0), 1030.0)
    n, low_bits = round_to_integer(total, 1.0, offset=2 * FLOAT64.bias)
    # Out of range the fraction is nonsense: bound it, the power of two decides.
    fraction = at_most(at_least((head - n) + tail, -1.0), 1.0)
    return scale_in_two_steps(exp2_minus_1(fraction) + 1.0, low_bits)


def _magnitude_float64(x: Value, y: Value) -> Value:
    """x**y for x >= 0, inf included."""
    is_zero, is_infinite = x.equals(0.0), x.equals(math.inf)
    limit = select(is_zero ^ (y > 0.0), constant(x, math.inf), 0.0)
    # An exponent this large overflows or underflows for every x but 1, whose logarithm is 0.
    y = at_most(at_least(y, -(2.0**66)), 2.0**66)
    head, tail = _log2_two_parts(x)
    product = y * head
    finite = _exp2_two_parts(product, fma_add(y, tail, fma_add(y, head, -product)))
    return select(is_zero | is_infinite, limit, finite)


def _magnitude_float32(x: Value, y: Value) -> Value:
    """x**y for x >= 0, inf included; the exponent is computed in float64."""
    format = format_of(x)
    split = split_exponent(*normalise(x))
    exponent = select(x.equals(0.0), -math.inf, select(x.equals(math.inf), math.inf, split.exponent))
    f = (split.mantissa - 1.0).to_double()
    log2 = fma_add(f, polynomial(coefficients.POW_LOG["float32"], f), exponent.to_double())
    # An infinite exponent of 1 would give NaN.
    y = at_most(at_least(y, -(2.0**40)), 2.0**40)
    total = at_most(at_least(y.to_double() * log2, -160.0), 140.0)
    magic = FLOAT64.round_magic + 2 * format.bias
    shifted = total + magic
    fraction = (total - (shifted - magic)).to_single()
    return scale_in_two_steps(exp2_minus_1(fraction) + 1.0, shifted.as_bits().narrow("i32"))


def _integer_and_odd(y: Value) -> tuple[Value, Value]:
    """(whether y is an integer, the sign bit where it is an odd one and else 0)."""
    format = format_of(y)
    unit = 2.0**format.fraction_bits
    # From 2 * unit on all numbers are even, below it the last bit of y itself or of the sum is worth 1.
    size = select(absolute(y) < 2.0 * unit, absolute(y), 2.0 * unit)
    has_fraction_bits = size < unit
    shifted = select(has_fraction_bits, size + unit, size)
    back = select(has_fraction_bits, shifted - unit, size)
    whole = back.equals(size)
    return whole, select(whole, shifted.as_bits() << (format.bits - 1), 0)


def power(x: Value, y: Value) -> Value:
    format = format_of(x)
    base = absolute(x)
    magnitude = (_magnitude_float64 if format.bits == 64 else _magnitude_float32)(base, y)
    whole, odd = _integer_and_odd(y)
    result = (magnitude.as_bits() ^ (x.as_bits() & odd)).as_float()
    undefined = (x < 0.0) & (x > -math.inf) & ~whole
    either_nan = x.is_unordered(y)
    result = select(undefined | either_nan, math.nan, result)
    return select(x.equals(1.0) | y.equals(0.0), 1.0, result)


FORMULAS: dict[str, Callable[..., Value]] = {"pow": power}
