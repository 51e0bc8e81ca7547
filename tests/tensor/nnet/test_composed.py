"""Ops that are expressions of others."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.tensor.nnet import softmax_with_bias
from aesara.tensor.nnet.composed import ComposedOp


class ProductAndSine(ComposedOp):
    """``x * y`` and ``sin(x)``: only the first depends on y."""

    nin, nout = 2, 2

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type(), x.type()])

    def expand(self, x, y):
        return [x * y, at.sin(x)]

    def connection_pattern(self, node):
        return [[True, True], [True, False]]


def test_gradients_of_what_only_some_outputs_depend_on():
    x, y = at.dvectors("x", "y")
    product, sine = ProductAndSine()(x, y)
    f = aesara.function([x, y], aesara.grad((3 * product + sine).sum(), [x, y]))
    a, b = np.array([0.5, -1.0]), np.array([2.0, 0.25])
    for found, wanted in zip(f(a, b), [3 * b + np.cos(a), 3 * a], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_gradients_of_inputs_that_depend_on_each_other():
    x, y = at.dvectors("x", "y")
    product, sine = ProductAndSine()(x, x**2 + y)
    slopes = aesara.function([x, y], aesara.grad((product + sine).sum(), [x, y]))
    a, b = np.array([0.5, -1.0]), np.array([2.0, 0.25])
    for found, wanted in zip(slopes(a, b), [3 * a**2 + b + np.cos(a), a], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    m = at.dmatrix("m")
    values, weights = np.array([[0.5, 1.0, -1.0], [0.0, 2.0, 1.0]]), np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]])
    one, two = (
        aesara.function([m], aesara.grad((p * weights).sum(), m))(values)
        for p in (softmax_with_bias(m, m.sum(0)), at.special.softmax(m + m.sum(0), axis=1))
    )
    np.testing.assert_allclose(one, two, rtol=1e-13)
