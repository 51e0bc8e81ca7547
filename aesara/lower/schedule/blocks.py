"""Fusion of draws with the loop nest that reads them, in blocks that stay in the cache.

A draw is a call that fills a buffer.  If a nest is its only reader, and each iteration reads its own element, the call
and the nest alternate: a block is drawn, then the nest runs over the strip of its outermost loop that reads the block.
The numbers are drawn in the same order, and need memory for one block only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from aesara.ir.buffers import Buffer, Operand
from aesara.ir.expr import Expr, op, var
from aesara.ir.routine import Parameter
from aesara.ir.routines.draws import counts_of
from aesara.ir.steps import Allocate, Call, Iterate, Step
from aesara.lower.accesses import Accesses
from aesara.lower.arrays import ONE, ZERO, Array, NameOf, ProgramBuilder, RoutineCall, ScheduledStep
from aesara.lower.context import Context
from aesara.lower.groups import Group
from aesara.lower.nests import Rows
from aesara.lower.sizes import SizeFacts

__all__ = ["BlockedDraws", "fuse_draws"]

#: elements of a block; several blocks fit into the first-level cache
_BLOCK = 1024


class BlockedDraws(ScheduledStep):
    """A nest, and the calls that draw numbers that only it reads."""

    kind = "nest"

    def __init__(self, context: Context, calls: Sequence[RoutineCall], group: Group) -> None:
        self.calls, self.group = tuple(calls), group
        self._number, self._count = context.fresh("i"), context.fresh_size()
        self._drawn = tuple(_drawn_array(call) for call in calls)

    def writes(self) -> Iterator[Array]:
        for call in self.calls:
            yield from (array for array in call.writes() if array not in self._drawn)
        yield from self.group.writes()

    def computes(self) -> Iterator[Array]:
        yield from self._drawn
        yield from self.writes()

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        drawn = set(map(name_of, self._drawn))
        for call in self.calls:
            yield from call.loads(name_of)
        yield from ((name, same) for name, same in self.group.loads(name_of) if name not in drawn)

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        return self.group.space(sizes)

    def maps_elements(self) -> Iterator[Array]:
        return self.group.maps_elements()

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        is_read = any(_memory(array).buffer == buffer for call in self.calls for array in call.arguments.values())
        return not is_read and self.group.reads_own_element_only(buffer, array)

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        names = tuple(map(builder.buffer_name, self._drawn))
        strip = self.group.rows_launch(builder, at, Rows(self._number, _BLOCK, frozenset(names)))
        launch, length, rows, width = strip.launch, strip.length, strip.rows, strip.width
        buffers = [Buffer(name, array.dtype, (rows * width,)) for name, array in zip(names, self._drawn)]
        for buffer in buffers:
            yield Allocate(buffer, slot=builder.slots.take(buffer))
        first = var(self._number) * rows
        count = op("minimum", rows, length - first) * width
        calls = [self._block(call, builder, first * width, count) for call in self.calls]
        blocks = (length + (rows - ONE)) // rows
        yield Iterate(self._number, blocks, (*calls, launch), self._count, nest=launch.kernel.name)
        for name in names:
            builder.slots.release(name)

    @staticmethod
    def _block(call: RoutineCall, builder: ProgramBuilder, first: Expr, count: Expr) -> Call:
        """Return the call that draws `count` numbers, after `first` numbers."""
        routine, canonical = call.routine, builder.sizes.canonical
        counts = {name for name in counts_of(routine) if canonical(call.sizes[name]) is not ONE}
        sizes = [count if name in counts else canonical(call.sizes[name]) for name in routine.sizes]

        def operand(parameter: Parameter) -> Operand:
            array = call.results[parameter.name] if parameter.is_written else call.arguments[parameter.name]
            is_part = array is not _drawn_array(call) and parameter.shape[0].attr in counts
            return Operand(builder.buffer_name(array), first if is_part else ZERO)

        return Call(routine, tuple(sizes), tuple(map(operand, routine.parameters)))


def _drawn_array(call: RoutineCall) -> Array:
    """Return the array that a call draws."""
    return call.results["out"]


def _memory(array: Array) -> Array:
    """Return the array that owns the memory of a view."""
    while array.viewed is not None:
        array = array.viewed
    return array


def fuse_draws(
    context: Context, steps: Sequence[ScheduledStep], results: Sequence[Array], name_of: NameOf
) -> list[ScheduledStep]:
    """Fuse draws of a schedule with the nests that read them, where possible."""
    calls = [at for at, step in enumerate(steps) if step.draws_many(context.sizes, _BLOCK)]
    if not calls:
        return list(steps)
    accesses, kept = Accesses(steps, name_of), set(map(name_of, results))
    fused: dict[int, list[int]] = {}
    for at in reversed(calls):
        call = cast("RoutineCall", steps[at])
        name = name_of(_drawn_array(call))
        readers = accesses.readers.get(name, set())
        if name in kept or len(readers) != 1 or accesses.writers[name] != [at]:
            continue
        (reader,) = readers
        count = context.canonical(call.sizes[call.routine.each])
        if not steps[reader].reads_in_rows(name, count, context.sizes, name_of):
            continue
        others = [k for k in range(at + 1, reader + 1) if k not in fused.get(reader, ())]
        others += fused.get(reader, ())
        if not any(_must_follow(steps[k], call, name_of) for k in others):
            fused.setdefault(reader, []).insert(0, at)
    removed = {at for calls_of_nest in fused.values() for at in calls_of_nest}
    return [_fused_step(context, steps, at, fused) for at in range(len(steps)) if at not in removed]


def _fused_step(
    context: Context, steps: Sequence[ScheduledStep], at: int, fused: dict[int, list[int]]
) -> ScheduledStep:
    if at not in fused:
        return steps[at]
    calls = [cast("RoutineCall", steps[k]) for k in fused[at]]
    return BlockedDraws(context, calls, cast("Group", steps[at]))


def _must_follow(step: ScheduledStep, call: RoutineCall, name_of: NameOf) -> bool:
    """Return whether a step depends on a call, or overwrites one of its arguments."""
    written = {name_of(array) for array in call.writes() if array is not _drawn_array(call)}
    read = {name for name, _ in call.loads(name_of)}
    return any(name in written for name, _ in step.loads(name_of)) or any(
        name_of(array) in written | read for array in step.writes()
    )
