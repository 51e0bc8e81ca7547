"""Logarithms and quotients of sums of exponentials: the largest exponent is taken out, so that nothing overflows.

``log(sum(exp(x)))`` is ``log(sum(exp(x - m))) + m``, and ``exp(x) / sum(exp(x))`` is
``exp(x - m) / sum(exp(x - m))``. `Shifted` is a sum of this kind with what was taken out; it is found in products and
quotients, with weights, along axes, in sums of a few terms and behind what only moves dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.records import dataclass
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    eq,
    exp,
    isinf_,
    le,
    log,
    log1mexp,
    log1p,
    maximum,
    minimum,
    mul,
    neg,
    reciprocal,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor, AdvancedSubtensor1
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.careduce import with_kept_dims
from aesara.tensor.reductions.logsumexp import logaddexp_
from aesara.tensor.reductions.sum_prod_max import Max, Sum, Supremum
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    computed_in,
    constant_like,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
    shaped_like_inputs,
)
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()

READERS = (AdvancedSubtensor, AdvancedSubtensor1, Subtensor)

#: Sums of more terms than this are left as they are.
MOST_TERMS = 16


@dataclass
class Exponential:
    """A term ``weight * exp(exponent)``; `weight` is None for 1."""

    exponent: Variable
    weight: Variable | None = None

    @property
    def weight_may_be_zero(self) -> bool:
        return self.weight is not None and common_value(self.weight) in (None, 0)

    @property
    def guarded_exponent(self) -> Variable:
        """The exponent, and minus infinity where the weight is zero."""
        if not self.weight_may_be_zero:
            return self.exponent
        return switch(eq(self.weight, 0), np.asarray(-np.inf, dtype=self.exponent.type.dtype), self.exponent)

    def power(self, largest: Variable) -> Variable:
        """``exp(exponent - largest)``, finite where the weight is zero."""
        difference = sub(self.exponent, largest)
        if self.weight_may_be_zero:
            difference = switch(eq(self.weight, 0), minimum(difference, 0), difference)
        return exp(difference)

    def shifted(self, largest: Variable) -> Variable:
        """The term divided by ``exp(largest)``."""
        power = self.power(largest)
        return power if self.weight is None else mul(self.weight, power)


@dataclass
class Shifted:
    """A sum of exponentials as ``total * exp(largest)``, both of the shape of the sum.

    `terms` are what is summed: several, or one with the axes that were summed over.
    """

    total: Variable
    largest: Variable
    terms: list[Exponential]


def finite_or_zero(x: Variable) -> Variable:
    """`x`, and zero where it is infinite."""
    return switch(isinf_(x), 0, x)


def largest_safe_exponent(x: Variable) -> np.ndarray:
    """An exponent in the dtype of `x` so small that squares of exponentials, with weights, are in the range."""
    return np.asarray(np.log(np.finfo(x.type.dtype).max) / 3, dtype=x.type.dtype)


def large_or_zero(x: Variable) -> Variable:
    """`x` where it is finite and its exponential may get out of range, and zero elsewhere."""
    return switch(le(at_abs(x), largest_safe_exponent(x)), 0, finite_or_zero(x))


def is_stabilized(x: Variable) -> bool:
    """Whether an exponent is the difference from a largest one that was guarded already."""
    return bool(guards_in(x))


def is_shifted(x: Variable, weighted: bool) -> bool:
    """Whether the largest exponent was taken out of a sum, with weights or without, that has the exponent `x`."""
    return (le if weighted else isinf_) in guards_in(x)


def guards_in(x: Variable) -> set[Op]:
    """The conditions of the guards (`finite_or_zero`, `large_or_zero`) among the terms of an exponent."""
    found = set()
    stack = [(x, 5)]
    while stack:
        var, depth = stack.pop()
        node = var.owner
        while node is not None and isinstance(node.op, (DimShuffle, Reshape, *READERS)):
            node = node.inputs[0].owner
        if node is None or depth == 0:
            continue
        if node.op == switch:
            condition = node.inputs[0].owner
            if condition is not None and condition.op in (isinf_, le):
                found.add(condition.op)
            else:
                stack.extend((v, depth - 1) for v in node.inputs[1:])
        elif node.op in (add, sub, neg, minimum):
            stack.extend((v, depth - 1) for v in node.inputs)
    return found


def exponent_of(var: Variable) -> Variable | None:
    """``x`` of ``exp(x)``, which may stand behind what moves its dimensions, or reads its entries; else None."""
    order = None
    node = var.owner
    if node is not None and isinstance(node.op, READERS):
        x = exponent_of(node.inputs[0])
        return None if x is None else node.op(x, *node.inputs[1:])
    if node is not None and isinstance(node.op, DimShuffle):
        order, node = node.op, node.inputs[0].owner
    if node is None or node.op != exp or not is_float(var) or node.inputs[0].type.dtype != var.type.dtype:
        return None
    x = node.inputs[0]
    return x if order is None else order(x)


def exponential_in(var: Variable) -> Exponential | None:
    """A term with an exponential among its factors; None for what has none, or whose exponent was shifted already."""
    x = exponent_of(var)
    weight = None
    if x is None:
        node = var.owner
        if node is None or node.op not in (mul, true_divide, neg) or not is_float(var):
            return None
        dtype = var.type.dtype
        numerators, denominators = local_mul_canonizer.get_near_num_denum(var)
        exponents = [exponent_of(v) for v in numerators]
        found = [v for v in exponents if v is not None]
        if not found:
            return None
        x = found[0] if len(found) == 1 else add(*found)
        rest = [v for v, of_exponential in zip(numerators, exponents) if of_exponential is None]
        exponents = [exponent_of(v) for v in denominators]
        for divided_by in exponents:
            x = x if divided_by is None else sub(x, divided_by)
        denominators = [v for v, of_exponential in zip(denominators, exponents) if of_exponential is None]
        if rest or denominators:
            weight = as_dtype(local_mul_canonizer.merge_num_denum(rest, denominators, dtype), dtype)
    return None if x is None or is_stabilized(x) else Exponential(x, weight)


def shifted(var: Variable) -> Shifted | None:
    """A sum of exponentials with the largest taken out; None for what is no such sum."""
    node = var.owner
    if node is None or not is_float(var):
        return None
    if isinstance(node.op, DimShuffle):
        inner = shifted(node.inputs[0])
        return None if inner is None else Shifted(node.op(inner.total), node.op(inner.largest), inner.terms)
    if isinstance(node.op, Sum):
        return _shifted_reduction(var)
    if isinstance(node.op, Dot):
        total = product_as_sum(var)
        return None if total is None else _shifted_reduction(total)
    if node.op == add:
        return _shifted_terms(var)
    return None


def _shifted_reduction(var: Variable) -> Shifted | None:
    node = var.owner
    (summed,) = node.inputs
    axes = reduced_axes(node)
    if summed.type.dtype != var.type.dtype or not axes or any(summed.type.shape[axis] == 0 for axis in axes):
        return None
    term = exponential_in(summed)
    if term is None:
        return None
    exponents = shaped_like_inputs(term.guarded_exponent, summed, [summed] if term.weight is None else [term.weight])
    if exponents.type.broadcastable != summed.type.broadcastable:
        return None
    guard = finite_or_zero if term.weight is None else large_or_zero
    extremum = Supremum if any(summed.type.shape[axis] is None for axis in axes) else Max
    largest = guard(extremum(axes)(exponents))
    total = node.op(term.shifted(with_kept_dims(summed, largest, axes)))
    return Shifted(total, largest, [term])


def product_as_sum(var: Variable) -> Variable | None:
    """The product of exponentials, a matrix or vector of them, with a vector, as a weighted sum of exponentials."""
    x, y = var.owner.inputs
    if x.type.dtype != var.type.dtype or y.type.dtype != var.type.dtype:
        return None
    if y.type.ndim == 1 and exponent_of(x) is not None:
        powers, weights, axis = x, y, x.type.ndim - 1
    elif x.type.ndim == 1 and exponent_of(y) is not None:
        powers, weights, axis = y, x.dimshuffle(0, *["x"] * (y.type.ndim - 1)), 0
    else:
        return None
    if x.type.broadcastable[-1] != y.type.broadcastable[0]:
        return None
    return Sum((axis,), dtype=var.type.dtype)(mul(powers, weights))


def _shifted_terms(var: Variable) -> Shifted | None:
    node = var.owner
    terms = exponential_terms(var)
    if terms is None or len(terms) > MOST_TERMS:
        return None
    largest = terms[0].guarded_exponent
    for term in terms[1:]:
        largest = maximum(largest, term.guarded_exponent)
    guard = finite_or_zero if all(term.weight is None for term in terms) else large_or_zero
    largest = shaped_like_inputs(guard(largest), var, node.inputs)
    return Shifted(add(*(term.shifted(largest) for term in terms)), largest, terms)


def exponential_terms(var: Variable) -> list[Exponential] | None:
    """The terms of a sum of exponentials, some of which may be constants; else None."""
    terms = []
    found = False
    for v in var.owner.inputs:
        value = common_value(v)
        if value is not None:
            terms.append(Exponential(constant_like(0, var), constant_like(value, var)))
            continue
        term = exponential_in(v) if v.type.dtype == var.type.dtype else None
        if term is None:
            return None
        found = True
        terms.append(term)
    return terms if found else None


# Logarithms


@rules.stabilize
@rules.specialize
@node_rewriter([log])
def local_log_sum_exp(fgraph, node):
    """``log(sum(exp(x)))`` without overflow, also of weighted sums, and of products with vectors of weights."""
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    while inner is not None and isinstance(inner.op, DimShuffle):
        inner = inner.inputs[0].owner
    if inner is None or not isinstance(inner.op, (Sum, Dot)) or x.type.dtype != out.type.dtype:
        return False
    found = shifted(x)
    return False if found is None else in_place_of(out, add(log(found.total), found.largest))


@rules.stabilize
@rules.specialize
@node_rewriter([log])
def local_log_add_exp(fgraph, node):
    """``log(exp(x) + exp(y) + ...)`` without overflow; constants and factors may be among the terms."""
    out = node.outputs[0]
    (x,) = node.inputs
    if x.owner is None or x.owner.op != add or not is_float(out) or x.type.dtype != out.type.dtype:
        return False
    if any(has_value(term, 1) for term in x.owner.inputs):
        return False  # the function log1p does better
    terms = exponential_terms(x)
    if terms is None or len(terms) < 2:
        return False
    if len(terms) == 2:
        exponents = [_with_constant_weight(term) for term in terms]
        if None not in exponents:
            return in_place_of(out, logaddexp_(*exponents), x.owner.inputs)
    found = shifted(x)
    return False if found is None else in_place_of(out, add(log(found.total), found.largest), x.owner.inputs)


def _with_constant_weight(term: Exponential) -> Variable | None:
    """The exponent of a term whose weight is a positive constant, which becomes a part of the exponent."""
    if term.weight is None:
        return term.exponent
    value = common_value(term.weight)
    if value is None or not 0 < value < np.inf:
        return None
    logarithm = constant_like(np.log(np.float64(value)), term.weight)
    return logarithm if common_value(term.exponent) == 0 else add(term.exponent, logarithm)


@rules.stabilize
@rules.specialize
@node_rewriter([log])
def local_log_mul_exp(fgraph, node):
    """Exponentials, and sums of them, are taken out of the logarithm of a product or quotient.

    ``log(a * exp(x) / b)`` is ``x + log(a / b)`` and ``log(mean(exp(x)))`` is that of ``exp(x - m)``, and `m`.
    """
    out = node.outputs[0]
    (product,) = node.inputs
    inner = product.owner
    if inner is None or inner.op not in (mul, true_divide, reciprocal) or not is_float(out):
        return False
    dtype = out.type.dtype
    if product.type.dtype != dtype:
        return False
    sides = local_mul_canonizer.get_near_num_denum(product)
    added: tuple[list[Variable], list[Variable]] = ([], [])
    kept: tuple[list[Variable], list[Variable]] = ([], [])
    for side, outside, inside in zip(sides, added, kept):
        for factor in side:
            exponent = exponent_of(factor) if factor.type.dtype == dtype else None
            if exponent is not None and not is_stabilized(exponent):
                outside.append(exponent)
                continue
            found = shifted(factor) if factor.type.dtype == dtype else None
            if found is None:
                inside.append(factor)
            else:
                outside.append(found.largest)
                inside.append(found.total)
    if not added[0] and not added[1]:
        return False
    total = None
    if kept[0] or kept[1]:
        added[0].append(log(as_dtype(local_mul_canonizer.merge_num_denum(*kept, dtype), dtype)))
    if added[0]:
        total = added[0][0] if len(added[0]) == 1 else computed_in(dtype, add, added[0])
    for var in added[1]:
        total = neg(var) if total is None else sub(total, var)
    return in_place_of(out, total, [*sides[0], *sides[1]])


def log1p_of_multiple_of_exp(c: Variable, x: Variable) -> Variable | None:
    """``log1p(c * exp(x))`` without overflow, for a positive constant."""
    value = common_value(c)
    facts = np.finfo(x.type.dtype)
    if value is None or not facts.tiny / facts.eps < 1 / value < facts.max * facts.eps**2:
        return None
    logarithm = np.log(np.float64(value))
    limit = np.asarray(np.log(np.float64(facts.max)) - max(logarithm, 0) - 1, dtype=x.type.dtype)
    near = log1p(mul(c, exp(minimum(x, limit))))
    return switch(le(x, limit), near, add(x, np.asarray(logarithm, dtype=x.type.dtype)))


rules.add(
    rule(
        "log1p_of_multiple_of_exp",
        (log1p, (mul, "c", (exp, "x"))),
        log1p_of_multiple_of_exp,
        lambda c, x, out: real_of_same_dtype(x, out) and c.type.dtype == x.type.dtype and output_of(x, minimum) is None,
    ),
    rule(
        "log_diff_exp",
        (log, (sub, (exp, "x"), (exp, "y"))),
        lambda x, y: add(x, log1mexp(sub(y, x))),
        real_of_same_dtype,
    ),
    to=(rules.stabilize, rules.specialize),
)


# Quotients


def exponentials_over_their_sum(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``exp(x) / (exp(x) + exp(y) + ...)`` in a product, with the largest exponent taken out of both."""
    numerators, denominators = list(numerators), list(denominators)
    for k, denominator in enumerate(denominators):
        if not _is_sum(denominator):
            continue
        if not any(exponent_of(var) is not None or _is_sum(var) for var in numerators):
            break
        found = shifted(denominator)
        if found is None:
            continue
        for i, var in enumerate(numerators):
            if var.type.dtype != denominator.type.dtype:
                continue
            power = _shifted_numerator(var, found)
            if power is None:
                power = _shifted_average(var, denominator)
            if power is not None:
                numerators[i] = power
                denominators[k] = found.total
                break
    return numerators, denominators


