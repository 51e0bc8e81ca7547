"""Functions are freed with all that they hold."""

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.link.llvm.jit import Code
from tests.closeness import assert_close


def resident_kb():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def kinds():
    """Return functions of each kind, by name."""
    x, s = at.dvector("x"), aesara.shared(np.zeros(2))
    states, _ = aesara.scan(lambda a, b: a + b, sequences=[x], outputs_info=[np.float64(0)])
    return {
        "plain": aesara.function([x], at.exp(x)),
        "updates": aesara.function([x], s.sum(), updates={s: s + x}),
        "dict": aesara.function([x], {"a": x + 1}),
        "loop": aesara.function([x], states),
        "in Python": aesara.function([x], at.sort(x, kind="stable")),
        "reference": aesara.function([x], at.exp(x), mode="FAST_COMPILE"),
    }


@pytest.mark.parametrize("name", ["plain", "updates", "dict", "loop", "in Python", "reference"])
def test_functions_are_freed(name):
    f = kinds()[name]
    f(np.ones(2))
    held = [weakref.ref(f), weakref.ref(f.maker), weakref.ref(f.maker.fgraph)]
    if f._native is not None:
        (code,) = [part for part in f._native.table.anchor if isinstance(part, Code)]
        held += [weakref.ref(f._native), weakref.ref(code.library)]
    del f
    code = None
    gc.collect()
    assert [one() for one in held] == [None] * len(held)


def test_failures_hold_nothing():
    x, i = at.dvector("x"), at.lvector("i")
    f = aesara.function([x, i], x[i])
    with pytest.raises(IndexError):
        f(np.ones(2), np.array([5]))
    held = weakref.ref(f._native)
    del f
    gc.collect()
    assert held() is None


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@linux
def test_compilations_leave_little_behind():
    def compile_one(number):
        x, m = at.dvector("x"), at.dmatrix("m")
        f = aesara.function([x, m], [at.exp(x * (number + 0.5)).sum(), at.dot(m, x) + number])
        assert_close(f(np.zeros(3), np.ones((2, 3)))[0], 3)

    with config.change_flags(native_cache=False):
        for number in range(10):
            compile_one(number)
        before = resident_kb()
        for number in range(30):
            compile_one(number + 50)
    assert (resident_kb() - before) / 30 < 50


@linux
def test_calls_leave_nothing_behind():
    x, total = at.dvector("x"), aesara.shared(np.zeros(1000))
    f = aesara.function([x], [at.exp(x), at.dot(x, total)], updates={total: total + x})
    g = aesara.function([x], at.exp(x)[:-1], mode="FAST_COMPILE")
    value = np.full(1000, 1e-3)

    def call(times):
        for _ in range(times):
            f(value)
            f(value[::-1])
        for _ in range(times // 20):
            g(value)

    call(2000)
    before = resident_kb()
    call(10_000)
    assert resident_kb() - before < 1000


@linux
def test_loading_leaves_little_behind():
    x = at.dvector("x")
    data = pickle.dumps(aesara.function([x], at.exp(x)))
    for _ in range(20):
        pickle.loads(data)(np.ones(2))
    before = resident_kb()
    for _ in range(200):
        pickle.loads(data)(np.ones(2))
    assert (resident_kb() - before) / 200 < 20


ENDING = """
import pickle
import subprocess
import numpy as np
import aesara, aesara.tensor as at
x = at.dvector("x")
f = aesara.function([x], at.sort(at.exp(x))[::-1].cumsum(), profile=aesara.compile.profiling.ProfileStats(False))
f(np.ones(5))
g = pickle.loads(pickle.dumps(f))
g(np.ones(5))
g.itself = g
"""


def test_programs_end_quietly():
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
