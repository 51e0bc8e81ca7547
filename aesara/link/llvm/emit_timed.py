"""Entry point of a profiled function, with a reading of the clock around each step.

It also records the sizes of the buffers that the steps access.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aesara.ir.buffers import Buffer
from aesara.ir.program import Program
from aesara.ir.steps import Step
from aesara.link.llvm.clock import Clock, system_clock
from aesara.link.llvm.emit_program import EntryPoint
from aesara.link.llvm.module import Module
from aesara.records import dataclass

__all__ = ["StepTimers", "emit_timed_program"]

#: for each step, numbers of buffers
_Numbers = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class StepTimers:
    """Measurements of the steps of a program.

    Attributes
    ----------
    clock
        The clock.
    kinds
        Kind of each timed step: ``"nest"``, ``"product"``, ``"python"`` or ``"loop"``.
    names
        Names of the steps' kernels; empty for other steps.
    buffers
        Names of the buffers that the steps access.
    accesses
        Numbers of the buffers of each step.
    ticks
        Two rows: ticks spent in each step, and number of its runs.
    sizes
        Bytes of each buffer in the last call.
    """

    clock: Clock
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    buffers: tuple[str, ...]
    accesses: _Numbers
    ticks: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, program: Program, clock: Clock) -> StepTimers:
        """Return timers at zero for the steps of a program."""
        steps = [step for step in program.steps if step.kind is not None]
        names = tuple(step.label for step in steps)
        kinds = tuple(step.kind for step in steps if step.kind is not None)
        known, base = _buffers(program), program.bases()
        accesses = [list(dict.fromkeys(_accessed_buffers(step, base, known))) for step in steps]
        number = {name: k for k, name in enumerate(dict.fromkeys(name for some in accesses for name in some))}
        numbers = tuple(tuple(number[name] for name in some) for some in accesses)
        return cls._at_zero(clock, kinds, names, tuple(number), numbers)

    @classmethod
    def _at_zero(
        cls, clock: Clock, kinds: tuple[str, ...], names: tuple[str, ...], buffers: tuple[str, ...], accesses: _Numbers
    ) -> StepTimers:
        ticks, sizes = np.zeros((2, max(len(kinds), 1)), np.int64), np.zeros(max(len(buffers), 1), np.int64)
        return cls(clock, kinds, names, buffers, accesses, ticks, sizes)

    def copy(self) -> StepTimers | None:
        """Return timers for another function with the same code; None if this system lacks its clock."""
        clock = system_clock()
        if clock is None or clock.number != self.clock.number:
            return None
        return self._at_zero(clock, self.kinds, self.names, self.buffers, self.accesses)

    def words(self) -> list[int]:
        """Return the additional words of the function's table: addresses of the clock, the ticks and the sizes."""
        return [self.clock.address, self.ticks.ctypes.data, self.sizes.ctypes.data]

    def seconds(self) -> list[float]:
        """Return the time spent in each step, in seconds."""
        return [float(ticks) * self.clock.tick for ticks in self.ticks[0, : len(self.kinds)]]

    def counts(self) -> list[int]:
        """Return the number of runs of each step."""
        return [int(count) for count in self.ticks[1, : len(self.kinds)]]

    def bytes_of_steps(self) -> list[int]:
        """Return the bytes of the buffers that each step accesses."""
        return [int(sum(self.sizes[k] for k in some)) for some in self.accesses]

    def bytes_of_buffers(self) -> dict[str, int]:
        """Return the bytes of each buffer."""
        return {name: int(size) for name, size in zip(self.buffers, self.sizes)}

    @property
    def facts(self) -> tuple[Any, ...]:
        """Constructor arguments, which are the same in each process for functions with the same code."""
        clock = replace(self.clock, address=0)  # the address depends on the process
        return clock, self.kinds, self.names, self.buffers, self.accesses

    def __reduce__(self) -> tuple[Any, ...]:
        return StepTimers._at_zero, self.facts


def _buffers(program: Program) -> dict[str, Buffer]:
    """Return the buffers of a program by name, without those local to a loop's body."""
    made = [buffer for step in program.steps for buffer in step.makes()]
    return {buffer.name: buffer for buffer in (*(i.buffer for i in program.inputs), *program.constants, *made)}


def _accessed_buffers(step: Step, base: dict[str, str], known: dict[str, Buffer]) -> Iterator[str]:
    """Iterate over the names of known buffers that a step or its nested steps access."""
    for inner in step.walk():
        yield from (name for name in (base.get(name, name) for name in inner.accesses()) if name in known)


class _TimedEntry(EntryPoint):
    def __init__(self, program: Program, timers: StepTimers) -> None:
        super().__init__(program)
        self.timers = timers
        self.first_word = self.code.frame.words.end
        self.position = 0
        self.buffers = _buffers(program)
        self.measured: set[int] = set()
        self.inside = False
        self.last: str | None = None  # the reading after the previous step
        self.code.allocas.append("%now = alloca [2 x i64]")

    def step(self, step: Step) -> None:
        code = self.code
        if self.inside or step.kind is None:
            super().step(step)
            return
        started = self._now() if self.last is None else self.last
        self.inside = True
        super().step(step)
        self.inside = False
        self.last = self._now()
        spent = code.emit("i64", f"sub i64 {self.last}, {started}")
        ticks = code.word(self.first_word + 1)
        self._increase(ticks, self.position, spent)
        self._increase(ticks, self.timers.ticks.shape[1] + self.position, "1")
        for number in self.timers.accesses[self.position]:
            if number not in self.measured:
                self.measured.add(number)
                size = code.value(self.buffers[self.timers.buffers[number]].bytes)
                code.set_field(code.word(self.first_word + 2), 8 * number, size, "i64")
        self.position += 1

    def segment(self, steps: Sequence[Step]) -> None:
        self.last = None
        super().segment(steps)
        self.last = None  # does not count waiting for the GIL

    def _now(self) -> str:
        code = self.code
        clock = code.word(self.first_word)
        if self.timers.clock.number is None:
            code.emit("i32", f"call i32 {clock}(ptr %now)")
            return code.field("%now", 0, "i64")
        code.emit("i32", f"call i32 {clock}(i32 {self.timers.clock.number}, ptr %now)")
        seconds, nanoseconds = (code.writer.value("i64", code.field("%now", at, "i64")) for at in (0, 8))
        return (seconds * 1_000_000_000 + nanoseconds).name

    def _increase(self, base: str, position: int, amount: str) -> None:
        address = self.code.at(base, 8 * position)
        self.code.emit("i64", f"atomicrmw add ptr {address}, i64 {amount} monotonic")  # without the GIL


def emit_timed_program(program: Program, timers: StepTimers) -> Module:
    """Return the LLVM module of a program that times its steps."""
    return _TimedEntry(program, timers).module()
