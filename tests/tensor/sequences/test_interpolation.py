"""Functions given by points."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.tensor.against_numpy import compare, drawn

PYTHON = ("SearchsortedOp", "SortOp", "ArgSortOp")
# NumPy 1 has it under another name.
trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
RNG = np.random.default_rng(0)
XP, FP = np.array([0.0, 1, 1.5, 4, 5]), RNG.normal(size=5)
(Y,) = drawn("float64", (3, 5))
COORDINATES = np.sort(RNG.uniform(0, 5, 5))


class TestInterp:
    @pytest.mark.slow
    def test_between_points(self, rng):
        compare(at.interp, np.interp, rng.uniform(-1, 6, (3, 4)), XP, FP, python=PYTHON)

    def test_outside(self, rng):
        compare(
            lambda x, xp, fp: at.interp(x, xp, fp, -9.0, 9.0),
            lambda x, xp, fp: np.interp(x, xp, fp, -9.0, 9.0),
            rng.uniform(-1, 6, 8),
            XP,
            FP,
            python=PYTHON,
        )

    def test_at_points_and_special_values(self):
        x = np.array([0.0, 1, 1.5, 5, -0.0, np.nan, np.inf, -np.inf])
        compare(at.interp, np.interp, x, XP, FP, python=PYTHON, gradient=False, rtol=1e-15)

    def test_one_point(self):
        compare(
            at.interp, np.interp, np.array([0.0, 1, 2]), np.array([1.0]), np.array([7.0]), python=PYTHON, gradient=False
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("period", [2.5, -2.5])
    def test_period(self, period, rng):
        compare(
            lambda x, xp, fp: at.interp(x, xp, fp, period=period),
            lambda x, xp, fp: np.interp(x, xp, fp, period=period),
            rng.uniform(-9, 9, 8),
            np.array([0.1, 0.7, 2.3, 1.2]),
            FP[:4],
            python=PYTHON,
        )

    def test_integers_and_errors(self):
        assert at.interp([1, 2], [0, 5], [0, 50]).eval().tolist() == [10.0, 20.0]
        with pytest.raises(ValueError, match="same length"):
            at.interp(0.5, [0.0, 1.0], [1.0])
        with pytest.raises(ValueError, match="at least one point"):
            at.interp(0.5, np.zeros(0), np.zeros(0))
        with pytest.raises(ValueError, match="xp must be a vector"):
            at.interp(0.5, at.matrix(), at.vector())


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[0.0, 1, 2.5, 4], [4.0, 2.5, 1, 0], [1.0], [1.0, 1.0, 2.0], []], ids=str)
def test_digitize(right, bins):
    x, bins = np.array([-1, 0, 0.5, 1, 2.5, 3, 4, 9]), np.array(bins)
    compare(
        lambda x, b: at.digitize(x, b, right),
        lambda x, b: np.digitize(x, b, right),
        x,
        bins,
        python=PYTHON,
        gradient=False,
    )
    np.testing.assert_array_equal(at.digitize(x, bins, right).eval(), np.digitize(x, bins, right))


def test_errors_of_digitize():
    with pytest.raises(ValueError, match="monotonic"):
        at.digitize([1.0], [0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="must be a vector"):
        at.digitize([1.0], at.matrix())


@pytest.mark.slow
def test_trapezoid():
    compare(at.trapezoid, trapezoid, Y)
    compare(at.trapezoid, trapezoid, Y, COORDINATES)
    compare(lambda y: at.trapezoid(y, dx=0.25, axis=0), lambda y: trapezoid(y, dx=0.25, axis=0), Y)
    compare(lambda y: at.trapezoid(y, x=y, axis=0), lambda y: trapezoid(y, x=y, axis=0), Y)
    compare(at.trapezoid, trapezoid, np.arange(5))


@pytest.mark.slow
def test_unwrap(rng):
    wrapped = np.mod(np.cumsum(rng.uniform(0, 3, (2, 9)), axis=1), 2 * np.pi)
    compare(at.unwrap, np.unwrap, wrapped)
    compare(lambda p: at.unwrap(p, discont=4.0), lambda p: np.unwrap(p, discont=4.0), wrapped)
    compare(lambda p: at.unwrap(p, axis=0), lambda p: np.unwrap(p, axis=0), wrapped)
    for period in (4, 5):
        compare(
            lambda p: at.unwrap(p, period=period),
            lambda p: np.unwrap(p, period=period),
            np.array([0, 1, 2, -1, 0, 2, 0, 4]),
        )
    compare(at.unwrap, np.unwrap, np.array([0.0, np.pi, 0.0, -np.pi]), gradient=False)


def test_ediff1d():
    compare(at.ediff1d, np.ediff1d, Y)
    compare(lambda y: at.ediff1d(y, [1.0], 2.0), lambda y: np.ediff1d(y, [1.0], 2.0), Y)


@pytest.mark.parametrize("order", [1, 2])
class TestGradient:
    def test_all_axes(self, order):
        compare(lambda y: at.gradient(y, edge_order=order), lambda y: list(np.gradient(y, edge_order=order)), Y)

    def test_distance(self, order):
        compare(
            lambda y: at.gradient(y, 0.5, axis=1, edge_order=order),
            lambda y: np.gradient(y, 0.5, axis=1, edge_order=order),
            Y,
        )

    @pytest.mark.slow
    def test_coordinates(self, order):
        compare(
            lambda y, x: at.gradient(y, x, axis=1, edge_order=order),
            lambda y, x: np.gradient(y, x, axis=1, edge_order=order),
            Y,
            COORDINATES,
            rtol=1e-10,
        )
        compare(
            lambda y, x: at.gradient(y, 2.0, x, edge_order=order),
            lambda y, x: list(np.gradient(y, 2.0, x, edge_order=order)),
            Y,
            COORDINATES,
            rtol=1e-10,
        )


def test_errors_of_gradient():
    with pytest.raises(ValueError, match="edge_order"):
        at.gradient(at.vector(), edge_order=3)
    with pytest.raises(TypeError, match="one for each of 2"):
        at.gradient(at.matrix(), 1, 2, 3)
    with pytest.raises(ValueError, match="at least 3 values"):
        at.gradient(at.tensor("float64", (2,)), edge_order=2)
    with pytest.raises(ValueError, match="numbers or vectors"):
        at.gradient(at.vector(), at.matrix())


def test_native():
    x = at.dvector("x")
    f = aesara.function([x], [at.gradient(x), at.trapezoid(x), at.unwrap(x), at.ediff1d(x)])
    assert f._native.report.python_nodes == {}
