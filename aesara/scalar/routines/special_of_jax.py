"""Routines for special functions that `jax.scipy.special` lacks, or has for part of the domain only.

They call its other functions, so only the JAX back end runs them.
"""

from __future__ import annotations

import math

import numpy as np

from aesara.scalar.native import Primitive, Special
from aesara.scalar.routine import (
    FloatRoutine,
    Known,
    SciPyFunction,
    exp,
    expm1,
    floor,
    horner,
    isnan,
    lgamma,
    log,
    log1p,
    routine,
    sqrt,
)
from aesara.scalar.routines.bessel import cos_pi, sin_pi
from aesara.scalar.routines.beta import beta_density
from aesara.scalar.routines.gamma import gamma_density, gammainc_of_large
from aesara.scalar.routines.stirling import LARGE, stirling_error

__all__ = ["ROUTINES"]

_EPS = 2.0**-54
#: smaller numbers may be subnormal, which XLA flushes to 0
_TINY = 2.3e-308
_ROOT_HALF = math.sqrt(0.5)
_ROOT_PI = math.sqrt(math.pi)
_EULER = 0.5772156649015329


def _of_jax(name: str, in_scipy: str = "") -> Known:
    """Return a function of `jax.scipy.special`, for calls in routines."""
    return Known(SciPyFunction(in_scipy or name), Special(f"jax.{name}"))


_erfc = Known(SciPyFunction("erfc"), Primitive("erfc"))
_jax_gammaln, _jax_digamma = _of_jax("gammaln"), _of_jax("digamma")
_jax_gammainc, _jax_gammaincc = _of_jax("gammainc"), _of_jax("gammaincc")
_jax_erfinv, _ndtri = _of_jax("erfinv"), _of_jax("ndtri")


# -- gamma and beta functions ----------------------------------------------------------------------------------------


def _log_gamma_coefficients() -> list[float]:
    """Return the coefficients of gammaln(1 + z) / z: Euler's constant and zeta values, DLMF 5.7.3."""
    n = 10_000.0
    counted = np.arange(1.0, n)
    zeta = [np.sum(counted**-k) + n ** (1 - k) / (k - 1) + n**-k / 2 + k * n ** (-k - 1) / 12 for k in range(2, 34)]
    return [-_EULER, *((-1.0) ** k * float(value) / k for k, value in enumerate(zeta, start=2))]


_LOG_GAMMA = _log_gamma_coefficients()
#: largest distance from 1 for which the series is accurate
_NEAR = 0.3


@routine
def gammaln(x: float) -> float:
    """Logarithm of the absolute value of the gamma function, accurate near its zeros at 1 and 2."""
    z = x - 1.0 if x < 1.5 else x - 2.0
    if abs(z) < _NEAR:
        series = z * horner(z, _LOG_GAMMA)
        return series if x < 1.5 else series + log1p(z)
    return x if x == -math.inf else _jax_gammaln(x)


@routine
def psi(x: float) -> float:
    """Digamma function."""
    return -1.0 / x if x == 0.0 else _jax_digamma(x)


#: least parameter for which the expansion for large parameters is accurate; loops of JAX end too early
_UNIFORM = 10_000.0


@routine
def gammainc(k: float, x: float) -> float:
    """Regularized lower incomplete gamma function."""
    if not (k >= 0.0 and x >= 0.0) or (k == x and (k == 0.0 or k == math.inf)):
        return math.nan
    if k == 0.0 or x == math.inf:
        return 1.0
    if k == math.inf:
        return 0.0
    return gammainc_of_large(k, x, 1.0) if k > _UNIFORM else _jax_gammainc(k, x)


@routine
def gammaincc(k: float, x: float) -> float:
    """Regularized upper incomplete gamma function."""
    if not (k >= 0.0 and x >= 0.0) or (k == x and (k == 0.0 or k == math.inf)):
        return math.nan
    if k == 0.0 or x == math.inf:
        return 0.0
    if k == math.inf:
        return 1.0
    if k > _UNIFORM:
        return gammainc_of_large(k, x, -1.0)
    if k > _NEAR or x > 1.1:
        return _jax_gammaincc(k, x)
    # 1 - P, whose largest terms cancel, DLMF 8.7.1.
    total, power, n = 0.0, 1.0, 0.0
    while n < 24.0:
        n += 1.0
        power *= -x / n
        total += power / (k + n)
    lowest = k * (log(x) - horner(k, _LOG_GAMMA))
    return -expm1(lowest) - k * total * exp(lowest)


