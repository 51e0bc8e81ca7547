"""Multi-output producers and their outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.expr import Expr
from aesara.lower.arrays.base import Array, Item, NameOf, Planner, ScheduledStep

__all__ = ["Producer", "ProducerResult"]


class Producer(Item, ScheduledStep):
    """A node with materialized operands that writes all of its results in one step."""

    __slots__ = ("operands", "results")
    can_fail = True

    def __init__(self, operands: Sequence[Array], requires: Sequence[object] = ()) -> None:
        super().__init__(requires)
        self.operands = tuple(operands)
        self.results: tuple[Array, ...] = ()

    def reads(self) -> list[tuple[Array, bool]]:
        return [(operand, False) for operand in self.operands]

    def reads_in_memory(self) -> Iterable[Array]:
        return self.operands

    def plan(self, planner: Planner) -> None:
        planner.append(self, self)

    def writes(self) -> Iterator[Array]:
        return iter(self.results)

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        return ((name_of(operand), False) for operand in self.operands)


class ProducerResult(Array):
    """An output of a `Producer`, which schedules it."""

    __slots__ = ("producer",)

    def __init__(self, producer: Producer, dtype: str, shape: Sequence[Expr]) -> None:
        super().__init__(dtype, shape)
        self.producer = producer

    def reads(self) -> list[tuple[Array, bool]]:
        return self.producer.reads()

    def plan(self, planner: Planner) -> None:
        """Do nothing: the producer schedules it."""
