"""Vectorization of ops that read and write parts of tensors.

An index that is the same for the whole batch is preceded by full slices for the batch dimensions. An index that differs
between members becomes an advanced index, together with a range for each batch dimension of the tensor; the dimensions
of the result are then moved from their positions under NumPy's rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.indexing.index_facts import group_indices, static_indexed_shape
from aesara.tensor.indexing.index_forms import as_index_variable, indices_from_subtensor, is_basic_idx, is_mask
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.vectorization.batches import (
    align,
    batch_sizes,
    batches,
    broadcast_batch,
    move_dimensions,
)
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


class _Index:
    """An index, with the number of batch dimensions of each part, and where its dimensions land in the result.

    Attributes
    ----------
    parts
        Slices, None and tensors, as variables.
    numbers
        How many batch dimensions each part has.
    made
        How many dimensions the tensors of the index make, together, without batch dimensions.
    before
        How many dimensions of the result, without batch dimensions, stand before these.
    is_split
        Whether slices stand between the tensors, so that the dimensions that these make come first.
    """

    def __init__(self, parts: Sequence[TensorVariable], numbers: Sequence[int]):
        self.parts = list(parts)
        self.numbers = list(numbers)
        self.made = max(
            [1 if is_mask(p) else p.type.ndim - n for p, n in zip(parts, numbers) if not is_basic_idx(p)], default=0
        )
        groups = group_indices(parts)
        self.is_split = sum(not basic for basic, _ in groups) > 1
        self.before = len(groups[0][1]) if groups and groups[0][0] and not self.is_split else 0

    def behind(self, batch: int) -> list[Variable]:
        """Return the index after full slices for batch dimensions."""
        return [*[as_index_variable(slice(None)) for _ in range(batch)], *self.parts]

    def align_parts(self, batch: int) -> list[TensorVariable]:
        """Return the parts, with batch dimensions of tensors before all dimensions of the index."""
        return [align(p, n, batch, self.made) if n else p for p, n in zip(self.parts, self.numbers)]


def _can_be_batched(parts: Sequence[TensorVariable], numbers: Sequence[int]) -> bool:
    """Return whether the parts of an index that differ from member to member are integers."""
    return not any(number and is_mask(part) for part, number in zip(parts, numbers))


def _ranges(x: TensorVariable, of_x: int, index_ndim: int) -> list[TensorVariable]:
    """Return an index along each batch dimension of a tensor."""
    ranges: list[TensorVariable] = []
    for axis in range(of_x):
        if x.type.shape[axis] == 1:
            ranges.append(constant(0, dtype="int64"))
            continue
        after = of_x - 1 - axis + index_ndim
        ranges.append(arange(x.shape[axis]).dimshuffle(0, *["x"] * after))
    return ranges


def _take(x: TensorVariable, of_x: int, index: _Index) -> TensorVariable:
    """Return the indexed entries of a batch of tensors."""
    batch = max([of_x, *index.numbers])
    if not any(index.numbers):
        taken = AdvancedSubtensor()(x, *index.behind(of_x))
        return move_dimensions(taken, index.made, of_x, 0) if index.is_split else taken
    if of_x == 0:
        taken = AdvancedSubtensor()(x, *index.align_parts(batch))
        return move_dimensions(taken, index.before, batch, 0)
    taken = AdvancedSubtensor()(x, *_ranges(x, of_x, index.made), *index.align_parts(batch))
    return move_dimensions(taken, batch, index.made, batch + index.before)


def _write(
    op: AdvancedIncSubtensor,
    x: TensorVariable,
    of_x: int,
    y: TensorVariable,
    of_y: int,
    index: _Index,
    part_ndim: int,
) -> TensorVariable:
    """Return a batch of tensors with entries set or incremented; `part_ndim` is the number of
    dimensions of the part.
    """
    batch = max([of_x, of_y, *index.numbers])
    parts = [p for p, n in zip(index.parts, index.numbers) if n]
    sizes = batch_sizes([x, y, *parts], [of_x, of_y, *[n for n in index.numbers if n]])
    x = broadcast_batch(x, of_x, sizes)
    if not any(index.numbers):
        if not index.is_split:
            return op(x, align(y, of_y, of_y, part_ndim), *index.behind(batch))
        y = move_dimensions(align(y, of_y, batch, part_ndim), 0, batch, index.made)
        return op(x, y, *index.behind(batch))
    y = align(y, of_y, batch, part_ndim)
    y = move_dimensions(y, batch + index.before, index.made, batch)
    return op(x, y, *_ranges(x, batch, index.made), *index.align_parts(batch))


def _basic_index(op: Subtensor | IncSubtensor, scalars: Sequence[TensorVariable]) -> list[Any] | None:
    """Return the index of a basic op as variables, or None if a slice differs between members."""
    parts = []
    for part in indices_from_subtensor(scalars, op.idx_list):
        ends = (part.start, part.stop, part.step) if isinstance(part, slice) else ()
        if any(isinstance(end, Variable) and getattr(end.type, "ndim", 0) for end in ends):
            return None
        parts.append(as_index_variable(part) if isinstance(part, slice) else as_tensor_variable(part))
    return parts


def _slices_differ(op: Subtensor | IncSubtensor) -> NotImplementedError:
    return NotImplementedError(
        f"{op} cannot be vectorized with a start, stop or step of a slice that differs from member to member of the "
        "batch: the parts could differ in size. Use an index tensor, such as start + at.arange(length)."
    )


@vectorize_node.register(Subtensor)
def _subtensor(op: Subtensor, node: Apply, x: TensorVariable, *scalars: TensorVariable) -> Sequence[TensorVariable]:
    of_x, *numbers = batches(node, [x, *scalars])
    if not any(numbers):
        return [Subtensor([slice(None)] * of_x + list(op.idx_list))(x, *scalars)]
    parts = _basic_index(op, scalars)
    if parts is None:
        raise _slices_differ(op)
    return [_take(x, of_x, _Index(parts, [getattr(part.type, "ndim", 0) for part in parts]))]


@vectorize_node.register(IncSubtensor)
def _inc_subtensor(
    op: IncSubtensor, node: Apply, x: TensorVariable, y: TensorVariable, *scalars: TensorVariable
) -> Sequence[TensorVariable]:
    of_x, of_y, *numbers = batches(node, [x, y, *scalars])
    ndim = node.inputs[0].type.ndim
    part_ndim = ndim - sum(not isinstance(entry, slice) for entry in op.idx_list)
    if not any(numbers):
        sizes = batch_sizes([x, y], [of_x, of_y])
        template = [slice(None)] * len(sizes) + list(op.idx_list)
        plain = IncSubtensor(template, set_instead_of_inc=op.set_instead_of_inc)
        return [plain(broadcast_batch(x, of_x, sizes), align(y, of_y, of_y, part_ndim), *scalars)]
    parts = _basic_index(op, scalars)
    if parts is None:
        raise _slices_differ(op)
    index = _Index(parts, [getattr(part.type, "ndim", 0) for part in parts])
    advanced = AdvancedIncSubtensor(set_instead_of_inc=op.set_instead_of_inc)
    return [_write(advanced, x, of_x, y, of_y, index, part_ndim)]


@vectorize_node.register(AdvancedSubtensor1)
@vectorize_node.register(AdvancedSubtensor)
def _advanced_subtensor(
    op: AdvancedSubtensor1 | AdvancedSubtensor, node: Apply, x: TensorVariable, *parts: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    of_x, *numbers = batches(node, [x, *parts])
    if not _can_be_batched(parts, numbers):
        return vectorize_by_blockwise(op, node, x, *parts)
    return [_take(x, of_x, _Index(parts, numbers))]


@vectorize_node.register(AdvancedIncSubtensor1)
@vectorize_node.register(AdvancedIncSubtensor)
def _advanced_inc_subtensor(
    op: AdvancedIncSubtensor1 | AdvancedIncSubtensor,
    node: Apply,
    x: TensorVariable,
    y: TensorVariable,
    *parts: TensorVariable,
) -> Apply | Sequence[TensorVariable]:
    of_x, of_y, *numbers = batches(node, [x, y, *parts])
    plain = AdvancedIncSubtensor(
        set_instead_of_inc=op.set_instead_of_inc, ignore_duplicates=getattr(op, "ignore_duplicates", False)
    )
    if not _can_be_batched(parts, numbers):
        return vectorize_by_blockwise(plain, node, x, y, *parts)
    index = _Index(parts, numbers)
    x_core, _, *core_parts = node.inputs
    part_ndim = len(static_indexed_shape(x_core.type.shape, core_parts))
    return [_write(plain, x, of_x, y, of_y, index, part_ndim)]
