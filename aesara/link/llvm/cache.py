"""Object code on disk, by content.

The key is a digest of everything that determines the code: the IR text, LLVM's version, the target and this
module's format.  An entry is one file, written under another name and renamed into place, so readers see all of it
or nothing and no locks are needed.  A damaged entry (its digest does not match) is ignored and replaced.  Since code
is loaded from here, the folder must belong to the user alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["ObjectCache"]

_MAGIC = b"aesara-object-1\n"
#: the oldest entries go when the folder grows beyond this
_MAX_BYTES = 512 * 2**20
_TRIM_EVERY = 64


class ObjectCache:
    """A folder of object files; every failure of the file system makes it a cache that holds nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writes = 0
        self._usable: bool | None = None

    def key(self, *parts: str) -> str:
        digest = hashlib.blake2b(digest_size=20)
        for part in parts:
            digest.update(part.encode())
            digest.update(b"\0")
        return digest.hexdigest()

    def load(self, key: str) -> bytes | None:
        if not self._private():
            return None
        try:
            data = (self.folder / f"{key}.o").read_bytes()
        except OSError:
            return None
        head = len(_MAGIC)
        code = data[head + 20 :]
        if data[:head] != _MAGIC or hashlib.blake2b(code, digest_size=20).digest() != data[head : head + 20]:
            return None
        return code

    def store(self, key: str, code: bytes) -> None:
        if not self._private(create=True):
            return
        data = _MAGIC + hashlib.blake2b(code, digest_size=20).digest() + code
        try:
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
        self._writes += 1
        if self._writes % _TRIM_EVERY == 1:
            self._trim()

    def _private(self, create: bool = False) -> bool:
        """Whether the folder exists and only this user can write to it."""
        if self._usable is None or (create and not self._usable):
            self._usable = self._check(create)
            usable = self._usable
            if not usable and not create:
                self._usable = None  # it may be made later
            return usable
        return self._usable

    def _check(self, create: bool) -> bool:
        try:
            if create:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.folder.stat()
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            return False
        if hasattr(os, "getuid"):
            return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return True

    def _trim(self) -> None:
        """Keep the folder bounded: remove the entries not used for longest, and stale temporary files."""
        try:
            entries = [(p, p.stat()) for p in self.folder.iterdir()]
        except OSError:
            return
        total = sum(s.st_size for _, s in entries)
        for path, status in sorted(entries, key=lambda item: item[1].st_mtime):
            if total <= _MAX_BYTES:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= status.st_size
