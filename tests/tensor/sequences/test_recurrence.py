"""Linear recurrences against loops, by `perform` and natively."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.replace import vectorize_graph
from aesara.tensor.sequences.recurrence import LinearRecurrence, shift
from tests.closeness import assert_close


def loop(a, b, axis, backwards):
    a, result = np.moveaxis(a, axis, 0), np.moveaxis(b.copy(), axis, 0)
    order = range(len(result) - 2, -1, -1) if backwards else range(1, len(result))
    for i in order:
        result[i] += a[i + 1] * result[i + 1] if backwards else a[i] * result[i - 1]
    return np.moveaxis(result, 0, axis)


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    "shape, axis", [((5,), 0), ((1,), 0), ((0,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 0), 0), ((0, 2), 0)]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8"])
def test_values(dtype, shape, axis, backwards, mode):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, size=shape).astype(dtype) for _ in range(2))
    x, y = (at.tensor(dtype, shape=(None,) * len(shape)) for _ in range(2))
    out = LinearRecurrence(axis, backwards)(x, y)
    assert out.type == x.type
    f = aesara.function([x, y], [out, out.shape], mode=mode)
    if mode is None:
        assert not f._native.report.python_nodes
    for first, second in ((a, b), (a[::-1], b[::-1])):
        value, size = f(first, second)
        np.testing.assert_array_equal(value, loop(first, second, axis, backwards))
        assert tuple(size) == shape


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_nan_and_infinity(mode):
    """Only what comes after is touched."""
    x, y = at.dvectors("x", "y")
    f = aesara.function([x, y], LinearRecurrence(0)(x, y), mode=mode)
    np.testing.assert_array_equal(f([np.nan, 1.0, 0.5, np.inf], [1.0, 1, 1, -1]), [1, 2, 2, np.inf])
    np.testing.assert_array_equal(f([1.0, np.nan, 1.0], [1.0, 1, 1]), [1, np.nan, np.nan])


def test_errors():
    with pytest.raises(ValueError, match="same number of dimensions"):
        LinearRecurrence(0)(at.dvector(), at.dmatrix())
    with pytest.raises(ValueError, match="more than 1"):
        LinearRecurrence(1)(at.dvector(), at.dvector())
    with pytest.raises(ValueError, match="size 2 in dimension 0, the terms 3"):
        LinearRecurrence(0)(np.ones(2), np.ones(3))
    x, y = at.dvectors("x", "y")
    for mode in (None, "FAST_COMPILE"):
        with pytest.raises(ValueError, match="LinearRecurrence"):
            aesara.function([x, y], LinearRecurrence(0)(x, y), mode=mode)(np.ones(2), np.ones(3))


def test_in_batches():
    x, y, rows = at.dvector("x"), at.dvector("y"), at.dmatrix("rows")
    a, b = np.random.default_rng(1).normal(size=(2, 3, 4))
    new = vectorize_graph(LinearRecurrence(0)(x, y), {y: rows})
    assert_close(new.eval({x: a[0], rows: b}), [loop(a[0], row, 0, False) for row in b])


def test_shifted():
    x = at.dmatrix("x")
    f = aesara.function([x], [shift(x, 0, 1.0), shift(x, 1, 0.0)])
    first, second = f(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(first, [[1, 1, 1], [0, 1, 2]])
    np.testing.assert_array_equal(second, [[0, 0, 1], [0, 3, 4]])
    assert [value.shape for value in f(np.empty((0, 3)))] == [(0, 3)] * 2
