"""The base classes of items, arrays, tasks and scheduled steps, which refer to one another.

The protocols say what arrays and steps need of the passes above them: `UseCounts`, `ElementTracer` and `Planner` of the
scheduler, `ProgramBuilder` of the assembler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, Protocol

from aesara.ir.expr import PART_OF, Expr, NoComplexForm, const, linear_offset, walk
from aesara.ir.steps import Step
from aesara.lower.iteration_space import LOOP
from aesara.lower.sizes import SizeFacts
from aesara.lower.slots import Slots
from aesara.records import dataclass

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

    def plan(self, planner: Planner) -> None:
        """Schedule the steps that compute this item."""
        raise NotImplementedError


class Array(Item):
    """A tensor expression.

    An array of a complex dtype is no item: the program computes the two real arrays `parts`.  In memory it is an array
    with one more dimension.

    `has_pairs`: the last dimension, of length 2, holds real and imaginary parts; outside of the program this is an
    array of complex numbers.
    """

    __slots__ = ("_memory", "_parts", "dtype", "has_pairs", "shape")

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
        self.has_pairs = False
        self._parts: tuple[Array, ...] | None = None
        self._memory: Array | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_complex(self) -> bool:
        return self.dtype in PART_OF

    @property
    def parts(self) -> tuple[Array, ...]:
        """The real arrays that it consists of: the array itself, or real and imaginary part."""
        if self._parts is None:
            self._parts = self.split() if self.is_complex else (self,)
        return self._parts

    def split(self) -> tuple[Array, Array]:
        """Return real and imaginary part; raise `NoComplexForm` if they cannot be told apart."""
        raise NoComplexForm(type(self).__name__)

    @property
    def memory(self) -> Array:
        """The array in memory: itself, or one with pairs of real and imaginary parts."""
        if not self.is_complex:
            return self
        if self._memory is None:
            parts = self.parts  # some arrays are split in memory
            self._memory = self._memory or Interleaved(*parts)
        return self._memory

    def plan(self, planner: Planner) -> None:
        for task in self.tasks(planner.tracer):
            planner.place(task)

    def tasks(self, tracer: ElementTracer) -> Iterator[Task]:
        """Yield the loop bodies that compute the array."""
        raise NotImplementedError

    def base_in_memory(self, uses: UseCounts) -> Array | None:
        """Return the array whose memory this one reuses; None if it has memory of its own."""
        return self.viewed

    def for_other_context(self) -> Array | None:
        """Return an equal array for another context, or None if it must be passed as a buffer."""
        return None


class Interleaved(Array):
    """Pairs of real and imaginary parts in memory; one loop writes both."""

    __slots__ = ("imag", "real")
    is_elementwise = True
    is_interleaved = True
    may_be_result = True

    def __init__(self, real: Array, imag: Array) -> None:
        super().__init__(real.dtype, (*real.shape, const(2)))
        self.real, self.imag = real, imag
        self.has_pairs = True

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.real, False), (self.imag, False)]

    def tasks(self, tracer: ElementTracer) -> Iterator[Task]:
        shape = tracer.shape(self)
        domain = shape[:-1]
        loops = LOOP[: len(domain)]
        for k, part in enumerate((self.real, self.imag)):
            (value,) = tracer.canonical([tracer.read(part, loops)])
            yield Task("map", self, domain, value, linear_offset((*loops, const(k)), shape))


@dataclass(eq=False)
class Task:
    """A loop body that computes one stored array.

    kind ``map``: buffer[offset] = value; ``reduce``: over the loops in `axes`; ``write``: stores to computed positions.
    Expressions use the variables `LOOP` of the loops over `domain`.  A `prologue` fills the target before the nest
    starts.  Iterations along `distinct` axes write to distinct positions, all else being equal; along `separate` axes,
    whatever the others are.  A write that is not `parallel` shares a nest only with such writes.
    """

    kind: str
    target: Array
    domain: tuple[Expr, ...]
    value: Expr
    offset: Expr
    axes: tuple[int, ...] = ()
    primitive: str = ""
    identity: Expr | None = None
    accumulate: bool = False
    parallel: bool = True
    distinct: frozenset[int] = frozenset()
    separate: frozenset[int] = frozenset()
    prologue: Task | None = None


def copy_task(tracer: ElementTracer, array: Array, base: Array) -> Task:
    """Return the task that copies `base` into the memory of `array`."""
    shape = tracer.shape(array)
    loops = LOOP[: len(shape)]
    (value,) = tracer.canonical([tracer.read(base, loops)])
    return Task("map", array, shape, value, linear_offset(loops, shape))


#: from a materialized array to its buffer
NameOf = Callable[[Array], str]


class ScheduledStep:
    """One step of a schedule, before buffers and kernels are assigned."""

    #: kind of the step in reports: "nest", "product", "routine", "loop", "python", or None
    kind: ClassVar[str | None] = None
    #: title of a library routine
    title: str = ""
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

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        """Yield the program steps that implement step number `at`."""
        raise NotImplementedError

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        """Return the iteration space, by default the shape of the result."""
        *_, last = self.writes()
        return tuple(map(sizes.canonical, last.shape))

    def maps_elements(self) -> Iterator[Array]:
        """Yield the arrays of which each iteration computes one element, which can stay in a register."""
        return iter(())

    def initial_buffer(self) -> str | None:
        """Return the buffer whose values the result must hold before the step, or None."""
        return None

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        """Return whether `array` can overwrite `buffer`: each iteration reads only the element that it writes."""
        return False

    def draws_many(self, sizes: SizeFacts, least: int) -> bool:
        """Return whether it only draws a sequence of numbers, maybe more than `least`."""
        return False

    def reads_in_rows(self, buffer: str, count: Expr, sizes: SizeFacts, name_of: NameOf) -> bool:
        """Return whether it is a nest whose outermost loop reads the `count` elements of a buffer in order."""
        return False


def loads_of(expressions: Iterable[Expr]) -> Iterator[tuple[str, bool]]:
    """Yield the buffers that expressions read at any index."""
    return ((e.attr, False) for e in walk(expressions) if e.op == "load")


# -- what the passes provide -----------------------------------------------------------------------------------------


class UseCounts(Protocol):
    """The number of readers of each array."""

    def has_one_use(self, array: Array) -> bool:
        """Return whether an array has a single reader, and need not be materialized."""


class ElementTracer(Protocol):
    """Buffers of materialized arrays, and expressions for elements of the others."""

    sizes: SizeFacts

    def shape(self, array: Array) -> tuple[Expr, ...]:
        """Return the representatives of the sizes of an array."""

    def name(self, array: Array) -> str:
        """Return the buffer of a materialized array."""

    def read(self, array: Array, index: Index) -> Expr:
        """Return the element of an array at an index, as an expression of loads."""

    def trace(self, array: Array, index: Index) -> Expr:
        """Return the body of an array at an index, as an expression of loads."""

    def canonical(self, roots: Sequence[Expr]) -> list[Expr]:
        """Replace sizes in expressions with their representatives."""

    def base_of(self, array: Array) -> Array | None:
        """Return the array whose memory an array reuses; None if it has memory of its own."""

    def take_over(self, base: Array, array: Array) -> None:
        """Record that an array is computed in the buffer of `base`."""


class Planner(Protocol):
    """Orders the steps and tasks that items add by `Item.plan`."""

    @property
    def tracer(self) -> ElementTracer:
        """The elements of arrays, as expressions."""

    def append(self, step: ScheduledStep, item: Item | None = None, early: bool = False) -> None:
        """Append a step, which computes `item`, if given.

        `early`: it reads inputs only; it runs before all others if the checks do that the item requires.
        """

    def place(self, task: Task) -> None:
        """Add a task to a nest."""


class ProgramBuilder(Protocol):
    """Buffers of the program, which steps refer to.

    Attributes
    ----------
    elided
        Arrays that only their own nest reads, in the same iteration; they need no memory.
    """

    sizes: SizeFacts
    slots: Slots
    elided: set[Array]

    def buffer_name(self, array: Array) -> str:
        """Return the buffer of a materialized array."""

    def shape(self, array: Array) -> tuple[Expr, ...]:
        """Return the representatives of the sizes of an array."""

    def overwritten_input(self, buffer: str) -> str | None:
        """Return the buffer of the input that a result overwrites in place, or None."""


__all__ = [
    "ONE", "ZERO", "Array", "ElementTracer", "Index", "Interleaved", "Item", "NameOf", "Planner", "ProgramBuilder",
    "Reader", "ScheduledStep", "Task", "UseCounts", "copy_task", "loads_of",
]  # fmt: skip
