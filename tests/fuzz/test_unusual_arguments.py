"""Arguments that are laid out in unusual ways, belong to other classes, or ask for more than there is."""

import threading
import time

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import aesara
import aesara.tensor as at
from aesara.compile.io import In
from aesara.compile.mode import Mode
from aesara.compile.profiling import ProfileStats

BIG = 2**62


@pytest.fixture(params=["FAST_RUN", "FAST_COMPILE"])
def mode(request):
    return request.param


def test_matrices_are_arrays(mode):
    x = at.dmatrix("x")
    f = aesara.function([x], [x.flatten(), x[0], at.dot(x, x), x], mode=mode)
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    for got, want in zip(
        f(np.asarray(values).view(np.matrix)), (values.ravel(), values[0], values @ values, values), strict=True
    ):
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, want, strict=True)


def test_classes_of_arrays_with_an_arithmetic_of_their_own(mode):
    class Odd(np.ndarray):
        def __array_ufunc__(self, *args, **kwargs):
            return "odd"

    x = at.dvector("x")
    f = aesara.function([x], [2 * x, x.sum()], mode=mode)
    for argument in (np.arange(3.0).view(Odd), np.arange(3, dtype="int8").view(Odd)):
        double, total = f(argument)
        np.testing.assert_array_equal(double, [0.0, 2.0, 4.0], strict=True)
        assert total == 3


def test_files_in_memory_stay_where_they_are(mode, tmp_path):
    values = np.arange(4.0)
    values.tofile(tmp_path / "values")
    x = at.dvector("x")
    f = aesara.function([In(x, mutable=True)], [x * 2, at.set_subtensor(x[0], 9.0)], mode=mode)
    mapped = np.memmap(tmp_path / "values", dtype="float64", mode="r")
    double, new = f(mapped)
    np.testing.assert_array_equal(double, 2 * values)
    np.testing.assert_array_equal(new, [9, 1, 2, 3])
    np.testing.assert_array_equal(mapped, values)


def test_what_may_be_overwritten_need_not_have_memory_for_each_element(mode):
    x = at.dvector("x")
    f = aesara.function([In(x, mutable=True)], at.inc_subtensor(x[::-1], np.arange(4.0)), mode=mode)
    one = np.array([5.0])
    np.testing.assert_array_equal(f(as_strided(one, (4,), (0,))), [8, 7, 6, 5])
    np.testing.assert_array_equal(f(np.broadcast_to(np.float64(5), (4,))), [8, 7, 6, 5])
    overlapping = as_strided(np.arange(3.0), (2, 2), (8, 8))
    y = at.dmatrix("y")
    g = aesara.function([In(y, mutable=True)], at.cumsum(2 * y.T, axis=0), mode=mode)
    np.testing.assert_array_equal(g(overlapping), [[0, 2], [2, 6]])


def test_more_repetitions_than_memory_has_room_for(mode):
    # NumPy multiplies the numbers without looking, and writes past the end of what it has allocated
    x, n = at.dvector("x"), at.lvector("n")
    f = aesara.function([x, n], at.repeat(x, n), mode=mode)
    for counts in ([BIG] * 4, [BIG], [2**61 + 1]):
        with pytest.raises((ValueError, MemoryError)):
            f(np.zeros(4), counts)
    np.testing.assert_array_equal(f([1.0, 2.0], [2, 1]), [1, 1, 2])
    np.testing.assert_array_equal(f([1.0, 2.0], [2]), [1, 1, 2, 2])


SIZES = at.lscalars("n", "m")
#: arrays of more elements than can be addressed
TOO_LARGE = {
    "alloc": at.alloc(1.5, *SIZES),
    "zeros": at.zeros(SIZES),
    "nothing": at.empty((SIZES[0], SIZES[1], 0)),
    "eye": at.eye(*SIZES),
    "arange": at.arange(SIZES[0])[: SIZES[1]] * at.arange(SIZES[0])[:, None],
    "reshape": at.zeros(0).reshape(SIZES),
    "tile": at.tile(at.zeros(SIZES[1]), SIZES[0], ndim=1),
}


@pytest.mark.parametrize("name", list(TOO_LARGE))
def test_lengths_that_multiply_to_more_than_fits(name, mode):
    f = aesara.function(SIZES, TOO_LARGE[name], mode=mode, on_unused_input="ignore")
    for sizes in ((2**40, 2**40), (BIG, 4), (10**12, 10**12)):
        with pytest.raises((ValueError, MemoryError)):
            f(*sizes)


def test_unsigned_indices_past_the_largest_signed_number(mode):
    x, n = at.dvector("x"), at.scalar("n", dtype="uint64")
    f = aesara.function([x, n], [x[:n], x[n:]], mode=mode)
    largest = at.constant(np.uint64(2**64 - 1))
    for start, stop in (
        f([1.0, 2.0], largest.data),
        aesara.function([x], [x[:largest], x[largest:]], mode=mode)([1.0, 2.0]),
    ):
        assert start.tolist() == [1, 2] and stop.tolist() == []
    with pytest.raises((IndexError, OverflowError)):
        aesara.function([x, n], x[n], mode=mode)([1.0, 2.0], largest.data)


@pytest.mark.parametrize("linker", ["py", "llvm"])
def test_states_do_not_lie_in_arguments_that_may_be_overwritten(linker):
    x, state = at.dvector("x"), aesara.shared(np.zeros(3), name="state")
    options = {"updates": [(state, x[::-1] + 1)], "mode": Mode(linker, "fast_run")}
    f = aesara.function([In(x, mutable=True)], [], **options)
    argument = np.array([1.0, 2.0, 3.0])
    f(argument)
    argument[:] = 99
    np.testing.assert_array_equal(state.get_value(), [4, 3, 2])


@pytest.mark.parametrize("linker", ["py", "llvm"])
def test_a_result_that_is_a_new_value_too(linker):
    state = aesara.shared(np.array([-2, 3]), name="state")
    f = aesara.function([], state**3, updates=[(state, state**3)], mode=Mode(linker, "fast_run"))
    result = f()
    result[:] = 99
    np.testing.assert_array_equal(state.get_value(), [-8, 27])


def test_constants_found_not_to_fit_while_rewriting():
    # the lengths are known when a part of the graph has been computed
    empty = at.constant(np.ones(9))[: at.cumsum(at.constant([0, 3]))[0]]
    for combined in (at.constant(np.full((3, 3), 2.0)) * empty, at.constant(np.full((3, 3), 2.0)) + empty):
        with aesara.config.change_flags(on_opt_error="raise"):
            f = aesara.function([], combined)
        with pytest.raises(ValueError):
            f()


@pytest.mark.parametrize("options", [{}, {"profile": ProfileStats(atexit_print=False)}])
def test_names_of_inputs_that_parameters_of_calls_have(mode, options):
    inputs = [at.dscalar(name) for name in ("self", "args", "kwargs")]
    f = aesara.function(inputs, inputs[0] - inputs[1] * inputs[2], mode=mode, **options)
    assert f(self=7.0, args=2.0, kwargs=3.0) == 1


def test_memory_is_given_back_while_other_threads_compute(mode):
    x, y = at.dvectors("x", "y")
    f = aesara.function([x, y], (at.exp(x) * at.sin(y)).sum() + at.dot(x, y), mode=mode)
    ones = np.ones(20000)
    expected = f(ones, ones)
    wrong = []

    def work():
        wrong.extend(value for value in (f(ones, ones[::-1]) for _ in range(60)) if not abs(value - expected) < 1e-6)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        f.free()
        time.sleep(0.001)
    assert not wrong
