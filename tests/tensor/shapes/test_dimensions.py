"""Dimensions joined and split, counts, grids."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.tensor.against_numpy import compare, drawn

(X,) = drawn("float64", (2, 3, 4))


@pytest.mark.parametrize(
    "start, n_axes, shape",
    [
        (0, None, (24,)),
        (1, 2, (2, 12)),
        (1, 0, (2, 1, 3, 4)),
        (-2, None, (2, 12)),
        (0, 1, (2, 3, 4)),
        (3, 0, (2, 3, 4, 1)),
    ],
)
def test_join_dims(start, n_axes, shape):
    compare(lambda x: at.join_dims(x, start, n_axes), lambda x: x.reshape(shape), X)


@pytest.mark.parametrize(
    "new, axis, shape",
    [((2, 2), -1, (2, 3, 2, 2)), ((-1, 2), 2, (2, 3, 2, 2)), (3, 1, X.shape), ((1, 2, 1), 0, (1, 2, 1, 3, 4))],
)
def test_split_dims(new, axis, shape):
    compare(lambda x: at.split_dims(x, new, axis), lambda x: x.reshape(shape), X)


def test_symbolic_lengths():
    x, n = at.dvector("x"), at.lscalar("n")
    f = aesara.function([x, n], at.split_dims(x, (n, -1)))
    assert f(np.arange(6.0), 2).shape == (2, 3)
    with pytest.raises(ValueError):
        f(np.arange(5.0), 2)
    assert at.split_dims(x, at.constant([2, 3])).type.ndim == 2


def test_wrong_lengths():
    x = at.tensor("float64", (6, 4))
    for new in ((4, 2), (-1, -1), (-1, 4), (0, -1)):
        with pytest.raises(ValueError, match="cannot become"):
            at.split_dims(x, new)
    with pytest.raises(ValueError, match="no 3 dimensions"):
        at.join_dims(x, 0, 3)
    with pytest.raises(np.exceptions.AxisError):
        at.join_dims(x, 3)
    with pytest.raises(ValueError, match="must be known"):
        at.split_dims(x, at.lvector())


@pytest.mark.parametrize(
    "keep_axes, shapes",
    [(None, [(2, 3), (4,), ()]), (0, [(2, 3, 4), (2, 4)]), (-1, [(2, 3), (5, 4, 3)]), ([0, -1], [(2, 3, 4), (2, 4)])],
)
def test_pack_and_unpack(keep_axes, shapes):
    values = drawn("float64", *shapes)
    inputs = [at.tensor("float64", (None,) * len(shape)) for shape in shapes]
    packed, packed_shapes = at.pack(*inputs, keep_axes=keep_axes)
    parts = aesara.function(inputs, at.unpack(packed, packed_shapes, keep_axes=keep_axes))(*values)
    for part, value in zip(parts, values):
        np.testing.assert_array_equal(part, value)
    assert packed.type.ndim == 1 + np.size([] if keep_axes is None else keep_axes)


def test_errors_of_pack():
    with pytest.raises(ValueError, match="keep_axes must name"):
        at.pack(at.matrix(), keep_axes=1)
    with pytest.raises(ValueError, match="too few dimensions"):
        at.pack(at.vector(), keep_axes=(0, -1))
    with pytest.raises(ValueError, match="at least one"):
        at.pack()


@pytest.mark.parametrize("axis, keepdims", [(None, False), (0, True), ((0, -1), False)])
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
def test_count_nonzero(axis, keepdims, dtype):
    compare(
        lambda x: at.count_nonzero(x, axis, keepdims),
        lambda x: np.asarray(np.count_nonzero(x, axis, keepdims=keepdims)),
        X.astype(dtype),
    )


@pytest.mark.parametrize("value", [X > 0, np.array(1.0), np.array(0.0), np.zeros((0, 3))])
def test_argwhere(value):
    compare(at.argwhere, np.argwhere, value, gradient=False)


def test_shapes():
    compare(at.size, lambda x: np.asarray(x.size), X)
    compare(lambda x: at.size(x, -1), lambda x: np.asarray(x.shape[-1]), X)
    compare(at.ravel, np.ravel, X)
    assert at.ndim([[1]]) == 2
    assert at.astype([1], "float32").type.dtype == "float32"
    assert (at.concat, at.permute_dims) == (at.concatenate, at.transpose)


@pytest.mark.parametrize(
    "shapes", [((2, 3), (2, 3)), ((2, 3), (3, 2)), ((3,), (4,)), ((2,), (2, 2)), ((0,), (0,)), ((0,), (1,))]
)
def test_array_equal(shapes):
    a, b = [np.ones(shape) for shape in shapes]
    compare(at.array_equal, lambda a, b: np.asarray(np.array_equal(a, b)), a, b)
    compare(at.array_equal, lambda a, b: np.asarray(np.array_equal(a, b)), a, b + 1)


def test_array_equal_with_nan():
    x = np.array([1.0, np.nan])
    for equal_nan in (False, True):
        compare(
            lambda a, b: at.array_equal(a, b, equal_nan), lambda a, b: np.asarray(np.array_equal(a, b, equal_nan)), x, x
        )


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lengths", [(3,), (2, 3), (2, 3, 4)])
def test_meshgrid(indexing, sparse, lengths):
    compare(
        lambda *xs: at.meshgrid(*xs, indexing=indexing, sparse=sparse),
        lambda *xs: list(np.meshgrid(*xs, indexing=indexing, sparse=sparse)),
        *drawn("float64", *[(n,) for n in lengths]),
    )
    with pytest.raises(ValueError, match="indexing"):
        at.meshgrid([1], indexing="yx")


@pytest.mark.parametrize("order", [("x", 0, 1), (0, "x", 1), (1, 0, "x"), ("x", 1, "x", 0), (1, 0)])
@pytest.mark.parametrize("static", [(None, None), (2, None), (1, 3), (None, 1)], ids=str)
def test_gradients_of_unknown_static_shape(order, static):
    """Gradients of moved and added dimensions need no static length of 1."""
    shape = [n or 2 for n in static]
    x, g = at.tensor("float64", shape=static), at.tensor("float64", shape=(None,) * len(order))
    arriving = np.arange(1.0, np.prod(shape) + 1).reshape(*[1 if k == "x" else shape[k] for k in order])
    (back,) = aesara.grad(None, [x], known_grads={x.dimshuffle(order): g})
    gradient = aesara.function([x, g], back, on_unused_input="ignore")(np.zeros(shape), arriving)
    kept = [k for k in order if k != "x"]
    np.testing.assert_array_equal(gradient, arriving.reshape([shape[k] for k in kept]).transpose(np.argsort(kept)))
