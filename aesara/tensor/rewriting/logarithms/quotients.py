"""Quotients of exponentials and sums of them: ``exp(x) / sum(exp(x))`` is ``exp(x - m) / sum(exp(x - m))``.

`Shifted` is a sum with what was taken out; it is found in products and quotients, with weights, along axes, in sums of
a few terms and behind what only moves dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.records import dataclass
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    exp,
    expm1,
    lt,
    maximum,
    mul,
    neg,
    reciprocal,
    sigmoid,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.careduce import with_kept_dims
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    constant_like,
    exponent_value,
    is_float,
    output_of,
    shaped_like_inputs,
)
from aesara.tensor.rewriting.hyperbolic import multiple
from aesara.tensor.rewriting.logarithms.scaled import filled
from aesara.tensor.rewriting.logarithms.shifting import (
    MOST_TERMS,
    can_be_shifted,
    exponent_of,
    is_stabilized,
    largest_of,
    leaves_range,
    may_be_zero,
    power,
    product_as_sum,
    shifted_along_axes,
    shifted_term,
)
from aesara.tensor.rewriting.logistic import negated
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.shapes.dimshuffle import DimShuffle


@dataclass
class Shifted:
    """A sum of exponentials as ``total * exp(largest)``, both of the shape of the sum.

    `terms` are what is summed: several, or one with the axes that were summed over.
    """

    total: Variable
    largest: Variable
    terms: list[ExpTerm]


@dataclass
class ExpTerm:
    """A term ``weight * exp(exponent)``; `weight` is None for 1."""

    exponent: Variable
    weight: Variable | None = None

    @property
    def number(self) -> Any:
        """The weight if it is a number, else None."""
        return 1 if self.weight is None else exponent_value(self.weight)

    def shifted(self, largest: Variable) -> Variable:
        """The term divided by ``exp(largest)``."""
        return shifted_term(self.exponent, largest, self.weight)


def term_in(var: Variable) -> ExpTerm | None:
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
    return None if x is None or is_stabilized(x) else ExpTerm(x, weight)


def shifted(var: Variable) -> Shifted | None:
    """A sum of exponentials with the largest taken out; None for what is no such sum."""
    node = var.owner
    if node is None:
        return None
    if isinstance(node.op, DimShuffle):
        inner = shifted(node.inputs[0])
        return None if inner is None else Shifted(node.op(inner.total), node.op(inner.largest), inner.terms)
    if isinstance(node.op, Sum):
        return _shifted_reduction(node)
    if isinstance(node.op, Dot):
        total = product_as_sum(node)
        return None if total is None else _shifted_reduction(total)
    if node.op == add:
        return _shifted_terms(node)
    return None


def _shifted_reduction(node: Apply) -> Shifted | None:
    (summed,) = node.inputs
    term = term_in(summed) if can_be_shifted(node) else None
    if term is None or not leaves_range(term.exponent):
        return None
    exponent = filled(term.exponent, summed, [summed] if term.weight is None else [term.weight])
    if exponent.type.broadcastable != summed.type.broadcastable:
        return None
    return Shifted(*shifted_along_axes(node, exponent, term.weight, _as_it_is), [term])


def _as_it_is(largest: Variable) -> Variable:
    return largest


def _shifted_terms(node: Apply) -> Shifted | None:
    terms = exponential_terms(node)
    if terms is None or len(terms) > MOST_TERMS:
        return None
    largest = largest_of([term.exponent for term in terms], [term.weight for term in terms], _as_it_is)
    largest = shaped_like_inputs(largest, node.outputs[0], node.inputs)
    return Shifted(add(*(term.shifted(largest) for term in terms)), largest, terms)


def exponential_terms(node: Apply) -> list[ExpTerm] | None:
    """The terms of a sum of exponentials, some of which may be constants; else None.

    If none of them leaves the range, it is no such sum.
    With a zero among them the sum is not in canonical form yet.
    """
    (var,) = node.outputs
    terms = []
    found = False
    for v in node.inputs:
        value = common_value(v)
        if value == 0:
            return None
        if value is not None:
            terms.append(ExpTerm(constant_like(0, var), constant_like(value, var)))
            continue
        term = term_in(v) if v.type.dtype == var.type.dtype else None
        if term is None:
            return None
        found = found or leaves_range(term.exponent)
        terms.append(term)
    return terms if found else None


def exponentials_over_their_sum(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``exp(x) / (exp(x) + exp(y) + ...)`` in a product, with the largest exponent taken out of both."""
    numerators, denominators = _with_exponentials_apart(numerators, denominators), list(denominators)
    _sums_times_logistic(numerators, denominators)
    for k, denominator in enumerate(denominators):
        if not _is_sum(denominator):
            continue
        if not any(exponent_of(v) is not None or _is_sum(v) or output_of(v, expm1) is not None for v in numerators):
            break
        found = shifted(denominator)
        if found is None:
            continue
        for i, var in enumerate(numerators):
            if var.type.dtype != denominator.type.dtype:
                continue
            new = _shifted_numerator(var, found, numerators)
            if new is None:
                new = _shifted_average(var, denominator)
            if new is not None:
                numerators[i] = new
                denominators[k] = found.total
                break
    return numerators, denominators


