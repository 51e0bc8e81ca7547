"""Derivatives of the regularized incomplete beta function."""

from __future__ import annotations

import math

from aesara.scalar.native import Special
from aesara.scalar.routine import Known, SciPyFunction, exp, floor, log, log1p, psi, routine, sqrt
from aesara.scalar.routines.continued_fraction import next_convergent
from aesara.scalar.routines.stirling import LARGE, digamma_change, digamma_remainder, log1p_minus, stirling_error

__all__ = ["beta_density", "betainc_derivative"]

_gamma = Known(SciPyFunction("gamma"), Special("gamma"))

_MAX_TERMS = 1_000_000.0
_EPS = 2.0**-53
_TWO_PI = 2 * math.pi
#: For a smaller parameter, the continued fraction loses a digit.
_SMALL = 0.1


@routine
def betainc_derivative(a: float, b: float, x: float, wrt_a: float) -> float:
    """Return the derivative of the regularized incomplete beta function I_x(a, b) by a or, if `wrt_a` is 0, by b."""
    if not (0.0 < a < math.inf and 0.0 < b < math.inf and 0.0 <= x <= 1.0):
        return math.nan
    if x == 0.0 or x == 1.0:
        return 0.0
    if x <= (a + 1.0) / (a + b + 2.0):
        return _from_zero(a, b, x, 1.0 - x, wrt_a)
    # I_x(a, b) = 1 - I_{1-x}(b, a)
    return -_from_zero(b, a, 1.0 - x, x, 1.0 if wrt_a == 0.0 else 0.0)


@routine
def _from_zero(a: float, b: float, x: float, y: float, wrt_a: float) -> float:
    """Return the derivative where x <= (a + 1) / (a + b + 2); y = 1 - x."""
    if wrt_a == 0.0 and a < _SMALL:
        return _by_b_for_small_a(a, b, x)
    return _fraction(a, b, x, y, wrt_a)


@routine
def beta_density(a: float, b: float, x: float) -> float:
    """Return the derivative of I_x(a, b) with respect to x: x**(a - 1) (1 - x)**(b - 1) / B(a, b)."""
    if not (0.0 < a < math.inf and 0.0 < b < math.inf and 0.0 <= x <= 1.0):
        return math.nan
    if x == 0.0:
        return 0.0 if a > 1.0 else b if a == 1.0 else math.inf
    if x == 1.0:
        return 0.0 if b > 1.0 else a if b == 1.0 else math.inf
    y = 1.0 - x
    # For a > 1, x**a may underflow where x**(a - 1) does not; otherwise, a - 1 may have lost digits.
    less = 1.0 if a > 1.0 else 0.0
    density = _density(a, b, x, y, less)
    return density / (x if less == 0.0 else 1.0) / y * (a / (a + b) * b) if density > 0.0 else 0.0


@routine
def _stirling_ratio(k: float) -> float:
    """Return gamma(k + 1) / (k**k exp(-k))."""
    if k < LARGE:
        return _gamma(k + 1.0) * exp(k) / k**k
    return sqrt(_TWO_PI * k) * exp(stirling_error(k))


@routine
def _log_ratio_minus(ratio: float, change: float) -> float:
    """Return log(ratio) - change, where change = ratio - 1."""
    if -0.5 < change < 1.0:
        return log1p_minus(change)
    return log(ratio) - change


@routine
def _density(a: float, b: float, x: float, y: float, less: float) -> float:
    """Return (1/a + 1/b) x**(a - less) y**b / B(a, b), where y = 1 - x, and `less` is 0 or 1.

    For large parameters it is expanded at the saddle point, where the terms of the exponent do not cancel.
    """
    n = a + b
    if a < LARGE and b < LARGE:
        return _gamma(n + 1.0) / (_gamma(a + 1.0) * _gamma(b + 1.0)) * x ** (a - less) * y**b
    excess = x * b - y * a
    exponent = b * _log_ratio_minus(y * n / b, -excess / b)
    ratio = x * n / a
    power = 1.0
    divisor = 1.0 if less == 0.0 else x
    if a < LARGE and ratio < 0.5:
        power = ratio ** (a - less)
        divisor = 1.0 if less == 0.0 else a / n
        exponent -= excess
    else:
        exponent += a * _log_ratio_minus(ratio, excess / a)
    return power * exp(exponent) * _stirling_ratio(n) / (_stirling_ratio(a) * _stirling_ratio(b)) / divisor


