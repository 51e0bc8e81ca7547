"""State of the package's source files, by which what was made of them is found again."""

from __future__ import annotations

import functools
import os
import time
from typing import Any

from aesara.digests import blake2b

__all__ = ["PACKAGE", "state_of_file", "state_of_folder"]

#: the folder of the package
PACKAGE = os.path.dirname(os.path.abspath(__file__))
#: time at which the process began to read the sources, less the resolution of times of files
_BEGUN = time.time() - 0.05


def state_of_file(path: str) -> tuple[int, int] | None:
    """Return the size and the time of a source file of the package; None if it may not be the one that was read.

    That is so if it was changed after the process began to read the sources.
    """
    return _state(os.stat(os.path.join(PACKAGE, path)))


@functools.cache
def state_of_folder(folder: str) -> str | None:
    """Return a digest of the names and states of the source files in a folder of the package, with those within.

    None if one of them may not be the one that was read.
    """
    found: list[tuple[Any, ...]] = []
    with os.scandir(os.path.join(PACKAGE, folder)) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(".py"):
                state = _state(entry.stat())
                if state is None:
                    return None
                found.append((name, *state))
            elif name != "__pycache__" and entry.is_dir():
                within = state_of_folder(os.path.join(folder, name))
                if within is None:
                    return None
                found.append((name, within))
    found.sort()
    return blake2b(repr(found).encode(), digest_size=20).hexdigest()


def _state(status: os.stat_result) -> tuple[int, int] | None:
    if status.st_mtime > _BEGUN or status.st_ctime > _BEGUN:
        return None
    return status.st_size, status.st_mtime_ns
