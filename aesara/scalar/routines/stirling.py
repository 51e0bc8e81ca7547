"""Terms of Stirling's series: remainders of gamma functions without their large parts, which cancel in ratios."""

from __future__ import annotations

from aesara.scalar.routine import expm1, horner, log1p, routine

__all__ = ["LARGE", "digamma_change", "digamma_remainder", "log1p_minus", "stirling_error"]

#: The series below are exact to rounding from this argument on.
LARGE = 15.0

_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


def stirling_error(k: float) -> float:
    """Return log(gamma(k + 1)) - (k log(k) - k + log(2 pi k) / 2) for k >= LARGE, DLMF 5.11.1."""
    return horner(1 / (k * k), _STIRLING) / k


def digamma_remainder(k: float) -> float:
    """Return psi(k) - log(k) for k >= LARGE, DLMF 5.11.2."""
    square = 1 / (k * k)
    return horner(square, _DIGAMMA) * square - 0.5 / k


def _change_of_remainder(k: float, growth: float) -> float:
    """Return digamma_remainder(k exp(growth)) - digamma_remainder(k), for k >= LARGE and growth >= 0."""
    series = [c * expm1(-2 * (n + 1) * growth) for n, c in enumerate(_DIGAMMA)]
    square = 1 / (k * k)
    return horner(square, series) * square - 0.5 / k * expm1(-growth)


@routine
def digamma_change(k: float, a: float) -> float:
    """Return psi(k + a) - psi(k) for k > 0 and a >= 0, to a few ulp."""
    total = 0.0
    while k < LARGE:
        total += a / (k + a) / k
        k += 1.0
    growth = log1p(a / k)
    return total + (growth + _change_of_remainder(k, growth))


@routine
def log1p_minus(x: float) -> float:
    """Return log(1 + x) - x, without cancellation for small x."""
    if not (-0.5 < x and x < 1.0):
        return log1p(x) - x
    # log(1 + x) = 2 atanh(r), and 2 r - x = -r x.
    r = x / (2.0 + x)
    square = r * r
    total = 1.0 / 3.0
    power = 1.0
    n = 3.0
    while power > 1e-18 and n < 100.0:
        power *= square
        n += 2.0
        total += power / n
    return r * (2.0 * square * total - x)
