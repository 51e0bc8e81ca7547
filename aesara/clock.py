"""The clock that durations are measured by, in one place: who wants other times, such as a test, replaces `now`."""

from __future__ import annotations

import time

#: Seconds since some moment.
now = time.perf_counter
#: When the package was imported.
IMPORTED_AT = now()

__all__ = ["IMPORTED_AT", "now"]
