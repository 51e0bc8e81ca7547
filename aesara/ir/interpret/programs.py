"""Running programs, step by step, on the memory that they allocate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from aesara.ir.buffers import Buffer, Operand
from aesara.ir.interpret.kernels import Machine, launch
from aesara.ir.interpret.memory import IllegalAccess, Memory, filled, unwritten
from aesara.ir.kernel import Kernel
from aesara.ir.program import Input, Program
from aesara.ir.verify import IRError


class CheckFailed(Exception):
    """A check of a program did not hold: `error` is its number, `values` what it says about it."""

    def __init__(self, error: int, values: tuple[int, ...]) -> None:
        super().__init__(f"check of error {error} failed with values {values}")
        self.error, self.values = error, values


PythonFunction = Callable[..., Sequence[np.ndarray]]


@dataclass(frozen=True)
class Results:
    """What a program returns, and the new contents of the cells of its inputs, by number of the input."""

    returned: tuple[np.ndarray, ...]
    cells: dict[int, np.ndarray]


def run_program(
    program: Program,
    inputs: Sequence[np.ndarray],
    constants: Sequence[np.ndarray] = (),
    python: Sequence[PythonFunction] = (),
    in_place: bool = True,
) -> Results:
    """Run a program on the values of all its inputs, shared variables included.

    Parameters
    ----------
    program
        What to run.
    inputs
        One array for each of `program.inputs`.  They are copied, so never changed.
    constants
        One array for each of `program.constants`.
    python
        For each `PythonCall`, by its index: arrays in, arrays out.
    in_place
        Whether updates take over the memory of the value that they replace, where the program allows it.

    Raises
    ------
    CheckFailed
        If a check does not hold.
    IllegalAccess
        If the program touches memory that it must not.
    """
    return ProgramMachine(program, constants, python, in_place).results(inputs)


def _inside(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """An array as the program sees it: complex numbers as pairs."""
    return array.reshape(*array.shape, 1).view(buffer.dtype) if buffer.is_complex else array


def _outside(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """An array as the outside of the program sees it."""
    return array.view(buffer.outer_dtype).reshape(array.shape[:-1]) if buffer.is_complex else array


class ProgramMachine(Machine):
    """Runs the steps of a program, which hand themselves over to it, on scalars and memories."""

    def __init__(
        self, program: Program, constants: Sequence[np.ndarray], python: Sequence[PythonFunction], in_place: bool
    ) -> None:
        super().__init__()
        self.program, self.python, self.in_place = program, python, in_place
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._tenants: dict[int, Memory] = {}
        self._inputs: list[Memory] = []
        self._complex_results: dict[str, Buffer] = {}
        for buffer, array in zip(program.constants, constants, strict=True):
            self._bind(filled(buffer.name, np.array(array, buffer.dtype, order="C")), np.shape(array))

    def _bind(self, memory: Memory, shape: tuple[int, ...]) -> None:
        self.buffers[memory.name], self._shapes[memory.name] = memory, shape

    def results(self, inputs: Sequence[np.ndarray]) -> Results:
        """Run the program."""
        for item, value in zip(self.program.inputs, inputs, strict=True):
            self._read_input(item, value)
        for step in self.program.steps:
            step.run(self)
        arrays = []
        for name in self.program.outputs:
            memory = self.memory(name)
            if not memory.written.all():
                self.refuse(f"{int((~memory.written).sum())} elements of result {name} are never written")
            array = memory.data.reshape(self._shapes[name])
            arrays.append(_outside(self._complex_results[name], array) if name in self._complex_results else array)
        cells = {number: arrays[k] for k, number in self.program.updates}
        return Results(tuple(arrays[: self.program.returned]), cells)

    def _read_input(self, item: Input, value: np.ndarray) -> None:
        buffer, array = item.buffer, np.array(value, order="C")
        rank = len(buffer.outer_shape)
        if array.dtype != np.dtype(buffer.outer_dtype) or array.ndim != rank:
            raise TypeError(f"{buffer.name} is {buffer.outer_dtype} of {rank} dimensions, got {array!r}")
        for n, size, static in zip(array.shape, buffer.outer_shape, item.static_shape, strict=True):
            if static is not None and n != static:
                raise TypeError(f"{buffer.name} has static shape {item.static_shape}, got {array.shape}")
            if size.op == "var":
                self.scalars[str(size.attr)] = self.index(n)
        array = _inside(buffer, array)
        memory = filled(buffer.name, array)
        self._inputs.append(memory)
        self._bind(memory, array.shape)

    # -- for steps -------------------------------------------------------------------------------------------

    @staticmethod
    def index(number: int) -> np.int64:
        """The value of a size."""
        return np.int64(number)

    def refuse(self, message: str) -> NoReturn:
        """Touching memory like this is not allowed."""
        raise IllegalAccess(message)

    def fail(self, error: int, values: tuple[int, ...]) -> NoReturn:
        """Leave the program with an error."""
        raise CheckFailed(error, values)

    def launch(self, kernel: Kernel, arguments: Sequence[Any]) -> None:
        """Run a kernel on memories and scalars."""
        launch(kernel, arguments, self.plans)

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        """The lengths of a buffer."""
        return tuple(self.integer(n) for n in buffer.shape)

    def allocate(self, buffer: Buffer) -> Memory:
        """New memory for a buffer."""
        shape = self.shape(buffer)
        if min(shape, default=0) < 0:
            self.refuse(f"{buffer.name} is allocated with shape {shape}")
        size = math.prod(shape)
        memory = Memory(buffer.name, unwritten(size, buffer.dtype), np.zeros(size, bool), object())
        if buffer.is_complex:
            self._complex_results[buffer.name] = buffer
        self._bind(memory, shape)
        return memory

    def put_in_slot(self, memory: Memory, slot: int) -> None:
        """Let memory take over a place in the workspace."""
        room = self.integer(self.program.slots[slot].size)
        if memory.data.nbytes > room:
            self.refuse(f"{memory.name} of {memory.data.nbytes} bytes in slot {slot} of {room}")
        owner = self._tenants.get(slot)
        if owner is not None:
            owner.lost_to = memory.name
        self._tenants[slot] = memory

    def copy_input(self, number: int, memory: Memory) -> None:
        """Fill memory with the value of an input."""
        start = self._same_size(number, memory, "start with the value of")
        memory.data[:], memory.written[:] = start.data, True

    def take_input(self, number: int, memory: Memory) -> None:
        """Let memory be that of an input, if updates happen in place."""
        if self.in_place:
            old = self._same_size(number, memory, "take the memory of")
            memory.data, memory.block = old.data, old.block
            # Until it is overwritten, the old value may be read by its old name only.

    def _same_size(self, number: int, memory: Memory, what: str) -> Memory:
        given = self._inputs[number]
        if given.data.dtype != memory.data.dtype or given.data.size != memory.data.size:
            self.refuse(f"{memory.name} of shape {self._shapes[memory.name]} cannot {what} {given.name}")
        return given

    def view(self, buffer: Buffer, base: str, start: int) -> None:
        """Let a buffer be part of the memory of another."""
        shape, whole = self.shape(buffer), self.memory(base)
        stop = start + math.prod(shape)
        if not 0 <= start <= stop <= whole.data.size:
            self.refuse(f"{buffer.name} is {start} to {stop} of {base}, which has {whole.data.size}")
        part = slice(start, stop)
        self._bind(Memory(buffer.name, whole.data[part], whole.written[part], object()), shape)

    def _places(self, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
        """Where the elements of an array are: it is contiguous over the dimensions behind those that have strides."""
        strides = list(map(self.integer, operand.strides))
        strides += [math.prod(shape[d + 1 :]) for d in range(len(strides), len(shape))]
        places = np.full(shape, self.integer(operand.offset))
        for d, stride in enumerate(strides):
            places += stride * np.arange(shape[d]).reshape(-1, *[1] * (len(shape) - d - 1))
        return places

    @staticmethod
    def _checked(shape: tuple[int, ...]) -> tuple[int, ...]:
        if min(shape, default=0) < 0:
            raise IllegalAccess(f"a routine is called for shape {shape}")
        return shape

    def room(self, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
        """An array for what is to be written to a buffer."""
        return unwritten(self._checked(shape), self.memory(operand.buffer).data.dtype)

    def elements(self, operand: Operand, shape: tuple[int, ...]) -> np.ndarray:
        """An array inside a buffer."""
        found, memory = self.room(operand, shape), self.memory(operand.buffer)
        for at, place in np.ndenumerate(self._places(operand, shape)):
            found[at] = memory.load(int(place))
        return found

    def set_elements(self, operand: Operand, value: np.ndarray) -> None:
        """Write an array into a buffer."""
        memory = self.memory(operand.buffer)
        for at, place in np.ndenumerate(self._places(operand, value.shape)):
            memory.store(int(place), value[at])

    def window(self, buffer: Buffer) -> np.ndarray:
        """A copy of a buffer, as an array."""
        shape, memory = self.shape(buffer), self.memory(buffer.name)
        count = math.prod(shape)
        if count > memory.data.size:
            self.refuse(f"a window of shape {shape} on {buffer.name}, which has {memory.data.size} elements")
        copy = np.array([memory.load(k) for k in range(count)], buffer.dtype).reshape(shape)
        return _outside(buffer, copy)

    def accept(self, buffer: Buffer, value: np.ndarray, what: str) -> None:
        """Let a buffer be an array that comes from outside; its lengths are the values of sizes."""
        array = _inside(buffer, np.array(value, buffer.outer_dtype, order="C"))
        for n, size in zip(array.shape, buffer.shape, strict=True):
            if size.op == "var":
                self.scalars[str(size.attr)] = self.index(n)
            elif self.integer(size) != n:
                raise IRError(f"{what} has shape {array.shape}")
        self._bind(filled(buffer.name, array), array.shape)