@routine
def _sine_quotient(z: float, m: float) -> float:
    """Ratio sin(pi (z + m)) / sin(pi z), or its limit if z and m are integers."""
    return cos_pi(m) if m == floor(m) else cos_pi(m) + sin_pi(m) * cos_pi(z) / sin_pi(z)


@routine
def _log_rising(start: float, m: float, stop: float) -> float:
    """Difference gammaln(stop) - gammaln(start) for stop = start + m, without cancellation."""
    if start < LARGE or stop < LARGE:
        return lgamma(stop) - lgamma(start)
    if start == math.inf:
        return m * start
    rest = stirling_error(stop) - stirling_error(start)
    return (start - 0.5) * log1p(m / start) + m * (log(stop) - 1.0) + rest


@routine
def betaln(a: float, b: float) -> float:
    """Logarithm of the absolute value of the beta function."""
    if isnan(a) or isnan(b):
        return math.nan
    small, large = min(a, b), max(a, b)
    both = small + large
    at_pole = small <= 0.0 and small == floor(small)
    if at_pole and (large != floor(large) or not 1.0 - both > 0.0):
        return math.inf  # at a pole of one factor it is finite only if both are integers
    if large == math.inf:
        return -math.inf if small > 0.0 else math.inf
    reflected = 0.0
    if at_pole or (small < -LARGE and both < 0.5):
        reflected = log(abs(_sine_quotient(small, large)))  # DLMF 5.5.3
        first = 1.0 - both
        both = 1.0 - small
        small, large = min(first, large), max(first, large)
    if small < LARGE or both < LARGE:
        return reflected + lgamma(small) - _log_rising(large, small, both)
    powers = (small - 0.5) * log(small / both) - large * log1p(small / large)
    errors = stirling_error(small) + stirling_error(large) - stirling_error(both)
    return reflected + 0.5 * log(2.0 * math.pi / large) + powers + errors


@routine
def _sign_of_gamma(x: float) -> float:
    whole = floor(x)
    return -1.0 if x < 0.0 and whole != 2.0 * floor(0.5 * whole) else 1.0


@routine
def beta(a: float, b: float) -> float:
    """Beta function gamma(a) gamma(b) / gamma(a + b)."""
    small, large = min(a, b), max(a, b)
    sign = _sign_of_gamma(small) * _sign_of_gamma(large) * _sign_of_gamma(small + large)
    if small <= 0.0 and small == floor(small):
        finite = large == floor(large) and 1.0 - small - large > 0.0
        sign = -1.0 if finite and large != 2.0 * floor(0.5 * large) else 1.0
    return sign * exp(betaln(a, b))


@routine
def poch(z: float, m: float) -> float:
    """Rising factorial gamma(z + m) / gamma(z)."""
    if isnan(z) or isnan(m):
        return math.nan
    if m == floor(m) and abs(m) <= 100.0:
        product, n = 1.0, 0.0
        while n < abs(m):
            product *= z + n if m > 0.0 else z - n - 1.0
            n += 1.0
        return product if m >= 0.0 else 1.0 / product
    end = z + m
    starts_at_pole, ends_at_pole = z <= 0.0 and z == floor(z), end <= 0.0 and end == floor(end)
    if starts_at_pole and not ends_at_pole:
        return 0.0
    if ends_at_pole and not starts_at_pole:
        return math.inf
    if starts_at_pole or max(z, end) < -LARGE:
        return exp(_log_rising(1.0 - end, m, 1.0 - z)) / _sine_quotient(z, m)  # DLMF 5.5.3
    return _sign_of_gamma(z) * _sign_of_gamma(end) * exp(_log_rising(z, m, end))


@routine
def binom(n: float, k: float) -> float:
    """Binomial coefficient."""
    whole = n == floor(n)
    if isnan(n) or (n < 0.0 and whole):
        return math.nan
    if k == floor(k):
        other = n - k if whole and k > 0.5 * n and n > 0.0 else k
        if k < 0.0 or (whole and other < 0.0):
            return 0.0
        if 0.0 <= other < 20.0:
            product, i = 1.0, 0.0
            while i < other:
                i += 1.0
                product *= (n - (other - i)) / i
            return product
    if k > -1.0 and n - k > -1.0:
        return _sign_of_gamma(n + 1.0) * exp(-betaln(1.0 + (n - k), 1.0 + k) - log(abs(n + 1.0)))
    # One of the factorials in the denominator has a negative argument, DLMF 5.5.3.
    below = -k if k < 0.0 else k - n
    lost = 0.0 if k < 0.0 else (k - below) - n  # rounding error of the difference, which may be near a zero of the sine
    sine = -cos_pi(k) * sin_pi(n) if k == floor(k) else sin_pi(below) + math.pi * lost * cos_pi(below)
    return sine / math.pi * beta(n + 1.0, below)


