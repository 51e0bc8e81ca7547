"""Rules about softmax."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.dimshuffle import DimShuffle
from aesara.tensor.elementwise_ops import exp, log, mul, neg, reciprocal, second, sub, true_divide
from aesara.tensor.reduction import Sum
from aesara.tensor.reduction import sum as at_sum
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import as_dtype, in_place_of, is_float
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
    producer = probabilities.owner
    if producer is None or not isinstance(producer.op, Softmax):
        return False
    gradient = _times(quotient, probabilities)
    if gradient is None:
        return False
    if gradient.type.broadcastable != probabilities.type.broadcastable:
        gradient = second(probabilities, gradient)
    axis = node.op.axis
    axes = tuple(range(gradient.type.ndim)) if axis is None else (axis % gradient.type.ndim,)
    total = at_sum(gradient, axis=axes, keepdims=True)
    return in_place_of(node.outputs[0], sub(gradient, mul(total, probabilities)))


def _times(quotient, divisor):
    """A quotient without one of its divisors; None if it is not divided by it."""
    dtype = quotient.type.dtype
    inner, negative = quotient, False
    while inner.owner is not None and inner.owner.op == neg and inner.type.dtype == dtype:
        inner, negative = inner.owner.inputs[0], not negative
    if inner.owner is None or inner.owner.op not in (true_divide, mul, reciprocal):
        return None
    numerators, denominators = local_mul_canonizer.get_num_denum(inner)
    position = next((i for i, v in enumerate(denominators) if v is divisor), None)
    if position is None:
        return None
    del denominators[position]
    product = as_dtype(local_mul_canonizer.merge_num_denum(numerators, denominators, dtype), dtype)
    return neg(product) if negative else product


def softmax_simplifier(numerators, denominators):
    """Put a softmax in place of ``exp(x) / sum(exp(x), axis, keepdims=True)`` in a product."""
    for denominator in list(denominators):
        exponential = _exponential_that_is_summed(denominator)
        if exponential is None:
            continue
        position = next((i for i, v in enumerate(numerators) if v is exponential), None)
        if position is None:
            continue
        axes = denominator.owner.inputs[0].owner.op.axis
        axis = 0 if axes is None else axes[0]
        numerators = [
            *numerators[:position],
            Softmax(axis=axis)(exponential.owner.inputs[0]),
            *numerators[position + 1 :],
        ]
        denominators = [v for v in denominators if v is not denominator]
    return numerators, denominators


def _exponential_that_is_summed(var):
    """``exp(x)`` if a variable is the sum of it along one axis, with the axis kept; else None."""
    kept = var.owner
    if kept is None or not isinstance(kept.op, DimShuffle):
        return None
    summing = kept.inputs[0].owner
    if summing is None or not isinstance(summing.op, Sum):
        return None
    (exponential,) = summing.inputs
    inner = exponential.owner
    ndim = exponential.type.ndim
    axes = tuple(range(ndim)) if summing.op.axis is None else tuple(summing.op.axis)
    if inner is None or inner.op != exp or len(axes) != 1 or not is_float(exponential):
        return None
    if inner.inputs[0].type.dtype != exponential.type.dtype or exponential.type.dtype != var.type.dtype:
        return None
    remaining = iter(range(ndim - 1))
    if tuple(kept.op.new_order) != tuple("x" if i in axes else next(remaining) for i in range(ndim)):
        return None
    return exponential


local_mul_canonizer.add_simplifier(softmax_simplifier, "softmax_simplifier")


__all__ = ["local_logsoftmax", "local_logsoftmax_grad", "local_mul_canonizer", "softmax_simplifier"]