def _sums_times_logistic(numerators: list[Variable], denominators: list[Variable]) -> None:
    """Put ``1 / (1 + exp(-u))`` in place of ``sigmoid(u)`` beside a sum of exponentials of multiples of `u`.

    The sum overflows where the logistic function underflows.
    """
    for k, var in enumerate(numerators):
        logistic = output_of(var, sigmoid)
        if logistic is None or logistic.inputs[0].type.dtype != var.type.dtype:
            continue
        (u,) = logistic.inputs
        number, base = multiple(u)
        for other in numerators:
            for term in _terms(other):
                times, of_term = multiple(term.exponent)
                if of_term is base and times * number < 0:
                    del numerators[k]
                    denominators.append(add(constant_like(1, var), exp(negated(u))))
                    return


def _with_exponentials_apart(numerators: Sequence[Variable], denominators: Sequence[Variable]) -> list[Variable]:
    """The factors with ``exp(x + y)`` as ``exp(x) * exp(y)``, where all is divided twice by a sum that has both."""
    sums = {v: {term.exponent for term in _terms(v)} for v in denominators if denominators.count(v) > 1}
    found: list[Variable] = []
    for var in numerators:
        x = exponent_of(var) if sums else None
        parts = [] if x is None else _equal_parts(x)
        apart = any(
            exponents.issuperset(parts) and denominators.count(v) >= len(parts) for v, exponents in sums.items()
        )
        found.extend(exp(part) for part in parts) if parts and apart else found.append(var)
    return found


def _equal_parts(exponent: Variable) -> Sequence[Variable]:
    """The terms of an exponent, also of ``2 * x``."""
    node = exponent.owner
    if node is not None and node.op == add:
        return node.inputs
    number, x = multiple(exponent)
    return [x, x] if number == 2 and x.type == exponent.type else []


def _terms(var: Variable) -> list[ExpTerm]:
    return (exponential_terms(var.owner) if var.owner is not None and var.owner.op == add else None) or []


def _is_sum(var: Variable) -> bool:
    node = var.owner
    while node is not None and isinstance(node.op, DimShuffle):
        node = node.inputs[0].owner
    return node is not None and (node.op == add or isinstance(node.op, (Sum, Dot)))


def _shifted_numerator(var: Variable, total: Shifted, factors: Sequence[Variable]) -> Variable | None:
    """An exponential divided by what was taken out of a sum, if it is among the terms of the sum; else None.

    Where the weight of the term is zero, it is no part of the sum, and may be larger: it is finite only where a factor
    beside it is zero, too.
    """
    exponent = exponent_of(var)
    if exponent is None:
        return _shifted_expm1(var, total)
    if is_stabilized(exponent):
        return None
    for term in total.terms:
        if term.exponent is exponent:
            return power(exponent, total.largest, _factors_among(term.weight, factors))
    if any(_without_order(term.exponent) is _without_order(exponent) for term in total.terms):
        return exp(sub(exponent, total.largest))
    return None


