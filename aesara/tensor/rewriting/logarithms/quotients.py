"""Quotients of exponentials and sums of them: ``exp(x) / sum(exp(x))`` -> ``exp(x - m) / sum(exp(x - m))``.

A `ShiftedSum` is a sum of exponentials with the exponent that is factored out of it. The sums are those of several
terms and along axes, with weights, also behind rearranged dimensions and in products and quotients. A term
``weight * exp(exponent)`` is a `Product` with the weight as its factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.records import dataclass
from aesara.tensor.elementwise import ops
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.careduce import with_kept_dims
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.algebra import Product, multiple, opposite
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    constant_like,
    exponent_value,
    is_float,
    output_of,
    shaped_like_inputs,
    without_shuffles,
)
from aesara.tensor.rewriting.logarithms.scaled import fill_like
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
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.shapes.dimshuffle import DimShuffle


@dataclass
class ShiftedSum:
    """A sum of exponentials as ``total * exp(largest)``; both parts have the shape of the sum.

    `terms` are the terms of the sum, or the only operand of a sum along axes.
    """

    total: Variable
    largest: Variable
    terms: list[Product]


def weight_of(term: Product) -> Variable | None:
    """Return the weight of a term ``weight * exp(exponent)``; None for 1."""
    return term.factors[0] if term.factors else None


def number_of(term: Product) -> Any:
    """Return the weight of a term if it is a number, else None."""
    weight = weight_of(term)
    return 1 if weight is None else exponent_value(weight)


def term_in(var: Variable) -> Product | None:
    """Return a term as ``weight * exp(exponent)``; None if it has no exponential, or a shifted one."""
    x = exponent_of(var)
    weights: list[Variable] = []
    if x is None:
        node = var.owner
        if node is None or node.op not in (ops.mul, ops.true_divide, ops.neg) or not is_float(var):
            return None
        product = Product.read(var)
        above, below = ([(v, exponent_of(v)) for v in side] for side in (product.factors, product.divisors))
        exponents = [exponent for _, exponent in above if exponent is not None]
        if not exponents:
            return None
        x = exponents[0] if len(exponents) == 1 else ops.add(*exponents)
        for _, exponent in below:
            x = x if exponent is None else ops.sub(x, exponent)
        factors, divisors = ([v for v, exponent in side if exponent is None] for side in (above, below))
        rest = Product(factors, divisors)
        weights = [] if rest.is_number else [as_dtype(rest.build(var), var.type.dtype)]
    return None if is_stabilized(x) else Product(weights, exponent=x)


def factor_out_largest(var: Variable) -> ShiftedSum | None:
    """Return a sum of exponentials with the largest factored out; None for other variables."""
    node = var.owner
    if node is None:
        return None
    if isinstance(node.op, DimShuffle):
        inner = factor_out_largest(node.inputs[0])
        return None if inner is None else ShiftedSum(node.op(inner.total), node.op(inner.largest), inner.terms)
    if isinstance(node.op, Sum):
        return _shifted_reduction(node)
    if isinstance(node.op, Dot):
        total = product_as_sum(node)
        return None if total is None else _shifted_reduction(total)
    if node.op == ops.add:
        return _shifted_terms(node)
    return None


def _shifted_reduction(node: Apply) -> ShiftedSum | None:
    (summed,) = node.inputs
    term = term_in(summed) if can_be_shifted(node) else None
    if term is None or not leaves_range(term.exponent):
        return None
    exponent = fill_like(term.exponent, summed, term.factors or [summed])
    if exponent.type.broadcastable != summed.type.broadcastable:
        return None
    return ShiftedSum(*shifted_along_axes(node, exponent, weight_of(term)), [term])


def _shifted_terms(node: Apply) -> ShiftedSum | None:
    terms = exponential_terms(node)
    if terms is None or len(terms) > MOST_TERMS:
        return None
    largest = largest_of([term.exponent for term in terms], [weight_of(term) for term in terms])
    largest = shaped_like_inputs(largest, node.outputs[0], node.inputs)
    return ShiftedSum(
        ops.add(*(shifted_term(term.exponent, largest, weight_of(term)) for term in terms)), largest, terms
    )


def exponential_terms(node: Apply) -> list[Product] | None:
    """Return the terms of a sum of exponentials, some of which may be constants.

    Return None for other sums, if no term leaves the range, or if a term is zero: that sum is not in canonical form.
    """
    (var,) = node.outputs
    values = [common_value(v) for v in node.inputs]
    if any(value is not None and value == 0 for value in values):
        return None
    terms: list[Product | None] = []
    for v, value in zip(node.inputs, values):
        term = term_in(v) if value is None and v.type.dtype == var.type.dtype else None
        if term is None and value is None:
            return None
        terms.append(term)
    if not any(term is not None and leaves_range(term.exponent) for term in terms):
        return None
    zero = constant_like(0, var)
    return [
        Product([constant_like(value, var)], exponent=zero) if term is None else term
        for term, value in zip(terms, values)
    ]


def exponentials_over_their_sum(product: Product) -> Product:
    """``exp(x) / (exp(x) + exp(y))`` -> ``exp(x - m) / (exp(x - m) + exp(y - m))`` in a product, ``m = max(x, y)``."""
    if not any(is_sum(v) for v in (*product.divisors, *product.factors)) or not any(
        map(_may_be_shifted, product.factors)
    ):
        return product
    factors, divisors = _split_exponentials(product), list(product.divisors)
    _sums_times_logistic(factors, divisors)
    for k, divisor in enumerate(divisors):
        if not is_sum(divisor):
            continue
        shifted = factor_out_largest(divisor)
        if shifted is None:
            continue
        for i, var in enumerate(factors):
            if var.type.dtype != divisor.type.dtype:
                continue
            new = _shifted_numerator(var, shifted, factors)
            if new is None:
                new = _shifted_average(var, divisor)
            if new is not None:
                factors[i] = new
                divisors[k] = shifted.total
                break
    return Product(factors, divisors)


def _may_be_shifted(var: Variable) -> bool:
    """Return whether a factor is made of exponentials, at first sight."""
    node = var.owner
    return node is not None and (node.op in (ops.expm1, ops.sigmoid) or exponent_of(var) is not None or is_sum(var))


def _sums_times_logistic(factors: list[Variable], divisors: list[Variable]) -> None:
    """``sigmoid(u) * sum`` -> ``sum / (1 + exp(-u))`` for a sum of exponentials of multiples of `u`.

    The sum overflows where the logistic function underflows.
    """
    for k, var in enumerate(factors):
        logistic = output_of(var, ops.sigmoid)
        if logistic is None or logistic.inputs[0].type.dtype != var.type.dtype:
            continue
        (u,) = logistic.inputs
        number, base = multiple(u)
        for other in factors:
            for term in _terms(other):
                times, term_base = multiple(term.exponent)
                if term_base is base and times * number < 0:
                    del factors[k]
                    divisors.append(ops.add(constant_like(1, var), ops.exp(opposite(u))))
                    return


def _split_exponentials(product: Product) -> list[Variable]:
    """Return the factors, with ``exp(x + y)`` as ``exp(x) * exp(y)`` if a sum with both terms divides twice."""
    divisors = product.divisors
    sums = {v: {term.exponent for term in _terms(v)} for v in divisors if divisors.count(v) > 1}
    factors: list[Variable] = []
    for var in product.factors:
        x = exponent_of(var) if sums else None
        parts = [] if x is None else _equal_parts(x)
        divided = any(exponents.issuperset(parts) and divisors.count(v) >= len(parts) for v, exponents in sums.items())
        factors.extend(ops.exp(part) for part in parts) if parts and divided else factors.append(var)
    return factors


def _equal_parts(exponent: Variable) -> Sequence[Variable]:
    """Return the terms of an exponent, where ``2 * x`` counts as ``x + x``."""
    node = exponent.owner
    if node is not None and node.op == ops.add:
        return node.inputs
    number, x = multiple(exponent)
    return [x, x] if number == 2 and x.type == exponent.type else []


def _terms(var: Variable) -> list[Product]:
    return (exponential_terms(var.owner) if var.owner is not None and var.owner.op == ops.add else None) or []


def is_sum(var: Variable) -> bool:
    """Return whether a factor is a sum of terms, a sum along axes, or a product of matrices."""
    node = without_shuffles(var).owner
    return node is not None and (node.op == ops.add or isinstance(node.op, (Sum, Dot)))


def _shifted_numerator(var: Variable, total: ShiftedSum, factors: Sequence[Variable]) -> Variable | None:
    """``exp(x)`` -> ``exp(x - largest)`` if it is a term of the sum in the denominator, else None.

    The maximum ignores terms with weight zero, for which ``exp(x - largest)`` may overflow: it is bounded where a
    cofactor is zero.
    """
    exponent = exponent_of(var)
    if exponent is None:
        return _shifted_expm1(var, total)
    if is_stabilized(exponent):
        return None
    for term in total.terms:
        if term.exponent is exponent:
            return power(exponent, total.largest, _factors_among(weight_of(term), factors))
    if any(_without_order(term.exponent) is _without_order(exponent) for term in total.terms):
        return ops.exp(ops.sub(exponent, total.largest))
    return None


def _shifted_expm1(var: Variable, total: ShiftedSum) -> Variable | None:
    """``expm1(x)`` -> ``expm1(x) * exp(-largest)`` if ``exp(x)`` is in a sum of positive terms, else None."""
    node = output_of(var, ops.expm1)
    if node is None or any(number is None or not number > 0 for number in map(number_of, total.terms)):
        return None
    (x,) = node.inputs
    if all(term.exponent is not x for term in total.terms):
        return None
    zero = constant_like(0, x)
    size = ops.expm1(ops.neg(ops.abs(x)))
    return ops.mul(
        ops.switch(ops.lt(zero, x), ops.neg(size), size), ops.exp(ops.sub(ops.maximum(x, zero), total.largest))
    )


def _factors_among(weight: Variable | None, factors: Sequence[Variable]) -> Variable | None:
    """Return the product of those factors of a weight that are among `factors`; None for 1."""
    if weight is None:
        return None
    common = [v for v in Product.read(weight).factors if any(v is other for other in factors)]
    return common[0] if len(common) == 1 else ops.mul(*common) if common else None


def _shifted_average(var: Variable, denominator: Variable) -> Variable | None:
    """``sum(w * exp(x))`` -> ``sum(w * exp(x - largest))`` over a sum of the same exponentials, else None.

    The quotient of both is an average.
    """
    if var.owner is None or denominator.owner is None or type(var.owner.op) is not type(denominator.owner.op):
        return None
    if isinstance(var.owner.op, DimShuffle):
        if var.owner.op != denominator.owner.op:
            return None
        inner = _shifted_average(var.owner.inputs[0], denominator.owner.inputs[0])
        return None if inner is None else var.owner.op(inner)
    if var.owner.op == ops.add:
        return _average_of_terms(var.owner, factor_out_largest(denominator))
    if not isinstance(var.owner.op, Sum):
        return None
    axes = reduced_axes(var.owner)
    (summed,) = var.owner.inputs
    if axes != reduced_axes(denominator.owner) or summed.type.dtype != var.type.dtype:
        return None
    term = term_in(summed)
    shifted = factor_out_largest(denominator)
    if term is None or shifted is None or all(other.exponent is not term.exponent for other in shifted.terms):
        return None
    return var.owner.op(shifted_term(term.exponent, with_kept_dims(summed, shifted.largest, axes), weight_of(term)))


def _average_of_terms(node: Apply, total: ShiftedSum | None) -> Variable | None:
    """Return a sum of terms over ``exp(largest)`` of a sum of the same exponentials with other weights."""
    terms = None if total is None else exponential_terms(node)
    if total is None or terms is None:
        return None
    numbers = [number_of(term) for term in (*terms, *total.terms)]
    are_positive = all(number is not None and 0 < number < np.inf for number in numbers)
    summed = [term.exponent for term in total.terms if not may_be_zero(weight_of(term))]
    if not are_positive and any(all(term.exponent is not exponent for exponent in summed) for term in terms):
        return None
    return ops.add(*(shifted_term(term.exponent, total.largest, weight_of(term)) for term in terms))


def _without_order(var: Variable) -> Variable:
    node = var.owner
    return node.inputs[0] if node is not None and isinstance(node.op, DimShuffle) else var


def factors_behind_shuffles(product: Product) -> Product:
    """Return a product with products behind moved or added dimensions expanded.

    Only products that contain a sum are expanded, so that exponentials among the factors may cancel with it.
    """
    operands: tuple[list[Variable], list[Variable]] = ([], [])
    for below, side in enumerate((product.factors, product.divisors)):
        for var in side:
            shuffle = output_of(var, DimShuffle)
            inner = var if shuffle is None else shuffle.inputs[0]
            if (
                shuffle is None
                or inner.owner is None
                or inner.owner.op not in (ops.mul, ops.true_divide, ops.reciprocal)
            ):
                operands[below].append(var)
                continue
            inner_product = Product.read(inner)
            if not any(is_sum(operand) for operand in (*inner_product.factors, *inner_product.divisors)):
                operands[below].append(var)
                continue
            operands[below].extend(_rearrange(operand, shuffle.op, inner) for operand in inner_product.factors)
            operands[1 - below].extend(_rearrange(operand, shuffle.op, inner) for operand in inner_product.divisors)
    return Product(*operands)


def _rearrange(operand: Any, op: DimShuffle, whole: Variable) -> Variable:
    """Apply a dimension shuffle of `whole` to one of its operands, merged with a shuffle of that."""
    order = op.new_order
    node = operand.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = tuple(node.op.new_order[i] if isinstance(i, int) else i for i in order)
        operand = node.inputs[0]
        return operand.dimshuffle(*order)
    return op(operand) if operand.type.broadcastable == whole.type.broadcastable else operand.dimshuffle(*order)
