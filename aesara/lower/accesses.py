"""Readers and writers of each buffer of a schedule."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.lower.arrays import NameOf, ScheduledStep

__all__ = ["Accesses"]


class Accesses:
    """The steps, by number, that read or write each buffer.

    Attributes
    ----------
    readers, writers
        Steps that read a buffer, and steps that write it in order, by the name of the buffer.
    """

    def __init__(self, steps: Sequence[ScheduledStep], name_of: NameOf) -> None:
        self.readers: dict[str, set[int]] = {}
        self.writers: dict[str, list[int]] = {}
        self._read_elsewhere: set[str] = set()
        for at, step in enumerate(steps):
            for name in dict.fromkeys(map(name_of, step.writes())):
                self.writers.setdefault(name, []).append(at)
            for name, is_own_element in step.loads(name_of):
                self.readers.setdefault(name, set()).add(at)
                if not is_own_element:
                    self._read_elsewhere.add(name)

    def last_use(self) -> dict[str, int]:
        """Return the last step that accesses each written buffer."""
        return {name: max([*self.readers.get(name, ()), *at]) for name, at in self.writers.items()}

    def is_local(self, name: str, at: int) -> bool:
        """Return whether only step `at` accesses a buffer, and reads each element in the iteration that writes it."""
        only_here = self.writers[name] == [at] and self.readers.get(name, set()) <= {at}
        return only_here and name not in self._read_elsewhere
