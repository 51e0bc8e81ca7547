"""Definitions of sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.expr import Expr
from aesara.ir.steps.base import Step
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["Define"]


@dataclass(frozen=True)
class Define(Step):
    """Define the size `name`."""

    keyword = "define"

    name: str
    value: Expr

    def expressions(self) -> Iterator[Expr]:
        yield self.value

    def defines(self) -> Iterator[str]:
        yield self.name

    def computes(self) -> Iterator[tuple[str, Expr]]:
        yield self.name, self.value

    def verify(self, scope: Bindings) -> None:
        scope.expressions(self.value)
        scope.define(self.name)

    def run(self, machine: StepMachine) -> None:
        machine.scalars[self.name] = machine.value(self.value)

    def write(self, writer: StepWriter) -> None:
        (value,) = writer.texts([self.value])
        writer.line(f"{self.keyword} {writer.name(self.name)} = {value}")
        writer.invalidate([self.name])

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Define:
        name = line.name("a size")
        line.expect("=")
        return cls(name, reader.expression(line))
