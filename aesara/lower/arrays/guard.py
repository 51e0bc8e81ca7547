"""Run-time checks, and sizes that the program computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.expr import Expr, cast
from aesara.ir.steps import Check, Define, Step
from aesara.lower.arrays.base import Array, Item, NameOf, Planner, ProgramBuilder, ScheduledStep, loads_of
from aesara.lower.sizes import reads_only_inputs
from aesara.records import dataclass

__all__ = ["DefineSize", "Definition", "Guard"]


class Guard(Item, ScheduledStep):
    """A run-time check: raise error number `error` with `values` unless `condition` holds."""

    __slots__ = ("condition", "error", "values")
    can_fail = True

    def __init__(
        self, condition: Expr, error: int, values: Sequence[Expr], requires: Sequence[object] = ()
    ) -> None:  # fmt: skip
        super().__init__(requires)
        self.condition, self.error, self.values = condition, error, tuple(values)

    def is_needed(self, needed: set[Item]) -> bool:
        return True

    def plan(self, planner: Planner) -> None:
        planner.append(self, self, early=all(map(reads_only_inputs, (self.condition, *self.values))))

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        return loads_of([self.condition, *self.values])

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        yield Check(self.condition, self.error, self.values)


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

    def plan(self, planner: Planner) -> None:
        tracer = planner.tracer
        (value,) = tracer.canonical([cast(tracer.read(self.array, ()), "int64")])
        planner.append(DefineSize(self.name, value), self)


@dataclass(frozen=True, eq=False)
class DefineSize(ScheduledStep):
    """The step that defines a size."""

    name: str
    value: Expr

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        return loads_of([self.value])

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        yield Define(self.name, self.value)
