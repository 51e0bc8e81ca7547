"""Running sums and products, and positions of nonzeros, natively."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

SHAPES = [(5, 4, 3), (0, 4, 3), (5, 0, 3), (5, 4, 0), (1, 1, 1), (17, 2, 9)]
DTYPES = ["float64", "float32", "float16", "int64", "int8", "uint8", "bool"]


def compiled(inputs, outputs):
    f = aesara.function(inputs, outputs)
    assert f._native.report.python_nodes == {}
    return f


def values(shape, dtype, seed=0):
    drawn = np.random.default_rng(seed).integers(0, 3, shape)
    return (drawn % 2 if dtype == "bool" else drawn).astype(dtype)


@pytest.mark.parametrize("ndim, axis", [(n, a) for n in (1, 2, 3) for a in (None, *range(n), -1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cumulative(ndim, axis, dtype):
    x = at.TensorType(dtype, (None,) * ndim)("x")
    outputs = [at.cumsum(x, axis=axis), at.cumprod(x, axis=axis), at.cumsum(x * x, axis=axis)]
    f = compiled([x], outputs)
    for shape in SHAPES:
        value = values(shape[:ndim], dtype)
        references = [np.cumsum(value, axis), np.cumprod(value, axis), np.cumsum(value * value, axis)]
        for got, variable, wide in zip(f(value), outputs, references, strict=True):
            want = wide.astype(variable.type.dtype)  # NumPy widens small integers, sums modulo 2**n agree
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_array_equal(got, want)


def test_a_running_sum_passes_nan_and_infinity_on():
    x = at.dvector("x")
    value = np.array([1.0, np.inf, 2.0, -np.inf, 3.0, -0.0])
    np.testing.assert_array_equal(compiled([x], at.cumsum(x))(value), [1, np.inf, np.inf, np.nan, np.nan, np.nan])
    zero = compiled([x], at.cumsum(x))(np.array([-0.0, -0.0]))
    assert np.signbit(zero).all()


def test_a_running_sum_as_the_new_value_of_a_shared_variable():
    state = aesara.shared(np.array([1.0, 2.0, 3.0]))
    f = aesara.function([], state.sum(), updates=[(state, at.cumsum(state)[::-1])])
    assert f() == 6
    np.testing.assert_array_equal(state.get_value(), [6, 3, 1])
    assert f() == 10


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(ndim, dtype):
    x = at.TensorType(dtype, (None,) * ndim)("x")
    f = compiled([x], [*at.nonzero(x), at.flatnonzero(x), at.nonzero_values(x).sum(dtype="float64")])
    for shape in SHAPES:
        value = values(shape[:ndim], dtype)
        *positions, flat, total = f(value)
        for got, want in zip(positions, np.nonzero(value), strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(flat, np.flatnonzero(value))
        assert total == value.sum(dtype="float64")


def test_nonzero_counts_nan_and_not_negative_zero():
    x = at.dvector("x")
    f = compiled([x], at.flatnonzero(x))
    np.testing.assert_array_equal(f(np.array([np.nan, -0.0, 0.0, 5e-324, -np.inf])), [0, 3, 4])


@pytest.mark.parametrize("density", [0.0, 0.01, 0.5, 1.0])
def test_positions_of_a_computed_mask(density):
    x, y = at.dvector("x"), at.dvector("y")
    f = compiled([x, y], (at.exp(x) * y)[at.flatnonzero(at.exp(x) < y)])
    x_value = np.random.default_rng(1).normal(size=1003)
    y_value = np.where(np.random.default_rng(2).random(1003) < density, np.exp(x_value) + 1, np.exp(x_value) - 1)
    want = (np.exp(x_value) * y_value)[np.exp(x_value) < y_value]
    np.testing.assert_allclose(f(x_value, y_value), want, rtol=1e-14)
