"""Nodes that run in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.expr import Expr
from aesara.ir.steps.base import Step
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["PythonCall"]


@dataclass(frozen=True)
class PythonCall(Step):
    """Call back into Python; operands are buffers, results new arrays.

    `results` are buffers whose shapes are sizes that this step defines.
    """

    keyword = "python"
    kind = "python"
    calls_python = True

    index: int
    operands: tuple[Buffer, ...]
    results: tuple[Buffer, ...]

    @property
    def needs_gil(self) -> bool:
        return True

    @property
    def allowed_in_loop(self) -> bool:
        return False

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        return True

    def expressions(self) -> Iterator[Expr]:
        return (n for buffer in self.operands for n in buffer.shape)

    def reads(self) -> Iterator[str]:
        return (buffer.name for buffer in self.operands)

    def writes(self) -> Iterator[str]:
        return (buffer.name for buffer in self.results)

    def arrays(self) -> Iterator[Buffer]:
        return iter(self.operands)

    def makes(self) -> Iterator[Buffer]:
        return iter(self.results)

    def defines(self) -> Iterator[str]:
        return (n.attr for buffer in self.results for n in buffer.shape if n.op == "var")

    def verify(self, scope: Bindings) -> None:
        for buffer in self.operands:
            if scope.buffers.get(buffer.name) != buffer.dtype:
                scope.fail(f"{buffer.name} is {scope.buffers.get(buffer.name)}, used as {buffer.dtype}")
            scope.expressions(*buffer.shape)
        for name in self.defines():
            scope.define(name)
        for result in self.results:
            scope.make(result)

    def run(self, machine: StepMachine) -> None:
        define_buffers = machine.python[self.index](*map(machine.copy_buffer, self.operands))
        for result, value in zip(self.results, define_buffers, strict=True):
            machine.accept(result, value, f"result {result.name} of node {self.index}")

    def write(self, writer: StepWriter) -> None:
        operands, results = (", ".join(map(writer.buffer, group)) for group in (self.operands, self.results))
        writer.line(f"{self.keyword} {self.index} ({operands}) -> ({results})")
        writer.invalidate(self.defines())
        writer.define_buffers(*self.results)

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> PythonCall:
        index = line.integer()
        operands = reader.buffers(line)
        line.expect("->")
        results = reader.buffers(line)
        reader.define_buffers(*results)
        return cls(index, operands, results)
