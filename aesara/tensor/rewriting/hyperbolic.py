"""Hyperbolic functions written as exponentials, and exponentials in quotients that overflow together."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cosh,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    lt,
    minimum,
    mul,
    neg,
    sigmoid,
    sinh,
    square,
    sub,
    switch,
    tanh,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.algebra import Product, are_opposite, opposite
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
    same_floats,
)
from aesara.tensor.rewriting.logistic import simplify_logistic
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()


def log_of_cosh(x: Variable) -> Variable:
    """``log(cosh(x))``, which neither overflows nor loses the digits of small `x`."""
    near = log1p(mul(2, square(sinh(mul(0.5, x)))))
    return switch(lt(at_abs(x), 25), near, sub(at_abs(x), np.asarray(math.log(2), dtype=x.type.dtype)))


@rules.canonicalize
@node_rewriter([add, sub], operands=[exp, sigmoid])
def local_exponentials_to_hyperbolic(fgraph, node):
    """``exp(x) - exp(-x)`` as ``2 * sinh(x)``, ``exp(x) + exp(-x)`` as ``2 * cosh(x)``; the same of sigmoids.

    ``sigmoid(x) - sigmoid(-x)`` is ``tanh(x / 2)``.
    """
    out = node.outputs[0]
    if len(node.inputs) != 2 or any(v.owner is None or v.owner.op not in (exp, sigmoid) for v in node.inputs):
        return False
    first, second = (v.owner for v in node.inputs)
    x, y = first.inputs[0], second.inputs[0]
    if first.op != second.op or not same_floats(x, y, out) or not are_opposite(x, y):
        return False
    if first.op == sigmoid:
        return in_place_of(out, tanh(mul(0.5, x))) if node.op == sub else False
    return in_place_of(out, mul(2, (cosh if node.op == add else sinh)(x)))


rules.add(
    row("local_log_cosh", (log, (cosh, "x")), log_of_cosh),
    row(
        "local_log_sinh",
        (log, (sinh, "x")),
        lambda x: sub(add(x, log1mexp(mul(-2, x))), np.asarray(math.log(2), dtype=x.type.dtype)),
    ),
    rule(
        "local_log_multiple_of_cosh",
        (log, (mul, "c", (cosh, "x"))),
        lambda c, x: add(log_of_cosh(x), np.asarray(np.log(np.float64(common_value(c))), dtype=x.type.dtype)),
        lambda c, x, out: real_of_same_dtype(x, out) and (common_value(c) or 0) > 0 and common_value(c) < np.inf,
    ),
    row("local_log_expm1", (log, (expm1, "x")), lambda x: add(x, log1mexp(neg(x)))),
    to=(rules.stabilize, rules.specialize),
)


# In products


def exponentials_in_quotients(product: Product) -> Product:
    """Replace factors that overflow together by functions that do not.

    ``sinh(x) / cosh(x)`` is ``tanh(x)``, ``expm1(x) / (1 + exp(x))`` is ``tanh(x / 2)``,
    ``exp(x) / expm1(x)`` is the same of a smaller `x`, ``exp(x) / cosh(x)`` is
    ``2 * sigmoid(2 * x)`` and ``1 / exp(x)`` is ``exp(-x)``.
    """
    product = _with_powers_apart(product)
    above = _functions(product.factors, (sinh, cosh, expm1, exp, sigmoid))
    below = _functions(product.divisors, (sinh, cosh, expm1))
    product = _with_pair_replaced(product, above, below)
    if below:
        product = _of_different_arguments(product)
    if len(product.divisors) == 1 and all(_is_large_constant(v) for v in product.factors):
        for _, divisor in _functions(product.divisors, (exp,)):
            return Product([*product.factors, exp(opposite(divisor.inputs[0]))])
    return product


def _with_pair_replaced(product: Product, above: list[tuple[int, Apply]], below: list[tuple[int, Apply]]) -> Product:
    """Return a product with the first two functions replaced that overflow together."""
    factors, divisors = product.factors, product.divisors
    for i, node in above:
        (x,) = node.inputs
        for k, other in above:
            if node.op == expm1 and other.op == sigmoid and are_opposite(x, other.inputs[0]):
                with_tanh = [*factors[:i], tanh(mul(0.5, x)), *factors[i + 1 :]]
                del with_tanh[k]
                return Product(with_tanh, divisors)
        for k, other in below:
            new = _quotient(node, other)
            if new is not None:
                return Product(
                    [*factors[:i], *new.factors, *factors[i + 1 :]], [*divisors[:k], *new.divisors, *divisors[k + 1 :]]
                )
    return product


def _quotient(top: Apply, bottom: Apply) -> Product | None:
    """Return the quotient of two functions that overflow together, by functions that do not."""
    (x,), (y,) = top.inputs, bottom.inputs
    if top.op == exp and bottom.op == cosh and (x is y or are_opposite(x, y)):
        return Product([sigmoid(mul(2, x))], [constant_like(0.5, x)])
    if x is not y:
        return None
    if top.op == sinh and bottom.op == cosh:
        return Product([tanh(x)])
    if top.op == cosh and bottom.op == sinh:
        return Product([], [tanh(x)])
    if top.op == exp and bottom.op == expm1 and output_of(x, minimum) is None:
        # Far above zero both are the same.
        near = minimum(x, np.asarray(np.log(np.finfo(x.type.dtype).max) / 2, dtype=x.type.dtype))
        return Product([exp(near)], [expm1(near)])
    return None


def _of_different_arguments(product: Product) -> Product:
    """``cosh(x) / cosh(y)`` as ``exp(|x| - |y|)`` times a quotient of numbers between 1 and 2; the same of ``sinh``."""
    factors, divisors = list(product.factors), list(product.divisors)
    pairs = zip(_functions(factors, (sinh, cosh)), _functions(divisors, (sinh, cosh)))
    for (i, top), (k, bottom) in pairs:
        if top.outputs[0].type.dtype == bottom.outputs[0].type.dtype:
            factors.append(exp(sub(at_abs(top.inputs[0]), at_abs(bottom.inputs[0]))))
            factors[i], divisors[k] = _without_exponential(top), _without_exponential(bottom)
    return Product(factors, divisors)


def _functions(variables: Sequence[Variable], functions: Collection[Op]) -> list[tuple[int, Apply]]:
    """Return the positions and nodes of those variables that are some functions of real variables of their dtype."""
    nodes = [(k, v.owner) for k, v in enumerate(variables) if v.owner is not None and v.owner.op in functions]
    return [(k, node) for k, node in nodes if real_of_same_dtype(node.inputs[0], node.outputs[0])]


def _without_exponential(node: Apply) -> Variable:
    """``2 * exp(-abs(x))`` times the hyperbolic sine or cosine of `x`."""
    (x,) = node.inputs
    if node.op == cosh:
        return add(1, exp(mul(-2, at_abs(x))))
    rest = expm1(mul(-2, at_abs(x)))
    return switch(lt(x, 0), rest, neg(rest))


def _is_large_constant(var: Variable) -> bool:
    """Whether a factor is a number so large that an exponential times it overflows not before its quotient does."""
    value = common_value(var)
    return value is not None and bool(abs(value) >= 1)


def _with_powers_apart(product: Product) -> Product:
    """Return a product with squares and reciprocals of sums with exponentials as several factors."""
    sides: tuple[list[Variable], list[Variable]] = ([], [])
    with_exponential = any(output_of(v, exp) is not None for v in product.factors)
    for below, side in enumerate((product.factors, product.divisors)):
        for var in side:
            base, exponent = _base_and_exponent(var)
            if base is None or (output_of(base, sigmoid) is not None and not with_exponential):
                sides[below].append(var)
            else:
                sides[below ^ (exponent < 0)].extend([base] * abs(exponent))
    if sides == (product.factors, product.divisors):
        return product
    return simplify_logistic(Product(*sides))


def _base_and_exponent(var: Variable) -> tuple[Variable | None, int]:
    """Return the base and the exponent of a square, or an inverse, of what `exponentials_in_quotients` is about."""
    node = var.owner
    if node is None or node.op not in (square, at_pow) or not is_float(var):
        return None, 0
    base = node.inputs[0]
    exponent = 2 if node.op == square else common_value(node.inputs[1])
    if exponent not in (2, -1, -2) or base.type.dtype != var.type.dtype or base.owner is None:
        return None, 0
    is_sum = base.owner.op == add and any(output_of(v, exp) is not None for v in base.owner.inputs)
    return (base, int(exponent)) if is_sum or base.owner.op in (expm1, sigmoid) else (None, 0)


rules.simplifier(
    local_mul_canonizer,
    exponentials_in_quotients,
    "exponentials_in_quotients",
    operands=[square, at_pow, sinh, cosh, expm1, exp],
)
