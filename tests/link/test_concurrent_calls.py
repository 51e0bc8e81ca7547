"""Functions called by many threads at once: results, shared variables, guards, fork."""

import contextlib
import functools
import json
import os
import threading
from collections.abc import Callable

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.link import guards
from aesara.link.guards import (
    EVERYTHING,
    Held,
    UpdateGuard,
    _all_guards,
    _guards,
    _living_guards,
    _queue,
    guard_of,
    state,
)  # fmt: skip
from tests.closeness import assert_close

LONG = np.linspace(0, 1, 40_000)  # an exponential of it takes longer than short calls do

x = at.dvector("x")


@as_op(itypes=[at.dscalar], otypes=[at.dscalar])
def through_python(value):
    return value + 0.0


def in_threads(*work: Callable[[], object], seconds: float = 60) -> None:
    """Run each of `work` in a thread of its own, concurrently; fail if one fails or does not end."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(work))

    def run(one: Callable[[], object]) -> None:
        try:
            barrier.wait()
            one()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    assert errors == []
    assert list(state)[1:3] == [0, 0] and _queue == []
    assert not [guard for guard in _living_guards() if any(guard.words)]


def repeated(times: int, function: Callable[[], object]) -> Callable[[], None]:
    def work() -> None:
        for _ in range(times):
            function()

    return work


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_one_function_in_eight_threads(mode):
    f = aesara.function([x], [at.exp(x).sum(), at.cumsum(x * 2), at.outer(x[:3], x[:3])], mode=mode)

    def work(n: int) -> None:
        value = np.linspace(0, 1, n)
        for _ in range(20):
            total, running, products = f(value)
            np.testing.assert_allclose(total, np.exp(value).sum(), rtol=1e-12)
            np.testing.assert_allclose(running, np.cumsum(value * 2), rtol=1e-12)
            assert_close(products, np.outer(value[:3], value[:3]))

    in_threads(*[lambda n=n: work(n) for n in (3, 50_000, 17, 1000, 4, 100_000, 31, 5)])


def test_threads_compile():
    """At the same time, and each gets its function."""
    x = at.dvector("x")
    found = {}

    def compile_and_call(k):
        found[k] = aesara.function([x], (at.exp(x) * (k + 0.125)).sum())([0.0, 0.0])

    in_threads(*[functools.partial(compile_and_call, k) for k in range(4)])
    assert found == {k: 2 * k + 0.25 for k in range(4)}


def test_others_run_python_during_a_long_call():
    f = aesara.function([x], at.gammaincc(x + 1, at.exp(x)).sum())
    value = np.linspace(0, 1, 200_000)
    began, ended = threading.Event(), threading.Event()

    def call() -> None:
        began.set()
        f(value)
        ended.set()

    thread = threading.Thread(target=call)
    thread.start()
    began.wait()
    rounds = 0
    while not ended.is_set():
        rounds += 1
    thread.join()
    assert rounds > 1000


def test_arguments_and_workspace_belong_to_the_call():
    m = at.dmatrix("m")
    f = aesara.function([m], at.dot(at.exp(m), at.tanh(m)))
    value = np.linspace(0, 1, 10_000).reshape(100, 100)
    expected = np.exp(value) @ np.tanh(value)
    in_threads(*[repeated(10, lambda: np.testing.assert_allclose(f(value), expected, rtol=1e-10))] * 4)
    kept = f._native.workspace_bytes
    assert kept > 0
    f(value)
    assert f._native.workspace_bytes == kept
    f.free()
    assert f._native.workspace_bytes == 0
    np.testing.assert_allclose(f(value), expected, rtol=1e-10)


def test_workspace_is_freed_during_calls():
    m = at.dmatrix("m")
    f = aesara.function([m], at.dot(at.exp(m), at.tanh(m)))
    value = np.linspace(0, 1, 900).reshape(30, 30)
    expected = np.exp(value) @ np.tanh(value)
    calls = [repeated(300, lambda: np.testing.assert_allclose(f(value), expected, rtol=1e-10))] * 3
    in_threads(*calls, repeated(3000, f.free), repeated(3000, lambda: f._native.workspace_bytes))
    f(value)
    assert f._native.workspace_bytes > 0
    f.free()
    assert f._native.workspace_bytes == 0


def test_messages_of_failures_are_those_of_the_call():
    y = at.dvector("y")
    f = aesara.function([x, y], x + y)

    def fail(n: int) -> None:
        for _ in range(50):
            with pytest.raises(ValueError, match=f"size {n} and input 1 has size {n + 1} "):
                f(np.ones(n), np.ones(n + 1))

    def convert() -> None:
        for _ in range(50):
            assert f([1, 2], [3, 4]).tolist() == [4.0, 6.0]
            assert f(np.ones(6)[::2], np.ones(3)).tolist() == [2.0, 2.0, 2.0]

    in_threads(*[lambda n=n: fail(n) for n in (3, 5, 7)], convert, convert)


# -- updates


def test_no_count_is_lost():
    count = aesara.shared(np.int64(0))
    add = aesara.function([], [], updates={count: count + 1})
    in_threads(*[repeated(10_000, add)] * 8)
    assert count.get_value() == 80_000


def test_no_count_is_lost_however_a_function_runs():
    count = aesara.shared(np.float64(0))
    long = aesara.function([x], [], updates={count: count + 1 + 0 * at.exp(x).sum()})
    ways = [
        aesara.function([], [], updates={count: count + 1}),
        aesara.function([], [], updates={count: count + 1}, mode="FAST_COMPILE"),
        aesara.function([], [], updates={count: through_python(count) + 1}),
        lambda: long(LONG),
    ]
    in_threads(*[repeated(300, way) for way in ways * 2])
    assert count.get_value() == 2400


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_arguments_that_are_updated(mode):
    n = at.dscalar("n")
    count = aesara.function([aesara.In(n, value=0.0, update=n + 1)], n, mode=mode)
    in_threads(*[repeated(200, count)] * 4)
    assert count[n] == 800


def test_variables_that_are_updated_together_are_seen_together():
    a, b = aesara.shared(np.zeros(LONG.size)), aesara.shared(np.zeros(LONG.size))
    more = at.exp(x * 0)
    functions = {
        "long": aesara.function([x], [], updates={a: a + more, b: b + 2 * more}),
        "short": aesara.function([], [], updates={a: at.inc_subtensor(a[:], 1.0), b: at.inc_subtensor(b[:], 2.0)}),
    }
    functions["slow"] = aesara.function([], [], updates={a: a + 1, b: b + 2}, mode="FAST_COMPILE")
    read_long = aesara.function([], [a.min(), a.max(), b.min(), b.max(), at.exp(-a).sum()])
    read_short = aesara.function([], [a[0], a[-1], b[0], b[-1]])
    read_slowly = aesara.function([], [a.min(), a.max(), b.min(), b.max()], mode="FAST_COMPILE")

    def read(function: Callable[[], list[np.ndarray]]) -> None:
        for _ in range(30):
            low, high, twice_low, twice_high = (float(v) for v in function()[:4])
            assert low == high and twice_low == twice_high == 2 * low

    in_threads(
        repeated(30, lambda: functions["long"](LONG)),
        repeated(30, functions["short"]),
        repeated(30, functions["slow"]),
        *[lambda r=r: read(r) for r in (read_long, read_short, read_slowly)],
        lambda: [a.get_value() for _ in range(100)],
    )
    assert (a.get_value() == 90).all() and (b.get_value() == 180).all()


def test_a_value_that_is_set_during_an_update_comes_after_it():
    total = aesara.shared(np.float64(0), name="total")
    long = aesara.function([x], [], updates={total: total + at.gammaincc(x + 1, at.exp(x)).sum()})
    values, began = np.linspace(0, 1, 300_000), threading.Event()

    def call() -> None:
        began.set()
        long(values)

    for set_value in (total.set_value, lambda value: setattr(total.container, "value", value)):
        began.clear()
        thread = threading.Thread(target=call)
        thread.start()
        began.wait()
        while not any(state[1:3]) and thread.is_alive():
            pass
        set_value(-1.0)
        thread.join()
        assert total.get_value() == -1
    assert list(state)[1:3] == [0, 0]


def test_guards_are_forgotten_with_what_uses_them():
    before = len(_guards), len(_all_guards)
    cells = [[k] for k in range(5)]
    guards = [guard_of(cell) for cell in cells]
    assert [guard_of(cell) for cell in cells] == guards and len(_guards) == before[0] + 5
    del guards
    assert (len(_guards), len(_all_guards)) == before


def test_values_live_as_long_as_a_call_reads_them():
    a = aesara.shared(np.zeros(LONG.size))
    read = aesara.function([], [at.exp(a).sum(), a.min(), a.max()])

    def replace() -> None:
        for k in range(200):
            a.set_value(np.full(LONG.size, k / 200), borrow=True)

    def look() -> None:
        for _ in range(50):
            total, low, high = read()
            assert low == high
            np.testing.assert_allclose(total, LONG.size * np.exp(low), rtol=1e-12)

    in_threads(replace, look, look)


def test_a_value_that_the_user_holds_is_not_overwritten():
    a = aesara.shared(np.zeros(LONG.size))
    step = aesara.function([x], [], updates={a: a + at.exp(x * 0)})
    step(LONG)
    held = a.get_value(borrow=True)
    step(LONG)
    assert (held == 1).all() and (a.get_value() == 2).all()


def test_an_update_that_fails_changes_nothing():
    a, b = aesara.shared(np.ones(3)), aesara.shared(np.float64(0))

    @as_op(itypes=[at.dscalar], otypes=[at.dscalar])
    def refuse(value):
        if value == 3:
            raise ValueError("three")
        return value

    n = at.dscalar("n")
    functions = [
        aesara.function([x, n], [], updates={a: a + x[:3] + at.exp(x).sum(), b: b + n}),  # x may be too short
        aesara.function([x, n], [], updates={a: a * 2, b: b + refuse(n) + x.sum()}),
    ]
    for f in functions:
        value = np.ones(2) if f is functions[0] else np.ones(3)
        with pytest.raises(ValueError):
            f(value, 3.0)
        assert a.get_value().tolist() == [1.0, 1.0, 1.0] and b.get_value() == 0
        assert list(state)[1:3] == [0, 0] and guard_of(a.container.storage).words[0] == 0
    functions[1](np.ones(3), 1.0)
    assert a.get_value().tolist() == [2.0, 2.0, 2.0] and b.get_value() == 4


def test_functions_that_call_one_another():
    a, b = aesara.shared(np.float64(0)), aesara.shared(np.float64(0))
    add_to = {v: aesara.function([], [], updates={v: v + 1}) for v in (a, b)}

    def caller(own, other):
        @as_op(itypes=[at.dscalar], otypes=[at.dscalar])
        def and_other(value):
            add_to[other]()
            return value

        return aesara.function([], [], updates={own: and_other(own) + 1})

    in_threads(*[repeated(100, caller(*pair)) for pair in ((a, b), (b, a)) * 2], repeated(100, add_to[a]))
    assert a.get_value() == 500 and b.get_value() == 400


def test_guards_are_taken_together_and_in_turn():
    first, second = UpdateGuard(), UpdateGuard()
    order: list[str] = []

    def work(name: str, guards: list[UpdateGuard]) -> None:
        for _ in range(200):
            with Held(guards), Held(guards):
                order.append(f"begin {name}")
                order.append(f"end {name}")

    in_threads(
        lambda: work("a", [first, second]), lambda: work("b", [second, first]), lambda: work("c", [second, EVERYTHING])
    )
    assert len(order) == 1200
    assert all(end == begin.replace("begin", "end") for begin, end in zip(order[::2], order[1::2], strict=True))


def test_waiting_calls_do_not_starve():
    guard = UpdateGuard()
    turns: list[int] = []

    def work(k: int) -> None:
        for _ in range(20):
            with Held([guard]):
                turns.append(k)
                threading.Event().wait(0.001)

    in_threads(*[lambda k=k: work(k) for k in range(3)])
    runs = [turns[k : k + 3] for k in range(10, 40, 3)]
    assert all(len(set(run)) > 1 for run in runs), turns


def test_a_thread_that_holds_a_guard_passes_others_after_a_while(monkeypatch):
    mine, other = UpdateGuard(), UpdateGuard()
    ahead = guards._Ticket([other])
    ahead.thread = -1
    waited = []
    monkeypatch.setattr(guards, "_acquire_lock", lambda *given: waited.append(given) or 0)
    guards._queue.append(ahead)
    ahead.wanted = 1
    other.words[guards._WANTED] += 1
    try:
        with Held([mine]), Held([other]):
            assert len(waited) == 1
    finally:
        guards._leave_queue(ahead)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("holds", [True, False])
def test_a_child_process_has_the_guards_of_the_thread_that_forks_only(holds):
    mine, of_others = UpdateGuard(), UpdateGuard()
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with Held([of_others]):
            inside.set()
            leave.wait(60)

    def fork() -> None:
        assert inside.wait(60)
        while not _queue:  # the third thread waits
            threading.Event().wait(0.001)
        reader, writer = os.pipe()
        with Held([mine]) if holds else contextlib.nullcontext():
            child = os.fork()
            if child == 0:
                os.write(writer, json.dumps([*mine.words, *of_others.words, any(state[1:3]), len(_queue)]).encode())
                os._exit(0)
        leave.set()
        os.close(writer)
        with os.fdopen(reader) as pipe:
            assert json.loads(pipe.read()) == [
                *(threading.get_ident() * holds, 0, int(holds), 0), *(0, 0, 0, 0), holds, 0
            ]  # fmt: skip
        assert os.waitpid(child, 0)[1] == 0

    def wait() -> None:
        assert inside.wait(60)
        with Held([of_others]):
            pass

    in_threads(hold, fork, wait)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_calls_what_its_parent_has_compiled():
    count = aesara.shared(np.float64(0))
    long = aesara.function([x], [], updates={count: count + 1 + 0 * at.exp(x).sum()})
    slow = aesara.function([x], at.tanh(x).sum(), mode="FAST_COMPILE")
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            long(LONG)
            slow(LONG)

    threads = [threading.Thread(target=keep_busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                before = count.get_value()
                long(LONG)
                slow(LONG)
                os.write(writer, str(count.get_value() - before).encode())
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader) as pipe:
                assert pipe.read() == "1.0"
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_guards_that_are_held_twice_are_free_when_both_have_ended():
    guard, entered = guard_of([1.0]), []

    def enter():
        with Held([guard]):
            entered.append(True)

    thread = threading.Thread(target=enter)
    with Held([guard]):
        with Held([guard, guard]):
            pass
        thread.start()
        thread.join(0.3)
        assert not entered
    thread.join(60)
    assert entered


@pytest.mark.parametrize(
    "processors, asked, count",
    [(8, {}, 8), (None, {}, 1), (8, {"OMP": "3"}, 3), (8, {"OMP": "3", "OPENBLAS": "2"}, 2), (2, {"MKL": "16"}, 2),
     (4, {"OMP": "0"}, 1), (4, {"OMP": "many"}, 4)],
)  # fmt: skip
def test_expected_number_of_blas_threads(processors, asked, count, monkeypatch):
    for name in ("OPENBLAS", "OMP", "MKL"):
        monkeypatch.delenv(f"{name}_NUM_THREADS", raising=False)
    for name, number in asked.items():
        monkeypatch.setenv(f"{name}_NUM_THREADS", number)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert guards._blas_threads() == count
