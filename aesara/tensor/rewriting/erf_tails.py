"""Logarithms and products of the complementary error function, where it underflows or is close to 1."""

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

#: Factors, with squares as two of them; constants, of which `x` may be one, are among them.
SQUARES = Reading(signs=True, powers=2)
#: From here on the logarithm of erfc is that of the scaled function.
TAIL = 0.5


def log_of_erfc(x: Variable) -> Variable:
    """``log(erfc(x))``, which neither underflows for large `x` nor loses the digits of small ones."""
    tail = ops.maximum(x, TAIL)
    return ops.switch(
        ops.lt(x, TAIL),
        ops.log1p(ops.neg(special.erf(ops.minimum(x, TAIL)))),
        ops.sub(ops.log(special.erfcx(tail)), ops.square(tail)),
    )


def is_whole_argument(x: Variable, out: Variable) -> bool:
    """Return whether `x` is a real argument that `log_of_erfc` has not clipped to the part below the tail."""
    return real_of_same_dtype(x, out) and output_of(x, ops.minimum) is None


def scale(x: Variable, number: float) -> Variable:
    """``number * x`` with a number that `x` is multiplied with taken into account."""
    factor, x = multiple(x)
    number *= factor
    if abs(abs(number) - 1) < 4 * np.finfo("float64").eps:
        return x if number > 0 else ops.neg(x)
    return ops.mul(constant_like(number, x), x)


def is_half_of_erfc(x: Variable, out: Variable) -> bool:
    """Return whether the argument may be multiplied by a root of two: in narrower floats that loses too many digits."""
    return real_of_same_dtype(x, out) and out.type.dtype == "float64"


rules.add(
    row("local_log_erfc", (ops.log, (special.erfc, "x")), log_of_erfc),
    rule("local_log1p_neg_erf", (ops.log1p, (ops.neg, (special.erf, "x"))), log_of_erfc, is_whole_argument),
    row("local_log1p_erf", (ops.log1p, (special.erf, "x")), lambda x: log_of_erfc(opposite(x))),
    row("local_log_ndtr", (ops.log, (special.ndtr, "x")), (special.log_ndtr, "x")),
    rule("local_log_half_erfc", (ops.log, (ops.mul, 0.5, (special.erfc, "x"))),
         lambda x: special.log_ndtr(scale(x, -math.sqrt(2))), is_half_of_erfc),
    to=(rules.stabilize, rules.specialize),
)  # fmt: skip


def scaled_erfc(product: Product) -> Product:
    """``exp(x**2) * erfc(x) -> erfcx(x)`` and ``exp(-x**2) / erfc(x) -> 1 / erfcx(x)`` in a product.

    The exponential overflows where the other factor underflows, or both underflow. ``exp(-x**2 / 2) / ndtr(x)`` is
    such a quotient, too.
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
    """Return the positions and nodes of those variables that are ``erfc`` or ``ndtr`` of real variables."""
    nodes = [
        (i, v.owner)
        for i, v in enumerate(variables)
        if v.owner is not None and v.owner.op in (special.erfc, special.ndtr)
    ]
    return [(i, node) for i, node in nodes if real_of_same_dtype(node.inputs[0], node.outputs[0])]


def _tails_over_tails(product: Product) -> Product:
    """``erfc(x) / erfc(y)`` where both are small, by scaled functions; the same of ``ndtr``."""
    factors, divisors = list(product.factors), list(product.divisors)
    for i, top in _tails(product.factors):
        sign = 1.0 if top.op == special.erfc else -math.sqrt(0.5)
        found = next(((k, node) for k, node in _tails(divisors) if node.op == top.op), None)
        if found is None or found[1].outputs[0].type.dtype != top.outputs[0].type.dtype:
            continue
        k, bottom = found
        (x,), (y,) = top.inputs, bottom.inputs
        edge = constant_like(sign, x)  # on the side of the tail
        both = ops.lt(edge, ops.minimum(x, y)) if sign > 0 else ops.lt(ops.maximum(x, y), edge)
        exponent = ops.mul(ops.sub(y, x), ops.add(y, x), constant_like(sign * sign, x))
        factors[i] = _scaled_where(both, x, factors[i], edge, sign)
        divisors[k] = _scaled_where(both, y, divisors[k], edge, sign)
        factors.append(ops.exp(ops.switch(both, exponent, constant_like(0, x))))
    return Product(factors, divisors)


def _scaled_where(condition: Variable, x: Variable, otherwise: Variable, edge: Variable, sign: float) -> Variable:
    """Return the scaled function of `x` where a condition holds; `x` is beyond the edge there."""
    inside = ops.switch(condition, x, edge)
    return ops.switch(
        condition, special.erfcx(inside if sign > 0 else ops.mul(constant_like(sign, x), inside)), otherwise
    )


def _is_exponential_of_square(var: Variable, number: float, x: Variable) -> bool:
    """Return whether a variable is ``exp(number * x**2)``, but for the rounding of the number."""
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
    """``exp(-x**2) / erfc(x) -> 1 / erfcx(x)``, which is what the gradient of ``log(erfc(x))`` holds.

    For large `x` both parts of the quotient underflow.
    """
    (out,) = node.outputs
    product = Product.read(out)
    new = scaled_erfc(product)
    if new == product:
        return False
    quotient = Product(new.factors or [constant_like(1, out)], new.divisors).mantissa(out.type.dtype)
    return in_place_of(out, quotient, node.inputs)


rules.simplifier(local_mul_canonizer, scaled_erfc, "scaled_erfc", operands=[special.erfc, special.ndtr])
