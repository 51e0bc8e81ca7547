"""A set that remembers the order in which its elements came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import Any


class OrderedSet(MutableSet[Any]):
    """A set that is iterated over in the order in which elements were added.

    Examples
    --------
    >>> list(OrderedSet("banana"))
    ['b', 'a', 'n']
    """

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[Any] | None = None):
        self._items: dict[Any, None] = dict.fromkeys(items or ())

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: Any) -> None:
        self._items[item] = None

    def discard(self, item: Any) -> None:
        self._items.pop(item, None)

    def update(self, items: Iterable[Any]) -> None:
        self._items.update(dict.fromkeys(items))

    def copy(self) -> OrderedSet:
        return OrderedSet(self._items)

    def __repr__(self) -> str:
        return f"OrderedSet({list(self._items)})"