# -- quantiles -------------------------------------------------------------------------------------------------------

_betainc = Known(SciPyFunction("betainc"), Special("betainc"))


@routine
def _bracket(variance: float) -> float:
    """Width of an interval in which Newton's method converges, for a logarithm of about this variance."""
    return max(1e-12, min(1e-6, 0.1 * sqrt(variance)))


@routine
def _gamma_quantile(k: float, p: float, upper: float) -> float:
    """Solution of P (or Q if `upper` is 1) = p <= 1/2, by bisection of its logarithm, then Newton's method."""
    if not (k > 0.0 and p >= 0.0):
        return math.nan
    if p == 0.0:
        return math.inf if upper > 0.0 else 0.0
    if k == math.inf:
        return math.nan
    near = _bracket(1.0 / k)
    low, high = -745.0, 709.0
    position, factor, rounds = 0.0, 1.0, 0.0
    while rounds < 3.0:
        x = exp(position) * factor
        excess = 1.0 - gammaincc(k, x) / p if upper > 0.0 else gammainc(k, x) / p - 1.0
        if high - low > near:
            low, high = (low if excess > 0.0 else position), (position if excess > 0.0 else high)
            position = 0.5 * (low + high)
        else:
            step = excess * (p / (x * gamma_density(k, x)))
            factor *= 1.0 - step if abs(step) < 2.0 * near else 1.0
            rounds += 1.0
    x = exp(position) * factor
    return x if x > _TINY else 0.0


@routine
def gammaincinv(k: float, p: float) -> float:
    """Inverse of the lower incomplete gamma function."""
    return _gamma_quantile(k, min(p, 1.0 - p), 0.0 if p <= 0.5 else 1.0)


@routine
def gammainccinv(k: float, q: float) -> float:
    """Inverse of the upper incomplete gamma function."""
    return _gamma_quantile(k, min(q, 1.0 - q), 1.0 if q <= 0.5 else 0.0)


@routine
def _beta_quantile(a: float, b: float, p: float, upper: float) -> float:
    """Point where the function, or its complement, is p <= 1/2, by bisection of the logit, then Newton's method."""
    if not (a > 0.0 and b > 0.0 and p >= 0.0):
        return math.nan
    if p == 0.0:
        return upper
    if a == math.inf or b == math.inf:
        return math.nan if a == b else (1.0 if a > b else 0.0)
    near = _bracket(1.0 / a + 1.0 / b)
    low, high = -745.0, 745.0
    logit, rounds = 0.0, 0.0
    while rounds < 3.0:
        x, y = 1.0 / (1.0 + exp(-logit)), 1.0 / (1.0 + exp(logit))
        # Near 0, 1 - x determines x poorly, and 1 - p determines p.
        reflected = upper > 0.0 and x > min(1e-3, p)
        value = _betainc(b if reflected else a, a if reflected else b, y if reflected else x)
        excess = 1.0 - value / p if reflected else (value - (p if upper == 0.0 else 1.0 - p)) / p
        if high - low > near:
            low, high = (low if excess > 0.0 else logit), (logit if excess > 0.0 else high)
            logit = 0.5 * (low + high)
        else:
            slope = beta_density(a if x < 0.5 else b, b if x < 0.5 else a, min(x, y))
            step = excess * (p / (x * y * slope))
            logit -= step if abs(step) < 2.0 * near else 0.0
            rounds += 1.0
    x = 1.0 / (1.0 + exp(-logit))
    return x if x > _TINY else 0.0


@routine
def betaincinv(a: float, b: float, p: float) -> float:
    """Inverse of the incomplete beta function."""
    return _beta_quantile(a, b, min(p, 1.0 - p), 0.0 if p <= 0.5 else 1.0)


