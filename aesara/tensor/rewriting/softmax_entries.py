"""Rules about some entries of a softmax, such as the probabilities of the true classes in a cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise_ops import log, mul, sub
from aesara.tensor.reduction import sum as sum_along
from aesara.tensor.rewriting.helpers import has_value, in_place_of, same_elements
from aesara.tensor.rewriting.indices import same_index, symbolic_index_of
from aesara.tensor.rewriting.registration import register_specialize, register_stabilize
from aesara.tensor.rewriting.special import without_divisor
from aesara.tensor.special import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.subtensor_basic import IncSubtensor, Subtensor

READERS = (AdvancedSubtensor, AdvancedSubtensor1, Subtensor)
WRITERS = (AdvancedIncSubtensor, AdvancedIncSubtensor1, IncSubtensor)


@register_stabilize
@register_specialize
@node_rewriter([log])
def local_advanced_indexing_crossentropy_onehot(fgraph: FunctionGraph, node: Apply) -> Any:
    """The logarithm of some entries of a softmax, which cannot underflow."""
    part = node.inputs[0].owner
    if part is None or not isinstance(part.op, READERS):
        return False
    inner = part.inputs[0].owner
    if inner is None or not isinstance(inner.op, Softmax):
        return False
    logarithm = LogSoftmax(axis=inner.op.axis)(inner.inputs[0])
    return in_place_of(node.outputs[0], part.op(logarithm, *part.inputs[1:]))


@register_stabilize
@register_specialize
@node_rewriter([SoftmaxGrad])
def local_advanced_indexing_crossentropy_onehot_grad(fgraph: FunctionGraph, node: Apply) -> Any:
    """The gradient of the logarithm of some entries of a softmax, in which the division by them cancels."""
    scattered, probabilities = node.inputs
    producer, writer = probabilities.owner, scattered.owner
    if producer is None or not isinstance(producer.op, Softmax):
        return False
    if writer is None or not isinstance(writer.op, WRITERS) or not has_value(writer.inputs[0], 0):
        return False
    if writer.op.set_instead_of_inc and not isinstance(writer.op, IncSubtensor):
        return False
    zero, quotient, *index = writer.inputs
    if any(x.type.dtype != probabilities.type.dtype for x in (zero, quotient)):
        return False
    readers = (client.outputs[0] for client, _ in fgraph.clients[probabilities] if _reads_where(client, writer, index))
    gradients = (without_divisor(quotient, entries) for entries in readers)
    gradient = next((one for one in gradients if one is not None), None)
    if gradient is None:
        return False
    placed = writer.op(zero, gradient, *index)
    axis = node.op.axis
    axes = None if axis is None else (axis % placed.type.ndim,)
    total = sum_along(placed, axis=axes, keepdims=True)
    return in_place_of(node.outputs[0], sub(placed, mul(total, probabilities)))


def _reads_where(reader: Any, writer: Apply, index: Sequence[Variable]) -> bool:
    """Whether a node reads the entries at the index that another one writes at."""
    op = getattr(reader, "op", None)
    if not isinstance(op, READERS) or isinstance(op, Subtensor) != isinstance(writer.op, IncSubtensor):
        return False
    if isinstance(op, Subtensor):
        return same_index(symbolic_index_of(reader), symbolic_index_of(writer))
    return len(index) == len(reader.inputs) - 1 and all(map(same_elements, index, reader.inputs[1:]))
