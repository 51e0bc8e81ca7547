"""Functions of NumPy beyond the documented ops: signs, remainders, roots, shifts."""

from __future__ import annotations

import math

import numpy as np

from aesara.scalar.arithmetic import abs as scalar_abs
from aesara.scalar.arithmetic import mod
from aesara.scalar.comparison import eq, gt, isinf, isnan, lt, neq
from aesara.scalar.complex_forms import copysign as with_sign_bit
from aesara.scalar.conditional import scalar_maximum, scalar_minimum, switch
from aesara.scalar.constants import literal
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp, to_dtype, zero_gradient
from aesara.scalar.power import sqrt
from aesara.scalar.promotion import (
    bool_out,
    upcast_out_min8,
    upcast_out_no_complex,
    upgrade_to_float64,
    upgrade_to_float_no_complex,
)
from aesara.scalar.rounding import round_half_to_even, trunc
from aesara.scalar.trigonometric import cos, sin
from aesara.scalar.types import ScalarType
from aesara.scalar.var import ScalarVariable

__all__ = [
    "cbrt",
    "copysign",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "hypot",
    "isfinite",
    "left_shift",
    "right_shift",
    "signbit",
    "sinc",
]


class IsFinite(UnaryScalarOp):
    """Test whether x is neither infinite nor NaN."""

    numpy = np.isfinite
    dtype = bool_out
    operands = "as_is"

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        if x.type.is_discrete:
            return eq(literal(0, x), literal(0, x))
        return eq(x - x, literal(0, x))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (zero_gradient(x),)


def _signbit_out(scalar_type: ScalarType) -> tuple:
    upgrade_to_float_no_complex(scalar_type)
    return bool_out(scalar_type)


def _signbit(x: np.ndarray) -> np.ndarray:
    return np.signbit(x) & (x == x)


class Signbit(UnaryScalarOp):
    """Test whether x is negative or -0.0; NaN counts as positive."""

    numpy = _signbit
    dtype = _signbit_out
    operands = "as_is"

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        zero = literal(0, x)
        if x.type.is_discrete:
            return lt(x, zero)
        return lt(with_sign_bit(literal(1, x), x), zero) & eq(x, x)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (zero_gradient(x),)


