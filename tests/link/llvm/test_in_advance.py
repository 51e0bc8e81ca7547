"""Code that every function needs is compiled in a thread while the first graph of a process is rewritten.

Each program runs in a process of its own, where no graph has been compiled; it says what it has seen.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import textwrap

import pytest

from aesara.link.llvm import in_advance
from aesara.link.llvm.cache import ObjectCache
from aesara.link.llvm.jit import load_routines, postpone_stores
from aesara.link.llvm.target import current_target, target_named

pytestmark = pytest.mark.skipif(not current_target().runs, reason="code for another machine is not run")

HEAD = """
import json, os, sys, threading
import numpy as np
import aesara, aesara.tensor as at
from aesara.link.llvm import in_advance, jit
from aesara.link.llvm.runtime import code

os.sched_getaffinity = lambda who: {0, 1}  # there may be one processor only
threads = []
load = jit.load_routines

def loaded(text, names, *rest, **more):
    threads.append((threading.current_thread().name, sorted(names)[0]))
    return load(text, names, *rest, **more)

code.load_routines = jit.load_routines = loaded
s, v = at.dscalar("s"), at.dvector("v")
"""
THREAD = "aesara.in_advance"


def seen(program, flags="native_cache=False"):
    environment = {**os.environ, "AESARA_FLAGS": flags}
    text = HEAD + textwrap.dedent(program)
    ended = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=200, env=environment, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_first_function_finds_its_routines():
    found = seen("""
        before = sys.getswitchinterval()
        alive = threading.active_count()
        f = aesara.function([s], at.sin(s) + 1)
        in_advance._thread.join()
        value = float(f(1e17))
        after = sys.getswitchinterval()
        g = aesara.function([v], at.cos(v))
        print(json.dumps([threads, value, before == after, threading.active_count() - alive, float(g([1e17])[0])]))
    """)
    threads, value, same_interval, more_threads, cosine = found
    # of a number and not of vectors, which the second function needs and compiles itself
    assert threads[:2] == [[THREAD, "ae.abort"], [THREAD, "replace_large.float64"]]
    assert [name for name, _ in threads[2:]] == ["MainThread"]
    assert abs(value - math.sin(1e17) - 1) < 1e-15 and abs(cosine - math.cos(1e17)) < 1e-15
    assert same_interval and more_threads == 0


def test_functions_of_a_step_are_found_and_those_of_vectors():
    found = seen("""
        step = aesara.scan(lambda x, t: at.tan(x) + t, v, outputs_info=s)[0]
        f = aesara.function([s, v], [step, at.cos(v.astype("float32"))])
        print(json.dumps(threads))
    """)
    names = ["ae.abort", "replace_large.float32", "replace_large.float64", "replace_large_lanes.float32.x16"]
    assert sorted(name for who, name in found if who == THREAD) == names


@pytest.mark.parametrize(
    "obstacle",
    [
        "os.sched_getaffinity = lambda who: {0}",
        "threading.Thread.start = lambda self: exec('raise RuntimeError(\"no more threads\")')",
        "aesara.config.mode = 'FAST_COMPILE'; aesara.config.linker = 'py'",
    ],
    ids=["one processor", "no threads", "node by node"],
)
def test_no_thread(obstacle):
    found = seen(f"""
        {obstacle}
        f = aesara.function([s], at.sin(s) + 1, mode=aesara.Mode(aesara.config.linker, "fast_run"))
        print(json.dumps([threads, float(f(0.0))]))
    """)
    assert all(who == "MainThread" for who, _ in found[0]) and found[1] == 1.0


def test_failures_in_the_thread_are_compiled_again():
    found = seen("""
        def failing(*given, **more):
            if threading.current_thread().name == "aesara.in_advance":
                raise MemoryError
            return loaded(*given, **more)

        code.load_routines = jit.load_routines = failing
        f = aesara.function([s], at.sin(s) + 1)
        print(json.dumps([threads, float(f(0.0)), sys.getswitchinterval()]))
    """)
    assert sorted(found[0]) == [["MainThread", "ae.abort"], ["MainThread", "replace_large.float64"]]
    assert found[1:] == [1.0, 0.005]


def test_a_graph_that_fails_leaves_nothing_behind():
    found = seen("""
        def failing(*given, **more):
            raise ValueError("no rewriting today")

        prepare, aesara.compile.FunctionMaker.prepare_fgraph = aesara.compile.FunctionMaker.prepare_fgraph, failing
        try:
            aesara.function([s], at.sin(s) + 1)
        except ValueError as error:
            said = str(error)
        aesara.compile.FunctionMaker.prepare_fgraph = staticmethod(prepare)
        f = aesara.function([s], at.sin(s) + 1)
        in_advance._thread.join()
        print(json.dumps([said, float(f(0.0)), sys.getswitchinterval(), [who for who, _ in threads]]))
    """)
    assert found == ["no rewriting today", 1.0, 0.005, [THREAD, THREAD]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_that_is_forked_meanwhile():
    found = seen("""
        import time
        lower = in_advance.routine_words

        def slowly(*given):
            time.sleep(0.2)
            return lower(*given)

        in_advance.routine_words = slowly
        in_advance.begin([])
        child = os.fork()
        f = aesara.function([s], at.sin(s) + 1)
        good = f(0.0) == 1.0 and sys.getswitchinterval() == 0.005
        if child == 0:
            os._exit(0 if good else 1)
        print(json.dumps([good, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]))
    """)
    assert found == [True, 0]


def test_what_the_thread_compiles_is_kept_on_disk(tmp_path):
    program = """
        parse, texts = jit._parse, []
        jit._parse = lambda *given: (texts.append(given[0]), parse(*given))[1]
        f = aesara.function([s], at.sin(s) + 1)
        in_advance._thread.join()
        print(json.dumps([len(texts), float(f(0.0))]))
    """
    flags = f"function_cache=False,native_cache_dir={tmp_path}"
    assert [seen(program, flags) for _ in range(2)] == [[3, 1.0], [0, 1.0]]
    assert len(list((tmp_path / "objects").iterdir())) == 3


def test_a_switch_interval_set_meanwhile_is_kept():
    found = seen("""
        words = in_advance.routine_words
        chosen = threading.Event()
        in_advance.routine_words = lambda *given: (chosen.wait(), words(*given))[1]
        in_advance.begin([])
        while sys.getswitchinterval() == 0.005:
            pass
        sys.setswitchinterval(0.25)
        chosen.set()
        in_advance._thread.join()
        print(json.dumps([sys.getswitchinterval(), len(threads)]))
    """)
    assert found == [0.25, 1]


def test_only_stores_of_the_block_are_postponed(tmp_path):
    cache, target = ObjectCache(tmp_path / "objects"), target_named("native")
    texts = [f"define i64 @ae.number() nounwind {{\nret i64 {number}\n}}\n" for number in range(3)]

    def compiled(number):
        load_routines(texts[number], ("number",), cache, 0, target)
        return len(list(cache.folder.iterdir())) if cache.folder.exists() else 0

    with postpone_stores() as stores:
        assert [compiled(0), compiled(1)] == [0, 0]
    assert compiled(2) == 1
    for store in stores:
        store()
    assert compiled(0) == 3


@pytest.mark.parametrize("known, count", [(None, 1), (1, 1), (6, 6)])
def test_number_of_processors(known, count, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: known)
    assert in_advance._processors() == count
