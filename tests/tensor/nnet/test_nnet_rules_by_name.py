"""Rules that modes name, to have them or to leave them out."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.tensor import nnet
from aesara.tensor.nnet.crossentropy import crossentropy_categorical_1hot_grad
from tests.closeness import assert_close

m, v, classes = at.dmatrix("m"), at.dvector("v"), at.lvector("classes")
FAR = np.array([[1000.0, 0.0, 0.0]])


def ops(function):
    return [type(node.op).__name__ for node in function.maker.fgraph.toposort()]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_straight_lines_for_the_sigmoid(dtype):
    x = at.vector("x", dtype=dtype)
    values = np.array([-3, -1, 0, 1, 4], dtype=dtype)
    mode = get_mode("FAST_RUN").including("local_hard_sigmoid")
    given = aesara.function([x], at.sigmoid(x), mode=mode)(values)
    wanted = np.clip(values * given.dtype.type(0.2) + given.dtype.type(0.5), 0, 1)
    np.testing.assert_allclose(given, wanted, rtol=4 * np.finfo(given.dtype).eps)
    assert given.dtype == at.sigmoid(x).dtype
    assert "sigmoid" in str(aesara.function([x], at.sigmoid(x), mode="FAST_RUN").maker.fgraph)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_cross_entropy_of_vanishing_probabilities(mode):
    cost = nnet.crossentropy_categorical_1hot(nnet.softmax(m), classes)
    assert aesara.function([m, classes], cost, mode=mode)(FAR, [1]).tolist() == [1000.0]
    logarithm = at.log(nnet.softmax(m))[at.arange(classes.shape[0]), classes]
    assert aesara.function([m, classes], logarithm, mode=mode)(FAR, [1]).tolist() == [-1000.0]


@pytest.mark.parametrize("name", ["xent", "crossentropy_to_crossentropy_with_softmax"])
def test_cross_entropy_as_it_is_written(name):
    cost = nnet.crossentropy_categorical_1hot(nnet.softmax(m), classes)
    mode = get_mode("FAST_COMPILE").excluding(name)
    assert ops(aesara.function([m, classes], cost, mode=mode)) == ["Softmax", "CrossentropyCategorical1Hot"]


def test_the_softmax_with_a_bias_is_named_where_that_is_asked_for():
    expression = nnet.softmax(m + v)
    named = aesara.function([m, v], expression, mode=get_mode("FAST_RUN").including("local_softmax_with_bias"))
    assert ops(named) == ["SoftmaxWithBias"]
    assert "SoftmaxWithBias" not in ops(aesara.function([m, v], expression, mode="FAST_RUN"))
    weights = np.exp(FAR / 1000 + [1.0, 2.0, 3.0])
    assert_close(named(FAR / 1000, [1.0, 2.0, 3.0]), weights / weights.sum())


def test_the_softmax_of_a_cross_entropy_is_taken_from_it():
    shared = [nnet.softmax(m + v), nnet.crossentropy_categorical_1hot(nnet.softmax(m + v), classes)]
    plain = aesara.function([m, v, classes], shared, mode="FAST_RUN")
    names = ("local_softmax_with_bias", "graph_merge_softmax_with_crossentropy_softmax")
    named = aesara.function([m, v, classes], shared, mode=get_mode("FAST_RUN").including(*names))
    for one, two in zip(plain(FAR, [1.0, 2.0, 3.0], [1]), named(FAR, [1.0, 2.0, 3.0], [1]), strict=True):
        assert_close(one, two)


@pytest.mark.parametrize("same", [True, False])
def test_the_gradient_of_a_softmax_by_way_of_its_cross_entropy(same):
    """The division by the probabilities cancels if these are the ones that the cross-entropy was taken of."""
    g = at.dvector("g")
    of_probabilities = crossentropy_categorical_1hot_grad(g, nnet.softmax(m), classes)
    slopes = nnet.softmax_grad_legacy(of_probabilities, nnet.softmax(m if same else 2 * m))
    f = aesara.function([m, g, classes], slopes, mode="FAST_RUN")
    assert ("SoftmaxGrad" in ops(f)) is not same
    values = np.array([[0.5, 1.0, -1.0], [0.0, 2.0, 1.0]])
    p, q = (np.exp(t) / np.exp(t).sum(axis=1, keepdims=True) for t in (values, values if same else 2 * values))
    inner = np.zeros((2, 3))
    inner[[0, 1], [2, 0]] = -np.array([3.0, -2.0]) / p[[0, 1], [2, 0]]
    wanted = q * (inner - (inner * q).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(f(values, [3.0, -2.0], [2, 0]), wanted, rtol=1e-12)


def test_gradients_that_are_the_same_for_all_rows():
    gradient = at.grad(nnet.crossentropy_categorical_1hot(nnet.softmax(m), classes).sum(), m)
    name = "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc"
    named = aesara.function([m, classes], gradient, mode=get_mode("FAST_RUN").including(name))
    values = np.array([[0.5, 1.0, -1.0], [0.0, 2.0, 1.0]])
    weights = np.exp(values)
    wanted = weights / weights.sum(axis=1, keepdims=True) - np.eye(3)[[2, 0]]
    assert_close(named(values, [2, 0]), wanted)