def _copysign(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.copysign(x, np.where(y == y, y, np.ones_like(y)))


class Copysign(BinaryScalarOp):
    """x with the sign of y; NaN counts as positive."""

    numpy = _copysign
    dtype = upgrade_to_float_no_complex
    holomorphic = False

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return with_sign_bit(x, switch(eq(y, y), y, literal(1, y)))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        one = literal(1, g)
        return switch(eq(signbit(x), signbit(z)), one, -one) * g, zero_gradient(y)


class Heaviside(BinaryScalarOp):
    """0 for negative x, 1 for positive x, y for x = 0."""

    numpy = np.heaviside
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        zero = literal(0, x)
        # NaN is neither less, nor greater, nor equal.
        step = switch(lt(x, zero), zero, switch(gt(x, zero), literal(1, x), x))
        return switch(eq(x, zero), y, step)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return zero_gradient(x), switch(eq(x, literal(0, x)), g, literal(0, g))


def _real_min8(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs, with Boolean replaced by int8; complex numbers raise an error."""
    return upcast_out_min8(*upcast_out_no_complex(*types))


class Fmod(BinaryScalarOp):
    """The remainder of x / y, rounded towards zero; it has the sign of x."""

    numpy = np.fmod
    dtype = _real_min8
    domain = ((-5.0, 5.0), (0.5, 5.0))

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        zero = literal(0, x)
        if not x.type.is_discrete:
            remainder = mod(scalar_abs(x), scalar_abs(y))
            return copysign(remainder, x)
        remainder = mod(x, y)
        opposite = neq(lt(x, zero), lt(y, zero))
        return switch(neq(remainder, zero) & opposite, remainder - y, remainder)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g, -g * trunc(x / y)


class _ExtremumIgnoringNaN(BinaryScalarOp):
    dtype = upcast_out_no_complex

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        zero = literal(0, g)
        first = eq(x, z) | (isnan(x) & isnan(y))
        return switch(first, g, zero), switch(first, zero, g)


def _ignore_nan(extremum: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
    if x.type.is_discrete:
        return extremum
    return switch(isnan(x), y, switch(isnan(y), x, extremum))


class Fmax(_ExtremumIgnoringNaN):
    """The maximum of x and y, or the one that is not NaN."""

    numpy = np.fmax

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return _ignore_nan(scalar_maximum(x, y), x, y)


class Fmin(_ExtremumIgnoringNaN):
    """The minimum of x and y, or the one that is not NaN."""

    numpy = np.fmin

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return _ignore_nan(scalar_minimum(x, y), x, y)


class Hypot(BinaryScalarOp):
    """The square root of x² + y², without overflow."""

    numpy = np.hypot
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        if x.type.dtype == "float16":
            wide = to_dtype(x, "float32"), to_dtype(y, "float32")
            return to_dtype(sqrt(wide[0] * wide[0] + wide[1] * wide[1]), "float16")
        # Numbers whose squares could overflow or underflow are scaled by powers of 2.
        limit, power = (1e150, 600) if x.type.dtype == "float64" else (1e15, 100)
        one, up, down = literal(1, x), literal(2.0**power, x), literal(2.0**-power, x)
        largest = scalar_maximum(scalar_abs(x), scalar_abs(y))
        large, small = gt(largest, literal(limit, x)), lt(largest, literal(1 / limit, x))
        scale = switch(large, down, switch(small, up, one))
        back = switch(large, up, switch(small, down, one))
        a, b = x * scale, y * scale
        infinite = isinf(x) | isinf(y)
        return switch(infinite, literal(math.inf, x), sqrt(a * a + b * b) * back)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        zero = literal(0, z)
        divisor = switch(eq(z, zero), literal(1, z), z)
        return g * (x / divisor), g * (y / divisor)


class Cbrt(UnaryScalarOp):
    """The cube root of x."""

    numpy = np.cbrt
    dtype = upgrade_to_float_no_complex
    native = Primitive("cbrt")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / (literal(3, y) * y * y),)


def _sinc_out(scalar_type: ScalarType) -> tuple:
    return upgrade_to_float64(scalar_type) if scalar_type.is_discrete else (scalar_type,)


#: coefficients of a polynomial in (pi x)**2, which times pi**2 x is the derivative of sinc near zero
_SLOPE_OF_SINC = tuple(2 * n * (-1) ** n / math.factorial(2 * n + 1) for n in range(1, 11))


def _sinc(x: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(x):
        return np.sinc(x)
    x = np.asarray(x)
    pi = x.dtype.type(np.pi)
    whole = np.rint(x)
    signed_pi = np.where(np.rint(whole / 2) * 2 == whole, pi, -pi)
    value = np.where(x == whole, x * 0, np.sin(pi * (x - whole)) / (signed_pi * x))
    return np.where(x == 0, 1, value)


def _half_turns(x: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable]:
    """Return the nearest integer, and pi with the sign of ``(-1)**integer``."""
    pi, half = literal(math.pi, x), literal(0.5, x)
    whole = round_half_to_even(x)
    return whole, switch(eq(round_half_to_even(whole * half), whole * half), pi, -pi)


class Sinc(UnaryScalarOp):
    """sin(πx) / (πx), with 1 at zero.

    The nearest integer is subtracted before the multiplication by π, so that rounding errors are small; at other
    integers the value is 0.
    """

    numpy = _sinc
    nfunc_spec = ("sinc", 1, 1)
    dtype = _sinc_out

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        zero, one = literal(0, x), literal(1, x)
        whole, signed_pi = _half_turns(x)
        value = sin(literal(math.pi, x) * (x - whole)) / (signed_pi * x)
        return switch(eq(x, zero), one, switch(eq(x, whole), x * zero, value))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        pi = literal(math.pi, x)
        if x.type.is_complex:
            cosine = cos(pi * x)
        else:
            whole, signed_pi = _half_turns(x)
            cosine = cos(pi * (x - whole)) * (signed_pi / pi)
        # Near zero the difference cancels.
        square = (pi * x) * (pi * x)
        series: ScalarVariable = literal(0, x)
        for coefficient in reversed(_SLOPE_OF_SINC):
            series = series * square + literal(coefficient, x)
        small = lt(scalar_abs(x), literal(0.25, scalar_abs(x)))
        divisor = switch(small, literal(1, x), x)
        return (g * switch(small, pi * pi * x * series, (cosine - y) / divisor),)


def _shift_out(*types: ScalarType) -> tuple:
    (result,) = upcast_out_min8(*types)
    if not result.is_discrete:
        raise TypeError(f"only integers can be shifted, got {', '.join([t.dtype for t in types])}")
    return (result,)


class LeftShift(BinaryScalarOp):
    """The bits of x shifted left by y."""

    numpy = np.left_shift
    dtype = _shift_out
    native = Primitive("shl")
    domain = ((-5.0, 5.0), (0.0, 5.0))


class RightShift(BinaryScalarOp):
    """The bits of x shifted right by y."""

    numpy = np.right_shift
    dtype = _shift_out
    native = Primitive("shr")
    domain = ((-5.0, 5.0), (0.0, 5.0))


isfinite = IsFinite(name="isfinite")
signbit = Signbit(name="signbit")
copysign = Copysign(name="copysign")
heaviside = Heaviside(name="heaviside")
fmod = Fmod(name="fmod")
fmax = Fmax(name="fmax")
fmin = Fmin(name="fmin")
hypot = Hypot(name="hypot")
cbrt = Cbrt(name="cbrt")
sinc = Sinc(name="sinc")
left_shift = LeftShift(name="left_shift")
right_shift = RightShift(name="right_shift")
