"""Formulas that overflow, underflow or cancel as written, in the ways in which they are written, against mpmath.

Each form is compiled with all rules; values and gradients are within 1e-12 of the truth, relatively, over the range.
"""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

RULES = Mode(linker="py", optimizer="fast_run")
TOLERANCE = 1e-12
#: Results, or parts of them, below the normal numbers have fewer digits.
SMALLEST = 1e-304

MIDDLE = [
    0.05,
    0.3,
    0.7,
    1.3,
    2.0,
    5.0,
    9.0,
    17.0,
    29.0,
    36.0,
    40.0,
    50.0,
    300.0,
    700.0,
    708.0,
    709.7,
    710.0,
    750.0,
    800.0,
]
SMALL = [1e-300, 1e-200, 1e-100, 1e-30, 1e-17, 1e-15, 1e-12, 1e-8, 1e-5, 1e-3]
LARGE = [1e3, 1e5, 1e10, 1e16, 1e50, 1e150, 1e200, 1e300]
POINTS = np.array([s * p for p in (*SMALL, *MIDDLE, *LARGE) for s in (1.0, -1.0)] + [0.0])

# Functions in mpmath that are exact however large or small their argument is.


def logistic(x):
    return 1 / (1 + mp.exp(-x)) if x > -1e4 else mp.exp(x)


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 1e4 else x


def log1mexp(x):
    return mp.log(-mp.expm1(x)) if x > -1 else mp.log1p(-mp.exp(x))


def tanh(x):
    return mp.tanh(x) if abs(x) < 1e4 else mp.sign(x)


def log_expm1(x):
    return mp.log(mp.expm1(x)) if x < 1 else x + log1mexp(-x)


def log_erfc(x):
    if x < 0.5:
        return mp.log1p(-mp.erf(x))
    return mp.log(mp.erfc(x)) if x < 1e4 else -x * x - mp.log(x * mp.sqrt(mp.pi)) + mp.log1p(-1 / (2 * x * x))


def slope_of_log_erfc(x):
    return -2 / mp.sqrt(mp.pi) * mp.exp(-x * x) / mp.erfc(x) if x < 1e4 else -2 * x * (1 + 1 / (2 * x * x))


def log_normal_cdf(x):
    return log_erfc(-x / mp.sqrt(2)) - mp.log(2) if x < 1 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)


def slope_of_erf(x):
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


def anywhere(x):
    return True


def positive(x):
    return x > 0


def negative(x):
    return x < 0


def moderate(x):
    return abs(x) < 1e100


SQRT2 = float(np.sqrt(2.0))

