"""Rules about softmax, some of its entries, and terms of entropies.

Terms of entropies are computed from logarithms of probabilities (see `logarithms`), and differentiated in these forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import extract, one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.scalar.entropy import Entr, KLDiv, RelEntr, XLogY
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.ops import exp, true_divide  # noqa: F401 - documented under this path
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import Max, Sum, Supremum
from aesara.tensor.reductions.sum_prod_max import sum as at_sum
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.rewriting.algebra import Product, Reading, opposite
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    computed_in,
    has_value,
    in_place_of,
    is_float,
    output_of,
    same_elements,
)
from aesara.tensor.rewriting.indices import same_index, symbolic_index_of
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.quotients import (
    exponential_terms,
    exponentials_over_their_sum,
    factors_behind_shuffles,
    is_sum,
)
from aesara.tensor.rewriting.logarithms.scaled import Search, times_logarithm
from aesara.tensor.rewriting.logarithms.shifting import MOST_TERMS, READERS, exponent_of, is_stabilized
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()


def _exponent(var: Variable, dtype: str, analysis: Search) -> Variable | None:
    """Return the logarithm of a variable that is an exponential, so that it is not negative; None for others."""
    found = analysis.scaled_in(var, dtype)
    return found.exponent if found is not None and len(found.pieces) == 1 else None


def form_of_xlogy(node: Apply, analysis: Search) -> Variable | None:
    x, y = node.inputs
    dtype = node.outputs[0].type.dtype
    found = analysis.scaled_in(y, dtype)
    return None if found is None else times_logarithm(x, found.logarithm(dtype))


def form_of_entropy(node: Apply, analysis: Search) -> Variable | None:
    (x,) = node.inputs
    logarithm = _exponent(x, node.outputs[0].type.dtype, analysis)
    return None if logarithm is None else ops.neg(times_logarithm(x, logarithm))


def form_of_relative_entropy(node: Apply, analysis: Search) -> Variable | None:
    x, y = node.inputs
    first, second = (_exponent(v, node.outputs[0].type.dtype, analysis) for v in node.inputs)
    if first is None or second is None:
        return None
    # Where both are zero, the difference of their logarithms would be NaN.
    first = ops.switch(ops.and_(ops.eq(x, 0), ops.isinf_(first)), 0, first)
    term = times_logarithm(x, ops.sub(first, second))
    return term if isinstance(node.op.scalar_op, RelEntr) else ops.add(ops.sub(term, x), y)


FORMS: dict[type, Callable[[Apply, Search], Variable | None]] = {
    XLogY: form_of_xlogy,
    Entr: form_of_entropy,
    RelEntr: form_of_relative_entropy,
    KLDiv: form_of_relative_entropy,
}


local_entropy_of_scaled = row(
    "local_entropy_of_scaled",
    (one_of(special.xlogy, special.entr, special.rel_entr, special.kl_div), "**x"),
    lambda out: FORMS[type(out.owner.op.scalar_op)](out.owner, Analysis()),
    lambda out: is_float(out),
    each=None,
    why="Terms of entropies of exponentials or softmaxes from their logarithms, which are finite where they underflow",
)
rules.add(local_entropy_of_scaled, to=(rules.stabilize, rules.specialize))


#: How deep sums of terms in sums are looked into.
NESTED = 3


@rules.stabilize
@rules.specialize("stabilize", "fast_compile")
@node_rewriter([ops.log])
def local_logsoftmax(fgraph, node):
    """``log(softmax(x))`` -> ``log_softmax(x)``, which cannot underflow."""
    inner = node.inputs[0].owner
    shuffle = None
    if inner is not None and isinstance(inner.op, DimShuffle):
        shuffle, inner = inner.op, inner.inputs[0].owner
    if inner is None or not isinstance(inner.op, Softmax):
        return False
    new = LogSoftmax(axis=inner.op.axis)(inner.inputs[0])
    return in_place_of(node.outputs[0], new if shuffle is None else shuffle(new))


@rules.stabilize
@rules.specialize("stabilize", "fast_compile")
@node_rewriter([SoftmaxGrad])
def local_logsoftmax_grad(fgraph, node):
    """``softmax_grad(g / p, p) -> g - sum(g) * p``, where the division by the softmax p cancels."""
    quotient, probabilities = node.inputs
    producer = probabilities.owner
    if producer is None or not isinstance(producer.op, Softmax):
        return False
    gradient = without_divisor(quotient, probabilities)
    if gradient is None:
        return False
    if gradient.type.broadcastable != probabilities.type.broadcastable:
        gradient = ops.second(probabilities, gradient)
    axis = node.op.axis
    axes = tuple(range(gradient.type.ndim)) if axis is None else (axis % gradient.type.ndim,)
    total = at_sum(gradient, axis=axes, keepdims=True)
    return in_place_of(node.outputs[0], ops.sub(gradient, ops.mul(total, probabilities)))


def without_divisor(quotient, divisor):
    """Return a quotient without one of its divisors; None if it is not divided by it."""
    product = Product.read(quotient, Reading(signs=True))
    if divisor not in product.divisors:
        return None
    product.divisors.remove(divisor)
    return as_dtype(product.build(quotient), quotient.type.dtype)


def softmax_simplifier(product):
    """Put a softmax in place of ``exp(x) / sum(exp(x), axis, keepdims=True)`` in a product."""
    if not any(map(is_sum, product.divisors)) and not any(map(_is_exponential, product.factors)):
        return product
    product = Product(_softmax_times_sum(product.factors), _softmax_times_sum(product.divisors))
    product = _exponentials_above(product)
    if all(exponent_of(var) is None for var in product.factors):
        return exponentials_over_their_sum(product)
    apart = _common_sums_taken_out(factors_behind_shuffles(product), lambda var: _summed_exponential(var) is not None)
    found = False
    for divisor in list(apart.divisors):
        summed = _summed_exponential(divisor)
        if summed is None:
            continue
        for i, var in enumerate(apart.factors):
            softmax = _softmax(var, divisor, *summed)
            if softmax is not None and is_stabilized(summed[0]):
                softmax = _of_unshifted(softmax, *summed)
            if softmax is not None:
                apart.factors[i] = softmax
                apart.divisors.remove(divisor)  # the same sum may be there twice
                found = True
                break
    return exponentials_over_their_sum(apart if found else product)


def _is_exponential(var):
    """Return whether a factor is an exponential, or made of one, that moves of dimensions may hide."""
    op = None if var.owner is None else var.owner.op
    return op is not None and (op in (ops.exp, ops.sigmoid) or isinstance(op, (Softmax, DimShuffle, *READERS)))


def _exponentials_above(product):
    """``1 / (exp(x) * s) -> exp(-x) / s`` in a product, where `s` is a sum of exponentials."""
    below = [v for v in product.divisors if output_of(v, ops.exp) is not None and is_float(v)]
    if not below or all(_summed_exponential(v) is None for v in product.divisors):
        return product
    above = [ops.exp(opposite(v.owner.inputs[0])) for v in below]
    return Product([*product.factors, *above], [v for v in product.divisors if v not in below])


def _common_sums_taken_out(product, is_total):
    """``a / s - b / s -> (a - b) / s`` in a product, where `s` is a sum of exponentials."""
    new = Product([], list(product.divisors))
    for var in product.factors:
        divided = _divided_by_sum(var, is_total)
        if divided is None:
            new.factors.append(var)
        else:
            new.factors.append(divided[0])
            new.divisors.append(divided[1])
    return new


def _divided_by_sum(var, is_total):
    """Return a sum of terms without their common divisor, and the divisor, a sum of exponentials; None without one."""
    term = var
    for _ in range(NESTED):
        if term.owner is not None and term.owner.op in (ops.add, ops.sub):
            term = term.owner.inputs[0]
    for total in Product.read(term).divisors if term is not var else []:
        smaller = _terms_without_divisor(var, total) if is_total(total) else None
        if smaller is not None:
            return smaller, total
    return None


def _terms_without_divisor(var, divisor, depth=NESTED):
    """Return a sum of terms without their common divisor; None if one has another."""
    dtype = var.type.dtype
    if divisor.type.dtype != dtype:
        return None
    if depth and var.owner is not None and var.owner.op in (ops.add, ops.sub):
        terms = [_terms_without_divisor(v, divisor, depth - 1) for v in var.owner.inputs]
        return None if any(term is None for term in terms) else computed_in(dtype, var.owner.op, terms)
    return without_divisor(var, divisor)


def _softmax_times_sum(factors):
    """Return the factors with ``softmax(x)`` and ``sum(exp(x))`` replaced by their product ``exp(x)``."""
    for i, var in enumerate(factors):
        if var.owner is None or not isinstance(var.owner.op, Softmax):
            continue
        exponential = ops.exp(var.owner.inputs[0])
        for k, total in enumerate(factors):
            summed = _summed_exponential(total)
            quotient = None if summed is None else _softmax(exponential, total, *summed)
            if quotient is not None and quotient.owner.op == var.owner.op and quotient.owner.inputs == var.owner.inputs:
                return [exponential, *(v for j, v in enumerate(factors) if j not in (i, k))]
    return factors


def _summed_exponential(var):
    """``x`` and the axes of ``sum(exp(x), axes)``, which may stand behind what moves dimensions; else None."""
    node = var.owner
    if node is not None and isinstance(node.op, DimShuffle):
        node = node.inputs[0].owner
    if node is None or not isinstance(node.op, Sum):
        return None
    (exponential,) = node.inputs
    x = exponent_of(exponential)
    if x is None or exponential.type.dtype != var.type.dtype:
        return None
    axes = reduced_axes(node)
    return (x, axes) if len(axes) in (1, x.type.ndim) else None


def _softmax(numerator, denominator, x, axes):
    """Return the softmax that an exponential divided by a sum of exponentials is, or None."""
    z = exponent_of(numerator)
    if z is None or z.type.ndim != denominator.type.ndim or z.type.dtype != x.type.dtype:
        return None
    base, order = _with_order(z)
    summed_base, summed_order = _with_order(x)
    if base is not summed_base or len(order) != len(summed_order):
        return None
    # Each dimension of the numerator as one of the base, which the denominator has kept, or summed and given back.
    kept = [summed_order[i] for i in range(x.type.ndim) if i not in axes]
    summed = {summed_order[i] for i in axes}
    shuffle = denominator.owner.op
    places = shuffle.new_order if isinstance(shuffle, DimShuffle) else tuple(range(denominator.type.ndim))
    for dimension, place in zip(order, places):
        if dimension != (kept[place] if place != "x" else dimension) or (place == "x") != (dimension in summed):
            return None
    axis = None if len(axes) == x.type.ndim and len(axes) > 1 else summed_order[axes[0]]
    softmax = Softmax(axis=axis)(base)
    return softmax if base is z else softmax.dimshuffle(*order)


def _of_unshifted(softmax, x, axes):
    """Return the softmax of `x` before its maximum was subtracted; None if that was not done."""
    node = x.owner
    if node is None or node.op != ops.sub or softmax.owner.inputs[0] is not x:
        return None
    base, largest = node.inputs
    guard = _without_shuffle(largest).owner
    if guard is None or guard.op != ops.switch or any(not largest.type.broadcastable[axis] for axis in axes):
        return None
    for var in guard.inputs[1:]:
        inner = _without_shuffle(var).owner
        if inner is not None and isinstance(inner.op, (Max, Supremum)):
            if inner.inputs[0] is base and reduced_axes(inner) == axes:
                return softmax.owner.op(base)
    return None


def _without_shuffle(var):
    while var.owner is not None and isinstance(var.owner.op, DimShuffle):
        var = var.owner.inputs[0]
    return var


def _with_order(var):
    """Return the tensor that `var` is a transpose of, and the order of its dimensions."""
    order = tuple(range(var.type.ndim))
    while var.owner is not None and isinstance(var.owner.op, DimShuffle):
        new_order = var.owner.op.new_order
        if "x" in new_order or len(new_order) != var.owner.inputs[0].type.ndim:
            break
        order = tuple(new_order[i] for i in order)
        var = var.owner.inputs[0]
    return var, order


@rules.stabilize
@node_rewriter([ops.true_divide])
def local_exp_over_sum(fgraph, node):
    """``exp(x) / sum(exp(x)) -> softmax(x)``, where the canonizer of products did not meet it."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    product = Product.read(out)
    new = softmax_simplifier(product)
    return False if new == product else in_place_of(out, new.build(out), product.factors + product.divisors)


