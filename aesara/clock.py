"""The clock that durations are measured by, in one place: who wants other times, such as a test, replaces `now`."""

from __future__ import annotations

import time

#: Seconds since some moment.
now = time.perf_counter

__all__ = ["now"]
