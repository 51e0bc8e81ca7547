"""Running programs, step by step, on the memory that they allocate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aesara.ir.expr import Expr
from aesara.ir.interpret.kernels import Machine, launch
from aesara.ir.interpret.memory import IllegalAccess, Memory, filled
from aesara.ir.program import (
    BATCH,
    Allocate,
    Buffer,
    Check,
    Define,
    Launch,
    Loop,
    MatMul,
    Operand,
    Program,
    PythonCall,
    View,
)
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
    return _ProgramRun(program, constants, python, in_place).run(inputs)


def _inside(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """An array as the program sees it: complex numbers as pairs."""
    return array.reshape(*array.shape, 1).view(buffer.dtype) if buffer.is_complex else array


def _outside(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """An array as the outside of the program sees it."""
    return array.view(buffer.outer_dtype).reshape(array.shape[:-1]) if buffer.is_complex else array


class _ProgramRun:
    def __init__(
        self, program: Program, constants: Sequence[np.ndarray], python: Sequence[PythonFunction], in_place: bool
    ) -> None:
        self.program, self.python, self.in_place = program, python, in_place
        self.machine = Machine()
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.slots: dict[int, tuple[int, Memory | None]] = {}
        self.input_memory: list[Memory] = []
        self.complex_results: dict[str, Buffer] = {}
        for buffer, array in zip(program.constants, constants, strict=True):
            self._bind(buffer.name, filled(buffer.name, np.array(array, buffer.dtype, order="C")), np.shape(array))

    def _bind(self, name: str, memory: Memory, shape: tuple[int, ...]) -> None:
        self.machine.buffers[name], self.shapes[name] = memory, shape

    def run(self, inputs: Sequence[np.ndarray]) -> Results:
        for item, value in zip(self.program.inputs, inputs, strict=True):
            buffer, array = item.buffer, np.array(value, order="C")
            rank = len(buffer.outer_shape)
            if array.dtype != np.dtype(buffer.outer_dtype) or array.ndim != rank:
                raise TypeError(f"{buffer.name} is {buffer.outer_dtype} of {rank} dimensions, got {array!r}")
            for n, size, static in zip(array.shape, buffer.outer_shape, item.static_shape, strict=True):
                if static is not None and n != static:
                    raise TypeError(f"{buffer.name} has static shape {item.static_shape}, got {array.shape}")
                if size.op == "var":
                    self.machine.scalars[str(size.attr)] = np.int64(n)
            array = _inside(buffer, array)
            memory = filled(buffer.name, array)
            self.input_memory.append(memory)
            self._bind(buffer.name, memory, array.shape)
        for step in self.program.steps:
            self._step(step)
        arrays = []
        for name in self.program.outputs:
            memory = self.machine.memory(name)
            if not memory.written.all():
                raise IllegalAccess(f"{int((~memory.written).sum())} elements of result {name} are never written")
            array = memory.data.reshape(self.shapes[name])
            arrays.append(_outside(self.complex_results[name], array) if name in self.complex_results else array)
        cells = {number: arrays[k] for k, number in self.program.updates}
        return Results(tuple(arrays[: self.program.returned]), cells)

    def _step(self, step: object) -> None:
        machine = self.machine
        if isinstance(step, Define):
            machine.scalars[step.name] = machine.value(step.value)
        elif isinstance(step, Check):
            values = tuple(machine.integer(v) for v in step.values)
            if not machine.value(step.condition):
                raise CheckFailed(step.error, values)
        elif isinstance(step, Allocate):
            self._allocate(step)
        elif isinstance(step, Launch):
            launch(step.kernel, [machine.memory(a) if isinstance(a, str) else machine.value(a) for a in step.arguments])
        elif isinstance(step, MatMul):
            for number in range(1 if step.batch is None else machine.integer(step.batch)):
                machine.scalars[BATCH.attr] = np.int64(number)
                self._matmul(step)
        elif isinstance(step, View):
            self._view(step)
        elif isinstance(step, Loop):
            self._loop(step)
        else:
            assert isinstance(step, PythonCall)
            self._call_python(step)

    def _view(self, step: View) -> None:
        shape = tuple(self.machine.integer(n) for n in step.buffer.shape)
        base, start = self.machine.memory(step.base), self.machine.integer(step.offset)
        stop = start + math.prod(shape)
        if not 0 <= start <= stop <= base.data.size:
            raise IllegalAccess(f"{step.buffer.name} is {start} to {stop} of {step.base}, which has {base.data.size}")
        part = slice(start, stop)
        self._bind(step.buffer.name, Memory(step.buffer.name, base.data[part], base.written[part], object()), shape)

    def _loop(self, loop: Loop) -> None:
        machine, count = self.machine, 0
        for number in range(machine.integer(loop.extent)):
            machine.scalars[loop.var] = np.int64(number)
            for step in loop.body:
                self._step(step)
            count += 1
            if loop.until is not None and machine.value(loop.until):
                break
        machine.scalars[loop.count] = np.int64(count)

    def _allocate(self, step: Allocate) -> None:
        buffer = step.buffer
        shape = tuple(self.machine.integer(n) for n in buffer.shape)
        if min(shape, default=0) < 0:
            raise IllegalAccess(f"{buffer.name} is allocated with shape {shape}")
        size = math.prod(shape)
        memory = Memory(buffer.name, np.zeros(size, buffer.dtype), np.zeros(size, bool), object())
        if buffer.is_complex:
            self.complex_results[buffer.name] = buffer
        if step.slot is not None:
            need = self.machine.integer(self.program.slots[step.slot].size)
            if memory.data.nbytes > need:
                raise IllegalAccess(f"{buffer.name} of {memory.data.nbytes} bytes in slot {step.slot} of {need}")
            _, owner = self.slots.get(step.slot, (0, None))
            if owner is not None:
                owner.lost_to = buffer.name
            self.slots[step.slot] = need, memory
        if step.initial is not None:
            start = self.input_memory[step.initial]
            if start.data.dtype != memory.data.dtype or start.data.size != size:
                raise IllegalAccess(f"{buffer.name} of shape {shape} cannot start with the value of {start.name}")
            memory.data[:], memory.written[:] = start.data, True
        if step.reuse is not None and self.in_place:
            old = self.input_memory[step.reuse]
            if old.data.dtype != memory.data.dtype or old.data.size != size:
                raise IllegalAccess(f"{buffer.name} of shape {shape} cannot take the memory of {old.name}")
            memory.data, memory.block = old.data, old.block
            # Until it is overwritten, the old value may be read by its old name only.
        self._bind(buffer.name, memory, shape)

    def _elements(self, operand: Operand, rows: int, columns: int) -> tuple[Memory, np.ndarray]:
        offset, down, right = (
            self.machine.integer(e) for e in (operand.offset, operand.row_stride, operand.column_stride)
        )
        places = offset + down * np.arange(rows)[:, None] + right * np.arange(columns)
        return self.machine.memory(operand.buffer), places

    def _matmul(self, step: MatMul) -> None:
        rows, inner, columns = (self.machine.integer(e) for e in (step.rows, step.inner, step.columns))

        def read(operand: Operand, height: int, width: int) -> np.ndarray:
            memory, places = self._elements(operand, height, width)
            found = np.zeros((height, width), step.dtype)
            for at in np.ndindex(height, width):
                found[at] = memory.load(int(places[at]))
            return found

        left, right = read(step.left, rows, inner), read(step.right, inner, columns)
        with np.errstate(all="ignore"):
            alpha = self.machine.value(step.alpha) if isinstance(step.alpha, Expr) else step.alpha
            product = (alpha * (left @ right)).astype(step.dtype)
            if step.beta:
                product += step.beta * read(step.out, rows, columns)
        memory, places = self._elements(step.out, rows, columns)
        for operand in (step.left, step.right):
            if self.machine.memory(operand.buffer).block is memory.block:
                raise IllegalAccess(f"a product is written to {step.out.buffer} while it reads {operand.buffer} there")
        for at in np.ndindex(rows, columns):
            memory.store(int(places[at]), product[at])

    def _call_python(self, step: PythonCall) -> None:
        windows = []
        for operand in step.operands:
            shape = tuple(self.machine.integer(n) for n in operand.shape)
            memory = self.machine.memory(operand.name)
            count = math.prod(shape)
            if count > memory.data.size:
                raise IllegalAccess(
                    f"a window of shape {shape} on {operand.name}, which has {memory.data.size} elements"
                )
            window = np.array([memory.load(k) for k in range(count)], operand.dtype).reshape(shape)
            windows.append(_outside(operand, window))
        made = self.python[step.index](*windows)
        for result, value in zip(step.results, made, strict=True):
            array = _inside(result, np.array(value, result.outer_dtype, order="C"))
            for n, size in zip(array.shape, result.shape, strict=True):
                if size.op == "var":
                    self.machine.scalars[str(size.attr)] = np.int64(n)
                elif self.machine.integer(size) != n:
                    raise IRError(f"result {result.name} of node {step.index} has shape {array.shape}")
            self._bind(result.name, filled(result.name, array), array.shape)
