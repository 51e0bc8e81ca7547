"""Sizes in a call of a program that follow from its arguments.

Sizes that depend on values, such as a number of steps, are computed by running the steps of the program that lead to
them on the reference interpreter, as far as these steps work on few elements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aesara.ir.buffers import ITEM_SIZES, Buffer
from aesara.ir.expr import Expr, walk
from aesara.ir.interpret.memory import Memory, wrap_array
from aesara.ir.interpret.programs import ProgramMachine
from aesara.ir.interpret.steps import CheckFailed, PythonFunction
from aesara.ir.kernel import Kernel
from aesara.ir.program import Program
from aesara.ir.steps.base import Step
from aesara.ir.verify import IRError

__all__ = ["MOST_ELEMENTS", "CallSizes"]

#: maximum number of elements of a buffer of steps that are run
MOST_ELEMENTS = 1000
#: maximum number of kernel launches
_MOST_LAUNCHES = 20_000


class _NotRun(Sequence[PythonFunction]):
    """Placeholders for nodes of a program that run in Python; such a node is never run to find a size."""

    def __len__(self) -> int:
        return 0

    def __getitem__(self, index: object) -> Any:
        return _refuse


def _refuse(*operands: np.ndarray) -> Sequence[np.ndarray]:
    raise IRError("a node that runs in Python")


class CallSizes(ProgramMachine):
    """Sizes that are known before a call.

    Parameters
    ----------
    program
        The program.
    sizes
        Known lengths of its inputs.
    values
        Known values of its inputs and constants, by name of the buffer.
    """

    def __init__(self, program: Program, sizes: Mapping[str, int], values: Mapping[str, np.ndarray]) -> None:
        super().__init__(replace(program, constants=()), (), _NotRun(), False)
        self.program = program
        self._launches = 0
        self._largest_sizes: dict[str, int] = {}
        self.scalars.update({name: self.index(n) for name, n in sizes.items()})
        for name, array in values.items():
            if array.size <= MOST_ELEMENTS:
                self._bind(wrap_array(name, np.array(array, order="C")), array.shape)
        buffers_of_sizes = _buffers_of_sizes(program)
        for step in program.steps:
            if buffers_of_sizes.intersection(_written_buffers(program, step)) or any(step.computes()):
                self._try(step)
        for step in program.all_steps():
            for name, value in step.computes():
                number = self.number(value)
                if name not in self.scalars and number is not None:
                    self.scalars[name] = self.index(number)

    def number(self, size: Expr) -> int | None:
        """Return the value of a size, or None if it is unknown."""
        try:
            return self.integer(size)
        except IRError:
            return None

    def bytes(self, buffer: Buffer) -> int | None:
        """Return the number of bytes of a buffer, or None if it is unknown."""
        if buffer.name in self._largest_sizes:
            return self._largest_sizes[buffer.name]
        lengths = list(map(self.number, buffer.shape))
        if None in lengths:
            return None
        return math.prod([ITEM_SIZES[buffer.dtype], *(max(n, 0) for n in lengths if n is not None)])

    # -- steps -----------------------------------------------------------------------------------------------

    def _try(self, step: Step) -> None:
        """Run a step; if this is not possible, its results are unknown."""
        known_scalars, largest_sizes = set(self.scalars), dict(self._largest_sizes)
        try:
            step.run(self)
        except (IRError, CheckFailed):
            self._largest_sizes = largest_sizes
            for name in _written_buffers(self.program, step):
                self.buffers.pop(name, None)
        inner_names = {name for inner in step.walk() for name in inner.defines()} - set(step.defines())
        for name in inner_names - known_scalars:
            self.scalars.pop(name, None)

    def allocate(self, buffer: Buffer) -> Memory:
        """Return memory for a small buffer; record the maximum size of a buffer that a loop allocates several times."""
        shape = self.shape(buffer)
        if math.prod(shape) > MOST_ELEMENTS:
            raise IRError(f"{buffer.name} is large")
        size = math.prod([ITEM_SIZES[buffer.dtype], *shape])
        self._largest_sizes[buffer.name] = max(size, self._largest_sizes.get(buffer.name, 0))
        return super().allocate(buffer)

    def put_in_slot(self, memory: Memory, slot: int) -> None:
        """Do nothing: buffers that share a slot may have separate memory here."""

    def launch(self, kernel: Kernel, arguments: Sequence[object]) -> None:
        self._launches += 1
        if self._launches > _MOST_LAUNCHES:
            raise IRError("too much is computed")
        super().launch(kernel, arguments)


def _buffers_of_sizes(program: Program) -> set[str]:
    """Return the names of the buffers that sizes depend on."""
    bases = program.bases()
    needed = {
        bases.get(e.attr, e.attr)
        for step in program.all_steps()
        if not any(check is step for check in step.checks())  # no size depends on a check
        for e in walk(step.expressions())
        if e.op == "load"
    }
    while True:
        extended = set(needed)
        for step in program.steps:
            if needed.intersection(_written_buffers(program, step)):
                extended.update(bases.get(name, name) for inner in step.walk() for name in inner.accesses())
        if extended == needed:
            return needed
        needed = extended


def _written_buffers(program: Program, step: Step) -> set[str]:
    """Return the names of the buffers that a step creates or writes, and of the buffers that they are views of."""
    bases = program.bases()
    names = {name for inner in step.walk() for name in (*inner.writes(), *(buffer.name for buffer in inner.makes()))}
    return names | {bases.get(name, name) for name in names}
