"""Content-addressed cache of object code on disk.

The key is a digest of everything that determines the code: the IR text, LLVM's version, the target and this module's
format. An entry is one file, written under a temporary name and renamed, so readers see all of it or nothing and no
locks are needed. A damaged entry, or one under another key (the digest is of key and code), is ignored and replaced.
Since code is loaded from here, the folder and its files must belong to the user alone, and nobody else may replace the
folder or one above it; otherwise the cache is refused with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import random
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from aesara.configdefaults import config
from aesara.digests import blake2b
from aesara.file_owners import others_may_rename
from aesara.user_code import warn_user

__all__ = ["CacheWarning", "ObjectCache", "function_cache", "object_cache"]

_MAGIC = b"aesara-object-2\n"
#: size from which the oldest entries are removed
_MAX_BYTES = 512 * 2**20
#: mean number of writes between checks of the folder's size
_TRIM_EVERY = 64
#: own generator: the state of the module `random` belongs to the user, who may have seeded it
_random = random.Random()
#: age in seconds of a temporary file that a killed process has left
_STALE = 3600
#: age in seconds from which the use of an entry is recorded
_RECORD_USE = 86400


class CacheWarning(UserWarning):
    """Warning that compiled code on disk is not used, since other users could have written it."""


class ObjectCache:
    """A folder of object files; after any failure of the file system it acts as an empty cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._refused: set[Path] = set()  # paths with a warning

    def key(self, *parts: str) -> str:
        digest = blake2b(digest_size=20)
        for part in parts:
            digest.update(part.encode())
            digest.update(b"\0")
        return digest.hexdigest()

    def load(self, key: str) -> bytes | None:
        path = self.folder / f"{key}.o"
        try:
            if not self._is_safe():
                return None
            data = self._read(path)
        except OSError:
            return None
        head = len(_MAGIC)
        code = data[head + 20 :]
        if data[:head] != _MAGIC or _digest(key, code) != data[head : head + 20]:
            return None
        return code

    def _read(self, path: Path) -> bytes:
        """Return the content of an entry; empty if it is not trusted."""
        with open(path, "rb", opener=_open_entry) as file:
            status = os.fstat(file.fileno())  # of the opened file
            if not self._is_trusted(path, status, stat.S_ISREG):
                return b""
            if time.time() - status.st_mtime > _RECORD_USE:
                with contextlib.suppress(OSError):
                    os.utime(path)
            return file.read()

    def store(self, key: str, code: bytes) -> None:
        data = _MAGIC + _digest(key, code) + code
        try:
            if not os.path.isdir(self.folder):
                for folder in (*reversed(self.folder.parents), self.folder):
                    if not folder.exists():
                        folder.mkdir(mode=0o700, exist_ok=True)
            if not self._is_safe():
                return
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix="new-")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, self.folder / f"{key}.o")
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            return
        if _random.randrange(_TRIM_EVERY) == 0:
            self._trim()

    def _is_trusted(self, path: Path, status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
        """Return whether a file or folder is of this kind and only this user can write to it."""
        if not is_kind(status.st_mode):
            return False
        if not hasattr(os, "getuid"):
            return True
        if status.st_uid != os.getuid():
            fault = "belongs to another user"
        elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            fault = "can be written by other users"
        else:
            return True
        return self._refuse(path, fault, "Remove it, or let the option native_cache_dir name a folder of your own.")

    def _is_safe(self) -> bool:
        """Return whether only this user can write to the folder or replace it."""
        if not self._is_trusted(self.folder, self.folder.stat(), stat.S_ISDIR):
            return False
        if not hasattr(os, "getuid"):
            return True
        for parent in self._parents:
            if others_may_rename(os.stat(parent)):
                fault = "can be written by other users, who could exchange what is in it"
                remedy = "Take away their right to write, or let the option native_cache_dir name another folder."
                return self._refuse(Path(parent), fault, remedy)
        return True

    @functools.cached_property
    def _parents(self) -> list[str]:
        """The folders above, also those of link targets."""
        absolute = Path(os.path.abspath(self.folder))
        return list(dict.fromkeys(map(str, (*absolute.resolve().parents, *absolute.parents))))

    def _refuse(self, path: Path, fault: str, remedy: str) -> bool:
        if path not in self._refused:
            self._refused.add(path)
            warn_user(
                f"{path} {fault}, so no compiled code is loaded from there; functions are compiled without it. "
                f"{remedy}",
                CacheWarning,
            )
        return False

    def _trim(self) -> None:
        """Remove the least recently used entries of a large folder, and stale temporary files."""
        self.prune(_MAX_BYTES)

    def entries(self) -> list[tuple[Path, os.stat_result]]:
        """Return the files of the folder with their status, the least recently used first."""
        try:
            found = [(path, path.stat()) for path in self.folder.iterdir()]
        except OSError:
            return []
        return sorted(found, key=lambda item: item[1].st_mtime)

    def prune(self, most_bytes: float, most_seconds: float = math.inf) -> int:
        """Remove entries, the least recently used first, and stale temporary files.

        Parameters
        ----------
        most_bytes
            Size of the folder down to which entries are removed.
        most_seconds
            Time since an entry was used after which it is removed. Uses are recorded once a day.

        Returns
        -------
        int
            The number of bytes that were removed.
        """
        entries = self.entries()
        total = before = sum(status.st_size for _, status in entries)
        now = time.time()
        for path, status in entries:
            age = now - status.st_mtime
            if total > most_bytes or age > most_seconds or (path.name.startswith("new-") and age > _STALE):
                with contextlib.suppress(OSError):
                    path.unlink()
                    total -= status.st_size
        return before - total


def _digest(key: str, code: bytes) -> bytes:
    return blake2b(key.encode() + code, digest_size=20).digest()  # all keys have the same length


def _open_entry(path: str, flags: int) -> int:
    # Refuse links, and do not block on a pipe.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


_caches: dict[Path, ObjectCache] = {}


def object_cache() -> ObjectCache | None:
    """Return the cache of object code that the configuration names, or None if it is switched off."""
    return _cache("objects")


def function_cache() -> ObjectCache | None:
    """Return the cache of compiled functions, or None if it is switched off."""
    return _cache("functions")


def _cache(name: str) -> ObjectCache | None:
    if not config.native_cache:
        return None
    folder = Path(config.native_cache_dir) / name
    return _caches.setdefault(folder, ObjectCache(folder))
