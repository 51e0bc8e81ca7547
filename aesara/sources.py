"""State of the package's source files, by which what was made of them is found again."""

from __future__ import annotations

import functools
import os
import time

from aesara.digests import blake2b

__all__ = ["PACKAGE", "state_of"]

#: the folder of the package
PACKAGE = os.path.dirname(os.path.abspath(__file__))
#: time at which the process began to read the sources, less the resolution of times of files
_BEGUN = time.time() - 0.05


@functools.cache
def state_of(*paths: str) -> str | None:
    """Return a digest of names, sizes and times of source files and of all in folders, by paths within the package.

    Times are those of the contents and of the entry in the file system: an installer may restore the first. None if one
    of them was changed after the process began to read the sources, so that it may not be what was read, or
    if it cannot be looked at.
    """
    try:
        found = [(path, _state(os.path.join(PACKAGE, path))) for path in paths]
    except OSError:
        return None
    return None if any(state is None for _, state in found) else _digest(found)


def _state(path: str) -> object:
    """Return the size and the time of a file, or the digest of a folder; None if it may not be what was read."""
    if path.endswith(".py"):
        return _state_of_file(os.stat(path))
    found: list[tuple[str, object]] = []
    with os.scandir(path) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(".py"):
                state = _state_of_file(entry.stat())
            elif name != "__pycache__" and entry.is_dir():
                state = _state(entry.path)
            else:
                continue
            if state is None:
                return None
            found.append((name, state))
    return _digest(sorted(found))


def _state_of_file(status: os.stat_result) -> object:
    if status.st_mtime > _BEGUN or status.st_ctime > _BEGUN:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(found: object) -> str:
    return blake2b(repr(found).encode(), digest_size=20).hexdigest()
