"""Rules about exponentials, logarithms and functions of them, one row each."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cos,
    cosh,
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
from aesara.tensor.elementwise.special import erf, erfc
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.rewriting.helpers import as_float, is_integer, is_real, is_unsigned, where_or_nan
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import real, row

rules = Rules()


def has_opposite(x: Variable) -> bool:
    """Return whether ``neg(x)`` is the opposite of `x` as a real number, which it is not for unsigned integers."""
    return is_real(x) and not is_unsigned(x)


def is_signed_integer(x: Variable, out: Variable) -> bool:
    """Return whether `x` is a tensor of signed integers, of which functions have the dtype of the result."""
    return is_integer(x) and not is_unsigned(x) and log1p(x).type.dtype == out.type.dtype


def is_integer_in_arithmetic(x: Variable, out: Variable, fgraph: FunctionGraph) -> bool:
    """Return whether a function is of integers, and elementwise operations or reductions read it."""
    clients = (client for client, _ in fgraph.clients[out] if isinstance(client, Apply))
    return is_integer(x) and any(isinstance(client.op, (Elemwise, CAReduce)) for client in clients)


# One-argument functions: even functions, inverses.

rules.add(
    row("local_abs_abs", (at_abs, (at_abs, "x")), (at_abs, "x"), each=None),
    row("local_abs_neg", (at_abs, (neg, "x")), (at_abs, "x"), has_opposite, each=None),
    row("local_abs_sqr", (at_abs, (square, "x")), (square, "x")),
    row("local_abs_exp", (at_abs, (exp, "x")), (exp, "x"), each=real),
    row("local_sqr_neg", (square, (neg, "x")), (square, "x"), each=None),
    row("local_sqr_abs", (square, (at_abs, "x")), (square, "x"), each=real),
    row("local_cos_neg", (cos, (neg, "x")), (cos, "x"), lambda x: not is_unsigned(x), each=None),
    row("local_cosh_neg", (cosh, (neg, "x")), (cosh, "x"), lambda x: not is_unsigned(x), each=None),
    row("local_sqrt_sqr", (sqrt, (square, "x")), (at_abs, "x")),
    to=(rules.canonicalize, rules.specialize),  # squares come about late
)
rules.add(
    row("local_log_exp", (log, (exp, "x")), "x", each=real),
    row("local_log1p_expm1", (log1p, (expm1, "x")), "x", each=real),
    to=(rules.canonicalize, rules.specialize),
    tags=("local_exp_log",),
)
rules.add(
    row("local_exp_of_log", (exp, (log, "x")), lambda x, out: where_or_nan(ge(x, 0), x, out), each=real),
    row(
        "local_exp_log1p",
        (exp, (log1p, "x")),
        lambda x, out: where_or_nan(ge(x, -1), add(1, as_float(x, out)), out),
        each=real,
    ),
    row("local_expm1_log1p", (expm1, (log1p, "x")), lambda x, out: where_or_nan(ge(x, -1), x, out), each=real),
    row(
        "local_expm1_log",
        (expm1, (log, "x")),
        lambda x, out: where_or_nan(ge(x, 0), sub(as_float(x, out), 1), out),
        each=real,
    ),
    to=(rules.specialize,),
    tags=("local_exp_log_nan_switch",),
)
rules.add(
    row("local_sqr_sqrt", (square, (sqrt, "x")), lambda x, out: where_or_nan(ge(x, 0), x, out), each=real),
    to=(rules.specialize,),
)
rules.add(
    row("local_exp_softplus", (exp, (softplus, "x")), lambda x: add(1, exp(x))),
    row("local_expm1_softplus", (expm1, (softplus, "x")), (exp, "x")),
    to=(rules.specialize,),
    tags=("local_exp_log",),
)
rules.add(
    row(
        "local_function_of_integers",
        (one_of(exp, expm1, sigmoid, softplus, erf, erfc, name="f"), "x"),
        lambda f, x, out: f(as_float(x, out)),
        is_integer_in_arithmetic,
        each=None,
        why="f(x) -> f(float(x)) of integers, if arithmetic reads it: of floating-point numbers there are more rules",
    ),
    to=(rules.stabilize,),
)

# Sums and differences close to cancellation.

rules.add(
    row("local_erf_neg_minus_one", (sub, (erfc, (neg, "x")), 1), (erf, "x")),
    row("local_erf_neg_minus_one_add", (add, -1, (erfc, (neg, "x"))), (erf, "x")),
    to=(rules.canonicalize, rules.stabilize, rules.specialize),
)

rules.add(
    row("local_log1p", (log, (add, 1, "*x")), (log1p, "x")),
    # If 1 + x wraps around, it has no logarithm; of unsigned integers it is 0.
    row("local_log1p_of_integer", (log, (add, 1, "x")), (log1p, "x"), each=is_signed_integer),
    row("local_log1p_sub", (log, (sub, 1, "x")), lambda x: log1p(neg(x))),
    row("local_log1p_neg", (log1p, (sub, "x", 1)), (log, "x")),
    row("local_log1p_minus_one", (log1p, (add, -1, "*x")), (log, "x")),
    row("local_expm1", (sub, (exp, "x"), 1), (expm1, "x")),
    row("local_expm1_add", (add, -1, (exp, "x")), (expm1, "x")),
    row("local_one_minus_exp", (sub, 1, (exp, "x")), lambda x: neg(expm1(x))),
    row("log1pexp_to_softplus", (log1p, (exp, "x")), (softplus, "x")),
    row("log1pmexp_to_log1mexp", (log1p, (neg, (exp, "x"))), (log1mexp, "x")),
    row("log_mexpm1_to_log1mexp", (log, (neg, (expm1, "x"))), (log1mexp, "x")),
    row("local_one_minus_erf", (sub, 1, (erf, "x")), (erfc, "x")),
    row("local_one_plus_erf", (add, 1, (erf, "x")), lambda x: erfc(neg(x))),
    row("local_erf_minus_one", (add, -1, (erf, "x")), lambda x: neg(erfc(x))),
    row("local_one_minus_erfc", (sub, 1, (erfc, "x")), (erf, "x")),
    row("local_erfc_minus_one", (add, -1, (erfc, "x")), lambda x: neg(erf(x))),
    to=(rules.stabilize, rules.specialize),
)
