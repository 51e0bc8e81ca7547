"""Checks, which raise an exception if a condition does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.buffers import Slot
from aesara.ir.expr import Expr
from aesara.ir.steps.base import Step
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Check"]


@dataclass(frozen=True)
class Check(Step):
    """Raise error number `error` if `condition` is false; `values` go into its message."""

    keyword = "check"
    words = ("else", "error")

    condition: Expr
    error: int
    values: tuple[Expr, ...] = ()

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        return True

    def checks(self) -> Iterator[Check]:
        yield self

    def expressions(self) -> Iterator[Expr]:
        yield self.condition
        yield from self.values

    def verify(self, scope: Bindings) -> None:
        scope.expressions(self.condition, *self.values)
        if self.condition.dtype != "bool":
            scope.fail(f"a check of {self.condition.dtype}")

    def run(self, machine: StepMachine) -> None:
        values = tuple(machine.integer(v) for v in self.values)
        if not machine.value(self.condition):
            machine.fail(self.error, values)

    def write(self, writer: StepWriter) -> None:
        condition, *values = writer.texts([self.condition, *self.values])
        listed = f" ({', '.join(values)})" if values else ""
        writer.line(f"{self.keyword} {condition} else error {self.error}{listed}")

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Check:
        condition = reader.expression(line)
        line.expect("else")
        line.expect("error")
        error = line.integer()
        values = reader.parse_list(line) if line.has("(") else []
        return cls(condition, error, tuple(values))
