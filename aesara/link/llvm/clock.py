"""A clock that compiled code can read: the system's own, reached by address."""

from __future__ import annotations

import ctypes
import functools
import sys
import time

from aesara.link.llvm.runtime import libm_address
from aesara.records import dataclass

__all__ = ["Clock", "system_clock"]


@dataclass(frozen=True)
class Clock:
    """A C function that writes the time to memory.

    Attributes
    ----------
    address
        Of the function.
    number
        What POSIX's ``clock_gettime`` wants as its first argument; None for a function that takes only the place to
        write to, and writes a single number of ticks.
    tick
        Seconds of one tick: nanoseconds where there is a `number`.
    """

    address: int
    number: int | None
    tick: float


@functools.cache
def system_clock() -> Clock | None:
    """The clock of this system, or None if it is not known."""
    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        frequency = ctypes.c_int64()
        kernel.QueryPerformanceFrequency(ctypes.byref(frequency))
        address = ctypes.cast(kernel.QueryPerformanceCounter, ctypes.c_void_p).value
        return None if not address or not frequency.value else Clock(address, None, 1 / frequency.value)
    address = libm_address("clock_gettime")
    # The structure that it fills is two 64-bit numbers only where pointers have 64 bits.
    if not address or not hasattr(time, "CLOCK_MONOTONIC") or sys.maxsize < 2**32:
        return None
    return Clock(address, time.CLOCK_MONOTONIC, 1e-9)
