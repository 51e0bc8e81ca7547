"""Reductions over no elements: forms that rewriting makes have the value that the written form has in NumPy."""

import warnings

import numpy as np
import pytest
import scipy.special as sps

import aesara
import aesara.tensor as at
from aesara.tensor import nnet
from aesara.tensor.special import log_softmax, softmax
from tests.optable.running import MODES, compiled

#: formulas of a tensor `x` and an axis, in functions that both NumPy and `aesara.tensor` have
WRITTEN = {
    "log(sum(exp))": lambda f, x, a: f.log(f.exp(x).sum(axis=a)),
    "log1p(sum(exp))": lambda f, x, a: f.log1p(f.exp(x).sum(axis=a)),
    "log(mean(exp))": lambda f, x, a: f.log(f.exp(x).sum(axis=a) / 3),
    "log(sum(w * exp))": lambda f, x, a: f.log((f.exp(x) * (x**2 + 1)).sum(axis=a)),
    "log(sum(sigmoid))": lambda f, x, a: f.log((1 / (1 + f.exp(-x))).sum(axis=a)),
    "log(prod(exp))": lambda f, x, a: f.log(f.exp(x).prod(axis=a)),
    "log(sum(x**2))": lambda f, x, a: f.log((x**2).sum(axis=a)),
    "sqrt(sum(exp))": lambda f, x, a: f.sqrt(f.exp(x).sum(axis=a)),
    "sum(exp)**2": lambda f, x, a: f.exp(x).sum(axis=a) ** 2,
    "sum(exp) * exp(-sum)": lambda f, x, a: f.exp(x).sum(axis=a) * f.exp(-x.sum(axis=a)),
    "norm": lambda f, x, a: f.sqrt((x**2).sum(axis=a)),
    "norm of order 3": lambda f, x, a: (abs(x) ** 3).sum(axis=a) ** (1 / 3),
    "weighted mean": lambda f, x, a: (f.exp(x) * x).sum(axis=a) / f.exp(x).sum(axis=a),
    "exp / sum(exp)": lambda f, x, a: f.exp(x) / f.exp(x).sum(axis=a, keepdims=True),
    "log(exp / sum(exp))": lambda f, x, a: f.log(f.exp(x) / f.exp(x).sum(axis=a, keepdims=True)),
    "x - log(sum(exp))": lambda f, x, a: x - f.log(f.exp(x).sum(axis=a, keepdims=True)),
    "sum(exp - 1)": lambda f, x, a: f.expm1(x).sum(axis=a),
    "-sum(p * log(p))": lambda f, x, a: (
        -(f.exp(x) / f.exp(x).sum(axis=a, keepdims=True) * f.log(f.exp(x) / f.exp(x).sum(axis=a, keepdims=True))).sum(
            axis=a
        )
    ),
}
FUNCTIONS = {
    "logsumexp": (lambda x, a: at.logsumexp(x, axis=a), lambda x, a: np.log(np.exp(x).sum(axis=a))),
    "logsumexp with kept axes": (
        lambda x, a: at.logsumexp(x, axis=a, keepdims=True),
        lambda x, a: np.log(np.exp(x).sum(axis=a, keepdims=True)),
    ),
    "softmax": (lambda x, a: softmax(x, axis=a), lambda x, a: np.exp(x) / np.exp(x).sum(axis=a, keepdims=True)),
    "log_softmax": (
        lambda x, a: log_softmax(x, axis=a),
        lambda x, a: x - np.log(np.exp(x).sum(axis=a, keepdims=True)),
    ),
}
SHAPES = [
    ((0,), (None, 0)),
    ((0, 3), (None, 0, 1, (0, 1))),
    ((3, 0), (None, 1, (1, 0))),
    ((2, 0, 3), (None, 1, (0, 1), 2)),
]


def reductions_of_nothing(x, axes, value):
    """Yield names, graphs, and what NumPy makes of a value, for all formulas and functions and some axes."""
    formulas = {
        name: (lambda x, a, f=formula: f(at, x, a), lambda x, a, f=formula: f(np, x, a))
        for name, formula in WRITTEN.items()
    }
    for name, (function, oracle) in {**formulas, **FUNCTIONS}.items():
        for axis in axes:
            if "softmax" in name and isinstance(axis, tuple):  # which take one axis or all
                continue
            with np.errstate(all="ignore"):
                expected = oracle(value, axis)
            yield f"{name}, axis {axis}", function(x, axis), expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
