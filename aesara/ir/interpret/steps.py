"""Machine of the interpreter for the steps of a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from aesara.ir.buffers import Buffer, Operand, Slot
from aesara.ir.interpret.kernels import Machine, launch
from aesara.ir.interpret.memory import IllegalAccess, Memory, garbage_array, wrap_array
from aesara.ir.kernel import Kernel
from aesara.ir.verify import IRError

__all__ = ["CheckFailed", "PythonFunction", "StepMachine", "to_complex", "to_pairs"]


class CheckFailed(Exception):
    """A failed check of a program: `error` is its number, `values` go into its message."""

    def __init__(self, error: int, values: tuple[int, ...]) -> None:
        super().__init__(f"check of error {error} failed with values {values}")
        self.error, self.values = error, values


PythonFunction = Callable[..., Sequence[np.ndarray]]


def to_pairs(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """Return complex numbers as pairs, as in the buffers of a program."""
    return array.reshape(*array.shape, 1).view(buffer.dtype) if buffer.is_complex else array


def to_complex(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """Return pairs as complex numbers, as callers see them."""
    return array.view(buffer.outer_dtype).reshape(array.shape[:-1]) if buffer.is_complex else array


class StepMachine(Machine):
    """Runs steps on scalars and memories.

    Parameters
    ----------
    slots
        Slots of the workspace.
    python
        The function of each `PythonCall`, by its index.
    in_place
        Whether updates overwrite the memory of the value that they replace.
    """

    def __init__(self, slots: Sequence[Slot], python: Sequence[PythonFunction], in_place: bool) -> None:
        super().__init__()
        self.slots, self.python, self.in_place = slots, python, in_place
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._slot_owners: dict[int, Memory] = {}
        self._inputs: list[Memory] = []
        self._complex_results: dict[str, Buffer] = {}

    def _bind(self, memory: Memory, shape: tuple[int, ...]) -> None:
        self.buffers[memory.name], self._shapes[memory.name] = memory, shape

    @staticmethod
    def index(number: int) -> np.int64:
        """Return the value of a size."""
        return np.int64(number)

    def refuse(self, message: str) -> NoReturn:
        """Raise `IllegalAccess`."""
        raise IllegalAccess(message)

    def fail(self, error: int, values: tuple[int, ...]) -> NoReturn:
        """Raise `CheckFailed`."""
        raise CheckFailed(error, values)

    def launch(self, kernel: Kernel, arguments: Sequence[Any]) -> None:
        """Run a kernel on memories and scalars."""
        launch(kernel, arguments, self.plans)

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        """Return the shape of a buffer."""
        return tuple(self.integer(n) for n in buffer.shape)

    def allocate(self, buffer: Buffer) -> Memory:
        """Allocate memory for a buffer."""
        shape = self.shape(buffer)
        if min(shape, default=0) < 0:
            self.refuse(f"{buffer.name} is allocated with shape {shape}")
        size = math.prod(shape)
        memory = Memory(buffer.name, garbage_array(size, buffer.dtype), np.zeros(size, bool), object())
        if buffer.is_complex:
            self._complex_results[buffer.name] = buffer
        self._bind(memory, shape)
        return memory

    def put_in_slot(self, memory: Memory, slot: int) -> None:
        """Place memory in a slot of the workspace, whose present content is lost."""
        size = self.integer(self.slots[slot].size)
        if memory.data.nbytes > size:
            self.refuse(f"{memory.name} of {memory.data.nbytes} bytes in slot {slot} of {size}")
        owner = self._slot_owners.get(slot)
        if owner is not None:
            owner.replaced_by = memory.name
        self._slot_owners[slot] = memory

    def copy_input(self, number: int, memory: Memory) -> None:
        """Fill memory with the value of an input."""
        start = self._same_size(number, memory, "start with the value of")
        memory.data[:], memory.written[:] = start.data, True

    def take_input(self, number: int, memory: Memory) -> None:
        """Let memory alias an input, if updates are in place."""
        if self.in_place:
            old = self._same_size(number, memory, "take the memory of")
            memory.data, memory.block = old.data, old.block
            # It counts as unwritten: until it is overwritten, the old value is read by its old name only.

    def _same_size(self, number: int, memory: Memory, purpose: str) -> Memory:
        input_memory = self._inputs[number]
        if input_memory.data.dtype != memory.data.dtype or input_memory.data.size != memory.data.size:
            self.refuse(f"{memory.name} of shape {self._shapes[memory.name]} cannot {purpose} {input_memory.name}")
        return input_memory

    def view(self, buffer: Buffer, base: str, start: int) -> None:
        """Let a buffer be part of the memory of another."""
        shape, whole = self.shape(buffer), self.memory(base)
        stop = start + math.prod(shape)
        if not 0 <= start <= stop <= whole.data.size:
            self.refuse(f"{buffer.name} is {start} to {stop} of {base}, which has {whole.data.size}")
        part = slice(start, stop)
        self._bind(Memory(buffer.name, whole.data[part], whole.written[part], object()), shape)

    def _offsets_of(self, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
        """Return the offsets of the elements of an operand; it is contiguous over the dimensions without strides."""
        strides = list(map(self.integer, operand.strides))
        strides += [math.prod(shape[d + 1 :]) for d in range(len(strides), len(shape))]
        offsets = np.full(shape, self.integer(operand.offset))
        for d, stride in enumerate(strides):
            offsets += stride * np.arange(shape[d]).reshape(-1, *[1] * (len(shape) - d - 1))
        return offsets

    @staticmethod
    def _check_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
        if min(shape, default=0) < 0:
            raise IllegalAccess(f"a routine is called for shape {shape}")
        return shape

    def output_array(self, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array for the elements that a routine writes."""
        return garbage_array(self._check_shape(shape), self.memory(operand.buffer).data.dtype)

    def read_operand(self, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
        """Return a copy of an operand."""
        values, memory = self.output_array(operand, shape), self.memory(operand.buffer)
        for at, place in np.ndenumerate(self._offsets_of(operand, shape)):
            values[at] = memory.load(int(place))
        return values

    def write_operand(self, operand: Operand, value: np.ndarray) -> None:
        """Store an array to an operand."""
        memory = self.memory(operand.buffer)
        for at, place in np.ndenumerate(self._offsets_of(operand, value.shape)):
            memory.store(int(place), value[at])

    def copy_buffer(self, buffer: Buffer) -> np.ndarray:
        """Return a copy of a buffer as an ndarray."""
        shape, memory = self.shape(buffer), self.memory(buffer.name)
        count = math.prod(shape)
        if count > memory.data.size:
            self.refuse(f"a window of shape {shape} on {buffer.name}, which has {memory.data.size} elements")
        copy = np.array([memory.load(k) for k in range(count)], buffer.dtype).reshape(shape)
        return to_complex(buffer, copy)

    def accept(self, buffer: Buffer, value: np.ndarray, purpose: str) -> None:
        """Bind a buffer to an array from Python, whose shape defines sizes."""
        array = to_pairs(buffer, np.array(value, buffer.outer_dtype, order="C"))
        for n, size in zip(array.shape, buffer.shape, strict=True):
            if size.op == "var":
                self.scalars[str(size.attr)] = self.index(n)
            elif self.integer(size) != n:
                raise IRError(f"{purpose} has shape {array.shape}")
        self._bind(wrap_array(buffer.name, array), array.shape)
