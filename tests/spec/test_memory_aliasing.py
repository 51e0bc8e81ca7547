"""Every sentence of the documentation of memory aliasing, in native code and on the reference machine."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.io import In, Out

MODES = ("FAST_RUN", "FAST_COMPILE")


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def buffer_of(shared):
    return shared.get_value(borrow=True)


def outputs_of(x):
    """Expressions in memory of their own, and views."""
    return {
        "computed": at.exp(x),
        "itself": x,
        "transposed": x.T,
        "row": x[0],
        "part": x[::-1, 1:],
        "reshaped": x.reshape((x.size,)),
        "flat": x.flatten(),
        "with a new axis": x[:, None],
        "written over": at.inc_subtensor(x[0], 1.0),
    }


# The memory model: two spaces


def test_managed_memory_does_not_overlap_with_the_users(mode):
    given = np.ones((2, 3))
    s = aesara.shared(given)
    x = at.dmatrix("x")
    f = aesara.function([x], [*outputs_of(x).values(), *outputs_of(s).values()], updates=[(s, s + x)], mode=mode)
    results = f(given)
    for number, result in enumerate(results):
        assert not np.shares_memory(result, given)
        assert not np.shares_memory(result, buffer_of(s))
        assert not any(np.shares_memory(result, other) for other in results[number + 1 :])
    assert not np.shares_memory(buffer_of(s), given)


def test_functions_only_modify_buffers_in_managed_memory(mode):
    given, s = np.arange(6.0).reshape(2, 3), aesara.shared(np.ones((2, 3)))
    before = given.copy()
    x = at.dmatrix("x")
    constant = at.constant(np.full((2, 3), 5.0))
    outputs = [at.inc_subtensor(one[0], 1.0) for one in (x, s, constant)]
    f = aesara.function([x], outputs, mode=mode)
    for _ in range(2):
        first, second, third = f(given)
        np.testing.assert_array_equal(first, before + [[1], [0]])
        np.testing.assert_array_equal(second, np.ones((2, 3)) + [[1], [0]])
        np.testing.assert_array_equal(third, np.full((2, 3), 5.0) + [[1], [0]])
    np.testing.assert_array_equal(given, before)
    np.testing.assert_array_equal(constant.data, np.full((2, 3), 5.0))
    np.testing.assert_array_equal(s.get_value(), np.ones((2, 3)))


def test_results_of_former_calls_stay(mode):
    x = at.dmatrix("x")
    f = aesara.function([x], list(outputs_of(x).values()), mode=mode)
    first = f(np.ones((2, 3)))
    copies = [result.copy() for result in first]
    f(np.full((2, 3), 7.0))
    for result, expected in zip(first, copies):
        np.testing.assert_array_equal(result, expected)


def test_what_the_user_does_with_results_has_no_effect_on_later_calls(mode):
    s, x = aesara.shared(np.ones((2, 3))), at.dmatrix("x")
    constant = at.constant(np.arange(3.0))
    f = aesara.function([x], [s, s.T, constant, constant[::-1], x + 1], mode=mode)
    expected = [result.copy() for result in f(np.ones((2, 3)))]
    for result in f(np.ones((2, 3))):
        result[...] = -1
    for result, value in zip(f(np.ones((2, 3))), expected):
        np.testing.assert_array_equal(result, value)


def test_buffers_of_shared_variables_are_never_aliased(mode):
    value = np.arange(3.0)
    a, b = aesara.shared(value), aesara.shared(value)
    assert not np.shares_memory(buffer_of(a), buffer_of(b))
    x = at.dvector("x")
    given = np.full(3, 9.0)
    for updates in (
        [(a, b)],
        [(a, b), (b, a)],
        [(a, x), (b, x)],
        [(a, x + 1), (b, x + 1)],
        [(a, (x + 1)[::-1]), (b, x + 1)],
        [(a, at.constant(value)), (b, at.constant(value))],
        [(a, a[::-1]), (b, a)],
        [(a, at.inc_subtensor(a[1:], 1.0)), (b, a)],
    ):
        f = aesara.function([x], [], updates=updates, mode=mode, on_unused_input="ignore")
        for _ in range(2):
            f(given)
            assert not np.shares_memory(buffer_of(a), buffer_of(b))
            assert not np.shares_memory(buffer_of(a), given) and not np.shares_memory(buffer_of(b), given)
    np.testing.assert_array_equal(given, np.full(3, 9.0))


def test_swapped_and_repeated_updates(mode):
    a, b = aesara.shared(np.zeros(3)), aesara.shared(np.ones(3))
    swap = aesara.function([], [], updates=[(a, b), (b, a)], mode=mode)
    for k in range(3):
        swap()
        np.testing.assert_array_equal(a.get_value(), np.full(3, float(k % 2 == 0)))
        np.testing.assert_array_equal(b.get_value(), np.full(3, float(k % 2 == 1)))
    turn = aesara.function([], [], updates=[(a, a[::-1])], mode=mode)
    a.set_value(np.arange(3.0))
    turn()
    np.testing.assert_array_equal(a.get_value(), [2, 1, 0])
    turn()
    np.testing.assert_array_equal(a.get_value(), [0, 1, 2])


def test_updates_read_the_old_values(mode):
    a, b = aesara.shared(np.arange(3.0)), aesara.shared(np.ones(3))
    f = aesara.function([], [a, a + b], updates=[(a, a + b), (b, a * 2)], mode=mode)
    old, total = f()
    np.testing.assert_array_equal(old, [0, 1, 2])
    np.testing.assert_array_equal(total, [1, 2, 3])
    np.testing.assert_array_equal(a.get_value(), [1, 2, 3])
    np.testing.assert_array_equal(b.get_value(), [0, 2, 4])
    for result in (old, total):
        assert not np.shares_memory(result, buffer_of(a)) and not np.shares_memory(result, buffer_of(b))


def test_an_update_to_a_constant_does_not_hand_the_constant_out(mode):
    a = aesara.shared(np.zeros(3))
    f = aesara.function([], [], updates=[(a, at.constant(np.arange(3.0)))], mode=mode)
    f()
    buffer_of(a)[:] = 8
    f()
    np.testing.assert_array_equal(a.get_value(), [0, 1, 2])


def test_managed_memory_is_constant_between_calls(mode):
    s, x = aesara.shared(np.arange(3.0)), at.dvector("x")
    f = aesara.function([x], Out(s * x, borrow=True), updates=[(s, s + x)], mode=mode)
    result = f(np.ones(3))
    held, before = buffer_of(s), s.get_value()
    other = aesara.function([x], at.exp(x) + 1, mode=mode)
    other(np.ones(3))
    np.testing.assert_array_equal(held, before)
    np.testing.assert_array_equal(result, [0, 1, 2])


# Borrowing when creating shared variables


@pytest.mark.parametrize("borrow", [None, False])
def test_shared_variables_get_a_deep_copy(borrow):
    np_array = np.ones(2, dtype="float32")
    s = aesara.shared(np_array) if borrow is None else aesara.shared(np_array, borrow=borrow)
    np_array += 1
    np.testing.assert_array_equal(s.get_value(), [1, 1])
    assert s.get_value().dtype == "float32"
    nested = [["a"], ["b"]]
    s = aesara.shared(nested) if borrow is None else aesara.shared(nested, borrow=borrow)
    nested[0].append("c")
    assert s.get_value() == [["a"], ["b"]]


def test_shared_variables_that_borrow_use_the_array_itself():
    np_array = np.ones(2, dtype="float32")
    s = aesara.shared(np_array, borrow=True)
    np_array += 1
    np.testing.assert_array_equal(s.get_value(), [2, 2])
    assert buffer_of(s) is np_array
    nested = [["a"]]
    assert aesara.shared(nested, borrow=True).get_value(borrow=True) is nested


def test_an_update_may_end_the_aliasing_and_is_right_in_any_case(mode):
    np_array = np.ones(3)
    s = aesara.shared(np_array, borrow=True)
    view = np_array[1:]
    f = aesara.function([], [], updates=[(s, s * 2)], mode=mode)
    f()
    f()
    np.testing.assert_array_equal(s.get_value(), [4, 4, 4])
    # The user still has an array: it has one of the values that the variable has had.
    assert np_array[0] in (1, 2, 4)
    np.testing.assert_array_equal(view, np_array[1:])


@pytest.mark.parametrize("given", [np.ones((3, 2)).T, np.ones((6, 4))[::2, ::2], np.asfortranarray(np.ones((2, 2)))])
def test_borrowed_arrays_of_any_layout(mode, given):
    s = aesara.shared(given, borrow=True)
    f = aesara.function([], [s + 1, s.sum()], updates=[(s, s * 2)], mode=mode)
    first, total = f()
    np.testing.assert_array_equal(first, np.full(given.shape, 2.0))
    assert total == given.size
    np.testing.assert_array_equal(s.get_value(), np.full(given.shape, 2.0))


def test_borrowed_read_only_arrays_are_not_written_to(mode):
    given = np.ones(3)
    given.flags.writeable = False
    s = aesara.shared(given, borrow=True)
    f = aesara.function([], [], updates=[(s, s + 1)], mode=mode)
    del given
    f()
    f()
    np.testing.assert_array_equal(s.get_value(), [3, 3, 3])


# Borrowing when accessing the value of shared variables: retrieving


def test_get_value_copies_unless_it_borrows():
    s = aesara.shared(np.ones(2))
    default, v_false = s.get_value(), s.get_value(borrow=False)
    v_true = s.get_value(borrow=True)
    for one in (default, v_false):
        assert not np.shares_memory(one, v_true)
        one[:] = 7
    np.testing.assert_array_equal(s.get_value(), [1, 1])


def test_internal_types():
    s = aesara.shared(np.ones(2))
    v_internal = s.get_value(borrow=True, return_internal_type=True)
    assert v_internal is s.container.storage[0]
    copied = s.get_value(borrow=False, return_internal_type=True)
    assert type(copied) is type(v_internal) and not np.shares_memory(copied, v_internal)
    assert s.get_value(return_internal_type=True) is not v_internal


@pytest.mark.parametrize("value", [np.ones(2, "int8"), np.float32(2.5), 3, 2.5, True, 1j, ["a"], {"a": 1}, "text"])
def test_get_value_returns_the_type_it_was_given(value):
    s = aesara.shared(value)
    found = s.get_value()
    if isinstance(value, (list, dict, str)):
        assert type(found) is type(value) and found == value
    else:
        assert isinstance(found, np.ndarray) and found.dtype == np.asarray(value).dtype
        np.testing.assert_array_equal(found, value)


def test_what_is_held_by_borrowing_is_not_written_to(mode):
    s = aesara.shared(np.zeros(3))
    step = aesara.function([], [], updates=[(s, s + 1)], mode=mode)
    held = s.get_value(borrow=True)
    step()
    np.testing.assert_array_equal(held, [0, 0, 0])
    np.testing.assert_array_equal(s.get_value(), [1, 1, 1])


# Assigning


def test_set_value_copies_unless_it_borrows():
    s = aesara.shared(np.zeros(2))
    value = np.ones(2)
    for borrow in (None, False):
        s.set_value(value) if borrow is None else s.set_value(value, borrow=borrow)
        value += 1
        np.testing.assert_array_equal(s.get_value(), value - 1)
        assert not np.shares_memory(buffer_of(s), value)
    s.set_value(value, borrow=True)
    assert buffer_of(s) is value
    value += 1
    np.testing.assert_array_equal(s.get_value(), value)


def test_set_value_converts_what_it_may():
    s = aesara.shared(np.zeros(2))
    for value in (np.ones(2, "float32"), [1.0, 1.0], np.ones(2, ">f8"), np.ones(2, "int32")):
        s.set_value(value, borrow=True)
        np.testing.assert_array_equal(s.get_value(), [1, 1])
        assert s.get_value().dtype == np.dtype("float64")
    with pytest.raises(TypeError):
        s.set_value(np.ones((1, 2)))
    np.testing.assert_array_equal(s.get_value(), [1, 1])


def test_the_pattern_of_manual_updates(mode):
    def some_inplace_fn(value):
        value *= 3
        return value

    s = aesara.shared(np.ones(2))
    before = buffer_of(s)
    s.set_value(some_inplace_fn(s.get_value(borrow=True)), borrow=True)
    np.testing.assert_array_equal(s.get_value(), [3, 3])
    assert buffer_of(s) is before
    np.testing.assert_array_equal(aesara.function([], s + 1, mode=mode)(), [4, 4])


# Borrowing when constructing function objects


def test_the_example(mode):
    x = at.dmatrix()
    y = 2 * x
    f = aesara.function([In(x, borrow=True)], Out(y, borrow=True), mode=mode)
    np.testing.assert_array_equal(f(np.ones((2, 2))), np.full((2, 2), 2.0))


@pytest.mark.parametrize("borrow_input", [False, True])
@pytest.mark.parametrize("borrow_output", [False, True])
def test_outputs_share_memory_with_inputs_only_if_both_are_lent(mode, borrow_input, borrow_output):
    x = at.dmatrix("x")
    outputs = [Out(one, borrow=borrow_output) for one in outputs_of(x).values()]
    f = aesara.function([In(x, borrow=borrow_input)], outputs, mode=mode)
    expected = aesara.function([x], list(outputs_of(x).values()), mode=mode)(np.arange(6.0).reshape(2, 3))
    for _ in range(2):
        given = np.arange(6.0).reshape(2, 3)
        results = f(given)
        for result, value in zip(results, expected):
            np.testing.assert_array_equal(result, value)
            if not (borrow_input and borrow_output):
                assert not np.shares_memory(result, given)


def test_a_borrowed_output_is_right_as_long_as_no_function_is_called(mode):
    x, s = at.dvector("x"), aesara.shared(np.ones(3))
    outputs = [x + 1, s, s[::-1], at.constant(np.arange(3.0)), x * s]
    f = aesara.function([x], [Out(out, borrow=True) for out in outputs], updates=[(s, s + 1)], mode=mode)
    for k in range(4):
        given = np.full(3, float(k))
        results = [result.copy() for result in f(given)]
        old = np.full(3, k + 1.0)
        for result, value in zip(results, [given + 1, old, old, np.arange(3.0), given * old]):
            np.testing.assert_array_equal(result, value)


def test_borrowed_and_own_outputs_side_by_side(mode):
    x = at.dvector("x")
    y = x + 1
    f = aesara.function([x], [Out(y, borrow=True), y, Out(y[::-1], borrow=True), y[1:]], mode=mode)
    lent, own, turned, part = f(np.arange(3.0))
    for one in (lent, turned, part):
        assert not np.shares_memory(own, one)
    assert not np.shares_memory(part, lent)
    np.testing.assert_array_equal(turned, [3, 2, 1])
    own[:] = -1
    part[:] = -1
    np.testing.assert_array_equal(lent, [1, 2, 3])


def test_native_functions_reuse_the_memory_of_borrowed_outputs():
    x = at.dvector("x")
    f = aesara.function([x], Out(at.exp(x), borrow=True))
    given = np.zeros(100)
    assert len({f(given).ctypes.data for _ in range(10)}) == 1
    # Better than it has to be: what somebody holds stays.
    held = f(given)
    f(np.ones(100))
    np.testing.assert_array_equal(held, np.ones(100))


def test_an_input_that_may_be_overwritten_gives_the_right_result(mode):
    x, y = at.dvector("x"), at.dvector("y")
    f = aesara.function([In(x, mutable=True), y], [at.inc_subtensor(x[0], 5.0), x * y, y + 1], mode=mode)
    for other in (lambda v: v.copy(), lambda v: v, lambda v: v[::-1]):
        given = np.arange(3.0)
        second = other(given)
        expected = [given + [5, 0, 0], given * second, second + 1]
        for result, value in zip(f(given, second), expected):
            np.testing.assert_array_equal(result, value)


def test_flags_that_contradict_each_other():
    x = at.dvector("x")
    with pytest.raises(ValueError, match="mutable=True, borrow=False"):
        In(x, mutable=True, borrow=False)
    assert In(x, mutable=True).borrow
    assert not In(x, borrow=True).mutable
    assert not In(x).borrow and not Out(x).borrow


def test_default_values_are_not_overwritten(mode):
    x, start = at.dvector("x"), np.zeros(3)
    f = aesara.function([In(x, value=start, mutable=True)], at.inc_subtensor(x[0], 1.0), mode=mode)
    for _ in range(3):
        np.testing.assert_array_equal(f(), [1, 0, 0])
    np.testing.assert_array_equal(start, np.zeros(3))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_empty_and_single_arrays(mode, size):
    x, s = at.dvector("x"), aesara.shared(np.ones(size))
    f = aesara.function([x], [Out(x, borrow=True), s, Out(s[::-1], borrow=True)], updates=[(s, s + x)], mode=mode)
    for k in range(3):
        given, old, turned = f(np.ones(size))
        np.testing.assert_array_equal(given, np.ones(size))
        np.testing.assert_array_equal(old, np.full(size, k + 1.0))
        assert turned.shape == (size,)


def test_scalars(mode):
    total, a = aesara.shared(0.0), at.dscalar("a")
    f = aesara.function(
        [a], [Out(total, borrow=True), a, Out(a + 1, borrow=True)], updates=[(total, total + a)], mode=mode
    )
    for k in range(3):
        old, same, more = (float(one) for one in f(2.0))
        assert (old, same, more) == (2.0 * k, 2.0, 3.0)
