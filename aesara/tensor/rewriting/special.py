"""Rules about softmax."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise_ops import log, mul, sub, true_divide
from aesara.tensor.reduction import sum as at_sum
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.registration import register_specialize, register_stabilize
from aesara.tensor.special import LogSoftmax, Softmax, SoftmaxGrad


@register_stabilize
@register_specialize
@node_rewriter([log])
def local_logsoftmax(fgraph, node):
    """The logarithm of a softmax in one operation, which cannot underflow."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Softmax):
        return False
    return in_place_of(node.outputs[0], LogSoftmax(axis=inner.op.axis)(inner.inputs[0]))


@register_stabilize
@register_specialize
@node_rewriter([SoftmaxGrad])
def local_logsoftmax_grad(fgraph, node):
    """The gradient of the logarithm of a softmax, in which the division by it cancels."""
    quotient, probabilities = node.inputs
    inner = quotient.owner
    if inner is None or inner.op != true_divide or inner.inputs[1] is not probabilities:
        return False
    producer = probabilities.owner
    if producer is None or not isinstance(producer.op, Softmax):
        return False
    gradient = inner.inputs[0]
    if gradient.type.broadcastable != probabilities.type.broadcastable:
        return False
    axis = node.op.axis
    axes = tuple(range(gradient.type.ndim)) if axis is None else (axis % gradient.type.ndim,)
    total = at_sum(gradient, axis=axes, keepdims=True)
    return in_place_of(node.outputs[0], sub(gradient, mul(total, probabilities)))


__all__ = ["local_logsoftmax", "local_logsoftmax_grad"]
