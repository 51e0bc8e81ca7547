"""Measure the cost of many compilations, many calls and many processes.

``python -m tools.endurance``, or with some of the names ``compiles``, ``calls``, ``processes``.  Prints what it has
measured; the exit status is 1 if something has grown or failed.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import aesara
import aesara.tensor as at

LIMIT_MB = 50

PROGRAM = """
import numpy as np, aesara, aesara.tensor as at
x = at.vector("x")
f = aesara.function([x], at.tanh(x) + at.exp(x))
assert abs(f(np.ones(2))[0] - np.tanh(1) - np.exp(1)) < 1e-14
"""


def resident_mb() -> float:
    """Resident memory of this process, after what can be freed has been freed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def compile_one(number: int) -> None:
    """Compile, call and drop a function that differs from those of other numbers."""
    x, m = at.dvector("x"), at.dmatrix("m")
    results = [at.exp(x * (number + 0.5)).sum(), at.dot(m, x) + number]
    f = aesara.function([x, m], results + [aesara.grad(results[0], x)] * (number % 3))
    np.testing.assert_allclose(f(np.full(3, 1e-3), np.ones((2, 3)))[1], 3e-3 + number)


def compiles(count: int = 1000) -> bool:
    """Compile many functions, one after the other."""
    with tempfile.TemporaryDirectory() as folder, aesara.config.change_flags(native_cache_dir=folder):
        for number in range(20):
            compile_one(number)
        before, started = resident_mb(), time.perf_counter()
        for number in range(count):
            compile_one(number + 100)
        seconds, growth = time.perf_counter() - started, resident_mb() - before
    print(f"compiles: {count} functions in {seconds:.0f} s, memory grew by {growth:.1f} MB")
    return growth < LIMIT_MB


def calls(count: int = 1_000_000) -> bool:
    """Call one function many times."""
    x = at.dvector("x")
    total = aesara.shared(np.zeros(100))
    f = aesara.function([x], [at.exp(x), at.dot(x, total)], updates={total: total + x})
    value = np.full(100, 1e-3)
    for _ in range(10_000):
        f(value)
    before, started = resident_mb(), time.perf_counter()
    for _ in range(count):
        f(value)
    seconds, growth = time.perf_counter() - started, resident_mb() - before
    print(f"calls: {count} calls in {seconds:.1f} s, memory grew by {growth:.1f} MB")
    return growth < 1


def processes(count: int = 16) -> bool:
    """Start processes at the same time that compile the same function, on an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"AESARA_FLAGS": f"native_cache_dir={folder}"}
        started = time.perf_counter()
        running = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment) for _ in range(count)]
        failed = sum(process.wait() != 0 for process in running)
        entries = len(list(Path(folder, "objects").iterdir()))
    seconds = time.perf_counter() - started
    print(f"processes: {count} processes in {seconds:.1f} s, {failed} failed, {entries} file(s) in the cache")
    return failed == 0 and entries == 2  # the function, and the routines that all functions share


PARTS: dict[str, Callable[[], bool]] = {"compiles": compiles, "calls": calls, "processes": processes}

if __name__ == "__main__":
    good = [PARTS[name]() for name in sys.argv[1:] or PARTS]
    sys.exit(0 if all(good) else 1)
