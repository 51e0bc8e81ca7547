"""Logarithms and products of the complementary error function where it underflows or is close to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise import ops, special
from aesara.tensor.rewriting.algebra import Product, Reading, multiple, opposite
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    in_place_of,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()

#: Factors, with squares as two factors. Constants are factors too, since `x` may be one.
SQUARES = Reading(signs=True, powers=2)
#: Above this argument, the logarithm of erfc is computed from the scaled function.
TAIL = 0.5


def log_of_erfc(x: Variable) -> Variable:
    """Return ``log(erfc(x))``, accurate for large `x`, where `erfc` underflows, and for small `x`."""
    tail = ops.maximum(x, TAIL)
    return ops.switch(
        ops.lt(x, TAIL),
        ops.log1p(ops.neg(special.erf(ops.minimum(x, TAIL)))),
        ops.sub(ops.log(special.erfcx(tail)), ops.square(tail)),
    )


def is_unclipped_argument(x: Variable, out: Variable) -> bool:
    """Return whether `x` is a real argument that `log_of_erfc` has not clipped to the part below the tail."""
    return real_of_same_dtype(x, out) and output_of(x, ops.minimum) is None


def scale(x: Variable, number: float) -> Variable:
    """Return ``number * x``; if `x` is a multiple itself, both numbers are merged."""
    factor, x = multiple(x)
    number *= factor
    if abs(abs(number) - 1) < 4 * np.finfo("float64").eps:
        return x if number > 0 else ops.neg(x)
    return ops.mul(constant_like(number, x), x)


def is_half_of_erfc(x: Variable, out: Variable) -> bool:
    """Return whether the argument may be multiplied by ``sqrt(2)``, which loses too many digits in narrower floats."""
    return real_of_same_dtype(x, out) and out.type.dtype == "float64"


rules.add(
    row("local_log_erfc", (ops.log, (special.erfc, "x")), log_of_erfc),
    rule("local_log1p_neg_erf", (ops.log1p, (ops.neg, (special.erf, "x"))), log_of_erfc, is_unclipped_argument),
    row("local_log1p_erf", (ops.log1p, (special.erf, "x")), lambda x: log_of_erfc(opposite(x))),
    row("local_log_ndtr", (ops.log, (special.ndtr, "x")), (special.log_ndtr, "x")),
    rule("local_log_half_erfc", (ops.log, (ops.mul, 0.5, (special.erfc, "x"))),
         lambda x: special.log_ndtr(scale(x, -math.sqrt(2))), is_half_of_erfc),
    to=(rules.stabilize, rules.specialize),
)  # fmt: skip


def scaled_erfc(product: Product) -> Product:
    """``exp(x**2) * erfc(x) -> erfcx(x)`` and ``exp(-x**2) / erfc(x) -> 1 / erfcx(x)`` in a product.

    In both, one function overflows or underflows where the other underflows. ``exp(-x**2 / 2) / ndtr(x)`` is such a
    quotient too.
    """
    product = _tails_over_tails(product)
    factors, divisors = list(product.factors), list(product.divisors)
    for side, sign in ((divisors, -1), (factors, 1)):
        for i, tail in _tails(side):
            (argument,) = tail.inputs
            number, x = multiple(argument)
            if tail.op == special.ndtr:
                if side is factors:
                    continue
                number *= math.sqrt(0.5)
            exponential = next(
                (v for v in factors if _is_exponential_of_square(v, sign * number**2, x)),
                None,
            )
            if exponential is None:
                continue
            if tail.op == special.ndtr:
                argument = ops.mul(constant_like(-math.sqrt(0.5), argument), argument)
                factors.append(constant_like(2, argument))
            side[i] = special.erfcx(argument)
            del factors[next(k for k, v in enumerate(factors) if v is exponential)]
            if side is factors:
                break  # positions have changed
    return Product(factors, divisors)


def _tails(variables: Sequence[Variable]) -> list[tuple[int, Apply]]:
    """Return the positions and nodes of variables that are ``erfc`` or ``ndtr`` of real variables."""
    nodes = [
        (i, v.owner)
        for i, v in enumerate(variables)
        if v.owner is not None and v.owner.op in (special.erfc, special.ndtr)
    ]
    return [(i, node) for i, node in nodes if real_of_same_dtype(node.inputs[0], node.outputs[0])]


def _tails_over_tails(product: Product) -> Product:
    """``erfc(x) / erfc(y)`` -> ``exp(y**2 - x**2) * erfcx(x) / erfcx(y)`` where both are small; the same for `ndtr`"""
    factors, divisors = list(product.factors), list(product.divisors)
    for i, top in _tails(product.factors):
        sign = 1.0 if top.op == special.erfc else -math.sqrt(0.5)
        match = next(((k, node) for k, node in _tails(divisors) if node.op == top.op), None)
        if match is None or match[1].outputs[0].type.dtype != top.outputs[0].type.dtype:
            continue
        k, bottom = match
        (x,), (y,) = top.inputs, bottom.inputs
        limit = constant_like(sign, x)  # the tail begins here
        in_tails = ops.lt(limit, ops.minimum(x, y)) if sign > 0 else ops.lt(ops.maximum(x, y), limit)
        exponent = ops.mul(ops.sub(y, x), ops.add(y, x), constant_like(sign * sign, x))
        factors[i] = _scaled_where(in_tails, x, factors[i], limit, sign)
        divisors[k] = _scaled_where(in_tails, y, divisors[k], limit, sign)
        factors.append(ops.exp(ops.switch(in_tails, exponent, constant_like(0, x))))
    return Product(factors, divisors)


def _scaled_where(condition: Variable, x: Variable, otherwise: Variable, limit: Variable, sign: float) -> Variable:
    """Return the scaled function of `x` where a condition holds, which implies that `x` is beyond the limit."""
    inside = ops.switch(condition, x, limit)
    return ops.switch(
        condition, special.erfcx(inside if sign > 0 else ops.mul(constant_like(sign, x), inside)), otherwise
    )


def _is_exponential_of_square(var: Variable, number: float, x: Variable) -> bool:
    """Return whether a variable is ``exp(number * x**2)`` up to the rounding of the number."""
    node = output_of(var, ops.exp)
    if node is None:
        return False
    exponent = Product.read(node.inputs[0], SQUARES)
    product, squares = exponent.number, 0
    for factor in exponent.factors:
        value, base = multiple(factor)
        constant = 1 if base is x else common_value(base)
        if constant is None:
            return False
        product, squares = product * value * float(constant), squares + (base is x)
    if exponent.divisors or squares != 2:
        return False
    return abs(product - number) <= 8 * np.finfo(x.type.dtype).eps * abs(number)


@rules.stabilize
@rules.specialize
@node_rewriter([ops.true_divide], operands=[ops.mul, special.erfc])
def local_grad_log_erfc_neg(fgraph, node):
    """``exp(-x**2) / erfc(x) -> 1 / erfcx(x)``, which occurs in the gradient of ``log(erfc(x))``.

    For large `x`, numerator and denominator underflow.
    """
    (out,) = node.outputs
    product = Product.read(out)
    new = scaled_erfc(product)
    if new == product:
        return False
    quotient = Product(new.factors or [constant_like(1, out)], new.divisors).mantissa(out.type.dtype)
    return in_place_of(out, quotient, node.inputs)


rules.simplifier(local_mul_canonizer, scaled_erfc, "scaled_erfc", operands=[special.erfc, special.ndtr])
