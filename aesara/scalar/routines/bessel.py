"""Bessel functions of real order and argument, as routines.

Two continued fractions and the Wronskian determine functions of two successive orders, the first between -1/2 and 1/2.
Stable recurrences lead from there to the requested order. For arguments below 2, a series replaces the second fraction.

N. M. Temme (1975), "On the numerical evaluation of the modified Bessel function of the third kind"; A. R. Barnett,
D. H. Feng, J. W. Steed, L. J. B. Goldfarb (1974), "Coulomb wave functions for all real eta and rho".
"""

from __future__ import annotations

import math

from aesara.scalar.routine import FloatRoutine, cos, exp, floor, horner, isnan, lgamma, log, routine, sin, sqrt, where

__all__ = ["BESSEL", "cos_pi", "sin_pi"]

_EPS = 2.0**-53
_TINY = 1e-300
#: One term of the series suffices below this argument.
_SMALL = 1e-50
_LARGE = 1e250
_PI = math.pi
#: The largest number of iterations, and the largest order.
_MOST = 100_000.0

# coefficients of 1 / gamma(1 + z), DLMF 5.7.1
_RECIPROCAL_GAMMA = (
    1.0, 0.5772156649015329, -0.6558780715202539, -0.04200263503409524, 0.16653861138229148, -0.04219773455554433,
    -0.009621971527876973, 0.0072189432466631, -0.0011651675918590652, -0.00021524167411495098,
    0.0001280502823881162, -2.013485478078824e-05, -1.2504934821426706e-06, 1.133027231981696e-06,
    -2.056338416977607e-07, 6.116095104481416e-09, 5.002007644469223e-09, -1.18127457048702e-09,
    1.0434267116911005e-10, 7.782263439905071e-12, -3.696805618642206e-12, 5.100370287454476e-13,
)  # fmt: skip


def _even_and_odd(mu: float) -> tuple[float, float]:
    """Return the mean of 1 / gamma(1 - mu) and 1 / gamma(1 + mu), and their difference over 2 mu."""
    return horner(mu * mu, _RECIPROCAL_GAMMA[::2]), -horner(mu * mu, _RECIPROCAL_GAMMA[1::2])


def _sinh_ratio(e: float) -> float:
    """Return sinh(e) / e."""
    small = 1.0 + e * e * (1.0 / 6.0 + e * e * (1.0 / 120.0 + e * e / 5040.0))
    return where(abs(e) < 0.05, small, 0.5 * (exp(e) - exp(-e)) / where(e == 0.0, 1.0, e))


def _sine_ratio(e: float) -> float:
    """Return sin(e) / e."""
    return where(abs(e) < 1e-9, 1.0, sin(e) / where(e == 0.0, 1.0, e))


@routine
def sin_pi(v: float) -> float:
    """Return sin(pi v), exactly 0 for integers."""
    rest = abs(v) - 2.0 * floor(0.5 * abs(v))
    if rest == 1.0 or rest == 0.0:
        return 0.0
    size = sin(_PI * rest) if rest < 1.0 else -sin(_PI * (rest - 1.0))
    return size if v > 0.0 else -size


@routine
def cos_pi(v: float) -> float:
    """Return cos(pi v), exactly 0 for half-integers."""
    return sin_pi(v - 2.0 * floor(0.5 * v) + 0.5)


@routine
def _asymptotic(v: float, x: float, alpha: float, beta: float) -> float:
    """Return alpha * J + beta * Y by the expansion for large x, DLMF 10.17.3 and 10.17.4."""
    square = 4.0 * v * v
    term, even, odd, n = 1.0, 1.0, 0.0, 0.0
    while abs(term) > _EPS and n < 100.0:
        n += 1.0
        term *= (square - (2.0 * n - 1.0) * (2.0 * n - 1.0)) / (8.0 * n * x)
        phase = n - 4.0 * floor(0.25 * n)
        if phase == 0.0:
            even += term
        elif phase == 1.0:
            odd += term
        elif phase == 2.0:
            even -= term
        else:
            odd -= term
    shift = 0.5 * v + 0.25
    c, s = cos_pi(shift), sin_pi(shift)
    cosine, sine = cos(x) * c + sin(x) * s, sin(x) * c - cos(x) * s
    value = alpha * (even * cosine - odd * sine) + beta * (even * sine + odd * cosine)
    return sqrt(2.0 / (_PI * x)) * value