def _is_sum(var: Variable) -> bool:
    node = var.owner
    while node is not None and isinstance(node.op, DimShuffle):
        node = node.inputs[0].owner
    return node is not None and (node.op == add or isinstance(node.op, (Sum, Dot)))


def _shifted_numerator(var: Variable, total: Shifted) -> Variable | None:
    """An exponential divided by what was taken out of a sum, if it is among the terms of the sum; else None."""
    exponent = exponent_of(var)
    if exponent is None or is_stabilized(exponent):
        return None
    for term in total.terms:
        if term.exponent is exponent:
            return term.power(total.largest)
    if any(_without_order(term.exponent) is _without_order(exponent) for term in total.terms):
        return exp(sub(exponent, total.largest))
    return None


def _shifted_average(var: Variable, denominator: Variable) -> Variable | None:
    """A sum of weighted exponentials, divided by what is taken out of the sum of them without or with other weights.

    The quotient of both is an average.
    """
    if var.owner is None or type(var.owner.op) is not type(denominator.owner.op):
        return None
    if isinstance(var.owner.op, DimShuffle):
        if var.owner.op != denominator.owner.op:
            return None
        inner = _shifted_average(var.owner.inputs[0], denominator.owner.inputs[0])
        return None if inner is None else var.owner.op(inner)
    if not isinstance(var.owner.op, Sum):
        return None
    axes = reduced_axes(var.owner)
    (summed,) = var.owner.inputs
    if axes != reduced_axes(denominator.owner) or summed.type.dtype != var.type.dtype:
        return None
    term = exponential_in(summed)
    found = shifted(denominator)
    if term is None or found is None or all(other.exponent is not term.exponent for other in found.terms):
        return None
    return var.owner.op(term.shifted(with_kept_dims(summed, found.largest, axes)))


