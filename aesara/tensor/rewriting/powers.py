"""Powers with constant exponents, products of equal factors, and functions of their inverses.

Where the inner function of a pair of inverses is not defined, the result stays NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import SequentialNodeRewriter
from aesara.graph.rewriting.pattern import Rule
from aesara.tensor.elementwise import ops
from aesara.tensor.rewriting.helpers import (
    as_float,
    common_value,
    constant_like,
    fits_within,
    is_complex,
    is_float,
    real_of_same_dtype,
    same_dtype,
    where_or_nan,
)
from aesara.tensor.rewriting.logarithms.exponentials import rules as rules_of_exponentials
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number, real, row

rules = Rules()

#: ``f(g(x))`` -> ``x`` for inverse functions `f` and `g`; those of square roots are in `exponentials`.
local_func_inv = SequentialNodeRewriter(
    row("local_neg_neg", (ops.neg, (ops.neg, "x")), "x", each=None),
    row("local_conj_conj", (ops.conj_, (ops.conj_, "x")), "x", each=None),
    row("local_deg2rad_rad2deg", (ops.deg2rad, (ops.rad2deg, "x")), "x", each=real),
    row("local_rad2deg_deg2rad", (ops.rad2deg, (ops.deg2rad, "x")), "x", each=real),
    row("local_reciprocal_reciprocal", (ops.reciprocal, (ops.reciprocal, "x")), "x"),
    row("local_arcsinh_sinh", (ops.arcsinh, (ops.sinh, "x")), "x"),
    row("local_sinh_arcsinh", (ops.sinh, (ops.arcsinh, "x")), "x"),
    row("local_arctanh_tanh", (ops.arctanh, (ops.tanh, "x")), "x"),
    row(
        "local_tanh_arctanh", (ops.tanh, (ops.arctanh, "x")), lambda x, out: where_or_nan(ops.le(ops.abs(x), 1), x, out)
    ),
    row("local_arccosh_cosh", (ops.arccosh, (ops.cosh, "x")), (ops.abs, "x")),
    row("local_cosh_arccosh", (ops.cosh, (ops.arccosh, "x")), lambda x, out: where_or_nan(ops.ge(x, 1), x, out)),
)
for _collect in (rules.canonicalize, rules.stabilize, rules.specialize):
    _collect(local_func_inv, name="local_func_inv")
rules.add(row("local_useless_conj", (ops.conj_, "x"), "x", each=real), to=(rules.canonicalize,))

# Exponentials of log(1 - exp(x)).

rules.add(
    row(
        "local_exp_log1mexp",
        (ops.exp, (ops.log1mexp, "x")),
        lambda x, out: where_or_nan(ops.le(x, 0), ops.neg(ops.expm1(x)), out),
    ),
    row(
        "local_expm1_log1mexp",
        (ops.expm1, (ops.log1mexp, "x")),
        lambda x, out: where_or_nan(ops.le(x, 0), ops.neg(ops.exp(x)), out),
    ),
    to=(rules.specialize,),
    tags=("local_exp_log_nan_switch",),
)


#: Exponentials of logarithms, and logarithms of exponentials, where both are defined for all numbers.
local_exp_log = SequentialNodeRewriter(*rules_of_exponentials.with_tag("local_exp_log"))
local_exp_log.name = "local_exp_log"
#: The same where the logarithm is not defined for some numbers, for which the result is NaN.
local_exp_log_nan_switch = SequentialNodeRewriter(
    *rules_of_exponentials.with_tag("local_exp_log_nan_switch"), *rules.with_tag("local_exp_log_nan_switch")
)
local_exp_log_nan_switch.name = "local_exp_log_nan_switch"


#: The largest integer exponent that is computed with multiplications.
LARGEST_UNROLLED = 8


def _power(name: str, exponent: Any, replacement: Any, when: Any, why: str | None = None) -> Rule:
    """Return a rule about ``x ** n`` for tensors `x` and numbers `n`."""
    return row(name, (ops.pow, "x", number("n", exponent)), replacement, when, each=None, why=why)


def _fits(n: Variable, x: Variable) -> bool:
    return fits_within(n, x)


def _is_numeric(n: Variable, x: Variable, out: Variable) -> bool:
    return fits_within(n, x) and out.type.dtype != "bool"


def _has_digits(n: Variable, x: Variable, out: Variable) -> bool:
    return fits_within(n, x) and (is_float(out) or is_complex(out))


def reciprocal_root(x: Variable) -> Variable:
    """Return ``x ** -0.5``, which is positive for -0, unlike the reciprocal of the square root."""
    root = ops.reciprocal(ops.sqrt(x))
    return root if is_complex(x) else ops.abs(root)


local_pow_canonicalize = rules.group(
    "local_pow_canonicalize",
    _power("local_pow_zero", 0, 1, _fits),
    _power("local_pow_one", 1, "x", _fits),
    _power(
        "local_pow_to_quotient",
        -1,
        lambda x: ops.true_divide(constant_like(1, x), x),
        lambda n, x, out: fits_within(n, x) and real_of_same_dtype(x, out),
        "x ** -1 -> 1 / x, which takes part in the canonical form of products",
    ),
    to=(rules.canonicalize,),
)
local_pow_specialize = rules.group(
    "local_pow_specialize",
    _power("local_pow_to_square", 2, lambda x, out: ops.square(as_float(x, out)), _is_numeric),
    _power("local_pow_to_root", 0.5, lambda x, out: ops.sqrt(as_float(x, out)), _has_digits),
    _power("local_pow_to_reciprocal_root", -0.5, lambda x, out: reciprocal_root(as_float(x, out)), _has_digits),
    _power("local_pow_to_reciprocal", -1, lambda x, out: ops.reciprocal(as_float(x, out)), _has_digits),
    _power(
        "local_pow_to_reciprocal_square",
        -2,
        lambda x, out: ops.reciprocal(ops.square(as_float(x, out))),
        # In float16 a square is often infinite where its reciprocal is not zero.
        lambda n, x, out: _has_digits(n, x, out) and out.type.dtype != "float16",
    ),
    to=(rules.specialize,),
)


def _is_unrolled(n: Any) -> bool:
    return n.dtype.kind != "c" and 2 < abs(n) <= LARGEST_UNROLLED and float(n).is_integer()


def integer_power(base: Variable, exponent: int) -> Variable:
    """Return ``base ** exponent`` by repeated squaring, for a nonzero exponent."""
    if exponent < 0:
        return ops.reciprocal(integer_power(base, -exponent))
    result = None
    factor = base
    while exponent > 1:
        if exponent & 1:
            result = factor if result is None else ops.mul(result, factor)
        exponent >>= 1
        factor = ops.square(factor)
    return factor if result is None else ops.mul(result, factor)


local_pow_specialize_device = rules.specialize_device(
    _power(
        "local_pow_specialize_device",
        _is_unrolled,
        lambda x, n, out: integer_power(as_float(x, out), int(common_value(n))),
        lambda x, n, out: (
            _is_numeric(n, x, out) and (common_value(n) > 0 or (is_float(out) and out.type.dtype != "float16"))
        ),
        "x ** n -> products of squares, for small integers n",
    )
)
local_mul_to_sqr = rules.specialize(row("local_mul_to_sqr", (ops.mul, "x", "x"), (ops.square, "x"), each=None))
local_div_to_reciprocal = rules.specialize(
    row(
        "local_div_to_reciprocal",
        (ops.true_divide, number("one", 1), "x"),
        (ops.reciprocal, "x"),
        same_dtype,
        each=None,
    )
)
local_reciprocal_canon = rules.canonicalize(
    row(
        "local_reciprocal_canon",
        (ops.reciprocal, "x"),
        lambda x, out: ops.true_divide(np.asarray(1, dtype=out.type.dtype), as_float(x, out)),
        each=None,
        why="reciprocal(x) -> 1 / x, which takes part in the canonical form of products",
    )
)