def _combine(alpha: float, x: float, beta: float, y: float) -> float:
    """Return alpha * x + beta * y, where 0 times anything is 0."""
    return where(alpha == 0.0, 0.0, alpha * x) + where(beta == 0.0, 0.0, beta * y)


@routine
def _ordinary(v: float, x: float, alpha: float, beta: float) -> float:
    """Return alpha * J + beta * Y of order v >= 0 at x > 0."""
    if x > 25.0 and x > 0.1 * v * v:
        return _asymptotic(v, x, alpha, beta)
    if x > _MOST or v > _MOST:
        return math.nan
    below = floor(v + 0.5) if x < 2.0 else max(0.0, floor(v - x + 1.5))
    mu = v - below
    wronskian = 2.0 / (_PI * x)
    # J of order v + 1 over that of order v, whose sign is that of the denominators
    sign, h, a = 1.0, _TINY, 1.0
    b, c, d, n = 2.0 * v / x, h, 0.0, 0.0
    change = 2.0
    while abs(change - 1.0) > _EPS and n < 2.0 * _MOST:
        n += 1.0
        b += 2.0 / x
        d = b + a * d
        d = 1.0 / (_TINY if abs(d) < _TINY else d)
        c = b + a / c
        c = _TINY if abs(c) < _TINY else c
        change = c * d
        h *= change
        a = -1.0
        sign = -sign if d < 0.0 else sign
    j, following, at_order, order = sign * _TINY, h * sign * _TINY, sign * _TINY, v
    n = below
    while n > 0.0:
        j, following = 2.0 * order / x * j - following, j
        order -= 1.0
        n -= 1.0
        if abs(j) > _LARGE:
            j, following, at_order = j / _LARGE, following / _LARGE, at_order / _LARGE
    ratio = following / (_EPS if j == 0.0 else j)
    if x < 2.0:
        even, odd = _even_and_odd(mu)
        far = log(2.0 / x)
        e = mu * far
        ff = 2.0 / _PI / _sine_ratio(_PI * mu) * (odd * 0.5 * (exp(e) + exp(-e)) + even * _sinh_ratio(e) * far)
        p = exp(e) / (_PI * (even - mu * odd))
        q = exp(-e) / (_PI * (even + mu * odd))
        half = _sine_ratio(0.5 * _PI * mu)
        r = 0.5 * _PI * _PI * mu * half * half
        c, n = 1.0, 0.0
        total, total1 = ff + r * q, p
        change = total
        while abs(change) > _EPS * abs(total) and n < 100.0:
            n += 1.0
            ff = (n * ff + p + q) / (n * n - mu * mu)
            c *= -0.25 * x * x / n
            p /= n - mu
            q /= n + mu
            change = c * (ff + r * q)
            total += change
            total1 += c * p - n * change
        y, y1 = -total, -total1 * 2.0 / x
        j_mu = wronskian / (ratio * y - y1)
    else:
        a = 0.25 - mu * mu
        p, q = -0.5 / x, 1.0
        br, bi = 2.0 * x, 2.0
        scale = a / x / (p * p + q * q)
        cr, ci = br + q * scale, bi + p * scale
        size = br * br + bi * bi
        dr, di = br / size, -bi / size
        lr, li = cr * dr - ci * di, cr * di + ci * dr
        p, q = p * lr - q * li, p * li + q * lr
        n = 1.0
        while abs(lr - 1.0) + abs(li) > _EPS and n < _MOST:
            n += 1.0
            a += 2.0 * (n - 1.0)
            bi += 2.0
            dr, di = a * dr + br, a * di + bi
            scale = a / (cr * cr + ci * ci)
            cr, ci = br + cr * scale, bi - ci * scale
            size = dr * dr + di * di
            dr, di = dr / size, -di / size
            lr, li = cr * dr - ci * di, cr * di + ci * dr
            p, q = p * lr - q * li, p * li + q * lr
        f = mu / x - ratio
        gamma = (p - f) / q
        j_mu = sqrt(wronskian / ((p - f) * gamma + q))
        j_mu = j_mu if j > 0.0 else -j_mu
        y = j_mu * gamma
        y1 = mu / x * y - j_mu * (gamma * p + q)
    first = at_order * (j_mu / j)
    if x < _SMALL:
        first = exp(v * log(0.5 * x) - lgamma(v + 1.0))
    n = 0.0
    while n < below:
        n += 1.0
        y, y1 = y1, 2.0 * (mu + n) / x * y1 - y
    return _combine(alpha, first, beta, y if y == y else -math.inf)


