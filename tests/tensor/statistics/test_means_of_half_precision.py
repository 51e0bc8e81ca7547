"""Means and the like of half precision: sums are larger than its largest number, 65504, and results are not."""

import numpy as np
import pytest
import scipy.special

import aesara
import aesara.tensor as at

ONES = np.ones(70_000, dtype="float16")
OUTLIER = np.array([0.0] * 99 + [600.0], dtype="float16")
MANY = np.array([-1.0] * 70_000 + [np.nan], dtype="float16")

#: the function, its oracle in double precision, and a vector
CASES = {
    "mean": (lambda x: x.mean(), np.mean, ONES),
    "mean along an axis": (lambda x: at.mean(x.reshape((-1, 1)), axis=0), lambda v: [np.mean(v)], ONES),
    "mean of some": (lambda x: at.mean(x, where=x > 0), np.mean, ONES),
    "average": (lambda x: at.average(x, weights=x), lambda v: np.average(v, weights=v), ONES),
    "var": (lambda x: x.var(), np.var, OUTLIER),
    "var with ddof": (lambda x: at.var(x, ddof=1), lambda v: np.var(v, ddof=1), OUTLIER),
    "std": (lambda x: at.std(x, corrected=True), np.std, np.array([0.0, 60000.0], dtype="float16")),
    "nanmean": (lambda x: at.nanmean(x), np.nanmean, MANY),
    "nanvar": (lambda x: at.nanvar(x, None, None, 1), lambda v: np.nanvar(v, ddof=1), MANY),
    "nanstd": (lambda x: at.nanstd(a=x), np.nanstd, np.array([0.0, np.nan, 60000.0], dtype="float16")),
    "logsumexp": (lambda x: at.logsumexp(x, keepdims=True), lambda v: [scipy.special.logsumexp(v)], ONES),
    "softmax": (lambda x: at.special.softmax(x)[0], lambda v: scipy.special.softmax(v)[0], ONES),
    "log_softmax": (lambda x: at.special.log_softmax(x)[0], lambda v: scipy.special.log_softmax(v)[0], ONES),
}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_double_precision_rounded(name, mode):
    function, oracle, values = CASES[name]
    x = at.vector("x", dtype="float16")
    y = function(x)
    assert y.type.dtype == "float16"
    found = aesara.function([x], y, mode=mode)(values)
    np.testing.assert_allclose(found, oracle(values.astype("float64")), rtol=2e-3)


def test_a_dtype_that_is_asked_for_holds():
    x = at.vector("x", dtype="float16")
    wide = [at.mean(x, dtype="float64"), at.var(x, dtype="float64"), at.nanmean(x, dtype="float64")]
    assert [y.type.dtype for y in wide] == ["float64"] * 3
    assert at.var(x, dtype="float16").type.dtype == "float16"
    assert np.isinf(at.mean(x, dtype="float16").eval({x: ONES}))


@pytest.mark.parametrize("function", [at.var, at.nanmean, at.logsumexp])
def test_missing_and_unknown_arguments_are_the_function_s_own_errors(function):
    with pytest.raises(TypeError, match=f"{function.__name__}.*missing"):
        function()
    with pytest.raises(TypeError, match=f"{function.__name__}.*unexpected"):
        function(at.dvector(), nonsense=1)
