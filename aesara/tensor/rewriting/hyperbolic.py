"""Hyperbolic functions, also written as exponentials, and exponentials that overflow in bounded functions.

``exp(-exp(x))`` and its derivatives underflow to zero from `x` = 7 on. The chain rule multiplies the zero by
``exp(x)``, which is infinite from 710 on, and the product is NaN. The form that is differentiated therefore has a
bounded exponential.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.records import dataclass
from aesara.tensor.derivatives.gradient_operators import DisconnectedGrad, disconnected_grad
from aesara.tensor.elementwise import ops
from aesara.tensor.rewriting.algebra import PRODUCTS, Product, are_opposite, multiple, opposite
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
    same_floats,
    where_or_nan,
)
from aesara.tensor.rewriting.logistic import simplify_logistic
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.rewriting.sums import terms_with

rules = Rules()

#: The depth of sums and products in which exponentials are searched.
DEEPEST = 4


def with_bounded_exponentials(var: Variable, kept: Collection[Variable], margin: float = 0.0) -> Variable:
    """Return `var` with each exponential limited to the largest number of the dtype.

    Parameters
    ----------
    var
        A sum or product with exponentials among its terms and factors. Without any, it is returned.
    kept
        Variables whose operations are not visited.
    margin
        The logarithm of the ratio of the largest number to the bound of exponentials.
    """
    return _bound(var, kept, margin, DEEPEST)


def _bound(var: Variable, kept: Collection[Variable], margin: float, depth: int) -> Variable:
    node = var.owner
    if node is None or depth == 0 or var in kept:
        return var
    if node.op == ops.exp:
        (x,) = node.inputs
        if not real_of_same_dtype(x, var) or _is_bounded(x):
            return var
        largest = np.nextafter(np.log(np.finfo(x.type.dtype).max), 0, dtype=x.type.dtype)
        inside = disconnected_grad(ops.minimum(x, constant_like(largest - margin, x)))
        # The added difference is zero, and gives the bounded exponential the derivative of an exponential.
        return ops.exp(ops.add(inside, ops.sub(x, disconnected_grad(x))))
    if node.op in (ops.add, ops.sub, ops.mul, ops.true_divide, ops.neg):
        operands = [_bound(v, kept, margin, depth - 1) for v in node.inputs]
        if any(new is not old for new, old in zip(operands, node.inputs)):
            return node.op(*operands)
    return var


def _is_bounded(x: Variable) -> bool:
    node = output_of(x, ops.add)
    return node is not None and output_of(node.inputs[0], DisconnectedGrad) is not None


@dataclass
class Part:
    """A sum or difference of two exponentials.

    Attributes
    ----------
    sign
        The sign of the second term.
    x
        The argument for which the quotient of the difference and the sum is ``tanh(x)``.
    kind
        The form in which it is written; only a sum and a difference of the same kind have such a quotient.
    even
        Whether the sum is the same for ``-x``.
    opposite
        Whether a difference is written with the opposite sign: ``1 - exp(x)``.
    """

    sign: int
    x: Variable
    kind: str
    even: bool = True
    opposite: bool = False


def quotient_of_hyperbolic_functions(top: Variable, bottom: Variable, kept: Collection[Variable]) -> Variable | None:
    """Return ``sinh(x) / cosh(x)`` as ``tanh(x)`` and ``cosh(x) / sinh(x)`` as its reciprocal, for differentiation.

    The same holds for quotients of ``exp(x) - exp(-x)``, or ``exp(2 * x) - 1``, and the sums of the same terms. Return
    None for other quotients.
    """
    first = _part(top, kept)
    second = None if first is None else _part(bottom, kept)
    if first is None or second is None or first.kind != second.kind or first.sign == second.sign:
        return None
    (number, base), (other_number, other) = multiple(first.x), multiple(second.x)
    if base is not other or (abs(number) != abs(other_number) if first.even else number != other_number):
        return None
    difference = first if first.sign < 0 else second
    x = opposite(difference.x) if difference.opposite else difference.x
    if difference is second:
        return ops.reciprocal(ops.tanh(x))
    # The derivative of the logistic function is accurate where that of `tanh` is a difference of nearly equal numbers.
    return ops.sub(ops.mul(2, ops.sigmoid(ops.mul(2, x))), 1)


def _part(var: Variable, kept: Collection[Variable]) -> Part | None:
    node = var.owner
    if node is None or var in kept:
        return None
    for op, sign in ((ops.sinh, -1), (ops.cosh, 1)):
        if node.op == op:
            return Part(sign, node.inputs[0], "functions") if real_of_same_dtype(node.inputs[0], var) else None
    if node.op not in (ops.add, ops.sub) or len(node.inputs) != 2:
        return None
    powers = [None if term in kept else output_of(term, ops.exp) for term in node.inputs]
    if any(power is not None and not real_of_same_dtype(power.inputs[0], var) for power in powers):
        return None
    sign = 1 if node.op == ops.add else -1
    first, second = powers
    if first is not None and second is not None:
        x, y = first.inputs[0], second.inputs[0]
        return Part(sign, x, "pair") if are_opposite(x, y) else None
    if first is not None and has_value(node.inputs[1], 1):
        return Part(sign, _half(first.inputs[0]), "one", even=False)
    if second is not None and has_value(node.inputs[0], 1):
        return Part(sign, _half(second.inputs[0]), "one", even=False, opposite=sign < 0)
    return None


def _half(x: Variable) -> Variable:
    return ops.mul(constant_like(0.5, x), x)


def log_of_cosh(x: Variable) -> Variable:
    """Return ``log(cosh(x))`` without overflow, and accurate for small `x`."""
    near = ops.log1p(ops.mul(2, ops.square(ops.sinh(ops.mul(0.5, x)))))
    return ops.switch(ops.lt(ops.abs(x), 25), near, ops.sub(ops.abs(x), np.asarray(math.log(2), dtype=x.type.dtype)))


@rules.canonicalize
@node_rewriter([ops.add, ops.sub], operands=[ops.exp, ops.sigmoid])
def local_exponentials_to_hyperbolic(fgraph, node):
    """``exp(x) - exp(-x) -> 2 * sinh(x)``, ``exp(x) + exp(-x) -> 2 * cosh(x)``

    Also ``sigmoid(x) - sigmoid(-x) -> tanh(x / 2)``.
    """
    out = node.outputs[0]
    if len(node.inputs) != 2 or any(v.owner is None or v.owner.op not in (ops.exp, ops.sigmoid) for v in node.inputs):
        return False
    first, second = (v.owner for v in node.inputs)
    x, y = first.inputs[0], second.inputs[0]
    if first.op != second.op or not same_floats(x, y, out) or not are_opposite(x, y):
        return False
    if first.op == ops.sigmoid:
        return in_place_of(out, ops.tanh(ops.mul(0.5, x))) if node.op == ops.sub else False
    return in_place_of(out, ops.mul(2, (ops.cosh if node.op == ops.add else ops.sinh)(x)))


rules.add(
    row("local_log_cosh", (ops.log, (ops.cosh, "x")), log_of_cosh),
    row(
        "local_log_sinh",
        (ops.log, (ops.sinh, "x")),
        lambda x: ops.sub(ops.add(x, ops.log1mexp(ops.mul(-2, x))), np.asarray(math.log(2), dtype=x.type.dtype)),
    ),
    rule(
        "local_log_multiple_of_cosh",
        (ops.log, (ops.mul, "c", (ops.cosh, "x"))),
        lambda c, x: ops.add(log_of_cosh(x), np.asarray(np.log(np.float64(common_value(c))), dtype=x.type.dtype)),
        lambda c, x, out: real_of_same_dtype(x, out) and (common_value(c) or 0) > 0 and common_value(c) < np.inf,
    ),
    row("local_log_expm1", (ops.log, (ops.expm1, "x")), lambda x: ops.add(x, ops.log1mexp(ops.neg(x)))),
    to=(rules.stabilize, rules.specialize),
)


# In products


def exponentials_in_quotients(product: Product) -> Product:
    """Replace factors and divisors that overflow together by functions that do not.

    ``sinh(x) / cosh(x) -> tanh(x)``, ``expm1(x) / (1 + exp(x)) -> tanh(x / 2)``,
    ``exp(x) / cosh(x) -> 2 * sigmoid(2 * x)`` and ``1 / exp(x) -> exp(-x)``; ``exp(x) / expm1(x)`` is computed from
    the minimum of `x` and a bound.
    """
    product = _expand_powers(product)
    above = _functions(product.factors, (ops.sinh, ops.cosh, ops.expm1, ops.exp, ops.sigmoid))
    below = _functions(product.divisors, (ops.sinh, ops.cosh, ops.expm1))
    product = _with_pair_replaced(product, above, below)
    if below:
        product = _of_different_arguments(product)
    if len(product.divisors) == 1 and all(_is_large_constant(v) for v in product.factors):
        for _, divisor in _functions(product.divisors, (ops.exp,)):
            return Product([*product.factors, ops.exp(opposite(divisor.inputs[0]))])
    return product


def _with_pair_replaced(product: Product, above: list[tuple[int, Apply]], below: list[tuple[int, Apply]]) -> Product:
    """Replace the first pair of functions in a product that overflow together."""
    factors, divisors = product.factors, product.divisors
    for i, node in above:
        (x,) = node.inputs
        for k, other in above:
            if node.op == ops.expm1 and other.op == ops.sigmoid and are_opposite(x, other.inputs[0]):
                with_tanh = [*factors[:i], ops.tanh(ops.mul(0.5, x)), *factors[i + 1 :]]
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
    """Return the quotient of two functions that overflow together by functions that do not, else None."""
    (x,), (y,) = top.inputs, bottom.inputs
    if top.op == ops.exp and bottom.op == ops.cosh and (x is y or are_opposite(x, y)):
        return Product([ops.sigmoid(ops.mul(2, x))], [constant_like(0.5, x)])
    if x is not y:
        return None
    if top.op == ops.sinh and bottom.op == ops.cosh:
        return Product([ops.tanh(x)])
    if top.op == ops.cosh and bottom.op == ops.sinh:
        return Product([], [ops.tanh(x)])
    if top.op == ops.exp and bottom.op == ops.expm1 and output_of(x, ops.minimum) is None:
        # Far above zero, both functions are equal.
        near = ops.minimum(x, np.asarray(np.log(np.finfo(x.type.dtype).max) / 2, dtype=x.type.dtype))
        return Product([ops.exp(near)], [ops.expm1(near)])
    return None


def _of_different_arguments(product: Product) -> Product:
    """``cosh(x) / cosh(y)`` -> ``exp(|x| - |y|)`` times a quotient of numbers from 1 to 2; the same for `sinh`"""
    factors, divisors = list(product.factors), list(product.divisors)
    pairs = zip(_functions(factors, (ops.sinh, ops.cosh)), _functions(divisors, (ops.sinh, ops.cosh)))
    for (i, top), (k, bottom) in pairs:
        if top.outputs[0].type.dtype == bottom.outputs[0].type.dtype:
            factors.append(ops.exp(ops.sub(ops.abs(top.inputs[0]), ops.abs(bottom.inputs[0]))))
            factors[i], divisors[k] = _without_exponential(top), _without_exponential(bottom)
    return Product(factors, divisors)


def _functions(variables: Sequence[Variable], functions: Collection[Op]) -> list[tuple[int, Apply]]:
    """Return the positions and nodes of variables that are one of `functions` of real variables of their dtype."""
    nodes = [(k, v.owner) for k, v in enumerate(variables) if v.owner is not None and v.owner.op in functions]
    return [(k, node) for k, node in nodes if real_of_same_dtype(node.inputs[0], node.outputs[0])]


def _without_exponential(node: Apply) -> Variable:
    """Return ``2 * exp(-abs(x))`` times the hyperbolic sine or cosine of `x`."""
    (x,) = node.inputs
    if node.op == ops.cosh:
        return ops.add(1, ops.exp(ops.mul(-2, ops.abs(x))))
    rest = ops.expm1(ops.mul(-2, ops.abs(x)))
    return ops.switch(ops.lt(x, 0), rest, ops.neg(rest))


def _is_large_constant(var: Variable) -> bool:
    """Return whether a factor is a constant of at least 1 in absolute value."""
    value = common_value(var)
    return value is not None and bool(abs(value) >= 1)


def _expand_powers(product: Product) -> Product:
    """Return a product with squares and inverses of sums of exponentials as repeated factors or divisors."""
    sides: tuple[list[Variable], list[Variable]] = ([], [])
    with_exponential = any(output_of(v, ops.exp) is not None for v in product.factors)
    for below, side in enumerate((product.factors, product.divisors)):
        for var in side:
            base, exponent = _base_and_exponent(var)
            if base is None or (output_of(base, ops.sigmoid) is not None and not with_exponential):
                sides[below].append(var)
            else:
                sides[below ^ (exponent < 0)].extend([base] * abs(exponent))
    if sides == (product.factors, product.divisors):
        return product
    return simplify_logistic(Product(*sides))


def _base_and_exponent(var: Variable) -> tuple[Variable | None, int]:
    """Return the base and exponent of a power that `exponentials_in_quotients` expands, else ``(None, 0)``."""
    node = var.owner
    if node is None or node.op not in (ops.square, ops.pow) or not is_float(var):
        return None, 0
    base = node.inputs[0]
    exponent = 2 if node.op == ops.square else common_value(node.inputs[1])
    if exponent not in (2, -1, -2) or base.type.dtype != var.type.dtype or base.owner is None:
        return None, 0
    is_sum = base.owner.op == ops.add and any(output_of(v, ops.exp) is not None for v in base.owner.inputs)
    return (base, int(exponent)) if is_sum or base.owner.op in (ops.expm1, ops.sigmoid) else (None, 0)


rules.simplifier(
    local_mul_canonizer,
    exponentials_in_quotients,
    "exponentials_in_quotients",
    operands=[ops.square, ops.pow, ops.sinh, ops.cosh, ops.expm1, ops.exp],
)


#: The functions `g` and signs for each `f` with ``f(x)**2 + sign * g(x)**2 == 1``.
PAIRS: dict[Op, tuple[Op, int]] = {ops.sin: (ops.cos, 1), ops.cosh: (ops.sinh, -1)}
PARTNERS = frozenset(op for op, _ in PAIRS.values())


@rules.canonicalize
@rules.stabilize
@node_rewriter([ops.add, ops.sub], operands=list(PRODUCTS))
def local_pythagorean_pair(fgraph, node):
    """``t*sin(x)**2 + t*cos(x)**2`` and ``t*cosh(x)**2 - t*sinh(x)**2`` -> `t`, and NaN where `x` is infinite."""
    out = node.outputs[0]
    total, products = terms_with(node, PAIRS, PARTNERS)
    for i, term in products:
        for f in dict.fromkeys(term.factors):
            if f.owner is None or f.owner.op not in PAIRS or not same_floats(f, f.owner.inputs[0], out):
                continue
            rest = term.without(f, 2)
            k = None if rest is None else _partner(term.number, f.owner.op, f.owner.inputs[0], rest, products)
            if k is None:
                continue
            (x,) = f.owner.inputs
            one_or_nan = where_or_nan(ops.lt(ops.abs(x), np.inf), constant_like(1, x), out)
            product = Product([*rest.factors, one_or_nan], rest.divisors, term.number)
            new = total.without((i, k)).plus(product.build(out))
            return in_place_of(out, new.build(out.type.dtype), node.inputs)
    return False


def _partner(number: float, f: Op, x: Variable, rest: Product, products: Sequence[tuple[int, Product]]) -> int | None:
    """Return the position of the term whose sum with ``number * f(x)**2 * rest`` is ``number * rest``, else None."""
    g, sign = PAIRS[f]
    for k, other in products:
        for factor in dict.fromkeys(other.factors):
            if factor.owner is None or factor.owner.op != g or factor.owner.inputs[0] is not x:
                continue
            cofactor = other.without(factor, 2)
            if cofactor is not None and cofactor.number == sign * number and cofactor.has_operands_of(rest):
                return k
    return None
