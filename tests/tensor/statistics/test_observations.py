"""Sets, conditions, weighted means, correlations, histograms, windows and polynomials."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.closeness import assert_close
from tests.tensor.against_numpy import compare, drawn

PYTHON = ("SearchsortedOp", "SortOp", "ArgSortOp", "Unique", "Convolve", "BinCount")
RNG = np.random.default_rng(0)
A, B, LONG = RNG.integers(0, 9, (3, 4)), RNG.integers(0, 12, 7), RNG.integers(0, 200, 100)
X, Y = drawn("float64", (3, 4), (3, 4))


class TestSets:
    @pytest.mark.parametrize("invert", [False, True])
    @pytest.mark.parametrize("others", [B, LONG, B[:0]], ids=["few", "many", "none"])
    def test_isin(self, invert, others):
        compare(
            lambda a, t: at.isin(a, t, invert=invert),
            lambda a, t: np.isin(a, t, invert=invert),
            A,
            others,
            python=PYTHON,
        )

    @pytest.mark.parametrize("dtype", ["int64", "float64"])
    def test_zero_beyond_all_others_is_none_of_them(self, dtype):
        compare(at.isin, np.isin, np.arange(3, dtype=dtype), np.full(100, -1, dtype), python=PYTHON, gradient=False)

    @pytest.mark.parametrize("n", [2, 100])
    def test_nan_is_in_nothing(self, n):
        others = np.r_[np.nan, np.ones(n)]
        compare(at.isin, np.isin, np.array([1, np.nan, 2]), others, python=PYTHON, gradient=False)

    @pytest.mark.parametrize("name", ["union1d", "intersect1d", "setxor1d", "setdiff1d"])
    def test_combinations(self, name):
        for pair in ((A, B), (B, LONG), (A, A), (B, B[:0]), (B[:0], B), (B[:0], B[:0])):
            compare(getattr(at, name), getattr(np, name), *pair, python=PYTHON)

    def test_unique_elements(self):
        for name in ("intersect1d", "setxor1d", "setdiff1d"):
            compare(
                lambda a, b: getattr(at, name)(a, b, assume_unique=True),
                lambda a, b: getattr(np, name)(a, b, assume_unique=True),
                np.array([5, 2, 7]),
                np.array([7, 1]),
                python=PYTHON,
            )
        compare(at.unique_values, np.unique, A, python=PYTHON)


class TestConditions:
    def test_select(self):
        compare(
            lambda x, y: at.select([x < 0, x > 2], [y, x**2], 7.0),
            lambda x, y: np.select([x < 0, x > 2], [y, x**2], 7.0),
            X,
            Y,
        )
        compare(lambda a: at.select([a > 5, a > 3], [a, -a]), lambda a: np.select([a > 5, a > 3], [a, -a]), A)
        with pytest.raises(ValueError, match="as many choices"):
            at.select([A > 1], [])
        with pytest.raises(TypeError, match="must be Boolean"):
            at.select([A], [A])

    def test_piecewise(self):
        for module_pair in (
            [lambda x, m=m: m.piecewise(x, [x < 0, x > 1], [lambda v: -v, 9.0]) for m in (at, np)],
            [lambda x, m=m: m.piecewise(x, [x < 2, x < 0], [lambda v: -v, lambda v: v * 3, 5]) for m in (at, np)],
            [lambda x, m=m: m.piecewise(x, [x < 2], [lambda v, w: v * w, 5], 3.0) for m in (at, np)],
        ):
            compare(*module_pair, X)
        with pytest.raises(ValueError, match="1 or 2 functions"):
            at.piecewise(X, [X > 0], [1, 2, 3])

    def test_extract(self):
        compare(lambda x: at.extract(x > 0, x), lambda x: np.extract(x > 0, x), X)

    def test_put_along_axis(self):
        def put(x, indices, values, axis):
            x = x.copy()
            np.put_along_axis(x, indices, values, axis)
            return x

        largest = np.argmax(X, axis=1)[:, None]
        compare(lambda x: at.put_along_axis(x, largest, 99.0, 1), lambda x: put(x, largest, 99.0, 1), X)
        compare(lambda x, v: at.put_along_axis(x, largest, v, 1), lambda x, v: put(x, largest, v, 1), X, X[:, :1] + 1)
        flat = np.array([1, -1])
        compare(lambda x: at.put_along_axis(x, flat, 5.0, None), lambda x: put(x, flat, 5.0, None), X)
        with pytest.raises(ValueError, match="equally many"):
            at.put_along_axis(X, flat, 1.0, 0)
        with pytest.raises(IndexError, match="must be integers"):
            at.put_along_axis(X, X, 1.0, 0)


class TestAverage:
    WEIGHTS = RNG.uniform(1, 2, (3, 4))

    @pytest.mark.parametrize("axis, keepdims", [(None, False), (0, True), ((0, 1), False)])
    def test_weights_for_all(self, axis, keepdims):
        compare(
            lambda x, w: at.average(x, axis, w, keepdims=keepdims),
            lambda x, w: np.average(x, axis, w, keepdims=keepdims),
            X,
            self.WEIGHTS,
        )

    @pytest.mark.slow
    def test_other_forms(self):
        compare(lambda x: at.average(x), lambda x: np.asarray(np.average(x)), X)
        compare(lambda x, w: at.average(x, 0, w), lambda x, w: np.average(x, 0, w), X, self.WEIGHTS[:, 0])
        for arguments in ((0, None), (0, self.WEIGHTS[:, 0]), ((0, 1), self.WEIGHTS)):
            compare(
                lambda x: list(at.average(x, *arguments, returned=True)),
                lambda x: list(np.average(x, *arguments, returned=True)),
                X,
            )
        compare(lambda x, w: at.average(x, 1, w), lambda x, w: np.average(x, 1, w), A, A + 1)
        with pytest.raises(TypeError, match="weights must have"):
            at.average(X, weights=[1.0, 2.0])


def test_corrcoef():
    compare(at.corrcoef, np.corrcoef, X)
    compare(lambda x, y: at.corrcoef(x, y, False), lambda x, y: np.corrcoef(x, y, False), X, Y, gradient=False)
    assert_close(at.corrcoef([1.0, 2.0, 4.0]).eval(), 1.0)


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize("n, m", [(6, 3), (3, 6), (6, 2), (2, 6), (5, 5), (1, 4), (4, 1), (5, 4), (4, 5)])
def test_correlate(mode, n, m):
    compare(
        lambda a, v: at.correlate(a, v, mode),
        lambda a, v: np.correlate(a, v, mode),
        *drawn("float64", (n,), (m,)),
        python=PYTHON,
    )


def test_correlate_of_complex_numbers():
    compare(at.correlate, np.correlate, *drawn("complex128", (6,), (3,)), python=PYTHON)
    with pytest.raises(ValueError, match="must be a vector"):
        at.correlate(at.matrix(), at.vector())


HISTOGRAMS = [{}, {"bins": 7}, {"bins": np.array([-1.0, 0, 0.5, 2])}, {"range": (-1, 1)}, {"bins": 3, "density": True}]


@pytest.mark.parametrize("options", HISTOGRAMS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_histogram(options, weighted, rng):
    z = rng.normal(size=50)
    compare(
        lambda z: list(at.histogram(z, weights=abs(z) if weighted else None, **options)),
        lambda z: list(np.histogram(z, weights=abs(z) if weighted else None, **options)),
        z,
        python=PYTHON,
    )


def test_histogram_of_equal_elements():
    compare(lambda z: list(at.histogram(z, 3)), lambda z: list(np.histogram(z, 3)), np.array([2, 2, 2]), python=PYTHON)
    for bins, error in ((0, ValueError), (2.5, TypeError), (np.ones((2, 2)), TypeError)):
        with pytest.raises(error, match="bins"):
            at.histogram([1.0], bins)


@pytest.mark.parametrize("name", ["hamming", "hanning", "blackman", "kaiser"])
def test_windows(name):
    arguments = (5.5,) if name == "kaiser" else ()
    n = at.lscalar("n")
    f = aesara.function([n], getattr(at, name)(n, *arguments))
    for length in (0, 1, 2, 7):
        want = getattr(np, name)(length, *arguments)
        np.testing.assert_allclose(getattr(at, name)(length, *arguments).eval(), want, rtol=1e-13, atol=1e-16)
        np.testing.assert_allclose(f(length), want, rtol=1e-13, atol=1e-16)
    with pytest.raises(TypeError, match="must be an integer"):
        getattr(at, name)(2.5, *arguments)


def test_polynomials():
    (p,) = drawn("float64", (4,))
    compare(at.polyval, np.polyval, p, X, unknown=False)
    assert at.polyval([3, 0, 1], 100).eval() == 30001
    compare(lambda x: at.vander(x, 4), lambda x: np.vander(x, 4), X[0])
    compare(lambda x: at.vander(x, 2, True), lambda x: np.vander(x, 2, True), X[0])
    compare(at.vander, np.vander, np.array([0, 1, 2]), unknown=False)
    with pytest.raises(ValueError, match="number of powers"):
        at.vander(at.vector())
    with pytest.raises(TypeError, match="known length"):
        at.polyval(at.vector(), 1.0)
