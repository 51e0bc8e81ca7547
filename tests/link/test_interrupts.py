"""Ctrl-C during long native calls: prompt and without effects; other signal handlers run."""

import _thread
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.expr import walk
from aesara.ir.steps import Define, Launch, walk_steps
from aesara.link.guards import state
from aesara.scan import until

pytestmark = pytest.mark.main_thread

x, m, n, v = at.dvector("x"), at.dmatrix("m"), at.lscalar("n"), at.lvector("v")
MANY = np.linspace(1, 2, 3_000_000)
#: seconds
PROMPT, ATTEMPTS = 0.2, 6


@pytest.fixture(autouse=True)
def interrupts():
    """Make Ctrl-C raise KeyboardInterrupt, also in tests that run in the background, which ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def spent() -> float:
    """Return the processor time of the main thread in seconds, where the system provides it."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.perf_counter()
    return time.clock_gettime(time.pthread_getcpuclockid(threading.main_thread().ident))


def delay_of_interrupt(call: Callable[[], object]) -> float:
    """Return the time that the main thread works from an interrupt to the end of a call."""
    sent = []

    def interrupt() -> None:
        sent.append(spent())
        _thread.interrupt_main()

    timer = threading.Timer(0.05, interrupt)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        call()
        timer.join()
        time.sleep(1)  # the signal comes here if the call was too short
        sent.clear()
    ended = spent()
    assert sent, "the call has ended before it was interrupted"
    return ended - sent[0]


def is_prompt(call: Callable[[], object]) -> bool:
    """Return whether a call ends soon; one slow measurement, by shared caches, is accepted."""
    return any(delay_of_interrupt(call) < PROMPT for _ in range(ATTEMPTS))


def loop_over(step, length, first):
    return aesara.scan(step, outputs_info=[first], n_steps=length)[0]


def loop_until(length):
    """A loop that runs to its end although it may end early."""
    return loop_over(lambda u: (at.sin(u) + 1, until(u > 5)), length, at.constant(1.0, dtype="float64"))