@pytest.mark.parametrize("shape, axes", SHAPES, ids=[str(shape) for shape, _ in SHAPES])
def test_values_and_gradients(shape, axes, known, mode):
    x = at.tensor("float64", shape=shape if known else (None,) * len(shape))
    value = np.zeros(shape)
    names, outputs, wanted = [], [], []
    for name, y, expected in reductions_of_nothing(x, axes, value):
        names.append(name)
        outputs += [y, aesara.grad(y.sum(), x)]
        wanted += [expected, value]
    with np.errstate(all="ignore"):
        results = compiled([x], outputs, MODES[mode])(value)
    for k, (got, want) in enumerate(zip(results, wanted, strict=True)):
        np.testing.assert_array_equal(got, want, err_msg=names[k // 2], strict=True)


@pytest.mark.parametrize("mode", MODES)
def test_logsumexp_is_what_scipy_has(mode):
    x = at.matrix("x")
    axes = (0, 1, None)
    function = compiled([x], [at.logsumexp(x, axis=a) for a in axes], MODES[mode])
    for value in (np.zeros((0, 3)), np.zeros((3, 0)), np.ones((2, 3)), np.full((2, 3), -np.inf)):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = [np.log(np.exp(value).sum(axis=a)) for a in axes]
            if value.size:
                wanted = [sps.logsumexp(value, axis=a) for a in axes]
            results = function(value)
        for got, want in zip(results, wanted):
            np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "complex128"])
def test_dtypes(dtype, mode):
    x = at.tensor(dtype, shape=(None, None))
    y = at.logsumexp(x, axis=0)
    function = compiled([x], y, MODES[mode])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(function(np.ones((0, 2), dtype)), np.full(2, -np.inf, y.type.dtype), strict=True)


@pytest.mark.parametrize("mode", MODES)
def test_logsumexp_of_small_integers_does_not_overflow(mode):
    x = at.bvector("x")
    function = compiled([x], at.logsumexp(x), MODES[mode])
    np.testing.assert_allclose(function(np.array([-128, 127], "int8")), 127.0, rtol=1e-15)


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_higher_order(mode):
    x = at.matrix("x")
    cost = at.logsumexp(x, axis=0).sum()
    slope = aesara.grad(cost, x)
    second = aesara.grad((slope**2).sum(), x)
    function = compiled([x], [cost, slope, second], MODES[mode])
    for got, want in zip(function(np.zeros((0, 2))), [-np.inf, np.zeros((0, 2)), np.zeros((0, 2))]):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
def test_extrema_beside_reductions_of_nothing(mode, known):
    """The largest element of a tensor with elements is there, and an extremum without any stays an error."""
    x = at.tensor("float64", shape=(2, 0) if known else (None, None))
    kept = at.max(x, axis=0)
    function = compiled([x], [kept, at.logsumexp(x, axis=1)], MODES[mode])
    largest, total = function(np.zeros((2, 0)))
    assert largest.shape == (0,)
    np.testing.assert_array_equal(total, [-np.inf, -np.inf])
    unknown = at.matrix("unknown")
    refuses = compiled([unknown], at.max(unknown, axis=1), MODES[mode])
    with pytest.raises(ValueError, match="zero-size array to reduction operation"):
        refuses(np.zeros((2, 0)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
def test_cross_entropies_of_no_rows(mode, known):
    x = at.tensor("float64", shape=(0, 3) if known else (None, None))
    labels = at.lvector("labels")
    costs = [
        nnet.categorical_crossentropy(nnet.softmax(x, axis=1), labels),
        -at.log(softmax(x, axis=1))[at.arange(labels.shape[0]), labels],
        nnet.crossentropy_softmax_1hot(x, labels)[0],
    ]
    gradients = [aesara.grad(cost.sum(), x) for cost in costs]
    for k, result in enumerate(compiled([x, labels], [*costs, *gradients], MODES[mode])(np.zeros((0, 3)), [])):
        assert result.shape == ((0,) if k < len(costs) else (0, 3))


@pytest.mark.parametrize("mode", MODES)
def test_histogram_of_nothing(mode):
    x = at.vector("x")
    function = compiled([x], list(at.histogram(x, bins=4)), MODES[mode])
    for value in (np.zeros(0), np.array([0.0, 1.0, 5.0])):
        for got, want in zip(function(value), np.histogram(value, bins=4)):
            np.testing.assert_array_equal(got, want)
