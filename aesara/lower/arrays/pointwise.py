"""Arrays defined element by element, and views of memory."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

from aesara.ir.expr import COMPLEX_OF, PART_OF, Expr, call, complex_number, const, linear_offset, parts_of, walk
from aesara.lower.arrays.base import ONE, ZERO, Array, ElementTracer, Index, Reader, Task
from aesara.lower.iteration_space import LOOP

__all__ = [
    "Alias", "ComplexView", "PartReaders", "Pointwise", "Source", "literal", "row_major_strides", "strided_view",
]  # fmt: skip


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


class ComplexView(Array):
    """The complex array whose pairs of real and imaginary parts are the array `memory`."""

    __slots__ = ()

    def __init__(self, memory: Array) -> None:
        super().__init__(COMPLEX_OF[memory.dtype], memory.shape[:-1])
        self._memory = memory
        memory.has_pairs = True

    @property
    def is_stored(self) -> bool | None:  # type: ignore[override]
        return self.memory.is_stored

    def split(self) -> tuple[Array, Array]:
        return self._part(0), self._part(1)

    def _part(self, k: int) -> Array:
        memory = self.memory

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return readers[0]((*index, const(k)))

        def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
            return offset + strides[-1] * k, strides[:-1]

        return Pointwise(memory.dtype, self.shape, (memory,), body, 0, strided=restride)


class Pointwise(Array):
    """Each element is `body(index, readers)`, an expression in elements of the operands.

    `cost` is that of the body alone, for each part if it is complex; `expands[k]`: elements of operand k are read more
    than once per pass.
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
        cost: int | Sequence[int] = 1,
        expands: Sequence[bool] | None = None,
        requires: Sequence[object] = (),
        strided: Callable[[Expr, tuple[Expr, ...]], tuple[Expr, tuple[Expr, ...]]] | None = None,
    ) -> None:
        super().__init__(dtype, shape, requires)
        self.operands = tuple(operands)
        self.body = body
        self.cost: Any = cost
        self.expands = tuple(expands) if expands is not None else (False,) * len(self.operands)
        self.strided = strided
        if dtype not in PART_OF and any(a.dtype in PART_OF for a in self.operands):
            self._read_parts()

    def _read_parts(self) -> None:
        """Replace complex operands by those of their parts that a real array reads."""
        body, expands = self.body, self.expands
        read, _ = PartReaders.of_read(self.operands, self.ndim, lambda index, readers: [body(index, readers)])
        self.body = lambda index, readers: body(index, read.join(readers))
        self.operands, self.expands = read.parts, tuple(expands[k] for k in read.numbers)

    def split(self) -> tuple[Array, Array]:
        return self._part(0), self._part(1)

    def _part(self, k: int) -> Array:
        """Return the real or imaginary part."""
        body, dtype = self.body, PART_OF[self.dtype]

        def part(index: Index, readers: Sequence[Reader]) -> Expr:
            return parts_of(body(index, readers))[k]

        read, (value,) = PartReaders.of_read(self.operands, self.ndim, lambda index, readers: [part(index, readers)])
        cost = self.cost[k] if isinstance(self.cost, Sequence) else 0 if value.is_const else self.cost
        return Pointwise(
            dtype, self.shape, read.parts, lambda index, readers: part(index, read.join(readers)), cost,
            [self.expands[j] for j in read.numbers], self.requires, self.strided,
        )  # fmt: skip

    def reads(self) -> list[tuple[Array, bool]]:
        return list(zip(self.operands, self.expands, strict=True))

    def for_other_context(self) -> Array | None:
        if self.operands or self.requires:
            return None
        return Pointwise(self.dtype, self.shape, (), self.body, self.cost)

    def tasks(self, tracer: ElementTracer) -> Iterator[Task]:
        shape = tracer.shape(self)
        loops = LOOP[: len(shape)]
        (value,) = tracer.canonical([tracer.trace(self, loops)])
        yield Task("map", self, shape, value, linear_offset(loops, shape))


class PartReaders:
    """Readers of operands, made of readers of the real arrays that they consist of.

    Attributes
    ----------
    parts, numbers
        The real arrays that are read, and the number of the operand that each belongs to.
    """

    def __init__(self, operands: Sequence[Array], kept: Container[int] | None = None) -> None:
        parts = [(k, part) for k, operand in enumerate(operands) for part in operand.parts]
        #: for each operand, for each part: its position among those that are read, or None
        self._places: list[tuple[list[int | None], str]] = [([], operand.parts[0].dtype) for operand in operands]
        self.numbers: list[int] = []
        self.parts: tuple[Array, ...] = ()
        for position, (k, part) in enumerate(parts):
            is_kept = kept is None or position in kept
            self._places[k][0].append(len(self.parts) if is_kept else None)
            if is_kept:
                self.numbers.append(k)
                self.parts += (part,)

    @classmethod
    def of_read(
        cls, operands: Sequence[Array], rank: int, values: Callable[[Index, Sequence[Reader]], Sequence[Expr]]
    ) -> tuple[PartReaders, Sequence[Expr]]:
        """Return readers of the parts that values at an index depend on, and these values for unknown elements."""
        all_parts = cls(operands)
        elements = values(LOOP[:rank], all_parts.join(all_parts.unknown_elements()))
        names = {e.attr for e in walk(elements) if e.op == "call"}
        read = {part for k, part in enumerate(all_parts.parts) if _element_name(k) in names}
        return cls(operands, [k for k, part in enumerate(all_parts.parts) if part in read]), elements

    def unknown_elements(self) -> list[Reader]:
        """Return a reader for each part, whose elements are a function of the index with the name of the part."""
        return [_unknown(_element_name(k), part.dtype) for k, part in enumerate(self.parts)]

    def join(self, readers: Sequence[Reader]) -> list[Reader]:
        """Return readers of the operands; parts that are not read count as 0."""
        return [
            _reader_of_parts([readers[k] if k is not None else _zero(dtype) for k in positions])
            for positions, dtype in self._places
        ]


def _reader_of_parts(readers: Sequence[Reader]) -> Reader:
    """Return the reader of an array by readers of its parts."""
    if len(readers) == 1:
        return readers[0]
    return lambda index: complex_number(*(read(index) for read in readers))


def _zero(dtype: str) -> Reader:
    return lambda index: const(0, dtype)


def _unknown(name: str, dtype: str) -> Reader:
    return lambda index: call(name, dtype, index)


def _element_name(number: int) -> str:
    return f"operand{number}"


class Alias(Array):
    """A reshaped view of the array `viewed`, with the same row-major order of elements."""

    __slots__ = ("viewed",)
    viewed: Array
    is_stored = False
    is_made_here = False

    def __init__(self, operand: Array, shape: Sequence[Expr], requires: Sequence[object] = ()) -> None:
        super().__init__(operand.dtype, shape, requires)
        self.viewed = operand

    def split(self) -> tuple[Array, Array]:
        memory = Alias(self.viewed.memory, (*self.shape, const(2)), self.requires)
        self._memory = memory
        return ComplexView(memory).split()

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
