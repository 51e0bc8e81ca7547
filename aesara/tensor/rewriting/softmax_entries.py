"""Rules about some entries of a softmax or of exponentials: probabilities of the true classes in a cross-entropy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import extract, ops
from aesara.tensor.elementwise.ops import add, log, mul, sub
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.rewriting.helpers import has_value, in_place_of, output_of, same_elements
from aesara.tensor.rewriting.indices import same_index, symbolic_index_of
from aesara.tensor.rewriting.logarithms.shifting import MOST_TERMS, READERS
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.rewriting.special import without_divisor

rules = Rules()

WRITERS = (AdvancedIncSubtensor, AdvancedIncSubtensor1, IncSubtensor)


def entries_of(var: Variable) -> tuple[Apply, Variable] | None:
    """Return the node that reads entries of a tensor, and this tensor."""
    return (var.owner, var.owner.inputs[0]) if var.owner is not None and isinstance(var.owner.op, READERS) else None


local_advanced_indexing_crossentropy_onehot = row(
    "local_advanced_indexing_crossentropy_onehot",
    (log, extract(entries_of, "reader", (ops(Softmax, axis="axis"), "x"), operands=READERS)),
    lambda reader, axis, x: reader.op(LogSoftmax(axis=axis)(x), *reader.inputs[1:]),
    each=None,
    why="log(softmax(x)[i]) -> log_softmax(x)[i], which cannot underflow",
)
rules.stabilize(local_advanced_indexing_crossentropy_onehot)
rules.specialize(local_advanced_indexing_crossentropy_onehot, "fast_compile")


@rules.stabilize
@rules.specialize("fast_compile")
@node_rewriter([SoftmaxGrad])
def local_advanced_indexing_crossentropy_onehot_grad(fgraph: FunctionGraph, node: Apply) -> Any:
    """``softmax_grad(scatter(q / p[i], i), p)`` of a softmax p, where the division by its entries cancels.

    A function, since the index has any number of parts, and what else reads p is looked for.
    """
    scattered, probabilities = node.inputs
    writer = scattered.owner
    if output_of(probabilities, Softmax) is None or writer is None or not isinstance(writer.op, WRITERS):
        return False
    if writer.op.set_instead_of_inc and not isinstance(writer.op, IncSubtensor):
        return False
    zero, _, *index = writer.inputs
    gradient = next(_numerators(fgraph, writer, probabilities), None)
    if gradient is None or not has_value(zero, 0) or zero.type.dtype != probabilities.type.dtype:
        return False
    placed = writer.op(zero, gradient, *index)
    axis = node.op.axis
    axes = None if axis is None else (axis % placed.type.ndim,)
    total = sum_along(placed, axis=axes, keepdims=True)
    return in_place_of(node.outputs[0], sub(placed, mul(total, probabilities)))


def _reads_where(reader: Any, writer: Apply, index: Sequence[Variable]) -> bool:
    """Return whether a node reads the entries at the index that another one writes at."""
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
                zero, quotient, *index = writer.inputs
                numerators = (v for v in _numerators(fgraph, writer, p) if v.type.ndim == quotient.type.ndim)
                numerator = next(numerators, None)
                scattered = None if numerator is None else writer.op(zero, numerator, *index)
                if scattered is None or scattered.type.broadcastable != out.type.broadcastable:
                    continue
                others = [v for n, v in enumerate(node.inputs) if n not in (k, i)]
                total = mul(*others, scattered) if others else scattered
                left = [v for n, v in enumerate(terms) if n != j]
                if left:
                    total = add(total, mul(p, *others, left[0] if len(left) == 1 else add(*left)))
                return in_place_of(out, total, node.inputs)
    return False


def _numerators(fgraph: FunctionGraph, writer: Apply, p: Variable) -> Iterator[Any]:
    """Yield what a node writes without the entries of `p` at the same index, if it is divided by them."""
    _, quotient, *index = writer.inputs
    if quotient.type.dtype != p.type.dtype:
        return
    for client, _ in fgraph.clients[p]:
        if isinstance(client, Apply) and _reads_where(client, writer, index):
            numerator = without_divisor(quotient, client.outputs[0])
            if numerator is not None:
                yield numerator
