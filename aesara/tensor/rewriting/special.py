"""Rules about softmax, its entries, and terms of entropies.

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
    without_shuffles,
)
from aesara.tensor.rewriting.indices import READERS, WRITERS, same_index, symbolic_index_of
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.quotients import (
    exponential_terms,
    exponentials_over_their_sum,
    factors_behind_shuffles,
    is_sum,
)
from aesara.tensor.rewriting.logarithms.scaled import Search, times_logarithm
from aesara.tensor.rewriting.logarithms.shifting import MOST_TERMS, exponent_of, is_stabilized
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()


def _exponent(var: Variable, dtype: str, analysis: Search) -> Variable | None:
    """Return the exponent of a variable that is an exponential, else None."""
    form = analysis.scaled_in(var, dtype)
    return form.exponent if form is not None and form.is_exponential else None


def form_of_xlogy(node: Apply, analysis: Search) -> Variable | None:
    x, y = node.inputs
    dtype = node.outputs[0].type.dtype
    form = analysis.scaled_in(y, dtype)
    return None if form is None else times_logarithm(x, form.logarithm(dtype))


def form_of_entropy(node: Apply, analysis: Search) -> Variable | None:
    (x,) = node.inputs
    logarithm = _exponent(x, node.outputs[0].type.dtype, analysis)
    return None if logarithm is None else ops.neg(times_logarithm(x, logarithm))


def form_of_relative_entropy(node: Apply, analysis: Search) -> Variable | None:
    x, y = node.inputs
    first, second = (_exponent(v, node.outputs[0].type.dtype, analysis) for v in node.inputs)
    if first is None or second is None:
        return None
    # The difference of the logarithms of two zeros is NaN.
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
    why="entr(exp(x)) -> -exp(x) * x, and so for xlogy, rel_entr and kl_div, which are finite where exp(x) underflows",
)
rules.add(local_entropy_of_scaled, to=(rules.stabilize, rules.specialize))


#: The depth of nested sums that are searched.
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
    expanded = _factor_out_common_sums(
        factors_behind_shuffles(product), lambda var: _summed_exponential(var) is not None
    )
    has_softmax = False
    for divisor in list(expanded.divisors):
        summed = _summed_exponential(divisor)
        if summed is None:
            continue
        for i, var in enumerate(expanded.factors):
            softmax = _softmax(var, divisor, *summed)
            if softmax is not None and is_stabilized(summed[0]):
                softmax = _without_shift(softmax, *summed)
            if softmax is not None:
                expanded.factors[i] = softmax
                expanded.divisors.remove(divisor)  # only once: the product may be divided by the same sum twice
                has_softmax = True
                break
    return exponentials_over_their_sum(expanded if has_softmax else product)


def _is_exponential(var):
    """Return whether a factor may be an exponential, a sigmoid or softmax, or one of these behind moved dimensions."""
    op = None if var.owner is None else var.owner.op
    return op is not None and (op in (ops.exp, ops.sigmoid) or isinstance(op, (Softmax, DimShuffle, *READERS)))


def _exponentials_above(product):
    """``1 / (exp(x) * s) -> exp(-x) / s`` in a product, where `s` is a sum of exponentials."""
    divisors = [v for v in product.divisors if output_of(v, ops.exp) is not None and is_float(v)]
    if not divisors or all(_summed_exponential(v) is None for v in product.divisors):
        return product
    factors = [ops.exp(opposite(v.owner.inputs[0])) for v in divisors]
    return Product([*product.factors, *factors], [v for v in product.divisors if v not in divisors])


def _factor_out_common_sums(product, is_total):
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
    """Return a sum without the common divisor of its terms, and the divisor, a sum of exponentials, else None."""
    term = var
    for _ in range(NESTED):
        if term.owner is not None and term.owner.op in (ops.add, ops.sub):
            term = term.owner.inputs[0]
    for total in Product.read(term).divisors if term is not var else []:
        undivided = _terms_without_divisor(var, total) if is_total(total) else None
        if undivided is not None:
            return undivided, total
    return None


def _terms_without_divisor(var, divisor, depth=NESTED):
    """Return a sum without a common divisor of its terms; None if not all terms have it."""
    dtype = var.type.dtype
    if divisor.type.dtype != dtype:
        return None
    if depth and var.owner is not None and var.owner.op in (ops.add, ops.sub):
        terms = [_terms_without_divisor(v, divisor, depth - 1) for v in var.owner.inputs]
        return None if any(term is None for term in terms) else computed_in(dtype, var.owner.op, terms)
    return without_divisor(var, divisor)


def _softmax_times_sum(factors):
    """``softmax(x) * sum(exp(x)) -> exp(x)`` among factors"""
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
    """Return ``x`` and the axes of ``sum(exp(x), axes)``, also behind moved dimensions, else None."""
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
    """Return an exponential over a sum of exponentials as a softmax, else None."""
    z = exponent_of(numerator)
    if z is None or z.type.ndim != denominator.type.ndim or z.type.dtype != x.type.dtype:
        return None
    base, order = _with_order(z)
    summed_base, summed_order = _with_order(x)
    if base is not summed_base or len(order) != len(summed_order):
        return None
    # Each dimension of the numerator is one of the base that the denominator has kept, or summed and broadcast.
    kept = [summed_order[i] for i in range(x.type.ndim) if i not in axes]
    summed = {summed_order[i] for i in axes}
    shuffle = denominator.owner.op
    denominator_order = shuffle.new_order if isinstance(shuffle, DimShuffle) else tuple(range(denominator.type.ndim))
    for dimension, entry in zip(order, denominator_order):
        if dimension != (kept[entry] if entry != "x" else dimension) or (entry == "x") != (dimension in summed):
            return None
    axis = None if len(axes) == x.type.ndim and len(axes) > 1 else summed_order[axes[0]]
    softmax = Softmax(axis=axis)(base)
    return softmax if base is z else softmax.dimshuffle(*order)


def _without_shift(softmax, x, axes):
    """``softmax(x - max(x)) -> softmax(x)``, else None"""
    node = x.owner
    if node is None or node.op != ops.sub or softmax.owner.inputs[0] is not x:
        return None
    base, largest = node.inputs
    guard = without_shuffles(largest).owner
    if guard is None or guard.op != ops.switch or any(not largest.type.broadcastable[axis] for axis in axes):
        return None
    for var in guard.inputs[1:]:
        inner = without_shuffles(var).owner
        if inner is not None and isinstance(inner.op, (Max, Supremum)):
            if inner.inputs[0] is base and reduced_axes(inner) == axes:
                return softmax.owner.op(base)
    return None


def _with_order(var):
    """Return the tensor of which `var` is a transpose, and the order of its dimensions."""
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
    """``exp(x) / sum(exp(x)) -> softmax(x)`` in quotients that the canonizer of products has not reached"""
    out = node.outputs[0]
    if not is_float(out):
        return False
    product = Product.read(out)
    new = softmax_simplifier(product)
    return False if new == product else in_place_of(out, new.build(out), product.factors + product.divisors)


@rules.stabilize
@node_rewriter([ops.mul])
def local_exp_times_quotients(fgraph, node):
    """``exp(x) * (a / s - b / s) -> (exp(x) / s) * (a - b)`` for a sum `s` with ``exp(x)`` among its terms

    The quotients may have other clients. In derivatives of quotients, both ``exp(x)`` and `s` can be infinite.
    """
    out = node.outputs[0]
    exponents = [exponent_of(var) for var in node.inputs] if is_float(out) else []
    if not any(x is not None and not is_stabilized(x) for x in exponents):
        return False
    if not any(var.owner is not None and var.owner.op in (ops.true_divide, ops.add, ops.sub) for var in node.inputs):
        return False
    product = Product.read(out)
    expanded = _factor_out_common_sums(product, _is_sum_of_exponentials)
    new = exponentials_over_their_sum(expanded)
    return False if new == expanded else in_place_of(out, new.build(out), product.factors + product.divisors)


def _is_sum_of_exponentials(var):
    node = output_of(var, ops.add)
    return node is not None and exponential_terms(node) is not None


rules.simplifier(
    local_mul_canonizer,
    softmax_simplifier,
    "softmax_simplifier",
    operands=[Softmax, Sum, Dot, DimShuffle, ops.add, ops.sub],
)


def entries_of(var: Variable) -> tuple[Apply, Variable] | None:
    """Return the node that reads entries of a tensor, and the tensor; None for other variables."""
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
    """``softmax_grad(scatter(q / p[i], i), p) -> scatter(q, i) - sum(q) * p`` of a softmax `p`

    A function, since the index has any number of entries, and other clients of `p` are examined.
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
    """Return whether a node reads the entries that another node writes."""
    op = getattr(reader, "op", None)
    if not isinstance(op, READERS) or isinstance(op, Subtensor) != isinstance(writer.op, IncSubtensor):
        return False
    if isinstance(op, Subtensor):
        return same_index(symbolic_index_of(reader), symbolic_index_of(writer))
    return len(index) == len(reader.inputs) - 1 and all(map(same_elements, index, reader.inputs[1:]))


