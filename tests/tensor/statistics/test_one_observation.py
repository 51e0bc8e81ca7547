"""Statistics of one observation: NaN where NumPy has NaN, in value and gradient, whatever types know of the length."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

MODES = {"native": None, "FAST_COMPILE": "FAST_COMPILE", "as written": Mode("py", None)}
#: function of NumPy or this package, and its argument
STATISTICS = {
    "var": (lambda np_, x: np_.var(x, axis=1, ddof=1), (3, 1)),
    "var of all": (lambda np_, x: np_.var(x, ddof=1), (1, 1)),
    "std": (lambda np_, x: np_.std(x, axis=0, ddof=1), (1, 3)),
    "cov": (lambda np_, x: np_.cov(x), (3, 1)),
    "cov of one variable": (lambda np_, x: np_.cov(x), (1, 1)),
    "cov of counted observations": (lambda np_, x: np_.cov(x, fweights=np.array([1])), (3, 1)),
    "corrcoef": (lambda np_, x: np_.corrcoef(x), (3, 1)),
    "corrcoef of one variable": (lambda np_, x: np_.corrcoef(x), (1, 1)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("known", list(itertools.product((False, True), repeat=2)), ids=str)
@pytest.mark.parametrize("name", STATISTICS)
def test_values_and_gradients_are_nan(name, known, mode):
    compute, shape = STATISTICS[name]
    value = np.random.default_rng(0).normal(size=shape)
    x = at.tensor("float64", shape=tuple(n if k else None for n, k in zip(shape, known)))
    result = compute(at, x)
    outputs = [result, aesara.grad(result.sum(), x), aesara.grad(at.exp(result).mean(), x)]
    got = aesara.function([x], outputs, mode=MODES[mode])(value)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        expected = compute(np, value)
    assert got[0].size == expected.size and np.isnan(expected).all() and np.isnan(got[0]).all()
    for gradient in got[1:]:
        np.testing.assert_array_equal(gradient, np.full(shape, np.nan))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [None, 1])
def test_gradients_of_chosen_results_are_zero_elsewhere(length, mode):
    x = at.tensor("float64", shape=(None, length))
    results = [
        at.var(x, axis=1, ddof=1)[0],
        at.cov(x)[0, 0],
        at.diff(at.cov(x).sum(axis=0, keepdims=True), axis=0).sum(),
    ]
    f = aesara.function([x], [aesara.grad(r, x) for r in results], mode=MODES[mode])
    nan = np.nan
    expected = [[[nan], [0.0], [0.0]], [[nan], [0.0], [0.0]], [[0.0]] * 3]
    for got, wanted in zip(f(np.arange(3.0).reshape(3, 1)), expected):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("known", [False, True])
def test_standard_deviations_of_one_observation_have_no_slope(known, mode):
    x = at.tensor("float64", shape=(1 if known else None, 3))
    f = aesara.function([x], [at.std(x, axis=0), aesara.grad(at.std(x, axis=0).sum(), x)], mode=MODES[mode])
    value, gradient = f(np.arange(3.0).reshape(1, 3))
    np.testing.assert_array_equal(value, 0)
    assert np.isnan(gradient).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(None, None), (1, None), (1, 4)])
def test_correlation_of_a_variable_with_itself(shape, mode):
    x = at.tensor("float64", shape=shape)
    f = aesara.function([x], [at.corrcoef(x), aesara.grad(at.corrcoef(x).sum(), x)], mode=MODES[mode])
    for row in ([1.0, 2.0, 4.0, 8.0], [2.0, 2.0, 2.0, 2.0], [1.0, np.inf, 0.0, 2.0], [1.0, np.nan, 0.0, 2.0]):
        with np.errstate(all="ignore"):
            expected = np.corrcoef([row])
        value, gradient = f([row])
        np.testing.assert_allclose(value.ravel(), expected.ravel(), rtol=1e-15)
        np.testing.assert_allclose(gradient, np.full((1, 4), expected * 0), rtol=0, atol=1e-15)


def test_parameters_that_are_variables_or_other_types():
    x, ddof = at.tensor("float64", shape=(1, 2)), at.lscalar("ddof")
    f = aesara.function([x, ddof], at.var(x, axis=0, ddof=ddof))
    np.testing.assert_array_equal(f([[1.0, 2.0]], 1), [np.nan, np.nan])
    np.testing.assert_array_equal(f([[1.0, 2.0]], 0), [0, 0])
    for dtype in ("bool", "int8", "float16", "float32", "complex64"):
        one = at.tensor(dtype, shape=(1, 2))
        for result in (at.var(one, axis=0, ddof=1), at.std(one, axis=0, ddof=1)):
            got = aesara.function([one], result)(np.ones((1, 2), dtype))
            assert np.isnan(got).all() and got.dtype == result.type.dtype