def _without_order(var: Variable) -> Variable:
    node = var.owner
    return node.inputs[0] if node is not None and isinstance(node.op, DimShuffle) else var


def factors_behind_shuffles(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """The factors of a product, with those taken apart that are products with dimensions moved or added.

    Only what holds a sum is taken apart: then an exponential among the factors may go with it.
    """
    found: tuple[list[Variable], list[Variable]] = ([], [])
    for inverted, side in enumerate((numerators, denominators)):
        for var in side:
            inner = var.owner.inputs[0] if var.owner is not None and isinstance(var.owner.op, DimShuffle) else None
            if inner is None or inner.owner is None or inner.owner.op not in (mul, true_divide, reciprocal):
                found[inverted].append(var)
                continue
            parts = local_mul_canonizer.get_near_num_denum(inner)
            if not any(_is_sum(part) for part in (*parts[0], *parts[1])):
                found[inverted].append(var)
                continue
            for k in (0, 1):
                found[inverted ^ k].extend(_shuffled(part, var.owner.op, inner) for part in parts[k])
    return found


def _shuffled(part: Variable, op: DimShuffle, whole: Variable) -> Variable:
    """A factor of `whole` with its dimensions moved as those of `whole`, in one step."""
    order = op.new_order
    node = part.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = tuple("x" if i == "x" else node.op.new_order[i] for i in order)
        part = node.inputs[0]
        return part.dimshuffle(*order)
    return op(part) if part.type.broadcastable == whole.type.broadcastable else part.dimshuffle(*order)
