"""Tensors: making, shapes, indexing, joining, reductions, sorting, convolutions."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara import function
from aesara.tensor import nnet
from aesara.tensor.nnet import conv2d


def shapes_without_values(show):
    x = at.matrix("x")
    f = function([x], (x**2).shape)
    show(f(np.ones((3, 5))), [type(node.op).__name__ for node in f.maker.fgraph.toposort()].count("Elemwise"))
    y = at.matrix("y")
    joined = function([x, y], at.join(0, x, y).shape)
    show(joined(np.ones((5, 4)), np.ones((3, 4))))


def joins_that_do_not_fit(show):
    x, y = at.matrix("x"), at.matrix("y")
    f = function([x, y], at.join(0, x, y))
    try:
        f(np.ones((5, 4)), np.ones((3, 3)))
    except ValueError:
        show("ValueError")


def shapes_that_are_specified(show):
    x = at.matrix("x")
    y = at.specify_shape(x, (2, 3))
    show(y.type.shape)
    f = function([x], y * 2)
    show(f(np.ones((2, 3))))
    try:
        f(np.ones((2, 2)))
    except AssertionError:
        show("AssertionError")
    show(at.tensor("float64", shape=(4, 3, 2)).type.shape)


def making_variables(show):
    for variable in (
        at.scalar("a", dtype="int32"),
        at.tensor(dtype="int32", shape=(), name="a"),
        at.TensorType(dtype="int32", shape=())("a"),
        at.TensorType("float64", shape=(None,) * 6)("deep"),
        *at.dmatrices("p", "q"),
        *at.fvectors(2),
    ):
        show(variable.name, variable.type.dtype, variable.type.ndim)
    show(at.as_tensor_variable([[1, 2], [3, 4]]).type.shape, at.constant([1, 2]).type.dtype, at.constant(300).dtype)


def stacking(show):
    a, b, c = at.scalars("abc")
    show(at.stack([a, b, c]).ndim, at.stack([a, b, c]).eval({a: 1, b: 2, c: 3}))
    d, e = at.tensor4(), at.tensor4()
    for axis in (0, 3, -2):
        stacked = at.stack([d, e], axis=axis)
        show(stacked.ndim, stacked.eval({d: np.zeros((2, 3, 4, 5)), e: np.ones((2, 3, 4, 5))}).shape)
    show(function([a, b, c], at.stacklists([[a, b], [c, a]]))(1, 2, 3))


def joining(show):
    x, y, z = at.fmatrix(), at.ftensor3(), at.fvector()
    joined = at.concatenate([x, y[0], at.shape_padright(z)], axis=1)
    f = function([x, y, z], joined)
    show(joined.ndim, f(np.ones((2, 1), "f"), np.zeros((3, 2, 2), "f"), np.array([5, 6], "f")))


def reshaping(show):
    x = at.dtensor3("x")
    data = np.arange(24.0).reshape(2, 3, 4)
    for y in (
        x.reshape((6, 4)), x.reshape((-1, 2)), x.flatten(), x.flatten(2), x.T, x.dimshuffle(1, "x", 2, 0),
        x.transpose(2, 0, 1), x.swapaxes(0, 2), at.shape_padleft(x), at.shape_padaxis(x, 1), x.ravel(),
    ):  # fmt: skip
        show(y.ndim, function([x], y)(data))


def indexing_like_arrays(show):
    x, i = at.dmatrix("x"), at.lscalar("i")
    data = np.arange(20.0).reshape(4, 5)
    for y in (
        x[i], x[-i], x[:, i], x[i:], x[::-1], x[1:3, ::2], x[..., 0], x[None, i], x[[0, 2, 2]], x[[0, 1], [2, 3]],
        x[:, [1, 0]], x[x > 7], x[x[:, 0] > 4], x[i, [0, 4]],
    ):  # fmt: skip
        show(function([x, i], y, on_unused_input="ignore")(data, 2))


def writing_to_parts(show):
    x, v = at.dmatrix("x"), at.dvector("v")
    data = np.arange(6.0).reshape(2, 3)
    for y in (
        at.set_subtensor(x[0], v), at.inc_subtensor(x[:, 0], 10), at.set_subtensor(x[1, 1:], 7),
        at.inc_subtensor(x[[0, 0, 1]], 1), at.set_subtensor(x[x > 2], -1), at.set_subtensor(x[:, [2, 0]], 9),
    ):  # fmt: skip
        show(function([x, v], y, on_unused_input="ignore")(data, [1.0, 2.0, 3.0]))


def reductions(show):
    x = at.dmatrix("x")
    data = np.array([[1.0, 5.0, -2.0], [4.0, 0.0, 3.0]])
    for y in (
        x.sum(), x.sum(axis=0), x.mean(axis=1), x.prod(), x.max(axis=0), x.min(), x.argmax(axis=1), x.argmin(),
        x.var(), x.std(axis=1), x.any(axis=0), x.all(), x.cumsum(axis=1), x.cumprod(), at.max_and_argmax(x, axis=1)[1],
        x.norm(2), x.sum(axis=1, keepdims=True), at.ptp(x, axis=0), x.trace(),
    ):  # fmt: skip
        show(function([x], y)(data))


def sorting_and_searching(show):
    v = at.dvector("v")
    data = [3.0, 1.0, 2.0, 2.0]
    for y in (
        at.sort(v), at.argsort(v), v.argsort(), at.unique(v), at.searchsorted(at.sort(v), 2.0), at.nonzero(v > 1)[0],
        at.flatnonzero(v > 2), at.bincount(at.cast(v, "int64")), at.repeat(v, 2), at.tile(v, 2), at.diff(v), v[::-1],
    ):  # fmt: skip
        show(function([v], y)(data))


def making_arrays(show):
    n = at.iscalar("n")
    for y in (
        at.zeros((n, 2)), at.ones(n), at.eye(n), at.arange(n), at.arange(1, n, 2), at.alloc(7, n, 2), at.identity_like(
            at.zeros((n, n))
        ), at.tri(n), at.full((2, n), 3.5), at.mgrid[0:3, 0:2][0], at.diag(at.arange(n)), at.zeros_like(at.ones(n)),
    ):  # fmt: skip
        show(function([n], y, on_unused_input="ignore")(4))


def products(show):
    v, w, m, t = at.dvector("v"), at.dvector("w"), at.dmatrix("m"), at.dtensor3("t")
    data = [np.arange(3.0), np.array([1.0, -1.0, 2.0]), np.arange(9.0).reshape(3, 3), np.arange(27.0).reshape(3, 3, 3)]
    for y in (
        at.dot(v, w), v.dot(w), at.dot(m, v), m @ m, at.outer(v, w), at.tensordot(t, m, 1), at.batched_dot(t, t),
        at.tensordot(t, m, axes=[[1], [0]]), at.dot(t, v),
    ):  # fmt: skip
        show(function([v, w, m, t], y, on_unused_input="ignore")(*data))


def rounding(show):
    x = at.dvector("x")
    data = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.4]
    away = at.round(x, mode="half_away_from_zero")
    for y in (at.floor(x), at.ceil(x), at.round(x), away, at.trunc(x), at.sgn(x), x % 2):
        show(function([x], y)(data))


def convolutions(show):
    images, filters = at.dtensor4("images"), at.dtensor4("filters")
    data = np.arange(50.0).reshape(1, 2, 5, 5), np.arange(18.0).reshape(1, 2, 3, 3)
    for border, step in (("valid", (1, 1)), ("full", (1, 1)), ("valid", (2, 2))):
        show(function([images, filters], conv2d(images, filters, border_mode=border, subsample=step))(*data))


def an_edge_detector(show):
    rng = np.random.RandomState(23455)
    bound = np.sqrt(3 * 9 * 9)
    W = aesara.shared(rng.uniform(-1 / bound, 1 / bound, size=(2, 3, 4, 4)))
    b = aesara.shared(rng.uniform(-0.5, 0.5, size=(2,)))
    image = at.tensor4("image")
    f = function([image], at.sigmoid(conv2d(image, W) + b.dimshuffle("x", 0, "x", "x")))
    show(f(rng.rand(1, 3, 8, 9)))


def network_functions(show):
    x = at.dmatrix("x")
    data = np.array([[-1.0, 0.5, 2.0], [1000.0, 999.0, -1000.0]])
    for build in (at.sigmoid, at.softplus, nnet.relu, nnet.hard_sigmoid, nnet.elu, nnet.selu):
        show(function([x], build(x))(data))
    for build in (nnet.softmax, nnet.logsoftmax):
        show(function([x], build(x, axis=1))(data), function([x], build(x, axis=0))(data))
    labels = at.lvector("labels")
    loss = nnet.categorical_crossentropy(nnet.softmax(x, axis=1), labels)
    show(function([x, labels], [loss, at.grad(loss.sum(), x)])(data, [2, 0]))
    show(function([x], nnet.binary_crossentropy(at.sigmoid(x), at.ones_like(x)))(data[:1]))
