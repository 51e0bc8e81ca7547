"""Common parts of the vectorization rules: aligning and broadcasting batch dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.vectorization import batch_ndim, fit_core_type
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["align", "batch_sizes", "batches", "broadcast_batch", "most_batches", "move_dimensions"]


@fit_core_type.register(TensorType)
def _fit_tensor(core_type: TensorType, old: TensorVariable, new: Any) -> TensorVariable:
    """Return a variable with more leading dimensions than `old`, the same dtype, and its static sizes."""
    new = as_tensor_variable(new)
    if new.type.dtype != core_type.dtype:
        raise TypeError(
            f"{describe(old)} of dtype {core_type.dtype} cannot be replaced by {describe(new)} of dtype "
            f"{new.type.dtype}: cast it first."
        )
    extra = new.type.ndim - core_type.ndim
    if extra < 0:
        raise ValueError(
            f"{describe(old)} has {core_type.ndim} dimension(s), its replacement {describe(new)} only "
            f"{new.type.ndim}; batch dimensions "
            "are added in front."
        )
    for axis, (known, static) in enumerate(zip(core_type.shape, new.type.shape[extra:])):
        if known is not None and static is not None and known != static:
            raise ValueError(
                f"{describe(old)} of type {core_type} cannot be replaced by {describe(new)} of type {new.type}: "
                f"dimension {axis} has size "
                f"{known}, in the replacement (dimension {axis + extra}) {static}."
            )
    if any(known is not None and static is None for known, static in zip(core_type.shape, new.type.shape[extra:])):
        new = specify_shape(new, (*[None] * extra, *core_type.shape))
    return new


def batches(node: Apply, inputs: Sequence[TensorVariable]) -> list[int]:
    """Return the number of batch dimensions of each input."""
    return [batch_ndim(new, old) for new, old in zip(inputs, node.inputs)]


def most_batches(node: Apply, inputs: Sequence[TensorVariable]) -> int:
    """Return the largest number of batch dimensions of an input."""
    return max(batches(node, inputs), default=0)


def align(x: TensorVariable, batch: int, to_batch: int, to_core: int | None = None) -> TensorVariable:
    """Add dimensions of size one to a tensor, until it has the wanted batch and core dimensions.

    Parameters
    ----------
    x
        A tensor of which the first `batch` dimensions are batch dimensions.
    batch, to_batch
        How many there are, and how many there shall be. New ones come first.
    to_core
        How many other dimensions there shall be; by default as many as there are. New ones come before them.
    """
    core = x.type.ndim - batch
    new_core = 0 if to_core is None else to_core - core
    if batch == 0:
        # Without batch dimensions all new dimensions are in front.
        order: list[int | str] = ["x"] * (to_batch + new_core) + list(range(core))
    else:
        order = ["x"] * (to_batch - batch) + list(range(batch)) + ["x"] * new_core + list(range(batch, x.type.ndim))
    return dimshuffle(x, order)


def batch_sizes(tensors: Sequence[TensorVariable], numbers: Sequence[int]) -> list[Any]:
    """Return the sizes to which batch dimensions of tensors broadcast, as integers if they are static."""
    n_batch = max(numbers, default=0)
    result: list[Any] = []
    for axis in range(-n_batch, 0):
        size: Any = 1
        for x, number in zip(tensors, numbers):
            if -axis > number:
                continue
            position = number + axis
            known = x.type.shape[position]
            if known is not None and known != 1:
                size = known
                break
            if known is None and size == 1:
                size = x.shape[position]
        result.append(size)
    return result


def broadcast_batch(x: TensorVariable, batch: int, sizes: Sequence[Any]) -> TensorVariable:
    """Broadcast the batch dimensions of a tensor to the given sizes."""
    aligned = align(x, batch, len(sizes))
    fits = all(
        known == size if isinstance(size, int) else known != 1
        for known, size in zip(aligned.type.shape[: len(sizes)], sizes)
    )
    if batch == len(sizes) and fits:
        return x
    return alloc(aligned, *sizes, *sizes_of(aligned)[len(sizes) :])


def move_dimensions(x: TensorVariable, start: int, count: int, to: int) -> TensorVariable:
    """Move `count` neighbouring dimensions, from `start`, so that they begin at `to` in the result."""
    if count == 0 or start == to:
        return x
    moved = list(range(start, start + count))
    others = [axis for axis in range(x.type.ndim) if axis not in moved]
    return dimshuffle(x, [*others[:to], *moved, *others[to:]])
