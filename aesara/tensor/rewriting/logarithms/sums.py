"""Forms of sums of exponentials: of several terms, along axes, and in products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.reductions.careduce import with_kept_dims
from aesara.tensor.reductions.logsumexp import logaddexp_
from aesara.tensor.reductions.sum_prod_max import supremum
from aesara.tensor.rewriting.algebra import combine
from aesara.tensor.rewriting.helpers import common_value, constant_like, has_value
from aesara.tensor.rewriting.logarithms.products import tail, with_constants
from aesara.tensor.rewriting.logarithms.scaled import Scaled, Search, fill_like, fits
from aesara.tensor.rewriting.logarithms.shifting import (
    MOST_TERMS,
    can_be_shifted,
    finite_or_zero,
    is_shifted,
    largest_of,
    largest_safe_exponent,
    leaves_range,
    product_as_sum,
    shifted_along_axes,
    shifted_term,
)


def one_plus_error_function(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``1 + erf(x)`` -> ``erfc(-x)``"""
    if len(node.inputs) != 2 or not any(has_value(v, 1) for v in node.inputs):
        return None
    error = next((v.owner for v in node.inputs if v.owner is not None and v.owner.op == special.erf), None)
    if error is None or error.outputs[0] in analysis.kept or not fits(error.inputs[0], node):
        return None
    return tail(analysis, ops.neg(error.inputs[0]))


def total(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    if not 2 <= len(node.inputs) <= MOST_TERMS or any(has_value(v, 0) for v in node.inputs):
        return None  # a sum with a zero, as Python's `sum` builds, is not in canonical form yet
    forms = [with_constants(analysis, v, node.outputs[0], depth) for v in node.inputs]
    terms = [form for form in forms if form is not None]
    known = (analysis.known.get(v) for v in node.inputs)
    if len(terms) < len(forms) or not any(form is not None and leaves_range(form.exponent) for form in known):
        return None
    if not all(term.in_sums for term in terms):
        return None
    if any((common_value(factor) or 0) < 0 for term in terms for factor in term.factors):
        return None  # a difference: other rules handle it
    if len(terms) == 2:
        first, second = (_with_constant_weight(term) for term in terms)
        if first is not None and second is not None:
            return Scaled(_log_of_sum(analysis.bound(first), analysis.bound(second)))
    weights = [term.mantissa(node.outputs[0].type.dtype) for term in terms]
    if all(is_shifted(term.exponent, weights != [None] * len(weights)) for term in terms):
        return None
    for term in terms:
        term.exponent = analysis.bound(term.exponent)
    exponents = [term.exponent for term in terms]
    largest = largest_of(exponents, weights, analysis.constant)
    return Scaled(largest, [ops.add(*(shifted_term(x, largest, weight) for x, weight in zip(exponents, weights)))])


def _with_constant_weight(term: Scaled) -> Variable | None:
    """Return the logarithm of a term whose mantissa is a positive constant, else None."""
    if term.is_exponential:
        return term.exponent
    value = common_value(term.factors[0]) if len(term.operands) == 2 and term.factors else None
    if value is None or not 0 < value < np.inf:
        return None
    logarithm = constant_like(np.log(np.float64(value)), term.exponent)
    return logarithm if common_value(term.exponent) == 0 else ops.add(term.exponent, logarithm)


def _log_of_sum(x: Variable, y: Variable) -> Variable:
    """Return ``log(exp(x) + exp(y))``."""
    for one, other in ((x, y), (y, x)):
        if has_value(one, 0):
            return ops.softplus(other)
    return logaddexp_(x, y)


def rearrangement(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    var, *rest = node.inputs
    inner = analysis.form_of(var, depth)
    if inner is None:
        return None

    def rearrange(operand: Variable) -> Variable:
        return node.op(fill_like(operand, var, inner.operands), *rest)

    factors, divisors = ([rearrange(v) for v in side] for side in (inner.factors, inner.divisors))
    return Scaled(rearrange(inner.exponent), factors, divisors, inner.probability, inner.in_sums)


def sum_along_axes(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    (summed,), (out,) = node.inputs, node.outputs
    term = analysis.summand(summed, out.type.dtype, depth) if can_be_shifted(node) else None
    if term is None:
        return None
    weight = term.mantissa(out.type.dtype)
    number = None if weight is None else common_value(weight)
    if number is not None and number > 0:
        weight = None
    if is_shifted(term.exponent, weight is not None):
        return None
    exponent = fill_like(analysis.bound(term.exponent), summed, term.operands)
    total, largest = shifted_along_axes(node, exponent, weight, analysis.constant)
    return Scaled(largest, [total] if number is None or weight is not None else [constant_like(number, out), total])


def matrix_product(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``dot(exp(x), y)`` -> ``exp(m) * dot(exp(x - m), y)``, with a maximum for each row or column"""
    (out,) = node.outputs
    x, y = node.inputs
    if min(x.type.ndim, y.type.ndim) == 1 and x not in analysis.kept and y not in analysis.kept:
        total = product_as_sum(node)
        if total is not None:
            return sum_along_axes(analysis, total, depth)
    shifts: list[Variable] = []
    shift: Any
    rows = _shifted_operand(analysis, x, x.type.ndim - 1, out, depth)
    if rows is not None:
        x, shift = rows
        shifts.append(shift.dimshuffle(0, "x") if out.type.ndim == 2 else shift)
    columns = _shifted_operand(analysis, y, 0, out, depth)
    if columns is not None:
        y, shift = columns
        shifts.append(shift.dimshuffle("x", 0) if out.type.ndim == 2 else shift)
    shift = combine(ops.add, shifts, out.type.dtype)
    return None if shift is None else Scaled(shift, [node.op(x, y)])


def _shifted_operand(
    analysis: Search, var: Variable, axis: int, out: Variable, depth: int
) -> tuple[Variable, Variable] | None:
    """Return an operand divided by the excess of its largest exponentials along an axis, and the excess; else None."""
    inner = analysis.summand(var, out.type.dtype, depth)
    if inner is None or 0 in var.type.shape or is_shifted(inner.exponent, weighted=True):
        return None
    exponent = fill_like(inner.exponent, var, inner.operands)
    shift = _excess(analysis.constant(supremum(exponent, axis)))
    power = ops.exp(ops.sub(exponent, with_kept_dims(var, shift, [axis])))
    mantissa = inner.mantissa(out.type.dtype)
    return power if mantissa is None else ops.mul(mantissa, power), shift


def _excess(largest: Variable) -> Variable:
    """Return the excess of an exponent over the inner third of the range, in which products stay finite."""
    limit = largest_safe_exponent(largest)
    outside = ops.sub(largest, ops.switch(ops.lt(largest, 0), ops.neg(limit), limit))
    return ops.switch(ops.le(ops.abs(largest), limit), 0, finite_or_zero(outside))


def extremum(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``max(exp(x))`` -> ``exp(max(x))``"""
    inner = analysis.summand(node.inputs[0], node.outputs[0].type.dtype, depth)
    return Scaled(node.op(inner.exponent)) if inner is not None and inner.is_exponential else None
