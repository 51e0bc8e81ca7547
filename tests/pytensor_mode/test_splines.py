"""SciPy's splines in PyMC's Ops, against SciPy."""

import numpy as np
import pytest
from scipy.interpolate import InterpolatedUnivariateSpline

pytensor = pytest.importorskip("pytensor")
SplineWrapper = pytest.importorskip("pymc.distributions.dist_math").SplineWrapper

import pytensor.tensor as pt

from aesara.pytensor import AESARA

PLACES, HEIGHTS = np.linspace(0, 3, 7), np.array([0.0, 1, 2, 4, 2, 1, 0])
#: the ends, what is beside them and beside a knot, what is far away, and what is no number
POINTS = np.array([np.nan, -1e-300, -0.0, 0, 3, 3 + 1e-15, 3 - 4e-16, 1.5, 1.5 - 2e-16, 5, -2])
POINTS = np.concatenate([POINTS, np.random.default_rng(0).uniform(-0.5, 3.5, 200), PLACES])


def functions_of(spline):
    x = pt.dvector("x")
    return pytensor.function([x], SplineWrapper(spline)(x), mode=AESARA)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("outside", ["extrapolate", "zeros", "const"])
def test_values_and_derivatives_are_scipys(degree, outside):
    spline = InterpolatedUnivariateSpline(PLACES, HEIGHTS, k=degree, ext=outside)
    for order in range(degree + 1):
        one = spline.derivative(order) if order else spline
        expected = one(POINTS)
        found = functions_of(one)(POINTS)
        scale = np.nanmax(np.abs(expected))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15 * scale)
    assert functions_of(spline)(np.empty(0)).shape == (0,)


def test_a_density_near_zero_keeps_its_digits():
    spline = InterpolatedUnivariateSpline(PLACES, HEIGHTS, k=1, ext="zeros")
    near = 3 - np.array([1e-9, 1e-12, 1e-15])
    np.testing.assert_allclose(functions_of(spline)(near), 2 * (3 - near), rtol=1e-15)


def test_other_dtypes_and_ranks():
    spline = InterpolatedUnivariateSpline(PLACES, HEIGHTS, k=1, ext="zeros")
    for x, value in [(pt.dscalar("x"), np.float64(1.3)), (pt.dmatrix("x"), np.ones((2, 3)))]:
        f = pytensor.function([x], SplineWrapper(spline)(x), mode=AESARA)
        assert not f.maker.linker.compiled._native.report.python_nodes
        np.testing.assert_allclose(f(value), spline(value), rtol=1e-15)


def test_what_raises_outside_runs_in_python():
    spline = InterpolatedUnivariateSpline(PLACES, HEIGHTS, k=1, ext="raise")
    f = functions_of(spline)
    np.testing.assert_array_equal(f(np.array([0.5, 1.0])), [1.0, 2.0])
    with pytest.raises(ValueError, match="not in the domain"):
        f(np.array([4.0]))
