"""Log-densities and links as they are written, at moderate and extreme points: values and two derivatives.

Each row has a function of some numbers in mpmath, points, and the ways to write it. Gradients are with respect to all
of the numbers, second derivatives in the direction of the first of them.
"""

from __future__ import annotations

import math
import warnings
from functools import cache

import mpmath as mp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.cloning import clone_replace
from aesara.tensor import special

RULES = Mode(linker="py", optimizer="fast_run")
ROOT = np.sqrt(2.0)
TWO_PI = 2 * np.pi
SIZES = [1e-8, 0.3, 2.0, 20.0, 40.0, 300.0, 720.0, 1e4]
LOGITS = [(s * v,) for v in SIZES for s in (1, -1)]


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 1e5 else x


def log_logistic(x):
    return -softplus(-x)


def log1mexp(x):
    return mp.log(-mp.expm1(x)) if x > -1 else mp.log1p(-mp.exp(x))


def log_ndtr(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) if x < 1 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)


def log_difference_of_normals(a, b):
    if b > 0:
        a, b = -b, -a
    return mp.log(mp.erfc(-a / mp.sqrt(2)) - mp.erfc(-b / mp.sqrt(2))) - mp.log(2)


def ndtr(z):
    return [special.ndtr(z), 0.5 * (1 + at.erf(z / ROOT)), 0.5 * at.erfc(-z / ROOT)]


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


