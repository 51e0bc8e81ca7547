"""Steps that run again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.buffers import Slot
from aesara.ir.expr import Expr
from aesara.ir.steps.base import Step
from aesara.ir.work import Work, sum_of
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.programs import ProgramMachine
    from aesara.ir.text.parsing import ProgramReader
    from aesara.ir.text.printing import ProgramWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Iterate"]

#: nanoseconds for a round
_ROUND = 5.0
#: nanoseconds of a round beside which what LLVM's passes save in it does not count
_LONG = 1000.0
#: assumed for sizes that are not known here
_FEW = 8


@dataclass(frozen=True)
class Iterate(Step):
    """Run `body` for `var` from 0 on, `extent` times or until, after it, `until` holds; `count` is how often it ran.

    In the body nothing is allocated but places in the workspace, and no node runs in Python.  With `nest`, the name of
    a kernel, all of it is one loop nest to somebody who did not write the back end: it goes by parts of that.
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
    def kind(self) -> str:  # type: ignore[override]
        return "nest" if self.nest else "loop"

    @property
    def label(self) -> str:
        return self.nest

    @property
    def runs_rounds(self) -> bool:
        return True

    @property
    def gains_by_passes(self) -> bool:
        return self.round_work().assuming(_FEW) < _LONG or any(step.gains_by_passes for step in self.body)

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        return any(step.can_fail(slots) for step in self.body)

    def expressions(self) -> Iterator[Expr]:
        yield self.extent
        if self.until is not None:
            yield self.until

    def defines(self) -> Iterator[str]:
        yield self.count

    def nested(self) -> Sequence[Step]:
        return self.body

    def round_work(self) -> Work:
        """The work of one round."""
        return sum_of([Work({(): _ROUND}), *(step.work() for step in self.body)])

    def work(self) -> Work:
        return self.round_work().times(self.extent)

    def verify(self, scope: Bindings) -> None:
        """What the body defines is known only there."""
        scope.expressions(self.extent)
        inside = scope.inside(self.var)
        for step in self.body:
            if not step.may_stand_in_loop:
                scope.fail(f"a step that a loop must not have: {step}")
            step.verify(inside)
        if self.until is not None:
            inside.expressions(self.until)
            if self.until.dtype != "bool":
                scope.fail(f"a loop until {self.until.dtype}")
        scope.define(self.count)

    def run(self, machine: ProgramMachine) -> None:
        count = 0
        for number in range(machine.integer(self.extent)):
            machine.scalars[self.var] = machine.index(number)
            for step in self.body:
                step.run(machine)
            count += 1
            if self.until is not None and machine.value(self.until):
                break
        machine.scalars[self.count] = machine.index(count)

    def write(self, writer: ProgramWriter) -> None:
        (extent,) = writer.texts([self.extent])
        nest = f" nest {writer.name(self.nest)}" if self.nest else ""
        writer.line(f"{self.keyword} {writer.name(self.var)} < {extent} count {writer.name(self.count)}{nest}:")
        writer.changed([self.var])
        with writer.indented():
            for step in self.body:
                step.write(writer)
            if self.until is not None:
                (condition,) = writer.texts([self.until])
                writer.line(f"until {condition}")
        writer.changed([self.count])

    @classmethod
    def read(cls, reader: ProgramReader, line: Line) -> Iterate:
        var = line.name("a variable")
        reader.count_with(var)
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
                body.append(reader.step(inner))
        return cls(var, extent, tuple(body), count, until, nest)
