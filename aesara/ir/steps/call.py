"""Calls of library routines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.buffers import Operand
from aesara.ir.expr import Expr, const, op, var
from aesara.ir.routine import Routine
from aesara.ir.routines import routine_named
from aesara.ir.steps.base import Step
from aesara.ir.work import Work
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.steps import StepMachine
    from aesara.ir.text.parsing import StepReader
    from aesara.ir.text.printing import StepWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Bindings

__all__ = ["BATCH", "CHUNK", "Call"]

#: number of the call within a batch
BATCH = var("batch")
#: number of elements that are computed between two checks for signals
CHUNK = 2048


@dataclass(frozen=True)
class Call(Step):
    """Call a routine with sizes, scalars, and one operand for each parameter.

    With `batch`, call it so many times; offsets of the operands may depend on the variable `BATCH`.
    """

    keyword = "call"
    words = ("with", "on", "for")

    routine: Routine
    sizes: tuple[Expr, ...]
    operands: tuple[Operand, ...]
    scalars: tuple[Expr, ...] = ()
    batch: Expr | None = None

    @property
    def kind(self) -> str:
        return self.routine.kind

    @property
    def is_loop(self) -> bool:
        return self.batch is not None or self.chunks is not None

    @property
    def chunks(self) -> Expr | None:
        """Number of chunks of a call that computes one element after another; None if it is not split."""
        if not self.routine.each or self.batch is not None:
            return None
        count = self._sizes()[self.routine.each]
        if count.is_const and count.attr <= CHUNK:
            return None
        return op("intdiv", op("add", count, const(CHUNK - 1)), const(CHUNK))

    def expressions(self) -> Iterator[Expr]:
        yield from self.sizes
        yield from self.scalars
        for operand in self.operands:
            yield from operand.expressions()
        if self.batch is not None:
            yield self.batch

    def reads(self) -> Iterator[str]:
        pairs = zip(self.routine.parameters, self.operands)
        return (operand.buffer for parameter, operand in pairs if parameter.is_read)

    def writes(self) -> Iterator[str]:
        pairs = zip(self.routine.parameters, self.operands)
        return (operand.buffer for parameter, operand in pairs if parameter.is_written)

    def products(self) -> Iterator[str]:
        if self.routine.word is not None:
            yield self.routine.parameters[0].dtype

    def _sizes(self) -> dict[str, Expr]:
        return dict(zip(self.routine.sizes, self.sizes))

    def work_per_call(self) -> Work:
        """Return the work of one call of the batch."""
        return self.routine.work_for(self._sizes())

    def work(self) -> Work:
        return self.work_per_call() if self.batch is None else self.work_per_call().times(self.batch)

    # -- semantics -------------------------------------------------------------------------------------------

    def verify(self, scope: Bindings) -> None:
        routine = self.routine
        for values, expected, kind in (
            (self.sizes, routine.sizes, "sizes"),
            (self.scalars, routine.scalars, "scalars"),
            (self.operands, routine.parameters, "operands"),
        ):
            if len(values) != len(expected):
                scope.fail(f"routine {routine.name} takes {len(expected)} {kind}, got {len(values)}")
        inside = scope
        if self.batch is not None:
            scope.expressions(self.batch)
            inside = scope.inside(BATCH.attr)
        scope.expressions(*self.sizes)
        inside.expressions(*self.scalars)
        for scalar, (name, dtype) in zip(self.scalars, routine.scalars):
            if scalar.dtype != dtype:
                scope.fail(f"{name} of {routine.name} is {dtype}, got {scalar.dtype}")
        for parameter, operand in zip(routine.parameters, self.operands):
            if scope.buffers.get(operand.buffer) != parameter.dtype:
                scope.fail(f"{routine.name} of {parameter.dtype} on {operand.buffer}")
            if len(operand.strides) != parameter.strides:
                scope.fail(f"{parameter.name} of {routine.name} has {parameter.strides} strides")
            inside.expressions(*operand.expressions())

    def run(self, machine: StepMachine) -> None:
        for number in range(1 if self.batch is None else machine.integer(self.batch)):
            machine.scalars[BATCH.attr] = machine.index(number)
            self._run_once(machine)

    def _run_once(self, machine: StepMachine) -> None:
        routine, sizes = self.routine, self._sizes()
        values = {name: machine.integer(e) for name, e in sizes.items()}
        values |= {name: machine.value(e) for (name, _), e in zip(routine.scalars, self.scalars)}
        pairs = list(zip(routine.parameters, self.operands))
        shapes = [tuple(map(machine.integer, routine.shape_of(parameter, sizes))) for parameter, _ in pairs]
        blocks = [machine.memory(operand.buffer).block for operand in self.operands]
        for k, (parameter, operand) in enumerate(pairs):
            if parameter.is_written and blocks.count(blocks[k]) > 1:
                machine.refuse(f"{routine.name} writes to {operand.buffer} while it reads that memory")
        arrays = [
            machine.read_operand(operand, shape) if parameter.is_read else machine.output_array(operand, shape)
            for (parameter, operand), shape in zip(pairs, shapes)
        ]
        routine.reference(values, *arrays)
        for (parameter, operand), array in zip(pairs, arrays):
            if parameter.is_written:
                machine.write_operand(operand, array)

    # -- text form -------------------------------------------------------------------------------------------

    def write(self, writer: StepWriter) -> None:
        texts = iter(writer.texts(list(self.expressions())))

        def write_list(items: tuple[Expr, ...]) -> str:
            return f"({', '.join(next(texts) for _ in items)})"

        sizes, scalars = write_list(self.sizes), f" with {write_list(self.scalars)}" if self.scalars else ""
        operands = [f"{writer.name(operand.buffer)}{write_list(operand.expressions())}" for operand in self.operands]
        batch = "" if self.batch is None else f" for {BATCH.attr} < {next(texts)}"
        name = writer.name(self.routine.name)
        writer.line(f"{self.keyword} {name} {sizes}{scalars} on {', '.join(operands)}{batch}")
        writer.invalidate([*self.writes(), BATCH.attr])

    @classmethod
    def read(cls, reader: StepReader, line: Line) -> Call:
        routine = routine_named(line.name("a routine"))
        if routine is None:
            line.at -= 1
            line.fail("the name of a routine")
        line.expect("(")
        sizes = tuple(reader.parse_list(line))
        scalars: tuple[Expr, ...] = ()
        if line.has("with"):
            line.expect("(")
            scalars = tuple(reader.parse_list(line))
        line.expect("on")
        operands = [reader.operand(line)]
        while line.has(","):
            operands.append(reader.operand(line))
        batch = None
        if line.has("for"):
            if line.name("a variable") != BATCH.attr:
                line.at -= 1
                line.fail(f"{BATCH.attr!r}")
            line.expect("<")
            batch = reader.expression(line)
        return cls(routine, sizes, tuple(operands), scalars, batch)
