"""Partial updates of shared variables are in place if the memory is not shared."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.subtensor import inc_subtensor, set_subtensor

START = np.arange(20.0).reshape(5, 4)


def set_at(x, index, value):
    x[index] = value
    return x


def add_at(x, index, value):
    np.add.at(x, index, value)
    return x


#: new values by graphs and by NumPy, from the old value s, a matrix v, a vector of positions j and a position i
UPDATES = {
    "row set": (lambda s, v, j, i: set_subtensor(s[i], v[0]), lambda s, v, j, i: set_at(s, i, v[0])),
    "rows set": (lambda s, v, j, i: set_subtensor(s[1:4], v), lambda s, v, j, i: set_at(s, slice(1, 4), v)),
    "rows added to": (lambda s, v, j, i: inc_subtensor(s[j], v), lambda s, v, j, i: add_at(s, j, v)),
    "column set": (lambda s, v, j, i: set_subtensor(s[:, 1], i), lambda s, v, j, i: set_at(s, np.s_[:, 1], i)),
    "by a step": (lambda s, v, j, i: inc_subtensor(s[::-2], v), lambda s, v, j, i: add_at(s, np.s_[::-2], v)),
    "moved down": (
        lambda s, v, j, i: set_subtensor(s[1:], s[:-1]),
        lambda s, v, j, i: set_at(s, np.s_[1:], s[:-1].copy()),
    ),
    "moved up": (
        lambda s, v, j, i: set_subtensor(s[:-1], s[1:] + 1),
        lambda s, v, j, i: set_at(s, np.s_[:-1], s[1:] + 1),
    ),
    "from rows": (
        lambda s, v, j, i: inc_subtensor(s[j], 2 * (s[j] - v)),
        lambda s, v, j, i: add_at(s, j, 2 * (s[j] - v)),
    ),
    "by a sum": (lambda s, v, j, i: set_subtensor(s[i], s.sum(axis=0)), lambda s, v, j, i: set_at(s, i, s.sum(axis=0))),
    "twice": (
        lambda s, v, j, i: inc_subtensor(set_subtensor(s[1:4], v)[j], v),
        lambda s, v, j, i: add_at(set_at(s, slice(1, 4), v), j, v),
    ),
    "twice, from the old value": (
        lambda s, v, j, i: inc_subtensor(set_subtensor(s[1:4], v)[i], s[0]),
        lambda s, v, j, i: add_at(set_at(s.copy(), slice(1, 4), v), i, s[0]),
    ),
    "once": (
        lambda s, v, j, i: inc_subtensor(s[j], v, ignore_duplicates=True),
        lambda s, v, j, i: set_at(s, j, s[j] + v),
    ),
    "mask": (lambda s, v, j, i: set_subtensor(s[s > 7], i), lambda s, v, j, i: set_at(s, s > 7, i)),
    "mask of rows": (
        lambda s, v, j, i: inc_subtensor(s[s[:, 0] > 7], v),
        lambda s, v, j, i: add_at(s, s[:, 0] > 7, v),
    ),
    "of another": (lambda s, v, j, i: set_subtensor((2 * s)[i], v[0]), lambda s, v, j, i: set_at(2 * s, i, v[0])),
    "transposed": (lambda s, v, j, i: set_subtensor(s[1:4].T, v.T).T, lambda s, v, j, i: set_at(s, slice(1, 4), v)),
}
VALUES = (np.arange(12.0).reshape(3, 4) / 3, np.array([1, -1, 1]), 2)


def inputs():
    return at.dmatrix("v"), at.lvector("j"), at.lscalar("i")


@pytest.mark.parametrize("name", UPDATES)
def test_values(name):
    graph, numpy = UPDATES[name]
    shared = aesara.shared(START.copy())
    variables = inputs()
    outputs = [shared.sum(), shared[0] + 1, shared]
    f = aesara.function(variables, outputs, updates={shared: graph(shared, *variables)}, on_unused_input="ignore")
    g = aesara.function(variables, [], updates={shared: graph(shared, *variables)}, on_unused_input="ignore")
    expected = START.copy()
    for function in (f, g, g, f, g):
        before = expected.copy()
        results = function(*VALUES)
        expected = numpy(expected, *VALUES)
        np.testing.assert_array_equal(shared.get_value(), expected)
        if function is f:
            np.testing.assert_allclose(results[0], before.sum(), rtol=1e-15)
            np.testing.assert_array_equal(results[1], before[0] + 1)
            np.testing.assert_array_equal(results[2], before)


@pytest.mark.parametrize("name", sorted(set(UPDATES) - {"by a sum", "once", "of another", "transposed"}))
def test_memory_is_kept(name):
    shared = aesara.shared(START.copy())
    variables = inputs()
    f = aesara.function(variables, [], updates={shared: UPDATES[name][0](shared, *variables)}, on_unused_input="ignore")
    f(*VALUES)
    address = shared.get_value(borrow=True).ctypes.data
    f(*VALUES)
    assert shared.get_value(borrow=True).ctypes.data == address


@pytest.mark.parametrize("name", UPDATES)
def test_memory_seen_by_others_is_not_overwritten(name):
    graph, numpy = UPDATES[name]
    shared = aesara.shared(START.copy())
    variables = inputs()
    f = aesara.function(variables, [], updates={shared: graph(shared, *variables)}, on_unused_input="ignore")
    f(*VALUES)
    seen = shared.get_value(borrow=True)
    view = seen[1:]
    before = seen.copy()
    f(*VALUES)
    np.testing.assert_array_equal(seen, before)
    np.testing.assert_array_equal(view, before[1:])
    np.testing.assert_array_equal(shared.get_value(), numpy(before.copy(), *VALUES))


def test_calls_that_fail_change_nothing():
    shared, other = aesara.shared(START.copy()), aesara.shared(np.zeros(3))
    v, j, i = inputs()
    f = aesara.function(
        [v, j, i],
        [],
        updates={shared: inc_subtensor(set_subtensor(shared[i], 0.0)[j], v), other: set_subtensor(other[i], 1.0)},
    )
    good = np.ones((3, 4))
    for bad in ((good, [0, 9, 1], 2), (good, [0, 1, 1], 7), (good[:2], [0, 1, 1], 2), (good, [0, 1, 1], 4)):
        with pytest.raises((IndexError, ValueError)):
            f(*bad)
        np.testing.assert_array_equal(shared.get_value(), START)
        np.testing.assert_array_equal(other.get_value(), np.zeros(3))
    f(good, [0, 1, 1], 2)
    assert other.get_value()[2] == 1.0


def test_two_variables_written_from_each_other():
    a, b = aesara.shared(START.copy()), aesara.shared(START[::-1].copy())
    f = aesara.function([], [], updates={a: set_subtensor(a[1:3], b[:2]), b: inc_subtensor(b[[0, 0]], a[1:3])})
    expected_a, expected_b = START.copy(), START[::-1].copy()
    for _ in range(3):
        f()
        old_a, old_b = expected_a.copy(), expected_b.copy()
        expected_a[1:3] = old_b[:2]
        np.add.at(expected_b, [0, 0], old_a[1:3])
        np.testing.assert_array_equal(a.get_value(), expected_a)
        np.testing.assert_array_equal(b.get_value(), expected_b)
