"""Derivatives of Gauss's hypergeometric function with respect to its parameters."""

from __future__ import annotations

import math

from aesara.scalar.native import Special
from aesara.scalar.routine import Known, SciPyFunction, floor, log1p, psi, routine

__all__ = ["hyp2f1_derivative"]

_gamma = Known(SciPyFunction("gamma"), Special("gamma"))
_hyp2f1 = Known(SciPyFunction("hyp2f1"), Special("hyp2f1"))

_MAX_TERMS = 100_000.0
_EPS = 2.0**-54


@routine
def hyp2f1_derivative(a: float, b: float, c: float, z: float, position: float) -> float:
    """Return the derivative of F(a, b; c; z) with respect to the input at a position, 0 to 3.

    It is NaN where the function is undefined or complex, and for other positions.
    """
    if position == 3.0:
        return a * b / c * _hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)
    wrt_a = 1.0 if position == 0.0 else 0.0
    wrt_b = 1.0 if position == 1.0 else 0.0
    wrt_c = 1.0 if position == 2.0 else 0.0
    if wrt_a + wrt_b + wrt_c != 1.0 or not (-math.inf < z < math.inf):
        return math.nan
    # The degrees of polynomials in z, which have derivatives for all z; -1 for other functions.
    of_a = -a if wrt_a == 0.0 and _is_pole(a) != 0.0 else -1.0
    of_b = -b if wrt_b == 0.0 and _is_pole(b) != 0.0 else -1.0
    if 0.0 <= of_a <= _MAX_TERMS and (of_b < 0.0 or of_a <= of_b):
        return _of_polynomial(of_a, b, c, z, wrt_b, wrt_c)
    if 0.0 <= of_b <= _MAX_TERMS:
        return _of_polynomial(of_b, a, c, z, wrt_a, wrt_c)
    if _is_pole(c) != 0.0 or z > 1.0:
        return math.nan
    if z == 1.0:
        return _at_one(a, b, c, wrt_a, wrt_b, wrt_c)
    if z >= -0.5:
        return _from_zero(a, b, c, z, 1.0 - z, wrt_a, wrt_b, wrt_c, 0.0)
    # Pfaff: F(a, b; c; z) = (1 - z)**-a F(a, c - b; c; z / (z - 1)), DLMF 15.8.1.
    weight = -wrt_a * log1p(-z)
    inner = _from_zero(a, c - b, c, z / (z - 1.0), 1.0 / (1.0 - z), wrt_a, wrt_c - wrt_b, wrt_c, weight)
    return (1.0 - z) ** -a * inner


@routine
def _is_pole(x: float) -> float:
    """Return whether a number is one of 0, -1, -2, ..."""
    return 1.0 if x <= 0.0 and x == floor(x) else 0.0


@routine
def _of_polynomial(degree: float, b: float, c: float, z: float, wrt_b: float, wrt_c: float) -> float:
    """Return the derivative of F(-degree, b; c; z), a polynomial in z and b."""
    if _is_pole(c) != 0.0 and degree > -c:
        return math.nan
    n = 0.0
    if z <= 0.5:
        term = 1.0
        d_term = slope = 0.0
        while n < degree:
            ratio = (n - degree) / ((c + n) * (1.0 + n)) * z
            d_term = (d_term * (b + n) + term * (wrt_b - (b + n) / (c + n) * wrt_c)) * ratio
            term *= (b + n) * ratio
            slope += d_term
            n += 1.0
        return slope
    # The recurrence of degrees, DLMF 15.5.11, since powers of z cancel.
    older = d_older = d_value = 0.0
    value = 1.0
    y = 1.0 - z
    while n < degree:
        # 2 n + c - (n + b) z
        step = (n + c) + (n * y - b * z)
        newer = (step * value - n * y * older) / (c + n)
        d_step = wrt_c - wrt_b * z
        d_newer = (step * d_value + d_step * value - n * y * d_older - wrt_c * newer) / (c + n)
        older, value = value, newer
        d_older, d_value = d_value, d_newer
        n += 1.0
    return d_value


