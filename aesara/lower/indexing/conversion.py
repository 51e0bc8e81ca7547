"""Lowering of `unravel_index` and `ravel_multi_index`."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import broadcast_shape, operand_index
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.ranges import require_range
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.indexing.index_conversion import RavelMultiIndex, UnravelIndex


def _require_valid_shape(sizes: Sequence[Expr], node: Apply, context: Context) -> list[object]:
    """Check that sizes are not negative, and that their product does not overflow."""
    guards: list[object] = []
    total: Expr = const(1)
    for d, n in enumerate(sizes):
        most = (2**63 - 1) // primitive("maximum", n, const(1))
        if n.is_const and total.is_const and 0 <= n.attr and total.attr * n.attr < 2**63:
            total = total * n
            continue
        fits = (n >= ZERO) & (total <= most)
        message = (
            f"dimensions are too large, or negative: dimension {d} has size {{0}}, those before it have {{1}} entries."
        )
        guards += context.guard(fits, ValueError, message, node, [n, total])
        total = total * n
    return guards


def _element_strides(sizes: Sequence[Expr], order: str) -> list[Expr]:
    """Return the strides, in elements, of an array in C or Fortran order."""
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
    guards = _require_valid_shape(sizes, node, context)
    steps = _element_strides(sizes, op.order)
    total = count_of(sizes)
    message = "an index is out of bounds for an array with size {2}: they go from {0} to {1}"
    guards += require_range(array, ZERO, total, ValueError, message, node, context)

    def coordinate(d: int) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            position = cast(readers[0](index), "int64") // steps[d]
            slowest = d == (len(sizes) - 1 if op.order == "F" else 0)
            return position if slowest else position % sizes[d]

        return Pointwise("int64", array.shape, (array,), body, 10, requires=guards)

    return [coordinate(d) for d in range(len(sizes))]


@lower_op.register
def _ravel_multi_index(op: RavelMultiIndex, node: Apply, context: Context) -> Sequence[Array]:
    *multi_index, dims = node.inputs
    arrays = [context.array(v) for v in multi_index]
    sizes = integers_of_vector(dims, len(arrays), node, context)
    guards = _require_valid_shape(sizes, node, context)
    steps = _element_strides(sizes, op.order)
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
            nonempty = (size > ZERO) | primitive("eq", count_of(shape), ZERO)
            message = f"dimension {d} of the array has size {{0}}, so that no position lies in it"
            guards += context.guard(nonempty, ValueError, message, node, [size])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        total: Expr = ZERO
        for array, read, size, step, mode in zip(arrays, readers, sizes, steps, modes, strict=True):
            position = cast(read(operand_index(index, array.shape, shape, context)), "int64")
            if mode == "wrap":
                position = position % size
            elif mode == "clip":
                last = size - 1
                position = primitive("minimum", primitive("maximum", position, ZERO), last)
            total = total + position * step
        return total

    cost = sum(2 if mode == "raise" else 7 for mode in modes)
    return [Pointwise("int64", shape, arrays, body, cost, requires=guards)]
