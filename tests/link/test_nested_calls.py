"""Calls during other calls of the same thread: from nodes in Python, and from signal handlers."""

import signal
import threading

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.link.guards import _queue, state
from tests.closeness import assert_close

x, n = at.dvector("x"), at.lscalar("n")
functions = {}


@as_op(itypes=[at.dvector, at.lscalar], otypes=[at.dvector])
def again(value, times):
    return functions["nested"](value * 2, times - 1) if times > 0 else value + 0


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "NanGuardMode"])
def test_a_function_that_calls_itself(mode):
    functions["nested"] = f = aesara.function([x, n], again(x + 1, n) + x * at.exp(x), mode=mode)

    def expected(value, times):
        inner = expected((value + 1) * 2, times - 1) if times > 0 else value + 1
        return inner + value * np.exp(value)

    value = np.array([0.5, -1.0])
    for times in (0, 1, 3, 0):
        assert_close(f(value, times), expected(value, times))


def test_defaults_are_those_of_each_call():
    scale = at.dscalar("scale")

    @as_op(itypes=[at.dscalar, at.lscalar], otypes=[at.dscalar])
    def with_default(value, times):
        return value + (f(times - 1) if times > 0 else 0.0)

    f = aesara.function([n, aesara.In(scale, value=2.0)], with_default(scale, n), mode="FAST_COMPILE")
    assert f(2, 10.0) == 14.0
    assert f(0) == 2.0


def test_a_nested_call_that_fails():
    @as_op(itypes=[at.dscalar, at.lscalar], otypes=[at.dscalar])
    def refuse(value, times):
        if times == 0:
            raise ValueError("zero")
        with pytest.raises(ValueError, match="zero"):
            f(value, 0)
        return value + 1

    u = at.dscalar("u")
    f = aesara.function([u, n], refuse(u * 2, n) + u, mode="FAST_COMPILE")
    assert f(3.0, 1) == 10.0


def test_a_copy_in_the_same_memory_is_called_in_the_middle():
    f = aesara.function([x, n], again(at.exp(x), n) + at.exp(x) * x, mode="FAST_COMPILE")
    functions["nested"] = f.copy(share_memory=True)
    separate = aesara.function([x], at.exp(x) + at.exp(x) * x)
    value = np.array([0.5, -1.0])
    for _ in range(2):
        assert_close(f(value, 1), separate(np.exp(value) * 2) + np.exp(value) * value)
    functions["nested"] = f


def test_modes_that_cannot_say_so():
    functions["nested"] = f = aesara.function([x, n], again(x, n), mode="DebugMode")
    with pytest.raises(RuntimeError, match="cannot call it again"):
        f(np.ones(2), 1)
    assert f(np.ones(2), 0).tolist() == [1.0, 1.0]


@pytest.mark.main_thread
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
def test_handlers_of_signals_update_what_threads_wait_for():
    total = aesara.shared(np.float64(0))
    long = aesara.function([x], [], updates={total: total + 1 + 0 * at.minimum(at.exp(x).sum(), 0.0)})
    short = aesara.function([], [], updates={total: total + 1})
    slow = aesara.function([], [], updates={total: total + 1}, mode="FAST_COMPILE")
    values, calls, handled, busy = np.linspace(0, 1, 100_000), [0, 0, 0], [0], []

    def handler(*_):
        if not busy:
            busy.append(True)
            short()
            slow()
            total.set_value(total.get_value())
            busy.pop()
            handled[0] += 1

    def work(k):
        while handled[0] < 200:
            long(values)
            slow()
            short()
            calls[k] += 3

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in (1, 2)]
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
        for thread in threads:
            thread.start()
        work(0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    assert list(state)[1:3] == [0, 0] and _queue == []
    value = total.get_value()
    # Updates inside of another call are replaced by that call's.
    assert value == int(value) and min(sum(calls), 10) <= value <= sum(calls) + 2 * handled[0]
