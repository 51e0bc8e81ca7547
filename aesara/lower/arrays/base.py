"""Items and arrays: what is put in order when a graph is lowered, and the arrays that need nothing but elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from aesara.ir.expr import Expr, const, linear_offset
from aesara.lower.tasks import LOOP, Task

if TYPE_CHECKING:
    from aesara.lower.schedule.scheduler import Scheduler
    from aesara.lower.schedule.tracing import Tracer
    from aesara.lower.schedule.uses import Uses

Index = tuple[Expr, ...]
Reader = Callable[[Index], Expr]

ONE = const(1)
ZERO = const(0)


class Item:
    """What a context puts in order of creation: arrays, checks, sizes, and calls that make arrays.

    `requires` are checks that must have passed before.
    """

    __slots__ = ("requires", "stamp")

    #: whether each of its iterations has to wait for the one before, so that what it reads had better be in memory
    is_sequential: bool = False

    def __init__(self, requires: Sequence[object] = ()) -> None:
        self.stamp = -1
        self.requires = tuple(requires)

    def reads(self) -> list[tuple[Array, bool]]:
        """Arrays read, each with whether single elements are read many times over."""
        return []

    def defines(self) -> Iterable[str]:
        """The sizes that are known once it has been computed."""
        return ()

    def reads_in_memory(self) -> Iterable[Array]:
        """Those of the arrays read that must be in memory."""
        return ()

    def is_needed(self, needed: set[Item]) -> bool:
        """Whether it is to be computed, if `needed` is what somebody reads."""
        return self in needed

    def plan(self, scheduler: Scheduler) -> None:
        """Put what computes this at its place among the steps."""
        raise NotImplementedError


class Array(Item):
    """A tensor expression.

    `is_complex` says of an array in memory that its last dimension, of length 2, holds the real and imaginary parts
    of what outside of the program is an array of complex numbers.
    """

    __slots__ = ("dtype", "is_complex", "shape")

    #: True: computed as a whole, into memory; False: it is memory of something else; None: stored if that is cheaper
    is_stored: ClassVar[bool | None] = True
    #: the buffer that it is, if it exists before the program runs; the array that has its elements in the same order
    buffer: str | None = None
    viewed: Array | None = None
    #: whether its memory starts with the values of another array, of which pieces are then written over
    starts_as_base: ClassVar[bool] = False
    #: whether its memory is made in the program, and whether by an allocation of the program
    is_made_here: ClassVar[bool] = True
    is_allocated: ClassVar[bool] = True
    #: whether each element depends on other arrays at most at the same place, so that it may be written over one
    is_elementwise: ClassVar[bool] = False
    #: whether the first step that writes it reads what it is made of, and the others overwrite that
    is_copied_first: ClassVar[bool] = False
    #: whether an iteration writes both parts of a complex number
    is_interleaved: ClassVar[bool] = False
    #: whether its memory can be that of a result, in the shape of the result
    may_be_result: ClassVar[bool] = False

    def __init__(self, dtype: str, shape: Sequence[Expr], requires: Sequence[object] = ()) -> None:
        super().__init__(requires)
        self.dtype = dtype
        self.shape = tuple(shape)
        self.is_complex = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def plan(self, scheduler: Scheduler) -> None:
        if self in scheduler.stored:
            for task in self.tasks(scheduler.tracer):
                scheduler.place(task)

    def tasks(self, tracer: Tracer) -> Iterator[Task]:
        """The loop bodies that compute the array."""
        raise NotImplementedError

    def base_in_memory(self, uses: Uses) -> Array | None:
        """The array in whose memory this one is made or is; None if it has memory of its own."""
        return self.viewed

    def elsewhere(self) -> Array | None:
        """The same for another context; None if that has to get it as a buffer."""
        return None


class Source(Array):
    """Memory that exists before the program runs: an input or a constant."""

    __slots__ = ("buffer",)
    buffer: str
    is_stored = False
    is_made_here = False

    def __init__(self, buffer: str, dtype: str, shape: Sequence[Expr]) -> None:
        super().__init__(dtype, shape)
        self.buffer = buffer

    def elsewhere(self) -> Array | None:
        return Source(self.buffer, self.dtype, self.shape)


class Pointwise(Array):
    """Each element is `body(index, readers)`, an expression in elements of the operands.

    `cost` is that of the body alone; `expands[k]`: elements of operand k are read more than once per pass.
    `strided` marks pure re-indexing: `(operand view) -> (offset, strides)`, which lets library calls read through.
    """

    __slots__ = ("body", "cost", "expands", "operands", "strided")
    is_stored = None
    is_elementwise = True
    may_be_result = True

    def __init__(
        self,
        dtype: str,
        shape: Sequence[Expr],
        operands: Sequence[Array],
        body: Callable[[Index, Sequence[Reader]], Expr],
        cost: int = 1,
        expands: Sequence[bool] | None = None,
        requires: Sequence[object] = (),
        strided: Callable[[Expr, tuple[Expr, ...]], tuple[Expr, tuple[Expr, ...]]] | None = None,
    ) -> None:
        super().__init__(dtype, shape, requires)
        self.operands = tuple(operands)
        self.body = body
        self.cost = cost
        self.expands = tuple(expands) if expands is not None else (False,) * len(self.operands)
        self.strided = strided

    def reads(self) -> list[tuple[Array, bool]]:
        return list(zip(self.operands, self.expands, strict=True))

    def elsewhere(self) -> Array | None:
        if self.operands or self.requires:
            return None
        return Pointwise(self.dtype, self.shape, (), self.body, self.cost)

    def tasks(self, tracer: Tracer) -> Iterator[Task]:
        shape = tracer.shape(self)
        loops = LOOP[: len(shape)]
        (value,) = tracer.canonical([tracer.trace(self, loops)])
        yield Task("map", self, shape, value, linear_offset(loops, shape))


class Alias(Array):
    """The elements of an array, which is `viewed`, in the same row-major order under another shape."""

    __slots__ = ("viewed",)
    viewed: Array
    is_stored = False
    is_made_here = False

    def __init__(self, operand: Array, shape: Sequence[Expr], requires: Sequence[object] = ()) -> None:
        super().__init__(operand.dtype, shape, requires)
        self.viewed = operand

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.viewed, False)]

    def reads_in_memory(self) -> Iterable[Array]:
        return (self.viewed,)


def literal(value: float | int | bool, dtype: str, shape: Sequence[Expr] = ()) -> Pointwise:
    """An array filled with one constant."""
    constant = const(value, dtype)
    return Pointwise(dtype, shape, (), lambda index, readers: constant, cost=0)


def row_major_strides(shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """How far apart, in elements, neighbours along each dimension are."""
    strides: list[Expr] = []
    step = ONE
    for n in reversed(shape):
        strides.insert(0, step)
        step = step * n
    return tuple(strides)


def strided_view(array: Array, shape: Callable[[Array], tuple[Expr, ...]]) -> tuple[Array, Expr, tuple[Expr, ...]]:
    """The memory behind an array, with the offset and the strides (in elements) to read it in place."""
    chain = []
    while isinstance(array, Pointwise) and array.strided is not None:
        chain.append(array)
        array = array.operands[0]
    offset: Expr = ZERO
    view = row_major_strides(shape(array))
    for link in reversed(chain):
        assert link.strided is not None
        offset, view = link.strided(offset, view)
    return array, offset, view


def copied(tracer: Tracer, array: Array, base: Array) -> Task:
    """The loop body that copies `base` into the memory of `array`."""
    shape = tracer.shape(array)
    loops = LOOP[: len(shape)]
    (value,) = tracer.canonical([tracer.read(base, loops)])
    return Task("map", array, shape, value, linear_offset(loops, shape))


__all__ = [
    "ONE", "ZERO", "Alias", "Array", "Index", "Item", "Pointwise", "Reader", "Source", "copied", "literal",
    "row_major_strides", "strided_view",
]  # fmt: skip
