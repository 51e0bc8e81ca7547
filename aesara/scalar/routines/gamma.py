"""Derivatives of the regularized incomplete gamma functions.

Series and continued fractions are differentiated term by term, each where it converges quickly. For large parameters,
Temme's uniform expansion is used.
"""

from __future__ import annotations

import math

from aesara.scalar.native import Primitive, Special
from aesara.scalar.routine import Known, SciPyFunction, exp, horner, log, log1p, psi, routine, sqrt
from aesara.scalar.routines.continued_fraction import next_convergent
from aesara.scalar.routines.stirling import LARGE, digamma_remainder, log1p_minus, stirling_error

__all__ = ["gamma_density", "gammainc_derivative", "gammainc_of_large", "gammaincc_derivative"]

_gamma = Known(SciPyFunction("gamma"), Special("gamma"))

_erfc = Known(SciPyFunction("erfc"), Primitive("erfc"))

_MAX_TERMS = 100_000.0
_EPS = 2.0**-53
_TWO_PI = 2 * math.pi
#: The uniform expansion is exact to rounding from this parameter on.
_UNIFORM = 10_000.0


@routine
def gammainc_derivative(k: float, x: float) -> float:
    """Return the derivative of the regularized lower incomplete gamma function P(k, x) with respect to k."""
    if not (k > 0.0 and x >= 0.0):
        return math.nan
    if k == math.inf:
        return math.nan if x == math.inf else 0.0
    if x == 0.0 or x == math.inf:
        return 0.0
    if k > _UNIFORM:
        return _uniform(k, x)
    if x < k + 1.5:
        return _lower_series(k, x)
    return -_upper_fraction(k, x)


@routine
def gammaincc_derivative(k: float, x: float) -> float:
    """Return the derivative of the regularized upper incomplete gamma function Q(k, x) with respect to k."""
    return -gammainc_derivative(k, x)


@routine
def gamma_density(k: float, x: float) -> float:
    """Return the derivative of P(k, x) with respect to x: x**(k - 1) exp(-x) / gamma(k)."""
    if not (k > 0.0 and x >= 0.0):
        return math.nan
    if x == 0.0 and k <= 1.0:
        return 1.0 if k == 1.0 else math.inf
    if k < LARGE:
        if x > 1e4:
            return 0.0
        decay = exp(-0.5 * x)
        # For small k, k - 1 loses digits.
        power = x ** (k - 1.0) if k > 0.5 else x**k / x
        return decay * (power / _gamma(k)) * decay
    density = _density(k, x)
    return density / x * k if density > 0.0 else 0.0


@routine
def _density(k: float, x: float) -> float:
    """Return x**k exp(-x) / gamma(k + 1), for large k by a logarithm whose terms do not cancel."""
    if k < LARGE:
        if x > 1e4:
            return 0.0
        decay = exp(-0.5 * x)
        return decay * (x**k / _gamma(k + 1.0)) * decay
    ratio = x / k
    exponent = log(ratio) - (x - k) / k
    if ratio > 0.5:
        exponent = log1p_minus((x - k) / k)
    return exp(k * exponent - stirling_error(k)) / sqrt(_TWO_PI * k)


@routine
def _log_minus_digamma(k: float, x: float) -> float:
    """Return log(x) - psi(k + 1)."""
    if k < LARGE:
        return log(x) - psi(k + 1.0)
    ratio = x / k
    part = log1p((x - k) / k) if ratio > 0.5 else log(ratio)
    return part - digamma_remainder(k) - 1.0 / k


@routine
def _lower_series(k: float, x: float) -> float:
    # P(k, x) = density * sum of x**n / ((k + 1) ... (k + n)), DLMF 8.11.4.
    term = total = 1.0
    d_log_term = d_total = 0.0
    n = 0.0
    while n < _MAX_TERMS and (term > _EPS * total or abs(term * d_log_term) > _EPS * abs(d_total)):
        n += 1.0
        term *= x / (k + n)
        d_log_term -= 1.0 / (k + n)
        total += term
        d_total += term * d_log_term
    return _density(k, x) * (total * _log_minus_digamma(k, x) + d_total)


@routine
def _upper_fraction(k: float, x: float) -> float:
    # Q(k, x) = k * density / (x+1-k - 1(1-k)/(x+3-k - 2(2-k)/(x+5-k - ...))), DLMF 8.9.2; p and q are those of the
    # reciprocal.  The derivatives of the partial denominators with respect to k are -1.
    density = _density(k, x)
    if density == 0.0:
        return 0.0
    b = x + 1.0 - k
    p0, q0, dp0, dq0 = 1.0, 0.0, 0.0, 0.0
    p1, q1, dp1, dq1 = b, 1.0, -1.0, 0.0
    change = d_change = 1.0
    n = 0.0
    while n < _MAX_TERMS and (change > _EPS * abs(p1) or d_change > _EPS * abs(dp1)):
        n += 1.0
        b += 2.0
        old, d_old = p1, dp1
        p0, q0, dp0, dq0, p1, q1, dp1, dq1 = next_convergent(
            p0, q0, dp0, dq0, p1, q1, dp1, dq1, n * (k - n), n, b, -1.0
        )
        settled = q1 == 1.0
        change = abs(p1 - old) if settled else math.inf
        d_change = abs(dp1 - d_old) if settled else math.inf
    value = 1.0 / p1
    slope = -value * value * dp1
    # The derivative of log(k * density) is log(x) - psi(k), and psi(k + 1) = psi(k) + 1 / k.
    return density * (value + k * (value * _log_minus_digamma(k, x) + slope))


