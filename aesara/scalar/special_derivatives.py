"""Derivatives of special functions with respect to their parameters, which SciPy does not offer.

Each algorithm is an expansion that converges where it is used, differentiated term by term: a number and its
derivative are carried along together (forward-mode differentiation of the recurrence).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "betainc_derivative",
    "gammainc_derivative",
    "gammaincc_derivative",
    "hyp2f1_derivative",
]

_MAX_TERMS = 100_000
_EPS = 2.0**-54
_TINY = 1e-300


def _elementwise(function: Callable) -> Callable:
    """Apply a function of Python floats to broadcast arrays; it returns float64."""
    on_arrays = np.frompyfunc(function, function.__code__.co_argcount, 1)

    def apply(*values: Any) -> Any:
        return np.asarray(on_arrays(*[np.asarray(value, dtype="float64") for value in values])).astype("float64")

    apply.__name__ = function.__name__
    apply.__doc__ = function.__doc__
    return apply


@_elementwise
def gammainc_derivative(k: float, x: float) -> float:
    """Return the derivative of the regularized lower incomplete gamma function P(k, x) with respect to k."""
    if not (k > 0 and x >= 0):
        return math.nan
    if x == 0 or math.isinf(x):
        return 0.0
    if x < k + 1:
        return _lower_gamma_series(float(k), float(x))
    return -_upper_gamma_fraction(float(k), float(x))


@_elementwise
def gammaincc_derivative(k: float, x: float) -> float:
    """Return the derivative of the regularized upper incomplete gamma function Q(k, x) with respect to k."""
    if not (k > 0 and x >= 0):
        return math.nan
    if x == 0 or math.isinf(x):
        return 0.0
    if x < k + 1:
        return -_lower_gamma_series(float(k), float(x))
    return _upper_gamma_fraction(float(k), float(x))


def _digamma(x: float) -> float:
    from scipy.special import psi

    return float(psi(x))


def _lower_gamma_series(k: float, x: float) -> float:
    # P(k, x) = x**k exp(-x) / gamma(k + 1) * sum of x**n / ((k + 1) ... (k + n)), DLMF 8.11.4.
    term = total = 1.0
    d_log_term = d_total = 0.0
    for n in range(1, _MAX_TERMS):
        term *= x / (k + n)
        d_log_term -= 1 / (k + n)
        total += term
        d_total += term * d_log_term
        if term <= _EPS * total and abs(term * d_log_term) <= _EPS * abs(d_total):
            break
    scale = math.exp(k * math.log(x) - x - math.lgamma(k + 1))
    return scale * (total * (math.log(x) - _digamma(k + 1)) + d_total)


def _upper_gamma_fraction(k: float, x: float) -> float:
    # Q(k, x) = x**k exp(-x) / gamma(k) * 1/(x+1-k- 1(1-k)/(x+3-k- 2(2-k)/(x+5-k- ...))), DLMF 8.9.2.
    def coefficients(n: int) -> tuple[float, float, float, float]:
        if n == 0:
            return 1.0, 0.0, x + 1 - k, -1.0
        return -n * (n - k), float(n), x + 2 * n + 1 - k, -1.0

    value, slope = _continued_fraction(coefficients)
    scale = math.exp(k * math.log(x) - x - math.lgamma(k))
    return scale * (value * (math.log(x) - _digamma(k)) + slope)


def _continued_fraction(
    coefficients: Callable[[int], tuple[float, float, float, float]],
) -> tuple[float, float]:
    """Return the value and the derivative of ``a0/(b0 + a1/(b1 + ...))`` by the modified Lentz algorithm.

    ``coefficients(n)`` gives a, da, b and db.
    """
    value, slope = 1.0, 0.0  # divided out again by the first factor
    c, dc = math.inf, 0.0
    d, dd = 0.0, 0.0
    for n in range(_MAX_TERMS):
        a, da, b, db = coefficients(n)
        denominator = b + a * d
        d_denominator = db + da * d + a * dd
        denominator = denominator or _TINY
        new_d = 1 / denominator
        new_dd = -d_denominator * new_d * new_d
        if n == 0:
            value, slope = a * new_d, da * new_d + a * new_dd
        else:
            new_c = b + a / c
            dc = db + da / c - a * dc / (c * c)
            c = new_c or _TINY
            factor = c * new_d
            d_factor = dc * new_d + c * new_dd
            slope = slope * factor + value * d_factor
            value *= factor
            if abs(factor - 1) <= 4 * _EPS and abs(value * d_factor) <= 4 * _EPS * abs(slope):
                break
        d, dd = new_d, new_dd
    return value, slope


@_elementwise
def betainc_derivative(a: float, b: float, x: float, wrt_a: float) -> float:
    """Return the derivative of the regularized incomplete beta function, by a or, if `wrt_a` is 0, by b."""
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        return math.nan
    if x in (0, 1):
        return 0.0
    a, b, x = float(a), float(b), float(x)
    if x <= (a + 1) / (a + b + 2):
        return _beta_fraction(a, b, x, bool(wrt_a))
    # I_x(a, b) = 1 - I_{1-x}(b, a)
    return -_beta_fraction(b, a, 1 - x, not wrt_a)


def _beta_fraction(a: float, b: float, x: float, wrt_a: bool) -> float:
    # I_x(a, b) = x**a (1-x)**b / (a B(a, b)) * 1/(1+ d1/(1+ d2/(1+ ...))), DLMF 8.17.22.
    da, db = (1.0, 0.0) if wrt_a else (0.0, 1.0)

    def coefficients(n: int) -> tuple[float, float, float, float]:
        if n == 0:
            return 1.0, 0.0, 1.0, 0.0
        m, odd = divmod(n, 2)
        if odd:
            # -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1))
            top, d_top = (a + m) * (a + b + m), da * (a + b + m) + (a + m) * (da + db)
            bottom, d_bottom = (a + 2 * m) * (a + 2 * m + 1), da * (2 * a + 4 * m + 1)
            sign = -1.0
        else:
            # m (b - m) x / ((a + 2m - 1)(a + 2m))
            top, d_top = m * (b - m), m * db
            bottom, d_bottom = (a + 2 * m - 1) * (a + 2 * m), da * (2 * a + 4 * m - 1)
            sign = 1.0
        term = sign * x * top / bottom
        d_term = sign * x * (d_top * bottom - top * d_bottom) / (bottom * bottom)
        return term, d_term, 1.0, 0.0

    value, slope = _continued_fraction(coefficients)
    log_scale = (
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - math.log(a)
    )
    if wrt_a:
        d_log_scale = math.log(x) + _digamma(a + b) - _digamma(a) - 1 / a
    else:
        d_log_scale = math.log1p(-x) + _digamma(a + b) - _digamma(b)
    return math.exp(log_scale) * (value * d_log_scale + slope)


@_elementwise
def hyp2f1_derivative(a: float, b: float, c: float, z: float, position: float) -> float:
    """Return the derivative of Gauss's hypergeometric function with respect to one of its four inputs.

    Those with respect to a, b and c converge for z in (-inf, 1), slowly near 1.
    """
    from scipy.special import hyp2f1

    if position not in (0, 1, 2, 3):
        raise ValueError(f"hyp2f1_der: the position must be 0, 1, 2 or 3, got {position}")
    pole = c <= 0 and c == math.floor(c)
    if math.isnan(a + b + c + z) or pole or math.isinf(z):
        return math.nan
    if position == 3:
        return a * b / c * float(hyp2f1(a + 1, b + 1, c + 1, z))
    if z >= 1:
        return math.nan
    direction = tuple(float(position == i) for i in range(3))
    if z >= -0.5:
        return _hyp2f1_series(a, b, c, z, *direction)[1]
    # Pfaff: F(a, b; c; z) = (1 - z)**-a F(a, c - b; c; z / (z - 1)), DLMF 15.8.1.
    da, db, dc = direction
    value, slope = _hyp2f1_series(a, c - b, c, z / (z - 1), da, dc - db, dc)
    return (1 - z) ** -a * (slope - da * math.log1p(-z) * value)


def _hyp2f1_series(a: float, b: float, c: float, z: float, da: float, db: float, dc: float) -> tuple[float, float]:
    """Return F(a, b; c; z) and its derivative in a direction, from the power series in z."""
    term = total = 1.0
    d_term = d_total = 0.0
    for n in range(_MAX_TERMS):
        ratio = (a + n) * (b + n) / ((c + n) * (1 + n)) * z
        d_ratio = (da * (b + n) + (a + n) * db) / ((c + n) * (1 + n)) * z - ratio * dc / (c + n)
        d_term = d_term * ratio + term * d_ratio
        term *= ratio
        total += term
        d_total += d_term
        if abs(term) <= _EPS * abs(total) and abs(d_term) <= _EPS * abs(d_total):
            break
    return total, d_total
