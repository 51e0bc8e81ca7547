"""Functions applied to their inverses.

Where the inner function is not defined, its inverse is not either: such a pair is NaN there, as it is when it is
computed.
"""

from __future__ import annotations

from aesara.graph.rewriting.basic import SequentialNodeRewriter
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    arccosh,
    arcsinh,
    arctanh,
    conj_,
    cosh,
    deg2rad,
    exp,
    expm1,
    ge,
    le,
    log1mexp,
    neg,
    rad2deg,
    reciprocal,
    sinh,
    tanh,
)
from aesara.tensor.rewriting.helpers import where_or_nan
from aesara.tensor.rewriting.logarithms.exponentials import rules as rules_of_exponentials
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import real, row

rules = Rules()

#: ``f(g(x))`` as ``x``, where `f` and `g` are inverse functions; of a square root, see `exponentials`.
local_func_inv = SequentialNodeRewriter(
    row("local_neg_neg", (neg, (neg, "x")), "x", each=None),
    row("local_conj_conj", (conj_, (conj_, "x")), "x", each=None),
    row("local_deg2rad_rad2deg", (deg2rad, (rad2deg, "x")), "x", each=real),
    row("local_rad2deg_deg2rad", (rad2deg, (deg2rad, "x")), "x", each=real),
    row("local_reciprocal_reciprocal", (reciprocal, (reciprocal, "x")), "x"),
    row("local_arcsinh_sinh", (arcsinh, (sinh, "x")), "x"),
    row("local_sinh_arcsinh", (sinh, (arcsinh, "x")), "x"),
    row("local_arctanh_tanh", (arctanh, (tanh, "x")), "x"),
    row("local_tanh_arctanh", (tanh, (arctanh, "x")), lambda x, out: where_or_nan(le(at_abs(x), 1), x, out)),
    row("local_arccosh_cosh", (arccosh, (cosh, "x")), (at_abs, "x")),
    row("local_cosh_arccosh", (cosh, (arccosh, "x")), lambda x, out: where_or_nan(ge(x, 1), x, out)),
)
for _collect in (rules.canonicalize, rules.stabilize, rules.specialize):
    _collect(local_func_inv, name="local_func_inv")
rules.add(row("local_useless_conj", (conj_, "x"), "x", each=real), to=(rules.canonicalize,))

# What an exponential makes of log(1 - exp(x)).

rules.add(
    row("local_exp_log1mexp", (exp, (log1mexp, "x")), lambda x, out: where_or_nan(le(x, 0), neg(expm1(x)), out)),
    row("local_expm1_log1mexp", (expm1, (log1mexp, "x")), lambda x, out: where_or_nan(le(x, 0), neg(exp(x)), out)),
    to=(rules.specialize,),
    tags=("local_exp_log_nan_switch",),
)


#: Exponentials of logarithms and the reverse, where every number has an image.
local_exp_log = SequentialNodeRewriter(*rules_of_exponentials.tagged("local_exp_log"))
local_exp_log.name = "local_exp_log"
#: The same where some numbers have none: NaN takes their place.
local_exp_log_nan_switch = SequentialNodeRewriter(
    *rules_of_exponentials.tagged("local_exp_log_nan_switch"), *rules.tagged("local_exp_log_nan_switch")
)
local_exp_log_nan_switch.name = "local_exp_log_nan_switch"
