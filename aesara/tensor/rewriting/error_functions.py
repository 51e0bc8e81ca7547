"""The error function beyond the rows in `exponentials`: the slope of ``log(erfc(x))``."""

from __future__ import annotations

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import add, erf, erfc, erfcx, exp, mul, neg, square, sub, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    computed_in,
    constant_like,
    has_value,
    in_place_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.older_interface import is_neg
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()

rules.add(
    row("local_erf_neg_minus_one", (sub, (erfc, (neg, "x")), 1), (erf, "x")),
    row("local_erf_neg_minus_one_add", (add, -1, (erfc, (neg, "x"))), (erf, "x")),
    to=(rules.canonicalize, rules.stabilize, rules.specialize),
)


@rules.stabilize
@rules.specialize
@node_rewriter([true_divide], operands=[mul, erfc])
def local_grad_log_erfc_neg(fgraph, node):
    """``exp(-x**2) / erfc(x)`` as ``1 / erfcx(x)``: for large `x` both parts of the quotient underflow.

    It is what the gradient of ``log(erfc(x))`` holds.
    """
    out = node.outputs[0]
    dtype = out.type.dtype
    tops, bottoms = ([*_factors(var)] for var in node.inputs)
    for i, bottom in enumerate(bottoms):
        if bottom.owner is None or bottom.owner.op != erfc or not real_of_same_dtype(bottom.owner.inputs[0], out):
            continue
        (x,) = bottom.owner.inputs
        for k, top in enumerate(tops):
            if top.owner is None or top.owner.op != exp or not _is_minus_square(top.owner.inputs[0], x):
                continue
            del tops[k]
            bottoms[i] = erfcx(x)
            numerator = _product(tops, dtype) if tops else constant_like(1, out)
            return in_place_of(out, true_divide(numerator, _product(bottoms, dtype)), node.inputs)
    return False


def _factors(var: Variable) -> list[Variable]:
    node = var.owner
    return list(node.inputs) if node is not None and node.op == mul else [var]


def _product(factors: list[Variable], dtype: str) -> Variable:
    return as_dtype(factors[0], dtype) if len(factors) == 1 else computed_in(dtype, mul, factors)


def _is_minus_square(var: Variable, x: Variable) -> bool:
    """Return whether a variable is ``-x**2``, in one of the ways to write it."""
    node = var.owner
    if node is None or var.type.dtype != x.type.dtype:
        return False
    if node.op == mul and len(node.inputs) == 2:
        one, other = node.inputs
        return (one is x and is_neg(other) is x) or (other is x and is_neg(one) is x)
    inner = is_neg(var)
    node = None if inner is None else inner.owner
    if node is None or node.inputs[0] is not x:
        return False
    if node.op == at_pow:
        return has_value(node.inputs[1], 2)
    return node.op == square or (node.op == mul and len(node.inputs) == 2 and node.inputs[1] is x)
