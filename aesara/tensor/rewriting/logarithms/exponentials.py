"""Rules about exponentials, logarithms and functions of them, one row each."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
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
    return is_integer(x) and not is_unsigned(x) and ops.log1p(x).type.dtype == out.type.dtype


def is_integer_in_arithmetic(x: Variable, out: Variable, fgraph: FunctionGraph) -> bool:
    """Return whether a function is of integers, and elementwise operations or reductions read it."""
    clients = (client for client, _ in fgraph.clients[out] if isinstance(client, Apply))
    return is_integer(x) and any(isinstance(client.op, (Elemwise, CAReduce)) for client in clients)


# One-argument functions: even functions, inverses.

rules.add(
    row("local_abs_abs", (ops.abs, (ops.abs, "x")), (ops.abs, "x"), each=None),
    row("local_abs_neg", (ops.abs, (ops.neg, "x")), (ops.abs, "x"), has_opposite, each=None),
    row("local_abs_sqr", (ops.abs, (ops.square, "x")), (ops.square, "x")),
    row("local_abs_exp", (ops.abs, (ops.exp, "x")), (ops.exp, "x"), each=real),
    row("local_sqr_neg", (ops.square, (ops.neg, "x")), (ops.square, "x"), each=None),
    row("local_sqr_abs", (ops.square, (ops.abs, "x")), (ops.square, "x"), each=real),
    row("local_cos_neg", (ops.cos, (ops.neg, "x")), (ops.cos, "x"), lambda x: not is_unsigned(x), each=None),
    row("local_cosh_neg", (ops.cosh, (ops.neg, "x")), (ops.cosh, "x"), lambda x: not is_unsigned(x), each=None),
    row("local_sqrt_sqr", (ops.sqrt, (ops.square, "x")), (ops.abs, "x")),
    to=(rules.canonicalize, rules.specialize),  # squares come about late
)
rules.add(
    row("local_log_exp", (ops.log, (ops.exp, "x")), "x", each=real),
    row("local_log1p_expm1", (ops.log1p, (ops.expm1, "x")), "x", each=real),
    to=(rules.canonicalize, rules.specialize),
    tags=("local_exp_log",),
)
rules.add(
    row("local_exp_of_log", (ops.exp, (ops.log, "x")), lambda x, out: where_or_nan(ops.ge(x, 0), x, out), each=real),
    row(
        "local_exp_log1p",
        (ops.exp, (ops.log1p, "x")),
        lambda x, out: where_or_nan(ops.ge(x, -1), ops.add(1, as_float(x, out)), out),
        each=real,
    ),
    row(
        "local_expm1_log1p",
        (ops.expm1, (ops.log1p, "x")),
        lambda x, out: where_or_nan(ops.ge(x, -1), x, out),
        each=real,
    ),
    row(
        "local_expm1_log",
        (ops.expm1, (ops.log, "x")),
        lambda x, out: where_or_nan(ops.ge(x, 0), ops.sub(as_float(x, out), 1), out),
        each=real,
    ),
    to=(rules.specialize,),
    tags=("local_exp_log_nan_switch",),
)
rules.add(
    row("local_sqr_sqrt", (ops.square, (ops.sqrt, "x")), lambda x, out: where_or_nan(ops.ge(x, 0), x, out), each=real),
    to=(rules.specialize,),
)
rules.add(
    row("local_exp_softplus", (ops.exp, (ops.softplus, "x")), lambda x: ops.add(1, ops.exp(x))),
    row("local_expm1_softplus", (ops.expm1, (ops.softplus, "x")), (ops.exp, "x")),
    to=(rules.specialize,),
    tags=("local_exp_log",),
)
rules.add(
    row(
        "local_function_of_integers",
        (one_of(ops.exp, ops.expm1, ops.sigmoid, ops.softplus, special.erf, special.erfc, name="f"), "x"),
        lambda f, x, out: f(as_float(x, out)),
        is_integer_in_arithmetic,
        each=None,
        why="f(x) -> f(float(x)) of integers, if arithmetic reads it: of floating-point numbers there are more rules",
    ),
    to=(rules.stabilize,),
)

# Sums and differences close to cancellation.

rules.add(
    row("local_erf_neg_minus_one", (ops.sub, (special.erfc, (ops.neg, "x")), 1), (special.erf, "x")),
    row("local_erf_neg_minus_one_add", (ops.add, -1, (special.erfc, (ops.neg, "x"))), (special.erf, "x")),
    to=(rules.canonicalize, rules.stabilize, rules.specialize),
)

rules.add(
    row("local_log1p", (ops.log, (ops.add, 1, "*x")), (ops.log1p, "x")),
    # If 1 + x wraps around, it has no logarithm; of unsigned integers it is 0.
    row("local_log1p_of_integer", (ops.log, (ops.add, 1, "x")), (ops.log1p, "x"), each=is_signed_integer),
    row("local_log1p_sub", (ops.log, (ops.sub, 1, "x")), lambda x: ops.log1p(ops.neg(x))),
    row("local_log1p_neg", (ops.log1p, (ops.sub, "x", 1)), (ops.log, "x")),
    row("local_log1p_minus_one", (ops.log1p, (ops.add, -1, "*x")), (ops.log, "x")),
    row("local_expm1", (ops.sub, (ops.exp, "x"), 1), (ops.expm1, "x")),
    row("local_expm1_add", (ops.add, -1, (ops.exp, "x")), (ops.expm1, "x")),
    row("local_one_minus_exp", (ops.sub, 1, (ops.exp, "x")), lambda x: ops.neg(ops.expm1(x))),
    row("log1pexp_to_softplus", (ops.log1p, (ops.exp, "x")), (ops.softplus, "x")),
    row("log1pmexp_to_log1mexp", (ops.log1p, (ops.neg, (ops.exp, "x"))), (ops.log1mexp, "x")),
    row("log_mexpm1_to_log1mexp", (ops.log, (ops.neg, (ops.expm1, "x"))), (ops.log1mexp, "x")),
    row("local_one_minus_erf", (ops.sub, 1, (special.erf, "x")), (special.erfc, "x")),
    row("local_one_plus_erf", (ops.add, 1, (special.erf, "x")), lambda x: special.erfc(ops.neg(x))),
    row("local_erf_minus_one", (ops.add, -1, (special.erf, "x")), lambda x: ops.neg(special.erfc(x))),
    row("local_one_minus_erfc", (ops.sub, 1, (special.erfc, "x")), (special.erf, "x")),
    row("local_erfc_minus_one", (ops.add, -1, (special.erfc, "x")), lambda x: ops.neg(special.erf(x))),
    to=(rules.stabilize, rules.specialize),
)