@routine
def _log_minus_digamma(a: float, b: float, x: float, y: float) -> float:
    """Return log(x) + psi(a + b + 1) - psi(a + 1)."""
    n = a + b
    if a < LARGE:
        return log(x) + (psi(n + 1.0) - psi(a + 1.0))
    change = (x * b - y * a) / a
    part = log1p(change) if -0.5 < change < 1.0 else log(x * n / a)
    return part + (digamma_remainder(n) + 1.0 / n) - (digamma_remainder(a) + 1.0 / a)


@routine
def _by_b_for_small_a(a: float, b: float, x: float) -> float:
    """Return the derivative of I_x(a, b) by b, as a sum of terms of its size, which is that of a."""
    # I_x(a, b) = power (1 + a (sum of (1 - b)_n x**n / (n! (a + n)) from n = 1)), DLMF 8.17.7, where
    # power = gamma(a + b) / (gamma(a + 1) gamma(b)) x**a.
    log_y = log1p(-x)
    power = _density(a, b, x, 1.0 - x, 0.0) * (b / (a + b)) * exp(-b * log_y)
    term = 1.0
    d_term = total = d_total = 0.0
    n = 0.0
    while n < _MAX_TERMS and (n <= b or abs(d_term) > _EPS * abs(d_total) or abs(term) > _EPS * abs(total)):
        n += 1.0
        d_term = (d_term * (n - b) - term) / n * x
        term *= (n - b) / n * x
        total += term / (a + n)
        d_total += d_term / (a + n)
    return power * ((1.0 + a * total) * digamma_change(b, a) + a * d_total)


@routine
def _fraction(a: float, b: float, x: float, y: float, wrt_a: float) -> float:
    # I_x(a, b) = b / (a + b) * density / (1+ d1/(1+ d2/(1+ ...))), DLMF 8.17.22; p and q are those of the reciprocal.
    density = _density(a, b, x, y, 0.0)
    if density == 0.0:
        return 0.0
    da = 1.0 if wrt_a != 0.0 else 0.0
    db = 1.0 - da
    p0, q0, dp0, dq0 = 1.0, 0.0, 0.0, 0.0
    p1, q1, dp1, dq1 = 1.0, 1.0, 0.0, 0.0
    term = d_term = 0.0
    change = d_change = 1.0
    n = 0.0
    while n < _MAX_TERMS and (change > _EPS * abs(p1) or d_change > _EPS * abs(dp1)):
        n += 1.0
        m = floor(0.5 * n)
        if n > 2.0 * m:
            # -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1))
            middle = a + 2.0 * m if m > 0.0 else 1.0
            ratio = (a + m) / middle if m > 0.0 else 1.0
            d_ratio = da * (m / middle / middle)
            term = -x * ratio * ((a + b + m) / (a + n))
            d_term = -x * ((d_ratio * (a + b + m) + ratio) / (a + n)) - term * (da / (a + n))
        else:
            # m (b - m) x / ((a + 2m - 1)(a + 2m))
            scale = m / (a + n - 1.0) * (x / (a + n))
            term = scale * (b - m)
            d_term = scale * db - term * (da / (a + n - 1.0) + da / (a + n))
        old, d_old = p1, dp1
        p0, q0, dp0, dq0, p1, q1, dp1, dq1 = next_convergent(p0, q0, dp0, dq0, p1, q1, dp1, dq1, term, d_term, 1.0, 0.0)
        settled = q1 == 1.0
        change = abs(p1 - old) if settled else math.inf
        d_change = abs(dp1 - d_old) if settled else math.inf
    if not change <= 1e-6 * abs(p1):
        return math.nan  # a + b is too large
    value = 1.0 / p1
    slope = -value * value * dp1
    # psi(a + b) = psi(a + b + 1) - 1 / (a + b), and likewise for psi(b); the fractions do not cancel.
    share, rest = b / (a + b), a / (a + b)
    if da != 0.0:
        return share * density * (value * (_log_minus_digamma(a, b, x, y) - 1.0 / (a + b)) + slope)
    return density * (value * (rest / (a + b)) + share * (value * _log_minus_digamma(b, a, y, x) + slope))
