"""Draws that one loop nest reads, element by element: made in blocks, which are read while they are in the cache.

A draw is a call that fills memory.  Where a nest is all that reads it, and each iteration reads its own element, the
call and the nest take turns: a block is drawn, then the nest runs over the part of its outermost loop that reads it.
The numbers are drawn in the same order, and need no memory of their whole size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from aesara.ir.buffers import Buffer, Operand
from aesara.ir.expr import Expr, op, var
from aesara.ir.routine import Parameter
from aesara.ir.routines.draws import counts_of
from aesara.ir.steps import Allocate, Call, Iterate, Step
from aesara.lower.accesses import Accesses
from aesara.lower.arrays import ONE, ZERO, Array, RoutineCall
from aesara.lower.context import Context
from aesara.lower.groups import Group
from aesara.lower.nests import Rows
from aesara.lower.steps import NameOf, ScheduledStep

if TYPE_CHECKING:
    from aesara.lower.assemble.assembler import Assembler

__all__ = ["DrawsInBlocks", "draws_in_blocks"]

#: numbers of a block: a few of these, of all that a nest reads and writes, fit into the first cache of a processor
_BLOCK = 1024


class DrawsInBlocks(ScheduledStep):
    """A nest, and calls that draw what only it reads."""

    kind = "nest"

    def __init__(self, context: Context, calls: Sequence[RoutineCall], group: Group) -> None:
        self.calls, self.group = tuple(calls), group
        self._number, self._count = context.fresh("i"), context.fresh_size()
        self._drawn = tuple(_drawn(call) for call in calls)

    def writes(self) -> Iterator[Array]:
        for call in self.calls:
            yield from (array for array in call.writes() if array not in self._drawn)
        yield from self.group.writes()

    def computes(self) -> Iterator[Array]:
        yield from self._drawn
        yield from self.writes()

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        own = set(map(name_of, self._drawn))
        for call in self.calls:
            yield from call.loads(name_of)
        yield from ((name, same) for name, same in self.group.loads(name_of) if name not in own)

    def space(self, context: Context) -> tuple[Expr, ...]:
        return self.group.space(context)

    def maps_elements(self) -> Iterator[Array]:
        return self.group.maps_elements()

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        taken = any(_memory(given).buffer == buffer for call in self.calls for given in call.given.values())
        return not taken and self.group.reads_own_element_only(buffer, array)

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        names = tuple(map(assembler.buffer_name, self._drawn))
        part = self.group.rows_launch(assembler, at, Rows(self._number, _BLOCK, frozenset(names)))
        launch, length, rows, width = part.launch, part.length, part.rows, part.width
        buffers = [Buffer(name, array.dtype, (rows * width,)) for name, array in zip(names, self._drawn)]
        for buffer in buffers:
            yield Allocate(buffer, slot=assembler.slots.take(buffer))
        first = var(self._number) * rows
        count = op("minimum", rows, length - first) * width
        calls = [self._block(call, assembler, first * width, count) for call in self.calls]
        blocks = (length + (rows - ONE)) // rows
        yield Iterate(self._number, blocks, (*calls, launch), self._count, nest=launch.kernel.name)
        for name in names:
            assembler.slots.release(name)

    @staticmethod
    def _block(call: RoutineCall, assembler: Assembler, first: Expr, count: Expr) -> Call:
        """The call that draws `count` numbers, where `first` have been drawn before."""
        routine, canonical = call.routine, assembler.context.canonical
        counts = {name for name in counts_of(routine) if canonical(call.sizes[name]) is not ONE}
        sizes = [count if name in counts else canonical(call.sizes[name]) for name in routine.sizes]

        def operand(parameter: Parameter) -> Operand:
            array = call.results[parameter.name] if parameter.is_written else call.given[parameter.name]
            is_part = array is not _drawn(call) and parameter.shape[0].attr in counts
            return Operand(assembler.buffer_name(array), first if is_part else ZERO)

        return Call(routine, tuple(sizes), tuple(map(operand, routine.parameters)))


def _drawn(call: RoutineCall) -> Array:
    """The numbers that a call draws."""
    return call.results["out"]


def _memory(array: Array) -> Array:
    """The array whose memory it is."""
    while array.viewed is not None:
        array = array.viewed
    return array


def draws_in_blocks(
    context: Context, steps: Sequence[ScheduledStep], results: Sequence[Array], name_of: NameOf
) -> list[ScheduledStep]:
    """The steps of a schedule, with those draws in blocks that can be."""
    calls = [at for at, step in enumerate(steps) if step.draws_many(context, _BLOCK)]
    if not calls:
        return list(steps)
    accesses, kept = Accesses(steps, name_of), set(map(name_of, results))
    moved: dict[int, list[int]] = {}
    for at in reversed(calls):
        call = cast("RoutineCall", steps[at])
        name = name_of(_drawn(call))
        readers = accesses.readers.get(name, set())
        if name in kept or len(readers) != 1 or accesses.writers[name] != [at]:
            continue
        (reader,) = readers
        count = context.canonical(call.sizes[call.routine.each])
        if not steps[reader].reads_in_rows(name, count, context, name_of):
            continue
        others = [k for k in range(at + 1, reader + 1) if k not in moved.get(reader, ())]
        others += moved.get(reader, ())
        if not any(_hinders(steps[k], call, name_of) for k in others):
            moved.setdefault(reader, []).insert(0, at)
    gone = {at for some in moved.values() for at in some}
    return [_at(context, steps, at, moved) for at in range(len(steps)) if at not in gone]


def _at(context: Context, steps: Sequence[ScheduledStep], at: int, moved: dict[int, list[int]]) -> ScheduledStep:
    if at not in moved:
        return steps[at]
    calls = [cast("RoutineCall", steps[k]) for k in moved[at]]
    return DrawsInBlocks(context, calls, cast("Group", steps[at]))


def _hinders(step: ScheduledStep, call: RoutineCall, name_of: NameOf) -> bool:
    """Whether a call has to come before a step."""
    made = {name_of(array) for array in call.writes() if array is not _drawn(call)}
    read = {name for name, _ in call.loads(name_of)}
    return any(name in made for name, _ in step.loads(name_of)) or any(
        name_of(array) in made | read for array in step.writes()
    )
