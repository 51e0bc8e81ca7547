"""Rules about logarithms of exponentials, and of what is made of them."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cosh,
    erf,
    erfc,
    exp,
    expm1,
    le,
    log,
    log1mexp,
    log1p,
    log2,
    log10,
    lt,
    maximum,
    minimum,
    mul,
    ndtr,
    neg,
    reciprocal,
    sigmoid,
    sinh,
    sqrt,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.softmax import Softmax
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.logarithm import log1mexp_of_exponential, log_of_complement, logarithm
from aesara.tensor.rewriting.logarithms.quotients import exponential_terms, number_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()


#: Functions whose logarithms have rules of their own, as those of 1 minus them.
WITH_RULES = (exp, sigmoid, ndtr, cosh, sinh, expm1, erfc)


def _is_simple_difference(node: Apply) -> bool:
    """Whether there are other rules for the logarithm of a difference."""
    if node.op != sub:
        return False
    rest = [v.owner for v in node.inputs if not has_value(v, 1)]
    if len(rest) < 2:
        return any(inner is None or inner.op in (*WITH_RULES, erf) for inner in rest)
    return all(inner is not None and inner.op == exp for inner in rest)


def _of_scaled(node: Apply) -> list[Variable] | Literal[False] | None:
    """The logarithm that a node is, of the form of its argument."""
    (x,), (out,) = node.inputs, node.outputs
    inner = x.owner
    if inner is None or not is_float(x) or (inner.op == add and any(has_value(v, 1) for v in inner.inputs)):
        return False  # the function log1p does better
    new = logarithm(node, Analysis())
    return False if new is None else in_place_of(out, new, [x])


@rules.stabilize
@rules.specialize
@node_rewriter([log])
def local_log_sum_exp(fgraph, node):
    """``log(sum(exp(x)))`` without overflow, also of weighted sums, and of products with vectors of weights."""
    inner = node.inputs[0].owner
    while inner is not None and isinstance(inner.op, DimShuffle):
        inner = inner.inputs[0].owner
    return _of_scaled(node) if inner is not None and isinstance(inner.op, (Sum, Dot)) else False


def _of_mixture(total: Apply, logarithm: Variable) -> Variable:
    """``log(p + (1 - p) * exp(x))``, by the difference from 1 where `x` is small, and by `logarithm` elsewhere."""
    terms = exponential_terms(total) if len(total.inputs) == 2 else None
    if terms is None:
        return logarithm
    for one, other in (terms, terms[::-1]):
        p, q, x = number_of(one), number_of(other), other.exponent
        if common_value(one.exponent) != 0 or p is None or q is None or not (0 < p < 1 and 0 < q < 1):
            continue
        rest = math.fsum((float(p), float(q), -1.0))  # numbers that are rounded are not quite 1 together
        if abs(rest) > 2 * np.finfo(x.type.dtype).eps or x.type.dtype != logarithm.type.dtype:
            continue
        limit = constant_like(0.5, x)
        is_near = lt(at_abs(x), limit)
        difference = mul(constant_like(q, x), expm1(switch(is_near, x, limit)))
        near = log1p(difference if rest == 0 else add(constant_like(rest, x), difference))
        return switch(is_near, near, logarithm)
    return logarithm


@rules.stabilize
@rules.specialize
@node_rewriter([log], operands=[add])
def local_log_add_exp(fgraph, node):
    """``log(exp(x) + exp(y) + ...)`` without overflow; constants and factors may be among the terms."""
    inner = output_of(node.inputs[0], add)
    if inner is None:
        return False
    new = _of_scaled(node)
    return new if not new else in_place_of(node.outputs[0], _of_mixture(inner, new[0]), node.inputs)


@rules.stabilize
@rules.specialize
@node_rewriter([log], operands=[mul, true_divide, reciprocal])
def local_log_mul_exp(fgraph, node):
    """Exponentials, and sums of them, are taken out of the logarithm of a product or quotient.

    ``log(a * exp(x) / b)`` is ``x + log(a / b)`` and ``log(mean(exp(x)))`` is that of ``exp(x - m)``, and `m`.
    """
    return _of_scaled(node)


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


@rules.stabilize
@rules.specialize
@node_rewriter([log, log2, log10])
def local_log_of_scaled(fgraph, node):
    """The logarithm of what is made of exponentials or softmaxes, without computing them; see `Scaled`."""
    inner = node.inputs[0].owner
    if node.op == log and inner is not None:
        if inner.op in WITH_RULES or isinstance(inner.op, Softmax) or _is_simple_difference(inner):
            return False
    return _of_scaled(node)


@rules.stabilize
@rules.specialize
@node_rewriter([log1p])
def local_log1p_of_scaled(fgraph, node):
    """``log(1 - p)`` from the logarithm of a probability, a product of some, or the normal distribution function."""
    (x,), (out,) = node.inputs, node.outputs
    if x.owner is None or x.owner.op not in (neg, mul) or x.type.dtype != out.type.dtype:
        return False
    new = log_of_complement(x, Analysis())
    return False if new is None else in_place_of(out, new, [x])


rules.add(
    rule(
        "local_log1mexp_of_exponential",
        (log1mexp, (neg, (exp, "x"))),
        log1mexp_of_exponential,
        lambda x, out: real_of_same_dtype(x, out) and output_of(x, maximum) is None,
    ),
    row("local_sqrt_of_exp", (sqrt, (exp, "x")), lambda x: exp(mul(constant_like(0.5, x), x))),
    to=(rules.stabilize, rules.specialize),
)
