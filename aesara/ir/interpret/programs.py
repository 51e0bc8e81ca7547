"""Interpreter of programs: runs steps on the memory that they allocate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aesara.ir.interpret.memory import wrap_array
from aesara.ir.interpret.steps import PythonFunction, StepMachine, to_complex, to_pairs
from aesara.ir.program import Input, Program


@dataclass(frozen=True)
class Results:
    """The results of a program, and the new values of the cells of its inputs, by number of the input."""

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
        The program.
    inputs
        One array for each of `program.inputs`; they are copied.
    constants
        One array for each of `program.constants`.
    python
        The function of each `PythonCall`, by its index: from arrays to arrays.
    in_place
        Whether updates overwrite the memory of the value that they replace, where the program allows it.

    Raises
    ------
    CheckFailed
        If a check does not hold.
    IllegalAccess
        If the program accesses memory that it must not.
    """
    return ProgramMachine(program, constants, python, in_place).results(inputs)


class ProgramMachine(StepMachine):
    """Runs a program on the values of its inputs."""

    def __init__(
        self, program: Program, constants: Sequence[np.ndarray], python: Sequence[PythonFunction], in_place: bool
    ) -> None:
        super().__init__(program.slots, python, in_place)
        self.program = program
        for buffer, array in zip(program.constants, constants, strict=True):
            self._bind(wrap_array(buffer.name, np.array(array, buffer.dtype, order="C")), np.shape(array))

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
            arrays.append(to_complex(self._complex_results[name], array) if name in self._complex_results else array)
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
        array = to_pairs(buffer, array)
        memory = wrap_array(buffer.name, array)
        self._inputs.append(memory)
        self._bind(memory, array.shape)
