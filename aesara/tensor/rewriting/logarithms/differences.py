"""Forms of ``1 - p``, ``exp(x) - 1`` and differences of two probabilities or exponentials."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Literal

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.rewriting.algebra import multiple, opposite
from aesara.tensor.rewriting.erf_tails import scale as scaled_argument
from aesara.tensor.rewriting.helpers import common_value, constant_like, has_value, output_of
from aesara.tensor.rewriting.logarithms.functions import (
    complement_of_exponential,
    complement_of_logistic,
    hyperbolic_cosine,
    is_positive,
    minus_one,
)
from aesara.tensor.rewriting.logarithms.scaled import Scaled, Search, fits
from aesara.tensor.rewriting.logarithms.shifting import MOST_TERMS
from aesara.tensor.rewriting.logistic import argument_of_one_plus_exp


def no_form_near_kept(analysis: Search, node: Apply, depth: int) -> Literal[False] | None:
    """Return False, so that there is no form, if an operand is computed from one of `kept` by a few operations."""
    return False if any(is_near_kept(v, analysis.kept) for v in node.inputs) else None


def one_minus_square_or_normal(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``1 - tanh(x)**2`` -> ``exp(-2 * log(cosh(x)))``; ``1 - ndtr(x)`` -> ``exp(log_ndtr(-x))``."""
    one, var = node.inputs
    if not has_value(one, 1):
        return None
    base = base_of_square(var)
    inner = None if base is None or base in analysis.kept else output_of(base, ops.tanh)
    if inner is not None and fits(inner.inputs[0], node):
        size = hyperbolic_cosine(analysis, inner, 0).exponent
        return Scaled(ops.mul(constant_like(-2, size), size), probability=True, in_sums=False)
    scale, x = _normal(var) or (None, var)
    return Scaled(special.log_ndtr(opposite(x)), probability=True) if scale == 1 and fits(x, node) else None


def rest_of_share(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``1 - a / (a + b)`` -> ``sigmoid(log(b) - log(a))``, where `a` and `b` may be sums."""
    (one, var), (out,) = node.inputs, node.outputs
    quotient = output_of(var, ops.true_divide) if has_value(one, 1) else None
    total = None if quotient is None else output_of(quotient.inputs[1], ops.add)
    if quotient is None or total is None or {total.outputs[0].type.dtype, var.type.dtype} != {out.type.dtype}:
        return None
    top = quotient.inputs[0]
    others = _terms(total.outputs[0])
    for term in _terms(top):
        position = next((position for position, other in enumerate(others) if _is_same(term, other)), None)
        if position is None:
            return None
        del others[position]
    if not others or total.outputs[0].type.broadcastable != var.type.broadcastable:
        return None
    logarithms = [
        _logarithm_of_positive(v, out, analysis, depth)
        for v in (top, others[0] if len(others) == 1 else ops.add(*others))
    ]
    return None if None in logarithms else Scaled(ops.neg(ops.softplus(ops.sub(*logarithms))), probability=True)


def difference_of_logistics(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    x, y = (_argument_of_logistic(v) for v in node.inputs)
    if x is None or y is None or not (fits(x, node) and fits(y, node)):
        return None
    lower, upper = ops.minimum(x, y), ops.maximum(x, y)
    exponent = ops.sub(ops.log1mexp(_distance(x, y)), ops.add(ops.softplus(ops.neg(upper)), ops.softplus(lower)))
    return Scaled(exponent, [ops.sgn(ops.sub(x, y))], in_sums=False)


def difference_of_normals(analysis: Search, node: Apply, depth: int) -> Scaled | Literal[False] | None:
    """``ndtr(x) - ndtr(y)`` -> lower tails, which are accurate, or logarithms where they underflow."""
    first_normal, second_normal = (_error_function(v) for v in node.inputs)
    if first_normal is None or second_normal is None:
        first_normal, second_normal = (_normal(v) for v in node.inputs)
    if first_normal is None or second_normal is None or first_normal[0] != second_normal[0]:
        return None
    (scale, x), (_, y) = first_normal, second_normal
    if not (fits(x, node) and fits(y, node)):
        return None
    if _are_from_lower_tail(x, y):
        return False
    above = ops.gt(ops.add(x, y), constant_like(0, x))
    first, second = ops.switch(above, ops.neg(y), x), ops.switch(above, ops.neg(x), y)
    facts = np.finfo(x.type.dtype)
    # Second derivatives divide by squares.
    usable = ops.le(
        constant_like(np.sqrt(facts.tiny) / facts.eps, x), ops.maximum(special.ndtr(first), special.ndtr(second))
    )
    logarithms = special.log_ndtr(first), special.log_ndtr(second)
    far = ops.add(ops.maximum(*logarithms), ops.log1mexp(_distance(*logarithms)))
    mantissa = ops.switch(usable, ops.sub(special.ndtr(first), special.ndtr(second)), ops.sgn(ops.sub(x, y)))
    factors = [mantissa] if scale == 1 else [constant_like(scale, x), mantissa]
    return Scaled(ops.switch(usable, constant_like(0, x), far), factors, in_sums=False)


def _are_from_lower_tail(x: Variable, y: Variable) -> bool:
    """Return whether two arguments come from `difference_of_normals`, which makes their difference accurate."""
    first, second = output_of(x, ops.switch), output_of(y, ops.switch)
    return (
        first is not None
        and second is not None
        and first.inputs[0] is second.inputs[0]
        and output_of(first.inputs[0], ops.gt) is not None
    )


def difference_of_exponentials(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``exp(x) - exp(y)`` -> ``sgn(x - y) * exp(max(x, y) + log1mexp(-abs(x - y)))``; one of both may be 1."""
    dtype = node.outputs[0].type.dtype
    ones = [has_value(v, 1) for v in node.inputs]
    forms = [analysis.scaled_in(v, dtype, depth) for is_one, v in zip(ones, node.inputs) if not is_one]
    exponents = [form.exponent for form in forms if form is not None and form.is_exponential]
    if len(exponents) < len(forms) or not forms:
        return None
    if ones == [False, True]:
        return minus_one(exponents[0])
    if ones == [True, False]:
        exponent = exponents[0]
        complement = complement_of_logistic(exponent) or complement_of_exponential(exponent)
        if complement is not None:
            return complement
        negative = minus_one(exponent)
        return Scaled(negative.exponent, [ops.neg(negative.factors[0])], in_sums=False)
    x, y = exponents
    return Scaled(ops.add(ops.maximum(x, y), ops.log1mexp(_distance(x, y))), [ops.sgn(ops.sub(x, y))], in_sums=False)


def _logarithm_of_positive(var: Variable, out: Variable, analysis: Search, depth: int) -> Variable | None:
    """Return the logarithm of a form or number that is known to be positive, else None."""
    value = common_value(var)
    if value is not None:
        return constant_like(np.log(np.float64(value)), out) if 0 < value < np.inf else None
    form = analysis.scaled_in(var, out.type.dtype, depth) if is_positive(var) else None
    return None if form is None else form.logarithm(out.type.dtype)


def _terms(var: Variable) -> list[Variable]:
    """Return the terms of a sum and of the sums among them, in any order; other variables are one term."""
    terms, stack = [], [var]
    while stack:
        term = stack.pop()
        inner = output_of(term, ops.add)
        if inner is None or term.type != var.type or len(stack) > MOST_TERMS:
            terms.append(term)
        else:
            stack.extend(inner.inputs)
    return terms


def _is_same(x: Variable, y: Variable, depth: int = 3) -> bool:
    """Return whether two variables are identical, or computed by the same few operations."""
    if x is y:
        return True
    first, second = x.owner, y.owner
    if first is None and second is None:
        value = common_value(x)
        return value is not None and value == common_value(y) and x.type == y.type
    if first is None or second is None or depth == 0 or first.op != second.op:
        return False
    return all(_is_same(a, b, depth - 1) for a, b in zip(first.inputs, second.inputs, strict=True))


def base_of_square(var: Variable) -> Variable | None:
    node = var.owner
    if node is None:
        return None
    if node.op == ops.mul and len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]:
        return node.inputs[0]
    is_square = node.op == ops.square or (node.op == ops.pow and has_value(node.inputs[1], 2))
    return node.inputs[0] if is_square else None