#: Truth, points, forms.
FORMS = {
    "logistic density": (
        lambda x: log_logistic(x) + log_logistic(-x), LOGITS,
        [lambda x: at.log(at.exp(-x) / (1 + at.exp(-x)) ** 2), lambda x: at.log(1 / (4 * at.cosh(x / 2) ** 2)),
         lambda x: at.log(at.sigmoid(x) * (1 - at.sigmoid(x))), lambda x: -x - 2 * at.log(1 + at.exp(-x))],
    ),
    "hyperbolic secant": (
        lambda x: -mp.log(2 * mp.cosh(x)), LOGITS[2:], [lambda x: at.log(0.5 / at.cosh(x))],
    ),
    "Jacobian of tanh": (
        lambda x: -2 * mp.log(mp.cosh(x)), LOGITS[2:],
        [lambda x: at.log(1 - at.tanh(x) ** 2), lambda x: at.log1p(-(at.tanh(x) ** 2)),
         lambda x: at.log(1 / at.cosh(x) ** 2)],
    ),
    "Weibull": (
        lambda x, k, s: mp.log(k / s) + (k - 1) * mp.log(x / s) - (x / s) ** k,
        [(0.3, 1.5, 2.0), (20.0, 3.0, 0.5), (1.0, 400.0, 1.1), (5.0, 500.0, 5.1)],
        [lambda x, k, s: at.log(k / s * (x / s) ** (k - 1) * at.exp(-((x / s) ** k)))],
    ),
    "gamma": (
        lambda x, a, b: a * mp.log(b) + (a - 1) * mp.log(x) - b * x - mp.loggamma(a),
        [(0.5, 2.0, 1.5), (100.0, 300.0, 2.0), (1e-5, 0.5, 1.0), (1000.0, 5.0, 3.0)],
        [lambda x, a, b: at.log(b**a * x ** (a - 1) * at.exp(-b * x) / at.gamma(a))],
    ),
    "inverse gamma": (
        lambda x, a: -(a + 1) * mp.log(x) - 1 / x - mp.loggamma(a), [(0.3, 2.0), (1e3, 200.0), (0.01, 200.0)],
        [lambda x, a: at.log(x ** (-a - 1) * at.exp(-1 / x) / at.gamma(a))],
    ),
    "chi-squared": (
        lambda x, k: (k / 2 - 1) * mp.log(x) - x / 2 - k / 2 * mp.log(2) - mp.loggamma(k / 2),
        [(0.3, 2.5), (500.0, 400.0), (3.0, 3000.0)],
        [lambda x, k: at.log(x ** (k / 2 - 1) * at.exp(-x / 2) / (2 ** (k / 2) * at.gamma(k / 2)))],
    ),
    "beta": (
        lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - log_beta(a, b),
        [(0.5, 2.0, 3.0), (0.9, 200.0, 30.0), (0.3, 2000.0, 1000.0)],
        [lambda x, a, b: at.log(x ** (a - 1) * (1 - x) ** (b - 1) * at.gamma(a + b) / (at.gamma(a) * at.gamma(b)))],
    ),
    "Kumaraswamy": (
        lambda x, a, b: mp.log(a * b) + (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-(x**a)),
        [(0.3, 2.0, 3.0), (0.99, 500.0, 3.0), (1e-3, 200.0, 2.0), (0.5, 2.0, 2000.0)],
        [lambda x, a, b: at.log(a * b * x ** (a - 1) * (1 - x**a) ** (b - 1))],
    ),
    "Pareto": (
        lambda x, a, m: mp.log(a) + a * mp.log(m) - (a + 1) * mp.log(x),
        [(3.0, 2.0, 1.0), (1e5, 100.0, 1e3), (1e-5, 100.0, 1e-6)],
        [lambda x, a, m: at.log(a * m**a / x ** (a + 1))],
    ),
    "Student": (
        lambda x: mp.loggamma(5) - mp.loggamma(4.5) - mp.log(9 * mp.pi) / 2 - 5 * mp.log1p(x * x / 9),
        [(0.3,), (-20.0,), (1e100,), (1e-10,)],
        [lambda x, v=9.0: at.log(24 / math.gamma(v / 2) / np.sqrt(v * np.pi)
                               * (1 + x**2 / v) ** (-(v + 1) / 2))],
    ),
    "Poisson": (
        lambda k, m: k * mp.log(m) - m - mp.loggamma(k + 1), [(3.0, 0.5), (200.0, 300.0), (500.0, 20.0), (2.0, 1e-100)],
        [lambda k, m: at.log(m**k * at.exp(-m) / at.gamma(k + 1))],
    ),
    "Poisson with a logarithmic link": (
        lambda k, e: k * e - mp.exp(e) - mp.loggamma(k + 1), [(3.0, 0.5), (0.0, 1.0), (200.0, 6.0), (7.0, -800.0)],
        [lambda k, e: at.log(at.exp(e) ** k * at.exp(-at.exp(e)) / at.gamma(k + 1))],
    ),
    "negative binomial": (
        lambda k, x, r: k * log_logistic(x) + r * log_logistic(-x),
        [(3.0, 0.5, 2.0), (3.0, 800.0, 2.0), (5.0, -800.0, 0.5)],
        [lambda k, x, r: at.log(at.sigmoid(x) ** k * (1 - at.sigmoid(x)) ** r),
         lambda k, x, r: at.log((1 / (1 + at.exp(-x))) ** k * (1 / (1 + at.exp(x))) ** r)],
    ),
    "von Mises": (
        lambda x, k: k * mp.cos(x) - mp.log(2 * mp.pi * mp.besseli(0, k)), [(0.3, 0.3), (0.3, 5.0), (0.3, 60.0)],
        [lambda x, k: k * at.cos(x) - at.log(TWO_PI * at.i0(k)),
         lambda x, k: at.log(at.exp(k * at.cos(x)) / at.i0(k) / TWO_PI)],
    ),
    "ordered logistic": (
        lambda a, b: log_logistic(a) + log_logistic(-b) + log1mexp(b - a),
        [(0.3, -0.5), (800.0, 799.0), (-799.0, -800.0), (40.0, 39.0), (1e-10, -1e-10), (50.0, -50.0)],
        [lambda a, b: at.log(at.sigmoid(a) - at.sigmoid(b)),
         lambda a, b: at.log(1 / (1 + at.exp(-a)) - 1 / (1 + at.exp(-b)))],
    ),
    "ordered probit": (
        log_difference_of_normals,
        [(0.3, -0.5), (10.0, 9.0), (-9.0, -10.0), (40.0, 39.0), (1e-3, -1e-3), (60.0, 30.0)],
        [lambda a, b, k=k: at.log(ndtr(a)[k] - ndtr(b)[k]) for k in range(3)],
    ),
    "truncated normal": (
        lambda x, a, b: -x * x / 2 - mp.log(2 * mp.pi) / 2 - log_difference_of_normals(a, b),
        [(0.1, 0.3, -0.5), (9.5, 10.0, 9.0), (-9.5, -9.0, -10.0), (39.5, 40.0, 39.0)],
        [lambda x, a, b: at.log(at.exp(-0.5 * x**2) / np.sqrt(TWO_PI) / (special.ndtr(a) - special.ndtr(b)))],
    ),
    "normal tail": (
        lambda x: log_ndtr(-x), [(v,) for v in (-37.0, -2.0, 1e-5, 2.0, 9.0, 37.0, 100.0)],
        [lambda x: at.log(1 - special.ndtr(x)), lambda x: at.log1p(-special.ndtr(x)), lambda x: special.log_ndtr(-x),
         lambda x: at.log(1 - 0.5 * at.erfc(-x / ROOT)), lambda x: at.log(0.5 * at.erfc(x / ROOT))],
    ),
    "hazard of the normal distribution": (
        lambda x: mp.exp(-x * x / 2 - log_ndtr(x)), [(v,) for v in (-100.0, -40.0, -20.0, -2.0, 0.3, 2.0)],
        [lambda x: at.exp(-0.5 * x**2) / special.ndtr(x), lambda x: at.exp(-0.5 * x**2) / (0.5 * at.erfc(-x / ROOT))],
    ),
    "skew normal": (
        lambda x, a: mp.log(2) - x * x / 2 + log_ndtr(a * x), [(0.3, 1.0), (-10.0, 4.0), (40.0, 2.0), (-2.0, 30.0)],
        [lambda x, a: at.log(2 * at.exp(-0.5 * x**2) * special.ndtr(a * x))],
    ),
    "complementary log-log": (
        lambda x: log1mexp(-mp.exp(x)), [(v,) for v in (-800.0, -700.0, -40.0, -2.0, 0.3, 2.0, 6.0)],
        [lambda x: at.log(1 - at.exp(-at.exp(x))), lambda x: at.log(-at.expm1(-at.exp(x)))],
    ),
    "noisy or": (
        lambda a, b: log1mexp(log_logistic(-a) + log_logistic(-b)),
        [(0.3, 0.2), (-40.0, -50.0), (-600.0, -5.0), (800.0, -3.0), (20.0, 25.0)],
        [lambda a, b: at.log(1 - (1 - at.sigmoid(a)) * (1 - at.sigmoid(b))),
         lambda a, b: at.log1p(-at.sigmoid(-a) * at.sigmoid(-b))],
    ),
    "geometric": (
        lambda k, x: (k - 1) * log_logistic(-x) + log_logistic(x),
        [(3.0, 0.5), (5.0, 800.0), (5.0, -800.0), (1.0, 800.0)],
        [lambda k, x: at.log((1 - at.sigmoid(x)) ** (k - 1) * at.sigmoid(x))],
    ),
    "Bose": (
        lambda x: -x - log1mexp(-x), [(v,) for v in SIZES],
        [lambda x: at.log(1 / (at.exp(x) - 1)), lambda x: -at.log(at.expm1(x))],
    ),
    "logarithm of sinh(x) / x": (
        lambda x: mp.log(mp.sinh(x) / x), [(v,) for v in (2.0, -30.0, 800.0)], [lambda x: at.log(at.sinh(x) / x)],
    ),
    "powers of exponentials": (
        lambda x: mp.exp(x / 2), [(v,) for v in (0.3, -300.0, 800.0, -1000.0)],
        [lambda x: at.sqrt(at.exp(x)), lambda x: at.exp(x) ** 0.5],
    ),
    "hyperbolic tangent": (
        mp.tanh, [(s * v,) for v in (0.3, 2.0, 20.0, 300.0, 720.0) for s in (1, -1)],
        [lambda x: (at.exp(x) - at.exp(-x)) / (at.exp(x) + at.exp(-x)), lambda x: at.sinh(x) / at.cosh(x),
         lambda x: (at.exp(2 * x) - 1) / (at.exp(2 * x) + 1), lambda x: (1 - at.exp(-2 * x)) / (1 + at.exp(-2 * x))],
    ),
    "hyperbolic cotangent": (
        mp.coth, [(v,) for v in (0.3, 2.0, 5.0)],
        [lambda x: at.cosh(x) / at.sinh(x), lambda x: (at.exp(2 * x) + 1) / (at.exp(2 * x) - 1)],
    ),
    "weight of exponentials": (
        lambda x: mp.exp(log_logistic(x - mp.log(9))), [(v,) for v in (0.3, 20.0, 40.0, -40.0, 300.0, -700.0)],
        [lambda x: at.exp(x) / (9 + at.exp(x)), lambda x: 1 / (1 + 9 * at.exp(-x))],
    ),
    "slope of the logistic function": (
        lambda x: mp.exp(log_logistic(x) + log_logistic(-x)), [(v,) for v in (0.3, -2.0, 20.0, -40.0, 300.0, -300.0)],
        [lambda x: at.exp(-x) / (1 + at.exp(-x)) ** 2, lambda x: at.exp(x) / (1 + at.exp(x)) ** 2],
    ),
    "swish": (
        lambda x: x * mp.exp(log_logistic(x)), [(v,) for v in (0.3, -2.0, 20.0, 40.0, -40.0, 300.0)],
        [lambda x: x * at.exp(x) / (1 + at.exp(x))],
    ),
}  # fmt: skip