@rules.stabilize
@node_rewriter([ops.mul])
def local_exp_times_quotients(fgraph, node):
    """``exp(x) * (a / s)`` and ``exp(x) * (a / s - b / s)``, where others use these quotients, too.

    `s` is a sum of a few terms with ``exp(x)`` among them. In derivatives of quotients both sides can be infinite.
    """
    out = node.outputs[0]
    exponents = [exponent_of(var) for var in node.inputs] if is_float(out) else []
    if not any(x is not None and not is_stabilized(x) for x in exponents):
        return False
    if not any(var.owner is not None and var.owner.op in (ops.true_divide, ops.add, ops.sub) for var in node.inputs):
        return False
    product = Product.read(out)
    apart = _common_sums_taken_out(product, _is_sum_of_exponentials)
    new = exponentials_over_their_sum(apart)
    return False if new == apart else in_place_of(out, new.build(out), product.factors + product.divisors)


def _is_sum_of_exponentials(var):
    node = output_of(var, ops.add)
    return node is not None and exponential_terms(node) is not None


rules.simplifier(
    local_mul_canonizer,
    softmax_simplifier,
    "softmax_simplifier",
    operands=[Softmax, Sum, Dot, DimShuffle, ops.add, ops.sub],
)


WRITERS = (AdvancedIncSubtensor, AdvancedIncSubtensor1, IncSubtensor)


