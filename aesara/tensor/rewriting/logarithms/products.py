"""Forms of exponentials and probabilities, and of their products, quotients, powers and choices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.algebra import opposite
from aesara.tensor.rewriting.helpers import as_dtype, common_value, constant_like, exponent_value, has_value
from aesara.tensor.rewriting.logarithms.scaled import Scaled, Search, fill_like, fits, has_one_dtype, logarithm_of_power
from aesara.tensor.rewriting.wide_products import is_wide


def tail(analysis: Search, x: Variable) -> Scaled | None:
    """Return the form of ``erfc(x)``; None for values in narrower floats, in which its argument loses digits."""
    if not analysis.differentiated and x.type.dtype != "float64":
        return None
    exponent = special.log_ndtr(ops.mul(constant_like(-np.sqrt(2), x), x))
    return Scaled(exponent, [constant_like(2, x)], in_sums=analysis.differentiated)


def exponential(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return Scaled(node.inputs[0]) if has_one_dtype(node) else None


def logistic(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    if not has_one_dtype(node):
        return None
    return Scaled(ops.neg(ops.softplus(opposite(node.inputs[0]))), probability=True)


def normal(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return Scaled(special.log_ndtr(node.inputs[0]), probability=True) if has_one_dtype(node) else None


def complementary_error(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return tail(analysis, node.inputs[0]) if has_one_dtype(node) else None


def product(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return product_over(analysis, node, node.inputs, (), depth)


def quotient(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return product_over(analysis, node, node.inputs[:1], node.inputs[1:], depth)


def inverse(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return product_over(analysis, node, (), node.inputs, depth)


def product_over(
    analysis: Search, node: Apply, factors: Sequence[Variable], divisors: Sequence[Variable], depth: int
) -> Scaled | None:
    """Return the form of a product of factors over divisors."""
    dtype = node.outputs[0].type.dtype
    exponent, probability, in_sums = None, not divisors, True
    operands: tuple[list[Variable], list[Variable]] = ([], [])
    wide: list[Variable] = []
    for k, side in enumerate((factors, divisors)):
        for var in side:
            form = analysis.scaled_in(var, dtype, depth)
            probability = probability and form is not None and form.probability
            if form is None:
                value = common_value(var)
                if value == 1:
                    continue
                as_is = value is None or var.type.dtype == dtype
                operands[k].append(as_dtype(var, dtype) if as_is else constant_like(value, node.outputs[0]))
                wide.extend(operands[k][-1:] if is_wide(var) else ())
                continue
            in_sums = in_sums and form.in_sums
            operands[k].extend(form.factors)
            operands[1 - k].extend(form.divisors)
            wide.extend(form.wide)
            if exponent is None:
                exponent = ops.neg(form.exponent) if k else form.exponent
            else:
                exponent = (ops.sub if k else ops.add)(exponent, form.exponent)
    return None if exponent is None else Scaled(exponent, *operands, probability, in_sums, wide)


def negation(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    inner = analysis.form_of(node.inputs[0], depth)
    if inner is None:
        return None
    minus = ops.neg(inner.factors[0]) if inner.factors else constant_like(-1, node.outputs[0])
    return Scaled(inner.exponent, [minus, *inner.factors[1:]], inner.divisors, in_sums=inner.in_sums)


def power(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    base, dtype = node.inputs[0], node.outputs[0].type.dtype
    inner = analysis.scaled_in(base, dtype, depth)
    if inner is None:
        return None
    number: float | None = {ops.sqrt: 0.5, ops.square: 2.0}.get(node.op)
    value = exponent_value(node.inputs[1]) if number is None else number
    if value is None:
        if not inner.is_exponential:
            return None
        exponent = logarithm_of_power(as_dtype(node.inputs[1], dtype), inner.exponent, analysis)
        return Scaled(exponent, in_sums=inner.in_sums)
    if not np.isfinite(value):
        return None
    mantissa = inner.mantissa(dtype)
    exponent = ops.mul(constant_like(value, inner.exponent), inner.exponent)
    if value == -1 and mantissa is not None:
        return Scaled(exponent, inner.divisors, inner.factors, in_sums=inner.in_sums)
    factors = [] if mantissa is None else [node.op(mantissa, *node.inputs[1:])]
    return Scaled(exponent, factors, in_sums=inner.in_sums)


def complement_of_probability(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``1 - p`` -> ``exp(log1mexp(log(p)))``, and by `log_ndtr` or `softplus` for erf and sigmoid."""
    one, var = node.inputs
    if var.owner is not None and var.owner.op == special.erf and var not in analysis.kept and has_value(one, 1):
        return tail(analysis, var.owner.inputs[0]) if fits(var.owner.inputs[0], node) else None
    inner = analysis.scaled_in(var, node.outputs[0].type.dtype, depth) if has_value(one, 1) else None
    if inner is None or not inner.probability or not inner.is_exponential:
        return None
    if var.owner is not None and var.owner.op == ops.sigmoid:
        return Scaled(ops.neg(ops.softplus(var.owner.inputs[0])), probability=True)
    return Scaled(ops.log1mexp(inner.exponent), probability=True)


def choice(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    condition, *sides = node.inputs
    found_forms = [with_constants(analysis, v, node.outputs[0], depth) for v in sides]
    if all(analysis.known.get(v) is None for v in sides):
        return None
    zero = constant_like(0, node.outputs[0])
    defaults = [Scaled(zero, [as_dtype(v, node.outputs[0].type.dtype)], in_sums=False) for v in sides]
    forms = [default if form is None else form for form, default in zip(found_forms, defaults)]
    dtype = node.outputs[0].type.dtype
    exponents = [form.exponent for form in forms]
    mantissas = [form.mantissa(dtype) for form in forms]
    for k in (0, 1):
        if mantissas[k] is not None and mantissas[1 - k] is None and common_value(sides[k]) == 0:
            exponents[k], mantissas[k] = constant_like(-np.inf, node.outputs[0]), None
    exponent = ops.switch(condition, *exponents)
    factors = []
    if mantissas != [None, None]:
        factors = [ops.switch(condition, *(np.ones((), dtype) if m is None else m for m in mantissas))]
    return Scaled(exponent, factors, in_sums=all(form.in_sums for form in forms))


def with_constants(analysis: Search, var: Variable, out: Variable, depth: int) -> Scaled | None:
    """Return the form of a term or branch of `out`, also of a nonnegative number."""
    value = common_value(var)
    if value is not None:
        return Scaled(constant_like(0, out), [constant_like(value, out)]) if value >= 0 else None
    return analysis.scaled_in(var, out.type.dtype, depth)


def product_along_axes(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    (x,), (out,) = node.inputs, node.outputs
    inner = analysis.scaled_in(x, out.type.dtype, depth)
    if inner is None:
        return None
    op, (exponent, *_) = node.op, (fill_like(v, x, inner.operands) for v in inner.operands)
    along = Sum(op.axis, dtype=op.dtype, acc_dtype=op.acc_dtype)
    mantissa = inner.mantissa(out.type.dtype)
    factors = [] if mantissa is None else [op(fill_like(mantissa, x, inner.operands))]
    return Scaled(along(exponent), factors, in_sums=inner.in_sums)
