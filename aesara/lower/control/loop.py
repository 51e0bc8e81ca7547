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

__all__ = ["LoopBody", "LoopNode", "LoopResult"]


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
        self.body: LoopBody | None = None

    def reads(self) -> list[tuple[Array, bool]]:
        return [*super().reads(), *((view, False) for view in self.views)]

    def is_needed(self, needed: set[Item]) -> bool:
        """Return whether a result is read; a loop that may end early is live, since its trip count may be used."""
        assert self.body is not None
        return self.body.until is not None or any(r in needed for r in self.results)

    def defines(self) -> Iterable[str]:
        assert self.body is not None
        return (self.body.count,)

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        assert self.body is not None
        return (sizes.canonical(self.body.extent),)

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        """Copy the initial rows, then run the loop; its body accesses rows in place."""
        body = self.body
        assert body is not None
        canonical, name_of = builder.sizes.canonical, builder.buffer_name
        number = var(body.var)

        def offset(array: Array, first: int | None) -> Expr:
            if first is None:
                return ZERO
            length, *rest = builder.shape(array)
            row = number + first
            if isinstance(array, LoopResult) and array.is_ring:
                row = row % length
            return row * count_of(rest)

        for result, operand, rows in body.starts:
            shape = builder.shape(result)
            length = count_of(shape) if rows is None else canonical(rows) * count_of(shape[1:])
            is_single = length is ONE
            element = ZERO if is_single else LOOP[0]
            copy: Statement = Store(name_of(result), element, load(name_of(operand), operand.dtype, element))
            launch = launch_of(f"k{at}s", (copy if is_single else mark_parallel(For("v0", length, (copy,))),))
            yield dataclasses.replace(launch, begins_loop=True)

        def row_offset(row: LoopRow) -> Expr:
            if row.spacing is None:
                return offset(row.array, row.first)
            start, distance = map(canonical, row.spacing)
            return start + number * distance

        views = [
            View(
                Buffer(row.name, row.array.dtype, tuple(map(canonical, row.shape))),
                name_of(row.array),
                row_offset(row),
            )
            for row in body.reads
        ]
        targets = [(name_of(result), offset(result, first)) for _, result, first in body.writes]
        steps = body.program_steps(builder, targets)
        yield Iterate(body.var, canonical(body.extent), (*views, *steps), body.count, body.until)


class LoopResult(ProducerResult):
    """An array that a `LoopNode` writes row by row; a ring buffer (`is_ring`) wraps around when it is full."""

    __slots__ = ("is_ring",)

    def __init__(self, producer: LoopNode, dtype: str, shape: Sequence[Expr], is_ring: bool = False) -> None:
        super().__init__(producer, dtype, shape)
        self.is_ring = is_ring
