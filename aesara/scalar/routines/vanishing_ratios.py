"""Ratios of functions that both vanish at zero, with derivatives that are accurate there."""

from __future__ import annotations

from aesara.scalar.routine import exp, expm1, floor, log, log1p, routine

__all__ = [
    "boys",
    "exprel_log_slope",
    "log1p_ratio",
    "log_exprel",
    "log_sinhc",
    "spherical_bessel_of_square",
    "spherical_ratio",
]


@routine
def spherical_ratio(n: float, x: float) -> float:
    """Return the ratio i_n(x) / (x i_(n-1)(x)) of modified spherical Bessel functions, for n >= 0.

    For n = 1 it is (coth(x) - 1 / x) / x. It is the continued fraction 1 / (2n + 1 + x**2 / (2n + 3 + ...)) with
    positive terms, DLMF 10.33 and 10.51.
    """
    size = abs(x)
    if size < 12.0:
        k = n + 10.0 + floor(3.0 * size)
        ratio = 1.0 / (2.0 * k + 1.0)
        while k > n:
            k -= 1.0
            ratio = 1.0 / (2.0 * k + 1.0 + x * x * ratio)
    else:
        tanh = -expm1(-2.0 * size) / (1.0 + exp(-2.0 * size))
        ratio = tanh / size
        k = 0.0
        while k < n:
            if k < 1.0:
                ratio = (1.0 / tanh - 1.0 / size) / size
            else:
                ratio = (1.0 / ratio - 2.0 * k - 1.0) / size / size
            k += 1.0
    return ratio


@routine
def log_sinhc(x: float) -> float:
    """Return the logarithm of sinh(x) / x, without overflow."""
    size = abs(x)
    if size < 1.0:
        # The series of (sinh(x) / x - 1) / (x**2 / 6), with positive terms.
        square = x * x
        k = 12.0
        total = 1.0
        while k > 1.0:
            total = 1.0 + total * square / (2.0 * k * (2.0 * k + 1.0))
            k -= 1.0
        result = log1p(total * square / 6.0)
    else:
        result = size + log1p(-exp(-2.0 * size)) - log(2.0 * size)
    return result


@routine
def log_exprel(x: float) -> float:
    """Return the logarithm of (exp(x) - 1) / x."""
    if abs(x) < 2.0:
        result = 0.5 * x + log_sinhc(0.5 * x)
    elif x > 0.0:
        result = x + log1p(-exp(-x)) - log(x)
    else:
        result = log1p(-exp(x)) - log(-x)
    return result


@routine
def exprel_log_slope(x: float) -> float:
    """Return the derivative of `log_exprel`: 1 / (1 - exp(-x)) - 1 / x."""
    if abs(x) < 2.0:
        result = 0.5 + 0.25 * x * spherical_ratio(1.0, 0.5 * x)
    else:
        result = -1.0 / expm1(-x) - 1.0 / x
    return result


@routine
def log1p_ratio(n: float, x: float) -> float:
    """Return the integral of t**n / (1 + x t)**(n + 1) over t from 0 to 1: log1p(x) / x for n = 0."""
    u = x / (1.0 + x)
    if abs(u) < 0.4:
        # The series in u, with positive terms for positive x: u**m / (n + 1 + m), times (1 + x)**-(n + 1).
        m = 45.0
        total = 0.0
        while m >= 0.0:
            total = total * u + 1.0 / (n + 1.0 + m)
            m -= 1.0
        k = 0.0
        while k <= n:
            total /= 1.0 + x
            k += 1.0
    else:
        total = log1p(x) / x
        power = 1.0
        k = 0.0
        while k < n:
            k += 1.0
            power /= 1.0 + x
            total = (total - power / k) / x
    return total


@routine
def spherical_bessel_of_square(n: float, z: float) -> float:
    """Return j_n(x) / x**n for z = -x**2, and i_n(x) / x**n for z = x**2, where abs(z) <= 1: DLMF 10.53.

    The derivative with respect to z is half of the function of order n + 1.
    """
    k = 10.0
    total = 1.0
    while k > 0.0:
        total = 1.0 + total * z / (2.0 * k * (2.0 * (n + k) + 1.0))
        k -= 1.0
    while k < n:
        k += 1.0
        total /= 2.0 * k + 1.0
    return total


@routine
def boys(n: float, z: float) -> float:
    """Return the integral of t**(2 n) * exp(-z * t**2) over t from 0 to 1, for 0 <= z <= 1.

    For n = 0 and z = x**2 it is sqrt(pi) / 2 * erf(x) / x. The derivative with respect to z is minus the function of
    order n + 1. The series, with positive terms, is that of the incomplete gamma function, DLMF 8.7.1.
    """
    k = 20.0
    total = 1.0
    while k > 0.0:
        total = 1.0 + total * 2.0 * z / (2.0 * (n + k) + 1.0)
        k -= 1.0
    return exp(-z) * total / (2.0 * n + 1.0)