def entries_of(var: Variable) -> tuple[Apply, Variable] | None:
    """Return the node that reads entries of a tensor, and this tensor."""
    return (var.owner, var.owner.inputs[0]) if var.owner is not None and isinstance(var.owner.op, READERS) else None


local_advanced_indexing_crossentropy_onehot = row(
    "local_advanced_indexing_crossentropy_onehot",
    (ops.log, extract(entries_of, "reader", (one_of(Softmax, axis="axis"), "x"), operands=READERS)),
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
    return in_place_of(node.outputs[0], ops.sub(placed, ops.mul(total, probabilities)))


def _reads_where(reader: Apply, writer: Apply, index: Sequence[Variable]) -> bool:
    """Return whether a node reads the entries at the index that another one writes at."""
    op = getattr(reader, "op", None)
    if not isinstance(op, READERS) or isinstance(op, Subtensor) != isinstance(writer.op, IncSubtensor):
        return False
    if isinstance(op, Subtensor):
        return same_index(symbolic_index_of(reader), symbolic_index_of(writer))
    return len(index) == len(reader.inputs) - 1 and all(map(same_elements, index, reader.inputs[1:]))


@rules.stabilize
@node_rewriter([ops.mul], operands=[ops.add, *WRITERS])
def local_scattered_quotient(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``p * (scatter(q / p[i], i) + t)`` as ``scatter(q, i) + p * t``: gradients of logarithms of entries of `p`."""
    (out,) = node.outputs
    for k, factor in enumerate(node.inputs):
        inner = factor.owner
        terms = inner.inputs if inner is not None and inner.op == ops.add else [factor]
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
                total = ops.mul(*others, scattered) if others else scattered
                left = [v for n, v in enumerate(terms) if n != j]
                if left:
                    total = ops.add(total, ops.mul(p, *others, left[0] if len(left) == 1 else ops.add(*left)))
                return in_place_of(out, total, node.inputs)
    return False


def _numerators(fgraph: FunctionGraph, writer: Apply, p: Variable) -> Iterator[Variable]:
    """Yield what a node writes without the entries of `p` at the same index, if it is divided by them."""
    _, quotient, *index = writer.inputs
    if quotient.type.dtype != p.type.dtype:
        return
    for client, _ in fgraph.clients[p]:
        if isinstance(client, Apply) and _reads_where(client, writer, index):
            numerator = without_divisor(quotient, client.outputs[0])
            if numerator is not None:
                yield numerator


__all__ = [
    "local_logsoftmax",
    "local_logsoftmax_grad",
    "local_mul_canonizer",
    "softmax_simplifier",
]
