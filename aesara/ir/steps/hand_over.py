"""Results that are the arrays of inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.steps.base import Step
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["HandOver"]


@dataclass(frozen=True)
class HandOver(Step):
    """Return the array of an input, in the buffer `name`, as a result: the new value of another shared variable.

    The input gets another array, so that no two shared variables share one.
    """

    keyword = "hand"
    words = ("as", "output")

    name: str
    output: int

    @property
    def needs_gil(self) -> bool:
        return True

    @property
    def allowed_in_loop(self) -> bool:
        return False

    def reads(self) -> Iterator[str]:
        yield self.name

    def verify(self, scope: Bindings) -> None:
        if self.name not in scope.buffers:
            scope.fail(f"{self.name} is handed over, but no buffer")

    def run(self, machine: StepMachine) -> None:
        """Do nothing: the program's output has the name of this buffer."""

    def write(self, writer: StepWriter) -> None:
        writer.line(f"{self.keyword} {writer.name(self.name)} as output {self.output}")

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> HandOver:
        name = line.name("the name of a buffer")
        line.expect("as")
        line.expect("output")
        return cls(name, line.integer())
