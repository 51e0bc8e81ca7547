"""Small functions of NumPy, and operators of variables."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.tensor.against_numpy import compare, drawn

SORTING = ("SortOp", "ArgSortOp", "Unique")
(X,) = drawn("float64", (3, 4))
I = X.astype("int32")


@pytest.mark.parametrize("include_initial", [False, True])
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("value", [X, I, I.astype("uint8")], ids=["float64", "int32", "uint8"])
def test_cumulative(name, include_initial, value):
    old, initial = (np.cumsum, 0) if name == "cumulative_sum" else (np.cumprod, 1)

    def expected(x):
        running = old(x, axis=1)
        return np.insert(running, 0, initial, axis=1) if include_initial else running

    compare(lambda x: getattr(at, name)(x, axis=1, include_initial=include_initial), expected, value)
    with pytest.raises(ValueError, match="must be given"):
        getattr(at, name)(X)


def test_identity_and_diagonals():
    np.testing.assert_array_equal(at.identity(3, dtype="int32").eval(), np.identity(3, dtype="int32"))
    compare(lambda x: at.diagflat(x, 1), lambda x: np.diagflat(x, 1), X[:1])
    x = at.zeros((3, 3))
    filled = at.set_subtensor(x[at.diag_indices(3)], 1.0)
    np.testing.assert_array_equal(filled.eval(), np.eye(3))


def test_indices_of_combinations():
    compare(
        lambda x: x[at.ix_([0, 2], [True, False, True, True])],
        lambda x: x[np.ix_([0, 2], [True, False, True, True])],
        X,
    )
    with pytest.raises(ValueError, match="needs vectors"):
        at.ix_([[1]])


def test_broadcast_shapes():
    assert [int(n.eval()) for n in at.broadcast_shapes((6, 7), (5, 6, 1), 7, (5, 1, 7))] == [5, 6, 7]


def test_partition():
    compare(lambda x: at.partition(x, 2), lambda x: np.sort(x), X, python=SORTING)
    positions = at.argpartition(X, 2, axis=0).eval()
    np.testing.assert_array_equal(np.take_along_axis(X, positions, 0), np.sort(X, 0))
    with pytest.raises(ValueError, match="out of bounds"):
        at.partition(X, 4)


@pytest.mark.parametrize("axis", [-1, 0])
def test_lexsort(axis):
    keys = np.random.default_rng(0).integers(0, 3, (3, 2, 9))
    compare(lambda *k: at.lexsort(k, axis), lambda *k: np.lexsort(k, axis), *keys, python=SORTING)
    np.testing.assert_array_equal(at.lexsort(at.constant(keys), axis).eval(), np.lexsort(keys, axis))


def test_unique():
    compare(lambda x: list(at.unique_counts(x)), lambda x: list(np.unique(x, return_counts=True)), I, python=SORTING)
    values, inverse = at.unique_inverse(I)
    assert inverse.type.shape == I.shape
    np.testing.assert_array_equal(values.eval()[inverse.eval()], I)


def test_ldexp():
    mantissa, power = np.array([1.5, -2, 1e-300, 1e300, 3.0, np.inf]), np.array([4, -3, 1500, -2000, -1074, 5])
    compare(at.ldexp, np.ldexp, mantissa, power, rtol=1e-16)
    with pytest.raises(TypeError, match="must be integers"):
        at.ldexp(1.0, 2.5)


def test_operators():
    i, k = at.lvector("i"), at.lscalar("k")
    f = aesara.function([i, k], [i << k, i >> k, 2 << i, 100 >> i, +i])
    given = np.array([1, 2, 5])
    for got, want in zip(f(given, 3), [given << 3, given >> 3, 2 << given, 100 >> given, given]):
        np.testing.assert_array_equal(got, want)
    x = at.dvector("x")
    np.testing.assert_array_equal(round(x, 1).eval({x: [1.26]}), [1.3])
    np.testing.assert_array_equal(round(x).eval({x: [1.26]}), [1.0])
    compare(lambda x: x.mT, lambda x: np.swapaxes(x, -1, -2), *drawn("float64", (2, 3, 4)))
    with pytest.raises(ValueError, match="two or more"):
        x.mT
    assert (at.amax, at.amin) == (at.max, at.min)
    assert at.matrix()[at.s_[1:, 0]].type.ndim == 1
