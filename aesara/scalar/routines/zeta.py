"""Hurwitz' zeta function, and the polygamma functions, which follow from it."""

from __future__ import annotations

import math

from aesara.scalar.native import Special
from aesara.scalar.routine import Known, SciPyFunction, floor, horner, psi, routine

__all__ = ["hurwitz_zeta", "polygamma_function", "trigamma_function"]

_gamma = Known(SciPyFunction("gamma"), Special("gamma"))

#: The Bernoulli numbers B(2), B(4), ...
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330, 854513 / 138,
)  # fmt: skip
#: B(2j) / (2j)!
_COEFFICIENTS = tuple(b / math.factorial(2 * j) for j, b in enumerate(_BERNOULLI, 1))
_TRIGAMMA = _BERNOULLI[:9]


@routine
def hurwitz_zeta(s: float, q: float) -> float:
    """Return the sum over n >= 0 of (q + n)**-s for s > 1; for q < 0, s must be an integer."""
    if not s > 1.0 or q != q:
        return math.inf if s == 1.0 else math.nan
    if q > 0.0:
        return _of_positive(s, q)
    if q == floor(q):
        return math.inf
    if s != floor(s):
        return math.nan
    # Up to their sign, the terms with q + n < 0 are terms of zeta(s, 1 - r) with r = q - floor(q).
    left = floor(q)
    others = _of_positive(s, left + 1.0 - q) - _of_positive(s, 1.0 - q)
    return _of_positive(s, q - left) + (others if 2.0 * floor(0.5 * s) == s else -others)


@routine
def _of_positive(s: float, q: float) -> float:
    # At most ten terms, then the Euler-Maclaurin formula for the remainder, DLMF 25.11.28.
    if q == math.inf:
        return 0.0
    total = n = 0.0
    term = math.inf
    a = q
    while n < 10.0 and a < s + 9.0 and term > 2.0**-55 * total:
        term = a**-s
        total += term
        n += 1.0
        a = q + n
    if not term > 2.0**-55 * total:
        return total
    if a > 2.0**60:  # a**-s may underflow where a**(1 - s) does not, and is nothing beside it
        return total + a ** (1.0 - s) / (s - 1.0)
    term = a**-s
    return total + (term * (a / (s - 1.0) + 0.5) + _euler_maclaurin(s, a) * term)


def _euler_maclaurin(s: float, a: float) -> float:
    """Return the sum over j of B(2j) / (2j)! s (s + 1) ... (s + 2j - 2) a**(1 - 2j)."""
    total: float = 0.0
    for j in reversed(range(len(_COEFFICIENTS))):
        # The factor of the coefficient j relative to that of j - 1.
        step = s / a if j == 0 else (s + 2 * j - 1) * (s + 2 * j) / (a * a)
        total = step * (_COEFFICIENTS[j] + total)
    return total


@routine
def trigamma_function(x: float) -> float:
    """Return the second derivative of the logarithm of the gamma function, zeta(2, x)."""
    if x > 0.0:
        return _trigamma_of_positive(x)
    left = floor(x)
    if x == left:
        return math.inf
    # The terms with negative arguments, as in `hurwitz_zeta`.
    others = _trigamma_of_positive(left + 1.0 - x) - _trigamma_of_positive(1.0 - x)
    return _trigamma_of_positive(x - left) + others


@routine
def _trigamma_of_positive(x: float) -> float:
    total = 0.0
    while x < 12.0:
        total += 1.0 / (x * x)
        x += 1.0
    # DLMF 5.15.8; the Bernoulli numbers are those of `_BERNOULLI`.
    square = 1.0 / (x * x)
    return total + (0.5 * square + (1.0 + square * horner(square, _TRIGAMMA)) / x)


@routine
def polygamma_function(n: float, x: float) -> float:
    """Return the derivative of order n + 1 of the logarithm of the gamma function, for integers n >= 0, DLMF 5.15.1."""
    if n == 0.0:
        return psi(x)
    if not 0.0 < n < math.inf or n != floor(n):
        return math.nan
    size = _gamma(n + 1.0) * hurwitz_zeta(n + 1.0, x)
    return -size if 2.0 * floor(0.5 * n) == n else size
