"""The items of a context in order of creation."""

from __future__ import annotations

from typing import TypeVar

from aesara.lower.arrays import Array, Item

__all__ = ["ItemList"]

AnyItem = TypeVar("AnyItem", bound=Item)


class ItemList:
    """Arrays, checks, size definitions and producers, numbered such that operands come before their readers."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def add(self, item: AnyItem) -> AnyItem:
        """Append an item, after the arrays that it reads if it is an array; of a complex array, append the parts."""
        if isinstance(item, Array):
            if item.is_complex:
                item.stamp = max(self.ensure_added(part).stamp for part in item.parts)
                return item
            for operand, _ in item.reads():
                if operand.stamp < 0:
                    self.add(operand)
        item.stamp = len(self.items)
        self.items.append(item)
        return item

    def ensure_added(self, array: Array) -> Array:
        """Return the array, after adding it if it is new."""
        return array if array.stamp >= 0 else self.add(array)
