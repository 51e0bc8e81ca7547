"""Vectorization of ops on shapes, and of joining and splitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.constant_value import known_entries
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.ops import maximum
from aesara.tensor.joining.join_split import Join, Split, join
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.dimshuffle import DimShuffle, dimshuffle
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape, Shape_i, shape
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast
from aesara.tensor.type_other import NoneConst
from aesara.tensor.vectorization.batches import align, batch_sizes, batches, broadcast_batch
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise
from aesara.tensor.vectorization.reductions import shifted_axis


@vectorize_node.register(DimShuffle)
def _dimshuffle(op: DimShuffle, node: Apply, x: TensorVariable) -> Sequence[TensorVariable]:
    (batch,) = batches(node, [x])
    shuffled = [entry + batch if isinstance(entry, int) else entry for entry in op.new_order]
    return [dimshuffle(x, [*range(batch), *shuffled])]


@vectorize_node.register(Shape)
def _shape(op: Shape, node: Apply, x: TensorVariable) -> Sequence[TensorVariable]:
    """Vectorize; all members of a batch have the same shape."""
    (batch,) = batches(node, [x])
    core = x.type.shape[batch:]
    if None not in core:
        return [constant(list(core), dtype="int64")]
    return [shape(x)[batch:]]


@vectorize_node.register(Shape_i)
def _shape_i(op: Shape_i, node: Apply, x: TensorVariable) -> Sequence[TensorVariable]:
    (batch,) = batches(node, [x])
    known = x.type.shape[op.i + batch]
    return [Shape_i(op.i + batch)(x) if known is None else constant(known, dtype="int64")]


@vectorize_node.register(Reshape)
def _reshape(op: Reshape, node: Apply, x: TensorVariable, shp: TensorVariable) -> Apply | Sequence[TensorVariable]:
    of_x, of_shape = batches(node, [x, shp])
    if of_shape:
        return vectorize_by_blockwise(op, node, x, shp)
    sizes = sizes_of(x)
    entries = known_entries(shp) or [None] * op.ndim
    core = [shp[axis] if size is None else size for axis, size in enumerate(entries)]
    if -1 in entries:
        # Compute the size of -1 here, because it cannot be inferred if the batch is empty.
        core[entries.index(-1)] = _missing_size(sizes[of_x:], [size for size in core if not _is_missing(size)])
    return Reshape(of_x + op.ndim).make_node(x, [*sizes[:of_x], *core])


def _is_missing(size: Any) -> bool:
    return isinstance(size, int) and size == -1


def _missing_size(old: Sequence[Any], others: Sequence[Any]) -> Any:
    total, stated = _product(old), _product(others)
    if isinstance(stated, int):
        return total if stated == 1 else total // max(stated, 1)
    return total // maximum(stated, 1)


def _product(sizes: Sequence[Any]) -> Any:
    product: Any = 1
    for size in sizes:
        product = size if isinstance(product, int) and product == 1 else product * size
    return product


@vectorize_node.register(SpecifyShape)
def _specify_shape(
    op: SpecifyShape, node: Apply, x: TensorVariable, *sizes: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    of_x, *of_sizes = batches(node, [x, *sizes])
    if any(of_sizes):
        return vectorize_by_blockwise(op, node, x, *sizes)
    return op.make_node(x, *[NoneConst] * of_x, *sizes)


@vectorize_node.register(Unbroadcast)
def _unbroadcast(op: Unbroadcast, node: Apply, x: TensorVariable) -> Apply:
    (batch,) = batches(node, [x])
    return Unbroadcast(*[axis % node.inputs[0].type.ndim + batch for axis in op.axes]).make_node(x)


@vectorize_node.register(Alloc)
@vectorize_node.register(BroadcastTo)
def _alloc(
    op: Alloc | BroadcastTo, node: Apply, value: TensorVariable, *sizes: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    of_value, *of_sizes = batches(node, [value, *sizes])
    if any(of_sizes):
        return vectorize_by_blockwise(op, node, value, *sizes)
    aligned = align(value, of_value, of_value, len(sizes))
    return op.make_node(aligned, *batch_sizes([value], [of_value]), *sizes)


@vectorize_node.register(Join)
def _join(op: Join, node: Apply, axis: TensorVariable, *tensors: TensorVariable) -> Apply | Sequence[TensorVariable]:
    """Broadcast the batch dimensions first: `Join` does not broadcast its operands."""
    of_axis, *numbers = batches(node, [axis, *tensors])
    if of_axis:
        return vectorize_by_blockwise(op, node, axis, *tensors)
    sizes = batch_sizes(tensors, numbers)
    broadcast = [broadcast_batch(x, number, sizes) for x, number in zip(tensors, numbers)]
    return [join(shifted_axis(axis, node.inputs[1].type.ndim, len(sizes)), *broadcast)]


@vectorize_node.register(Split)
def _split(
    op: Split, node: Apply, x: TensorVariable, axis: TensorVariable, splits: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    of_x, of_axis, of_splits = batches(node, [x, axis, splits])
    if of_axis or of_splits:
        return vectorize_by_blockwise(op, node, x, axis, splits)
    return op.make_node(x, shifted_axis(axis, node.inputs[0].type.ndim, of_x), splits)


@vectorize_node.register(MakeVector)
def _make_vector(op: MakeVector, node: Apply, *entries: TensorVariable) -> Sequence[TensorVariable]:
    """Vectorize by stacking the entries along a new last dimension."""
    numbers = batches(node, entries)
    sizes = batch_sizes(entries, numbers)
    columns = []
    for entry, number in zip(entries, numbers):
        entry = broadcast_batch(entry.astype(op.dtype), number, sizes)
        columns.append(dimshuffle(entry, [*range(entry.type.ndim), "x"]))
    if len(columns) == 1:
        return [columns[0]]
    return [join(len(sizes), *columns)]
