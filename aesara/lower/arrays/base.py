"""The base classes of items and arrays, and arrays defined element by element."""

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
    """An entry of a context, numbered in order of creation: an array, check, size definition or producer.

    `requires` are the checks that must pass first.
    """

    __slots__ = ("requires", "stamp")

    #: whether iterations depend on the ones before, so that its operands are better materialized
    is_sequential: bool = False

    def __init__(self, requires: Sequence[object] = ()) -> None:
        self.stamp = -1
        self.requires = tuple(requires)

    def reads(self) -> list[tuple[Array, bool]]:
        """Return the operands, each with whether its elements are read repeatedly."""
        return []

    def defines(self) -> Iterable[str]:
        """Return the names of the sizes that this item defines."""
        return ()

    def reads_in_memory(self) -> Iterable[Array]:
        """Return the operands that must be materialized."""
        return ()

    def is_needed(self, needed: set[Item]) -> bool:
        """Return whether the item is live, given the items that others read (`needed`)."""
        return self in needed

    def plan(self, scheduler: Scheduler) -> None:
        """Schedule the steps that compute this item."""
        raise NotImplementedError


class Array(Item):
    """A tensor expression.

    `is_complex`: the last dimension, of length 2, holds real and imaginary parts; outside of the program this is an
    array of complex numbers.
    """

    __slots__ = ("dtype", "is_complex", "shape")

    #: True: always materialized; False: memory of another array or of an input; None: materialized if that is cheaper
    is_stored: ClassVar[bool | None] = True
    #: the existing buffer that this array is, if any; the array that this one is a view of, in the same element order
    buffer: str | None = None
    viewed: Array | None = None
    #: whether it starts as a copy of another array, which is then partly overwritten
    starts_as_base: ClassVar[bool] = False
    #: whether the program creates its memory, and whether by an `Allocate` step
    is_made_here: ClassVar[bool] = True
    is_allocated: ClassVar[bool] = True
    #: whether each element depends on other arrays only at the same index, so that it can be computed in place
    is_elementwise: ClassVar[bool] = False
    #: whether the first step that writes it copies the operand, and later steps overwrite the copy
    is_copied_first: ClassVar[bool] = False
    #: whether each iteration writes both parts of a complex number
    is_interleaved: ClassVar[bool] = False
    #: whether it can be computed in the memory of a result
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
        """Yield the loop bodies that compute the array."""
        raise NotImplementedError

    def base_in_memory(self, uses: Uses) -> Array | None:
        """Return the array whose memory this one reuses; None if it has memory of its own."""
        return self.viewed

    def for_other_context(self) -> Array | None:
        """Return an equal array for another context, or None if it must be passed as a buffer."""
        return None


class Source(Array):
    """Existing memory: an input or a constant."""

    __slots__ = ("buffer",)
    buffer: str
    is_stored = False
    is_made_here = False

    def __init__(self, buffer: str, dtype: str, shape: Sequence[Expr]) -> None:
        super().__init__(dtype, shape)
        self.buffer = buffer

    def for_other_context(self) -> Array | None:
        return Source(self.buffer, self.dtype, self.shape)


class Pointwise(Array):
    """Each element is `body(index, readers)`, an expression in elements of the operands.

    `cost` is that of the body alone; `expands[k]`: elements of operand k are read more than once per pass.
    `strided` is set for views: it maps offset and strides of the operand to those of the view, so that library calls
    read the operand's memory.
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

    def for_other_context(self) -> Array | None:
        if self.operands or self.requires:
            return None
        return Pointwise(self.dtype, self.shape, (), self.body, self.cost)

    def tasks(self, tracer: Tracer) -> Iterator[Task]:
        shape = tracer.shape(self)
        loops = LOOP[: len(shape)]
        (value,) = tracer.canonical([tracer.trace(self, loops)])
        yield Task("map", self, shape, value, linear_offset(loops, shape))


class Alias(Array):
    """A reshaped view of the array `viewed`, with the same row-major order of elements."""

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
    """Return an array filled with one constant."""
    constant = const(value, dtype)
    return Pointwise(dtype, shape, (), lambda index, readers: constant, cost=0)


def row_major_strides(shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return the strides, in elements, of a contiguous array."""
    strides: list[Expr] = []
    step = ONE
    for n in reversed(shape):
        strides.insert(0, step)
        step = step * n
    return tuple(strides)


def strided_view(array: Array, shape: Callable[[Array], tuple[Expr, ...]]) -> tuple[Array, Expr, tuple[Expr, ...]]:
    """Return the array in memory that `array` is a view of, with offset and strides in elements."""
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


def copy_task(tracer: Tracer, array: Array, base: Array) -> Task:
    """Return the task that copies `base` into the memory of `array`."""
    shape = tracer.shape(array)
    loops = LOOP[: len(shape)]
    (value,) = tracer.canonical([tracer.read(base, loops)])
    return Task("map", array, shape, value, linear_offset(loops, shape))


__all__ = [
    "ONE", "ZERO", "Alias", "Array", "Index", "Item", "Pointwise", "Reader", "Source", "copy_task", "literal",
    "row_major_strides", "strided_view",
]  # fmt: skip