@rules.stabilize
@node_rewriter([ops.mul], operands=[ops.add, *WRITERS])
def local_scattered_quotient(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``p * (scatter(q / p[i], i) + t) -> scatter(q, i) + p * t``, in gradients of logarithms of entries of `p`"""
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
                scattered = None if i == k else _scattered_numerator(fgraph, writer, p, out)
                if scattered is None:
                    continue
                others = [v for n, v in enumerate(node.inputs) if n not in (k, i)]
                total = ops.mul(*others, scattered) if others else scattered
                rest = [v for n, v in enumerate(terms) if n != j]
                if rest:
                    total = ops.add(total, ops.mul(p, *others, rest[0] if len(rest) == 1 else ops.add(*rest)))
                return in_place_of(out, total, node.inputs)
    return False


def _scattered_numerator(fgraph: FunctionGraph, writer: Apply, p: Variable, out: Variable) -> Variable | None:
    """``scatter(q / p[i], i) * p`` -> ``scatter(q, i)`` in the shape of `out`, else None"""
    if p.type.dtype != out.type.dtype or p.type.broadcastable != out.type.broadcastable:
        return None
    zero, quotient, *index = writer.inputs
    numerators = (v for v in _numerators(fgraph, writer, p) if v.type.ndim == quotient.type.ndim)
    numerator = next(numerators, None)
    scattered: Any = None if numerator is None else writer.op(zero, numerator, *index)
    return scattered if scattered is not None and scattered.type.broadcastable == out.type.broadcastable else None


def _numerators(fgraph: FunctionGraph, writer: Apply, p: Variable) -> Iterator[Variable]:
    """Yield ``q`` if a node writes ``q / p[i]`` at the index i."""
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