@cache
def truth(name):
    """Values, gradients, and derivatives of the sum of the gradient with respect to the first number."""
    function, points, _ = FORMS[name]
    found = []
    with mp.workdps(600):
        step = mp.mpf(10) ** -150
        for point in points:
            point = [mp.mpf(v) for v in point]

            def at_step(i, k, j, m, point=point):
                return function(*[v + step * (k * (n == i) + m * (n == j)) for n, v in enumerate(point)])

            slopes = [(at_step(i, 1, 0, 0) - at_step(i, -1, 0, 0)) / (2 * step) for i in range(len(point))]
            corners = [
                k * m * at_step(i, k, 0, m) / (4 * step**2) for i in range(len(point)) for k in (1, -1) for m in (1, -1)
            ]
            found.append([function(*point), *slopes, mp.fsum(corners)])
        return np.array([[float(v) if abs(v) > 1e-270 else 0.0 for v in row] for row in found]).T


@pytest.mark.parametrize(("name", "position"), [(name, k) for name, row in FORMS.items() for k in range(len(row[2]))])
def test_values_and_derivatives(name, position):
    _, points, forms = FORMS[name]
    values = np.array(points).T
    inputs = [at.dvector() for _ in values]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = forms[position](*inputs)
        slopes = aesara.grad(y.sum(), inputs)
        curvature = aesara.grad(sum(slope.sum() for slope in slopes), inputs[0])
        found = np.array(aesara.function(inputs, [y, *slopes, curvature], mode=RULES)(*values))
    wanted = truth(name)
    np.testing.assert_allclose(found[:-1], wanted[:-1], rtol=1e-12, atol=1e-15)
    scale = np.maximum(np.abs(wanted[1:]).max(0), 1e-250)
    np.testing.assert_allclose(found[-1] / scale, wanted[-1] / scale, rtol=1e-9, atol=1e-11)


