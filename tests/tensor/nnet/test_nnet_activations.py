"""Activation functions: values, gradients, native code."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.tensor import nnet
from tests.closeness import assert_close

POINTS = np.array([-np.inf, -1000.0, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, 1000.0, 1e308, np.inf, np.nan])


def _elu(x, alpha=1.0):
    with np.errstate(all="ignore"):
        return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


CASES = [
    ("relu", nnet.relu, lambda x: np.maximum(x, 0)),
    ("leaky_relu", lambda x: nnet.relu(x, 0.1), lambda x: np.where(x > 0, x, x * 0.1)),
    ("elu", nnet.elu, _elu),
    ("elu_2", lambda x: nnet.elu(x, 2), lambda x: _elu(x, 2)),
    ("selu", nnet.selu, lambda x: 1.0507009873554805 * _elu(x.astype("float64"), 1.6732632423543772)),
    ("softsign", nnet.softsign, lambda x: x / (1 + np.abs(x))),
    ("hard_sigmoid", nnet.hard_sigmoid, lambda x: np.clip(x.dtype.type(0.2) * x + x.dtype.type(0.5), 0, 1)),
    ("ultra_fast_sigmoid", nnet.ultra_fast_sigmoid, lambda x: 1 / (1 + np.exp(-x))),
]


@pytest.mark.parametrize("name, function, expected", CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values(name, function, expected, dtype):
    x = at.vector("x", dtype=dtype)
    y = function(x)
    # Numbers that are not exact in float32 widen it, as everywhere.
    widened = "float64" if name in ("leaky_relu", "selu") else dtype
    assert y.type.dtype == widened
    values = POINTS.astype(dtype)
    for mode in (None, "FAST_COMPILE"):
        f = aesara.function([x], y, mode=mode)
        np.testing.assert_allclose(f(values), expected(values), rtol=4 * np.finfo(dtype).eps)
        assert f(values[:0]).shape == (0,)
        np.testing.assert_allclose(f(values[::-2]), expected(values[::-2]), rtol=4 * np.finfo(dtype).eps)
        if mode is None:
            assert f._native.report.python_nodes == {}


@pytest.mark.parametrize("dtype, of_result", [("uint8", "float32"), ("int16", "float32"), ("int64", "float64")])
@pytest.mark.parametrize("name", ["elu", "softsign", "hard_sigmoid", "ultra_fast_sigmoid"])
def test_integers_become_floats_of_their_width(name, dtype, of_result):
    (function, expected) = next(case[1:] for case in CASES if case[0] == name)
    x = at.vector("x", dtype=dtype)
    values = np.arange(8, dtype=dtype)
    y = function(x)
    assert y.type.dtype == of_result
    np.testing.assert_allclose(y.eval({x: values}), expected(values.astype(of_result)), rtol=1e-6)


@pytest.mark.parametrize("name, function, expected", CASES, ids=[case[0] for case in CASES])
def test_gradients(name, function, expected):
    rng = np.random.default_rng(3)
    verify_grad(function, [rng.uniform(-2, 2, (3, 4))], rng=rng)
    x = at.dvector("x")
    g = aesara.function([x], aesara.grad(function(x).sum(), x))
    assert np.isfinite(g(np.array([-1000.0, -0.0, 0.0, 1000.0]))).all()


def test_gradient_of_relu_at_zero():
    x = at.dvector("x")
    g = aesara.function([x], aesara.grad(nnet.relu(x).sum(), x))
    np.testing.assert_array_equal(g([-1.0, 0.0, -0.0, 1.0]), [0.0, 0.5, 0.5, 1.0])
    g = aesara.function([x], aesara.grad(nnet.relu(x, 0.5).sum(), x))
    np.testing.assert_array_equal(g([-1.0, 0.0, -0.0, 1.0]), [0.5, 0.75, 0.75, 1.0])


def test_relu_with_slopes_for_columns():
    x, alpha = at.dmatrix("x"), at.dvector("alpha")
    f = aesara.function([x, alpha], nnet.relu(x, alpha))
    np.testing.assert_array_equal(f([[-2.0, -2.0, 2.0]], [0.0, 0.5, 0.5]), [[0.0, -1.0, 2.0]])


def test_integers():
    x = at.lvector("x")
    assert nnet.relu(x).type.dtype == "int64"
    assert nnet.relu(at.vector(dtype="uint8")).type.dtype == "uint8"
    np.testing.assert_array_equal(nnet.relu(x).eval({x: [-1, 0, 2]}), [0, 0, 2])
    assert_close(nnet.softsign(x).eval({x: [-1, 0, 3]}), [-0.5, 0, 0.75])
    assert nnet.softsign(at.bvector()).type.dtype == "float32"
