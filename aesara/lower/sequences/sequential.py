"""Lowering of sequential ops: cumulative sums and products, positions of nonzeros."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, Statement
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader, Sequential, Writer, loops_over
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.folds import accumulate
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.sequences.cumulative import CumOp


@lower_op.register
def _cumulative(op: CumOp, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    if op.axis is None:
        array = flatten(array, context)
    if array.ndim == 0:
        return [array]
    axis = (op.axis or 0) % array.ndim
    kind = op.mode if array.dtype != "bool" else {"add": "or", "mul": "and"}[op.mode]
    return [cumulate(array, axis, kind)]


def cumulate(array: Array, axis: int, kind: str) -> Array:
    """Accumulate the primitive `kind` along an axis, with all intermediate results."""

    def step(readers: Sequence[Reader], total: Expr, previous: Index, current: Index) -> Expr:
        return primitive(kind, total, readers[0](current))

    return accumulate((array,), axis, step)


def flatten(array: Array, context: Context) -> Array:
    """View an array as a vector."""
    if array.ndim == 1:
        return array
    if array.stamp < 0:
        context.add(array)
    return context.add(Alias(array, (count_of(array.shape),)))


@lower_op.register
def _nonzero(op: Nonzero, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    return nonzero_positions(array, context)


def nonzero_positions(array: Array, context: Context) -> list[Array]:
    """Return the indices of nonzero entries in each dimension, in row-major order."""
    flat = flat_positions(array, context)
    result: list[Array] = []
    stride: Expr = ONE
    for axis in reversed(range(array.ndim)):
        size = array.shape[axis]
        component = _component(flat, stride, size if axis else None)
        context.positions_in[component] = (size, axis == 0)
        result.insert(0, context.add(component))
        stride = stride * size
    return result


def flat_positions(array: Array, context: Context) -> Array:
    """Return the positions of nonzero entries in the flattened array."""
    key = ("nonzero", array)
    flat = context.parts.get(key)
    if flat is None:
        flat = context.parts[key] = _flat_positions(array, context)
    return flat


def _component(flat: Array, stride: Expr, size: Expr | None) -> Pointwise:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        position = readers[0](index)
        if stride is not ONE:
            position = position // stride
        return position if size is None else position % size

    return Pointwise("int64", flat.shape, (flat,), body, 0 if stride is ONE and size is None else 10)


def _flat_positions(array: Array, context: Context) -> Array:
    """Return the positions of nonzero entries in the flattened array.

    Without a branch, every position is stored at the end of the result, which advances if the entry is not zero; one
    more element takes the last of these stores.  The buffer has the maximal length, so that the workspace keeps its
    size; pages that are not written cost nothing.
    """
    mask = array if array.dtype == "bool" else _is_nonzero(array)
    loops = tuple(var(f"v{d}") for d in range(array.ndim))
    end = var("r0")
    if mask.stamp < 0:
        context.add(mask)
    count = reduce_array(context, context.add(convert(mask, "int64")), tuple(range(mask.ndim)), "add")
    length = context.size_from(count)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        position: Expr = ZERO
        for i, n in zip(loops, array.shape, strict=True):
            position = position * n + i
        advance = Assign("r0", end + cast(readers[0](loops), "int64"))
        return (Declare("r0", ZERO), *loops_over(range(array.ndim), array.shape, (write((end,), position), advance)))

    padded = context.add(Sequential("int64", (count_of(array.shape) + ONE,), (mask,), body))
    return context.add(Pointwise("int64", (length,), (padded,), lambda index, readers: readers[0](index), 0))


def _is_nonzero(array: Array) -> Array:
    zero = const(0, array.dtype)
    return Pointwise(
        "bool", array.shape, (array,), lambda index, readers: primitive("ne", readers[0](index), zero), cost=1
    )
