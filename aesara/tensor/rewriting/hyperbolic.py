"""Hyperbolic functions written as exponentials, and exponentials in quotients that overflow together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
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
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.logistic import is_negation, negated, simplify_logistic
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


def are_opposite(x: Variable, y: Variable, out: Variable) -> bool:
    """Whether two variables of the dtype of the result are the opposites of each other, as numbers times a third."""
    if not (real_of_same_dtype(x, out) and real_of_same_dtype(y, out)):
        return False
    if is_negation(x, y):
        return True
    (first, base), (second, other) = multiple(x), multiple(y)
    return base is other and first == -second


def multiple(x: Variable) -> tuple[float, Variable]:
    """A number and a variable whose product is `x`."""
    number = 1.0
    node = x.owner
    while node is not None:
        if node.op == neg:
            number, x = -number, node.inputs[0]
        elif node.op == mul and len(node.inputs) == 2 and any(common_value(v) is not None for v in node.inputs):
            k = 0 if common_value(node.inputs[0]) is not None else 1
            if node.inputs[1 - k].type != x.type:
                break
            number, x = number * float(common_value(node.inputs[k])), node.inputs[1 - k]
        elif node.op == true_divide and node.inputs[0].type == x.type and common_value(node.inputs[1]):
            number, x = number / float(common_value(node.inputs[1])), node.inputs[0]
        else:
            break
        node = x.owner
    return number, x


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
    if first.op != second.op or not are_opposite(x, y, out):
        return False
    if first.op == sigmoid:
        return in_place_of(out, tanh(mul(0.5, x))) if node.op == sub else False
    return in_place_of(out, mul(2, (cosh if node.op == add else sinh)(x)))


rules.add(
    rule("local_log_cosh", (log, (cosh, "x")), log_of_cosh, real_of_same_dtype),
    rule(
        "local_log_sinh",
        (log, (sinh, "x")),
        lambda x: sub(add(x, log1mexp(mul(-2, x))), np.asarray(math.log(2), dtype=x.type.dtype)),
        real_of_same_dtype,
    ),
    rule(
        "local_log_multiple_of_cosh",
        (log, (mul, "c", (cosh, "x"))),
        lambda c, x: add(log_of_cosh(x), np.asarray(np.log(np.float64(common_value(c))), dtype=x.type.dtype)),
        lambda c, x, out: real_of_same_dtype(x, out) and (common_value(c) or 0) > 0 and common_value(c) < np.inf,
    ),
    rule(
        "local_log_expm1",
        (log, (expm1, "x")),
        lambda x: add(x, log1mexp(neg(x))),
        real_of_same_dtype,
    ),
    to=(rules.stabilize, rules.specialize),
)


# In products


def exponentials_in_quotients(
    numerators: Sequence[Variable], denominators: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Factors that overflow together, as functions that do not.

    ``sinh(x) / cosh(x)`` is ``tanh(x)``, ``expm1(x) / (1 + exp(x))`` is ``tanh(x / 2)``,
    ``exp(x) / expm1(x)`` is the same of a smaller `x`, ``exp(x) / cosh(x)`` is
    ``2 * sigmoid(2 * x)`` and ``1 / exp(x)`` is ``exp(-x)``.
    """
    numerators, denominators = list(numerators), list(denominators)
    if _powers_are_taken_apart(numerators, denominators):
        numerators, denominators = simplify_logistic(numerators, denominators)
    # Products may be long: what could stand together is found first.
    sigmoids = [k for k, v in enumerate(numerators) if output_of(v, sigmoid) is not None]
    below = [k for k, v in enumerate(denominators) if v.owner is not None and v.owner.op in (sinh, cosh, expm1)]
    for i, var in enumerate(numerators if sigmoids or below else ()):
        node = var.owner
        if node is None or node.op not in (sinh, cosh, expm1, exp) or not real_of_same_dtype(node.inputs[0], var):
            continue
        (x,) = node.inputs
        if node.op == expm1:
            arguments = ((k, output_of(numerators[k], sigmoid)) for k in sigmoids)
            k = next((k for k, other in arguments if other is not None and is_negation(x, other.inputs[0])), None)
            if k is not None:
                numerators[i] = tanh(mul(0.5, x))
                del numerators[k]
                break
            continue
        if node.op == exp:
            coshes = ((k, output_of(denominators[k], cosh)) for k in below)
            k = next((k for k, other in coshes if other is not None and _is_or_negates(other.inputs[0], x)), None)
            if k is not None:
                numerators[i] = sigmoid(mul(2, x))
                denominators[k] = constant_like(0.5, var)
                break
        partner = {sinh: cosh, cosh: sinh, exp: expm1}[node.op]
        k = next((k for k in below if _is_of(denominators[k], partner, x)), None)
        if k is None:
            continue
        if node.op == exp:
            if output_of(x, minimum) is not None:
                continue
            # Far above zero both are the same.
            near = minimum(x, np.asarray(np.log(np.finfo(x.type.dtype).max) / 2, dtype=x.type.dtype))
            numerators[i], denominators[k] = exp(near), expm1(near)
        elif node.op == sinh:
            numerators[i] = tanh(x)
            del denominators[k]
        else:
            denominators[k] = tanh(x)
            del numerators[i]
        break
    if below:
        numerators, denominators = _of_different_arguments(numerators, denominators)
    if len(denominators) == 1 and all(_is_large_constant(v) for v in numerators):
        node = denominators[0].owner
        if node is not None and node.op == exp and real_of_same_dtype(node.inputs[0], denominators[0]):
            return [*numerators, exp(negated(node.inputs[0]))], []
    return numerators, denominators


