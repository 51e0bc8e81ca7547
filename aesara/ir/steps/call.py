"""Calls of library routines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.buffers import Place
from aesara.ir.expr import Expr
from aesara.ir.routine import Routine
from aesara.ir.routines import routine_named
from aesara.ir.steps.base import Step
from aesara.ir.steps.matmul import BATCH
from aesara.ir.work import Work
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.programs import ProgramMachine
    from aesara.ir.text.parsing import ProgramReader
    from aesara.ir.text.printing import ProgramWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Scope

__all__ = ["Call"]


@dataclass(frozen=True)
class Call(Step):
    """Call a routine with these sizes on the arrays that begin at these places.

    With `batch`, so many calls, one after another: the places may count with the variable `BATCH`.
    """

    keyword = "call"
    words = ("for",)
    kind = "routine"

    routine: Routine
    sizes: tuple[Expr, ...]
    places: tuple[Place, ...]
    batch: Expr | None = None

    @property
    def runs_rounds(self) -> bool:
        return self.batch is not None

    @property
    def label(self) -> str:
        return self.routine.name

    def shapes(self) -> list[tuple[Expr, ...]]:
        """The shapes of the arrays, in sizes of the program."""
        sizes = dict(zip(self.routine.sizes, self.sizes, strict=True))
        return [self.routine.shape_of(p, sizes) for p in self.routine.parameters]

    def expressions(self) -> Iterator[Expr]:
        yield from self.sizes
        for place in self.places:
            yield place.offset
        if self.batch is not None:
            yield self.batch

    def reads(self) -> Iterator[str]:
        pairs = zip(self.routine.parameters, self.places, strict=True)
        return (place.buffer for parameter, place in pairs if parameter.is_read)

    def writes(self) -> Iterator[str]:
        pairs = zip(self.routine.parameters, self.places, strict=True)
        return (place.buffer for parameter, place in pairs if parameter.is_written)

    def one_work(self) -> Work:
        """The work of one call of the batch."""
        return self.routine.work_for(dict(zip(self.routine.sizes, self.sizes, strict=True)))

    def work(self) -> Work:
        return self.one_work() if self.batch is None else self.one_work().times(self.batch)

    def verify(self, scope: Scope) -> None:
        routine = self.routine
        if len(self.sizes) != len(routine.sizes) or len(self.places) != len(routine.parameters):
            scope.fail(f"routine {routine.name} takes {len(routine.sizes)} sizes and {len(routine.parameters)} arrays")
        scope.expressions(*self.sizes)
        inside = scope
        if self.batch is not None:
            scope.expressions(self.batch)
            inside = scope.inside(BATCH.attr)
        for parameter, place in zip(routine.parameters, self.places, strict=True):
            if scope.buffers.get(place.buffer) != parameter.dtype:
                scope.fail(f"{place.buffer} for {parameter.name} of {parameter.dtype} in {routine.name}")
            inside.expressions(place.offset)

    def run(self, machine: ProgramMachine) -> None:
        sizes = {name: machine.integer(e) for name, e in zip(self.routine.sizes, self.sizes, strict=True)}
        shapes = [tuple(map(machine.integer, shape)) for shape in self.shapes()]
        for number in range(1 if self.batch is None else machine.integer(self.batch)):
            machine.scalars[BATCH.attr] = machine.index(number)
            starts = [machine.integer(place.offset) for place in self.places]
            described = list(zip(self.routine.parameters, self.places, starts, shapes, strict=True))
            arrays = [
                machine.elements(place.buffer, start, shape, parameter.is_read)
                for parameter, place, start, shape in described
            ]
            self.routine.reference(sizes, *arrays)
            for (parameter, place, start, _), array in zip(described, arrays, strict=True):
                if parameter.is_written:
                    machine.set_elements(place.buffer, start, array)

    def write(self, writer: ProgramWriter) -> None:
        batch = [] if self.batch is None else [self.batch]
        count = len(self.sizes)
        texts = writer.texts([*self.sizes, *(place.offset for place in self.places), *batch])
        places = [f"{writer.name(p.buffer)}({text})" for p, text in zip(self.places, texts[count:])]
        batched = f" for {BATCH.attr} < {texts[-1]}" if batch else ""
        head = f"{self.keyword} {writer.name(self.routine.name)} ({', '.join(texts[:count])})"
        writer.line(f"{head} on {', '.join(places)}{batched}")
        writer.changed([*self.writes(), BATCH.attr])

    @classmethod
    def read(cls, reader: ProgramReader, line: Line) -> Call:
        name = line.name("a routine")
        try:
            routine = routine_named(name)
        except (KeyError, TypeError):
            line.at -= 1
            line.fail("a routine")
        line.expect("(")
        sizes = reader.listed(line)
        line.expect("on")
        places = []
        for k in range(len(routine.parameters)):
            if k:
                line.expect(",")
            places.append(reader.place(line))
        return cls(routine, tuple(sizes), tuple(places), reader.batch(line))
