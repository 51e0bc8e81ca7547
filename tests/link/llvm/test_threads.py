"""Compilation and calls in several threads at once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.ir import expr
from tests.closeness import assert_close


@pytest.mark.slow
def test_compiling_in_threads():
    def work(k):
        x = at.matrix("x")
        y = at.tanh(x * k).sum(axis=0) + at.exp(x[0]) * x.shape[0]
        f = aesara.function([x], [y, aesara.grad(y.sum(), x)])
        value = np.linspace(-1, 1, 12).reshape(3, 4)
        got = f(value)
        np.testing.assert_allclose(got[0], np.tanh(value * k).sum(axis=0) + np.exp(value[0]) * 3, rtol=1e-13)
        return True

    with config.change_flags(native_cache=False), ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(16)))


def test_calling_one_function_from_threads():
    x = at.vector("x")
    f = aesara.function([x], (at.exp(x).dot(at.exp(-x)), at.cumsum(x)))

    def work(n):
        value = np.linspace(0, 1, n)
        for _ in range(50):
            total, running = f(value)
            np.testing.assert_allclose(total, n, rtol=1e-12)
            np.testing.assert_allclose(running, np.cumsum(value), rtol=1e-12)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, [3, 1000, 17, 5000]))


def test_emptying_the_table_of_expressions_changes_nothing(monkeypatch):
    monkeypatch.setattr(expr, "_TABLE_LIMIT", 0)
    x = at.matrix("x")
    for _ in range(2):
        f = aesara.function([x], [at.exp(x).sum(axis=1), (x - x.max(axis=0)).T.dot(x)])
        value = np.arange(6.0).reshape(2, 3)
        got = f(value)
        assert_close(got[0], np.exp(value).sum(axis=1))
        assert_close(got[1], (value - value.max(axis=0)).T @ value)
        # functions with loops are kept for the next time, and are made of expressions, too
        g = aesara.function([x], [at.tri_gamma(x), at.polygamma(2, x) * at.tri_gamma(x + 1)])
        assert g._native.report.python_nodes == {} and np.isfinite(g(value + 1)).all()


_LEFT_BEHIND = """
import atexit, threading

busy, begun = [], threading.Event()

def say():
    thread.join(30)  # which ends when it wants to compile again
    print("compiling" if busy else "at rest", "alive" if thread.is_alive() else "ended")

# These run in the opposite order, and after what aesara does at exit.
atexit.register(say)
atexit.register(lambda: print("compiling" if busy else "at rest"))

import aesara
import aesara.tensor as at
from aesara.link.llvm import jit

emit = jit._object

def slow(*arguments, **options):
    busy.append(True)
    begun.set()
    threading.Event().wait(0.5)
    result = emit(*arguments, **options)
    busy.pop()
    return result

jit._object = slow

def compile_forever():
    x = at.dvector("x")
    while True:
        aesara.function([x], at.exp(x))

thread = threading.Thread(target=compile_forever, daemon=True)
thread.start()
begun.wait()
"""


@pytest.mark.slow
def test_the_end_of_the_process_waits_for_threads_that_compile():
    done = subprocess.run([sys.executable, "-c", _LEFT_BEHIND], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.splitlines() == ["at rest", "at rest ended"], done.stdout