@routine
def _at_one(a: float, b: float, c: float, wrt_a: float, wrt_b: float, wrt_c: float) -> float:
    # F(a, b; c; 1) = gamma(c) gamma(c - a - b) / (gamma(c - a) gamma(c - b)), DLMF 15.4.20.
    rest = c - a - b
    if not rest > 0.0:
        return math.nan
    by_a = _is_pole(c - a)
    if by_a + _is_pole(c - b) > 0.0:
        # The function is zero for this c - a (or c - b); the derivative of 1 / gamma at -m is (-1)**m m!.
        zero = c - a if by_a != 0.0 else c - b
        other = c - b if by_a != 0.0 else c - a
        along = wrt_c - (wrt_a if by_a != 0.0 else wrt_b)
        if along == 0.0 or _is_pole(other) != 0.0:
            return 0.0
        sign = 1.0 if 2.0 * floor(0.5 * zero) == zero else -1.0
        return along * sign * _gamma(1.0 - zero) * (_gamma(c) / _gamma(other)) * _gamma(rest)
    both = psi(rest)
    slope = wrt_a * (psi(c - a) - both) + wrt_b * (psi(c - b) - both)
    if wrt_c != 0.0:
        slope = psi(c) + both - psi(c - a) - psi(c - b)
    return _hyp2f1(a, b, c, 1.0) * slope


@routine
def _from_zero(
    a: float, b: float, c: float, z: float, y: float, wrt_a: float, wrt_b: float, wrt_c: float, weight: float
) -> float:
    """Return the derivative of F(a, b; c; z) in a direction, plus `weight` times its value; y = 1 - z > 0.

    It is the power series up to 1/2. Beyond, Taylor series from the differential equation DLMF 15.10.1 and its
    derivative lead from each point half of the remaining way to 1.
    """
    start = min(z, 0.5)
    term = value = 1.0
    d_term = slope = 0.0
    times_n = d_times_n = 0.0
    n = 0.0
    while n < _MAX_TERMS and (n <= -c or abs(term) > _EPS * abs(value) or abs(d_term) > _EPS * abs(slope) or n < 1.0):
        below = (c + n) * (1.0 + n)
        ratio = (a + n) * (b + n) / below * start
        d_ratio = (wrt_a * (b + n) + (a + n) * wrt_b) / below * start - ratio * (wrt_c / (c + n))
        d_term = d_term * ratio + term * d_ratio
        term *= ratio
        n += 1.0
        value += term
        slope += d_term
        times_n += n * term
        d_times_n += n * d_term
    if z <= 0.5:
        return slope + weight * value
    # The derivatives of value and slope with respect to z.
    value_z = times_n / start
    slope_z = d_times_n / start
    here = 0.5  # the distance from 1
    while here > y:
        goal = max(0.5 * here, y)
        at = 1.0 - here
        h = here - goal
        scale = 1.0 / (at * here)
        linear = c - (a + b + 1.0) * at
        d_linear = wrt_c - (wrt_a + wrt_b) * at
        # Two successive terms of each series: first those of degrees 0 and 1.
        older, newer = value, value_z * h
        d_older, d_newer = slope, slope_z * h
        value += newer
        slope += d_newer
        times_n, d_times_n = newer, d_newer
        n = 0.0
        while n < _MAX_TERMS and (
            abs(older) + abs(newer) > _EPS * abs(value) or abs(d_older) + abs(d_newer) > _EPS * abs(slope)
        ):
            product = (n + a) * (n + b) * h
            d_product = (wrt_a * (n + b) + (n + a) * wrt_b) * h
            step = (n + 1.0) * ((here - at) * n + linear)
            below = scale * h / ((n + 2.0) * (n + 1.0))
            newest = (product * older - step * newer) * below
            d_newest = (product * d_older - step * d_newer + d_product * older - (n + 1.0) * d_linear * newer) * below
            older, newer = newer, newest
            d_older, d_newer = d_newer, d_newest
            value += newer
            slope += d_newer
            times_n += (n + 2.0) * newer
            d_times_n += (n + 2.0) * d_newer
            n += 1.0
        value_z = times_n / h
        slope_z = d_times_n / h
        here = goal
    return slope + weight * value
