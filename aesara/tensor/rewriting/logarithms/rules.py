"""Rules about logarithms of exponentials, and of sums, products and quotients of them."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.scalar.exponential import Log, Log2, Log10
from aesara.tensor.elementwise import ops, special
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.softmax import Softmax
from aesara.tensor.reductions.sum_prod_max import Prod, Sum
from aesara.tensor.rewriting.algebra import Product
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
    without_shuffles,
)
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.powers import without_powers
from aesara.tensor.rewriting.logarithms.quotients import exponential_terms, number_of
from aesara.tensor.rewriting.logarithms.scaled import DEEPEST, Scaled, Search
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.rewriting.wide_products import is_wide
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: Classes of logarithms, and their bases.
BASES: dict[type, float | None] = {Log: None, Log2: 2.0, Log10: 10.0}


def logarithm(node: Apply, analysis: Search) -> Variable | None:
    """Return the logarithm, to the base of a node, of the form of its argument; None if that has no form."""
    (x,), (out,) = node.inputs, node.outputs
    natural = _natural_logarithm(x, out.type.dtype, analysis)
    if natural is None:
        return None
    number = BASES[type(node.op.scalar_op)]
    return natural if number is None else ops.mul(constant_like(1 / np.log(number), natural), natural)


def _natural_logarithm(x: Variable, dtype: str, analysis: Search) -> Variable | None:
    form = analysis.scaled_in(x, dtype)
    if form is None:
        if x.type.dtype != dtype or x in analysis.kept:
            return None
        powers = without_powers(Product([x]), analysis.kept, all_of_them=analysis.differentiated)
        return None if powers is None else powers.logarithm(dtype)
    powers = without_powers(form, analysis.kept, all_of_them=True)
    if powers is None:
        return form.logarithm(dtype)
    wide = [v for v in (*powers.factors, *powers.divisors) if is_wide(v)]
    exponent = ops.add(powers.exponent, form.exponent)
    return Scaled(exponent, powers.factors, powers.divisors, wide=wide).logarithm(dtype)


def log_of_complement(var: Variable, analysis: Search) -> Variable | None:
    """Return ``log1p(var)`` for the opposite of a probability or of an exponential, else None."""
    node = var.owner
    if node is not None and node.op == ops.neg and var not in analysis.kept:
        (p,) = node.inputs
        if not analysis.differentiated and (p.owner is None or p.owner.op in (ops.exp, ops.sigmoid, special.erf)):
            return None  # other rules handle these
        form = analysis.form_of_node(ops.sub(constant_like(1, p), p).owner, DEEPEST + 1)
        if form is not None and form.is_exponential:
            return form.exponent
    form = analysis.form_of(var)
    if form is None or form.divisors or len(form.factors) != 1 or common_value(form.factors[0]) != -1:
        return None
    return ops.log1mexp(form.exponent)


def log1mexp_of_exponential(x: Variable) -> Variable:
    """``log(1 - exp(-exp(x)))`` -> ``x - exp(x) / 2`` where ``exp(x)`` is small"""
    limit = constant_like(np.log(np.finfo(x.type.dtype).eps), x)
    return _log1mexp_of_exponential(x, ops.maximum(x, limit), limit)


def smooth_log1mexp_of_exponential(x: Variable) -> Variable:
    """Return `log1mexp_of_exponential` for differentiation, with bounded exponentials where the result is zero."""
    facts = np.finfo(x.type.dtype)
    limit = constant_like(np.log(facts.eps), x)
    largest = constant_like(np.log(-2 * np.log(facts.tiny)), x)
    return _log1mexp_of_exponential(ops.minimum(x, largest), ops.minimum(ops.maximum(x, limit), largest), limit)


def _log1mexp_of_exponential(x: Variable, inside: Variable, limit: Variable) -> Variable:
    far = ops.sub(x, ops.mul(constant_like(0.5, x), ops.exp(x)))
    return ops.switch(ops.lt(x, limit), far, ops.log1mexp(ops.neg(ops.exp(inside))))


rules = Rules()


#: Functions with rules of their own for their logarithms and for those of their complements to 1.
WITH_RULES = (ops.exp, ops.sigmoid, special.ndtr, ops.cosh, ops.sinh, ops.expm1, special.erfc)


def _is_simple_difference(node: Apply) -> bool:
    """Return whether other rules apply to the logarithm of a difference."""
    if node.op != ops.sub:
        return False
    rest = [v.owner for v in node.inputs if not has_value(v, 1)]
    if len(rest) < 2:
        return any(inner is None or inner.op in (*WITH_RULES, special.erf) for inner in rest)
    return all(inner is not None and inner.op == ops.exp for inner in rest)


def _of_scaled(node: Apply) -> list[Variable] | Literal[False] | None:
    """Return the result of a rule that replaces a logarithm by that of the form of its argument."""
    (x,), (out,) = node.inputs, node.outputs
    inner = x.owner
    if inner is None or not is_float(x) or (inner.op == ops.add and any(has_value(v, 1) for v in inner.inputs)):
        return False  # `log1p` is more accurate
    new = logarithm(node, Analysis())
    return False if new is None else in_place_of(out, new, [x])


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log])
def local_log_sum_exp(fgraph, node):
    """``log(sum(exp(x)))`` -> ``m + log(sum(exp(x - m)))``, also of weighted sums and products with vectors"""
    inner = without_shuffles(node.inputs[0]).owner
    return _of_scaled(node) if inner is not None and isinstance(inner.op, (Sum, Dot)) else False


def _of_mixture(total: Apply, logarithm: Variable) -> Variable:
    """``log(p + (1 - p) * exp(x))`` -> ``log1p((1 - p) * expm1(x))`` for small `x`, else `logarithm`"""
    terms = exponential_terms(total) if len(total.inputs) == 2 else None
    if terms is None:
        return logarithm
    for constant_term, exponential_term in (terms, terms[::-1]):
        p, q, x = number_of(constant_term), number_of(exponential_term), exponential_term.exponent
        if common_value(constant_term.exponent) != 0 or p is None or q is None or not (0 < p < 1 and 0 < q < 1):
            continue
        rest = math.fsum((float(p), float(q), -1.0))  # rounded numbers do not add up to exactly 1
        if abs(rest) > 2 * np.finfo(x.type.dtype).eps or x.type.dtype != logarithm.type.dtype:
            continue
        limit = constant_like(0.5, x)
        is_near = ops.lt(ops.abs(x), limit)
        difference = ops.mul(constant_like(q, x), ops.expm1(ops.switch(is_near, x, limit)))
        near = ops.log1p(difference if rest == 0 else ops.add(constant_like(rest, x), difference))
        return ops.switch(is_near, near, logarithm)
    return logarithm


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log], operands=[ops.add])
def local_log_add_exp(fgraph, node):
    """``log(exp(x) + exp(y) + ...)`` -> ``m + log(exp(x - m) + exp(y - m) + ...)``, also with constants and factors"""
    inner = output_of(node.inputs[0], ops.add)
    if inner is None:
        return False
    new = _of_scaled(node)
    return new if not new else in_place_of(node.outputs[0], _of_mixture(inner, new[0]), node.inputs)


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log], operands=[ops.mul, ops.true_divide, ops.reciprocal])
def local_log_mul_exp(fgraph, node):
    """``log(a * exp(x) / b)`` -> ``x + log(a / b)``, also for sums of exponentials among the factors

    ``log(mean(exp(x)))`` is ``m + log(mean(exp(x - m)))``.
    """
    return _of_scaled(node)


def log1p_of_multiple_of_exp(c: Variable, x: Variable) -> Variable | None:
    """``log1p(c * exp(x))`` -> ``x + log(c)`` where the exponential is large, for a positive constant c"""
    value = common_value(c)
    facts = np.finfo(x.type.dtype)
    if value is None or not facts.tiny / facts.eps < 1 / value < facts.max * facts.eps**2:
        return None
    logarithm = np.log(np.float64(value))
    limit = np.asarray(np.log(np.float64(facts.max)) - max(logarithm, 0) - 1, dtype=x.type.dtype)
    near = ops.log1p(ops.mul(c, ops.exp(ops.minimum(x, limit))))
    return ops.switch(ops.le(x, limit), near, ops.add(x, np.asarray(logarithm, dtype=x.type.dtype)))


rules.add(
    rule(
        "log1p_of_multiple_of_exp",
        (ops.log1p, (ops.mul, "c", (ops.exp, "x"))),
        log1p_of_multiple_of_exp,
        lambda c, x, out: (
            real_of_same_dtype(x, out) and c.type.dtype == x.type.dtype and output_of(x, ops.minimum) is None
        ),
    ),
    rule(
        "log_diff_exp",
        (ops.log, (ops.sub, (ops.exp, "x"), (ops.exp, "y"))),
        lambda x, y: ops.add(x, ops.log1mexp(ops.sub(y, x))),
        real_of_same_dtype,
    ),
    to=(rules.stabilize, rules.specialize),
)


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log, ops.log2, ops.log10])
def local_log_of_scaled(fgraph, node):
    """``log(f(exp(x)))`` -> its exponent plus ``log(mantissa)``, without exponentials or softmaxes; see `Scaled`."""
    inner = node.inputs[0].owner
    if node.op == ops.log and inner is not None:
        if inner.op in WITH_RULES or isinstance(inner.op, Softmax) or _is_simple_difference(inner):
            return False
    return _of_scaled(node)


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log1p])
def local_log1p_of_scaled(fgraph, node):
    """``log1p(-p)`` -> ``log1mexp(log(p))`` of a probability, a product of some, or `ndtr`"""
    (x,), (out,) = node.inputs, node.outputs
    if x.owner is None or x.owner.op not in (ops.neg, ops.mul) or x.type.dtype != out.type.dtype:
        return False
    new = log_of_complement(x, Analysis())
    return False if new is None else in_place_of(out, new, [x])


rules.add(
    rule(
        "local_log1mexp_of_exponential",
        (ops.log1mexp, (ops.neg, (ops.exp, "x"))),
        log1mexp_of_exponential,
        lambda x, out: real_of_same_dtype(x, out) and output_of(x, ops.maximum) is None,
    ),
    row("local_sqrt_of_exp", (ops.sqrt, (ops.exp, "x")), lambda x: ops.exp(ops.mul(constant_like(0.5, x), x))),
    to=(rules.stabilize, rules.specialize),
)


#: Functions with values from 0 to 1, the logarithms of which are all of one sign.
PROBABILITIES = (ops.sigmoid, special.ndtr)


@rules.stabilize("local_log_prod_sqr")
@rules.specialize("local_log_prod_sqr")
@node_rewriter([ops.log])
def local_log_prod(fgraph, node):
    """``log(prod(x))`` -> ``sum(log(x))`` where the product is out of range, or of exponentials or probabilities

    The terms of the sum may cancel, so a product in the range keeps its logarithm.
    """
    out = node.outputs[0]
    (product,) = node.inputs
    shuffle = None
    if product.owner is not None and isinstance(product.owner.op, DimShuffle):
        shuffle = product.owner.op
        (product,) = product.owner.inputs
    inner = product.owner
    if inner is None or not isinstance(inner.op, Prod) or not is_float(out):
        return False
    (x,) = inner.inputs
    dtype = out.type.dtype
    if product.type.dtype != dtype or x.type.dtype != dtype or len(fgraph.clients[product]) != 1:
        return False
    if x.owner is not None and x.owner.op == ops.exp and x.owner.inputs[0].type.dtype == dtype:
        result = _sum_along(inner.op, x.owner.inputs[0])
    elif x.owner is not None and (x.owner.op in PROBABILITIES or isinstance(x.owner.op, Softmax)):
        result = _sum_along(inner.op, ops.log(x))
    else:
        result = _log_of_product(inner.op, x, product)
    return in_place_of(out, result if shuffle is None else shuffle(result))


def _sum_along(product: Prod, x: Variable) -> Variable:
    """Return a sum along the axes of a product, with its dtypes."""
    return Sum(product.axis, dtype=product.dtype, acc_dtype=product.acc_dtype)(x)


def _log_of_product(op: Prod, x: Variable, product: Variable) -> Variable:
    """Return the logarithm of a product in the range of normal numbers, else the sum of logarithms."""
    facts = np.finfo(x.type.dtype)
    size = ops.abs(product)
    usable = ops.and_(ops.le(np.asarray(facts.tiny, dtype=x.type.dtype), size), ops.lt(size, np.inf))
    logarithm = ops.log(ops.switch(usable, product, constant_like(1, product)))
    # The product of signs is zero where a factor is.
    negative = ops.lt(op(ops.sgn(x)), 0)
    total = _sum_along(op, ops.log(ops.abs(x)))
    return ops.switch(usable, logarithm, ops.switch(negative, constant_like(np.nan, product), total))
