"""Softmax and factorials."""

import numpy as np
import pytest
import scipy.special

import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.tensor.special import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    factorial,
    log_softmax,
    logit,
    poch,
    softmax,
)
from tests.tensor.evaluate import evaluate
from tests.tensor.test_math import check_gradient

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize(
    "function, reference", [(softmax, scipy.special.softmax), (log_softmax, scipy.special.log_softmax)]
)
class TestSoftmax:
    def test_values(self, function, reference, axis):
        x = at.matrix("x")
        for value in (RNG.normal(size=(3, 4)), 1e4 * RNG.normal(size=(3, 4)), np.zeros((2, 1))):
            np.testing.assert_allclose(evaluate(function(x, axis), {x: value}), reference(value, axis), atol=1e-300)

    def test_gradients(self, function, reference, axis):
        value = RNG.normal(size=(2, 3))
        check_gradient(lambda x: function(x, axis), value)
        check_gradient(lambda x: grad((function(x, axis) ** 2).sum(), x), value)

    def test_tangent(self, function, reference, axis):
        x, dx = at.matrix("x"), at.matrix("dx")
        value, direction = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3))
        y = function(x, axis)
        (t,) = y.owner.op.R_op([x], [dx])
        step = 1e-6
        numeric = (reference(value + step * direction, axis) - reference(value - step * direction, axis)) / (2 * step)
        np.testing.assert_allclose(evaluate(t, {x: value, dx: direction}), numeric, rtol=1e-6, atol=1e-8)


def test_special_values():
    x = np.array([[-np.inf, -np.inf], [1000.0, 0.0], [np.inf, 0.0], [-np.inf, 0.0]])
    np.testing.assert_array_equal(evaluate(softmax(x)), [[np.nan, np.nan], [1, 0], [np.nan, np.nan], [0, 1]])
    np.testing.assert_array_equal(evaluate(log_softmax(x))[[1, 3]], [[0, -1000], [-np.inf, 0]])
    empty = at.matrix("e")
    assert evaluate(softmax(empty, axis=1), {empty: np.zeros((2, 0))}).shape == (2, 0)


def test_dtypes_and_shapes():
    for dtype in ("float16", "float32", "float64"):
        x = at.matrix(dtype=dtype)
        assert softmax(x).type.dtype == dtype and log_softmax(x).type.dtype == dtype
        assert evaluate(softmax(x), {x: np.ones((2, 2), dtype)}).dtype == dtype
    assert softmax(at.imatrix()).type.dtype == "float64"
    assert softmax(at.tensor("float64", (2, None))).type.shape == (2, None)


def test_axes_and_names():
    assert str(softmax(at.vector()).owner.op) == "Softmax{axis=-1}"
    assert Softmax(axis=1) == Softmax(axis=1) != Softmax(axis=None)
    for function in (softmax, log_softmax):
        with pytest.raises(ValueError, match="out of bounds"):
            function(at.matrix(), axis=2)
        with pytest.raises(ValueError, match="out of bounds"):
            function(at.scalar())
    for op in (Softmax, SoftmaxGrad, LogSoftmax):
        with pytest.raises(TypeError, match="integer or None"):
            op(axis=(0, 1))
    with pytest.raises(ValueError, match="equally many dimensions"):
        SoftmaxGrad(-1)(at.vector(), at.matrix())


def test_tangent_of_the_gradient():
    dy, sm, d_dy, d_sm = at.matrices("abcd")
    values = {v: RNG.normal(size=(2, 3)) for v in (dy, sm, d_dy, d_sm)}
    op = SoftmaxGrad(1)
    (t,) = op.R_op([dy, sm], [d_dy, d_sm])

    def along(s):
        return evaluate(op(dy, sm), {dy: values[dy] + s * values[d_dy], sm: values[sm] + s * values[d_sm]})

    np.testing.assert_allclose(evaluate(t, values), (along(1e-6) - along(-1e-6)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_factorials_and_odds():
    n = np.array([0.0, 1.0, 5.0, 0.5])
    np.testing.assert_allclose(evaluate(factorial(n)), scipy.special.factorial(n))
    np.testing.assert_allclose(evaluate(poch(n + 1, 2.0)), scipy.special.poch(n + 1, 2.0))
    p = np.array([0.0, 1e-20, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(evaluate(logit(p)), scipy.special.logit(p), atol=1e-15)
