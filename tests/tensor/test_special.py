"""Softmax, factorials and special functions."""

import numpy as np
import pytest
import scipy.special

import aesara
import aesara.tensor as at
import aesara.tensor.math
from aesara.gradient import NullTypeGradError
from aesara.graph.autodiff import grad
from aesara.tensor import special
from aesara.tensor.elementwise import special as elementwise_special
from aesara.tensor.special import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    factorial,
    log_expit,
    log_softmax,
    logit,
    multigammaln,
    poch,
    softmax,
)
from tests.closeness import assert_close
from tests.tensor.evaluate import evaluate
from tests.tensor.test_math import check_gradient


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize(
    "function, reference", [(softmax, scipy.special.softmax), (log_softmax, scipy.special.log_softmax)]
)
class TestSoftmax:
    def test_values(self, function, reference, axis, rng):
        x = at.matrix("x")
        for value in (rng.normal(size=(3, 4)), 1e4 * rng.normal(size=(3, 4)), np.zeros((2, 1))):
            assert_close(evaluate(function(x, axis), {x: value}), reference(value, axis), size=1e-300)

    def test_gradients(self, function, reference, axis, rng):
        value = rng.normal(size=(2, 3))
        check_gradient(lambda x: function(x, axis), value)
        check_gradient(lambda x: grad((function(x, axis) ** 2).sum(), x), value)

    def test_tangent(self, function, reference, axis, rng):
        x, dx = at.matrix("x"), at.matrix("dx")
        value, direction = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
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