def _shifted_expm1(var: Variable, total: Shifted) -> Variable | None:
    """``exp(x) - 1`` divided by what was taken out of a sum of positive terms with ``exp(x)`` among them."""
    node = output_of(var, expm1)
    if node is None or any(term.number is None or not term.number > 0 for term in total.terms):
        return None
    (x,) = node.inputs
    if all(term.exponent is not x for term in total.terms):
        return None
    zero = constant_like(0, x)
    size = expm1(neg(at_abs(x)))
    return mul(switch(lt(zero, x), neg(size), size), exp(sub(maximum(x, zero), total.largest)))


def _factors_among(weight: Variable | None, factors: Sequence[Variable]) -> Variable | None:
    """The product of those factors of a weight that are among others; None for 1."""
    if weight is None:
        return None
    found = [v for v in local_mul_canonizer.get_near_num_denum(weight)[0] if any(v is other for other in factors)]
    return found[0] if len(found) == 1 else mul(*found) if found else None


def _shifted_average(var: Variable, denominator: Variable) -> Variable | None:
    """A sum of weighted exponentials, divided by what is taken out of the sum of them without or with other weights.

    The quotient of both is an average.
    """
    if var.owner is None or denominator.owner is None or type(var.owner.op) is not type(denominator.owner.op):
        return None
    if isinstance(var.owner.op, DimShuffle):
        if var.owner.op != denominator.owner.op:
            return None
        inner = _shifted_average(var.owner.inputs[0], denominator.owner.inputs[0])
        return None if inner is None else var.owner.op(inner)
    if var.owner.op == add:
        return _average_of_terms(var.owner, shifted(denominator))
    if not isinstance(var.owner.op, Sum):
        return None
    axes = reduced_axes(var.owner)
    (summed,) = var.owner.inputs
    if axes != reduced_axes(denominator.owner) or summed.type.dtype != var.type.dtype:
        return None
    term = term_in(summed)
    found = shifted(denominator)
    if term is None or found is None or all(other.exponent is not term.exponent for other in found.terms):
        return None
    return var.owner.op(term.shifted(with_kept_dims(summed, found.largest, axes)))


def _average_of_terms(node: Apply, total: Shifted | None) -> Variable | None:
    """A sum of terms divided by what is taken out of a sum of the same exponentials with other weights."""
    terms = None if total is None else exponential_terms(node)
    if total is None or terms is None:
        return None
    numbers = [term.number for term in (*terms, *total.terms)]
    if all(number is not None and 0 < number < np.inf for number in numbers):
        return add(*(term.shifted(total.largest) for term in terms))  # positive terms
    summed = [term.exponent for term in total.terms if not may_be_zero(term.weight)]
    if any(all(term.exponent is not exponent for exponent in summed) for term in terms):
        return None
    return add(*(term.shifted(total.largest) for term in terms))


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
            node = var.owner
            inner = node.inputs[0] if node is not None and isinstance(node.op, DimShuffle) else None
            if (
                node is None
                or inner is None
                or inner.owner is None
                or inner.owner.op not in (mul, true_divide, reciprocal)
            ):
                found[inverted].append(var)
                continue
            parts = local_mul_canonizer.get_near_num_denum(inner)
            if not any(_is_sum(part) for part in (*parts[0], *parts[1])):
                found[inverted].append(var)
                continue
            for k in (0, 1):
                found[inverted ^ k].extend(_shuffled(part, node.op, inner) for part in parts[k])
    return found


def _shuffled(part: Any, op: DimShuffle, whole: Variable) -> Variable:
    """A factor of `whole` with its dimensions moved as those of `whole`, in one step."""
    order = op.new_order
    node = part.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = tuple(node.op.new_order[i] if isinstance(i, int) else i for i in order)
        part = node.inputs[0]
        return part.dimshuffle(*order)
    return op(part) if part.type.broadcastable == whole.type.broadcastable else part.dimshuffle(*order)