# Coefficients of powers of eta in those of 1 / k in Temme's expansion, DLMF 8.12.11.
_TEMME = (
    (
        -0.3333333333333333,
        0.08333333333333333,
        -0.014814814814814815,
        0.0011574074074074073,
        0.0003527336860670194,
        -0.0001787551440329218,
        3.919263178522438e-05,
        -2.185448510679992e-06,
        -1.85406221071516e-06,
        8.296711340953087e-07,
        -1.7665952736826078e-07,
        6.707853543401498e-09,
        1.0261809784240309e-08,
        -4.382036018453353e-09,
        9.14769958223679e-10,
        -2.5514193994946248e-11,
        -5.830772132550426e-11,
        2.4361948020667415e-11,
        -5.0276692801141755e-12,
        1.1004392031956135e-13,
    ),
    (
        -0.001851851851851852,
        -0.003472222222222222,
        0.0026455026455026454,
        -0.0009902263374485596,
        0.00020576131687242798,
        -4.018775720164609e-07,
        -1.8098550334489977e-05,
        7.64916091608111e-06,
        -1.6120900894563446e-06,
        4.647127802807434e-09,
        1.378633446915721e-07,
        -5.752545603517705e-08,
        1.1951628599778148e-08,
        -1.7543241719747647e-11,
        -1.0091543710600413e-09,
        4.162792991842583e-10,
    ),
    (
        0.004133597883597883,
        -0.0026813271604938273,
        0.0007716049382716049,
        2.0093878600823047e-06,
        -0.0001073665322636516,
        5.2923448829120125e-05,
        -1.2760635188618728e-05,
        3.423578734096138e-08,
        1.3721957309062934e-06,
        -6.298992138380055e-07,
        1.4280614206064242e-07,
        -2.0477098421990866e-10,
    ),
    (
        0.0006494341563786008,
        0.00022947209362139917,
        -0.0004691894943952557,
        0.00026772063206283885,
        -7.561801671883977e-05,
        -2.396505113867297e-07,
        1.1082654115347302e-05,
        -5.6749528269915965e-06,
    ),
)


def _derivative(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(power * c for power, c in enumerate(coefficients))[1:]


def _uniform_sum(eta: float, k: float) -> float:
    """Return the sum over c_n(eta) / k**n."""
    return horner(1 / k, [horner(eta, row) for row in _TEMME])


def _uniform_sums(eta: float, k: float) -> tuple[float, float, float]:
    """Return the sum, and its partial derivatives with respect to eta and k."""
    at = [horner(eta, row) for row in _TEMME]
    slopes = [horner(eta, _derivative(row)) for row in _TEMME]
    return (
        horner(1 / k, at),
        horner(1 / k, slopes),
        -horner(1 / k, [n * c for n, c in enumerate(at)]) / k,
    )


@routine
def _uniform(k: float, x: float) -> float:
    # P(k, x) = erfc(-eta sqrt(k/2)) / 2 - exp(-k eta**2 / 2) / sqrt(2 pi k) * sum of c_n(eta) / k**n, where
    # eta**2 / 2 = mu - log(1 + mu), mu = (x - k) / k; DLMF 8.12.3.  Then d(eta)/dk = -mu / (k eta).
    mu = (x - k) / k
    half_square = -log1p_minus(mu)
    weight = exp(-k * half_square)
    if not weight > 0.0:
        return 0.0
    eta = sqrt(2.0 * half_square)
    if mu < 0.0:
        eta = -eta
    ratio = mu / eta if eta != 0.0 else 1.0
    total, wrt_eta, wrt_k = _uniform_sums(eta, k)
    d_total = wrt_k - wrt_eta * ratio / k
    bracket = 0.5 * eta - ratio - total * (log1p(mu) - 0.5 / k) - d_total
    return weight / sqrt(_TWO_PI * k) * bracket


@routine
def gammainc_of_large(k: float, x: float, sign: float) -> float:
    """Return P(k, x) for sign 1, or Q(k, x) for sign -1, for k > 1e4."""
    mu = (x - k) / k
    half_square = -log1p_minus(mu)
    weight = exp(-k * half_square)
    if not weight > 0.0:
        return 0.5 + 0.5 * sign if x > k else 0.5 - 0.5 * sign
    eta = sqrt(2.0 * half_square) * (sign if mu > 0.0 else -sign)
    rest = _uniform_sum(eta * sign, k)
    return 0.5 * _erfc(-eta * sqrt(0.5 * k)) - sign * weight / sqrt(_TWO_PI * k) * rest
