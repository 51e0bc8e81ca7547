"""Slots of the workspace."""

from __future__ import annotations

from collections import defaultdict, deque

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.expr import Expr
from aesara.lower.sizes import is_known_at_entry

__all__ = ["Slots"]


class Slots:
    """Allocator of workspace slots; a released slot is reused by a buffer of the same size."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self._free: defaultdict[Expr, deque[int]] = defaultdict(deque)
        self._taken: dict[str, int] = {}

    def take(self, buffer: Buffer) -> int:
        """Return the number of a slot for a buffer."""
        size = buffer.bytes
        free = self._free[size]
        if not free:
            free.append(len(self.slots))
            self.slots.append(Slot(size, late=not is_known_at_entry([size])))
        k = self._taken[buffer.name] = free.popleft()
        return k

    def keep(self, buffer: Buffer) -> None:
        """Reserve a slot for a buffer until the program ends."""
        self.slots.append(Slot(buffer.bytes, late=False))

    def release(self, name: str) -> None:
        """Release the slot of a buffer, if it has one."""
        k = self._taken.pop(name, None)
        if k is not None and not self.slots[k].late:
            self._free[self.slots[k].size].append(k)
