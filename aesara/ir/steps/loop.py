"""Loops over steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.buffers import Slot
from aesara.ir.expr import Expr
from aesara.ir.steps.base import Step, read_step
from aesara.ir.work import Work, sum_of
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Iterate"]

#: overhead of an iteration, in nanoseconds
_ITERATION = 5.0
#: time of an iteration, in nanoseconds, for which LLVM's passes are not worthwhile
_LONG_ITERATION = 1000.0
#: assumed value of unknown sizes
_ASSUMED_SIZE = 8


@dataclass(frozen=True)
class Iterate(Step):
    """Run `body` with `var` from 0 to `extent`, or until `until` holds after an iteration; `count` is the trip count.

    The body allocates only in the workspace and runs no node in Python. `nest` is the name of a kernel if the loop only
    splits one loop nest into chunks: explanations and profiles show it as that nest.
    """

    keyword = "loop"
    words = ("count", "until", "nest")

    var: str
    extent: Expr
    body: tuple[Step, ...]
    count: str
    until: Expr | None = None
    nest: str = ""

    @property
    def kind(self) -> str:
        return "nest" if self.nest else "loop"

    @property
    def label(self) -> str:
        return self.nest

    @property
    def is_loop(self) -> bool:
        return True

    @property
    def needs_optimization(self) -> bool:
        return self.work_per_iteration().assuming(_ASSUMED_SIZE) < _LONG_ITERATION or any(
            step.needs_optimization for step in self.body
        )

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        return any(step.can_fail(slots) for step in self.body)

    def expressions(self) -> Iterator[Expr]:
        yield self.extent
        if self.until is not None:
            yield self.until

    def defines(self) -> Iterator[str]:
        yield self.count

    def nested_steps(self) -> Sequence[Step]:
        return self.body

    def work_per_iteration(self) -> Work:
        """Return the work of one iteration."""
        return sum_of([Work({(): _ITERATION}), *(step.work() for step in self.body)])

    def work(self) -> Work:
        return self.work_per_iteration().times(self.extent)

    def verify(self, scope: Bindings) -> None:
        """Verify the loop; definitions of the body are visible only there."""
        scope.expressions(self.extent)
        inside = scope.inside(self.var)
        for step in self.body:
            if not step.allowed_in_loop:
                scope.fail(f"a step that is not allowed in a loop: {step}")
            step.verify(inside)
        if self.until is not None:
            inside.expressions(self.until)
            if self.until.dtype != "bool":
                scope.fail(f"a loop until {self.until.dtype}")
        scope.define(self.count)

    def run(self, machine: StepMachine) -> None:
        count = 0
        for number in range(machine.integer(self.extent)):
            machine.scalars[self.var] = machine.index(number)
            for step in self.body:
                step.run(machine)
            count += 1
            if self.until is not None and machine.value(self.until):
                break
        machine.scalars[self.count] = machine.index(count)

    def write(self, writer: StepWriter) -> None:
        (extent,) = writer.texts([self.extent])
        nest = f" nest {writer.name(self.nest)}" if self.nest else ""
        writer.line(f"{self.keyword} {writer.name(self.var)} < {extent} count {writer.name(self.count)}{nest}:")
        writer.invalidate([self.var])
        with writer.indentation():
            for step in self.body:
                step.write(writer)
            if self.until is not None:
                (condition,) = writer.texts([self.until])
                writer.line(f"until {condition}")
        writer.invalidate([self.count])

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Iterate:
        var = line.name("a variable")
        reader.declare_loop_variable(var)
        line.expect("<")
        extent = reader.expression(line)
        line.expect("count")
        count = line.name("a size")
        nest = line.name("a kernel") if line.has("nest") else ""
        line.expect(":")
        line.finish()
        body: list[Step] = []
        until = None
        for inner in reader.lines_inside(line):
            if inner.has("until"):
                until = reader.expression(inner)
                inner.finish()
            else:
                body.append(read_step(reader, inner))
        return cls(var, extent, tuple(body), count, until, nest)