def _argument_of_logistic(var: Variable) -> Variable | None:
    """Return ``x`` for ``sigmoid(x)`` or ``1 / (1 + exp(-x))``, else None."""
    node = var.owner
    if node is None:
        return None
    if node.op == ops.sigmoid:
        return node.inputs[0]
    below = node.op == ops.reciprocal or (node.op == ops.true_divide and has_value(node.inputs[0], 1))
    x = argument_of_one_plus_exp(node.inputs[-1]) if below else None
    return None if x is None else opposite(x)


def _normal(var: Variable) -> tuple[float, Variable] | None:
    """Return a number and ``x`` for a multiple of ``ndtr(x)``, also if written with error functions, else None."""
    number, var = multiple(var)
    node = var.owner
    if node is None:
        return None
    if node.op == special.ndtr:
        return number, node.inputs[0]
    sign = 1
    if node.op == special.erfc:
        (x,), sign = node.inputs, -1
    elif node.op in (ops.add, ops.sub) and len(node.inputs) == 2 and any(has_value(v, 1) for v in node.inputs):
        inner = output_of(node.inputs[has_value(node.inputs[0], 1)], special.erf)
        if inner is None or (node.op == ops.sub and not has_value(node.inputs[0], 1)):
            return None
        (x,), sign = inner.inputs, (1 if node.op == ops.add else -1)
    else:
        return None
    return (2 * number, scaled_argument(x, sign * math.sqrt(2))) if x.type.dtype == "float64" else None


def _error_function(var: Variable) -> tuple[float, Variable] | None:
    """Return ``(2 * c, x)`` for ``c * erf(z)``, which is ``2 * c * ndtr(x)`` minus a constant, else None."""
    number, var = multiple(var)
    inner = output_of(var, special.erf)
    if inner is None or var.type.dtype != "float64" or inner.inputs[0].type.dtype != "float64":
        return None
    return 2 * number, scaled_argument(inner.inputs[0], math.sqrt(2))


def is_near_kept(var: Variable, kept: Collection[Variable], depth: int = 6) -> bool:
    """Return whether a variable is one of `kept`, or computed from one by a few operations."""
    if var.owner is None or not kept:
        return False
    return var in kept or (depth > 0 and any(is_near_kept(v, kept, depth - 1) for v in var.owner.inputs))


def _distance(x: Variable, y: Variable) -> Variable:
    """Return ``-abs(x - y)``, and zero for equal infinities."""
    return ops.neg(ops.switch(ops.eq(x, y), constant_like(0, x), ops.abs(ops.sub(x, y))))
