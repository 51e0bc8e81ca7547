"""Memory that knows what has been written, and parallel loops that know who has touched what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aesara.ir.verify import IRError


class IllegalAccess(IRError):
    """A kernel or program touches memory that it must not: a fault of whoever built it."""


@dataclass(eq=False)
class Memory:
    """A flat array, which of its elements have been written, and who has taken it over since."""

    name: str
    data: np.ndarray
    written: np.ndarray
    block: object
    lost_to: str | None = None

    def check(self, offset: int, what: str) -> None:
        if not 0 <= offset < self.data.size:
            raise IllegalAccess(f"{what} of element {offset} of {self.name}, which has {self.data.size}")
        if self.lost_to is not None:
            raise IllegalAccess(f"{what} of element {offset} of {self.name}, whose memory {self.lost_to} has taken")

    def load(self, offset: int) -> Any:
        self.check(offset, "load")
        if not self.written[offset]:
            raise IllegalAccess(f"load of element {offset} of {self.name}, which nobody has written")
        return self.data[offset]

    def store(self, offset: int, value: Any) -> None:
        self.check(offset, "store")
        self.data[offset] = value
        self.written[offset] = True


def unwritten(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """A new array with numbers that are of no use: who reads them gets something else than from an empty one."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view("uint8")[:] = 1 if array.dtype == bool else 0xA5
    return array


def filled(name: str, array: np.ndarray) -> Memory:
    """Memory that is an array which exists; what is stored goes into that array."""
    if not array.flags.c_contiguous:
        raise ValueError(f"the array for {name} must be C-contiguous")
    flat = array.reshape(-1)
    return Memory(name, flat, np.ones(flat.size, bool), object())


@dataclass
class RunningLoop:
    """A running parallel loop: which iteration it is in, and which one wrote or read each element."""

    iteration: int = 0
    wrote: dict[tuple[object, int], int] = field(default_factory=dict)
    read: dict[tuple[object, int], int] = field(default_factory=dict)

    def note(self, memory: Memory, offset: int, is_store: bool) -> None:
        place = (memory.block, offset)
        clash = self.wrote.get(place, self.iteration) != self.iteration
        if is_store:
            clash = clash or self.read.get(place, self.iteration) != self.iteration
            self.wrote[place] = self.iteration
        elif self.read.setdefault(place, self.iteration) != self.iteration:
            self.read[place] = -1  # several iterations
        if clash:
            raise IllegalAccess(
                f"element {offset} of {memory.name} is written in one iteration of a parallel loop and used in another"
            )
