"""sin, cos and tan.

The argument is reduced by an integer multiple n of pi / 2, subtracted in parts short enough for n times each
part to be exact without FMA (Cody and Waite). That is right up to `large_arguments.LARGEST`; the results of
larger arguments are replaced. inf gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from aesara.ir.instructions import Value
from aesara.records import dataclass

from . import coefficients, large_arguments
from .arithmetic import FLOAT64, Format, absolute, fma_add, format_of, polynomial, select, split_constant

PI_DIGITS = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"

# Which function `replace_large` is called for.
SIN, COS, TAN = 0, 1, 2


@dataclass(frozen=True)
class ReducedAngle:
    """x = n * pi / 2 + r with |r| <= pi / 4; the low bits of `low_bits` are those of n."""

    r: Value
    low_bits: Value


def reduce_by_half_pi(x: Value) -> ReducedAngle:
    wide = x.to_double()
    magic = FLOAT64.round_magic
    shifted = fma_add(wide, 2.0 / math.pi, magic)
    n = shifted - magic
    if x.kind == "double":
        return ReducedAngle(_subtract_four_parts(wide, n), shifted.as_bits())
    high, low = _half_pi_parts(29, 2)
    r = fma_add(n, -low, fma_add(n, -high, wide))
    return ReducedAngle(r.to_single(), shifted.as_bits().narrow("i32"))


def _half_pi_parts(bits: int, count: int) -> tuple[float, ...]:
    return tuple(part / 2 for part in split_constant(PI_DIGITS, FLOAT64, bits, count))


def _subtract_four_parts(x: Value, n: Value) -> Value:
    """x - n * pi / 2; only the second subtraction can round much, and its error is carried along."""
    first, second, third, fourth = _half_pi_parts(28, 4)
    once = fma_add(n, -first, x)
    twice = fma_add(n, -second, once)
    error = fma_add(n, -second, once - twice)
    return fma_add(n, -fourth, twice - fma_add(n, third, -error))


def _sine_and_cosine(r: Value) -> tuple[Value, Value]:
    """Both for |r| <= pi / 4, so that no result exceeds 1 by rounding and cos(0) is 1."""
    dtype = format_of(r).dtype
    z = r * r
    sine = fma_add(r * z, polynomial(coefficients.SIN[dtype], z), r)
    cosine = fma_add(z * z, polynomial(coefficients.COS[dtype], z), fma_add(z, -0.5, 1.0))
    return sine, cosine


def _flip(value: Value, word: Value) -> Value:
    """Multiply by -1 if the top bit of `word` is set."""
    return (value.as_bits() ^ (word & format_of(value).sign_bits)).as_float()


def sin(x: Value) -> Value:
    reduced = reduce_by_half_pi(absolute(x))
    sine, cosine = _sine_and_cosine(reduced.r)
    value = select((reduced.low_bits & 1).equals(0), sine, cosine)
    return _complete(x, _flip(value, (reduced.low_bits << (format_of(x).bits - 2)) ^ x.as_bits()), SIN)


def cos(x: Value) -> Value:
    reduced = reduce_by_half_pi(absolute(x))
    sine, cosine = _sine_and_cosine(reduced.r)
    value = select((reduced.low_bits & 1).equals(0), cosine, sine)
    return _complete(x, _flip(value, (reduced.low_bits + 1) << (format_of(x).bits - 2)), COS)


def tan(x: Value) -> Value:
    reduced = reduce_by_half_pi(absolute(x))
    sine, cosine = _sine_and_cosine(reduced.r)
    even = (reduced.low_bits & 1).equals(0)
    quotient = select(even, sine, cosine) / select(even, cosine, sine)
    return _complete(x, _flip(quotient, (reduced.low_bits << (format_of(x).bits - 1)) ^ x.as_bits()), TAN)


def _complete(x: Value, fast: Value, kind: int) -> Value:
    return large_arguments.replace_large(x, fast, format_of(x), kind)


def _of_large(x: Value, kind: Value) -> Value:
    """Whichever function `kind` says, for |x| > 1."""
    format = format_of(x)
    r, n = large_arguments.reduce_large(x)
    sine, cosine = _sine_and_cosine(r if format.bits == 64 else r.to_single())
    is_cos, is_tan = kind.equals(COS), kind.equals(TAN)
    # The cosine is the sine a quadrant on.
    n = n.narrow(x.as_bits().kind)
    n = select(is_cos, n + 1, n)
    even = (n & 1).equals(0)
    value = select(even, sine, cosine)
    value = select(is_tan, value / select(even, cosine, sine), value)
    sign = select(is_tan, n << (format.bits - 1), n << (format.bits - 2)) ^ select(is_cos, 0, x.as_bits())
    return select(absolute(x) < math.inf, _flip(value, sign), math.nan)


def replacements(format: Format) -> str:
    """The functions that the texts of sin, cos and tan call."""
    return large_arguments.definition(format, _of_large)


FORMULAS: dict[str, Callable[..., Value]] = {"sin": sin, "cos": cos, "tan": tan}
