"""Arrays written by a sequence of scatters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from aesara.ir.expr import PART_OF, Expr, NoComplexForm, linear_offset, load, parts_of, walk
from aesara.ir.independence import is_distinct_index
from aesara.lower.arrays.base import ONE, Array, ElementTracer, Index, Reader, Task, UseCounts, copy_task
from aesara.lower.arrays.pointwise import PartReaders
from aesara.lower.iteration_space import LOOP
from aesara.records import dataclass

__all__ = ["Assembled", "Write"]


@dataclass(frozen=True)
class Write:
    """Scatter over `domain`: target[position(index)] = value(index), or += if `accumulate`.

    `nonzero` lists factors of positions that are known not to be 0, such as the steps of slices.
    """

    domain: tuple[Expr, ...]
    operands: tuple[Array, ...]
    position: Callable[[Index, Sequence[Reader]], Index]
    value: Callable[[Index, Sequence[Reader]], Expr]
    accumulate: bool = False
    nonzero: tuple[Expr, ...] = ()


class Assembled(Array):
    """A copy of `base` (if any) that `writes` overwrite in order."""

    __slots__ = ("base", "writes")
    starts_as_base = True
    may_be_result = True

    def __init__(
        self, dtype: str, shape: Sequence[Expr], base: Array | None, writes: Sequence[Write],
        requires: Sequence[object] = (),
    ) -> None:  # fmt: skip
        super().__init__(dtype, shape, requires)
        self.base, self.writes = base, tuple(writes)
        if not self.is_complex and any(a.is_complex for w in self.writes for a in w.operands):
            raise NoComplexForm(f"{dtype} numbers that are assembled")

    def split(self) -> tuple[Array, Array]:
        return self._part(0), self._part(1)

    def _part(self, k: int) -> Array:
        base = None if self.base is None else self.base.parts[k]
        writes = [_write_of_part(write, k) for write in self.writes]
        return Assembled(PART_OF[self.dtype], self.shape, base, writes, self.requires)

    @property
    def is_sequential(self) -> bool:  # type: ignore[override]
        return any(w.accumulate and not _is_parallel(w.domain, _distinct_axes(w)) for w in self.writes)

    def reads(self) -> list[tuple[Array, bool]]:
        operands = [(self.base, False)] if self.base is not None else []
        return operands + [(a, False) for w in self.writes for a in w.operands]

    def base_in_memory(self, uses: UseCounts) -> Array | None:
        """Return the base if it is an `Assembled` that only this array reads; its memory is then reused."""
        base = self.base
        if not isinstance(base, Assembled) or not uses.has_one_use(base):
            return None
        return None if any(base in w.operands for w in self.writes) else base

    def tasks(self, tracer: ElementTracer) -> Iterator[Task]:
        reused = tracer.base_of(self)
        tasks = [self._task(write, tracer) for write in self.writes]
        if reused is not None:
            tracer.take_over(reused, self)
        elif self.base is not None:
            tasks[0].prologue = copy_task(tracer, self, self.base)
        yield from tasks

    def _task(self, write: Write, tracer: ElementTracer) -> Task:
        domain = tuple(map(tracer.sizes.canonical, write.domain))
        loops = LOOP[: len(domain)]
        readers = [lambda i, a=a: tracer.read(a, tuple(i)) for a in write.operands]
        offset = linear_offset(write.position(loops, readers), tracer.shape(self))
        value, offset = tracer.canonical([write.value(loops, readers), offset])
        distinct = _distinct_axes(write)
        return Task(
            "write", self, domain, value, offset, accumulate=write.accumulate,
            parallel=_is_parallel(domain, distinct), distinct=distinct, separate=_separate_axes(write),
        )  # fmt: skip


def _write_of_part(write: Write, k: int) -> Write:
    """Return the write of the real or imaginary part."""

    def values(index: Index, readers: Sequence[Reader]) -> list[Expr]:
        return [parts_of(write.value(index, readers))[k], *write.position(index, readers)]

    read, _ = PartReaders.of_read(write.operands, len(write.domain), values)
    return Write(
        write.domain, read.parts,
        lambda index, readers: write.position(index, read.join(readers)),
        lambda index, readers: parts_of(write.value(index, read.join(readers)))[k],
        write.accumulate, write.nonzero,
    )  # fmt: skip


def _distinct_axes(write: Write) -> frozenset[int]:
    """Return the axes of the domain along which iterations write to distinct positions.

    Entries of operands are unknown here, and may repeat.
    """
    position = _position(write)
    loops = LOOP[: len(write.domain)]
    return frozenset(d for d, loop in enumerate(loops) if is_distinct_index(position, loop.attr, write.nonzero))


def _separate_axes(write: Write) -> frozenset[int]:
    """Return the axes of the domain that alone determine an entry of the position, which differs along them."""
    loops = LOOP[: len(write.domain)]
    separate = set()
    for entry in _position(write):
        axes = [d for d, loop in enumerate(loops) if any(e is loop for e in walk([entry]))]
        if len(axes) == 1 and is_distinct_index([entry], loops[axes[0]].attr, write.nonzero):
            separate.add(axes[0])
    return frozenset(separate)


def _position(write: Write) -> Index:
    """Return the position that a write goes to, in terms of loops and unknown entries of operands."""
    readers = [lambda i, a=a, k=k: _entry(a, k, i) for k, a in enumerate(write.operands)]
    return write.position(LOOP[: len(write.domain)], readers)


def _entry(operand: Array, number: int, index: Index) -> Expr:
    return load(f"operand{number}", operand.dtype, linear_offset(index, operand.shape))


def _is_parallel(domain: Sequence[Expr], distinct: Collection[int]) -> bool:
    """Return whether iterations of the innermost loop (axes of length 1 have none) write to distinct positions."""
    longer = [d for d, n in enumerate(domain) if n is not ONE]
    return longer[-1] in distinct if longer else bool(domain)
