"""Medians and quantiles."""

import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.closeness import assert_close
from tests.tensor.against_numpy import compare, drawn

METHODS = [
    "averaged_inverted_cdf",
    "closest_observation",
    "hazen",
    "higher",
    "interpolated_inverted_cdf",
    "inverted_cdf",
    "linear",
    "lower",
    "median_unbiased",
    "midpoint",
    "nearest",
    "normal_unbiased",
    "weibull",
]
SORTING = ("SortOp", "ArgSortOp")


def quiet(function):
    def called(*args):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)

    return called


def with_nan(x):
    x = np.array(x)
    x[np.random.default_rng(2).random(x.shape) < 0.4] = np.nan
    return x


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape, axis", [((5,), None), ((6,), 0), ((2, 3, 4), (0, 2)), ((2, 3, 4), -2), ((4, 1), 1)])
@pytest.mark.parametrize("nans", [False, True])
def test_median(shape, axis, keepdims, nans):
    (x,) = drawn("float64", shape)
    x = with_nan(x) if nans else x
    for name in ("median", "nanmedian"):
        compare(
            lambda x: getattr(at, name)(x, axis, keepdims),
            quiet(lambda x: getattr(np, name)(x, axis, keepdims=keepdims)),
            x,
            python=SORTING,
            gradient=not nans,
        )


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "float16"])
def test_median_of_dtypes(dtype):
    (x,) = drawn(dtype, (3, 4))
    compare(
        lambda x: at.median(x, 0),
        lambda x: np.median(x.astype(np.result_type(x, "int8")), 0),
        x,
        python=SORTING,
        unknown=False,
    )


@pytest.mark.parametrize("q", [0.3, [0.0, 0.25, 1.0], [[0.1, 0.9]]], ids=str)
@pytest.mark.parametrize("shape, axis", [((5,), None), ((2, 3, 4), (0, 2)), ((2, 3, 4), 1), ((1,), 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantile(q, shape, axis, keepdims):
    (x,) = drawn("float64", shape)
    compare(
        lambda x: at.quantile(x, q, axis, keepdims=keepdims),
        lambda x: np.quantile(x, q, axis, keepdims=keepdims),
        x,
        python=SORTING,
    )
    percents = np.multiply(q, 100)
    compare(
        lambda x: at.percentile(x, percents, axis, keepdims=keepdims),
        lambda x: np.percentile(x, percents, axis, keepdims=keepdims),
        with_nan(x),
        python=SORTING,
        gradient=False,
    )


@pytest.mark.parametrize("shape, axis", [((5,), None), ((2, 3, 4), (0, 2)), ((2, 3, 4), 1)])
@pytest.mark.parametrize("q", [0.3, [0.0, 0.25, 1.0]], ids=str)
def test_quantile_without_nan(q, shape, axis):
    (x,) = drawn("float64", shape)
    for name, scale in (("nanquantile", 1), ("nanpercentile", 100)):
        compare(
            lambda x: getattr(at, name)(x, np.multiply(q, scale), axis),
            quiet(lambda x: getattr(np, name)(x, np.multiply(q, scale), axis)),
            with_nan(x),
            python=SORTING,
            gradient=False,
        )


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    x = at.dvector("x")
    for n in range(1, 8):
        (value,) = drawn("float64", (n,))
        q = np.r_[np.linspace(0, 1, 21), np.arange(n + 1) / n, 0.5 / n]
        f = aesara.function([x], at.quantile(x, q, method=method), mode="FAST_COMPILE")
        want = np.quantile(value, q, method=method)
        if method == "closest_observation":
            np.testing.assert_allclose(f(value), [closest_observation(value, p) for p in q], rtol=1e-12)
            if np.lib.NumpyVersion(np.__version__) < "2.0.0":
                continue  # NumPy 1 rounds ties of this method the other way
        np.testing.assert_allclose(f(value), want, rtol=1e-12)


def closest_observation(value, p):
    """Definition 3 of Hyndman and Fan, Sample quantiles in statistical packages (1996)."""
    position = len(value) * p - 0.5
    below = int(np.floor(position))
    number = below if position == below and below % 2 == 0 else below + 1
    return np.sort(value)[min(max(number, 1), len(value)) - 1]


def test_symbolic_quantiles():
    x, q = at.dvector("x"), at.dvector("q")
    f = aesara.function([x, q], at.quantile(x, q))
    assert_close(f([1.0, 5.0, 2.0], [0.5, 0.75]), np.quantile([1.0, 5.0, 2.0], [0.5, 0.75]))
    with pytest.raises(ValueError, match="range from 0 to 1"):
        f([1.0, 5.0], [1.5])


def test_errors():
    x = at.matrix("x")
    with pytest.raises(ValueError, match="range from 0 to 1"):
        at.quantile(x, 1.5)
    with pytest.raises(ValueError, match="percentiles to 100"):
        at.percentile(x, [50, 101])
    with pytest.raises(ValueError, match="not a method"):
        at.quantile(x, 0.5, method="guess")
    with pytest.raises(TypeError, match="no order"):
        at.median(at.cvector())
    with pytest.raises(np.exceptions.AxisError):
        at.median(x, 2)
    with pytest.raises(ValueError, match="repeated axis"):
        at.median(x, (0, 0))
