"""Number of threads of the OpenBLAS behind SciPy: its functions, and a word that compiled code uses.

`runtime.one_thread` calls them. Libraries that cannot be queried are left alone: MKL, Accelerate, BLIS,
an OpenBLAS built for OpenMP (whose number belongs to each thread), and any library on Windows, where functions of
linked libraries are not found.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from aesara.link.llvm.addresses import fortran_library

__all__ = ["address", "number_of_threads", "set_number_of_threads"]

#: prefixes and suffixes of names, in SciPy's wheels and in builds of OpenBLAS with 64-bit integers
_FORMS = [(prefix, suffix) for prefix in ("scipy_", "") for suffix in ("", "64_")]
#: value of ``openblas_get_parallel`` for threads of its own
_OWN_THREADS = 1

#: number of calls that need one thread, times ``1 << 32``, plus the number of threads before the first of them
_calls = ctypes.c_uint64(0)


_NAMES = ("get_num_threads", "set_num_threads", "get_parallel")


@functools.cache
def _functions() -> tuple[Any, Any] | None:
    """Return the functions that get and set the number of threads; None if unknown or not process-wide."""
    library = fortran_library("blas")
    for prefix, suffix in _FORMS if library is not None else ():
        named: list[Any] = [getattr(library, f"{prefix}openblas_{name}{suffix}", None) for name in _NAMES]
        if None not in named:
            get, put, kind = named
            put.restype, put.argtypes = None, [ctypes.c_int]
            return (get, put) if kind() == _OWN_THREADS else None
    return None


def address(symbol: str) -> int | None:
    """Return the address of the symbol ``threads.calls``, ``threads.get`` or ``threads.set``; None if unknown."""
    if symbol == "threads.calls":
        return ctypes.addressof(_calls)
    functions = _functions()
    if functions is None:
        return None
    return ctypes.cast(functions[symbol == "threads.set"], ctypes.c_void_p).value


def number_of_threads() -> int | None:
    """Return the number of threads that the library uses now; None if unknown."""
    functions = _functions()
    return None if functions is None else int(functions[0]())


def set_number_of_threads(number: int) -> None:
    """Set the number of threads of the library, if possible."""
    functions = _functions()
    if functions is not None:
        functions[1](number)


def _forget_calls() -> None:
    """Restore the number of threads in a forked child, which lacks the threads whose calls have changed it."""
    before, _calls.value = _calls.value & 0xFFFFFFFF, 0
    if before and number_of_threads() == 1:
        set_number_of_threads(before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_calls)
