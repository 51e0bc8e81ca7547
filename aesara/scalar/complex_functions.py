"""Exponentials, logarithms, powers, trigonometric functions and their inverses of complex numbers, by parts.

All functions are computed in double precision. Values at infinities, NaN and signed zeros are those of C99, annex G.
Inverse functions follow W. Kahan (1987), "Branch cuts for complex elementary functions, or much ado about nothing's
sign bit", whose formulas neither cancel nor overflow.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from aesara.scalar.comparison import eq, ge, gt, isinf, isnan, lt, neq
from aesara.scalar.complex_forms import Parts, choose, complex_form, copysign, divide, multiply, scale_of
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.exponential import (
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1mexp,
    Log1p,
    Log2,
    Log10,
    Sigmoid,
    Softplus,
    exp,
    expm1,
    log,
    log1p,
)
from aesara.scalar.logic import and_, invert, or_
from aesara.scalar.op import ScalarOp
from aesara.scalar.power import Pow, Sqrt, sqrt
from aesara.scalar.rounding import floor
from aesara.scalar.trigonometric import (
    ArcCos,
    ArcCosh,
    ArcSin,
    ArcSinh,
    ArcTan,
    ArcTanh,
    Cos,
    Cosh,
    Sin,
    Sinh,
    Tan,
    Tanh,
    arcsinh,
    arctan,
    arctan2,
    cos,
    sin,
)
from aesara.scalar.types import float64
from aesara.scalar.var import ScalarVariable

_LIKE = float64()
#: for greater exponents, exp is computed as a product of two factors
_FAR, _SHIFT = 700.0, 256.0


def number(value: float) -> ScalarVariable:
    return literal(value, _LIKE)


_ZERO, _HALF, _ONE, _TWO = number(0), number(0.5), number(1), number(2)
_INF, _NAN = number(np.inf), number(np.nan)


def is_zero(x: ScalarVariable) -> ScalarVariable:
    return eq(x, _ZERO)


def is_not_finite(x: ScalarVariable) -> ScalarVariable:
    """Return whether x is infinite or NaN."""
    return neq(x - x, _ZERO)


def and_all(*conditions: ScalarVariable) -> ScalarVariable:
    return reduce(and_, conditions)


# -- exponentials ----------------------------------------------------------------------------------------------


def shift_exponent(x: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable]:
    """Return an exponent, reduced by a constant if exp would overflow, and the factor that compensates for this."""
    far = gt(x, number(_FAR))
    return switch(far, x - number(_SHIFT), x), switch(far, number(math.exp(_SHIFT)), _ONE)


def exponential(z: Parts) -> Parts:
    x, y = z
    near, factor = shift_exponent(x)
    size = exp(near)
    # exp(inf + i y) for infinite or NaN y, and exp(-inf + i y)
    odd, up = and_(isinf(x), is_not_finite(y)), gt(x, _ZERO)
    re = switch(odd, switch(up, _INF, _ZERO), size * cos(y) * factor)
    im = switch(is_zero(y), y, switch(odd, switch(up, _NAN, _ZERO), size * sin(y) * factor))
    return Parts(re, im)


@complex_form(Exp, wide=True)
def _exp(op: ScalarOp, z: Parts) -> Parts:
    return exponential(z)


@complex_form(Exp2, wide=True)
def _exp2(op: ScalarOp, z: Parts) -> Parts:
    return exponential(scale(z, math.log(2)))


def exponential_less_one(z: Parts) -> Parts:
    """exp(x) cos y - 1 = expm1(x) cos y - 2 sin(y / 2)**2."""
    x, y = z
    half = sin(y * _HALF)
    return Parts(expm1(x) * cos(y) - _TWO * half * half, switch(is_zero(y), y, exp(x) * sin(y)))


@complex_form(Expm1, wide=True)
def _expm1(op: ScalarOp, z: Parts) -> Parts:
    return exponential_less_one(z)


def scale(z: Parts, factor: float) -> Parts:
    return Parts(z.re * number(factor), z.im * number(factor))


def negative(z: Parts) -> Parts:
    return Parts(-z.re, -z.im)


# -- logarithms ------------------------------------------------------------------------------------------------


def two_sum(a: ScalarVariable, b: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable]:
    """Return a + b and its rounding error (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B)."""
    total = a + b
    b_rounded = total - a
    return total, (a - (total - b_rounded)) + (b - b_rounded)


def two_square(a: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable]:
    """Return a * a and its rounding error (T. J. Dekker (1971), "A floating-point technique", section 5)."""
    wide = a * number(2.0**27 + 1)
    high = wide - (wide - a)
    low = a - high
    square = a * a
    return square, ((high * high - square) + _TWO * high * low) + low * low


def log_modulus(x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
    """Return log(hypot(x, y)); near the unit circle it is computed from x * x + y * y - 1 without rounding error."""
    x, y = abs(x), abs(y)
    swapped = gt(y, x)
    large, small = switch(swapped, y, x), switch(swapped, x, y)
    up, _ = scale_of(large)
    a, b = large * up, small * up
    square = a * a + b * b
    log_of_scale = switch(eq(up, _ONE), _ZERO, log(up))
    direct = log(square) * _HALF - log_of_scale
    (aa, a_error), (bb, b_error) = two_square(large), two_square(small)
    total, rounding_error = two_sum(aa, bb)
    excess = (total - _ONE) + (rounding_error + (a_error + b_error))
    near = and_(gt(square, _HALF), lt(square, _TWO))
    result = switch(and_(near, eq(up, _ONE)), log1p(excess) * _HALF, direct)
    return switch(or_(isinf(x), isinf(y)), _INF, result)


def logarithm(z: Parts) -> Parts:
    return Parts(log_modulus(z.re, z.im), arctan2(z.im, z.re))


@complex_form(Log, wide=True)
def _log(op: ScalarOp, z: Parts) -> Parts:
    return logarithm(z)


@complex_form(Log2, wide=True)
def _log2(op: ScalarOp, z: Parts) -> Parts:
    return scale(logarithm(z), 1 / math.log(2))


@complex_form(Log10, wide=True)
def _log10(op: ScalarOp, z: Parts) -> Parts:
    return scale(logarithm(z), 1 / math.log(10))


def logarithm_of_one_plus(z: Parts) -> Parts:
    x, y = z
    (xx, x_error), (yy, y_error) = two_square(x), two_square(y)
    first, first_error = two_sum(x + x, xx)
    excess, second_error = two_sum(first, yy)
    excess = excess + (first_error + second_error + (x_error + y_error))
    near = and_(gt(excess, number(-0.5)), lt(excess, _ONE))
    re = switch(near, log1p(excess) * _HALF, log_modulus(_ONE + x, y))
    return Parts(re, arctan2(y, _ONE + x))


@complex_form(Log1p, wide=True)
def _log1p(op: ScalarOp, z: Parts) -> Parts:
    return logarithm_of_one_plus(z)


# -- compositions of exponentials and logarithms ---------------------------------------------------------------


@complex_form(Sigmoid, wide=True)
def _sigmoid(op: ScalarOp, z: Parts) -> Parts:
    right = ge(z.re, _ZERO)
    decay = exponential(choose(right, negative(z), z))
    one = Parts(_ONE, _ZERO)
    return divide(choose(right, one, decay), Parts(_ONE + decay.re, decay.im))


@complex_form(Softplus, wide=True)
def _softplus(op: ScalarOp, z: Parts) -> Parts:
    """log(1 + exp(z)); in the right half-plane the real part is that of z + log(1 + exp(-z))."""
    right = gt(z.re, _ZERO)
    decay = exponential(choose(right, negative(z), z))
    inner = logarithm_of_one_plus(decay)
    phase = arctan2(sin(z.im), exp(-z.re) + cos(z.im))
    return choose(right, Parts(z.re + inner.re, phase), inner)


@complex_form(Log1mexp, wide=True)
def _log1mexp(op: ScalarOp, z: Parts) -> Parts:
    near = gt(z.re, number(-math.log(2)))
    return choose(near, logarithm(negative(exponential_less_one(z))), logarithm_of_one_plus(negative(exponential(z))))


# -- powers and roots ------------------------------------------------------------------------------------------


def root(z: Parts) -> Parts:
    """Return the square root with nonnegative real part."""
    x, y = z
    a, b = abs(x), abs(y)
    size = switch(gt(a, b), a, b)
    up, down = scale_of(size)
    p, q = a * up, b * up
    # the scale is 2**600, 1 or 2**-600
    half_down = switch(eq(down, _ONE), _ONE, switch(gt(down, _ONE), number(2.0**300), number(2.0**-300)))
    main = sqrt((sqrt(p * p + q * q) + p) * _HALF) * half_down
    main = switch(isinf(a), _INF, main)
    other = y / (main + main)
    right = ge(x, _ZERO)
    # NaN is treated as positive
    re = switch(lt(x, _ZERO), abs(other), main)
    im = switch(lt(x, _ZERO), copysign(main, y), other)
    is_origin = and_(is_zero(x), is_zero(y))
    re = switch(is_origin, _ZERO, switch(isinf(y), _INF, re))
    im = switch(or_(is_origin, isinf(y)), y, switch(or_(right, lt(x, _ZERO)), im, x))
    return Parts(re, im)


@complex_form(Sqrt, wide=True)
def _sqrt(op: ScalarOp, z: Parts) -> Parts:
    return root(z)


#: smaller integer exponents are computed by multiplication
_LARGEST_POWER = 100


@complex_form(Pow, wide=True)
def _pow(op: ScalarOp, z: Parts, w: Parts) -> Parts:
    """exp(w log z), or repeated multiplication for small integer exponents."""
    one, zero = Parts(_ONE, _ZERO), Parts(_ZERO, _ZERO)
    real = is_zero(w.im)
    general = exponential(multiply(w, logarithm(z)))
    size = abs(w.re)
    whole = and_all(real, eq(size, floor(size)), lt(size, number(_LARGEST_POWER)))
    powered = _integer_power(z, switch(whole, size, _ZERO))
    powered = choose(lt(w.re, _ZERO), divide(one, powered), powered)
    result = choose(whole, powered, general)
    of_zero = choose(gt(w.re, _ZERO), zero, Parts(_NAN, _NAN))
    result = choose(and_(is_zero(z.re), is_zero(z.im)), of_zero, result)
    return choose(and_(is_zero(w.re), real), one, result)


def _integer_power(z: Parts, exponent: ScalarVariable) -> Parts:
    """Return an integer power, by repeated squaring, for exponents below 128."""
    square, result, rest = z, Parts(_ONE, _ZERO), exponent
    started = None
    for k in range(7):
        half = floor(rest * _HALF)
        odd = neq(half + half, rest)
        product = multiply(result, square) if k else square
        if started is not None:
            product = choose(started, product, square)
        result = choose(odd, product, result)
        started = odd if started is None else or_(started, odd)
        square, rest = multiply(square, square), half
    return result


# -- hyperbolic and trigonometric functions --------------------------------------------------------------------


def hyperbolic(x: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable, ScalarVariable]:
    """Return sinh and cosh of x, divided by a factor, and the factor, which is 1 unless they overflow."""
    near, factor = shift_exponent(abs(x))
    t = expm1(near)
    q = switch(gt(t, number(1e17)), _ONE, t / (t + _ONE))
    return copysign((t + q) * _HALF, x), _ONE + t * q * _HALF, factor


def hyperbolic_sine(z: Parts) -> Parts:
    """sinh x cos y + i cosh x sin y."""
    x, y = z
    s, c, factor = hyperbolic(x)
    odd = and_(is_not_finite(y), or_(is_zero(x), isinf(x)))
    re = switch(odd, x, s * cos(y) * factor)
    return Parts(re, switch(is_zero(y), y, c * sin(y) * factor))


def hyperbolic_cosine(z: Parts) -> Parts:
    """cosh x cos y + i sinh x sin y."""
    x, y = z
    s, c, factor = hyperbolic(x)
    wild = is_not_finite(y)
    re = switch(and_(wild, isinf(x)), _INF, c * cos(y) * factor)
    im = switch(and_(is_zero(x), wild), _ZERO, s * sin(y) * factor)
    return Parts(re, switch(is_zero(y), y * copysign(_ONE, x), im))


def hyperbolic_tangent(z: Parts) -> Parts:
    """(sinh x cosh x + i sin y cos y) / (sinh(x)**2 + cos(y)**2)."""
    x, y = z
    size = abs(x)
    t = expm1(size)
    q = switch(gt(t, number(1e17)), _ONE, t / (t + _ONE))
    s, c = copysign((t + q) * _HALF, x), _ONE + t * q * _HALF
    sy, cy = sin(y), cos(y)
    below = s * s + cy * cy
    decay = _ONE / (t + _ONE)
    wild, far = is_not_finite(y), gt(size, number(22.0))
    re = switch(or_(isinf(x), and_(far, invert(wild))), copysign(_ONE, x), switch(is_zero(x), x, s * c / below))
    im = switch(far, (sy * cy * decay) * (number(4) * decay), sy * cy / below)
    im = switch(and_(isinf(x), wild), copysign(_ZERO, y), im)
    return Parts(re, switch(is_zero(y), y, im))


def times_i(z: Parts) -> Parts:
    """i z."""
    return Parts(-z.im, z.re)


def times_minus_i(z: Parts) -> Parts:
    """-i z."""
    return Parts(z.im, -z.re)


@complex_form(Sinh, wide=True)
def _sinh(op: ScalarOp, z: Parts) -> Parts:
    return hyperbolic_sine(z)


@complex_form(Cosh, wide=True)
def _cosh(op: ScalarOp, z: Parts) -> Parts:
    return hyperbolic_cosine(z)


@complex_form(Tanh, wide=True)
def _tanh(op: ScalarOp, z: Parts) -> Parts:
    return hyperbolic_tangent(z)


@complex_form(Sin, wide=True)
def _sin(op: ScalarOp, z: Parts) -> Parts:
    return times_minus_i(hyperbolic_sine(times_i(z)))


@complex_form(Cos, wide=True)
def _cos(op: ScalarOp, z: Parts) -> Parts:
    return hyperbolic_cosine(times_i(z))


@complex_form(Tan, wide=True)
def _tan(op: ScalarOp, z: Parts) -> Parts:
    return times_minus_i(hyperbolic_tangent(times_i(z)))


# -- their inverses --------------------------------------------------------------------------------------------


def _angle_at_infinity(x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
    """The real part of arcsin where x or y is infinite."""
    diagonal, straight = number(math.pi / 4), number(math.pi / 2)
    size = switch(isinf(x), switch(isinf(y), diagonal, straight), _ZERO)
    return switch(or_(isnan(x), isnan(y)), _NAN, copysign(size, x))


def inverse_sine_and_cosine(z: Parts) -> tuple[Parts, Parts]:
    x, y = z
    minus, plus = root(Parts(_ONE - x, -y)), root(Parts(_ONE + x, y))
    infinite = or_(isinf(x), isinf(y))
    height = arcsinh(minus.re * plus.im - minus.im * plus.re)
    height = switch(infinite, copysign(_INF, y), height)
    angle = arctan(x / (minus.re * plus.re - minus.im * plus.im))
    at_infinity = _angle_at_infinity(x, y)
    angle = switch(infinite, at_infinity, switch(is_zero(x), x, angle))
    rest = arctan(minus.re / plus.re) * _TWO
    right = number(math.pi / 2)
    rest = switch(infinite, right - at_infinity, switch(is_zero(x), right, rest))
    return Parts(angle, height), Parts(rest, -height)


def inverse_hyperbolic_tangent(z: Parts) -> Parts:
    x, y = abs(z.re), z.im
    size = abs(y)
    swapped = gt(size, x)
    larger, smaller = switch(swapped, size, x), switch(swapped, x, size)
    gap = _ONE - x
    re = log1p(number(4) * x / (gap * gap + y * y)) * number(0.25)
    # close to 1, where the square of y is lost; and where both squares are out of range
    pole = and_(is_zero(gap), lt(size, number(1e-100)))
    re = switch(pole, (number(math.log(2)) - log(size)) * _HALF, re)
    ratio = smaller / larger
    re = switch(gt(larger, number(1e10)), x / larger / larger / (_ONE + ratio * ratio), re)
    im = arctan2(y + y, gap * (_ONE + x) - y * y) * _HALF
    infinite = or_(isinf(x), isinf(y))
    re = switch(or_(infinite, is_zero(x)), _ZERO, re)
    upright = switch(isnan(y), _NAN, copysign(number(math.pi / 2), y))
    im = switch(or_(infinite, gt(larger, number(1e17))), upright, im)
    return Parts(copysign(re, z.re), im)


@complex_form(ArcSin, wide=True)
def _arcsin(op: ScalarOp, z: Parts) -> Parts:
    return inverse_sine_and_cosine(z)[0]


@complex_form(ArcCos, wide=True)
def _arccos(op: ScalarOp, z: Parts) -> Parts:
    return inverse_sine_and_cosine(z)[1]


@complex_form(ArcSinh, wide=True)
def _arcsinh(op: ScalarOp, z: Parts) -> Parts:
    return times_minus_i(inverse_sine_and_cosine(times_i(z))[0])


@complex_form(ArcCosh, wide=True)
def _arccosh(op: ScalarOp, z: Parts) -> Parts:
    angle = inverse_sine_and_cosine(z)[1]
    return Parts(abs(angle.im), copysign(angle.re, z.im))


@complex_form(ArcTan, wide=True)
def _arctan(op: ScalarOp, z: Parts) -> Parts:
    return times_minus_i(inverse_hyperbolic_tangent(times_i(z)))


@complex_form(ArcTanh, wide=True)
def _arctanh(op: ScalarOp, z: Parts) -> Parts:
    return inverse_hyperbolic_tangent(z)
