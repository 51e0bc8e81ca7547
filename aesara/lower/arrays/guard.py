"""Run-time checks, and sizes that the program computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.expr import Expr, cast
from aesara.ir.steps import Check, Define
from aesara.lower.arrays.base import Array, Item
from aesara.lower.steps import NameOf, ScheduledStep, loads_of
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.steps import Step
    from aesara.lower.assemble.assembler import Assembler
    from aesara.lower.schedule.scheduler import Scheduler

__all__ = ["Computed", "Definition", "Guard"]


class Guard(Item, ScheduledStep):
    """A run-time check: raise error number `error` with `values` unless `condition` holds."""

    __slots__ = ("condition", "error", "values")
    can_fail = True

    def __init__(
        self, condition: Expr, error: int, values: Sequence[Expr], requires: Sequence[object] = ()
    ) -> None:  # fmt: skip
        super().__init__(requires)
        self.condition, self.error, self.values = condition, error, tuple(values)

    def plan(self, scheduler: Scheduler) -> None:
        scheduler.check(self)

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        return loads_of([self.condition, *self.values])

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        yield self.check()

    def check(self) -> Check:
        return Check(self.condition, self.error, self.values)


class Definition(Item):
    """A size defined by the value of a 0-d array."""

    __slots__ = ("array", "name")

    def __init__(self, name: str, array: Array) -> None:
        super().__init__()
        self.name, self.array = name, array

    def is_needed(self, needed: set[Item]) -> bool:
        return True

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.array, False)]

    def defines(self) -> Iterable[str]:
        return (self.name,)

    def plan(self, scheduler: Scheduler) -> None:
        tracer = scheduler.tracer
        (value,) = tracer.canonical([cast(tracer.read(self.array, ()), "int64")])
        scheduler.define(self)
        scheduler.append(Computed(self.name, value), self)


@dataclass(frozen=True, eq=False)
class Computed(ScheduledStep):
    """The step that defines a size."""

    name: str
    value: Expr

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        return loads_of([self.value])

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        yield Define(self.name, self.value)
