"""The system's clock, which compiled code calls by address."""

from __future__ import annotations

import ctypes
import functools
import sys
import time

from aesara.link.llvm.addresses import libm_address
from aesara.records import dataclass

__all__ = ["Clock", "system_clock"]


@dataclass(frozen=True)
class Clock:
    """A C function that writes the time to memory.

    Attributes
    ----------
    address
        Address of the function.
    number
        First argument of POSIX's ``clock_gettime``; None for a function whose only argument is a pointer, to which it
        writes a number of ticks.
    tick
        Seconds per tick; nanoseconds if there is a `number`.
    """

    address: int
    number: int | None
    tick: float


@functools.cache
def system_clock() -> Clock | None:
    """Return the clock of this system; None if it is not known."""
    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        frequency = ctypes.c_int64()
        kernel.QueryPerformanceFrequency(ctypes.byref(frequency))
        address = ctypes.cast(kernel.QueryPerformanceCounter, ctypes.c_void_p).value
        return None if not address or not frequency.value else Clock(address, None, 1 / frequency.value)
    address = libm_address("clock_gettime")
    # struct timespec has two 64-bit numbers only with 64-bit pointers.
    if not address or not hasattr(time, "CLOCK_MONOTONIC") or sys.maxsize < 2**32:
        return None
    return Clock(address, time.CLOCK_MONOTONIC, 1e-9)
