"""Arrays that are written piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.expr import Expr, linear_offset, load
from aesara.ir.independence import is_distinct_index
from aesara.lower.arrays.base import ONE, Array, Index, Reader, copied
from aesara.lower.tasks import LOOP, Task
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.lower.schedule.tracing import Tracer
    from aesara.lower.schedule.uses import Uses

__all__ = ["Assembled", "Write"]


@dataclass(frozen=True)
class Write:
    """For every index of `domain`: target[place(index)] = value(index), or += if `accumulate`.

    `nonzero` are factors in places that are known not to be 0, such as the steps of slices.
    """

    domain: tuple[Expr, ...]
    operands: tuple[Array, ...]
    place: Callable[[Index, Sequence[Reader]], Index]
    value: Callable[[Index, Sequence[Reader]], Expr]
    accumulate: bool = False
    nonzero: tuple[Expr, ...] = ()


class Assembled(Array):
    """Memory first filled from `base` (if any), then written piece by piece, in order."""

    __slots__ = ("base", "writes")
    starts_as_base = True
    may_be_result = True

    def __init__(
        self, dtype: str, shape: Sequence[Expr], base: Array | None, writes: Sequence[Write],
        requires: Sequence[object] = (),
    ) -> None:  # fmt: skip
        super().__init__(dtype, shape, requires)
        self.base, self.writes = base, tuple(writes)

    @property
    def is_sequential(self) -> bool:  # type: ignore[override]
        return any(w.accumulate and not _is_parallel(w.domain, _distinct_axes(w)) for w in self.writes)

    def reads(self) -> list[tuple[Array, bool]]:
        found = [(self.base, False)] if self.base is not None else []
        return found + [(a, False) for w in self.writes for a in w.operands]

    def base_in_memory(self, uses: Uses) -> Array | None:
        """The base, if it is assembled too, nobody else reads it and nobody owns it."""
        base = self.base
        if not isinstance(base, Assembled) or not uses.is_only(base):
            return None
        return None if any(base in w.operands for w in self.writes) else base

    def tasks(self, tracer: Tracer) -> Iterator[Task]:
        taken = self.base_in_memory(tracer.uses)
        tasks = [self._task(write, tracer) for write in self.writes]
        if taken is not None:
            tracer.take_over(taken, self)
        elif self.base is not None:
            tasks[0].prologue = copied(tracer, self, self.base)
        yield from tasks

    def _task(self, write: Write, tracer: Tracer) -> Task:
        domain = tuple(tracer.context.canonical(n) for n in write.domain)
        loops = LOOP[: len(domain)]
        readers = [lambda i, a=a: tracer.read(a, tuple(i)) for a in write.operands]
        place = linear_offset(write.place(loops, readers), tracer.shape(self))
        value, place = tracer.canonical([write.value(loops, readers), place])
        distinct = _distinct_axes(write)
        parallel = _is_parallel(domain, distinct)
        return Task(
            "write", self, domain, value, place, accumulate=write.accumulate, parallel=parallel, distinct=distinct
        )


def _distinct_axes(write: Write) -> frozenset[int]:
    """The axes of the domain along which each iteration writes to a place of its own.

    Entries of operands are unknown numbers here, which may repeat.
    """
    loops = LOOP[: len(write.domain)]
    readers = [lambda i, a=a, k=k: _entry(a, k, i) for k, a in enumerate(write.operands)]
    place = write.place(loops, readers)
    return frozenset(d for d, loop in enumerate(loops) if is_distinct_index(place, loop.attr, write.nonzero))


def _entry(operand: Array, number: int, index: Index) -> Expr:
    return load(f"operand{number}", operand.dtype, linear_offset(index, operand.shape))


def _is_parallel(domain: Sequence[Expr], distinct: Collection[int]) -> bool:
    """Return whether iterations of the innermost loop write to different places.  Length 1 has no loop."""
    longer = [d for d, n in enumerate(domain) if n is not ONE]
    return longer[-1] in distinct if longer else bool(domain)
