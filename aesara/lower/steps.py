"""Steps of a schedule: what computes arrays, in order, before buffers and kernels are made of it."""

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

#: the buffer of an array in memory
NameOf = Callable[["Array"], str]


class ScheduledStep:
    """One step of a schedule."""

    #: what it is to somebody who did not write the back end: "nest", "product", "routine", "loop", "python", or None
    kind: ClassVar[str | None] = None
    #: what it does, if a library does it
    title: str = ""
    #: what it repeats, if it is a loop
    loop_body: LoopBody | None = None
    #: whether an exception may come of it
    can_fail: ClassVar[bool] = False

    def writes(self) -> Iterator[Array]:
        """The arrays whose memory it writes."""
        return iter(())

    def computes(self) -> Iterator[Array]:
        """The arrays that it computes, those that never get to memory included."""
        return self.writes()

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        """The buffers that it reads, each with whether this is the element of the current iteration."""
        return iter(())

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        """The steps of the program that do it; `at` is its number."""
        raise NotImplementedError

    def space(self, context: Context) -> tuple[Expr, ...]:
        """What its loops run over, in sizes of the program: by default the shape of what it makes."""
        *_, last = self.writes()
        return tuple(context.canonical(n) for n in last.shape)

    def maps_elements(self) -> Iterator[Array]:
        """The arrays of which each iteration makes one element, which it may keep in a register."""
        return iter(())

    def starts_with(self) -> str | None:
        """The buffer whose values must be in the memory of what it makes before it runs."""
        return None

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        """Whether it may write `array` over `buffer`, because it reads there nothing but what it is about to write."""
        return False

    def draws_many(self, context: Context, many: int) -> bool:
        """Whether it does nothing but draw numbers, one after another, and perhaps more than `many`."""
        return False

    def reads_in_rows(self, buffer: str, count: Expr, context: Context, name_of: NameOf) -> bool:
        """Whether it is a nest whose outermost loop, in parts, reads the `count` elements of a buffer in turn."""
        return False


def loads_of(expressions: Iterable[Expr]) -> Iterator[tuple[str, bool]]:
    """The buffers that expressions read, at any place."""
    return ((e.attr, False) for e in walk(expressions) if e.op == "load")