NARROW = [
    lambda x, k: at.log(x / at.cosh(k)),
    lambda x, k: at.log(x * at.sinh(k)),
    lambda x, k: at.log(x * at.expm1(k)),
    lambda x, k: at.log(x * at.gamma(k)),
    lambda x, k: at.log(x * at.i0(k)),
    lambda x, k: at.log(x * at.i1(k)),
    lambda x, k: at.log(x * k**x),
    lambda x, k: at.log(k**7 * x),
    lambda x, k: at.log(1 - at.tanh(k) ** 2) * x,
    lambda x, k: at.log(at.sigmoid(k) - at.sigmoid(x)),
    lambda x, k: at.log(special.ndtr(k) - special.ndtr(x)),
]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "float16", "float32"])
def test_other_dtypes(dtype):
    """No rule computes in a narrower dtype than the expression as it is written."""
    x, k = at.dvector("x"), at.vector("k", dtype=dtype)
    outputs = [form(x, k) for form in NARROW]
    values = np.array([0.5, 2.0, 1e-3]), np.array([1, 0, 3]).astype(dtype)
    with np.errstate(all="ignore"):
        found, wanted = (
            aesara.function([x, k], outputs, mode=mode)(*values) for mode in (RULES, Mode(linker="py", optimizer=None))
        )
    limit = 2e-3 if dtype in ("float16", "bool") else 1e-6  # functions of short integers are of short floats
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


def test_parts_of_a_form_take_gradients_of_their_own():
    x, y = at.dvectors("xy")
    one, other = 1 + at.exp(-x), 1 + at.exp(-y)
    power, tail = at.exp(-0.5 * x**2), at.erfc(-x / ROOT)
    half = x / ROOT
    costs = [
        (at.log(1 / one - 1 / other), [one, other]),
        (power / 2.5 / (0.5 * tail), [power, tail]),
        (at.log(0.5 * at.erfc(-half) - 0.5 * at.erfc(-y / ROOT)), [half]),
    ]
    values = np.array([0.7, 2.0]), np.array([0.2, -1.0])
    for cost, parts in costs:
        slopes = aesara.function([x, y], aesara.grad(cost.sum(), parts), mode=RULES, on_unused_input="ignore")(*values)
        names = [part.clone() for part in parts]
        given = clone_replace(cost, dict(zip(parts, names, strict=True)))
        now = aesara.function([x, y], parts, mode=RULES, on_unused_input="ignore")(*values)
        f = aesara.function([*names, x, y], given, mode=RULES, on_unused_input="ignore")
        for k, slope in enumerate(slopes):
            above, below = ([v + s * 1e-6 * (i == k) for i, v in enumerate(now)] for s in (1, -1))
            np.testing.assert_allclose(slope, (f(*above, *values) - f(*below, *values)) / 2e-6, rtol=1e-6)
