"""The number of threads of the OpenBLAS behind SciPy: its functions for that, and a word that compiled code keeps.

`shared.one_thread` is the code that uses them.  Libraries that cannot be asked are left alone: MKL, Accelerate, BLIS,
an OpenBLAS made for OpenMP (whose number belongs to each thread), and any library on Windows, where a module does not
find the functions of what it is linked with.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from typing import Any

from aesara.link.llvm.runtime import extension_file

__all__ = ["address", "number_of_threads", "set_number_of_threads"]

#: how names begin and end: in SciPy's wheels, and in builds of OpenBLAS with 64-bit integers
_FORMS = [(prefix, suffix) for prefix in ("scipy_", "") for suffix in ("", "64_")]
#: what ``openblas_get_parallel`` says of threads of its own
_OWN_THREADS = 1

#: the calls that want one thread, times ``1 << 32``, and the number of threads from before the first of them
_calls = ctypes.c_uint64(0)


_NAMES = ("get_num_threads", "set_num_threads", "get_parallel")


@functools.cache
def _functions() -> tuple[Any, Any] | None:
    """Return the functions that get and set the number of threads; None if it is not known, or not the process's."""
    path = extension_file("linalg", "cython_blas")
    library = None
    if path is not None:
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)  # finds what the module is linked with, too
    for prefix, suffix in _FORMS if library is not None else ():
        named: list[Any] = [getattr(library, f"{prefix}openblas_{name}{suffix}", None) for name in _NAMES]
        if None not in named:
            get, put, kind = named
            put.restype, put.argtypes = None, [ctypes.c_int]
            return (get, put) if kind() == _OWN_THREADS else None
    return None


def address(symbol: str) -> int | None:
    """The address of what the code calls ``threads.calls``, ``threads.get`` and ``threads.set``; None if unknown."""
    if symbol == "threads.calls":
        return ctypes.addressof(_calls)
    functions = _functions()
    if functions is None:
        return None
    return ctypes.cast(functions[symbol == "threads.set"], ctypes.c_void_p).value


def number_of_threads() -> int | None:
    """Return the number of threads that the library uses now; None if that is not known."""
    functions = _functions()
    return None if functions is None else int(functions[0]())


def set_number_of_threads(number: int) -> None:
    """Let the library use so many threads, if it can be told."""
    functions = _functions()
    if functions is not None:
        functions[1](number)


def _forget_calls() -> None:
    """Restore the number of threads in a child, which has none of the threads whose calls have changed it."""
    before, _calls.value = _calls.value & 0xFFFFFFFF, 0
    if before and number_of_threads() == 1:
        set_number_of_threads(before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_calls)
