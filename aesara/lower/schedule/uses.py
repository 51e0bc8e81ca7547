"""Liveness and readers of arrays."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.lower.arrays import Array, Item

__all__ = ["Uses"]


class Uses:
    """Live items and readers of arrays, by a backward pass from results and checks.

    Attributes
    ----------
    readers
        Items that read each array, with whether they read elements repeatedly.
    needed
        Live items.
    forced
        Arrays that must be materialized.
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

    def has_one_use(self, array: Array) -> bool:
        """Return whether an array has a single reader, and need not be materialized."""
        return array not in self.forced and len(self.readers.get(array, ())) == 1

    def memory_chain(self, array: Array) -> list[Array]:
        """Return an array, followed by the arrays whose memory it reuses."""
        chain = [array]
        while (base := chain[-1].base_in_memory(self)) is not None:
            chain.append(base)
        return chain