heavy = at.gammaincc(x, at.exp(x) * 3)
matrix = at.gammaincc(m, at.exp(m) * 3)
CASES = {
    "nest": (aesara.function([x], heavy), lambda f: f(MANY), lambda f: f(MANY[:3])),
    "sum": (aesara.function([x], heavy.sum()), lambda f: f(MANY), lambda f: f(MANY[:3])),
    "few long rows": (
        aesara.function([m], (matrix + m[:, 0].dimshuffle(0, "x")).sum(axis=1)),
        lambda f: f(MANY.reshape(2, -1)),
        lambda f: f(MANY[:6].reshape(2, 3)),
    ),
    "sums of very long rows": (
        aesara.function([x, n], at.exp(-x[:, None] * at.arange(n)).sum(axis=1)),
        lambda f: f(MANY[:3], 10**9),
        lambda f: f(MANY[:3], 5000),
    ),
    "products of very long rows of rows": (
        aesara.function([x, n], (x[:, None, None] * x[:, None] * at.arange(n)).prod(axis=2)),
        lambda f: f(MANY[:3], 3 * 10**9),
        lambda f: f(MANY[:3] / 10, 4),
    ),
    "largest of very long rows": (
        aesara.function([x, n], at.sin(x[:, None] * at.arange(n)).max(axis=1)),
        lambda f: f(MANY[:3], 10**9),
        lambda f: f(MANY[:3], 5000),
    ),
    "largest of many very long rows": (
        aesara.function([x, n], at.sin(x[:, None, None] * at.arange(n) * at.arange(n)[:, None]).max(axis=(1, 2))),
        lambda f: f(MANY[:3], 10**5),
        lambda f: f(MANY[:3], 1100),
    ),
    "any of very long rows": (
        aesara.function([x, n], (at.sin(x[:, None] * at.arange(n)) > 2).any(axis=1)),
        lambda f: f(MANY[:3], 10**9),
        lambda f: f(MANY[:3], 5000),
    ),
    "integer sums of very long rows": (
        aesara.function([v, n], ((v[:, None] + at.arange(n)) % 7).sum(axis=1)),
        lambda f: f([1, 2, 3], 10**9),
        lambda f: f([1, 2, 3], 2**20 + 5),
    ),
    "very long rows that depend on data": (
        aesara.function([x, v], at.exp(-x[:, None] * at.arange(v.max())).sum(axis=1)),
        lambda f: f(MANY[:3], [10**9]),
        lambda f: f(MANY[:3], [4]),
    ),
    "rows": (
        aesara.function([m], matrix - m.mean(axis=0)),
        lambda f: f(MANY.reshape(-1, 3)),
        lambda f: f(MANY[:6].reshape(2, 3)),
    ),
    "scan": (
        aesara.function([n], loop_over(lambda u: at.sin(u) + 1, n, at.constant(1.0, dtype="float64"))[-1]),
        lambda f: f(2 * 10**7),
        lambda f: f(5),
    ),
    "scan that may end early": (
        aesara.function([n], loop_until(n)[-1]),
        lambda f: f(2 * 10**7),
        lambda f: f(5),
    ),
    "scan that may end early in another one": (
        aesara.function([v], aesara.scan(lambda i: loop_until(i)[-1], v)[0]),
        lambda f: f([10**9, 3]),
        lambda f: f([5, 3]),
    ),
    "scan of vectors": (
        aesara.function([x, n], loop_over(lambda u: at.gammaincc(x, u + x), n, x)[-1]),
        lambda f: f(MANY[:1000], 3000),
        lambda f: f(MANY[:3], 4),
    ),
    "length in a number": (
        aesara.function([n], at.sin(at.arange(n) * 1.5).sum()),
        lambda f: f(10**9),
        lambda f: f(5),
    ),
    "length in an array": (
        aesara.function([v], at.sin(at.arange(v.max()) * 1.5).max()),
        lambda f: f([3, 10**9]),
        lambda f: f([3, 5]),
    ),
    "length that a step knows": (
        aesara.function([v], aesara.scan(lambda i: at.sin(at.arange(i) * 1.5).sum(), sequences=v)[0]),
        lambda f: f([10**9, 3]),
        lambda f: f([5, 3]),
    ),
    "loop whose length a step knows": (
        aesara.function([v], aesara.scan(lambda i: loop_over(at.sin, i, at.constant(1.0, dtype="float64"))[-1], v)[0]),
        lambda f: f([10**9, 3]),
        lambda f: f([5, 3]),
    ),
    "draws": (
        aesara.function([n], at.random.poisson(7.0, size=(n,), rng=aesara.shared(np.random.default_rng(1))).max()),
        lambda f: f(5 * 10**7),
        lambda f: f(5),
    ),
    "product": (
        aesara.function([m], at.dot(m, m.T)),
        lambda f: f(MANY.reshape(3000, 1000)),
        lambda f: f(MANY[:4].reshape(2, 2)),
    ),
    "products": (
        aesara.function([m, n], loop_over(lambda u: at.tanh(u.dot(m)), n, m[0])[-1]),
        lambda f: f(MANY[:1_000_000].reshape(1000, 1000), 5000),
        lambda f: f(MANY[:4].reshape(2, 2), 3),
    ),
}


@pytest.fixture
def short_products():
    """Make BLAS work in small blocks, since other processes may use the processor."""
    before, state[3] = state[3], 10**8
    yield
    state[3] = before


@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_ends_a_long_call(name, short_products):
    function, long, short = CASES[name]
    expected = short(function)
    assert is_prompt(lambda: long(function))
    np.testing.assert_array_equal(short(function), expected)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-4)])
def test_long_products_are_computed_in_blocks(dtype, tolerance, short_products):
    a, b, c = (at.matrix(name, dtype=dtype) for name in "abc")
    v = at.vector("v", dtype=dtype)
    functions = [
        (aesara.function([a, b, c], c + 2.5 * at.dot(a, b)), lambda a, b, c: c + 2.5 * a @ b),
        (aesara.function([a, b, c], at.dot(b.T, a.T) + c.T), lambda a, b, c: (a @ b + c).T),
    ]
    times = aesara.function([a, v], [at.dot(a, v), at.dot(v[: a.shape[0]], a)])
    state[3] = 10_000
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((577, 20, 385), (193, 100, 400), (385, 3, 1000), (2, 5000, 3), (1, 30, 700)):
        for order in "CF":
            values = [
                np.asarray(rng.normal(size=size), dtype, order=order)
                for size in ((rows, inner), (inner, columns), (rows, columns))
            ]
            for function, expected in functions:
                np.testing.assert_allclose(function(*values), expected(*values), tolerance, tolerance)
    matrix, vector = (rng.normal(size=size).astype(dtype) for size in ((700, 700), 700))
    for one, other in zip(times(matrix, vector), (matrix @ vector, vector @ matrix)):
        np.testing.assert_allclose(one, other, tolerance, tolerance)


