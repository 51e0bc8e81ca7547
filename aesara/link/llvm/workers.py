"""The pool of threads that take part in loops of compiled functions; `runtime.sharing` says how they work together.

The pool is started by the first loop that is long enough for a second thread. Its threads are daemons that wait, in
machine code and without the GIL, for a lock of their own.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType

from aesara.configdefaults import config
from aesara.ir.typed.types import Struct
from aesara.link import guards
from aesara.link.llvm.cores import available_cores
from aesara.link.llvm.jit import load_functions
from aesara.link.llvm.layout import STATE_WORKERS
from aesara.link.llvm.runtime.sharing import MOST_THREADS, end_of_worker_chunk, share_loop, work_for_others
from aesara.link.llvm.runtime.slices import LEAST_WORK
from aesara.link.llvm.runtime.structures import Worker, WorkerPool

__all__ = ["limit_threads", "number_of_threads", "set_least_work", "start", "threads_in_use", "use_threads"]

#: size of a worker in words: a cache line of its own
_WORKER = 8
_FIRST_WORKER = WorkerPool.field_named("workers")[0].offset // 8

_python = ctypes.pythonapi
_new_lock = _python.PyThread_allocate_lock
_new_lock.restype, _new_lock.argtypes = ctypes.c_void_p, []
_acquire = _python.PyThread_acquire_lock
_acquire.restype, _acquire.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]

_pool = (ctypes.c_int64 * (_FIRST_WORKER + MOST_THREADS))()
_workers = (ctypes.c_int64 * (_WORKER * MOST_THREADS))()
_lock = threading.Lock()
#: workers that were started
_started = 0
#: value of the option `threads` that is in force, and the limit that `limit_threads` has set
_option, _limit = -1, MOST_THREADS


def _word(structure: type[Struct], name: str) -> int:
    offset: int = structure.field_named(name)[0].offset
    return offset // 8


def number_of_threads() -> int:
    """Return the number of threads that a loop may use, with the one that calls: the option or all cores, and at most
    the limit."""
    return min(config.threads or available_cores(), _limit)


def threads_in_use() -> int:
    """Return the number of threads that loops use now; 0 if the pool is not started."""
    return _pool[_word(WorkerPool, "threads")]


def use_threads() -> None:
    """Apply the option `threads` to the pool, if it is started, and let `threadpoolctl` control it, if it is loaded."""
    if threads_in_use() != 0 and config.threads != _option:
        start()
    _register_pool()


def limit_threads(number: int) -> None:
    """Limit the number of threads that loops use, whatever the option `threads` is."""
    global _limit
    _limit = max(1, min(number, MOST_THREADS))
    if threads_in_use() != 0:
        start()


def _register_pool() -> None:
    """Let `threadpoolctl` show and limit the pool of threads, if the program has imported it."""
    package = sys.modules.get("threadpoolctl")
    if package is not None and hasattr(package, "register"):
        _register(package)


@functools.cache
def _register(package: ModuleType) -> None:
    """Register the pool under the name of the library that compiles functions, which the process has loaded."""
    methods = {
        "get_num_threads": lambda self: number_of_threads(),
        "set_num_threads": lambda self, number: limit_threads(number),
        "get_version": lambda self: None,
    }
    names = {"user_api": "aesara", "internal_api": "aesara", "filename_prefixes": ("libllvmlite", "llvmlite")}
    package.register(type("PoolController", (package.LibController,), methods | names))


def start() -> None:
    """Start as many workers as are missing, and set the number of threads that loops use from now on."""
    global _started, _option
    with _lock:
        _option, count = config.threads, number_of_threads()
        with contextlib.suppress(RuntimeError):  # no more threads, or the interpreter ends
            while _started < count - 1:
                _start_worker(_started)
                _started += 1
        _pool[_word(WorkerPool, "threads")] = min(count, _started + 1)


def _start_worker(number: int) -> None:
    base = _WORKER * number
    for name in ("bell", "done"):
        lock = _new_lock()
        if not lock:
            raise MemoryError("a thread of the pool needs a lock")
        _acquire(lock, 1)
        _workers[base + _word(Worker, name)] = lock
    _workers[base + _word(Worker, "loop")] = 0
    _pool[_FIRST_WORKER + number] = ctypes.addressof(_workers) + 8 * base
    arguments = ctypes.addressof(_pool), number
    threading.Thread(target=_life(), args=arguments, name=f"aesara-{number + 1}", daemon=True).start()


@functools.cache
def _life() -> Callable[[int, int], None]:
    """Return the function in which a worker spends its life."""
    addresses = load_functions((work_for_others, end_of_worker_chunk, share_loop), name="sharing")
    _pool[_word(WorkerPool, "chunk")] = addresses[end_of_worker_chunk]
    _pool[_word(WorkerPool, "share")] = addresses[share_loop]
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(addresses[work_for_others])


def _forget_workers() -> None:
    """Leave a forked child without workers: it starts its own."""
    global _started, _lock
    _started, _lock = 0, threading.Lock()
    for name in ("threads", "callers"):
        _pool[_word(WorkerPool, name)] = 0
    for k in range(MOST_THREADS):
        _pool[_FIRST_WORKER + k] = 0


def set_least_work(nanoseconds: float) -> None:
    """Set the least estimated work for each thread."""
    ctypes.c_double.from_address(ctypes.addressof(_pool) + 8 * _word(WorkerPool, "least_work")).value = nanoseconds


set_least_work(LEAST_WORK)
_pool[_word(WorkerPool, "starter")] = id(start)
for _name, _function in (("acquire", _acquire), ("release", _python.PyThread_release_lock)):
    _pool[_word(WorkerPool, _name)] = ctypes.cast(_function, ctypes.c_void_p).value or 0
guards.state[STATE_WORKERS // 8] = ctypes.addressof(_pool)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
