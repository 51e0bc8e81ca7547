"""Derivatives of draws with respect to parameters, for fixed underlying random numbers.

A draw ``x`` of a distribution with a parameter ``p`` can be seen as a function of ``p`` and of numbers that have
nothing to do with ``p``: a normal number is ``loc + scale * z``. Then the derivative of the mean of ``f(x)`` is the
mean of ``f'(x) dx/dp``. Here ``dx/dp`` is an expression of draws and parameters. Where no such function is at hand, the
distribution function ``F`` is one, since ``F(x, p)`` is uniform: ``dx/dp = -(dF/dp) / (dF/dx)``.

Numbers like ``z`` are drawn again, from the same state (`redrawn`): ``(x - loc) / scale`` has lost them where `scale`
is 0, or so small beside `loc` that the sum is rounded.
"""

from __future__ import annotations

from typing import Any

from aesara import scalar as aes
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import tensor_function
from aesara.tensor.elementwise.ops import eq, expm1, log, lt, switch

__all__ = [
    "of_beta",
    "of_f",
    "of_generalized_gamma",
    "of_location_and_scale",
    "of_power",
    "of_standard_gamma",
    "of_student",
    "of_triangular",
    "of_truncated_exponential",
    "of_uniform",
]

_gammainc_der = tensor_function(aes.gammainc_der, "gammainc_der")
_gammaincc_der = tensor_function(aes.gammaincc_der, "gammaincc_der")
_gamma_density = tensor_function(aes.gamma_density, "gamma_density")
_betainc_der = tensor_function(aes.betainc_der, "betainc_der")
_beta_density = tensor_function(aes.beta_density, "beta_density")


def of_location_and_scale(z: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """Return the derivatives of ``x = loc + scale * z`` in `loc` and `scale`."""
    return z.ones_like(), z


def of_uniform(u: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """Return the derivatives of ``x = low + (high - low) * u`` in `low` and `high`."""
    return 1 - u, u


def of_standard_gamma(y: TensorVariable, shape: TensorVariable) -> TensorVariable:
    """Return the derivative of a gamma number in its shape, by the distribution function."""
    # Above the mean the upper tail is the smaller one, so that its derivative is accurate.
    slope = switch(lt(y, shape), -_gammainc_der(shape, y), _gammaincc_der(shape, y))
    # The number is about u ** (1 / shape): where it underflows, its derivative does, too.
    return switch(eq(y, 0), 0, slope / _gamma_density(shape, y))


def of_beta(x: TensorVariable, a: TensorVariable, b: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """Return the derivatives of a beta number in its parameters, by the distribution function."""
    density = _beta_density(a, b, x)
    at_end = eq(x * (1 - x), 0)
    return tuple(switch(at_end, 0, -_betainc_der(a, b, x, first) / density) for first in (1, 0))


def of_power(x: TensorVariable, exponent: TensorVariable) -> TensorVariable:
    """Return the derivative of ``x = u ** (1 / exponent)`` in `exponent`."""
    return switch(eq(x, 0), 0, -x * log(x) / exponent)


def of_triangular(
    x: TensorVariable, left: TensorVariable, mode: TensorVariable, right: TensorVariable
) -> tuple[TensorVariable, ...]:
    """Return the derivatives of ``left + sqrt(u (mode - left) (right - left))``, or its mirror image, in the
    parameters.
    """
    rises, length = lt(x, mode), right - left
    # Derivatives of the distance to the nearer end; the quotient of the other side may be 0 / 0.
    distance = switch(rises, x - left, right - x) / 2
    in_mode = distance / switch(rises, mode - left, right - mode)
    in_length = distance / length
    in_left = switch(rises, 1 - in_mode - in_length, in_length)
    in_right = switch(rises, in_length, 1 - in_mode - in_length)
    return in_left, in_mode, in_right


def of_truncated_exponential(y: TensorVariable, b: TensorVariable) -> TensorVariable:
    """Return the derivative of ``y = -log(1 - u (1 - exp(-b)))`` in `b`."""
    return expm1(y) / expm1(b)


def of_generalized_gamma(
    z: TensorVariable, alpha: TensorVariable, p: TensorVariable, scale: TensorVariable
) -> tuple[TensorVariable, ...]:
    """Return the derivatives of ``x = scale * z``, where ``z ** p`` is a gamma number of shape ``alpha / p``."""
    y, x = z**p, scale * z
    slope = switch(eq(y, 0), 0, x * of_standard_gamma(y, alpha / p) / (y * p**2))
    logarithm = switch(eq(z, 0), 0, x * log(z))
    return slope, -(alpha * slope + logarithm) / p, z


def of_f(x: TensorVariable, numerator: Any, denominator: Any) -> tuple[TensorVariable, ...]:
    """Return the derivatives of a ratio of mean squares in the numbers of degrees of freedom.

    ``numerator * x / (numerator * x + denominator)`` is a beta number.
    """
    above, below = numerator * x, denominator
    in_a, in_b = of_beta(above / (above + below), numerator / 2, denominator / 2)
    widening = (above + below) ** 2 / (2 * numerator * below)
    return widening * in_a - x / numerator, widening * in_b + x / denominator


def of_student(z: TensorVariable, df: TensorVariable) -> TensorVariable:
    """Return the derivative of a number of Student's t distribution in its degrees of freedom; its square has an F
    distribution.
    """
    _, slope = of_f(z**2, 1, df)
    return switch(eq(z, 0), 0, slope / (2 * z))