@routine
def jv(v: float, x: float) -> float:
    """Bessel function of the first kind."""
    whole = v == floor(v)
    if isnan(v) or isnan(x) or (x < 0.0 and not whole):
        return math.nan
    sign = cos_pi(v) if x < 0.0 else 1.0
    beta = 0.0 if v >= 0.0 else sin_pi(v)
    y = abs(x)
    if y == math.inf:
        return 0.0
    if y == 0.0:
        return _combine(1.0, 1.0 if v == 0.0 else 0.0, beta, -math.inf)
    return sign * _ordinary(abs(v), y, 1.0 if v >= 0.0 else cos_pi(v), beta)


@routine
def yv(v: float, x: float) -> float:
    """Bessel function of the second kind."""
    if isnan(v) or not x >= 0.0:
        return math.nan
    if x == math.inf:
        return 0.0
    beta = 1.0 if v >= 0.0 else cos_pi(v)
    if x == 0.0:
        return _combine(0.0, 0.0, beta, -math.inf)
    return _ordinary(abs(v), x, 0.0 if v >= 0.0 else -sin_pi(v), beta)


@routine
def _modified_bessel(v: float, x: float, alpha: float, beta: float, scaled: float) -> float:
    """Return alpha * exp(-x) I + beta * exp(x) K, with K unscaled unless `scaled`, of order v >= 0 at x > 0."""
    if v > _MOST or (x > _MOST and x < 0.5 * v * v):
        return math.nan
    below = floor(v + 0.5)
    mu = v - below
    if x < 2.0:
        even, odd = _even_and_odd(mu)
        far = log(2.0 / x)
        e = mu * far
        ff = (odd * 0.5 * (exp(e) + exp(-e)) + even * _sinh_ratio(e) * far) / _sine_ratio(_PI * mu)
        p = 0.5 * exp(e) / (even - mu * odd)
        q = 0.5 * exp(-e) / (even + mu * odd)
        c, n = 1.0, 0.0
        total, total1, change = ff, p, ff
        while abs(change) > _EPS * abs(total) and n < 100.0:
            n += 1.0
            ff = (n * ff + p + q) / (n * n - mu * mu)
            c *= 0.25 * x * x / n
            p /= n - mu
            q /= n + mu
            change = c * ff
            total += change
            total1 += c * (p - n * ff)
        k, k1 = total, total1 * 2.0 / x
        if scaled > 0.0:
            k, k1 = k * exp(x), k1 * exp(x)
    else:
        b = 2.0 * (1.0 + x)
        d = 1.0 / b
        h = step = d
        q1, q2 = 0.0, 1.0
        first = 0.25 - mu * mu
        q = c = first
        a = -first
        total = 1.0 + q * step
        n, change = 1.0, 1.0
        while abs(change) > _EPS * abs(total) and n < _MOST:
            n += 1.0
            a -= 2.0 * (n - 1.0)
            c = -a * c / n
            q1, q2 = q2, (q1 - b * q2) / a
            q += c * q2
            b += 2.0
            d = 1.0 / (b + a * d)
            step = (b * d - 1.0) * step
            h += step
            change = q * step
            total += change
        k = sqrt(0.5 * _PI / x) / total
        k1 = k * (mu + x + 0.5 - first * h) / x
        if scaled == 0.0:  # K overflows late where exp(x) K would not
            half = exp(-0.5 * min(x, 1400.0))
            k, k1 = k * half, k1 * half
    far = x > 30.0 and x > 0.5 * v * v
    first = 0.0
    if far:
        square = 4.0 * v * v
        term, total, n = 1.0, 1.0, 0.0
        while abs(term) > _EPS * abs(total) and n < 100.0:  # DLMF 10.40.1
            n += 1.0
            term *= ((2.0 * n - 1.0) * (2.0 * n - 1.0) - square) / (8.0 * n * x)
            total += term
        first = total / sqrt(2.0 * _PI * x)
    elif x < _SMALL:
        first = exp(v * log(0.5 * x) - lgamma(v + 1.0))
    elif alpha != 0.0:
        h = _TINY
        b, c, d, n = 2.0 * v / x, h, 0.0, 0.0
        change = 2.0
        while abs(change - 1.0) > _EPS and n < 2.0 * _MOST:
            n += 1.0
            b += 2.0 / x
            d = 1.0 / (b + d)
            c = b + 1.0 / c
            change = c * d
            h *= change
        i, following, at_order, order = _TINY, h * _TINY, _TINY, v
        n = below
        while n > 0.0:
            i, following = 2.0 * order / x * i + following, i
            order -= 1.0
            n -= 1.0
            if i > _LARGE:
                i, following, at_order = i / _LARGE, following / _LARGE, at_order / _LARGE
        first = at_order * (1.0 / x / (k1 + following / i * k) / i)
    n = 0.0
    while n < below:
        n += 1.0
        k, k1 = k1, 2.0 * (mu + n) / x * k1 + k
    k = k * exp(-0.5 * x) if scaled == 0.0 and x >= 2.0 else k
    return _combine(alpha, first, beta, k if k == k else math.inf)


