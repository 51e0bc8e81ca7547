"""Rules about exponentials, logarithms and what is made of them, one row each."""

from __future__ import annotations

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    expm1,
    ge,
    log,
    log1mexp,
    log1p,
    neg,
    sigmoid,
    softplus,
    sqrt,
    square,
    sub,
)
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.rewriting.helpers import (
    as_float,
    is_float,
    is_integer,
    is_real,
    is_unsigned,
    real_of_same_dtype,
    where_or_nan,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

ELEMENTWISE = (Elemwise, CAReduce)


def has_opposite(x: Variable) -> bool:
    """Whether ``neg(x)`` is the opposite of `x` as a real number, which it is not for unsigned integers."""
    return is_real(x) and not is_unsigned(x)


def is_signed_integer(x: Variable, out: Variable) -> bool:
    """Whether `x` is a tensor of signed integers, of which functions have the dtype of the result."""
    return is_integer(x) and not is_unsigned(x) and log1p(x).type.dtype == out.type.dtype


# One-argument functions: even functions, inverses.

rules.add(
    rule("local_abs_abs", (at_abs, (at_abs, "x")), lambda x: at_abs(x)),
    rule("local_abs_neg", (at_abs, (neg, "x")), lambda x: at_abs(x), has_opposite),
    rule("local_abs_sqr", (at_abs, (square, "x")), lambda x: square(x), lambda x: is_float(x)),
    rule("local_abs_exp", (at_abs, (exp, "x")), lambda x: exp(x), is_real),
    rule("local_sqr_neg", (square, (neg, "x")), lambda x: square(x)),
    rule("local_sqr_abs", (square, (at_abs, "x")), lambda x: square(x), is_real),
    rule("local_cos_neg", (cos, (neg, "x")), lambda x: cos(x), lambda x: not is_unsigned(x)),
    rule("local_cosh_neg", (cosh, (neg, "x")), lambda x: cosh(x), lambda x: not is_unsigned(x)),
    rule("local_sqrt_sqr", (sqrt, (square, "x")), lambda x: at_abs(x), real_of_same_dtype),
    to=(rules.canonicalize, rules.specialize),  # squares come about late
)
rules.add(
    rule("local_log_exp", (log, (exp, "x")), as_float, is_real),
    rule("local_log1p_expm1", (log1p, (expm1, "x")), as_float, is_real),
    to=(rules.canonicalize, rules.specialize),
    tags=("local_exp_log",),
)
rules.add(
    rule("local_exp_of_log", (exp, (log, "x")), lambda x, out: where_or_nan(ge(x, 0), x, out), is_real),
    rule(
        "local_exp_log1p",
        (exp, (log1p, "x")),
        lambda x, out: where_or_nan(ge(x, -1), add(1, as_float(x, out)), out),
        is_real,
    ),
    rule("local_expm1_log1p", (expm1, (log1p, "x")), lambda x, out: where_or_nan(ge(x, -1), x, out), is_real),
    rule(
        "local_expm1_log",
        (expm1, (log, "x")),
        lambda x, out: where_or_nan(ge(x, 0), sub(as_float(x, out), 1), out),
        is_real,
    ),
    to=(rules.specialize,),
    tags=("local_exp_log_nan_switch",),
)
rules.add(
    rule("local_sqr_sqrt", (square, (sqrt, "x")), lambda x, out: where_or_nan(ge(x, 0), x, out), is_real),
    to=(rules.specialize,),
)
rules.add(
    rule("local_exp_softplus", (exp, (softplus, "x")), lambda x: add(1, exp(x)), real_of_same_dtype),
    rule("local_expm1_softplus", (expm1, (softplus, "x")), lambda x: exp(x), real_of_same_dtype),
    to=(rules.specialize,),
    tags=("local_exp_log",),
)


@rules.stabilize
@node_rewriter([exp, expm1, sigmoid, softplus, erf, erfc])
def local_function_of_integers(fgraph, node):
    """Functions of integers, if arithmetic reads them, as those of floating-point numbers, which have more rules."""
    (x,), (out,) = node.inputs, node.outputs
    if not is_integer(x) or not any(c != "output" and isinstance(c.op, ELEMENTWISE) for c, _ in fgraph.clients[out]):
        return False
    new = node.op(as_float(x, out))
    return [new] if new.type == out.type else False


# Sums and differences close to cancellation.

rules.add(
    rule("local_log1p", (log, (add, 1, "*x")), lambda x: log1p(x), real_of_same_dtype),
    # Where 1 + x wraps around, it has no logarithm; of unsigned integers it is 0.
    rule("local_log1p_of_integer", (log, (add, 1, "x")), lambda x: log1p(x), is_signed_integer),
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
    to=(rules.stabilize, rules.specialize),
)