def test_tangent_of_the_gradient(rng):
    dy, sm, d_dy, d_sm = at.matrices("abcd")
    values = {v: rng.normal(size=(2, 3)) for v in (dy, sm, d_dy, d_sm)}
    op = SoftmaxGrad(1)
    (t,) = op.R_op([dy, sm], [d_dy, d_sm])

    def along(s):
        return evaluate(op(dy, sm), {dy: values[dy] + s * values[d_dy], sm: values[sm] + s * values[d_sm]})

    np.testing.assert_allclose(evaluate(t, values), (along(1e-6) - along(-1e-6)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_factorials_and_odds():
    n = np.array([0.0, 1.0, 5.0, 0.5])
    assert_close(evaluate(factorial(n)), scipy.special.factorial(n))
    assert_close(evaluate(poch(n + 1, 2.0)), scipy.special.poch(n + 1, 2.0))
    p = np.array([0.0, 1e-20, 0.25, 0.5, 1.0])
    assert_close(evaluate(logit(p)), scipy.special.logit(p), size=1.0)


def test_the_logarithm_of_the_logistic_function():
    x = np.array([-1e3, -800.0, -5.0, 0.0, 5.0, 800.0, np.inf, -np.inf, np.nan])
    np.testing.assert_allclose(evaluate(log_expit(x)), scipy.special.log_expit(x), rtol=1e-15)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_multivariate_gamma_function(d):
    a = np.array([[2.5, 3.0], [7.25, 100.0]])
    np.testing.assert_allclose(evaluate(multigammaln(a, d)), scipy.special.multigammaln(a, d), rtol=1e-14)
    assert evaluate(multigammaln(np.float32(3), d)).dtype == "float32"


@pytest.mark.parametrize("d", [0, -1, 1.5, True])
def test_the_dimension_of_the_multivariate_gamma_function_is_checked(d):
    with pytest.raises(ValueError, match="multigammaln needs a positive whole number"):
        multigammaln(3.0, d)


def test_odds_and_rising_factorials_of_complex_numbers():
    z = np.array([0.25 + 0.5j, 2.0 - 1.0j])
    assert_close(evaluate(logit(z)), np.log(z / (1 - z)))
    assert_close(evaluate(poch(z, 2.0)), z * (z + 1))


def test_special_functions_are_exported():
    for name in elementwise_special.__all__:
        assert getattr(at, name) is getattr(at.math, name) is getattr(special, name)
    for name in ("betaincinv", "gammaincinv", "gammainccinv", "ive", "kv", "kve", "polygamma", "xlogy", "log_ndtr"):
        assert getattr(at, name) is getattr(at.math, name) is getattr(special, name)


FAR = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, -1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan, 30.0, -30.0])
UNARY = [
    "erfi", "dawsn", "exp1", "expi", "ndtr", "log_ndtr", "ndtri", "logit", "entr", "y0", "y1", "k0", "k1", "i0e", "i1e",
    "k0e", "k1e",
]  # fmt: skip
BINARY = [
    "gammaincinv", "gammainccinv", "beta", "betaln", "binom", "poch", "xlogy", "xlog1py", "rel_entr", "kl_div",
    "ive", "yv", "kv", "kve",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_values_at_borders(name):
    x = at.dvector()
    function = aesara.function([x], getattr(special, name)(x))
    assert not function._native.report.python_nodes
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(FAR)
    np.testing.assert_allclose(function(FAR), expected, rtol=1e-15)


@pytest.mark.parametrize("name", BINARY)
def test_values_at_borders_of_two_arguments(name):
    x, y = at.dvectors("xy")
    function = aesara.function([x, y], getattr(special, name)(x, y))
    assert not function._native.report.python_nodes
    first, second = (a.ravel() for a in np.meshgrid(FAR, FAR))
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(first, second)
    np.testing.assert_allclose(function(first, second), expected, rtol=1e-14)


def test_gradients_at_borders_are_limits():
    x, y = at.dvectors("xy")
    zeros, values = np.zeros(3), np.array([0.0, 1.0, 2.0])
    wrt_y = aesara.function([x, y], aesara.grad(special.xlogy(x, y).sum(), y))
    np.testing.assert_array_equal(wrt_y(zeros, values), zeros)
    slope = aesara.function([x], aesara.grad(special.log_ndtr(x).sum(), x))
    np.testing.assert_allclose(slope([-1e8, 0.0, 1e3]), [1e8, np.sqrt(2 / np.pi), 0.0], rtol=1e-14)


def test_quantiles_invert_distributions_and_so_do_their_gradients():
    k, p = np.array([0.7, 3.0, 50.0]), np.array([0.1, 0.5, 0.99])
    shape, level = at.dvectors("kp")
    both = [special.gammainc(shape, special.gammaincinv(shape, level))]
    both += [special.gammaincc(shape, special.gammainccinv(shape, level))]
    both += [special.betainc(shape, 2.0, special.betaincinv(shape, 2.0, level))]
    for back in both:
        value, wrt_shape, wrt_level = aesara.function([shape, level], [back, *aesara.grad(back.sum(), [shape, level])])(
            k, p
        )
        np.testing.assert_allclose(value, p, rtol=1e-12)
        assert_close(wrt_shape, 0, size=1.0)
        np.testing.assert_allclose(wrt_level, 1, rtol=1e-12)


def test_derivatives_by_the_order_are_refused():
    v, x = at.dvectors("vx")
    for function in (special.kv, special.ive, special.jv):
        with pytest.raises(NullTypeGradError, match="order of a Bessel function"):
            aesara.grad(function(v, x).sum(), v)
    with pytest.raises(NullTypeGradError, match="derivative with respect to s"):
        aesara.grad(special.zeta(v, x).sum(), v)


def test_odds_cancel_the_logistic_function():
    x = at.dvector()
    for graph in (special.logit(special.sigmoid(x)), special.sigmoid(special.logit(x))):
        function = aesara.function([x], graph)
        np.testing.assert_array_equal(function([0.25, 0.75]), [0.25, 0.75])
        assert not {special.logit, special.sigmoid} & {node.op for node in function.maker.fgraph.apply_nodes}


@pytest.mark.parametrize(
    ("function", "point", "first", "second"),
    [
        (special.gammainc, (2.5, 1.7), 0, 1),
        (special.gammainc, (2.5, 1.7), 1, 0),
        (special.gammaincc, (2.5, 1.7), 0, 1),
        (special.betainc, (2.0, 3.5, 0.3), 0, 2),
        (special.betainc, (2.0, 3.5, 0.3), 1, 2),
        (special.betainc, (2.0, 3.5, 0.3), 2, 1),
        *[(special.hyp2f1, (0.7, 1.3, 2.1, 0.4), k, 3) for k in range(4)],
        *[(special.hyp2f1, (0.7, 1.3, 2.1, 0.4), 3, k) for k in range(3)],
    ],
)
def test_mixed_second_derivatives(function, point, first, second):
    inputs = [at.dscalar() for _ in point]
    slope = aesara.grad(function(*inputs), inputs[first])
    value, mixed = (aesara.function(inputs, out) for out in (slope, aesara.grad(slope, inputs[second])))
    step = 1e-6
    above, below = (value(*[x + s * (k == second) for k, x in enumerate(point)]) for s in (step, -step))
    np.testing.assert_allclose(mixed(*point), (above - below) / (2 * step), rtol=1e-7)


def test_second_derivatives_by_parameters_are_refused():
    k, x = at.dscalars("kx")
    with pytest.raises(NullTypeGradError, match="second derivative with respect to k"):
        aesara.grad(aesara.grad(special.gammainc(k, x), k), k)