@routine
def ive(v: float, x: float) -> float:
    """Modified Bessel function of the first kind, times exp(-|x|)."""
    whole = v == floor(v)
    if isnan(v) or isnan(x) or (x < 0.0 and not whole):
        return math.nan
    sign = cos_pi(v) if x < 0.0 else 1.0
    beta = 0.0 if v >= 0.0 else 2.0 / _PI * sin_pi(-v)
    y = abs(x)
    if y == math.inf:
        return 0.0
    if y == 0.0:
        return _combine(1.0, 1.0 if v == 0.0 else 0.0, beta, math.inf)
    return sign * _modified_bessel(abs(v), y, 1.0, beta * exp(-2.0 * y), 1.0)


@routine
def iv(v: float, x: float) -> float:
    """Modified Bessel function of the first kind."""
    if abs(x) == math.inf and not isnan(v) and (x > 0.0 or v == floor(v)):
        return math.inf if x > 0.0 else cos_pi(v) * math.inf
    half = exp(0.5 * abs(x))
    return ive(v, x) * half * half


@routine
def kve(v: float, x: float) -> float:
    """Modified Bessel function of the second kind, times exp(x)."""
    return _second_kind(v, x, 1.0)


@routine
def kv(v: float, x: float) -> float:
    """Modified Bessel function of the second kind."""
    return _second_kind(v, x, 0.0)


@routine
def _second_kind(v: float, x: float, scaled: float) -> float:
    if isnan(v) or not x >= 0.0:
        return math.nan
    if x == math.inf:
        return 0.0
    return math.inf if x == 0.0 else _modified_bessel(abs(v), x, 0.0, 1.0, scaled)


@routine
def j0(x: float) -> float:
    return jv(0.0, x)


@routine
def j1(x: float) -> float:
    return jv(1.0, x)


@routine
def y0(x: float) -> float:
    return yv(0.0, x)


@routine
def y1(x: float) -> float:
    return yv(1.0, x)


@routine
def k0(x: float) -> float:
    return kv(0.0, x)


@routine
def k0e(x: float) -> float:
    return kve(0.0, x)


@routine
def k1(x: float) -> float:
    return kv(1.0, x)


@routine
def k1e(x: float) -> float:
    return kve(1.0, x)


BESSEL: dict[str, FloatRoutine] = {
    function.name: function for function in (iv, ive, j0, j1, jv, k0, k0e, k1, k1e, kv, kve, y0, y1, yv)
}
