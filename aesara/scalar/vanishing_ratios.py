"""Ratios of functions that both vanish at zero, such as ``(exp(x) - 1) / x``, and their logarithms.

The formula for the derivative of a quotient cancels near zero. The derivatives of these ops are ops of their own.
"""

from __future__ import annotations

import numpy as np

from aesara.graph.pullback import grad_not_implemented
from aesara.scalar import routines
from aesara.scalar.arithmetic import abs as abs_
from aesara.scalar.comparison import eq, gt, lt
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.exponential import exp, expm1
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.trigonometric import tanh
from aesara.scalar.var import ScalarVariable

__all__ = [
    "Boys",
    "Exprel",
    "ExprelLogSlope",
    "ExprelReciprocal",
    "Log1pRatio",
    "LogExprel",
    "LogSinhc",
    "SphericalBesselOfSquare",
    "SphericalRatio",
    "boys",
    "exprel",
    "exprel_log_slope",
    "exprel_reciprocal",
    "log1p_ratio",
    "log_exprel",
    "log_sinhc",
    "spherical_bessel_of_square",
    "spherical_ratio",
]


def _exprel(x: np.ndarray) -> np.ndarray:
    half = np.expm1(x / 2)
    return np.where(x == 0, np.ones_like(half), half / x * (half + 2))


class Exprel(UnaryScalarOp):
    """(exp(x) - 1) / x, with 1 at zero."""

    numpy = _exprel
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        half = expm1(x / literal(2, x))
        return switch(eq(x, literal(0, x)), literal(1, x), half / x * (half + literal(2, x)))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * y * exprel_log_slope(x),)


def _exprel_reciprocal(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    rest = -np.expm1(-size)
    root = np.where(x > 0, np.exp(-size / 2), np.ones_like(rest))
    return np.where(x == 0, np.ones_like(rest), size / rest * root * root)


class ExprelReciprocal(UnaryScalarOp):
    """x / (exp(x) - 1), with 1 at zero. Its derivatives are products with itself, which do not overflow."""

    numpy = _exprel_reciprocal
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        # The exponentials neither overflow nor are subnormal: XLA multiplies divisors, and flushes subnormals to zero.
        zero, one, size = literal(0, x), literal(1, x), abs_(x)
        root = switch(gt(x, zero), exp(-size / literal(2, x)), one)
        return switch(eq(x, zero), one, size / -expm1(-size) * root * root)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * y * exprel_log_slope(x),)


def _near_and_far(x: ScalarVariable, limit: int) -> tuple[ScalarVariable, ScalarVariable, ScalarVariable]:
    """Return whether `x` is less than a limit, and arguments for both formulas, which are in the domains of these."""
    is_near = lt(abs_(x), literal(limit, x))
    return is_near, switch(is_near, x, literal(1, x)), switch(is_near, literal(limit, x), x)


class LogExprel(UnaryScalarOp):
    """log((exp(x) - 1) / x), without overflow, and accurate near zero."""

    numpy = native = routines.log_exprel
    dtype = upgrade_to_float_no_complex

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * exprel_log_slope(x),)


class LogSinhc(UnaryScalarOp):
    """log(sinh(x) / x), without overflow, and accurate near zero."""

    numpy = native = routines.log_sinhc
    dtype = upgrade_to_float_no_complex

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        # coth(x) - 1 / x cancels near zero; derivatives of the ratio cancel for large x.
        one = literal(1, x)
        is_near, inside, outside = _near_and_far(x, 2)
        near = x * spherical_ratio(one, inside)
        return (g * switch(is_near, near, one / tanh(outside) - one / outside),)


class ExprelLogSlope(UnaryScalarOp):
    """1 / (1 - exp(-x)) - 1 / x, the derivative of log((exp(x) - 1) / x), with 1/2 at zero."""

    numpy = native = routines.exprel_log_slope
    dtype = upgrade_to_float_no_complex

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        # The derivative of coth(h) / 2 - 1 / (2 h) for h = x / 2, which cancels for large x.
        one = literal(1, x)
        is_near, inside, outside = _near_and_far(x, 8)
        half = inside / literal(2, x)
        first, second = spherical_ratio(one, half), spherical_ratio(literal(2, x), half)
        near = literal(0.25, x) * (first + half * half * first * (second - first))
        decay = exp(-abs(outside))
        far = one / outside / outside - decay / ((one - decay) * (one - decay))
        return (g * switch(is_near, near, far),)


class SphericalRatio(BinaryScalarOp):
    """i_n(x) / (x i_(n-1)(x)) of modified spherical Bessel functions; tanh(x) / x for n = 0."""

    numpy = native = routines.spherical_ratio
    dtype = upgrade_to_float_no_complex
    domain = ((1.0, 1.0), (-10.0, 10.0))

    def pullback(self, n: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, n, "The order is a whole number.")
        return undefined, g * x * y * (spherical_ratio(n + literal(1, n), x) - y)


class Log1pRatio(BinaryScalarOp):
    """The integral of t**n / (1 + x t)**(n + 1) over t from 0 to 1; log(1 + x) / x for n = 0."""

    numpy = native = routines.log1p_ratio
    dtype = upgrade_to_float_no_complex
    domain = ((1.0, 1.0), (-0.9, 10.0))

    def pullback(self, n: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, n, "The order is a whole number.")
        next_order = n + literal(1, n)
        return undefined, -g * next_order * log1p_ratio(next_order, x)


class SphericalBesselOfSquare(BinaryScalarOp):
    """j_n(x) / x**n for z = -x**2, and i_n(x) / x**n for z = x**2, where abs(z) <= 1.

    For n = 0 these are sin(x) / x and sinh(x) / x.
    """

    numpy = native = routines.spherical_bessel_of_square
    dtype = upgrade_to_float_no_complex
    domain = ((1.0, 1.0), (-1.0, 1.0))

    def pullback(self, n: ScalarVariable, z: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, n, "The order is a whole number.")
        return undefined, g * spherical_bessel_of_square(n + literal(1, n), z) / literal(2, z)


class Boys(BinaryScalarOp):
    """The integral of t**(2 n) * exp(-z * t**2) over t from 0 to 1, for 0 <= z <= 1."""

    numpy = native = routines.boys
    dtype = upgrade_to_float_no_complex
    domain = ((1.0, 1.0), (0.0, 1.0))

    def pullback(self, n: ScalarVariable, z: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, n, "The order is a whole number.")
        return undefined, -g * boys(n + literal(1, n), z)


boys = Boys(name="boys")
exprel = Exprel(name="exprel")
exprel_log_slope = ExprelLogSlope(name="exprel_log_slope")
exprel_reciprocal = ExprelReciprocal(name="exprel_reciprocal")
log1p_ratio = Log1pRatio(name="log1p_ratio")
log_exprel = LogExprel(name="log_exprel")
log_sinhc = LogSinhc(name="log_sinhc")
spherical_bessel_of_square = SphericalBesselOfSquare(name="spherical_bessel_of_square")
spherical_ratio = SphericalRatio(name="spherical_ratio")
