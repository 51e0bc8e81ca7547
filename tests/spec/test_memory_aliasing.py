"""The examples of the documentation of memory aliasing."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.io import In, Out


def test_shared_variables_copy_unless_they_borrow():
    np_array = np.ones(2, dtype="float32")
    s_default = aesara.shared(np_array)
    s_false = aesara.shared(np_array, borrow=False)
    s_true = aesara.shared(np_array, borrow=True)
    np_array += 1
    np.testing.assert_array_equal(s_default.get_value(), [1, 1])
    np.testing.assert_array_equal(s_false.get_value(), [1, 1])
    np.testing.assert_array_equal(s_true.get_value(), [2, 2])


def test_get_value_copies_unless_it_borrows():
    s = aesara.shared(np.ones(2))
    v_false = s.get_value(borrow=False)
    v_true = s.get_value(borrow=True)
    v_internal = s.get_value(borrow=True, return_internal_type=True)
    assert not np.shares_memory(v_false, v_true)
    assert np.shares_memory(v_true, v_internal)
    v_false[:] = 7
    np.testing.assert_array_equal(s.get_value(), [1, 1])
    copy = s.get_value(borrow=False, return_internal_type=True)
    assert not np.shares_memory(copy, v_internal)


def test_the_pattern_of_manual_updates():
    def some_inplace_fn(value):
        value *= 3
        return value

    s = aesara.shared(np.ones(2))
    s.set_value(some_inplace_fn(s.get_value(borrow=True)), borrow=True)
    np.testing.assert_array_equal(s.get_value(), [3, 3])


def test_set_value_copies_unless_it_borrows():
    s = aesara.shared(np.zeros(2))
    value = np.ones(2)
    s.set_value(value)
    value += 1
    np.testing.assert_array_equal(s.get_value(), [1, 1])
    s.set_value(value, borrow=True)
    value += 1
    np.testing.assert_array_equal(s.get_value(), [3, 3])


def test_shared_buffers_never_alias():
    a, b = aesara.shared(np.zeros(3)), aesara.shared(np.ones(3))
    f = aesara.function([], [], updates=[(a, b), (b, b)])
    f()
    assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))
    swap = aesara.function([], [], updates=[(a, b + 0), (b, a)])
    b.set_value(np.full(3, 5.0))
    swap()
    np.testing.assert_array_equal(a.get_value(), [5, 5, 5])
    np.testing.assert_array_equal(b.get_value(), [1, 1, 1])
    assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))


def test_borrowing_in_functions():
    x = at.matrix()
    f = aesara.function([In(x, borrow=True)], Out(2 * x, borrow=True))
    np.testing.assert_array_equal(f(np.ones((2, 2))), np.full((2, 2), 2.0))


def test_functions_leave_their_arguments_alone():
    x = at.matrix()
    value = np.ones((2, 2))
    f = aesara.function([x], [at.exp(x), x, x.T, at.inc_subtensor(x[0], 1.0)])
    results = f(value)
    np.testing.assert_array_equal(value, np.ones((2, 2)))
    for result in results:
        assert not np.shares_memory(result, value)


def test_outputs_are_fresh():
    x = at.vector()
    s = aesara.shared(np.ones(3))
    f = aesara.function([x], [x * 2, s])
    first, state = f(np.ones(3))
    second, _ = f(np.zeros(3))
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(state, s.get_value(borrow=True))
    np.testing.assert_array_equal(first, [2, 2, 2])


def test_outputs_do_not_alias_one_another():
    x = at.vector()
    a, b = aesara.function([x], [x + 1, (x + 1)[::-1]])(np.arange(3.0))
    a[:] = -1
    np.testing.assert_array_equal(b, [3, 2, 1])
