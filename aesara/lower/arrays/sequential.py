"""Arrays computed by a kernel of their own, whose iterations may depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.expr import Expr, linear_offset, load
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import For, Statement, Store, expressions_of, map_expressions, walk_statements
from aesara.lower.arrays.base import Array, Index, Reader
from aesara.lower.kernels import launch_of
from aesara.lower.steps import NameOf, ScheduledStep, loads_of
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.steps import Step
    from aesara.lower.assemble.assembler import Assembler
    from aesara.lower.schedule.scheduler import Scheduler

__all__ = ["Recurrence", "Sequential", "Writer", "loops_over"]

#: how a `Sequential` writes an element of itself
Writer = Callable[[Index, Expr], Store]


def loops_over(
    axes: Iterable[int], shape: Sequence[Expr], body: Sequence[Statement], parallel: bool = False
) -> tuple[Statement, ...]:
    """Loops over dimensions around statements, the last dimension innermost: in the order of elements in memory.

    `parallel`: iterations of the innermost loop do not read what others write; that they write different elements is
    proved here.
    """
    statements = tuple(body)
    for k, d in enumerate(sorted(axes, reverse=True)):
        loop = For(f"v{d}", shape[d], statements)
        statements = (mark_parallel(loop) if parallel and k == 0 else loop,)
    return statements


class Sequential(Array):
    """Computed as a whole by a kernel of its own, whose iterations may depend on each other.

    `body(readers, read, write)` gives the kernel's statements: `readers[k](index)` is an element of operand k,
    `read(index)` one of the array itself that has been written before, and `write(index, value)` the statement that
    stores one.  Loops are named ``v0``, ``v1``, ..., mutable scalars ``r0``, ``r1``, ...
    """

    __slots__ = ("body", "operands")
    may_be_result = True
    is_sequential = True

    def __init__(
        self,
        dtype: str,
        shape: Sequence[Expr],
        operands: Sequence[Array],
        body: Callable[[Sequence[Reader], Reader, Writer], Sequence[Statement]],
        requires: Sequence[object] = (),
    ) -> None:
        super().__init__(dtype, shape, requires)
        self.operands, self.body = tuple(operands), body

    def reads(self) -> list[tuple[Array, bool]]:
        return [(operand, False) for operand in self.operands]

    def plan(self, scheduler: Scheduler) -> None:
        if self not in scheduler.stored:
            return
        tracer = scheduler.tracer
        name, shape = tracer.name(self), tracer.shape(self)
        readers = [lambda i, a=a: tracer.read(a, tuple(i)) for a in self.operands]

        def read(index: Index) -> Expr:
            return load(name, self.dtype, linear_offset(index, shape))

        def write(index: Index, value: Expr) -> Store:
            return Store(name, linear_offset(index, shape), value)

        body = self.body(readers, read, write)
        scheduler.append(Recurrence(self, tuple(map_expressions(s, lambda e: tracer.canonical([e])[0]) for s in body)))


@dataclass(frozen=True, eq=False)
class Recurrence(ScheduledStep):
    """The kernel of a `Sequential` array."""

    target: Array
    body: tuple[Statement, ...]
    kind = "nest"

    def writes(self) -> Iterator[Array]:
        yield self.target

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        return loads_of([e for s in walk_statements(self.body) for e in expressions_of(s)])

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        yield launch_of(f"k{at}", self.body)
