"""Loops over steps, whose bodies are lowered by themselves."""

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
from aesara.lower.arrays.producer import Made, Producer
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
    """A loop: what it reads and makes, and its body, which is lowered by itself.

    Rows of operands and results are buffers of the body.  `views` are sequences that are read in place, in the memory
    of operands.
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
        """How often it runs may be asked for where its values are not."""
        assert self.body is not None
        return self.body.until is not None or any(r in needed for r in self.results)

    def defines(self) -> Iterable[str]:
        assert self.body is not None
        return (self.body.count,)

    def space(self, context: Context) -> tuple[Expr, ...]:
        assert self.body is not None
        return (context.canonical(self.body.extent),)

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        """First rows, then the loop; its body reads and writes rows in place."""
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

        def place(row: LoopRow) -> Expr:
            if row.spacing is None:
                return offset(row.array, row.first)
            start, distance = map(canonical, row.spacing)
            return start + number * distance

        views = [
            View(
                Buffer(row.name, row.array.dtype, tuple(map(canonical, row.shape))),
                name_of(row.array),
                place(row),
            )
            for row in body.reads
        ]
        places = [(name_of(result), offset(result, first)) for _, result, first in body.writes]
        steps = assembler.steps_inside(body, places)
        yield Iterate(body.var, canonical(body.extent), (*views, *steps), body.count, body.until)


class LoopResult(Made):
    """An array that a `LoopNode` makes row by row; a ring starts again with its first row when it is full."""

    __slots__ = ("is_ring",)

    def __init__(self, producer: LoopNode, dtype: str, shape: Sequence[Expr], is_ring: bool = False) -> None:
        super().__init__(producer, dtype, shape)
        self.is_ring = is_ring


@dataclass(frozen=True)
class LoopRow:
    """Buffer `name` of a loop's body: row `first` + the number of the step of an array, or all of it (None).

    In a ring rows are counted round and round.  With a `spacing`, the row of the first step starts at the first of
    these elements of the array, and that of each further step so many elements behind the one before.
    """

    name: str
    array: Array
    first: int | None
    shape: tuple[Expr, ...]
    spacing: tuple[Expr, Expr] | None = None


@dataclass(frozen=True, eq=False)
class LoopBody:
    """What a loop does.

    `context` holds the body's arrays; `starts` say how many rows a result has before the first step (None: all of it),
    and which operand begins with them; `writes` say which array of the body becomes which row of a result (None: all
    of it, in the place of what the step before has written).
    """

    context: Any
    var: str
    extent: Expr
    count: str
    reads: tuple[LoopRow, ...]
    starts: tuple[tuple[LoopResult, Array, Expr | None], ...]
    writes: tuple[tuple[Array, LoopResult, int | None], ...]
    until: Expr | None