#: Name: forms, truth, truth of the slope (None: it is not tested), for which points.
FORMS = {
    "log(1 + exp(x))": (
        [
            lambda x: at.log(1 + at.exp(x)),
            lambda x: at.log(at.exp(x) + 1),
            lambda x: at.log1p(at.exp(x)),
            lambda x: -at.log(at.sigmoid(-x)),
            lambda x: -at.log(1 - at.sigmoid(x)),
            lambda x: -at.log1p(-at.sigmoid(x)),
            lambda x: -at.log(1 / (1 + at.exp(x))),
            lambda x: x + at.log(1 + at.exp(-x)),
            lambda x: x + at.log1p(at.exp(-x)),
            lambda x: x - at.log(at.sigmoid(x)),
            lambda x: at.log(1 + 1 / at.exp(-x)),
            lambda x: at.logaddexp(at.constant(0.0), x),
            lambda x: at.switch(x > 40, x, at.log(1 + at.exp(x))),
        ],
        softplus, logistic, anywhere,
    ),
    "log(sigmoid(x))": (
        [
            lambda x: at.log(at.sigmoid(x)),
            lambda x: at.log(1 / (1 + at.exp(-x))),
            lambda x: -at.log(1 + at.exp(-x)),
            lambda x: at.log(at.exp(x) / (1 + at.exp(x))),
            lambda x: at.log(1 - at.sigmoid(-x)),
            lambda x: at.log(1 - 1 / (1 + at.exp(x))),
            lambda x: x - at.log(1 + at.exp(x)),
            lambda x: at.log(at.exp(x)) - at.log(1 + at.exp(x)),
        ],
        lambda x: -softplus(-x), lambda x: logistic(-x), anywhere,
    ),
    "sigmoid(x)": (
        [
            lambda x: 1 / (1 + at.exp(-x)),
            lambda x: at.exp(x) / (1 + at.exp(x)),
            lambda x: at.exp(x) / (at.exp(x) + 1),
            lambda x: 1 - at.sigmoid(-x),
            lambda x: at.exp(x) * at.sigmoid(-x),
            lambda x: at.sigmoid(-x) * at.exp(x),
            lambda x: 1 - 1 / (1 + at.exp(x)),
            lambda x: at.exp(x - at.log(1 + at.exp(x))),
            lambda x: at.exp(-at.log1p(at.exp(-x))),
            lambda x: (1 + at.exp(-x)) ** -1,
            lambda x: 1 / (1 + 1 / at.exp(x)),
            lambda x: at.switch(x >= 0, 1 / (1 + at.exp(-x)), at.exp(x) / (1 + at.exp(x))),
        ],
        logistic, lambda x: logistic(x) * logistic(-x), anywhere,
    ),
    "sigmoid(x), of tanh": (
        [lambda x: (1 + at.tanh(x / 2)) / 2, lambda x: 0.5 + 0.5 * at.tanh(x / 2)],
        logistic, None, anywhere,
    ),
    "sigmoid(x) * sigmoid(-x)": (
        [
            lambda x: at.sigmoid(x) - at.sigmoid(x) ** 2,
            lambda x: at.exp(x) / (1 + at.exp(x)) ** 2,
            lambda x: at.exp(-x) / at.square(1 + at.exp(-x)),
            lambda x: at.exp(-x) * at.sigmoid(x) ** 2,
        ],
        lambda x: logistic(x) * logistic(-x), None, anywhere,
    ),
    "log(1 - exp(x))": (
        [
            lambda x: at.log(1 - at.exp(x)),
            lambda x: at.log1p(-at.exp(x)),
            lambda x: at.log(-at.expm1(x)),
            lambda x: at.log(-(at.exp(x) - 1)),
            lambda x: at.log(-at.exp(x) + 1),
            lambda x: at.log(1 - 1 / at.exp(-x)),
        ],
        log1mexp, lambda x: -1 / mp.expm1(-x), negative,
    ),
    "log(exp(x) - 1)": (
        [lambda x: at.log(at.exp(x) - 1), lambda x: at.log(at.expm1(x)), lambda x: x + at.log(1 - at.exp(-x))],
        log_expm1, lambda x: -1 / mp.expm1(-x), positive,
    ),
    "exp(x) - 1": (
        [
            lambda x: at.exp(x) - 1,
            lambda x: -1 + at.exp(x),
            lambda x: -(1 - at.exp(x)),
            lambda x: 1 / at.exp(-x) - 1,
            lambda x: at.expm1(x),
        ],
        mp.expm1, mp.exp, anywhere,
    ),
    "1 / (exp(x) - 1)": (
        [lambda x: 1 / (at.exp(x) - 1)],
        lambda x: 1 / mp.expm1(x),
        lambda x: -mp.exp(x) / mp.expm1(x) ** 2 if x < 1e4 else 0, lambda x: abs(x) > 1e-100,
    ),
    "tanh(x / 2)": (
        [
            lambda x: (at.exp(x) - 1) / (at.exp(x) + 1),
            lambda x: (1 - at.exp(-x)) / (1 + at.exp(-x)),
            lambda x: 2 * at.sigmoid(x) - 1,
            lambda x: at.sigmoid(x) - at.sigmoid(-x),
            lambda x: 2 / (1 + at.exp(-x)) - 1,
        ],
        lambda x: tanh(x / 2), lambda x: 2 * logistic(x) * logistic(-x), anywhere,
    ),
    "tanh(x)": (
        [
            lambda x: at.sinh(x) / at.cosh(x),
            lambda x: (at.exp(x) - at.exp(-x)) / (at.exp(x) + at.exp(-x)),
            lambda x: (at.exp(2 * x) - 1) / (at.exp(2 * x) + 1),
            lambda x: 2 * at.sigmoid(2 * x) - 1,
        ],
        tanh, None, anywhere,
    ),
    "1 - tanh(x)": ([lambda x: 1 - at.tanh(x)], lambda x: 2 * logistic(-2 * x), None, anywhere),
    "1 - tanh(x)**2": (
        [lambda x: 1 - at.tanh(x) ** 2, lambda x: (1 - at.tanh(x)) * (1 + at.tanh(x))],
        lambda x: 4 * logistic(2 * x) * logistic(-2 * x), None, lambda x: abs(x) < 340 or abs(x) > 400,
    ),
    "log(cosh(x))": (
        [lambda x: at.log(at.cosh(x)), lambda x: at.log((at.exp(x) + at.exp(-x)) / 2)],
        lambda x: mp.log1p(2 * mp.sinh(x / 2) ** 2) if abs(x) < 100 else abs(x) - mp.log(2), None,
        lambda x: 1e-3 <= abs(x),
    ),
    "log(sinh(x))": (
        [lambda x: at.log(at.sinh(x))],
        lambda x: x - mp.log(2) + log1mexp(-2 * x), lambda x: 1 / tanh(x), positive,
    ),
    "log(1 + x)": (
        [lambda x: at.log(1 + x), lambda x: at.log(x + 1), lambda x: at.log(1 - (-x)), lambda x: -at.log(1 / (1 + x))],
        mp.log1p, lambda x: 1 / (1 + x), lambda x: x > -1,
    ),
    "inverse hyperbolic tangent": (
        [lambda x: at.log((1 + x) / (1 - x)) / 2], mp.atanh, None, lambda x: abs(x) < 1,
    ),
    "inverse hyperbolic sine": (
        [lambda x: at.log(x + at.sqrt(x**2 + 1)), lambda x: at.log(x + at.sqrt(1 + x * x))], mp.asinh, None, positive,
    ),
    "log(a * exp(x) + c)": (
        [lambda x: at.log(3 * at.exp(x) + 5)],
        lambda x: mp.log(3 * mp.exp(x) + 5) if x < 1e4 else x + mp.log(3),
        lambda x: 3 / (3 + 5 * mp.exp(-x)) if x > -1e4 else 0, anywhere,
    ),
    "log(1 + 2 * exp(x))": (
        [lambda x: at.log(1 + 2 * at.exp(x)), lambda x: at.log1p(2 * at.exp(x))],
        lambda x: mp.log1p(2 * mp.exp(x)) if x < 1e4 else x + mp.log(2), None, anywhere,
    ),
    "log of a normal density": (
        [lambda x: at.log(at.exp(-(x**2) / 2) / (3 * SQRT2)), lambda x: at.log(0.25 * at.exp(-(x**2) / 2))],
        None, lambda x: -x, moderate,
    ),
    "log of a power": (
        [lambda x: at.log(x**2), lambda x: at.log(x * x), lambda x: 2 * at.log(abs(x))],
        lambda x: 2 * mp.log(abs(x)), None, lambda x: x != 0,
    ),
    "log(sqrt(x))": ([lambda x: at.log(at.sqrt(x))], lambda x: mp.log(x) / 2, lambda x: 1 / (2 * x), positive),
    "1 - cos(x)": ([lambda x: 1 - at.cos(x)], lambda x: 2 * mp.sin(x / 2) ** 2, mp.sin, lambda x: abs(x) < 1e3),
    "inverses": (
        [lambda x: at.log1p(at.expm1(x)), lambda x: at.log(at.exp(x)), lambda x: -at.log(1 / at.exp(x))],
        lambda x: x, lambda x: 1, anywhere,
    ),
    "log-odds of sigmoid": (
        [
            lambda x: at.log(at.sigmoid(x) / (1 - at.sigmoid(x))),
            lambda x: at.log(at.sigmoid(x)) - at.log(1 - at.sigmoid(x)),
        ],
        lambda x: x, lambda x: 1, anywhere,
    ),
    "log(erfc(x))": (
        [
            lambda x: at.log(at.erfc(x)),
            lambda x: at.log(1 - at.erf(x)),
            lambda x: at.log1p(-at.erf(x)),
            lambda x: at.log(1 + at.erf(-x)),
            lambda x: at.log1p(at.erf(-x)),
        ],
        log_erfc, slope_of_log_erfc, moderate,
    ),
    "erfc(x)": (
        [lambda x: 1 - at.erf(x), lambda x: -at.erf(x) + 1, lambda x: 1 + at.erf(-x), lambda x: 2 - at.erfc(-x)],
        mp.erfc, lambda x: -slope_of_erf(x), lambda x: moderate(x) and not 26.5 < x < 28,
    ),
    "erf(x)": (
        [lambda x: 1 - at.erfc(x), lambda x: at.erfc(-x) - 1, lambda x: -at.erfc(x) + 1],
        mp.erf, slope_of_erf, moderate,
    ),
    "distribution function": (
        [
            lambda x: 0.5 * (1 + at.erf(x)),
            lambda x: 0.5 + 0.5 * at.erf(x),
            lambda x: (1 + at.erf(x)) / 2,
            lambda x: 1 - 0.5 * at.erfc(x),
        ],
        lambda x: mp.erfc(-x) / 2, lambda x: slope_of_erf(x) / 2, lambda x: moderate(x) and not -28 < x < -26.5,
    ),
    "log of the normal distribution function": (
        [
            lambda x: at.log(0.5 * (1 + at.erf(x / SQRT2))),
            lambda x: at.log(0.5 * at.erfc(-x / SQRT2)),
            lambda x: at.log(0.5 + 0.5 * at.erf(x / SQRT2)),
        ],
        log_normal_cdf, lambda x: -slope_of_log_erfc(-x / mp.sqrt(2)) / mp.sqrt(2), lambda x: moderate(x) and x < 30,
    ),
    "exp(x**2) * erfc(x)": (
        [lambda x: at.exp(x**2) * at.erfc(x)],
        lambda x: mp.exp(x * x) * mp.erfc(x) if x < 1e4 else (1 - 1 / (2 * x * x)) / (x * mp.sqrt(mp.pi)), None,
        lambda x: -20 < x < 1e100,
    ),
    "binary cross-entropy": (
        [
            lambda x: -(0.25 * at.log(at.sigmoid(x)) + 0.75 * at.log(1 - at.sigmoid(x))),
            lambda x: -0.25 * at.log(at.sigmoid(x)) - 0.75 * at.log1p(-at.sigmoid(x)),
            lambda x: -(0.25 * at.log(1 / (1 + at.exp(-x))) + 0.75 * at.log(1 - 1 / (1 + at.exp(-x)))),
        ],
        lambda x: softplus(-x) / 4 + 3 * softplus(x) / 4, lambda x: logistic(x) - mp.mpf(1) / 4, anywhere,
    ),
}  # fmt: skip


