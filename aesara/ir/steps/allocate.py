"""Allocation of buffers."""

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

__all__ = ["Allocate"]


@dataclass(frozen=True)
class Allocate(Step):
    """Allocate memory for a buffer.

    `output`: number of the result whose ndarray it is. `reuse`: number of the input whose memory may be taken over at
    run time if it has no other references (an in-place update). `initial`: number of the input whose value it starts
    with; the same one if both are given. `slot`: slot of the workspace; buffers with disjoint live ranges share one.
    """

    keyword = "allocate"
    words = ("in", "slot", "as", "output", "or", "input", "holding")

    buffer: Buffer
    output: int | None = None
    reuse: int | None = None
    initial: int | None = None
    slot: int | None = None

    @property
    def needs_gil(self) -> bool:
        return self.output is not None

    @property
    def allowed_in_loop(self) -> bool:
        return self.slot is not None

    def can_fail(self, slots: Sequence[Slot]) -> bool:
        return self.slot is None or slots[self.slot].late

    def expressions(self) -> Iterator[Expr]:
        yield from self.buffer.shape

    def makes(self) -> Iterator[Buffer]:
        yield self.buffer

    def arrays(self) -> Iterator[Buffer]:
        if self.output is not None:
            yield self.buffer

    def taken_inputs(self) -> Iterator[int]:
        yield from (k for k in (self.reuse, self.initial) if k is not None)

    def overwrites(self) -> Iterator[Buffer]:
        if self.reuse is not None:
            yield self.buffer

    def verify(self, scope: Bindings) -> None:
        scope.expressions(*self.buffer.shape)
        if (self.output is None) == (self.slot is None):
            scope.fail(f"{self.buffer.name} must be either an output or in the workspace")
        if None not in (self.reuse, self.initial) and self.reuse != self.initial:
            scope.fail(
                f"{self.buffer.name} may be the memory of input {self.reuse}, but starts as input {self.initial}"
            )
        if self.slot is not None and self.slot >= len(scope.slots):
            scope.fail(f"{self.buffer.name} is in slot {self.slot}, but there are {len(scope.slots)}")
        scope.make(self.buffer)

    def run(self, machine: StepMachine) -> None:
        memory = machine.allocate(self.buffer)
        if self.slot is not None:
            machine.put_in_slot(memory, self.slot)
        if self.initial is not None:
            machine.copy_input(self.initial, memory)
        if self.reuse is not None:
            machine.take_input(self.reuse, memory)

    def write(self, writer: StepWriter) -> None:
        where = ""
        if self.slot is not None:
            where += f" in slot {self.slot}"
        if self.output is not None:
            where += f" as output {self.output}"
        if self.reuse is not None:
            where += f" or input {self.reuse}"
        if self.initial is not None:
            where += f" holding input {self.initial}"
        writer.line(f"{self.keyword} {writer.buffer(self.buffer)}{where}")
        writer.define_buffers(self.buffer)

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Allocate:
        buffer = reader.buffer(line)
        slot = output = reuse = initial = None
        if line.has("in"):
            line.expect("slot")
            slot = line.integer()
        if line.has("as"):
            line.expect("output")
            output = line.integer()
        if line.has("or"):
            line.expect("input")
            reuse = line.integer()
        if line.has("holding"):
            line.expect("input")
            initial = line.integer()
        reader.define_buffers(buffer)
        return cls(buffer, output=output, reuse=reuse, initial=initial, slot=slot)
