"""Processes that a campaign forks."""

from __future__ import annotations

import ctypes
import signal
import sys

#: Linux's number for the signal that a process gets when the one that has forked it ends
_PARENT_DEATH_SIGNAL = 1


def end_with_parent() -> None:
    """Let this process be killed as soon as the one that has forked it ends: with a fault it may go on for ever."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
