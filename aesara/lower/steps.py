"""Steps of a schedule, before buffers and kernels are assigned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from aesara.ir.expr import Expr, walk

if TYPE_CHECKING:
    from aesara.ir.steps import Step
    from aesara.lower.arrays import Array, LoopBody
    from aesara.lower.assemble.assembler import Assembler
    from aesara.lower.context import Context

__all__ = ["NameOf", "ScheduledStep", "loads_of"]

#: from a materialized array to its buffer
NameOf = Callable[["Array"], str]


class ScheduledStep:
    """One step of a schedule."""

    #: kind of the step in reports: "nest", "product", "routine", "loop", "python", or None
    kind: ClassVar[str | None] = None
    #: title of a library routine
    title: str = ""
    #: body of a loop
    loop_body: LoopBody | None = None
    #: whether it may raise an exception
    can_fail: ClassVar[bool] = False

    def writes(self) -> Iterator[Array]:
        """Yield the arrays whose memory it writes."""
        return iter(())

    def computes(self) -> Iterator[Array]:
        """Yield the arrays that it computes, including elided ones."""
        return self.writes()

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        """Yield the buffers that it reads, each with whether only the element of the current iteration is read."""
        return iter(())

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        """Yield the program steps that implement step number `at`."""
        raise NotImplementedError

    def space(self, context: Context) -> tuple[Expr, ...]:
        """Return the iteration space, by default the shape of the result."""
        *_, last = self.writes()
        return tuple(context.canonical(n) for n in last.shape)

    def maps_elements(self) -> Iterator[Array]:
        """Yield the arrays of which each iteration computes one element, which can stay in a register."""
        return iter(())

    def initial_buffer(self) -> str | None:
        """Return the buffer whose values the result must hold before the step, or None."""
        return None

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        """Return whether `array` can overwrite `buffer`: each iteration reads only the element that it writes."""
        return False

    def draws_many(self, context: Context, least: int) -> bool:
        """Return whether it only draws a sequence of numbers, maybe more than `least`."""
        return False

    def reads_in_rows(self, buffer: str, count: Expr, context: Context, name_of: NameOf) -> bool:
        """Return whether it is a nest whose outermost loop reads the `count` elements of a buffer in order."""
        return False


def loads_of(expressions: Iterable[Expr]) -> Iterator[tuple[str, bool]]:
    """Yield the buffers that expressions read at any index."""
    return ((e.attr, False) for e in walk(expressions) if e.op == "load")
