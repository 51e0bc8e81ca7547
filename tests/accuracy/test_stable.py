"""Formulas as users write them, compared with mpmath from the smallest to the largest numbers."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import scalar as aes
from aesara.scalar import routines
from aesara.tensor.elemwise import Elemwise
from tests.accuracy import stable


def require(mode):
    """Skip the test if the mode needs a library that is not installed."""
    if mode == "JAX":
        pytest.importorskip("jax")


@pytest.mark.parametrize("name", stable.FORMULAS)
def test_values_and_slopes(name):
    found = stable.checks(name, stable.FORMULAS[name])
    assert len(found) > 20
    bad = [one for one in found if not one.error <= stable.TOLERANCE]
    assert not bad, "\n".join(map(str, bad))


#: Formulas that were infinite with the wrong sign, not a number, or had the slope 0 near 0.
LOST = {
    "log(x**-3.5 * exp(-1/x))": (lambda x: at.log(x**-3.5 * at.exp(-1 / x)), 1e-100, -1e100),
    "log(x**1.5 * exp(-x) / 1.33)": (lambda x: at.log(x**1.5 * at.exp(-x) / 1.33), 1e300, -1e300),
    "(exp(x) + 1) / (exp(x) + 2)": (lambda x: (at.exp(x) + 1) / (at.exp(x) + 2), 800.0, 1.0),
    "(exp(2*x) + exp(x)) / (exp(2*x) + 1)": (
        lambda x: (at.exp(2 * x) + at.exp(x)) / (at.exp(2 * x) + 1), 800.0, 1.0),
    "cosh(x) / cosh(x + 1)": (lambda x: at.cosh(x) / at.cosh(x + 1), 800.0, np.exp(-1.0)),
}  # fmt: skip


@pytest.mark.parametrize("mode", [None, stable.RULES, "JAX"])
@pytest.mark.parametrize("name", LOST)
def test_what_was_lost(name, mode):
    require(mode)
    build, at_point, wanted = LOST[name]
    x = at.dscalar("x")
    assert aesara.function([x], build(x), mode=mode)(at_point) == pytest.approx(wanted, rel=1e-12)


NEAR_ZERO = {
    "(exp(x) - 1) / x": (lambda x: (at.exp(x) - 1) / x, 0.5),
    "x / (exp(x) - 1)": (lambda x: x / (at.exp(x) - 1), -0.5),
    "log((exp(x) - 1) / x)": (lambda x: at.log((at.exp(x) - 1) / x), 0.5),
    "log(1 + x) / x": (lambda x: at.log(1 + x) / x, -0.5),
    "x / log(1 + x)": (lambda x: x / at.log(1 + x), 0.5),
    "x / (1 - exp(-x))": (lambda x: x / (1 - at.exp(-x)), 0.5),
}


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", "JAX"])
@pytest.mark.parametrize("name", NEAR_ZERO)
def test_slopes_at_zero(name, mode):
    require(mode)
    build, wanted = NEAR_ZERO[name]
    x = at.dvector("x")
    slope = aesara.function([x], aesara.grad(build(x).sum(), x), mode=mode)([0.0, 1e-300, -1e-300, 1e-17, -1e-12])
    np.testing.assert_allclose(slope, wanted, rtol=1e-11)
    cost = at.dscalar("x")  # the quotient itself is what is differentiated
    slope_of_cost = aesara.function([cost], aesara.grad(build(cost), cost), mode=mode)
    np.testing.assert_allclose([slope_of_cost(v) for v in (0.0, 1e-300, -1e-12)], wanted, rtol=1e-11)


CURVATURES = {
    "sin(x) / x": (lambda x: at.sin(x) / x, -1 / 3),
    "sinh(x) / x": (lambda x: at.sinh(x) / x, 1 / 3),
    "tanh(x) / x": (lambda x: at.tanh(x) / x, -2 / 3),
    "erf(x) / x": (lambda x: at.erf(x) / x, -4 / (3 * np.sqrt(np.pi))),
    "x / sin(2*x)": (lambda x: x / at.sin(2 * x), 2 / 3),
    "3*x / sinh(x)": (lambda x: 3 * x / at.sinh(x), -1.0),
    "log(sinh(x) / x)": (lambda x: at.log(at.sinh(x) / x), 1 / 3),
    "log(x / sinh(x))": (lambda x: at.log(x / at.sinh(x)), -1 / 3),
}


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", "JAX"])
@pytest.mark.parametrize("name", CURVATURES)
def test_even_functions_at_zero(name, mode):
    require(mode)
    build, wanted = CURVATURES[name]
    x = at.dvector("x")
    slope = aesara.grad(build(x).sum(), x)
    points = np.array([0.0, 1e-170, 1e-20, -1e-10])
    found = aesara.function([x], [slope, aesara.grad(slope.sum(), x)], mode=mode)(points)
    np.testing.assert_allclose(found[0], wanted * points, rtol=1e-14)
    np.testing.assert_allclose(found[1], wanted, rtol=1e-14)


ARGUMENTS = [
    s * v for s in (-1, 1) for v in (1e-20, 1e-8, 1e-3, 0.3, 0.66, 0.9, 1.7, 2.1, 5.0, 11.9, 12.1, 50.0, 700.0)
]


def spherical(n, x):
    return mp.besseli(n + 0.5, abs(x)) / mp.besseli(n - 0.5, abs(x)) / abs(x)


def spherical_bessel(n, x):
    return mp.sqrt(mp.pi / (2 * x)) * mp.besselj(n + 0.5, x) / x**n


def log1p_integral(n, x):
    found = mp.log1p(x) / x
    for k in range(1, n + 1):
        found = (found - (1 + x) ** -k / k) / x
    return found


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_ratios_of_all_orders(order):
    with mp.workdps(200):
        for v in ARGUMENTS:
            x = mp.mpf(v)
            assert routines.spherical_ratio(float(order), v) == pytest.approx(float(spherical(order, x)), rel=2e-15)
            if abs(v) <= 1:
                of_square = [mp.re(spherical_bessel(order, y)) for y in (abs(x), mp.mpc(0, abs(x)))]
                found = [routines.spherical_bessel_of_square(float(order), z * v * v) for z in (-1, 1)]
                assert found == pytest.approx(list(map(float, of_square)), rel=1e-15)
                boys = mp.gammainc(order + 0.5, 0, x * x) / (2 * abs(x) ** (2 * order + 1))
                assert routines.boys(float(order), v * v) == pytest.approx(float(boys), rel=1e-15)
            if v > -1:
                wanted = float(log1p_integral(order, x))
                assert routines.log1p_ratio(float(order), v) == pytest.approx(wanted, rel=2e-14)


FUNCTIONS = {
    "exprel": (lambda x: mp.expm1(x) / x, (0, 1, 2)),
    "exprel_reciprocal": (lambda x: x / mp.expm1(x), (0, 1)),
    "log_exprel": (lambda x: mp.log(mp.expm1(x) / x), (0, 1, 2)),
    "log_sinhc": (lambda x: mp.log(mp.sinh(x) / x), (0, 1, 2)),
}


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_derivatives(name, mode):
    truth, orders = FUNCTIONS[name]
    x = at.dvector("x")
    result = Elemwise(getattr(aes, name))(x)
    for order in range(3):
        if order in orders:
            points = [v for v in ARGUMENTS if 1e-3 <= abs(v) <= 50]
            with mp.workdps(400):
                wanted = [float(mp.diff(truth, mp.mpf(v), order)) for v in points]
            np.testing.assert_allclose(aesara.function([x], result, mode=mode)(points), wanted, rtol=2e-13)
        result = aesara.grad(result.sum(), x)
