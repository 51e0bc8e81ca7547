"""Lowering of ops that put arrays together and take them apart."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Assembled, Index, Pointwise, Reader, Write
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.tensor.joining import Join, Split
from aesara.tensor.make_vector import MakeVector


def vector_of(elements: Sequence[Array], dtype: str, context: Context) -> Array:
    """A vector assembled from 0-d arrays."""
    check_dtype(dtype)

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


def constant_axis(variable: object, rank: int) -> int:
    """A constant axis, counted from the front."""
    if not isinstance(variable, Constant):
        raise Unsupported("an axis that is not constant")
    axis = int(variable.data)
    return axis + rank if axis < 0 else axis


@lower_op.register
def _join(op: Join, node: Apply, context: Context) -> Sequence[Array]:
    axis_variable, *parts = node.inputs
    arrays = [context.array(v) for v in parts]
    rank, dtype = arrays[0].ndim, node.outputs[0].type.dtype
    check_dtype(dtype)
    axis = constant_axis(axis_variable, rank)
    guards: list[object] = []
    for k, array in enumerate(arrays[1:], 1):
        for d in range(rank):
            if d != axis:
                message = (
                    f"Join along axis {axis}: all inputs must have the same size along the other dimensions, but "
                    f"along dimension {d} input 0 has size {{0}} and input {k} has size {{1}}."
                )
                guards += context.require_equal(arrays[0].shape[d], array.shape[d], ValueError, message, node)
    total: Expr = ZERO
    writes = []
    for array in arrays:
        writes.append(_piece(array, axis, total, dtype))
        total = primitive("add", total, array.shape[axis])
    shape = [total if d == axis else n for d, n in enumerate(arrays[0].shape)]
    return [Assembled(dtype, shape, None, writes, guards)]


def _piece(array: Array, axis: int, start: Expr, dtype: str) -> Write:
    def place(index: Index, readers: Sequence[Reader]) -> Index:
        return tuple(primitive("add", i, start) if d == axis else i for d, i in enumerate(index))

    return Write(array.shape, (array,), place, lambda index, readers: cast(readers[0](index), dtype))


@lower_op.register
def _split(op: Split, node: Apply, context: Context) -> Sequence[Array]:
    x, axis_variable, lengths = node.inputs
    array = context.array(x)
    axis = constant_axis(axis_variable, array.ndim)
    sizes = integers_of_vector(lengths, op.len_splits, node, context)
    guards: list[object] = []
    total: Expr = ZERO
    for n in sizes:
        message = "Split: lengths must not be negative; one is {0}."
        guards += context.guard(primitive("ge", n, ZERO), ValueError, message, node, [n])
        total = primitive("add", total, n)
    message = f"Split: the lengths sum to {{0}}, but axis {axis} has size {{1}}."
    guards += context.require_equal(total, array.shape[axis], ValueError, message, node)
    pieces, start = [], ZERO
    for n in sizes:
        pieces.append(window(array, axis, start, n, guards))
        start = primitive("add", start, n)
    return pieces


def integers_of_vector(variable: Variable, count: int, node: Apply, context: Context) -> list[Expr]:
    """The elements of an integer vector that must have `count` of them, as sizes."""
    array = context.array(variable)
    data = context.constant_data(array)
    if data is not None and len(data) == count:
        return [const(int(n)) for n in data]
    message = f"{type(node.op).__name__}: expected a vector of {count} lengths, got one of {{0}}."
    guards = context.require_equal(array.shape[0], const(count), ValueError, message, node)
    parts = context.vectors.get(array)
    if parts is None or len(parts) != count:
        parts = tuple(_element(array, k, guards, context) for k in range(count))
    return [context.size_from(p) for p in parts]


def _element(vector: Array, k: int, guards: Sequence[object], context: Context) -> Array:
    """One element of a vector as a 0-d array."""
    index = (const(k),)
    return context.add(Pointwise(vector.dtype, (), (vector,), lambda _, read: read[0](index), 0, requires=guards))


def window(array: Array, axis: int, start: Expr, length: Expr, guards: Sequence[object]) -> Array:
    """A run of an array along one axis."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(primitive("add", i, start) if d == axis else i for d, i in enumerate(index)))

    def strided(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return primitive("add", offset, primitive("mul", start, strides[axis])), strides

    shape = [length if d == axis else n for d, n in enumerate(array.shape)]
    return Pointwise(array.dtype, shape, (array,), body, 0, requires=guards, strided=strided)
