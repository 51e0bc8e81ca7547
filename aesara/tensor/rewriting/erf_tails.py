"""Logarithms and products of the complementary error function, where it underflows or is close to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import rule
from aesara.tensor.elementwise_ops import (
    erf,
    erfc,
    erfcx,
    exp,
    log,
    log1p,
    log_ndtr,
    lt,
    maximum,
    minimum,
    mul,
    ndtr,
    neg,
    square,
    sub,
    switch,
)
from aesara.tensor.elementwise_ops import pow as at_pow
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.logistic import negated
from aesara.tensor.rewriting.registration import register_rules, register_specialize, register_stabilize

#: From here on the logarithm of erfc is that of the scaled function.
TAIL = 0.5


def log_of_erfc(x: Variable) -> Variable:
    """``log(erfc(x))``, which neither underflows for large `x` nor loses the digits of small ones."""
    tail = maximum(x, TAIL)
    return switch(lt(x, TAIL), log1p(neg(erf(minimum(x, TAIL)))), sub(log(erfcx(tail)), square(tail)))


def is_whole_argument(x: Variable, out: Variable) -> bool:
    """Whether `x` is not the part below the tail, which `log_of_erfc` makes."""
    return real_of_same_dtype(x, out) and output_of(x, minimum) is None


def scaled(x: Variable, number: float) -> Variable:
    """``number * x`` with a number that `x` is multiplied with taken into account."""
    node = x.owner
    if node is not None and node.op == neg and is_float(x):
        return scaled(node.inputs[0], -number)
    if node is not None and node.op == mul and len(node.inputs) == 2:
        for factor, other in (node.inputs, node.inputs[::-1]):
            value = common_value(factor)
            if value is not None and other.type == x.type:
                number, x = number * float(value), other
                break
    if abs(abs(number) - 1) < 4 * np.finfo("float64").eps:
        return x if number > 0 else neg(x)
    return mul(constant_like(number, x), x)


def is_half_of_erfc(x: Variable, out: Variable) -> bool:
    return real_of_same_dtype(x, out) and out.type.dtype == "float64"


register_rules(
    rule("local_log_erfc", (log, (erfc, "x")), log_of_erfc, real_of_same_dtype),
    rule("local_log1p_neg_erf", (log1p, (neg, (erf, "x"))), log_of_erfc, is_whole_argument),
    rule("local_log1p_erf", (log1p, (erf, "x")), lambda x: log_of_erfc(negated(x)), real_of_same_dtype),
    rule("local_log_ndtr", (log, (ndtr, "x")), lambda x: log_ndtr(x), real_of_same_dtype),
    rule("local_log_half_erfc", (log, (mul, 0.5, (erfc, "x"))), lambda x: log_ndtr(scaled(x, -math.sqrt(2))),
         is_half_of_erfc),
    to=(register_stabilize, register_specialize),
)  # fmt: skip


def scaled_erfc(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``exp(x**2) * erfc(x)`` in a product as ``erfcx(x)``: one overflows where the other underflows."""
    numerators = list(numerators)
    for i, factor in enumerate(numerators):
        node = factor.owner
        if node is None or node.op != erfc or not real_of_same_dtype(node.inputs[0], factor):
            continue
        (x,) = node.inputs
        for k, other in enumerate(numerators):
            inner = other.owner
            if inner is not None and inner.op == exp and _is_square_of(inner.inputs[0], x):
                numerators[i] = erfcx(x)
                del numerators[k]
                break
    return numerators, list(denominators)


def _is_square_of(var: Variable, x: Variable) -> bool:
    node = var.owner
    if node is None or var.type.dtype != x.type.dtype or node.inputs[0] is not x:
        return False
    if node.op == mul:
        return len(node.inputs) == 2 and node.inputs[1] is x
    return node.op == square or (node.op == at_pow and has_value(node.inputs[1], 2))


local_mul_canonizer.add_simplifier(scaled_erfc, "scaled_erfc")
