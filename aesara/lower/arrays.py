"""Tensor expressions: what each variable of a graph is, as a shape and a rule from an index to a scalar.

An `Array` is either memory that exists (`Source`), a rule that can be evaluated wherever it is read (`Pointwise`),
the same memory under another shape (`Alias`), or something that must be computed as a whole (`Reduction`,
`Sequential`, `Assembled`, `Interleaved`, `Product`, `External`).  Shapes are index expressions over sizes known at
run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.ir.expr import Expr, const
from aesara.ir.kernel import Statement, Store
from aesara.records import dataclass

Index = tuple[Expr, ...]
Reader = Callable[[Index], Expr]
#: how a `Sequential` writes an element of itself
Writer = Callable[[Index, Expr], Store]

ONE = const(1)
ZERO = const(0)


class Array:
    """A tensor expression.  `requires` are checks that must have passed before its elements are read.

    `is_complex` says of an array in memory that its last dimension, of length 2, holds the real and imaginary parts
    of what outside of the program is an array of complex numbers.
    """

    __slots__ = ("stamp", "dtype", "shape", "requires", "is_complex")

    def __init__(self, dtype: str, shape: Sequence[Expr], requires: Sequence[object] = ()) -> None:
        self.stamp = -1
        self.dtype = dtype
        self.shape = tuple(shape)
        self.requires = tuple(requires)
        self.is_complex = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def reads(self) -> list[tuple[Array, bool]]:
        """Arrays read, each with whether single elements are read many times over."""
        return []


class Source(Array):
    """Memory that exists before the program runs: an input or a constant."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: str, dtype: str, shape: Sequence[Expr]) -> None:
        super().__init__(dtype, shape)
        self.buffer = buffer


class Pointwise(Array):
    """Each element is `body(index, readers)`, an expression in elements of the operands.

    `cost` is that of the body alone; `expands[k]`: elements of operand k are read more than once per pass.
    `strided` marks pure re-indexing: `(operand view) -> (offset, strides)`, which lets library calls read through.
    """

    __slots__ = ("operands", "body", "cost", "expands", "strided")

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


class Alias(Array):
    """The elements of `operand` in the same row-major order under another shape."""

    __slots__ = ("operand",)

    def __init__(self, operand: Array, shape: Sequence[Expr], requires: Sequence[object] = ()) -> None:
        super().__init__(operand.dtype, shape, requires)
        self.operand = operand

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.operand, False)]


class Reduction(Array):
    """`operand` reduced over `axes` with the primitive `kind` (add, mul, minimum, maximum, and, or, xor)."""

    __slots__ = ("operand", "axes", "kind", "identity")

    def __init__(self, operand: Array, axes: Sequence[int], kind: str, identity: Expr, requires: Sequence[object] = ()):
        kept = [n for d, n in enumerate(operand.shape) if d not in axes]
        super().__init__(operand.dtype, kept, requires)
        self.operand, self.axes, self.kind, self.identity = operand, tuple(axes), kind, identity

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.operand, False)]


class Sequential(Array):
    """Computed as a whole by a kernel of its own, whose iterations may depend on each other.

    `body(readers, read, write)` gives the kernel's statements: `readers[k](index)` is an element of operand k,
    `read(index)` one of the array itself that has been written before, and `write(index, value)` the statement that
    stores one.  Loops are named ``v0``, ``v1``, ..., mutable scalars ``r0``, ``r1``, ...  `expands[k]`: elements of
    operand k are read more than once.
    """

    __slots__ = ("operands", "body", "expands")

    def __init__(
        self,
        dtype: str,
        shape: Sequence[Expr],
        operands: Sequence[Array],
        body: Callable[[Sequence[Reader], Reader, Writer], Sequence[Statement]],
        expands: Sequence[bool] | None = None,
        requires: Sequence[object] = (),
    ) -> None:
        super().__init__(dtype, shape, requires)
        self.operands, self.body = tuple(operands), body
        self.expands = tuple(expands) if expands is not None else (False,) * len(self.operands)

    def reads(self) -> list[tuple[Array, bool]]:
        return list(zip(self.operands, self.expands, strict=True))


@dataclass(frozen=True)
class Write:
    """For every index of `domain`: target[place(index)] = value(index), or += if `accumulate`.

    `parallel`: no two iterations of the innermost loop touch one place.
    """

    domain: tuple[Expr, ...]
    operands: tuple[Array, ...]
    place: Callable[[Index, Sequence[Reader]], Index]
    value: Callable[[Index, Sequence[Reader]], Expr]
    accumulate: bool = False
    parallel: bool = True