@routine
def betainccinv(a: float, b: float, q: float) -> float:
    """Inverse of the complement of the incomplete beta function."""
    return _beta_quantile(a, b, min(q, 1.0 - q), 1.0 if q <= 0.5 else 0.0)


# -- error functions and exponential integrals -----------------------------------------------------------------------


@routine
def erfinv(y: float) -> float:
    """Inverse of the error function."""
    if abs(y) < 0.75:
        return _jax_erfinv(y)
    size = -_ROOT_HALF * _ndtri(0.5 * (1.0 - abs(y)))
    return size if y > 0.0 else -size


@routine
def erfcinv(y: float) -> float:
    """Inverse of the complementary error function."""
    return _jax_erfinv(1.0 - y) if 0.5 < y < 1.5 else -_ROOT_HALF * _ndtri(0.5 * y)


@routine
def erfcx(x: float) -> float:
    """Scaled complementary error function exp(x**2) erfc(x)."""
    y = abs(x)
    if isnan(x):
        return x
    if y < 2.0:
        return exp(x * x) * _erfc(x)
    # DLMF 7.9.1, evaluated backward; 100 partial denominators suffice at 2.
    tail = y
    n = 100.0 if y < 8.0 else 20.0
    while n > 0.0:
        tail = y + 0.5 * n / tail
        n -= 1.0
    value = 1.0 / (_ROOT_PI * tail)
    return value if x > 0.0 else 2.0 * exp(x * x) - value


@routine
def log_ndtr(x: float) -> float:
    """Logarithm of the standard normal distribution function."""
    scaled = x * -_ROOT_HALF
    if x > -1.0:
        return log1p(-0.5 * _erfc(-scaled))
    return log(0.5 * erfcx(scaled)) - scaled * scaled if x > -math.inf else x


@routine
def exp1(x: float) -> float:
    """Exponential integral of exp(-t) / t from x to infinity."""
    if not x >= 0.0:
        return math.nan
    if x == 0.0:
        return math.inf
    if x > 800.0:
        return 0.0
    if x < 1.0:
        return -_EULER - log(x) - _entire(-x)
    # DLMF 6.9.1, evaluated backward.
    tail = 0.0
    n = 20.0 + floor(80.0 / x)
    while n > 0.0:
        tail = n / (1.0 + n / (x + tail))
        n -= 1.0
    return exp(-x) / (x + tail)


@routine
def expi(x: float) -> float:
    """Exponential integral: the principal value of that of exp(t) / t from minus infinity to x."""
    if isnan(x):
        return x
    if x < 0.0:
        return -exp1(-x)
    if x == 0.0:
        return -math.inf
    if x > 800.0:
        return math.inf
    if x < 40.0:
        return _EULER + log(x) + _entire(x)
    term = total = 1.0
    n = 0.0
    while term > _EPS:  # DLMF 6.12.2
        n += 1.0
        term *= n / x
        total += term
    half = exp(0.5 * x)
    return half / x * total * half


@routine
def _entire(x: float) -> float:
    """Sum of x**n / (n n!) over n > 0."""
    power, total, n = x, x, 1.0
    while abs(power) > _EPS * abs(total) and n < 200.0:
        n += 1.0
        power *= x / n
        total += power / n
    return total


@routine
def rel_entr(x: float, y: float) -> float:
    """Relative entropy x log(x / y)."""
    if isnan(x) or isnan(y):
        return math.nan
    if x == 0.0 and y >= 0.0:
        return 0.0
    if not (x > 0.0 and y > 0.0):
        return math.inf
    ratio = x / y
    if 0.5 < ratio and ratio < 2.0:
        return x * log1p((x - y) / y)
    return x * (log(ratio) if 0.0 < ratio and ratio < math.inf else log(x) - log(y))


@routine
def kl_div(x: float, y: float) -> float:
    """Kullback-Leibler divergence x log(x / y) - x + y."""
    if isnan(x) or isnan(y):
        return math.nan
    if x == 0.0 and y >= 0.0:
        return y
    if not (x > 0.0 and y > 0.0):
        return math.inf
    return rel_entr(x, y) - x + y


ROUTINES: dict[str, FloatRoutine] = {
    function.name: function
    for function in (
        beta, betainccinv, betaincinv, betaln, binom, erfcinv, erfcx, erfinv, exp1, expi, gammainc, gammaincc,
        gammainccinv, gammaincinv, gammaln, kl_div, log_ndtr, poch, psi, rel_entr,
    )
}  # fmt: skip
