"""Lists of the places where a variable of a function graph is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from aesara.graph.nodes import Apply

#: A node, or "output", and the index of its input or of the output.
ClientType = tuple[Apply | Literal["output"], int]

#: Longer lists of clients keep the positions of their elements.
LONG = 64


class ClientList(list[Any]):
    """A list of clients from which elements are removed in constant time; the last takes the place of the
    removed."""

    __slots__ = ("_positions",)

    def __init__(self, clients: Iterable[ClientType]):
        super().__init__(clients)
        self._positions = {client: position for position, client in enumerate(self)}

    def append(self, client: ClientType) -> None:
        self._positions[client] = len(self)
        super().append(client)

    def remove(self, client: ClientType) -> None:
        position = self._positions.get(client)
        if position is None or position >= len(self) or self[position] != client:
            # Somebody changed the list in another way.
            self._positions = {known: place for place, known in enumerate(self)}
            if client not in self._positions:
                raise ValueError(f"{client} is not in the list of clients.")
            position = self._positions[client]
        del self._positions[client]
        last = self.pop()
        if position < len(self):
            self[position] = last
            self._positions[last] = position

    def __reduce__(self) -> Any:
        return (ClientList, (list(self),))
