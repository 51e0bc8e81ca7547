"""Views of buffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.buffers import Buffer
from aesara.ir.expr import Expr
from aesara.ir.steps.base import Step
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["View"]


@dataclass(frozen=True)
class View(Step):
    """Define `buffer` as the memory of `base` from an element offset on."""

    keyword = "view"
    words = ("in", "at")

    buffer: Buffer
    base: str
    offset: Expr

    def expressions(self) -> Iterator[Expr]:
        yield self.offset
        yield from self.buffer.shape

    def makes(self) -> Iterator[Buffer]:
        yield self.buffer

    def bases(self) -> dict[str, str]:
        return {self.buffer.name: self.base}

    def verify(self, scope: Bindings) -> None:
        if scope.buffers.get(self.base) != self.buffer.dtype:
            scope.fail(f"a view of {self.buffer.dtype} on {self.base}, which is {scope.buffers.get(self.base)}")
        scope.expressions(*self.expressions())
        scope.make(self.buffer)

    def run(self, machine: StepMachine) -> None:
        machine.view(self.buffer, self.base, machine.integer(self.offset))

    def write(self, writer: StepWriter) -> None:
        (offset,) = writer.texts([self.offset])
        writer.line(f"{self.keyword} {writer.buffer(self.buffer)} in {writer.name(self.base)} at {offset}")
        writer.define_buffers(self.buffer)

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> View:
        buffer = reader.buffer(line)
        line.expect("in")
        base = line.name("the name of a buffer")
        line.expect("at")
        offset = reader.expression(line)
        reader.define_buffers(buffer)
        return cls(buffer, base, offset)
