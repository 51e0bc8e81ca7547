"""Arrays computed by a separate kernel with loop-carried dependences."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence

from aesara.ir.expr import COMPLEX_OF, PART_OF, Expr, NoComplexForm, const, linear_offset, load
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import For, Statement, Store, expressions_of, map_expressions, split_complex, walk_statements
from aesara.ir.steps import Step
from aesara.lower.arrays.base import Array, Index, NameOf, Planner, ProgramBuilder, Reader, ScheduledStep, loads_of
from aesara.lower.arrays.pointwise import ComplexView, PartReaders
from aesara.lower.kernels import launch_of
from aesara.records import dataclass

__all__ = ["Recurrence", "Sequential", "Writer", "loops_over"]

#: from an index and a value to the statement that stores it in a `Sequential` array
Writer = Callable[[Index, Expr], Store]


def loops_over(
    axes: Iterable[int],
    shape: Sequence[Expr],
    body: Sequence[Statement],
    parallel: bool = False,
    independent: bool = False,
) -> tuple[Statement, ...]:
    """Wrap statements in loops over dimensions, the last dimension innermost.

    `parallel`: iterations of the innermost loop read nothing that others write; this function proves that they write
    distinct elements. `independent`: iterations of the outermost loop write to elements of their own, which no others
    read.
    """
    statements = tuple(body)
    for k, d in enumerate(sorted(axes, reverse=True)):
        loop = For(f"v{d}", shape[d], statements)
        statements = (mark_parallel(loop) if parallel and k == 0 else loop,)
    if independent and statements != tuple(body):
        (outermost,) = statements
        assert isinstance(outermost, For)
        statements = (dataclasses.replace(outermost, independent=True),)
    return statements


class Sequential(Array):
    """An array computed by a separate kernel with loop-carried dependences.

    `body(readers, read, write)` returns the statements of the kernel: `readers[k](index)` is an element of operand k,
    `read(index)` an already written element of the array itself, and `write(index, value)` the statement that stores
    an element.  Loops are named ``v0``, ``v1``, ..., mutable scalars ``r0``, ``r1``, ...
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
        if not self.is_complex and any(a.is_complex for a in self.operands):
            raise NoComplexForm(f"{dtype} numbers that depend on those before")

    def split(self) -> tuple[Array, Array]:
        body, read = self.body, PartReaders(self.operands)
        pairs = Sequential(
            PART_OF[self.dtype], (*self.shape, const(2)), read.parts,
            lambda readers, own, write: body(read.join(readers), own, write), self.requires,
        )  # fmt: skip
        pairs.has_pairs = True
        # Raise `NoComplexForm` now rather than during scheduling.
        pairs._statements("", pairs.shape, read.unknown_elements())
        self._memory = pairs
        return ComplexView(pairs).split()

    def reads(self) -> list[tuple[Array, bool]]:
        return [(operand, False) for operand in self.operands]

    def plan(self, planner: Planner) -> None:
        tracer = planner.tracer
        name, shape = tracer.name(self), tracer.shape(self)
        readers = [lambda i, a=a: tracer.read(a, tuple(i)) for a in self.operands]
        body = self._statements(name, shape, readers)
        planner.append(Recurrence(self, tuple(map_expressions(s, lambda e: tracer.canonical([e])[0]) for s in body)))

    def _statements(self, name: str, shape: tuple[Expr, ...], readers: Sequence[Reader]) -> Sequence[Statement]:
        """Return the body of the kernel, which writes to the buffer `name`."""
        dtype, shape = (COMPLEX_OF[self.dtype], shape[:-1]) if self.has_pairs else (self.dtype, shape)

        def read(index: Index) -> Expr:
            return load(name, dtype, linear_offset(index, shape))

        def write(index: Index, value: Expr) -> Store:
            return Store(name, linear_offset(index, shape), value)

        body = self.body(readers, read, write)
        return split_complex(body) if self.has_pairs else body


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

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        yield launch_of(f"k{at}", self.body)
