"""Compilation of code that every graph needs, in a thread, while the first graph is rewritten.

LLVM runs without the GIL. During the rewrites of the first graph of a process, a thread compiles the routines that all
functions share, and functions of `vecmath` outside of modules: 20% of this graph's compile time.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator

from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply
from aesara.graph.traversal import io_toposort
from aesara.ir import vecmath
from aesara.link.llvm.jit import load_vecmath, postpone_stores
from aesara.link.llvm.runtime.code import routine_words
from aesara.link.llvm.target import current_target, target_named
from aesara.scalar.native import Primitive
from aesara.utils import free_in_children

__all__ = ["begin", "finish", "prepare"]

#: switch interval in seconds while the thread runs.  LLVM is called a dozen times, and each call ends by waiting for
#: the GIL; with Python's default of five milliseconds the thread would not finish earlier than the rewrites. Shorter
#: intervals cost time, as the thread also translates.
_SWITCH_INTERVAL = 2e-4

_beginning = free_in_children(threading.Lock())
_begun = False
_thread: threading.Thread | None = None
_ready = threading.Event()


def prepare() -> None:
    """Prepare the Python part of `begin`; called when the package is imported."""
    target_named("native")


def begin(nodes: Iterable[Apply]) -> None:
    """Start to compile what the nodes of a graph need, if it is the first graph and a processor is idle."""
    global _begun, _thread
    with _beginning:
        first, _begun = not _begun, True
    if first and _processors() > 1:
        functions = _vecmath_functions(nodes)
        thread = threading.Thread(target=_compile, args=(functions,), name="aesara.in_advance", daemon=True)
        with contextlib.suppress(RuntimeError):  # the limit of threads may be reached
            thread.start()
            _thread = thread


def finish() -> None:
    """Wait for the work started by `begin`."""
    if _thread is not None:
        _ready.wait()


def _join() -> None:
    if _thread is not None:
        _thread.join()


atexit.register(_join)  # an exit while a file is written to the cache would leave it there half written
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_join)  # a child does not have the thread


def _compile(functions: Iterable[tuple[str, str]]) -> None:
    stores: list[Callable[[], None]] = []
    try:
        # Code that fails here is compiled again on use, with an error message.
        with contextlib.suppress(Exception), _short_switch_interval(), postpone_stores() as stores:
            target = current_target()
            if target.runs:
                routine_words(())
                for name, dtype in functions:
                    load_vecmath(name, dtype, target)
    finally:
        _ready.set()
    for store in stores:
        store()


@contextlib.contextmanager
def _short_switch_interval() -> Iterator[None]:
    """Shorten the switch interval, so that threads that wait for the GIL get it soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(_SWITCH_INTERVAL, before))
    shortened = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == shortened:  # unless the user has changed it
            sys.setswitchinterval(before)


def _vecmath_functions(nodes: Iterable[Apply]) -> list[tuple[str, str]]:
    """Return names and dtypes of the functions of `vecmath` that nodes need and that are outside of modules."""
    found: dict[tuple[str, str], None] = {}
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node.op, HasInnerGraph):
            pending += io_toposort(node.op.inner_inputs, node.op.inner_outputs)
        native = getattr(getattr(node.op, "scalar_op", None), "native", None)
        if isinstance(native, Primitive):
            type = node.outputs[0].type
            for name in vecmath.dependencies(native.name, type.dtype):
                if type.ndim > 0 or not vecmath.has_vectors(name):
                    found[name, type.dtype] = None
    return list(found)


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
