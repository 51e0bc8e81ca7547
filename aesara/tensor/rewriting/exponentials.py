"""Rules about exponentials, logarithms and what is made of them, one row each."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.careduce import with_kept_dims
from aesara.tensor.elementwise_ops import abs as at_abs
from aesara.tensor.elementwise_ops import (
    add,
    conj_,
    cos,
    cosh,
    erf,
    erfc,
    erfcx,
    exp,
    expm1,
    ge,
    isinf_,
    log,
    log1mexp,
    log1p,
    lt,
    maximum,
    minimum,
    mul,
    neg,
    softplus,
    sqrt,
    square,
    sub,
    switch,
)
from aesara.tensor.reduction import Sum
from aesara.tensor.reduction import max as at_max
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    in_place_of,
    is_float,
    is_real,
    is_unsigned,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.registration import (
    register_canonicalize,
    register_rules,
    register_specialize,
    register_stabilize,
)
from aesara.tensor.statistics import logaddexp_


def as_float(x: Variable, out: Variable) -> Variable:
    """`x` in the dtype of the result."""
    return as_dtype(x, out.type.dtype)


def has_opposite(x: Variable) -> bool:
    """Whether ``neg(x)`` is the opposite of `x` as a real number, which it is not for unsigned integers."""
    return is_real(x) and not is_unsigned(x)


def where(condition: Variable, x: Variable, out: Variable) -> Variable:
    """`x` where the condition holds and NaN elsewhere, in the dtype of `out`."""
    return switch(condition, as_float(x, out), np.asarray(np.nan, dtype=out.type.dtype))


# One-argument functions: even functions, inverses.

register_rules(
    rule("local_abs_abs", (at_abs, (at_abs, "x")), lambda x: at_abs(x)),
    rule("local_abs_neg", (at_abs, (neg, "x")), lambda x: at_abs(x), has_opposite),
    rule("local_abs_sqr", (at_abs, (square, "x")), lambda x: square(x), lambda x: is_float(x)),
    rule("local_abs_exp", (at_abs, (exp, "x")), lambda x: exp(x), is_real),
    rule("local_sqr_neg", (square, (neg, "x")), lambda x: square(x)),
    rule("local_sqr_abs", (square, (at_abs, "x")), lambda x: square(x), is_real),
    rule("local_cos_neg", (cos, (neg, "x")), lambda x: cos(x), lambda x: not is_unsigned(x)),
    rule("local_cosh_neg", (cosh, (neg, "x")), lambda x: cosh(x), lambda x: not is_unsigned(x)),
    rule("local_conj_conj", (conj_, (conj_, "x")), lambda x: x),
    rule("local_sqrt_sqr", (sqrt, (square, "x")), lambda x: at_abs(x), real_of_same_dtype),
    to=(register_canonicalize,),
)
register_rules(
    rule("local_neg_neg", (neg, (neg, "x")), lambda x: x),
    to=(register_stabilize, register_specialize),
)
register_rules(
    rule("local_log_exp", (log, (exp, "x")), as_float, is_real),
    rule("local_log1p_expm1", (log1p, (expm1, "x")), as_float, is_real),
    rule("local_exp_of_log", (exp, (log, "x")), lambda x, out: where(ge(x, 0), x, out), is_real),
    rule(
        "local_exp_log1p", (exp, (log1p, "x")), lambda x, out: where(ge(x, -1), add(1, as_float(x, out)), out), is_real
    ),
    rule("local_expm1_log1p", (expm1, (log1p, "x")), lambda x, out: where(ge(x, -1), x, out), is_real),
    rule(
        "local_expm1_log", (expm1, (log, "x")), lambda x, out: where(ge(x, 0), sub(as_float(x, out), 1), out), is_real
    ),
    rule("local_sqr_sqrt", (square, (sqrt, "x")), lambda x, out: where(ge(x, 0), x, out), is_real),
    rule("local_exp_softplus", (exp, (softplus, "x")), lambda x: add(1, exp(x)), real_of_same_dtype),
    to=(register_specialize,),
)

# Sums and differences close to cancellation.

register_rules(
    rule("local_log1p", (log, (add, 1, "*x")), lambda x: log1p(x), real_of_same_dtype),
    rule("local_log1p_sub", (log, (sub, 1, "x")), lambda x: log1p(neg(x)), real_of_same_dtype),
    rule("local_log1p_neg", (log1p, (sub, "x", 1)), lambda x: log(x), real_of_same_dtype),
    rule("local_log1p_minus_one", (log1p, (add, -1, "*x")), lambda x: log(x), real_of_same_dtype),
    rule("local_expm1", (sub, (exp, "x"), 1), lambda x: expm1(x), real_of_same_dtype),
    rule("local_expm1_add", (add, -1, (exp, "x")), lambda x: expm1(x), real_of_same_dtype),
    rule("local_one_minus_exp", (sub, 1, (exp, "x")), lambda x: neg(expm1(x)), real_of_same_dtype),
    rule("log1pexp_to_softplus", (log1p, (exp, "x")), lambda x: softplus(x), real_of_same_dtype),
    rule("log1pmexp_to_log1mexp", (log1p, (neg, (exp, "x"))), lambda x: log1mexp(x), real_of_same_dtype),
    rule("log_mexpm1_to_log1mexp", (log, (neg, (expm1, "x"))), lambda x: log1mexp(x), real_of_same_dtype),
    rule("local_one_minus_erf", (sub, 1, (erf, "x")), lambda x: erfc(x), real_of_same_dtype),
    rule("local_one_plus_erf", (add, 1, (erf, "x")), lambda x: erfc(neg(x)), real_of_same_dtype),
    rule("local_erf_minus_one", (add, -1, (erf, "x")), lambda x: neg(erfc(x)), real_of_same_dtype),
    rule("local_one_minus_erfc", (sub, 1, (erfc, "x")), lambda x: erf(x), real_of_same_dtype),
    rule("local_erfc_minus_one", (add, -1, (erfc, "x")), lambda x: neg(erf(x)), real_of_same_dtype),
    to=(register_stabilize, register_specialize),
)

# Logarithms whose argument can be kept away from zero and infinity.

register_rules(
    rule(
        "log_diff_exp",
        (log, (sub, (exp, "x"), (exp, "y"))),
        lambda x, y: add(x, log1mexp(sub(y, x))),
        real_of_same_dtype,
    ),
    rule(
        "local_log_erfc",
        (log, (erfc, "x")),
        # Above 1 through the scaled function, which does not underflow.
        lambda x: switch(lt(x, 1), log(erfc(minimum(x, 1))), sub(log(erfcx(maximum(x, 1))), square(x))),
        lambda x, out: real_of_same_dtype(x, out) and output_of(x, minimum) is None,
    ),
    to=(register_stabilize, register_specialize),
)


# Logarithms of sums of exponentials: the largest exponent is taken out, so that nothing overflows.


def finite_or_zero(x: Variable) -> Variable:
    """`x`, and zero where it is infinite."""
    return switch(isinf_(x), 0, x)


@register_stabilize
@register_specialize
@node_rewriter([log])
def local_log_sum_exp(fgraph, node):
    """``log(sum(exp(x)))`` without overflow."""
    out = node.outputs[0]
    total = node.inputs[0]
    order = None
    if total.owner is not None and hasattr(total.owner.op, "new_order"):
        order = total.owner.op
        total = total.owner.inputs[0]
    summing = total.owner
    if summing is None or not isinstance(summing.op, Sum):
        return False
    exponential = summing.inputs[0].owner
    if exponential is None or exponential.op != exp:
        return False
    (x,) = exponential.inputs
    if is_stabilized(x) or not is_float(x) or x.type.dtype != out.type.dtype:
        return False
    axes = summing.op.axis
    axes = tuple(range(x.type.ndim)) if axes is None else tuple(axes)
    if any(x.type.shape[axis] == 0 for axis in axes) or not axes:
        return False
    largest = finite_or_zero(at_max(x, axis=axes))
    shifted = sub(x, with_kept_dims(x, largest, axes))
    result = add(log(summing.op(exp(shifted))), largest)
    if order is not None:
        result = order(result)
    return in_place_of(out, result)


def is_stabilized(x: Variable) -> bool:
    """Whether an exponent is the difference from a largest one that was guarded already."""
    node = x.owner
    if node is None or node.op != sub:
        return False
    inner = node.inputs[1].owner
    while inner is not None and hasattr(inner.op, "new_order"):
        inner = inner.inputs[0].owner
    return (
        inner is not None
        and inner.op == switch
        and inner.inputs[0].owner is not None
        and (inner.inputs[0].owner.op == isinf_)
    )


@register_stabilize
@register_specialize
@node_rewriter([log])
def local_log_add_exp(fgraph, node):
    """``log(exp(x) + exp(y) + ...)`` without overflow."""
    out = node.outputs[0]
    summing = node.inputs[0].owner
    if summing is None or summing.op != add or not is_float(out):
        return False
    exponents = []
    for term in summing.inputs:
        inner = term.owner
        if inner is None or inner.op != exp or inner.inputs[0].type.dtype != out.type.dtype:
            return False
        exponents.append(inner.inputs[0])
    if len(exponents) < 2 or any(is_stabilized(x) for x in exponents):
        return False
    if len(exponents) == 2:
        return in_place_of(out, logaddexp_(*exponents))
    largest = exponents[0]
    for x in exponents[1:]:
        largest = maximum(largest, x)
    largest = finite_or_zero(largest)
    shifted = [exp(sub(x, largest)) for x in exponents]
    return in_place_of(out, add(log(add(*shifted)), largest))


@register_stabilize
@register_specialize
@node_rewriter([log])
def local_log_mul_exp(fgraph, node):
    """``log`` of a constant times an exponential is a sum: nothing overflows."""
    out = node.outputs[0]
    product = node.inputs[0].owner
    if product is None or product.op != mul or len(product.inputs) != 2 or not is_float(out):
        return False
    for factor, other in (product.inputs, product.inputs[::-1]):
        value = common_value(factor)
        inner = other.owner
        if value is None or not value > 0 or inner is None or inner.op != exp:
            continue
        x = inner.inputs[0]
        if x.type.dtype == out.type.dtype:
            return in_place_of(out, add(x, log(as_float(factor, out))), product.inputs)
    return False
