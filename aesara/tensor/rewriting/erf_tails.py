"""Logarithms and products of the complementary error function, where it underflows or is close to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import rule
from aesara.tensor.elementwise.ops import (
    add,
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
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.hyperbolic import multiple
from aesara.tensor.rewriting.logistic import negated
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

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
    factor, x = multiple(x)
    number *= factor
    if abs(abs(number) - 1) < 4 * np.finfo("float64").eps:
        return x if number > 0 else neg(x)
    return mul(constant_like(number, x), x)


def is_half_of_erfc(x: Variable, out: Variable) -> bool:
    """Whether the argument may be multiplied by a root of two: in narrower floats that loses too many digits."""
    return real_of_same_dtype(x, out) and out.type.dtype == "float64"


rules.add(
    rule("local_log_erfc", (log, (erfc, "x")), log_of_erfc, real_of_same_dtype),
    rule("local_log1p_neg_erf", (log1p, (neg, (erf, "x"))), log_of_erfc, is_whole_argument),
    rule("local_log1p_erf", (log1p, (erf, "x")), lambda x: log_of_erfc(negated(x)), real_of_same_dtype),
    rule("local_log_ndtr", (log, (ndtr, "x")), lambda x: log_ndtr(x), real_of_same_dtype),
    rule("local_log_half_erfc", (log, (mul, 0.5, (erfc, "x"))), lambda x: log_ndtr(scaled(x, -math.sqrt(2))),
         is_half_of_erfc),
    to=(rules.stabilize, rules.specialize),
)  # fmt: skip


def scaled_erfc(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``exp(x**2) * erfc(x)`` in a product as ``erfcx(x)``, and ``exp(-x**2) / erfc(x)`` as ``1 / erfcx(x)``.

    The exponential overflows where the other factor underflows, or both underflow. ``exp(-x**2 / 2) / ndtr(x)`` is
    such a quotient, too.
    """
    numerators, denominators = _tails_over_tails(numerators, denominators)
    for i, factor in enumerate(denominators):
        node = factor.owner
        if node is None or node.op not in (erfc, ndtr) or not real_of_same_dtype(node.inputs[0], factor):
            continue
        (argument,) = node.inputs
        number, x = multiple(argument)
        if node.op == ndtr:
            number *= math.sqrt(0.5)
        for k, other in enumerate(numerators):
            inner = other.owner
            if inner is not None and inner.op == exp and _is_multiple_of_square(inner.inputs[0], -(number**2), x):
                if node.op == ndtr:
                    argument = mul(constant_like(-math.sqrt(0.5), argument), argument)
                    numerators.append(constant_like(2, argument))
                denominators[i] = erfcx(argument)
                del numerators[k]
                break
    for i, factor in enumerate(numerators):
        node = factor.owner
        if node is None or node.op != erfc or not real_of_same_dtype(node.inputs[0], factor):
            continue
        (argument,) = node.inputs
        number, x = multiple(argument)
        for k, other in enumerate(numerators):
            inner = other.owner
            if inner is not None and inner.op == exp and _is_multiple_of_square(inner.inputs[0], number**2, x):
                numerators[i] = erfcx(argument)
                del numerators[k]
                break
    return numerators, denominators


def _tails_over_tails(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``erfc(x) / erfc(y)`` where both are small, by scaled functions; the same of ``ndtr``."""
    numerators, denominators = list(numerators), list(denominators)
    for i, above in enumerate(list(numerators)):
        for op, sign in ((erfc, 1.0), (ndtr, -math.sqrt(0.5))):
            top = output_of(above, op)
            if top is None or not real_of_same_dtype(top.inputs[0], above):
                continue
            k = next((k for k, v in enumerate(denominators) if output_of(v, op) is not None), None)
            bottom = None if k is None else output_of(denominators[k], op)
            if k is None or bottom is None or denominators[k].type.dtype != above.type.dtype:
                continue
            (x,), (y,) = top.inputs, bottom.inputs
            if y.type.dtype != x.type.dtype:
                continue
            edge = constant_like(sign, x)  # on the side of the tail
            both = lt(edge, minimum(x, y)) if sign > 0 else lt(maximum(x, y), edge)
            exponent = mul(sub(y, x), add(y, x), constant_like(sign * sign, x))
            numerators[i] = _scaled_where(both, x, above, edge, sign)
            denominators[k] = _scaled_where(both, y, denominators[k], edge, sign)
            numerators.append(exp(switch(both, exponent, constant_like(0, x))))
            break
    return numerators, denominators


def _scaled_where(condition: Variable, x: Variable, otherwise: Variable, edge: Variable, sign: float) -> Variable:
    """The scaled function of `x` where a condition holds; `x` is beyond the edge there."""
    inside = switch(condition, x, edge)
    return switch(condition, erfcx(inside if sign > 0 else mul(constant_like(sign, x), inside)), otherwise)


def _is_multiple_of_square(var: Variable, number: float, x: Variable) -> bool:
    """Whether a variable is ``number * x**2``, but for the rounding of the number; ``(2 * x)**2`` is ``4 * x**2``."""
    factors, divisors = local_mul_canonizer.get_near_num_denum(var)
    if divisors:  # numbers are among the factors by now
        return False
    product = 1.0
    squares = 0
    for factor in factors:
        value, base = multiple(factor)
        constant = common_value(base)
        if constant is not None:
            product *= value * float(constant)
        elif base is x:
            product, squares = product * value, squares + 1
        else:
            squared = _squared_in(base)
            if squared is None:
                return False
            of_root, root = multiple(squared)
            if root is not x:
                return False
            product, squares = product * value * of_root**2, squares + 2
    return squares == 2 and abs(product - number) <= 8 * np.finfo(x.type.dtype).eps * abs(number)


def _squared_in(var: Variable) -> Variable | None:
    """What a variable is the square of, if it is written as one."""
    node = var.owner
    if node is None or not (node.op == square or (node.op == at_pow and has_value(node.inputs[1], 2))):
        return None
    return node.inputs[0]


rules.simplifier(local_mul_canonizer, scaled_erfc, "scaled_erfc", operands=[erfc, ndtr])
