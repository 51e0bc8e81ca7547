"""Loops over time steps; each body has a context and a schedule of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.buffers import Buffer
from aesara.ir.expr import Expr, load, var
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import For, Statement, Store
from aesara.ir.steps import Iterate, Step, View
from aesara.lower.arrays import ONE, ZERO, Array, Item, LoopRow, Producer, ProducerResult, ProgramBuilder
from aesara.lower.assemble import Assembler, assign_memory
from aesara.lower.context import Context
from aesara.lower.iteration_space import LOOP
from aesara.lower.kernels import launch_of
from aesara.lower.schedule import Schedule, schedule
from aesara.lower.shape_arithmetic import count_of
from aesara.lower.sizes import SizeFacts
from aesara.records import dataclass

__all__ = ["LoopBody", "LoopNode", "LoopResult", "add_loop"]


@dataclass(frozen=True, eq=False)
class LoopBody:
    """The body of a loop.

    Attributes
    ----------
    context
        The context with the arrays of the body.
    var, extent, count
        Loop variable, maximal trip count, and the size that holds the actual trip count.
    reads
        Rows that the body reads.
    starts
        Results with initial rows, the operand that holds them, and their number (None: all rows).
    writes
        Arrays of the body, the result that each is written to, and the row (None: the whole result, overwritten in
        each step).
    until
        Condition that ends the loop.
    """

    context: Context
    var: str
    extent: Expr
    count: str
    reads: tuple[LoopRow, ...]
    starts: tuple[tuple[LoopResult, Array, Expr | None], ...]
    writes: tuple[tuple[Array, LoopResult, int | None], ...]
    until: Expr | None

    def plan(self) -> tuple[list[Array], Schedule]:
        """Return results and schedule; a result kept as a whole overwrites its value of the step before."""
        results = assign_memory(self.context, [array for array, _, _ in self.writes], set(range(len(self.writes))))
        replaced = {
            array: row.name
            for array, (_, result, first) in zip(results, self.writes, strict=True)
            for row in self.reads
            if first is None and row.array is result
        }
        return results, schedule(self.context, results, replaced)

    def program_steps(self, builder: ProgramBuilder, targets: Sequence[tuple[str, Expr]]) -> list[Step]:
        """Return the steps of the body; `targets` are buffer and offset for each of its results."""
        results, plan = self.plan()
        rows = dict(zip(results, targets, strict=True))
        return Assembler(self.context, plan, results, builder.slots, {}, rows).steps()


class LoopNode(Producer):
    """A loop over time steps, with operands, results and a separately lowered body.

    Rows of operands and results are buffers of the body.  `views` are sequences that the body reads from the memory of
    the operands that they are views of.
    """

    __slots__ = ("body", "views")
    kind = "loop"

    def __init__(
        self, operands: Sequence[Array], requires: Sequence[object] = (), views: Sequence[Array] = ()
    ) -> None:  # fmt: skip
        super().__init__(operands, requires)
        self.views = tuple(views)
        self.body: LoopBody

    def reads(self) -> list[tuple[Array, bool]]:
        return [*super().reads(), *((view, False) for view in self.views)]

    def is_needed(self, needed: set[Item]) -> bool:
        """Return whether a result is read; a loop that may end early is live, since its trip count may be used."""
        return self.body.until is not None or any(r in needed for r in self.results)

    def defines(self) -> Iterable[str]:
        return (self.body.count,)

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        return (sizes.canonical(self.body.extent),)

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        """Copy the initial rows, then run the loop; its body accesses rows in place."""
        body = self.body
        for result, operand, rows in body.starts:
            launch = launch_of(f"k{at}s", (_copy_rows(result, operand, rows, builder),))
            yield dataclasses.replace(launch, begins_loop=True)
        views = [_view_of_row(row, body, builder) for row in body.reads]
        targets = [
            (builder.buffer_name(result), _row_offset(result, first, body, builder)) for _, result, first in body.writes
        ]
        steps = body.program_steps(builder, targets)
        extent = builder.sizes.canonical(body.extent)
        yield Iterate(body.var, extent, (*views, *steps), body.count, body.until)


class LoopResult(ProducerResult):
    """An array that a `LoopNode` writes row by row; a ring buffer (`is_ring`) wraps around when it is full."""

    __slots__ = ("is_ring",)

    def __init__(self, producer: LoopNode, dtype: str, shape: Sequence[Expr], is_ring: bool = False) -> None:
        super().__init__(producer, dtype, shape)
        self.is_ring = is_ring


def add_loop(context: Context, loop: LoopNode, body: LoopBody, results: Sequence[LoopResult]) -> None:
    """Add a loop, then its results, to a context."""
    loop.body, loop.results = body, tuple(results)
    context.add(loop)
    for result in results:
        context.ensure_added(result)


def _copy_rows(result: Array, operand: Array, rows: Expr | None, builder: ProgramBuilder) -> Statement:
    """Return the statement that copies the first rows, or all (None), of an operand to a result."""
    shape = builder.shape(result)
    length = count_of(shape) if rows is None else builder.sizes.canonical(rows) * count_of(shape[1:])
    element = ZERO if length is ONE else LOOP[0]
    value = load(builder.buffer_name(operand), operand.dtype, element)
    copy = Store(builder.buffer_name(result), element, value)
    return copy if length is ONE else mark_parallel(For("v0", length, (copy,)))


def _view_of_row(row: LoopRow, body: LoopBody, builder: ProgramBuilder) -> View:
    """Return the step that makes a row a buffer of the body."""
    canonical = builder.sizes.canonical
    if row.spacing is None:
        offset = _row_offset(row.array, row.first, body, builder)
    else:
        start, distance = map(canonical, row.spacing)
        offset = start + var(body.var) * distance
    buffer = Buffer(row.name, row.array.dtype, tuple(map(canonical, row.shape)))
    return View(buffer, builder.buffer_name(row.array), offset)


def _row_offset(array: Array, first: int | None, body: LoopBody, builder: ProgramBuilder) -> Expr:
    """Return the offset of row `first + step`, modulo the length of a ring; 0 for the whole array (None)."""
    if first is None:
        return ZERO
    length, *row_shape = builder.shape(array)
    row = var(body.var) + first
    if isinstance(array, LoopResult) and array.is_ring:
        row = row % length
    return row * count_of(row_shape)
