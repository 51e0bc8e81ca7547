"""Who reads and who writes which buffer."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.lower.steps import NameOf, ScheduledStep

__all__ = ["Accesses"]


class Accesses:
    """The numbers of the steps that touch each buffer.

    Attributes
    ----------
    readers, writers
        By buffer the steps that read it, and those that write it, in order.
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
        """For each buffer that is written the last step that touches it."""
        return {name: max([*self.readers.get(name, ()), *at]) for name, at in self.writers.items()}

    def is_local(self, name: str, at: int) -> bool:
        """Whether a buffer is written and read by one step alone, each element by the iteration that makes it."""
        only_there = self.writers[name] == [at] and self.readers.get(name, set()) <= {at}
        return only_there and name not in self._read_elsewhere