def check(found, truth, points):
    __tracebackhide__ = True
    for point, got in zip(points, found, strict=True):
        exact = mp.mpf(truth(mp.mpf(float(point))))
        if abs(exact) > np.finfo("float64").max:
            assert np.isinf(got) and np.sign(got) == mp.sign(exact), (point, got, exact)
        else:
            assert np.isfinite(got), (point, got, exact)
            assert abs(mp.mpf(float(got)) - exact) <= TOLERANCE * abs(exact) + SMALLEST, (point, got, exact)


@pytest.mark.parametrize(
    ("name", "position"), [(name, k) for name, (forms, *_) in FORMS.items() for k in range(len(forms))]
)
def test_form(name, position):
    forms, value, slope, domain = FORMS[name]
    x = at.dvector("x")
    y = forms[position](x)
    outputs = [y] if slope is None else [aesara.grad(y.sum(), x)] if value is None else [y, aesara.grad(y.sum(), x)]
    points = np.array([p for p in POINTS if domain(p)])
    with warnings.catch_warnings(), np.errstate(all="ignore"), mp.workdps(50):
        warnings.simplefilter("ignore")
        results = aesara.function([x], outputs, mode=RULES)(points)
        for found, truth in zip(results, [t for t in (value, slope) if t is not None], strict=True):
            check(found, truth, points)
