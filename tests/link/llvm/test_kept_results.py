"""Arrays of lent results (``Out(borrow=True)``) are reused, but never while others refer to them."""

import gc
import pickle
import sys
import threading
import tracemalloc
import weakref
from dataclasses import replace

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.io import Out
from aesara.ir.text import parse_program, print_program
from aesara.ir.verify import IRError
from aesara.ir.verify_program import verify_program
from tests.closeness import assert_close

x = at.dvector("x")


@pytest.fixture(scope="module")
def double():
    return aesara.function([x], Out(2 * x + 1, borrow=True), name="double")


@pytest.fixture(scope="module")
def several():
    m, c = at.dmatrix("m"), at.dmatrix("c")
    outputs = [c + m @ m, m.T, at.exp(1j * m), m.sum(), m > c]
    return aesara.function([c, m], [Out(out, borrow=True) for out in outputs])


def addresses(values):
    return {value.ctypes.data for value in values}


@pytest.mark.slow
def test_nothing_is_allocated_once_the_arrays_are_there(double):
    value = np.arange(10_000.0)
    result = None
    for _ in range(3):
        result = double(value)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(100):
            result = double(value)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(result, 2 * value + 1)
    assert peak - before < 1000
    assert after - before < 1000


def test_ordinary_results_are_allocated():
    f = aesara.function([x], 2 * x + 1)
    value = np.ones(10_000)
    f(value)
    tracemalloc.start()
    try:
        f(value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak >= value.nbytes


def test_two_arrays_alternate_in_a_loop(double):
    value = np.ones(100)
    assert len({double(value).ctypes.data for _ in range(10)}) == 1
    seen = set()
    for _ in range(10):
        result = double(value)
        seen.add(result.ctypes.data)
    assert len(seen) == 2


def test_referenced_arrays_are_not_overwritten(double):
    values = [np.full(50, float(k)) for k in range(10)]
    held = [double(value) for value in values]
    assert len(addresses(held)) == 10
    for value, result in zip(values, held):
        np.testing.assert_array_equal(result, 2 * value + 1)


def test_a_view_holds_its_array(double):
    view = double(np.arange(9.0))[::2]
    for _ in range(4):
        double(np.zeros(9))
    np.testing.assert_array_equal(view, [1, 5, 9, 13, 17])
    window = memoryview(double(np.ones(9)))
    for _ in range(4):
        double(np.zeros(9))
    assert window[0] == 3.0


def test_a_result_may_be_an_argument(double):
    np.testing.assert_array_equal(double(double(double(np.ones(4)))), np.full(4, 15.0))


def test_arrays_that_were_changed_are_not_returned_again(double):
    expected = np.full(6, 3.0)
    for change in ("shape", "dtype", "flags", "resize"):
        result = double(np.ones(6))
        if change == "shape":
            result = result.reshape(2, 3)
        elif change == "dtype":
            result = result.view("int64")
        elif change == "flags":
            result.flags.writeable = False
        else:
            result.resize(3, refcheck=False)
        del result
        for _ in range(3):
            again = double(np.ones(6))
            assert again.shape == (6,) and again.dtype == "float64" and again.flags.writeable
            np.testing.assert_array_equal(again, expected)
            del again


def test_other_shapes(double):
    for n in (3, 0, 5, 3, 1, 0):
        np.testing.assert_array_equal(double(np.ones(n)), np.full(n, 3.0))


def test_several_results(several):
    rng = np.random.default_rng(0)
    for k in range(6):
        c, m = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
        summed, turned, turning, total, larger = several(c, m)
        assert_close(summed, c + m @ m)
        np.testing.assert_array_equal(turned, m.T)
        assert_close(turning, np.exp(1j * m))
        assert_close(total, m.sum())
        np.testing.assert_array_equal(larger, m > c)
        assert turning.dtype == "complex128" and larger.dtype == "bool" and total.shape == ()


def test_results_do_not_share_memory(several):
    results = several(np.ones((3, 3)), np.eye(3))
    for k, one in enumerate(results):
        assert not any(np.shares_memory(one, other) for other in results[k + 1 :])


def test_a_failed_call_releases_its_arrays():
    f = aesara.function([x], [Out(x + 1, borrow=True), Out(at.exp(x).reshape((3,)), borrow=True)])
    first = addresses(f(np.ones(3)))
    with pytest.raises(ValueError):
        f(np.ones(2))
    f(np.ones(3))
    assert first & addresses(f(np.ones(3)))
    for _ in range(3):
        np.testing.assert_array_equal(f(np.zeros(3))[0], np.ones(3))


def test_only_lent_results_are_kept():
    f = aesara.function([x], [Out(x + 1, borrow=True), x * 2])
    lent, own = f(np.ones(3))
    assert sys.getrefcount(lent) == sys.getrefcount(own) + 1
    assert len(f._native.kept) == 2


def test_free_releases_the_arrays(double):
    kept = weakref.ref(double(np.ones(1000)))
    assert kept() is not None
    double.free()
    assert kept() is None
    np.testing.assert_array_equal(double(np.ones(2)), [3, 3])


@pytest.mark.slow
def test_arrays_are_freed_with_the_function():
    f = aesara.function([x], Out(x - 1, borrow=True))
    result = f(np.ones(3))
    kept = weakref.ref(f(np.ones(3)))
    count = sys.getrefcount(result)
    del f
    gc.collect()
    assert kept() is None
    assert sys.getrefcount(result) == count - 1
    np.testing.assert_array_equal(result, np.zeros(3))


def test_updates():
    state = aesara.shared(np.zeros(3))
    f = aesara.function([], Out(state, borrow=True), updates=[(state, state + 1)])
    for k in range(5):
        result = f()
        np.testing.assert_array_equal(result, np.full(3, float(k)))
        assert not np.shares_memory(result, state.get_value(borrow=True))


def test_copies_and_pickles_keep_their_own(double):
    value = np.ones(5)
    mine = double(value)
    for other in (double.copy(), pickle.loads(pickle.dumps(double))):
        results = [other(value) for _ in range(5)]
        assert mine.ctypes.data not in addresses(results)
        del results
        assert len({other(value).ctypes.data for _ in range(5)}) == 1
        assert other._native.program.lent == (0,)
    np.testing.assert_array_equal(mine, np.full(5, 3.0))


def test_measured_functions():
    f = aesara.function([x], Out(at.cumsum(at.exp(x)), borrow=True), profile=True)
    for k in range(4):
        result = f(np.full(3, float(k)))
        assert_close(result, np.exp(k) * np.arange(1, 4))
    assert f.profile.fct_callcount == 4


def test_threads(double):
    wrong = []

    def work(number):
        value = np.full(2000, float(number))
        for _ in range(300):
            result = double(value)
            if not (result == 2 * number + 1).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_text_and_verification(double):
    program = double._native.program
    assert "output t0 lent" in print_program(program)
    assert parse_program(print_program(program)).lent == (0,)
    verify_program(program)
    with pytest.raises(IRError, match="lent"):
        verify_program(replace(program, lent=(1,)))