class Assembled(Array):
    """Memory first filled from `base` (if any), then written piece by piece, in order."""

    __slots__ = ("base", "writes")

    def __init__(
        self, dtype: str, shape: Sequence[Expr], base: Array | None, writes: Sequence[Write],
        requires: Sequence[object] = (),
    ) -> None:  # fmt: skip
        super().__init__(dtype, shape, requires)
        self.base, self.writes = base, tuple(writes)

    def reads(self) -> list[tuple[Array, bool]]:
        found = [(self.base, False)] if self.base is not None else []
        return found + [(a, False) for w in self.writes for a in w.operands]


class Interleaved(Array):
    """Complex numbers in memory: `real` and `imag` in turn, written by one loop over their shape."""

    __slots__ = ("real", "imag")

    def __init__(self, real: Array, imag: Array) -> None:
        super().__init__(real.dtype, (*real.shape, const(2)))
        self.real, self.imag = real, imag
        self.is_complex = True

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.real, False), (self.imag, False)]


class Product(Array):
    """Products of matrices: one, or one for every index of leading dimensions, of which an operand may have size 1.

    The operands are read in place through strides where they allow it.  `scale`, an array without dimensions, is
    multiplied with each element.
    """

    __slots__ = ("left", "right", "scale")

    def __init__(
        self, left: Array, right: Array, requires: Sequence[object] = (), scale: Array | None = None
    ) -> None:  # fmt: skip
        batch = [b if a is ONE else a for a, b in zip(left.shape[:-2], right.shape[:-2], strict=True)]
        super().__init__(left.dtype, (*batch, left.shape[-2], right.shape[-1]), requires)
        self.left, self.right, self.scale = left, right, scale

    def reads(self) -> list[tuple[Array, bool]]:
        scale = [] if self.scale is None else [(self.scale, False)]
        return [(self.left, True), (self.right, True), *scale]


class PythonNode:
    """A node that runs in Python: its operands, and the arrays that it will make."""

    __slots__ = ("index", "operands", "results", "stamp", "requires")

    def __init__(self, index: int, operands: Sequence[Array]) -> None:
        self.index, self.operands = index, tuple(operands)
        self.results: tuple[External, ...] = ()
        self.stamp = -1
        self.requires: tuple[object, ...] = ()


class External(Array):
    """One result of a `PythonNode`; its sizes are known once the node has run."""

    __slots__ = ("producer",)

    def __init__(self, producer: PythonNode, dtype: str, shape: Sequence[Expr]) -> None:
        super().__init__(dtype, shape)
        self.producer = producer

    def reads(self) -> list[tuple[Array, bool]]:
        return [(a, False) for a in self.producer.operands]


class LoopNode:
    """A loop: what it reads and makes, and its body, which is lowered by itself.

    Rows of operands and results are buffers of the body.
    """

    __slots__ = ("body", "operands", "requires", "results", "stamp")

    def __init__(self, operands: Sequence[Array], requires: Sequence[object] = ()) -> None:
        self.operands = tuple(operands)
        self.results: tuple[LoopResult, ...] = ()
        self.body: LoopBody | None = None
        self.stamp = -1
        self.requires = tuple(requires)


class LoopResult(Array):
    """An array that a `LoopNode` makes row by row; a ring starts again with its first row when it is full."""

    __slots__ = ("is_ring", "producer")

    def __init__(self, producer: LoopNode, dtype: str, shape: Sequence[Expr], is_ring: bool = False) -> None:
        super().__init__(dtype, shape)
        self.producer, self.is_ring = producer, is_ring

    def reads(self) -> list[tuple[Array, bool]]:
        return [(a, False) for a in self.producer.operands]


@dataclass(frozen=True)
class Row:
    """Buffer `name` of a loop's body: row `first` + the number of the step of an array, or all of it (None).

    In a ring rows are counted round and round.
    """

    name: str
    array: Array
    first: int | None
    shape: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class LoopBody:
    """What a loop does.

    `context` holds the body's arrays; `starts` say how many rows a result has before the first step (None: all of it),
    and which operand begins with them; `writes` say which array of the body becomes which row of a result (None: all
    of it, in the place of what the step before has written).
    """

    context: Any
    var: str
    extent: Expr
    count: str
    reads: tuple[Row, ...]
    starts: tuple[tuple[LoopResult, Array, Expr | None], ...]
    writes: tuple[tuple[Array, LoopResult, int | None], ...]
    until: Expr | None


def literal(value: float | int | bool, dtype: str, shape: Sequence[Expr] = ()) -> Pointwise:
    """An array filled with one constant."""
    constant = const(value, dtype)
    return Pointwise(dtype, shape, (), lambda index, readers: constant, cost=0)
