"""Writes to places that an index names several times: the last one counts, for values and for gradients."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.traversal import applys_between
from aesara.tensor.indexing.distinct_positions import have_distinct_positions
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1

MODES = ["FAST_RUN", "FAST_COMPILE"]
FULL = slice(None)

#: a shape, an index in which places repeat (None: a new dimension), and the shape of what is written
CASES = {
    "rows": ((3,), ([0, 0],), (2,)),
    "rows of a matrix": ((3, 2), ([2, 0, 2, 2],), (4, 2)),
    "a row for each": ((3, 2), ([2, 0, 2, 2],), (2,)),
    "a column for each": ((3, 2), ([2, 0, 2, 2],), (4, 1)),
    "one number": ((3,), ([0, 0, 1],), ()),
    "counted from the end": ((3,), ([0, -3, 1, -2, 1],), (5,)),
    "a column": ((5, 1), ([0, 4, 0, 0, 0, 0, 0, 0],), (8, 1)),
    "columns": ((2, 3), (FULL, [1, 1, 0, -2]), (2, 4)),
    "columns, one row": ((2, 3), (FULL, [1, 1, 0, -2]), (4,)),
    "a matrix of rows": ((3, 2), ([[0, 1], [0, -2]],), (2, 2, 2)),
    "a matrix of rows, broadcast": ((3, 2), ([[0, 1], [0, -2]],), (2, 1, 1)),
    "elements": ((3, 4), ([0, 1, 0, -3], [1, 1, 1, -3]), (4,)),
    "broadcast indices": ((3, 4), ([[0], [1], [-3]], [[1, 3, 1]]), (3, 3)),
    "broadcast indices, a column": ((3, 4), ([[0], [1], [-3]], [[1, 3, 1]]), (3, 1)),
    "an integer and rows": ((2, 3), (1, [0, 2, 0]), (3,)),
    "apart": ((3, 2, 3), ([0, 0, 1], FULL, [1, 1, 2]), (3, 2)),
    "apart, one number for each": ((3, 2, 3), ([0, 0, 1], FULL, [1, 1, 2]), (3, 1)),
    "slices around": ((2, 3, 4), (slice(None, None, -1), [2, 2, 0], slice(1, 3)), (2, 3, 2)),
    "a new dimension": ((3, 2), (None, [0, 0, 1]), (1, 3, 2)),
    "a new dimension behind": ((3, 2), ([0, 0, 1], None), (3, 1, 2)),
    "a mask beside positions": ((3, 4), ([True, False, True], [1, 1]), (2,)),
    "a mask and a slice": ((3, 4), ([True, False, True], slice(1, 3)), (2, 2)),
    "nothing": ((3,), (np.zeros(0, dtype="int64"),), (0,)),
}


def entries(index):
    return tuple(np.asarray(entry) if isinstance(entry, list) else entry for entry in index)


def share_of_each(shape, index, of_value, cotangent):
    """The gradient of what is written, from that of the tensor, by writing one number after the other."""
    index = entries(index)
    places = np.arange(np.prod(shape, dtype=int)).reshape(shape)[index]
    writers = np.broadcast_to(np.arange(np.prod(of_value, dtype=int)).reshape(of_value), places.shape)
    last = dict(zip(places.ravel().tolist(), writers.ravel().tolist()))
    gradient = np.zeros(np.prod(of_value, dtype=int))
    for place, writer in last.items():
        gradient[writer] += cotangent.ravel()[place]
    return gradient.reshape(of_value)


def graph_of(name, symbolic, ignore_duplicates=False):
    shape, index, of_value = CASES[name]
    x = at.tensor("float64", shape=[1 if n == 1 else None for n in shape])
    y = at.tensor("float64", shape=[1 if n == 1 else None for n in of_value])
    arrays = [entry for entry in entries(index) if isinstance(entry, np.ndarray)]
    given = []
    if symbolic:
        given = [at.tensor(a.dtype.name, shape=[1 if n == 1 else None for n in a.shape]) for a in arrays]
    left = iter(given or arrays)
    part = x[tuple(next(left) if isinstance(entry, np.ndarray) else entry for entry in entries(index))]
    if ignore_duplicates:
        changed = part.inc(y, ignore_duplicates=True)
    else:
        changed = at.set_subtensor(part, y)
    values = [np.zeros(shape), 1.0 + np.arange(np.prod(of_value, dtype=int)).reshape(of_value)]
    return x, y, given, changed, [*values, *(arrays if symbolic else [])]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_gradients_of_what_is_overwritten_are_zero(name, symbolic, mode):
    shape, index, of_value = CASES[name]
    x, y, given, changed, values = graph_of(name, symbolic)
    cotangent = 1.0 + np.arange(np.prod(shape, dtype=int)).reshape(shape)
    gradients = aesara.grad((changed * cotangent).sum(), [x, y])
    written, g_x, g_y = aesara.function([x, y, *given], [changed, *gradients], mode=mode)(*values)
    expected = np.zeros(shape)
    places = np.arange(expected.size).reshape(shape)[entries(index)]
    for place, value in zip(places.ravel(), np.broadcast_to(values[1], places.shape).ravel()):
        expected.ravel()[place] = value
    np.testing.assert_array_equal(written, expected)
    np.testing.assert_array_equal(g_y, share_of_each(shape, index, of_value, cotangent))
    np.testing.assert_array_equal(g_x, np.where(expected == 0, cotangent, 0.0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["rows", "counted from the end", "broadcast indices", "apart"])
def test_what_is_added_once_has_the_gradient_of_the_last(name, mode):
    shape, index, of_value = CASES[name]
    x, y, given, changed, values = graph_of(name, True, ignore_duplicates=True)
    cotangent = 1.0 + np.arange(np.prod(shape, dtype=int)).reshape(shape)
    gradients = aesara.grad((changed * cotangent).sum(), [x, y])
    g_x, g_y = aesara.function([x, y, *given], gradients, mode=mode)(*values)
    np.testing.assert_array_equal(g_y, share_of_each(shape, index, of_value, cotangent))
    np.testing.assert_array_equal(g_x, cotangent)


@pytest.mark.parametrize("mode", MODES)
def test_a_slope_that_is_infinite_where_a_value_is_overwritten_leaves_a_zero(mode):
    x, y, i = at.dvector("x"), at.dvector("y"), at.lvector("i")
    written = at.set_subtensor(x[i], y)
    # The cotangent of the place is infinite; what was overwritten there has no part in it.
    f = aesara.function([x, y, i], aesara.grad(at.sqrt(written).sum(), y), mode=mode)
    np.testing.assert_array_equal(f(np.ones(3), [5.0, 0.0, 4.0], [1, 1, 2]), [0.0, np.inf, 0.25])


@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives(mode):
    x, y, i = at.dvector("x"), at.dvector("y"), at.lvector("i")
    cost = (at.set_subtensor(x[i], y) ** 3).sum()
    f = aesara.function([x, y, i], aesara.gradient.hessian(cost, y), mode=mode)
    np.testing.assert_array_equal(f(np.ones(3), [2.0, 3.0, 4.0], [1, 1, -3]), np.diag([0.0, 18.0, 24.0]))


@pytest.mark.parametrize("mode", MODES)
def test_forward_mode(mode):
    x, y, i, v = at.dvector("x"), at.dvector("y"), at.lvector("i"), at.dvector("v")
    changed = at.set_subtensor(x[i], y**2)
    f = aesara.function([x, y, i, v], aesara.gradient.Rop(changed, y, v), mode=mode)
    np.testing.assert_array_equal(f(np.ones(3), [2.0, 3.0, 4.0], [1, -2, 2], [5.0, 7.0, 9.0]), [0.0, 42.0, 72.0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batched", ["y", "x", "i", "xyi"])
def test_batches(batched, mode):
    x, y, i = at.dvector("x"), at.dvector("y"), at.lvector("i")
    values = {x: np.ones(3), y: np.array([2.0, 3.0, 4.0]), i: np.array([1, -2, 2])}
    others = {x: np.zeros(3), y: np.array([5.0, 6.0, 7.0]), i: np.array([0, 1, -3])}

    def slope(x, y, i):
        return aesara.grad((at.set_subtensor(x[i], y) ** 2).sum(), y)

    one = aesara.function([x, y, i], slope(x, y, i), mode=mode)
    turned = [v for v, letter in zip((x, y, i), "xyi") if letter in batched]
    signature = ",".join("(n)" if letter == "x" else "(k)" for letter in "xyi") + "->(k)"
    arguments = [at.tensor(v.dtype, shape=(None, None)) if v in turned else v for v in (x, y, i)]
    f = aesara.function(arguments, at.vectorize(slope, signature=signature)(*arguments), mode=mode)
    found = f(*[np.stack([values[v], others[v]]) if v in turned else values[v] for v in (x, y, i)])
    rows = [{**values}, {**values, **{v: others[v] for v in turned}}]
    np.testing.assert_array_equal(found, [one(*[row[v] for v in (x, y, i)]) for row in rows])
    np.testing.assert_array_equal(found[0], [0.0, 6.0, 8.0])


@pytest.mark.parametrize("mode", MODES)
def test_in_the_step_of_a_scan(mode):
    x, ys, i = at.dvector("x"), at.dmatrix("ys"), at.lmatrix("i")
    states, _ = aesara.scan(lambda i, y, x: at.set_subtensor(x[i], y), sequences=[i, ys], outputs_info=x)
    weights = np.array([1.0, 10.0, 100.0])
    f = aesara.function([x, ys, i], aesara.grad((states * weights).sum(), [x, ys]), mode=mode)
    g_x, g_ys = f(np.ones(3), [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]], [[1, -2, 2], [0, 0, -1]])
    np.testing.assert_array_equal(g_x, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(g_ys, [[0.0, 20.0, 100.0], [0.0, 1.0, 100.0]])


@pytest.mark.parametrize("mode", MODES)
def test_put_along_axis(mode):
    x, i, y = at.dmatrix("x"), at.lmatrix("i"), at.dmatrix("y")
    written = at.put_along_axis(x, i, y, axis=1)
    weights = np.arange(1.0, 7.0).reshape(2, 3)
    f = aesara.function([x, i, y], [written, aesara.grad((written * weights).sum(), y)], mode=mode)
    written, slopes = f(np.zeros((2, 3)), [[0, 2, 0], [1, -2, 1]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    np.testing.assert_array_equal(written, [[3.0, 0.0, 2.0], [0.0, 6.0, 0.0]])
    np.testing.assert_array_equal(slopes, [[0.0, 3.0, 1.0], [0.0, 0.0, 5.0]])


LAYOUTS = {
    "in Fortran's order": lambda y: np.asfortranarray(y),
    "reversed": lambda y: y[::-1, ::-1].copy()[::-1, ::-1],
    "spread": lambda y: np.repeat(y, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("once", [False, True])
def test_the_last_in_row_major_order_counts_however_a_value_lies_in_memory(layout, once, mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    i, j = at.lmatrix("i"), at.lmatrix("j")
    part = x[i, j]
    changed = part.inc(y, ignore_duplicates=True) if once else at.set_subtensor(part, y)
    f = aesara.function([x, y, i, j], changed, mode=mode)
    value = LAYOUTS[layout](np.array([[1.0, 2.0], [3.0, 4.0]]))
    for rows, columns in [(np.zeros((2, 1), int), np.zeros((1, 2), int)), (np.zeros((2, 2), int),) * 2]:
        assert f(np.zeros((2, 2)), value, rows, columns)[0, 0] == 4.0
        everywhere = np.broadcast_to(np.zeros((), int), (2, 2))
        assert f(np.zeros((2, 2)), value, everywhere, everywhere)[0, 0] == 4.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("once", [False, True])
def test_the_last_counts_of_a_reversed_value_at_positions_that_are_repeated_in_memory(once, mode):
    x, y, i, j = at.dmatrix("x"), at.dvector("y"), at.lvector("i"), at.lvector("j")
    part = x[i, j]
    changed = part.inc(y, ignore_duplicates=True) if once else at.set_subtensor(part, y)
    f = aesara.function([x, y, i, j], changed, mode=mode)
    everywhere = np.broadcast_to(np.zeros((), int), (4,))
    assert f(np.zeros((2, 2)), np.arange(1.0, 5.0)[::-1], everywhere, everywhere)[0, 0] == 1.0


# Indices that are known to name each place once


def _distinct():
    n, v, a, i = at.lscalar("n"), at.dvector("v"), at.dmatrix("a"), at.lvector("i")
    rows, columns = at.nonzero(a)
    column, order = at.arange(n).dimshuffle(0, "x"), at.argsort(a, axis=1)
    return {
        "constants": [at.as_tensor([0, 2, 1])],
        "pairs of constants": [at.as_tensor([0, 0, 1]), at.as_tensor([1, 2, 1])],
        "a mesh": [at.as_tensor([[0], [2]]), at.as_tensor([[1, 0]])],
        "from the end": [at.as_tensor([-1, 0])],
        "mask": [at.bvector("b") > 0],
        "matrix of truth values": [a > 0],
        "mask and number": [at.bvector("b") > 0, at.as_tensor([1])],
        "nonzero of a vector": [at.nonzero(v)[0]],
        "nonzero of a matrix": [rows, columns],
        "range": [at.arange(n)],
        "shifted range": [at.arange(n) + 1],
        "part of a range": [at.arange(n)[::-2]],
        "order": [at.argsort(v)],
        "reversed order": [at.argsort(v)[::-1]],
        "largest": [at.argtopk(v, 3)],
        "permutation": [at.random.permutation(n)],
        "without replacement": [at.random.choice(n, size=(3,), replace=False)],
        "orders of rows": [at.arange(order.shape[0]).dimshuffle(0, "x"), order],
        "one for each row": [at.arange(i.shape[0]), i],
        "open mesh": [column, at.arange(n).dimshuffle("x", 0)],
        "range and a number": [at.arange(n), at.lscalar("k")],
        "one number": [at.lscalar("k"), at.lscalar("l")],
        "behind a slice": [slice(None), at.arange(n)],
    }


def _maybe_repeated():
    n, v, a = at.lscalar("n"), at.dvector("v"), at.dmatrix("a")
    rows, _ = at.nonzero(a)
    column, order = at.arange(n).dimshuffle(0, "x"), at.argsort(a, axis=0)
    return {
        "constants": [at.as_tensor([0, 0])],
        "counted from the end": [at.as_tensor([0, -4])],
        "pairs": [at.as_tensor([0, 0, -4]), at.as_tensor([1, 2, 1])],
        "one of the nonzeros": [rows],
        "one of the nonzeros twice": [rows, rows],
        "unknown": [at.lvector("i")],
        "range from the end": [at.arange(-2, n)],
        "orders, not of rows": [at.arange(order.shape[0]).dimshuffle(0, "x"), order],
        "orders and unknown rows": [column, at.argsort(a, axis=1)],
        # A range of length 1 is repeated for the other one.
        "range and unknown": [at.arange(n), at.lvector("i")],
        "order and unknown": [at.argsort(v), at.lvector("i")],
        "with replacement": [at.random.choice(n, size=(3,))],
        "narrow": [at.arange(n, dtype="int8")],
    }


@pytest.mark.parametrize("name", sorted(_distinct()))
def test_nothing_more_is_computed_where_no_place_repeats(name):
    x, index = at.tensor("float64", shape=(4, 4)), _distinct()[name]
    y = at.dscalar("y")
    variables = [entry for entry in index if not isinstance(entry, slice)]
    changed = at.set_subtensor(x[tuple(index)], y)
    slope = aesara.grad((changed**2).sum(), y)
    inputs = [x, y, *variables]
    writes = [
        n for n in applys_between(inputs, [slope]) if isinstance(n.op, AdvancedIncSubtensor | AdvancedIncSubtensor1)
    ]
    assert len(writes) <= 1


@pytest.mark.parametrize("name", sorted(_maybe_repeated()))
def test_places_that_may_repeat(name):
    assert not have_distinct_positions((4, 4), _maybe_repeated()[name])
