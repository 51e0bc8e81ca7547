"""Number of processor cores that this process may use."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["available_cores"]

_SYSTEM = Path("/sys/devices/system/cpu")
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def available_cores() -> int:
    """Return the number of physical cores in the affinity mask, within the quota of the control group (Linux).

    ``OMP_NUM_THREADS``, if set to a number, is an upper bound as well. Where cores are not distinguished from logical
    processors, the number of the latter is returned.
    """
    limits = [_physical_cores(_processors()), _quota(), _limit_of_environment()]
    return max(1, math.ceil(min(limits)))


def _processors() -> list[int]:
    """Return the numbers of the logical processors on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _physical_cores(processors: Iterable[int]) -> int:
    """Return the number of cores of logical processors; each is a core of its own if the system does not say."""
    return len({_siblings(number) for number in processors})


def _siblings(number: int) -> str:
    """Return the logical processors of a core as the system lists them."""
    with contextlib.suppress(OSError):
        return (_SYSTEM / f"cpu{number}" / "topology" / "thread_siblings_list").read_text(encoding="ascii")
    return str(number)


def _quota() -> float:
    """Return the number of cores that the control group of this process may keep busy, infinity without a limit."""
    quota = math.inf
    for folder in _group_folders():
        with contextlib.suppress(OSError, ValueError):  # version 2; "max" is no number
            most, period = (folder / "cpu.max").read_text(encoding="ascii").split()
            quota = min(quota, int(most) / int(period))
    with contextlib.suppress(OSError, ValueError):  # version 1
        most, period = ((_GROUPS / "cpu" / f"cpu.cfs_{name}_us").read_text("ascii") for name in ("quota", "period"))
        if int(most) > 0:
            quota = min(quota, int(most) / int(period))
    return quota


def _group_folders() -> list[Path]:
    """Return the folders of the control group of this process and of those around it."""
    folders = [_GROUPS]
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text(encoding="utf-8").splitlines():
            if line.startswith("0::"):
                own = _GROUPS / line.removeprefix("0::").lstrip("/")
                folders += [own, *(folder for folder in own.parents if _GROUPS in folder.parents)]
    return folders


def _limit_of_environment() -> float:
    requested = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, int(requested)) if requested.isdecimal() else math.inf
