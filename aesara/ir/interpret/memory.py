"""Memory that records which elements are written, and parallel loops that record which iteration touched them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.ir.verify import IRError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class IllegalAccess(IRError):
    """Invalid access to memory by a kernel or program: a bug of the code that built it."""


@dataclass(eq=False)
class Memory:
    """A flat array, which of its elements were written, and the buffer that has taken over its memory."""

    name: str
    data: np.ndarray
    written: np.ndarray
    block: object
    replaced_by: str | None = None

    def check(self, offset: int, access: str) -> None:
        if not 0 <= offset < self.data.size:
            raise IllegalAccess(f"{access} of element {offset} of {self.name}, which has {self.data.size}")
        if self.replaced_by is not None:
            raise IllegalAccess(
                f"{access} of element {offset} of {self.name}, whose memory {self.replaced_by} has taken"
            )

    def load(self, offset: int) -> Any:
        self.check(offset, "load")
        if not self.written[offset]:
            raise IllegalAccess(f"load of element {offset} of {self.name}, which is not written")
        return self.data[offset]

    def store(self, offset: int, value: Any) -> None:
        self.check(offset, "store")
        self.data[offset] = value
        self.written[offset] = True


def garbage_array(shape: int | tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Return a new array filled with garbage, so that reads of unwritten elements are noticed."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view("uint8")[:] = 1 if array.dtype == bool else 0xA5
    return array


def wrap_array(name: str, array: np.ndarray) -> Memory:
    """Return memory that wraps an existing array; stores write to the array."""
    if not array.flags.c_contiguous:
        raise ValueError(f"the array for {name} must be C-contiguous")
    flat = array.reshape(-1)
    return Memory(name, flat, np.ones(flat.size, bool), object())


@dataclass
class RunningLoop:
    """State of a parallel loop: the present iteration, and which one wrote or read each element."""

    iteration: int = 0
    wrote: dict[tuple[object, int], int] = field(default_factory=dict)
    read: dict[tuple[object, int], int] = field(default_factory=dict)

    def note(self, memory: Memory, offset: int, is_store: bool) -> None:
        key = (memory.block, offset)
        conflict = self.wrote.get(key, self.iteration) != self.iteration
        if is_store:
            conflict = conflict or self.read.get(key, self.iteration) != self.iteration
            self.wrote[key] = self.iteration
        elif self.read.setdefault(key, self.iteration) != self.iteration:
            self.read[key] = -1  # several iterations
        if conflict:
            raise IllegalAccess(
                f"element {offset} of {memory.name} is written in one iteration of a parallel loop and used in another"
            )