def _of_different_arguments(
    numerators: list[Variable], denominators: list[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``cosh(x) / cosh(y)`` as ``exp(|x| - |y|)`` times a quotient of numbers between 1 and 2; the same of ``sinh``."""
    for i, above in enumerate(list(numerators)):
        top = _hyperbolic(above)
        k = next((k for k, v in enumerate(denominators) if _hyperbolic(v) is not None), None)
        bottom = None if k is None else _hyperbolic(denominators[k])
        if top is None or k is None or bottom is None or denominators[k].type.dtype != above.type.dtype:
            continue
        numerators.append(exp(sub(at_abs(top.inputs[0]), at_abs(bottom.inputs[0]))))
        numerators[i], denominators[k] = _without_exponential(top), _without_exponential(bottom)
    return numerators, denominators


def _hyperbolic(var: Variable) -> Apply | None:
    """The node of a hyperbolic sine or cosine."""
    node = var.owner
    return node if node is not None and node.op in (sinh, cosh) and real_of_same_dtype(node.inputs[0], var) else None


def _without_exponential(node: Apply) -> Variable:
    """``2 * exp(-abs(x))`` times the hyperbolic sine or cosine of `x`."""
    (x,) = node.inputs
    if node.op == cosh:
        return add(1, exp(mul(-2, at_abs(x))))
    rest = expm1(mul(-2, at_abs(x)))
    return switch(lt(x, 0), rest, neg(rest))


def _is_of(var: Variable, op: object, x: Variable) -> bool:
    """Whether a factor is an op of `x`."""
    return var.owner is not None and var.owner.op == op and var.owner.inputs[0] is x


def _is_or_negates(var: Variable, x: Variable) -> bool:
    """Whether a variable is `x` or ``-x``."""
    return var is x or is_negation(var, x)


def _is_large_constant(var: Variable) -> bool:
    """Whether a factor is a number so large that an exponential times it overflows not before its quotient does."""
    value = common_value(var)
    return value is not None and bool(abs(value) >= 1)


def _powers_are_taken_apart(numerators: list[Variable], denominators: list[Variable]) -> bool:
    """Replace squares and reciprocals of sums with exponentials by several factors; whether there were any."""
    changed = False
    with_exponential = any(v.owner is not None and v.owner.op == exp for v in numerators)
    for sides in ((numerators, denominators), (denominators, numerators)):
        for var in list(sides[0]):
            base, exponent = _base_and_exponent(var)
            if base is None or (output_of(base, sigmoid) is not None and not with_exponential):
                continue
            changed = True
            del sides[0][next(i for i, v in enumerate(sides[0]) if v is var)]
            sides[exponent < 0].extend([base] * abs(exponent))
    return changed


def _base_and_exponent(var: Variable) -> tuple[Variable | None, int]:
    node = var.owner
    if node is None or node.op not in (square, at_pow) or not is_float(var):
        return None, 0
    base = node.inputs[0]
    exponent = 2 if node.op == square else common_value(node.inputs[1])
    if exponent not in (2, -1, -2) or base.type.dtype != var.type.dtype or base.owner is None:
        return None, 0
    inner = base.owner
    if inner.op not in (expm1, sigmoid) and not (inner.op == add and any(v.owner is not None and v.owner.op == exp
                                                          for v in inner.inputs)):  # fmt: skip
        return None, 0
    return base, int(exponent)


rules.simplifier(
    local_mul_canonizer,
    exponentials_in_quotients,
    "exponentials_in_quotients",
    operands=[square, at_pow, sinh, cosh, expm1, exp],
)
