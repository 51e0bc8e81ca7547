"""Lengths that become known when a graph is rewritten, after the types of variables were made."""

import contextlib
import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.traversal import ancestors
from aesara.ifelse import ifelse
from aesara.tensor.core.check_and_raise import CheckAndRaise

X = np.arange(6.0).reshape(2, 3)
A = np.arange(2.0) - 3


def with_unit_dimensions(x):
    """Of shape (n, 1, m), but the type does not say so of the middle."""
    return at.unbroadcast(x.dimshuffle(0, "x", 1, "x"), 1, 3).sum(3)


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_outer_products_of_what_is_no_longer_broadcast(mode):
    a, x = at.dvector("a"), at.dmatrix("x")
    product = at.tensordot(a, with_unit_dimensions(x), axes=0)
    f = aesara.function([a, x], [product, product.shape, aesara.grad(product.sum(), a)], mode=mode)
    value, shape, slope = f(A, X)
    np.testing.assert_array_equal(value, np.tensordot(A, X[:, None, :], axes=0))
    np.testing.assert_array_equal(shape, (2, 2, 1, 3))
    np.testing.assert_array_equal(slope, np.full(2, X.sum()))


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("condition", [0, 1])
def test_sides_of_a_choice_with_other_static_shapes(mode, condition):
    a, x, c = at.dvector("a"), at.TensorType("float64", (None, 1, None))("x"), at.bscalar("c")
    y = at.TensorType("float64", (None, None, 3))("y")
    product = at.tensordot(a, ifelse(c, x, y).max(0), axes=0)
    f = aesara.function([a, x, y, c], [product.shape, aesara.grad(product.sum(), a)], mode=mode)
    values = X[:, None, :], np.ones((2, 4, 3))
    chosen = values[0 if condition else 1].max(0)
    shape, slope = f(A, *values, condition)
    np.testing.assert_array_equal(shape, (2, *chosen.shape))
    np.testing.assert_array_equal(slope, np.full(2, chosen.sum()))


@pytest.mark.parametrize("lengths", [(1, None), (None, 1), (None, 1, None), (None, None, 1), (1, None, 1)])
@pytest.mark.parametrize("missing", [None, 0, -1])
def test_shapes_of_reshaped_arrays(lengths, missing):
    """Each length is 1 and known late, or a size; perhaps one is worked out at run time."""
    x = at.dmatrix("x")
    unit = at.unbroadcast(x.sum(keepdims=True), 0, 1)
    entries = [unit.shape[0] if n == 1 else x.shape[k % 2] for k, n in enumerate(lengths)]
    expected = [1 if n == 1 else X.shape[k % 2] for k, n in enumerate(lengths)]
    if missing is not None:
        entries[missing] = x.shape[0] - 3
    y = at.alloc(x.sum(), *expected).reshape(entries)
    f = aesara.function([x], [y.shape, at.ones_like(y).sum(), y])
    shape, count, value = f(X)
    np.testing.assert_array_equal(shape, expected)
    assert count == np.prod(expected) and value.shape == tuple(expected)


@pytest.mark.parametrize("missing", [None, 0, 1, 2])
@pytest.mark.parametrize("late", itertools.product([False, True], repeat=3))
def test_lengths_of_a_reshaped_array_whose_type_does_not_know_them(late, missing):
    """Some are constants only after the node was made, some when it was, and -1 is of either kind."""
    expected = (1, 2, 3)
    x, entries = at.dmatrix("x"), [at.lscalar() for _ in expected]
    values = [-1 if k == missing else n for k, n in enumerate(expected)]
    constants = [at.constant(value, dtype="int64") for value in values]
    shape = at.stack([entry if is_late else c for entry, c, is_late in zip(entries, constants, late)])
    y = at.reshape(x, shape, ndim=3)
    graph = FunctionGraph([x, *entries], [y], clone=False)
    graph.replace(shape, at.stack(constants), import_missing=True)
    lengths = y.owner.op.infer_shape(graph, y.owner, [(x.shape[0], x.shape[1]), (3,)])[0]
    assert len(lengths) == 3
    np.testing.assert_array_equal(aesara.function([x], at.stack(lengths), on_unused_input="ignore")(X), expected)


@pytest.mark.parametrize("length", [None, 1, 3])
def test_gradients_of_values_that_may_have_been_repeated(length):
    v = at.tensor("float64", (length,))
    gradient = aesara.grad((at.alloc(v, 2, 3) * np.arange(6.0).reshape(2, 3)).sum(), v)
    checks = [u for u in ancestors([gradient]) if u.owner and isinstance(u.owner.op, CheckAndRaise)]
    assert bool(checks) == (length is None)
    f = aesara.function([v], gradient)
    if length != 3:
        with pytest.raises(ValueError, match="that was repeated") if length is None else contextlib.nullcontext():
            np.testing.assert_array_equal(f(np.ones(1)), [15.0])
    if length != 1:
        np.testing.assert_array_equal(f(np.ones(3)), [3.0, 5.0, 7.0])
