"""Lowering of conversions between positions in a tensor and positions in its entries in a row."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import broadcast_shape, index_of
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.ranges import require_range
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.indexing.index_conversion import RavelMultiIndex, UnravelIndex


def _checked_dims(sizes: Sequence[Expr], node: Apply, context: Context) -> list[object]:
    """The checks that a tensor of these sizes can exist."""
    guards: list[object] = []
    total: Expr = const(1)
    for d, n in enumerate(sizes):
        room = (2**63 - 1) // primitive("maximum", n, const(1))
        if n.is_const and total.is_const and 0 <= n.attr and total.attr * n.attr < 2**63:
            total = total * n
            continue
        fits = (n >= ZERO) & (total <= room)
        message = (
            f"dimensions are too large, or negative: dimension {d} has size {{0}}, those before it have {{1}} entries."
        )
        guards += context.guard(fits, ValueError, message, node, [n, total])
        total = total * n
    return guards


def _steps(sizes: Sequence[Expr], order: str) -> list[Expr]:
    """For each dimension, the number of entries in a row that one step along it goes over."""
    steps: list[Expr] = [const(1)] * len(sizes)
    slowest_last = range(len(sizes)) if order == "F" else range(len(sizes) - 1, -1, -1)
    step: Expr = const(1)
    for d in slowest_last:
        steps[d] = step
        step = step * sizes[d]
    return steps


@lower_op.register
def _unravel_index(op: UnravelIndex, node: Apply, context: Context) -> Sequence[Array]:
    positions, dims = node.inputs
    array = context.array(positions)
    sizes = integers_of_vector(dims, len(node.outputs), node, context)
    guards = _checked_dims(sizes, node, context)
    steps = _steps(sizes, op.order)
    total = count_of(sizes)
    message = "an index is out of bounds for an array with size {2}: they go from {0} to {1}"
    guards += require_range(array, ZERO, total, ValueError, message, node, context)

    def along(d: int) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            position = cast(readers[0](index), "int64") // steps[d]
            slowest = d == (len(sizes) - 1 if op.order == "F" else 0)
            return position if slowest else position % sizes[d]

        return Pointwise("int64", array.shape, (array,), body, 10, requires=guards)

    return [along(d) for d in range(len(sizes))]


@lower_op.register
def _ravel_multi_index(op: RavelMultiIndex, node: Apply, context: Context) -> Sequence[Array]:
    *multi_index, dims = node.inputs
    arrays = [context.array(v) for v in multi_index]
    sizes = integers_of_vector(dims, len(arrays), node, context)
    guards = _checked_dims(sizes, node, context)
    steps = _steps(sizes, op.order)
    modes = [op.mode] * len(arrays) if isinstance(op.mode, str) else list(op.mode)
    if len(modes) != len(arrays):
        message = f"there must be a mode for each dimension: expected {len(arrays)}, got {len(modes)}"
        guards += context.guard(const(False, "bool"), ValueError, message, node)
        modes = ["raise"] * len(arrays)
    shape, checks = broadcast_shape([a.shape for a in arrays], ValueError, "the positions", node, context)
    guards += checks
    for d, (array, size, mode) in enumerate(zip(arrays, sizes, modes, strict=True)):
        if mode == "raise":
            message = (
                f"invalid entry in coordinates array: along dimension {d}, of size {{2}}, they go from {{0}} to {{1}}"
            )
            guards += require_range(array, ZERO, size, ValueError, message, node, context, shape)
        else:
            some = (size > ZERO) | primitive("eq", count_of(shape), ZERO)
            message = f"dimension {d} of the array has size {{0}}, so that no position lies in it"
            guards += context.guard(some, ValueError, message, node, [size])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        total: Expr = ZERO
        for array, read, size, step, mode in zip(arrays, readers, sizes, steps, modes, strict=True):
            position = cast(read(index_of(index, array.shape, shape, context)), "int64")
            if mode == "wrap":
                position = position % size
            elif mode == "clip":
                last = size - 1
                position = primitive("minimum", primitive("maximum", position, ZERO), last)
            total = total + position * step
        return total

    cost = sum(2 if mode == "raise" else 7 for mode in modes)
    return [Pointwise("int64", shape, arrays, body, cost, requires=guards)]
