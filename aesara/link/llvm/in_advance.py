"""Machine code that a graph needs however it is rewritten, made beside Python while it is rewritten.

LLVM runs without the GIL. So a thread compiles the routines that all functions share, and functions of `vecmath` that
stand outside of modules, during the rewrites of the first graph of a process: a fifth of what this graph takes to
compile.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator

from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply
from aesara.graph.traversal import io_toposort
from aesara.ir import vecmath
from aesara.link.llvm.jit import load_vecmath, stores_postponed
from aesara.link.llvm.shared.code import routine_words, text_of_calls
from aesara.link.llvm.target import current_target, target_named
from aesara.scalar.native import Primitive
from aesara.utils import free_in_children

__all__ = ["begin", "finish", "prepare"]

#: Seconds that a thread waits for the GIL before it asks for it.  LLVM is called a dozen times, and each call ends with
#: such a wait; with Python's own five milliseconds the thread would be no faster than what it runs beside.
_PATIENCE = 2e-5

_beginning = free_in_children(threading.Lock())
_begun = False
_thread: threading.Thread | None = None
_ready = threading.Event()


def prepare() -> None:
    """Make what `begin` begins with, which Python makes; called when the package is loaded."""
    target_named("native")
    text_of_calls()


def begin(nodes: Iterable[Apply]) -> None:
    """Start to compile what the nodes of a graph need, if it is the first one and there is a processor to spare."""
    global _begun, _thread
    with _beginning:
        first, _begun = not _begun, True
    if first and _processors() > 1:
        functions = _outside(nodes)
        thread = threading.Thread(target=_compile, args=(functions,), name="aesara.in_advance", daemon=True)
        with contextlib.suppress(RuntimeError):  # there may be no more threads
            thread.start()
            _thread = thread


def finish() -> None:
    """Wait for what `begin` has started."""
    if _thread is not None:
        _ready.wait()


def _join() -> None:
    if _thread is not None:
        _thread.join()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_join)  # a child has no thread that ends what this one has begun


def _compile(functions: Iterable[tuple[str, str]]) -> None:
    stores: list[Callable[[], None]] = []
    try:
        # Whoever needs what fails here compiles it again, and says what is wrong.
        with contextlib.suppress(Exception), _asking_often(), stores_postponed() as stores:
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
def _asking_often() -> Iterator[None]:
    """Threads that wait for the GIL get it soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(_PATIENCE, before))
    ours = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == ours:  # and not what somebody has chosen meanwhile
            sys.setswitchinterval(before)


def _outside(nodes: Iterable[Apply]) -> list[tuple[str, str]]:
    """Names and dtypes of the functions of `vecmath` that nodes need and that stand outside of modules."""
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
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
