"""Vectorized nodes of ops that work along axes: reductions, softmax, running sums, sorting."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import lt, switch
from aesara.tensor.ordering.sorting import ArgSortOp, SortOp, TopKOp
from aesara.tensor.reductions.argmax import Argmax, MaxAndArgmax
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import sum as tensor_sum
from aesara.tensor.sequences.cumulative import CumOp
from aesara.tensor.sequences.recurrence import LinearRecurrence
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.repeating import Repeat
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.vectorization.batches import align, batch_sizes, batches, broadcast_batch
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


def _shifted_axes(axis: tuple[int, ...] | None, core_ndim: int, batch: int) -> tuple[int, ...]:
    """Axes of the original tensor as axes of the batch."""
    axes = range(core_ndim) if axis is None else [a % core_ndim for a in axis]
    return tuple([a + batch for a in axes])


def _flat_core(x: TensorVariable, batch: int) -> TensorVariable:
    """Merge the core dimensions of a tensor."""
    if x.type.ndim - batch == 1:
        return x
    sizes = sizes_of(x)
    length: int | TensorVariable = 1
    for size in sizes[batch:]:
        length = size if isinstance(length, int) and length == 1 else length * size
    return reshape(x, [*sizes[:batch], length], ndim=batch + 1)


@vectorize_node.register(CAReduce)
def _reduce(op: CAReduce, node: Apply, x: TensorVariable) -> Apply:
    (batch,) = batches(node, [x])
    return op.clone(axis=_shifted_axes(op.axis, node.inputs[0].type.ndim, batch)).make_node(x)


@vectorize_node.register(Argmax)
@vectorize_node.register(MaxAndArgmax)
def _argmax(op: Argmax | MaxAndArgmax, node: Apply, x: TensorVariable) -> Apply:
    (batch,) = batches(node, [x])
    return type(op)(_shifted_axes(op.axis, node.inputs[0].type.ndim, batch)).make_node(x)


@vectorize_node.register(Softmax)
@vectorize_node.register(LogSoftmax)
def _softmax(op: Softmax | LogSoftmax, node: Apply, x: TensorVariable) -> Sequence[TensorVariable]:
    (batch,) = batches(node, [x])
    core_ndim = node.inputs[0].type.ndim
    if op.axis is not None:
        return [type(op)(op.axis % core_ndim + batch)(x)]
    result = type(op)(-1)(_flat_core(x, batch))
    return [result if core_ndim == 1 else reshape(result, sizes_of(x), ndim=x.type.ndim)]


@vectorize_node.register(SoftmaxGrad)
def _softmax_gradient(op: SoftmaxGrad, node: Apply, dy: TensorVariable, sm: TensorVariable) -> Sequence[TensorVariable]:
    """Vectorize by the formula of the gradient, since the operands may have different numbers of batch dimensions."""
    numbers = batches(node, [dy, sm])
    dy, sm = (align(x, n, max(numbers)) for x, n in zip((dy, sm), numbers))
    axes = _shifted_axes(None if op.axis is None else (op.axis,), node.inputs[1].type.ndim, max(numbers))
    weighted = dy * sm
    return [weighted - tensor_sum(weighted, axis=axes, keepdims=True) * sm]


@vectorize_node.register(CumOp)
def _cumulative(op: CumOp, node: Apply, x: TensorVariable) -> Apply:
    (batch,) = batches(node, [x])
    if op.axis is None:
        return CumOp(axis=batch, mode=op.mode).make_node(_flat_core(x, batch))
    return CumOp(axis=op.axis % node.inputs[0].type.ndim + batch, mode=op.mode).make_node(x)


@vectorize_node.register(LinearRecurrence)
def _recurrence(op: LinearRecurrence, node: Apply, a: TensorVariable, b: TensorVariable) -> Apply:
    """Factors and terms have one shape: there is no broadcasting in the op."""
    numbers = batches(node, [a, b])
    sizes = batch_sizes([a, b], numbers)
    a, b = (broadcast_batch(x, number, sizes) for x, number in zip((a, b), numbers))
    return LinearRecurrence(op.axis + len(sizes), op.backwards).make_node(a, b)


def shifted_axis(axis: TensorVariable, core_ndim: int, batch: int) -> TensorVariable:
    """Convert a symbolic axis of the original tensor to an axis of the batch."""
    known = known_integer(axis)
    if known is not None:
        return constant(known % core_ndim + batch)
    # Negative axes remain the same.
    return switch(lt(axis, 0), axis, axis + batch).astype("int64")


@vectorize_node.register(SortOp)
@vectorize_node.register(ArgSortOp)
def _sort(
    op: SortOp | ArgSortOp, node: Apply, x: TensorVariable, axis: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    batch, of_axis = batches(node, [x, axis])
    if of_axis:
        return vectorize_by_blockwise(op, node, x, axis)
    return op.make_node(x, shifted_axis(axis, node.inputs[0].type.ndim, batch))


@vectorize_node.register(TopKOp)
def _topk(op: TopKOp, node: Apply, x: TensorVariable, kth: TensorVariable) -> Apply | Sequence[TensorVariable]:
    batch, of_kth = batches(node, [x, kth])
    if of_kth:
        return vectorize_by_blockwise(op, node, x, kth)
    shifted = TopKOp(
        axis=op.axis % node.inputs[0].type.ndim + batch,
        sorted=op.sorted,
        idx_dtype=op.idx_dtype,
        return_values=op.return_values,
        return_indices=op.return_indices,
    )
    return shifted.make_node(x, kth)


@vectorize_node.register(Repeat)
def _repeat(op: Repeat, node: Apply, x: TensorVariable, repeats: TensorVariable) -> Apply | Sequence[TensorVariable]:
    batch, of_repeats = batches(node, [x, repeats])
    if of_repeats:
        return vectorize_by_blockwise(op, node, x, repeats)
    if op.axis is None:
        return Repeat(batch).make_node(_flat_core(x, batch), repeats)
    return Repeat(op.axis % node.inputs[0].type.ndim + batch).make_node(x, repeats)
