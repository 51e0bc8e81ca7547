"""Count the function calls of a piece of Python: a measure independent of clocks and other processes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["calls_in"]


def calls_in(work: Callable[[], Any]) -> int:
    """The number of calls, of functions in Python and in C, that `work` makes in this thread."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()  # what is collected when is a matter of chance
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return count
