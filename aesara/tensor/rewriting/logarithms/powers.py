"""Logarithms of powers, inverse hyperbolic functions written as logarithms, and sums with softplus that cancel."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    arcsinh,
    arctanh,
    log,
    log1p,
    mul,
    neg,
    softplus,
    sqrt,
    square,
    sub,
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.algebra import SignedSum, are_opposite, opposite, opposite_of
from aesara.tensor.rewriting.helpers import (
    common_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()


def multiple_of_log(n: Variable, x: Variable, out: Variable) -> Variable | None:
    """``log(x ** n)`` as a multiple of ``log(x)``, of its absolute value for even `n`; None where that is not so."""
    number = common_value(n)
    if number is None or not np.isfinite(number) or number == 0 or x.type.dtype != out.type.dtype:
        return None
    if float(number) % 2 == 0:
        x = at_abs(x)
    elif float(number) < 0:
        return None  # at the zero with a sign
    return mul(np.asarray(number, dtype=out.type.dtype), log(x))


rules.add(
    rule("local_log_pow", (log, (at_pow, "x", "n")), multiple_of_log, real_of_same_dtype),
    row("local_log_square", (log, (square, "x")), lambda x: mul(2, log(at_abs(x)))),
    row("local_log_product_of_equals", (log, (mul, "x", "x")), lambda x: mul(2, log(at_abs(x)))),
    row("local_log_sqrt", (log, (sqrt, "x")), lambda x: mul(0.5, log(x))),
    row("local_log_to_arctanh", (log, (true_divide, (add, 1, "x"), (sub, 1, "x"))), lambda x: mul(2, arctanh(x))),
    row("local_log_to_arcsinh", (log, (add, "x", (sqrt, (add, 1, (square, "x"))))), (arcsinh, "x")),
    row("local_log_to_arcsinh_pow", (log, (add, "x", (sqrt, (add, 1, (at_pow, "x", 2))))), (arcsinh, "x")),
    row("local_log_reciprocal_of_sum", (log, (true_divide, 1, (add, 1, "*x"))), lambda x: neg(log1p(x))),
    to=(rules.stabilize, rules.specialize),
)


#: The terms of longer sums are not compared in pairs.
MOST_TERMS = 64


@rules.stabilize
@rules.specialize
@node_rewriter([add, sub], operands=[softplus, neg])
def local_softplus_of_opposite(fgraph, node):
    """``x + softplus(-x)`` as ``softplus(x)``, and ``x - softplus(x)`` as ``-softplus(-x)``, also in longer sums.

    ``softplus(x) - softplus(-x)`` is ``x``.
    """
    out = node.outputs[0]
    total = SignedSum.read(out)
    if not is_float(out) or len(total.terms) > MOST_TERMS:
        return False
    for i, (sign, var) in enumerate(total.terms):
        found = _softplus(var, sign, out.type.dtype)
        if found is None:
            continue
        sign, x = found
        for k, (other_sign, other) in enumerate(total.terms):
            if k == i:
                continue
            second = _softplus(other, other_sign, out.type.dtype)
            if second is not None and second[0] == -sign and are_opposite(x, second[1]):
                new = x
            elif other is x if other_sign == -sign else are_opposite(other, x):
                new = softplus(opposite(x))  # s * (softplus(x) - x) is s * softplus(-x)
            else:
                continue
            return in_place_of(out, total.without((i, k)).plus(new, sign).build(out.type.dtype), node.inputs)
    return False


def _softplus(var: Variable, sign: int, dtype: str) -> tuple[int, Variable] | None:
    """Return the sign and the argument of a term that is a softplus."""
    inner = opposite_of(var)
    if inner is not None:
        sign, var = -sign, inner
    node = output_of(var, softplus)
    return None if node is None or node.inputs[0].type.dtype != dtype else (sign, node.inputs[0])
