"""Predicates of distinct positions in an index, and the last of several writes to a position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.scalar import Add
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.creation.ranges import ARange, arange
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import eq
from aesara.tensor.indexing.index_facts import result_layout
from aesara.tensor.indexing.index_forms import is_mask
from aesara.tensor.indexing.index_shapes import indexed_result_shape
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.indexing.selection import static_broadcast
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.shapes.dimshuffle import DimShuffle, dimshuffle
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import Shape
from aesara.tensor.shapes.specify_shape import SpecifyShape
from aesara.tensor.type_other import NoneTypeT

# Positions in one index tensor


@singledispatch
def differ_along(op: Op, node: Apply, output: Variable, axis: int) -> bool:
    """Return whether the integers that a node computes are known to be nonnegative and distinct along an axis.

    Functions are registered by class of op.
    """
    return False


@differ_along.register(ARange)
def _differ_in_range(op, node, output, axis):
    start, _, step = (known_integer(part) for part in node.inputs)
    # Numbers of a narrower dtype may wrap around.
    return output.type.dtype == "int64" and start is not None and start >= 0 and step is not None and step > 0


@differ_along.register(Nonzero)
def _differ_among_positions(op, node, output, axis):
    return len(node.outputs) == 1


@differ_along.register(DimShuffle)
def _differ_after_dimshuffle(op, node, output, axis):
    inner = op.new_order[axis]
    return inner != "x" and are_distinct(node.inputs[0], None, inner)


@differ_along.register(SpecifyShape)
def _differ_in_specified_shape(op, node, output, axis):
    return are_distinct(node.inputs[0], None, axis)


@differ_along.register(Subtensor)
def _differ_in_part(op, node, output, axis):
    slice_axes = [k for k, entry in enumerate(op.idx_list) if isinstance(entry, slice)]
    slice_axes += range(len(op.idx_list), node.inputs[0].type.ndim)
    return are_distinct(node.inputs[0], None, slice_axes[axis])


@differ_along.register(Elemwise)
def _differ_when_shifted(op, node, output, axis):
    if not isinstance(op.scalar_op, Add) or output.type.dtype != "int64":
        return False
    shifts = [known_integer(operand) for operand in node.inputs]
    moved = [operand for operand, shift in zip(node.inputs, shifts) if shift is None]
    return (
        len(moved) == 1
        and moved[0].type.dtype == "int64"
        and moved[0].type.shape[axis] != 1
        and all(shift is None or shift >= 0 for shift in shifts)
        and are_distinct(moved[0], None, axis)
    )


def are_distinct(positions: Variable, length: int | None, axis: int = 0) -> bool:
    """Return whether no position occurs twice along an axis of an index, also not as a negative index.

    Parameters
    ----------
    positions
        Integers.
    length
        The length of the dimension that they index, if it is known.
    axis
        The axis of `positions`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> are_distinct(at.arange(at.lscalar("n")), None), are_distinct(at.lvector("i"), None)
    (True, False)
    """
    if positions.type.shape[axis] in (0, 1):
        return True
    if isinstance(positions, Constant):
        counted = _counted_from_front(positions.data, length)
        if counted is None:
            return False
        return counted.size == 0 or bool(np.all(np.diff(np.sort(counted, axis=axis), axis=axis)))
    node = positions.owner
    return node is not None and differ_along(node.op, node, positions, axis)


def _counted_from_front(positions: np.ndarray, length: int | None) -> np.ndarray | None:
    """Return positions with negative ones converted, or None if they may be out of range."""
    if not np.any(positions < 0):
        return positions
    if length is None or np.any(positions < -length) or np.any(positions >= length):
        return None
    return np.where(positions < 0, positions.astype("int64") + length, positions)


# Positions that several indices select together


def have_distinct_positions(shape: Sequence[int | None], indices: Sequence[Variable]) -> bool:
    """Return whether an advanced index is known to select each entry at most once.

    Parameters
    ----------
    shape
        The static shape of the indexed tensor.
    indices
        Variables: integer and Boolean tensors, slices and None.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> have_distinct_positions((3, 4), [at.as_tensor([0, 0]), at.as_tensor([1, 2])])
    True
    """
    _, advanced, _ = result_layout(indices)
    # A Boolean scalar indexes no dimension and may follow the last one.
    positions = [_Positions(index, dict(enumerate(shape)).get(dimension)) for dimension, index in advanced]
    broadcast_shape = static_broadcast(*[entry.shape for entry in positions])
    if 0 in broadcast_shape:
        return True
    axes = [axis for axis in range(-len(broadcast_shape), 0) if broadcast_shape[axis] != 1]
    if not axes or _all_positions_of_nonzeros(positions):
        return True
    known = _constant_positions(positions, broadcast_shape)
    if known is not None:
        return len(np.unique(known, axis=1).T) == known.shape[1]
    # Along all axes except one, some index has distinct numbers that do not depend on the other axes. Along the
    # remaining one, some index has distinct numbers for each position on the others.
    remaining = [axis for axis in axes if not _differs(positions, axis, broadcast_shape, alone=True)]
    return not remaining or (len(remaining) == 1 and _differs(positions, remaining[0], broadcast_shape, alone=False))


class _Positions:
    """An index tensor, and the length of the dimension that it indexes."""

    def __init__(self, index: Variable, length: int | None):
        self.index = index
        self.length = length
        self.is_mask = is_mask(index)
        self.shape: tuple[int | None, ...] = index.type.shape
        if self.is_mask:
            self.shape = (int(np.count_nonzero(index.data)) if isinstance(index, Constant) else None,)

    def is_along(self, axis: int) -> bool:
        """Return whether the positions may have more than one entry along an axis, counted from the end."""
        return len(self.shape) >= -axis and self.shape[axis] != 1

    def are_distinct(self, axis: int, alone: bool) -> bool:
        if alone and any(size != 1 for k, size in enumerate(self.shape, -len(self.shape)) if k != axis):
            return False
        return self.is_mask or are_distinct(self.index, self.length, len(self.shape) + axis)


def _differs(positions: Sequence[_Positions], axis: int, broadcast_shape: Sequence[int | None], alone: bool) -> bool:
    along = [entry for entry in positions if entry.is_along(axis)]
    distinct = [entry for entry in along if entry.are_distinct(axis, alone)]
    if len(distinct) == len(along):
        return bool(along)
    # An index of length 1 is broadcast to the others, so a distinct one must be known to have their length.
    if broadcast_shape[axis] is not None:
        return any(entry.shape[axis] == broadcast_shape[axis] for entry in distinct)
    return any(all(entry is other or _counts(entry, other, axis) for other in along) for entry in distinct)


def _counts(counter: _Positions, other: _Positions, axis: int) -> bool:
    """Return whether positions along an axis are ``arange(n)`` for the length n of another index along it."""
    node = _along(counter.index, len(counter.shape) + axis)[0].owner
    if other.is_mask or node is None or not isinstance(node.op, ARange) or node.outputs[0].type.dtype != "int64":
        return False
    start, stop, step = node.inputs
    length = stop.owner
    if known_integer(start) != 0 or known_integer(step) != 1 or length is None:
        return False
    if not isinstance(length.op, Subtensor) or length.inputs[0].owner is None or len(length.inputs) != 2:
        return False
    shape, k = length.inputs[0].owner, known_integer(length.inputs[1])
    if not isinstance(shape.op, Shape) or k is None or stop.type.ndim:
        return False
    measured = _along(shape.inputs[0], k % shape.inputs[0].type.ndim)
    return measured == _along(other.index, len(other.shape) + axis)


def _along(index: Variable, axis: int | str) -> tuple[Variable, int | str]:
    """Return the tensor and axis from which dimension shuffles take an axis of an index."""
    node = index.owner
    while isinstance(axis, int) and node is not None and isinstance(node.op, DimShuffle):
        axis, index = node.op.new_order[axis], node.inputs[0]
        node = index.owner
    return index, axis


def _all_positions_of_nonzeros(positions: Sequence[_Positions]) -> bool:
    """Return whether the indices include all outputs of ``nonzero`` of a tensor."""
    nodes = [node for entry in positions if (node := entry.index.owner) is not None]
    if any(entry.shape != (1,) * len(entry.shape) and len(entry.shape) != 1 for entry in positions):
        return False
    vectors = [entry.index for entry in positions if entry.is_along(-1)]
    return any(
        isinstance(node.op, Nonzero) and len(vectors) == len(node.outputs) and set(vectors) == set(node.outputs)
        for node in nodes
    )


def _constant_positions(positions: Sequence[_Positions], broadcast_shape: Sequence[int | None]) -> np.ndarray | None:
    """Return the selected positions as columns of a matrix if all indices are constant integers, else None."""
    counted = []
    for entry in positions:
        if entry.is_mask or not isinstance(entry.index, Constant):
            return None
        positions_from_front = _counted_from_front(entry.index.data, entry.length)
        if positions_from_front is None:
            return None
        counted.append(np.broadcast_to(positions_from_front, [int(size or 0) for size in broadcast_shape]).reshape(-1))
    return np.stack([column.astype("int64") for column in counted])


# The last write


def is_last_write(x: TensorVariable, indices: Sequence[Variable], read: Op, write: Op) -> TensorVariable:
    """Return a mask of the index entries that are the last ones written to their position.

    Parameters
    ----------
    x
        The tensor that is written to.
    indices
        The index.
    read, write
        The ops that read and set entries at an index of this kind.

    Returns
    -------
    TensorVariable
        Truth values that broadcast to the shape of ``x[index]``.
    """
    basic, advanced, position = result_layout(indices)
    dimensions: list[int] = []
    for dimension, index in advanced:
        dimensions += range(dimension, dimension + (index.type.ndim if is_mask(index) else 1))
    among = [index for _, index in advanced]
    lengths = [x.shape[dimension] for dimension in dimensions]
    sizes = indexed_result_shape(lengths, among)
    count: Any = 1
    for size in sizes:
        count = size * count
    # The same op writes the number of each write; the numbers that remain are those of the last writes.
    number = reshape(arange(count, dtype="int64"), sizes, ndim=len(sizes))
    written = write(zeros(lengths, dtype="int64"), number, *among)
    counts = eq(read(written, *among), number)
    n_sliced = sum(not isinstance(index.type, NoneTypeT) for _, index in basic)
    n_behind = len(basic) - position + x.type.ndim - len(dimensions) - n_sliced
    return dimshuffle(counts, (*range(len(sizes)), *["x"] * n_behind))
