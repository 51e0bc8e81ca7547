"""The entry point of a function that is profiled: as usual, with a reading of the clock around each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aesara.ir.program import Launch, Loop, MatMul, Program, PythonCall, Step
from aesara.link.llvm.clock import Clock
from aesara.link.llvm.emit_program import Entry

__all__ = ["StepTimers", "emit_timed_program"]

_TIMED = {Launch: "nest", MatMul: "product", PythonCall: "python", Loop: "loop"}


@dataclass(frozen=True)
class StepTimers:
    """What the clock has shown around the steps of a program.

    Attributes
    ----------
    clock
        The clock.
    kinds
        For each step that is timed ``"nest"``, ``"product"``, ``"python"`` or ``"loop"``.
    names
        The names of the steps' kernels; empty for other steps.
    ticks
        Two rows: ticks spent in each step, and how often it has run.
    """

    clock: Clock
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    ticks: np.ndarray

    @classmethod
    def of(cls, program: Program, clock: Clock) -> StepTimers:
        """Timers at zero for the steps of a program."""
        steps = [step for step in program.steps if type(step) in _TIMED]
        names = tuple(step.kernel.name if isinstance(step, Launch) else "" for step in steps)
        kinds = tuple(_TIMED[type(step)] for step in steps)
        return cls(clock, kinds, names, np.zeros((2, max(len(steps), 1)), np.int64))

    def words(self) -> list[int]:
        """What the table of the function gets in addition: where the clock is, and where the ticks go."""
        return [self.clock.address, self.ticks.ctypes.data]

    def seconds(self) -> list[float]:
        """Seconds spent in each step."""
        return [float(ticks) * self.clock.tick for ticks in self.ticks[0, : len(self.kinds)]]

    def counts(self) -> list[int]:
        """How often each step has run."""
        return [int(count) for count in self.ticks[1, : len(self.kinds)]]


class _TimedEntry(Entry):
    def __init__(self, program: Program, timers: StepTimers) -> None:
        super().__init__(program)
        self.timers = timers
        self.first_word = self.kept_word + bool(program.lent)
        self.position = 0
        self.inside = False
        self.allocas.append("%now = alloca [2 x i64]")

    def step(self, step: Step) -> None:
        if self.inside or type(step) not in _TIMED:
            super().step(step)
            return
        started = self._now()
        self.inside = True
        super().step(step)
        self.inside = False
        spent = self.fresh("t")
        self.add(f"{spent} = sub i64 {self._now()}, {started}")
        ticks = self.word(self.first_word + 1)
        self._increase(ticks, self.position, spent)
        self._increase(ticks, self.timers.ticks.shape[1] + self.position, "1")
        self.position += 1

    def _now(self) -> str:
        clock = self.word(self.first_word)
        if self.timers.clock.number is None:
            self.add(f"{self.fresh('r')} = call i32 {clock}(ptr %now)")
            return self.field("%now", 0, "i64")
        self.add(f"{self.fresh('r')} = call i32 {clock}(i32 {self.timers.clock.number}, ptr %now)")
        seconds, nanoseconds = self.field("%now", 0, "i64"), self.field("%now", 8, "i64")
        scaled, total = self.fresh("t"), self.fresh("t")
        self.add(f"{scaled} = mul i64 {seconds}, 1000000000", f"{total} = add i64 {scaled}, {nanoseconds}")
        return total

    def _increase(self, base: str, position: int, amount: str) -> None:
        address = self.fresh("f")
        self.add(
            f"{address} = getelementptr i8, ptr {base}, i64 {8 * position}",
            f"{self.fresh('x')} = atomicrmw add ptr {address}, i64 {amount} monotonic",  # without the GIL
        )


def emit_timed_program(program: Program, timers: StepTimers) -> tuple[str, frozenset[str]]:
    """LLVM IR text of a program that measures its steps, and the external scalar functions that it needs."""
    entry = _TimedEntry(program, timers)
    text = entry.text()
    return text, frozenset(entry.module.externals)
