"""Rules about softmax."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import add, exp, log, mul, second, sigmoid, sub, switch, true_divide
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import Max, Sum, Supremum
from aesara.tensor.reductions.sum_prod_max import sum as at_sum
from aesara.tensor.rewriting.algebra import Product, Reading, opposite
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import as_dtype, computed_in, in_place_of, is_float, output_of
from aesara.tensor.rewriting.logarithms.quotients import (
    exponential_terms,
    exponentials_over_their_sum,
    factors_behind_shuffles,
    is_sum,
)
from aesara.tensor.rewriting.logarithms.shifting import READERS, exponent_of, is_stabilized
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

#: How deep sums of terms in sums are looked into.
NESTED = 3


@rules.stabilize
@rules.specialize("stabilize", "fast_compile")
@node_rewriter([log])
def local_logsoftmax(fgraph, node):
    """The logarithm of a softmax in one operation, which cannot underflow."""
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
    """The gradient of the logarithm of a softmax, in which the division by it cancels."""
    quotient, probabilities = node.inputs
    producer = probabilities.owner
    if producer is None or not isinstance(producer.op, Softmax):
        return False
    gradient = without_divisor(quotient, probabilities)
    if gradient is None:
        return False
    if gradient.type.broadcastable != probabilities.type.broadcastable:
        gradient = second(probabilities, gradient)
    axis = node.op.axis
    axes = tuple(range(gradient.type.ndim)) if axis is None else (axis % gradient.type.ndim,)
    total = at_sum(gradient, axis=axes, keepdims=True)
    return in_place_of(node.outputs[0], sub(gradient, mul(total, probabilities)))


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
    return op is not None and (op in (exp, sigmoid) or isinstance(op, (Softmax, DimShuffle, *READERS)))


def _exponentials_above(product):
    """``1 / (exp(x) * s) -> exp(-x) / s`` in a product, where `s` is a sum of exponentials."""
    below = [v for v in product.divisors if output_of(v, exp) is not None and is_float(v)]
    if not below or all(_summed_exponential(v) is None for v in product.divisors):
        return product
    above = [exp(opposite(v.owner.inputs[0])) for v in below]
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
    """A sum of terms without the sum of exponentials that all are divided by, and this; None if there is none."""
    term = var
    for _ in range(NESTED):
        if term.owner is not None and term.owner.op in (add, sub):
            term = term.owner.inputs[0]
    for total in Product.read(term).divisors if term is not var else []:
        smaller = _terms_without_divisor(var, total) if is_total(total) else None
        if smaller is not None:
            return smaller, total
    return None


def _terms_without_divisor(var, divisor, depth=NESTED):
    """A sum of terms without what all are divided by; None if one is not."""
    dtype = var.type.dtype
    if divisor.type.dtype != dtype:
        return None
    if depth and var.owner is not None and var.owner.op in (add, sub):
        terms = [_terms_without_divisor(v, divisor, depth - 1) for v in var.owner.inputs]
        return None if any(term is None for term in terms) else computed_in(dtype, var.owner.op, terms)
    return without_divisor(var, divisor)


def _softmax_times_sum(factors):
    """The factors with ``softmax(x)`` and ``sum(exp(x))`` as the exponential that their product is."""
    for i, var in enumerate(factors):
        if var.owner is None or not isinstance(var.owner.op, Softmax):
            continue
        exponential = exp(var.owner.inputs[0])
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
    """The softmax that an exponential divided by a sum of exponentials is, or None."""
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
    """The softmax of ``x + m`` for one of `x`, from which the largest `m` along the axes was taken; None if not so."""
    node = x.owner
    if node is None or node.op != sub or softmax.owner.inputs[0] is not x:
        return None
    base, largest = node.inputs
    guard = _without_shuffle(largest).owner
    if guard is None or guard.op != switch or any(not largest.type.broadcastable[axis] for axis in axes):
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
    """What a tensor is but for the order of its dimensions, and this order."""
    order = tuple(range(var.type.ndim))
    while var.owner is not None and isinstance(var.owner.op, DimShuffle):
        new_order = var.owner.op.new_order
        if "x" in new_order or len(new_order) != var.owner.inputs[0].type.ndim:
            break
        order = tuple(new_order[i] for i in order)
        var = var.owner.inputs[0]
    return var, order


@rules.stabilize
@node_rewriter([true_divide])
def local_exp_over_sum(fgraph, node):
    """``exp(x) / sum(exp(x))`` as a softmax, where the canonical form of products did not come to see it."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    product = Product.read(out)
    new = softmax_simplifier(product)
    return False if new == product else in_place_of(out, new.build(out), product.factors + product.divisors)


@rules.stabilize
@node_rewriter([mul])
def local_exp_times_quotients(fgraph, node):
    """``exp(x) * (a / s)`` and ``exp(x) * (a / s - b / s)``, where others use these quotients, too.

    `s` is a sum of a few terms with ``exp(x)`` among them. In derivatives of quotients both sides can be infinite.
    """
    out = node.outputs[0]
    exponents = [exponent_of(var) for var in node.inputs] if is_float(out) else []
    if not any(x is not None and not is_stabilized(x) for x in exponents):
        return False
    if not any(var.owner is not None and var.owner.op in (true_divide, add, sub) for var in node.inputs):
        return False
    product = Product.read(out)
    apart = _common_sums_taken_out(product, _is_sum_of_exponentials)
    new = exponentials_over_their_sum(apart)
    return False if new == apart else in_place_of(out, new.build(out), product.factors + product.divisors)


def _is_sum_of_exponentials(var):
    node = output_of(var, add)
    return node is not None and exponential_terms(node) is not None


rules.simplifier(
    local_mul_canonizer, softmax_simplifier, "softmax_simplifier", operands=[Softmax, Sum, Dot, DimShuffle, add, sub]
)


__all__ = ["local_logsoftmax", "local_logsoftmax_grad", "local_mul_canonizer", "softmax_simplifier"]
