"""Logarithms of powers as multiples of logarithms, which are finite where the power overflows or underflows.

``log(x**-3.5 * exp(-1 / x))`` is the logarithm of infinity times zero for small `x`; the logarithm of the power is
added to the exponent instead. In sums, and where no logarithm is taken, such powers remain factors. ``log1p(c * b**n)``
is ``n * log(c**(1/n) * abs(b))`` where the power overflows: a switch selects the argument and the coefficient of one
logarithm.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.records import dataclass
from aesara.tensor.elementwise import ops
from aesara.tensor.rewriting.algebra import Product, Reading, SignedSum, are_opposite, opposite, opposite_of
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    exponent_value,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.logarithms.functions import is_positive, with_infinite_power
from aesara.tensor.rewriting.logarithms.scaled import Scaled
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()


def multiple_of_log(n: Variable, x: Variable, out: Variable) -> Variable | None:
    """``log(x**n)`` -> ``n * log(x)``, or ``n * log(abs(x))`` for even `n`; None where they differ."""
    number = common_value(n)
    if number is None or not np.isfinite(number) or number == 0 or x.type.dtype != out.type.dtype:
        return None
    if float(number) % 2 == 0:
        x = ops.abs(x)
    elif float(number) < 0:
        return None  # they differ at -0
    return ops.mul(np.asarray(number, dtype=out.type.dtype), ops.log(x))


rules.add(
    rule("local_log_pow", (ops.log, (ops.pow, "x", "n")), multiple_of_log, real_of_same_dtype),
    row("local_log_square", (ops.log, (ops.square, "x")), lambda x: ops.mul(2, ops.log(ops.abs(x)))),
    row("local_log_product_of_equals", (ops.log, (ops.mul, "x", "x")), lambda x: ops.mul(2, ops.log(ops.abs(x)))),
    row("local_log_sqrt", (ops.log, (ops.sqrt, "x")), lambda x: ops.mul(0.5, ops.log(x))),
    row(
        "local_log_to_arctanh",
        (ops.log, (ops.true_divide, (ops.add, 1, "x"), (ops.sub, 1, "x"))),
        lambda x: ops.mul(2, ops.arctanh(x)),
    ),
    row(
        "local_log_to_arcsinh",
        (ops.log, (ops.add, "x", (ops.sqrt, (ops.add, 1, (ops.square, "x"))))),
        (ops.arcsinh, "x"),
    ),
    row(
        "local_log_to_arcsinh_pow",
        (ops.log, (ops.add, "x", (ops.sqrt, (ops.add, 1, (ops.pow, "x", 2))))),
        (ops.arcsinh, "x"),
    ),
    row(
        "local_log_reciprocal_of_sum",
        (ops.log, (ops.true_divide, 1, (ops.add, 1, "*x"))),
        lambda x: ops.neg(ops.log1p(x)),
    ),
    to=(rules.stabilize, rules.specialize),
)


#: The terms of longer sums are not compared in pairs.
MOST_TERMS = 64


@rules.stabilize
@rules.specialize
@node_rewriter([ops.add, ops.sub], operands=[ops.softplus, ops.neg])
def local_softplus_of_opposite(fgraph, node):
    """``x + softplus(-x)`` -> ``softplus(x)`` and ``x - softplus(x)`` -> ``-softplus(-x)``, also in longer sums.

    ``softplus(x) - softplus(-x)`` is ``x``.
    """
    out = node.outputs[0]
    total = SignedSum.read(out)
    if not is_float(out) or len(total.terms) > MOST_TERMS:
        return False
    for i, (sign, var) in enumerate(total.terms):
        term = _softplus(var, sign, out.type.dtype)
        if term is None:
            continue
        sign, x = term
        for k, (other_sign, other) in enumerate(total.terms):
            if k == i:
                continue
            other_term = _softplus(other, other_sign, out.type.dtype)
            if other_term is not None and other_term[0] == -sign and are_opposite(x, other_term[1]):
                new = x
            elif other is x if other_sign == -sign else are_opposite(other, x):
                new = ops.softplus(opposite(x))  # s * (softplus(x) - x) is s * softplus(-x)
            else:
                continue
            return in_place_of(out, total.without((i, k)).plus(new, sign).build(out.type.dtype), node.inputs)
    return False


def _softplus(var: Variable, sign: int, dtype: str) -> tuple[int, Variable] | None:
    """Return the sign and the argument of a term that is a softplus."""
    inner = opposite_of(var)
    if inner is not None:
        sign, var = -sign, inner
    node = output_of(var, ops.softplus)
    return None if node is None or node.inputs[0].type.dtype != dtype else (sign, node.inputs[0])


def _power_above_one(var: Variable, kept: Collection[Variable]) -> tuple[Variable, float] | None:
    """Return the base and the constant exponent, above 1, of a power; None for other variables."""
    node = var.owner
    if (
        node is None
        or var in kept
        or node.op not in (ops.square, ops.pow)
        or node.inputs[0].type.dtype != var.type.dtype
    ):
        return None
    if node.op == ops.square:
        return node.inputs[0], 2.0
    number = exponent_value(node.inputs[1]) if node.op == ops.pow else None
    return (node.inputs[0], float(number)) if number is not None and 1 < number < np.inf else None


def log1p_of_power(var: Variable, kept: Collection[Variable] = (), differentiated: bool = False) -> Variable | None:
    """Return ``log1p(var)`` for a power times or over a number, or a square times or over a variable; else None."""
    node = var.owner
    if node is None or not is_float(var) or var in kept:
        return None
    power, op, rest = _power_above_one(var, kept), None, None
    if power is None and node.op in (ops.mul, ops.true_divide) and len(node.inputs) == 2:
        for factor, rest in (node.inputs, node.inputs[::-1]) if node.op == ops.mul else (node.inputs,):
            fits = rest.type.dtype == var.type.dtype or common_value(rest) is not None
            power = _power_above_one(factor, kept) if fits and factor.type.dtype == var.type.dtype else None
            if power is not None:
                op = node.op
                break
    if power is None:
        return None
    base, number = power
    root = None
    if rest is not None and op is not None:
        value = common_value(rest)
        if value is not None:
            root = constant_like(abs(np.float64(value)) ** (1 / number), var)
        elif number == 2:
            root = ops.sqrt(ops.abs(rest))
        else:
            return None
    is_infinite = ops.eq(var, constant_like(np.inf, var))
    size = ops.abs(base) if root is None or op is None else op(ops.abs(base), root)
    if differentiated:
        inside = ops.switch(is_infinite, constant_like(1, base), base)
        finite = ops.square(inside) if number == 2 else ops.pow(inside, constant_like(number, inside))
        var = finite if op is None else op(finite, rest)
    one = constant_like(1, var)
    times = ops.switch(is_infinite, constant_like(number, var), one)
    return ops.mul(times, ops.log1p(ops.switch(is_infinite, size, var)))


def is_one_plus_power(var: Variable) -> bool:
    """Return whether a variable is 1 plus a power that is not negative."""
    node = output_of(var, ops.add)
    if node is None or len(node.inputs) != 2 or not any(has_value(v, 1) for v in node.inputs):
        return False
    power = node.inputs[has_value(node.inputs[0], 1)]
    return power.type.dtype == var.type.dtype and is_positive(var) and log1p_of_power(power) is not None


def log_of_one_plus_power(var: Variable, kept: Collection[Variable]) -> Variable | None:
    """Return ``log(var)``, for differentiation, where `var` is 1 plus a power, else None."""
    node = output_of(var, ops.add)
    if node is None or var in kept or len(node.inputs) != 2:
        return None
    for one, power in (node.inputs, node.inputs[::-1]):
        if has_value(one, 1) and power.type.dtype == var.type.dtype:
            return log1p_of_power(power, kept, differentiated=True)
    return None


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log1p], operands=[ops.square, ops.pow, ops.mul, ops.true_divide])
def local_log1p_of_power(fgraph, node):
    """``log1p(c * x**n)`` -> ``n * log1p(c**(1/n) * abs(x))`` where the power overflows"""
    (x,), (out,) = node.inputs, node.outputs
    new = log1p_of_power(x) if x.type.dtype == out.type.dtype else None
    return False if new is None else in_place_of(out, new, [x])


#: Factors with products among them expanded, in products of a few.
FACTORS = Reading(signs=True, most=16)


@dataclass
class Power:
    """A factor ``base**number``; `alone` says that its logarithm is finite although the factor overflows."""

    base: Variable
    number: float
    alone: bool = False

    @property
    def is_integer(self) -> bool:
        return self.number == round(self.number)

    @property
    def pays(self) -> bool:
        """Return whether the logarithm costs less than the power, which then moves to the exponent."""
        return self.alone or not self.is_integer or abs(self.number) > 2


def without_powers(product: Product, kept: Collection[Variable], all_of_them: bool) -> Scaled | None:
    """Return a product with the logarithms of powers among its factors moved to the exponent.

    Return None if there are no such powers, or their logarithms cost too much.

    Parameters
    ----------
    product
        The product of variables of one dtype; products among its factors are expanded.
    kept
        Variables whose operations are not visited.
    all_of_them
        Whether to move also squares beside other variable factors, at the cost of a logarithm each.
    """
    product = factors_of(product, kept)
    sides = (product.factors, product.divisors)
    variables = sum(not isinstance(v, Constant) for side in sides for v in side)
    terms: list[Variable] = []
    operands: tuple[list[Variable], list[Variable]] = ([], [])
    for below, side in enumerate(sides):
        for var in side:
            power = None if var in kept else _power(var)
            if power is None or not (all_of_them or variables == 1 or power.pays):
                operands[below].append(var)
                continue
            base, number = power.base, (-1 if below else 1) * power.number
            if not power.is_integer or is_positive(base):
                is_root = var.owner is not None and var.owner.op == ops.sqrt
                fractional = not power.is_integer and not is_root
                terms.append(_multiple(number, ops.log(with_infinite_power(base) if fractional else base)))
            elif number % 2 == 0:
                terms.append(_multiple(number, ops.log(ops.abs(base))))
            else:  # an odd power has the sign of its base
                operands[number < 0].append(base)
                terms.append(_multiple(number - np.sign(number), ops.log(ops.abs(base))))
    if not terms or (sides == ([base], []) and len(terms) == 1):
        return None
    return Scaled(terms[0] if len(terms) == 1 else ops.add(*terms), *operands)


def factors_of(product: Product, kept: Collection[Variable], reading: Reading = FACTORS) -> Product:
    """Return a product with products among its factors expanded, and its sign as a factor -1.

    Factors that are computed in another dtype are not expanded.
    """
    if not product.factors and not product.divisors:
        return product
    whole = (product.factors or product.divisors)[0]
    expanded = product.expand(reading, lambda var: var not in kept and _has_one_dtype(var))
    expanded = expanded.map(lambda var: _in_dtype(var, whole))
    if expanded.number < 0:
        expanded.factors.append(constant_like(-1, whole))
    return Product(expanded.factors, expanded.divisors)


def _has_one_dtype(var: Variable) -> bool:
    """Return whether the operands of a product have its dtype, or are numbers."""
    operands = () if var.owner is None else var.owner.inputs
    return all(v.type.dtype == var.type.dtype or common_value(v) is not None for v in operands)


def _in_dtype(var: Variable, whole: Variable) -> Variable:
    """Return a factor in the dtype of a product; those of another dtype are numbers."""
    value = None if var.type.dtype == whole.type.dtype else common_value(var)
    return var if value is None else constant_like(value, whole)


def _power(var: Variable) -> Power | None:
    """Return a factor as a power that may leave the range where its base does not, else None."""
    node = var.owner
    if is_one_plus_power(var):
        return Power(var, 1, alone=True)
    if node is None or node.op not in (ops.pow, ops.square, ops.sqrt) or node.inputs[0].type.dtype != var.type.dtype:
        return None
    base = node.inputs[0]
    if node.op == ops.square:
        return Power(base, 2, is_one_plus_power(base))
    if node.op == ops.sqrt:
        return Power(base, 0.5) if _is_product(base) or _power(base) is not None else None
    number = exponent_value(node.inputs[1])
    if number is None or not 1 < abs(number) < np.inf:
        return None
    return Power(base, float(number), is_one_plus_power(base))


def _is_product(var: Variable) -> bool:
    """Return whether `factors_of` expands a variable."""
    return (
        var.owner is not None
        and var.owner.op in (ops.mul, ops.true_divide, ops.reciprocal, ops.neg)
        and _has_one_dtype(var)
    )


def _multiple(number: float, logarithm: Variable) -> Variable:
    if number == 1:
        return logarithm
    return ops.mul(constant_like(number, logarithm), logarithm)
