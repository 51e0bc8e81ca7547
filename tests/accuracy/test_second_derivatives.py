"""Functions of one number at extremes: gradients of what overflows as it is written, and second derivatives."""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor import special

RULES = Mode(linker="py", optimizer="fast_run")

SIZES = np.array([1e-20, 1e-5, 0.3, 2.0, 20.0, 40.0, 300.0, 720.0, 800.0, 1e4])
EVERYWHERE = np.concatenate([-SIZES[::-1], SIZES])
TAILS = np.array([-37.5, -20.0, -2.0, -0.3, 0.3, 2.0, 20.0])
NEAR = np.array([0.3, 2.0, 20.0, 100.0])


def softplus(x):
    return mp.log1p(mp.exp(x))


def logistic(x):
    return 1 / (1 + mp.exp(-x))


#: The truth, for which points, and forms.
FORMS = {
    "softplus": (softplus, EVERYWHERE, [
        lambda x: at.log(1 + at.exp(x)), lambda x: x + at.log(1 + at.exp(-x)), lambda x: -at.log(1 - at.sigmoid(x)),
        lambda x: -at.log1p(-at.sigmoid(x)), lambda x: -at.log(1 / (1 + at.exp(x))),
    ]),
    "log(1 - exp(x))": (lambda x: mp.log(-mp.expm1(x)), -SIZES, [
        lambda x: at.log(1 - at.exp(x)), lambda x: at.log1p(-at.exp(x)),
    ]),
    "log(exp(x) - 1)": (lambda x: mp.log(mp.expm1(x)), SIZES, [
        lambda x: at.log(at.exp(x) - 1), lambda x: x + at.log(1 - at.exp(-x)),
    ]),
    "logistic": (logistic, EVERYWHERE, [
        lambda x: 1 / (1 + at.exp(-x)), lambda x: at.exp(x) / (1 + at.exp(x)), lambda x: 1 - at.sigmoid(-x),
    ]),
    "x * logistic": (lambda x: x * logistic(x), EVERYWHERE, [
        lambda x: x * at.sigmoid(x), lambda x: x / (1 + at.exp(-x)),
    ]),
    "normal tail": (lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), TAILS, [
        lambda x: at.log(special.ndtr(x)), lambda x: at.log(0.5 * at.erfc(-x / np.sqrt(2.0))),
        lambda x: at.log(0.5 * (1 + at.erf(x / np.sqrt(2.0)))),
    ]),
    "scaled tail": (lambda x: mp.exp(x * x) * mp.erfc(x), NEAR, [lambda x: at.exp(x**2) * at.erfc(x)]),
    "arctanh(tanh(x))": (lambda x: x, EVERYWHERE, [lambda x: at.arctanh(at.tanh(x)), lambda x: at.arcsinh(at.sinh(x))]),
    "log1p(x**2 / 3)": (lambda x: mp.log1p(x * x / 3), EVERYWHERE, [lambda x: at.log1p(x**2 / 3)]),
    "log of product": (lambda x: 4 * mp.log(x), np.array([1e-200, 0.5, 3.0, 1e200]), [
        lambda x: at.log((x[:, None] * np.array([0.5, 2.0, 4.0, 0.25])).prod(1)),
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "position"), [(name, k) for name, row in FORMS.items() for k in range(len(row[2]))])
def test_of_one_number(name, position):
    function, points, forms = FORMS[name]
    x = at.dvector("x")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = forms[position](x)
        slope = aesara.grad(y.sum(), x)
        curvature = aesara.grad(slope.sum(), x, disconnected_inputs="ignore")
        results = aesara.function([x], [y, slope, curvature], mode=RULES)(points)
    with mp.workdps(1200):
        step = mp.mpf(10) ** -300
        sides = [[function(mp.mpf(float(p)) + k * step) for k in (-1, 0, 1)] for p in points]
        wanted = [
            [float(b) for _, b, _ in sides],
            [float((c - a) / (2 * step)) for a, _, c in sides],
            [float((a - 2 * b + c) / step**2) for a, b, c in sides],
        ]
    for order, (found, truth) in enumerate(zip(results, wanted, strict=True)):
        np.testing.assert_allclose(found, truth, rtol=(1e-12, 1e-12, 1e-8)[order], atol=(1e-300, 1e-300, 1e-13)[order])
