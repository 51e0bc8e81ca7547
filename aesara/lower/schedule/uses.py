"""Who reads which array."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.lower.arrays import Array, Item

__all__ = ["Uses"]


class Uses:
    """From the results and the checks back, what is needed and how often each array is read.

    Attributes
    ----------
    readers
        For each array the items that read it, and whether they read single elements many times over.
    needed
        What somebody reads, and the results.
    forced
        The arrays that must be in memory.
    """

    def __init__(self, items: Sequence[Item], results: Sequence[Array]) -> None:
        self.readers: dict[Array, list[tuple[Item, bool]]] = {}
        self.needed: set[Item] = set(results)
        self.forced: set[Array] = set(results)
        for item in reversed(items):
            if not item.is_needed(self.needed):
                continue
            self.needed.add(item)
            for operand, expands in item.reads():
                self.needed.add(operand)
                self.readers.setdefault(operand, []).append((item, expands))
            self.forced.update(item.reads_in_memory())

    def is_only(self, array: Array) -> bool:
        """Whether one item reads an array, which it need not find in memory."""
        return array not in self.forced and len(self.readers.get(array, ())) == 1

    def made_in(self, array: Array) -> list[Array]:
        """An array and those before it whose memory it takes over."""
        found = [array]
        while (base := found[-1].base_in_memory(self)) is not None:
            found.append(base)
        return found