@pytest.mark.parametrize("length", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 2**21 + 3])
def test_rows_in_chunks_have_the_values_of_whole_rows(length):
    """No element is lost or repeated between chunks, with and without checks for signals."""
    k = at.lvector("k")
    terms = (k[:, None] + at.arange(n) * at.arange(n)) % 1009
    f = aesara.function([k, n], [terms.sum(axis=1), at.any(at.eq(terms, 1008), axis=1), (terms + n).prod(axis=1)])
    i = np.arange(length)
    values = (np.array([0, 5, 1000])[:, None] + i * i) % 1009
    expected = [values.sum(axis=1), (values == 1008).any(axis=1), (values + length).prod(axis=1)]
    results = []
    thread = threading.Thread(target=lambda: results.append(f([0, 5, 1000], length)))
    thread.start()
    thread.join()
    for got in (f([0, 5, 1000], length), *results):
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["length in a number", "length in an array", "length that a step knows"])
def test_the_work_of_kernels_is_known_where_they_are_launched(name):
    steps = list(walk_steps(CASES[name][0]._native.program.steps))
    works = [step.work() for step in steps if isinstance(step, Launch)]
    lengths = [size for work in works for sizes in work.terms for size in sizes]
    inputs = {item.buffer.name for item in CASES[name][0]._native.program.inputs}
    defined = {step.name for step in steps if isinstance(step, Define)}
    read = [e for e in walk(lengths) if e.op == "load"]
    assert all(e.attr in inputs for e in read)
    assert read or any(e.op == "var" and e.attr in defined for e in walk(lengths))


def test_an_interrupted_update_has_not_happened():
    a, b = aesara.shared(MANY.copy()), aesara.shared(np.float64(1))
    update = aesara.function([x], heavy.sum(), updates={a: a + heavy, b: b * 2})
    assert is_prompt(lambda: update(MANY))
    assert (a.get_value(borrow=True) == MANY).all() and b.get_value() == 1
    assert list(state)[1:3] == [0, 0]
    a.set_value(MANY[:3])
    update(MANY[:3])
    assert (a.get_value() > MANY[:3]).all() and b.get_value() == 2


def test_an_interrupt_ends_waiting_for_an_update():
    a = aesara.shared(np.float64(0))
    long = aesara.function([x], [], updates={a: a + heavy.sum()})
    began = threading.Event()

    def call() -> None:
        began.set()
        long(MANY[:1_500_000])

    thread = threading.Thread(target=call)
    thread.start()
    began.wait()
    time.sleep(0.02)
    with pytest.raises(KeyboardInterrupt):
        _thread.interrupt_main()
        long(MANY)
    thread.join()
    value = a.get_value()
    assert value > 0 and list(state)[1:3] == [0, 0]
    long(MANY[:3])
    assert a.get_value() > value


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
def test_other_signals_are_handled_and_the_call_goes_on():
    function = CASES["scan"][0]
    expected, calls = function(3_000_000), []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(function(3)))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        result = function(3_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert result == expected and calls == [function(3)]


def test_threads_that_are_not_the_main_one_go_on():
    function, results = CASES["scan"][0], []
    expected = function(3_000_000)
    thread = threading.Thread(target=lambda: results.append(function(3_000_000)))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        _thread.interrupt_main()
        time.sleep(5)
    thread.join()
    assert results == [expected]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_sigint_ends_a_program():
    script = """
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import aesara
        import aesara.tensor as at
        n = at.lscalar("n")
        f = aesara.function([n], aesara.scan(lambda u: at.sin(u) + 1, outputs_info=[1.0], n_steps=n)[0][-1])
        print("ready", flush=True)
        try:
            f(10**8)
        except KeyboardInterrupt:
            print(f(3).shape)
            sys.exit(7)
    """
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "()\n"
        assert process.wait() == 7
