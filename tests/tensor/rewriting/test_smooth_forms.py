"""Derivatives of any order at zero of quotients that are differentiated in other forms, against series."""

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at

#: a function of tensors, and the same of mpmath's numbers
FUNCTIONS = {
    "2 / cosh(x/2)": (lambda x: 1 / (at.cosh(x / 2) / 2), lambda x: 2 / mpmath.cosh(x / 2)),
    "sinh(x) / cosh(x/2)**2": (
        lambda x: at.sinh(x) / at.cosh(x / 2) ** 2,
        lambda x: mpmath.sinh(x) / mpmath.cosh(x / 2) ** 2,
    ),
    "softplus(x) / cosh(x/2)": (
        lambda x: at.softplus(x) / (at.cosh(x / 2) / 2),
        lambda x: 2 * mpmath.log1p(mpmath.exp(x)) / mpmath.cosh(x / 2),
    ),
    "expm1(x) / cosh(x/2)": (lambda x: at.expm1(x) / at.cosh(x / 2), lambda x: mpmath.expm1(x) / mpmath.cosh(x / 2)),
    "tanh(x) / cosh(x/2)": (
        lambda x: at.tanh(x) / (at.cosh(x / 2) / 2),
        lambda x: 2 * mpmath.tanh(x) / mpmath.cosh(x / 2),
    ),
    "exp(x) * (1 + exp(x))**-2": (
        lambda x: at.exp(x) * (1 + at.exp(x)) ** -2,
        lambda x: mpmath.exp(x) / (1 + mpmath.exp(x)) ** 2,
    ),
    "expm1(x) / (1 + exp(x))": (lambda x: at.expm1(x) / (1 + at.exp(x)), lambda x: mpmath.tanh(x / 2)),
}


@pytest.mark.parametrize("point", [0.0, 0.5, -3.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_each_order(name, point):
    of_tensors, of_numbers = FUNCTIONS[name]
    x = at.dscalar("x")
    derivative, found = of_tensors(x), []
    for _ in range(4):
        found.append(float(aesara.function([x], derivative)(point)))
        derivative = aesara.grad(derivative, x)
    with mpmath.workdps(50):
        wanted = [float(mpmath.diff(of_numbers, mpmath.mpf(point), n)) for n in range(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
