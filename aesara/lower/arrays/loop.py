"""Loops over time steps; each body has a context and a schedule of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aesara.ir.buffers import Buffer
from aesara.ir.expr import Expr, load, var
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import For, Statement, Store
from aesara.ir.steps import Iterate, View
from aesara.lower.arrays.base import ONE, ZERO, Array, Item
from aesara.lower.arrays.producer import Producer, ProducerResult
from aesara.lower.kernels import launch_of
from aesara.lower.shape_arithmetic import count_of
from aesara.lower.tasks import LOOP
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.steps import Step
    from aesara.lower.assemble.assembler import Assembler
    from aesara.lower.context import Context

__all__ = ["LoopBody", "LoopNode", "LoopResult", "LoopRow"]


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

    @property
    def loop_body(self) -> LoopBody | None:  # type: ignore[override]
        return self.body

    def is_needed(self, needed: set[Item]) -> bool:
        """Return whether a result is read; a loop that may end early is live, since its trip count may be used."""
        assert self.body is not None
        return self.body.until is not None or any(r in needed for r in self.results)

    def defines(self) -> Iterable[str]:
        assert self.body is not None
        return (self.body.count,)

    def space(self, context: Context) -> tuple[Expr, ...]:
        assert self.body is not None
        return (context.canonical(self.body.extent),)

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        """Copy the initial rows, then run the loop; its body accesses rows in place."""
        body = self.body
        assert body is not None
        canonical, name_of = assembler.context.canonical, assembler.buffer_name
        number = var(body.var)

        def offset(array: Array, first: int | None) -> Expr:
            if first is None:
                return ZERO
            length, *rest = assembler.shape(array)
            row = number + first
            if isinstance(array, LoopResult) and array.is_ring:
                row = row % length
            return row * count_of(rest)

        for result, operand, rows in body.starts:
            shape = assembler.shape(result)
            length = count_of(shape) if rows is None else canonical(rows) * count_of(shape[1:])
            alone = length is ONE
            element = ZERO if alone else LOOP[0]
            copy: Statement = Store(name_of(result), element, load(name_of(operand), operand.dtype, element))
            launch = launch_of(f"k{at}s", (copy if alone else mark_parallel(For("v0", length, (copy,))),))
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
        steps = assembler.body_steps(body, targets)
        yield Iterate(body.var, canonical(body.extent), (*views, *steps), body.count, body.until)


class LoopResult(ProducerResult):
    """An array that a `LoopNode` writes row by row; a ring buffer (`is_ring`) wraps around when it is full."""

    __slots__ = ("is_ring",)

    def __init__(self, producer: LoopNode, dtype: str, shape: Sequence[Expr], is_ring: bool = False) -> None:
        super().__init__(producer, dtype, shape)
        self.is_ring = is_ring


@dataclass(frozen=True)
class LoopRow:
    """Buffer `name` of a loop's body: row `first + step` of `array` (modulo the length of a ring), or all of it (None).

    `spacing` is the offset of the row of step 0 and the distance between rows of successive steps, in elements.
    """

    name: str
    array: Array
    first: int | None
    shape: tuple[Expr, ...]
    spacing: tuple[Expr, Expr] | None = None


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

    context: Any
    var: str
    extent: Expr
    count: str
    reads: tuple[LoopRow, ...]
    starts: tuple[tuple[LoopResult, Array, Expr | None], ...]
    writes: tuple[tuple[Array, LoopResult, int | None], ...]
    until: Expr | None
