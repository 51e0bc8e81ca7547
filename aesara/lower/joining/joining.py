"""Lowering of ops that join and split arrays."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Assembled, Index, Pointwise, Reader, Write
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import all_of
from aesara.records import dataclass
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.joining.join_split import Join, Split

#: number of terms after which a sum of sizes gets a name
_TERMS = 16


def vector_of(elements: Sequence[Array], dtype: str, context: Context) -> Array:
    """Return a vector of 0-d arrays."""

    def write(k: int, element: Array) -> Write:
        return Write(
            (), (element,), lambda index, readers: (const(k),), lambda index, readers: cast(readers[0](()), dtype)
        )

    array = Assembled(dtype, (const(len(elements)),), None, [write(k, e) for k, e in enumerate(elements)])
    context.vectors[array] = tuple(elements)
    return array


@lower_op.register
def _make_vector(op: MakeVector, node: Apply, context: Context) -> Sequence[Array]:
    return [vector_of([context.array(v) for v in node.inputs], op.dtype, context)]


@dataclass(frozen=True)
class _Axis:
    """The axis of a node, maybe known only at run time; `is_here[d]`: whether it is dimension d."""

    number: Expr
    is_here: tuple[Expr, ...]
    guards: tuple[object, ...]

    def pick(self, d: int, if_axis: Expr, otherwise: Expr) -> Expr:
        """Return `if_axis` if dimension `d` is the axis, else `otherwise`."""
        return primitive("select", self.is_here[d], if_axis, otherwise)

    def length(self, array: Array) -> Expr:
        """Return the length of an array along the axis."""
        *rest, length = array.shape
        for d in reversed(range(len(rest))):
            length = self.pick(d, rest[d], length)
        return length

    def shift(self, index: Index, start: Expr) -> Index:
        """Return the index shifted by `start` along the axis."""
        return tuple(self.pick(d, i + start, i) for d, i in enumerate(index))


def _axis_of(variable: Variable, rank: int, node: Apply, context: Context) -> _Axis:
    axis = context.size_from(context.array(variable))
    guards: tuple[object, ...] = ()
    if axis.is_const:
        number = const(axis.attr % rank)
    else:
        inside = (axis >= (-rank)) & (axis < rank)
        message = f"{type(node.op).__name__}: axis {{0}} is out of bounds for {rank} dimension(s)."
        guards = context.guard(inside, IndexError, message, node, [axis])
        number = primitive("select", axis < ZERO, axis + rank, axis)
    return _Axis(number, tuple(primitive("eq", number, const(d)) for d in range(rank)), guards)


@lower_op.register
def _join(op: Join, node: Apply, context: Context) -> Sequence[Array]:
    axis_variable, *parts = node.inputs
    arrays = [context.array(v) for v in parts]
    rank, dtype = arrays[0].ndim, node.outputs[0].type.dtype
    axis = _axis_of(axis_variable, rank, node, context)
    guards = list(axis.guards)
    for k, array in enumerate(arrays[1:], 1):
        for d in range(rank):
            guards += _require_joinable(axis, d, arrays[0].shape[d], array.shape[d], k, node, context)
    starts, total = _offsets([axis.length(array) for array in arrays], context)
    writes = [_write_part(array, axis, start, dtype) for array, start in zip(arrays, starts, strict=True)]
    shape = [axis.pick(d, total, n) for d, n in enumerate(arrays[0].shape)]
    return [Assembled(dtype, shape, None, writes, guards)]


def _offsets(lengths: Sequence[Expr], context: Context) -> tuple[list[Expr], Expr]:
    """Return the exclusive cumulative sum of lengths, and their total.

    Long sums get names, since work on n sums of up to n terms would be quadratic.
    """
    starts, total, terms = [], ZERO, 0
    for length in lengths:
        starts.append(total)
        total, terms = total + length, terms + (not length.is_const)
        if terms == _TERMS and context.outer is None:
            total, terms = context.define_size(total), 0
    return starts, total


def _require_joinable(
    axis: _Axis, d: int, first: Expr, other: Expr, k: int, node: Apply, context: Context
) -> tuple[object, ...]:
    """Check that two inputs have the same size along a dimension, unless it is the axis."""
    is_axis = axis.is_here[d]
    message = (
        f"Join along axis {axis.number.attr if axis.number.is_const else '{2}'}: all inputs must have the same size "
        f"along the other dimensions, but along dimension {d} input 0 has size {{0}} and input {k} has size {{1}}."
    )
    if is_axis.is_const:
        return () if is_axis.attr else context.require_equal(first, other, ValueError, message, node)
    if context.same_size(first, other):
        return ()
    fits = is_axis | primitive("eq", first, other)
    return context.guard(fits, ValueError, message, node, [first, other, axis.number])


def _write_part(array: Array, axis: _Axis, start: Expr, dtype: str) -> Write:
    def position(index: Index, readers: Sequence[Reader]) -> Index:
        return axis.shift(index, start)

    return Write(array.shape, (array,), position, lambda index, readers: cast(readers[0](index), dtype))


@lower_op.register
def _split(op: Split, node: Apply, context: Context) -> Sequence[Array]:
    x, axis_variable, lengths = node.inputs
    array = context.array(x)
    axis = _axis_of(axis_variable, array.ndim, node, context)
    sizes = integers_of_vector(lengths, op.len_splits, node, context)
    guards = list(axis.guards)
    whole = axis.length(array)
    for n in sizes:
        # check each length, since their sum may overflow
        message = "Split: lengths must lie between 0 and the size of the axis, {1}; one is {0}."
        fits = all_of(n >= ZERO, n <= whole)
        guards += context.guard(fits, ValueError, message, node, [n, whole])
    starts, total = _offsets(sizes, context)
    message = "Split: the lengths sum to {0}, but the axis has size {1}."
    guards += context.require_equal(total, whole, ValueError, message, node)
    return [_slice(array, axis, start, n, guards) for start, n in zip(starts, sizes, strict=True)]


def _slice(array: Array, axis: _Axis, start: Expr, length: Expr, guards: Sequence[object]) -> Array:
    """Return a slice of an array along one axis."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](axis.shift(index, start))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        *rest, step = strides
        for d, stride in enumerate(rest):
            step = axis.pick(d, stride, step)
        return offset + start * step, strides

    shape = [axis.pick(d, length, n) for d, n in enumerate(array.shape)]
    return Pointwise(array.dtype, shape, (array,), body, 0, requires=guards, strided=restride)


def integers_of_vector(
    variable: Variable, count: int, node: Apply, context: Context, message: str | None = None
) -> list[Expr]:
    """Return the elements of an integer vector as sizes, after checking that it has `count` of them.

    ``{0}`` in the error message is the length of the vector.
    """
    array = context.array(variable)
    data = context.constant_data(array)
    if data is not None and len(data) == count:
        return [const(int(n)) for n in data]
    message = message or f"{type(node.op).__name__}: expected a vector of {count} lengths, got one of {{0}}."
    guards = context.require_equal(array.shape[0], const(count), ValueError, message, node)
    parts = context.vectors.get(array)
    if parts is None or len(parts) != count:
        parts = tuple(_element(array, k, guards, context) for k in range(count))
    return [context.size_from(p) for p in parts]


def _element(vector: Array, k: int, guards: Sequence[object], context: Context) -> Array:
    """Return an element of a vector as a 0-d array."""
    index = (const(k),)
    return context.add(Pointwise(vector.dtype, (), (vector,), lambda _, read: read[0](index), 0, requires=guards))
