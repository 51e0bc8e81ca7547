"""Reductions of what is not NaN."""

import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from tests.tensor.against_numpy import compare, drawn

NAMES = [
    "nansum",
    "nanprod",
    "nanmax",
    "nanmin",
    "nanmean",
    "nanvar",
    "nanstd",
    "nancumsum",
    "nancumprod",
    "nanargmax",
    "nanargmin",
]


def holes(x):
    x = np.array(x)
    if x.dtype.kind in "fc":
        x[np.random.default_rng(4).random(x.shape) < 0.4] = np.nan
        x[0] = 1  # no slice without numbers along the first axis
    return x


CASES = [
    (name, dtype, axis, keepdims)
    for axis, keepdims in [(None, False), (0, True), (-1, False), ((0, 1), False), ((0, 2), True)]
    for dtype in ("float64", "float32", "int64", "complex128")
    for name in NAMES
    if not (dtype[0] == "c" and ("max" in name or "min" in name))  # what NumPy has not
    and not (("cum" in name or "arg" in name) and isinstance(axis, tuple))
]


@pytest.mark.parametrize("name, dtype, axis, keepdims", CASES)
def test_against_numpy(name, dtype, axis, keepdims):
    cumulative, positions = "cum" in name, "arg" in name
    x = holes(drawn(dtype, (3, 4, 2))[0])
    if positions and axis == -1:
        x = np.nan_to_num(x)
    options = {} if cumulative else {"keepdims": keepdims}

    def expected(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(np, name)(x, axis=axis, **options)

    compare(lambda x: getattr(at, name)(x, axis=axis, **options), expected, x, gradient=False)


def test_nothing_but_nan():
    x = at.dmatrix("x")
    value = np.array([[np.nan, np.nan], [1.0, np.nan]])
    for name in ("nanmax", "nanmin", "nanmean", "nanvar"):
        np.testing.assert_array_equal(np.isnan(getattr(at, name)(x, axis=1).eval({x: value})), [True, False])
    np.testing.assert_array_equal(at.nansum(x, axis=1).eval({x: value}), [0, 1])
    np.testing.assert_array_equal(at.nanprod(x, axis=1).eval({x: value}), [1, 1])
    for name in ("nanargmax", "nanargmin"):
        with pytest.raises(ValueError, match="All-NaN"):
            aesara.function([x], getattr(at, name)(x, axis=1))(value)


def test_infinities():
    x = at.dvector("x")
    value = np.array([-np.inf, np.nan, -np.inf])
    assert at.nanmax(x).eval({x: value}) == -np.inf
    assert at.nanmin(x).eval({x: -value}) == np.inf


@pytest.mark.parametrize("name", NAMES)
def test_infinite_elements(name):
    x = np.array([[np.inf, np.inf, -np.inf, np.nan, 2.0], [np.inf, 1.0, np.inf, np.inf, np.nan]])

    def expected(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(np, name)(x, axis=0)

    compare(lambda x: getattr(at, name)(x, axis=0), expected, x, gradient=False)


@pytest.mark.parametrize("ddof", [0, 1, 3, 5])
def test_degrees_of_freedom(ddof):
    x = holes(drawn("float64", (4, 5))[0])

    def expected(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.nanvar(x, axis=0, ddof=ddof)

    compare(lambda x: at.nanvar(x, axis=0, ddof=ddof), expected, x, gradient=False)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmean", "nanvar", "nanstd", "nancumsum"])
def test_gradients(name):
    mask = np.random.default_rng(1).random((3, 4)) < 0.3
    mask[0] = False
    verify_grad(
        lambda x: getattr(at, name)(at.switch(mask, np.nan, x), axis=0),
        drawn("float64", (3, 4)),
        rng=np.random.default_rng(1),
    )


def test_dtype():
    x = at.vector("x", dtype="float32")
    assert at.nansum(x, dtype="float64").type.dtype == "float64"
    assert at.nanmean(x, dtype="float64").type.dtype == "float64"
    assert at.nanvar(x).type.dtype == "float32"
    with pytest.raises(np.exceptions.AxisError):
        at.nanmean(x, axis=1)
