"""Sizes in a call of a program, as far as they follow from its arguments without running it as a whole.

Sizes that depend on values, such as a number of steps, are computed by the steps of the program that lead to them, on
the reference machine, where these work on few numbers.
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
from aesara.ir.interpret.programs import CheckFailed, ProgramMachine, PythonFunction
from aesara.ir.kernel import Kernel
from aesara.ir.program import Program
from aesara.ir.steps.base import Step
from aesara.ir.verify import IRError

__all__ = ["MOST_ELEMENTS", "CallSizes"]

#: elements of a buffer up to which steps run that work on it
MOST_ELEMENTS = 1000
#: kernels that are run at most
_MOST_LAUNCHES = 20_000


class _NotRun(Sequence[PythonFunction]):
    """Functions for the nodes of a program that run in Python; no node is run to find a size."""

    def __len__(self) -> int:
        return 0

    def __getitem__(self, index: Any) -> Any:
        return _refuse


def _refuse(*operands: np.ndarray) -> Sequence[np.ndarray]:
    raise IRError("a node that runs in Python")


class CallSizes(ProgramMachine):
    """The sizes that are known before a call starts.

    Parameters
    ----------
    program
        The program.
    sizes
        The lengths of its inputs that are known.
    values
        Values of its inputs and constants that are known, by name of the buffer.
    """

    def __init__(self, program: Program, sizes: Mapping[str, int], values: Mapping[str, np.ndarray]) -> None:
        super().__init__(replace(program, constants=()), (), _NotRun(), False)
        self.program = program
        self._launches = 0
        self._most: dict[str, int] = {}
        self.scalars.update({name: self.index(n) for name, n in sizes.items()})
        for name, array in values.items():
            if array.size <= MOST_ELEMENTS:
                self._bind(wrap_array(name, np.array(array, order="C")), array.shape)
        needed = _buffers_of_sizes(program)
        for step in program.steps:
            if needed.intersection(_written_buffers(program, step)) or any(step.computes()):
                self._try(step)
        for step in program.all_steps():
            for name, value in step.computes():
                number = self.number(value)
                if name not in self.scalars and number is not None:
                    self.scalars[name] = self.index(number)

    def number(self, size: Expr) -> int | None:
        """Return the value of a size; None if it is not known."""
        try:
            return self.integer(size)
        except IRError:
            return None

    def bytes(self, buffer: Buffer) -> int | None:
        """Return how many bytes a buffer has; None if it is not known."""
        if buffer.name in self._most:
            return self._most[buffer.name]
        lengths = list(map(self.number, buffer.shape))
        if None in lengths:
            return None
        return math.prod([ITEM_SIZES[buffer.dtype], *(max(n, 0) for n in lengths if n is not None)])

    # -- steps -----------------------------------------------------------------------------------------------

    def _try(self, step: Step) -> None:
        """Run a step; where that is not possible, what it writes is not known."""
        known, most = set(self.scalars), dict(self._most)
        try:
            step.run(self)
        except (IRError, CheckFailed):
            self._most = most
            for name in _written_buffers(self.program, step):
                self.buffers.pop(name, None)
        inside = {name for inner in step.walk() for name in inner.defines()} - set(step.defines())
        for name in inside - known:
            self.scalars.pop(name, None)

    def allocate(self, buffer: Buffer) -> Memory:
        """Return memory for a few numbers; how large a buffer of a loop is at most is noted."""
        shape = self.shape(buffer)
        if math.prod(shape) > MOST_ELEMENTS:
            raise IRError(f"{buffer.name} is large")
        size = math.prod([ITEM_SIZES[buffer.dtype], *shape])
        self._most[buffer.name] = max(size, self._most.get(buffer.name, 0))
        return super().allocate(buffer)

    def put_in_slot(self, memory: Memory, slot: int) -> None:
        """Do nothing: memory that is shared one after the other may be apart."""

    def launch(self, kernel: Kernel, arguments: Sequence[Any]) -> None:
        self._launches += 1
        if self._launches > _MOST_LAUNCHES:
            raise IRError("too much is computed")
        super().launch(kernel, arguments)


def _buffers_of_sizes(program: Program) -> set[str]:
    """Return the names of the buffers that sizes are made of."""
    bases = program.bases()
    needed = {
        bases.get(e.attr, e.attr)
        for step in program.all_steps()
        if not any(check is step for check in step.checks())  # a check makes no size
        for e in walk(step.expressions())
        if e.op == "load"
    }
    while True:
        found = set(needed)
        for step in program.steps:
            if needed.intersection(_written_buffers(program, step)):
                found.update(bases.get(name, name) for inner in step.walk() for name in inner.accesses())
        if found == needed:
            return needed
        needed = found


def _written_buffers(program: Program, step: Step) -> set[str]:
    """Return the names of the buffers that a step makes or writes, and of the memory that these are part of."""
    bases = program.bases()
    names = {name for inner in step.walk() for name in (*inner.writes(), *(buffer.name for buffer in inner.makes()))}
    return names | {bases.get(name, name) for name in names}
