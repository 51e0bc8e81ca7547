"""Rules about some entries of a softmax or of exponentials: probabilities of the true classes in a cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import add, log, mul, sub
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.rewriting.helpers import has_value, in_place_of, same_elements
from aesara.tensor.rewriting.indices import same_index, symbolic_index_of
from aesara.tensor.rewriting.logarithms.shifting import MOST_TERMS, READERS
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.special import without_divisor

rules = Rules()

WRITERS = (AdvancedIncSubtensor, AdvancedIncSubtensor1, IncSubtensor)


@rules.stabilize
@rules.specialize("fast_compile")
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


@rules.stabilize
@rules.specialize("fast_compile")
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
    clients = (client for client, _ in fgraph.clients[probabilities] if isinstance(client, Apply))
    readers = (client.outputs[0] for client in clients if _reads_where(client, writer, index))
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


@rules.stabilize
@node_rewriter([mul], operands=[add, *WRITERS])
def local_scattered_quotient(fgraph: FunctionGraph, node: Apply) -> Any:
    """``p * (scatter(q / p[i], i) + t)`` as ``scatter(q, i) + p * t``: gradients of logarithms of entries of `p`."""
    (out,) = node.outputs
    for k, factor in enumerate(node.inputs):
        inner = factor.owner
        terms = inner.inputs if inner is not None and inner.op == add else [factor]
        for j, term in enumerate(terms):
            writer = term.owner
            if writer is None or not isinstance(writer.op, WRITERS) or term.type.dtype != out.type.dtype:
                continue
            if writer.op.set_instead_of_inc or not has_value(writer.inputs[0], 0) or len(terms) > MOST_TERMS:
                continue
            for i, p in enumerate(node.inputs):
                if i == k or p.type.dtype != out.type.dtype or p.type.broadcastable != out.type.broadcastable:
                    continue
                scattered = _scattered_without(fgraph, writer, p)
                if scattered is None or scattered.type.broadcastable != out.type.broadcastable:
                    continue
                others = [v for n, v in enumerate(node.inputs) if n not in (k, i)]
                total = mul(*others, scattered) if others else scattered
                left = [v for n, v in enumerate(terms) if n != j]
                if left:
                    total = add(total, mul(p, *others, left[0] if len(left) == 1 else add(*left)))
                return in_place_of(out, total, node.inputs)
    return False


def _scattered_without(fgraph: FunctionGraph, writer: Apply, p: Variable) -> Variable | None:
    """What a node writes to zeros, if it is divided by the entries of `p` there, without the divisor; else None."""
    zero, quotient, *index = writer.inputs
    if quotient.type.dtype != p.type.dtype:
        return None
    for client, _ in fgraph.clients[p]:
        if isinstance(client, Apply) and _reads_where(client, writer, index):
            numerator = without_divisor(quotient, client.outputs[0])
            if numerator is not None and numerator.type.ndim == quotient.type.ndim:
                return writer.op(zero, numerator, *index)
    return None
