"""Powers with small constant exponents among the factors of a logarithm, as multiples of logarithms.

``x**-3.5 * exp(-1 / x)`` is the product of an infinity and a zero for small `x`, and so is the product of its power
with a constant: the logarithm of the power is added to the exponent instead. In sums, and where nothing takes the
logarithm, these powers are factors like others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.records import dataclass
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, log, mul, neg, reciprocal, sqrt, square, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.helpers import common_value, constant_like, exponent_value
from aesara.tensor.rewriting.logarithms.functions import is_positive, with_infinite_power
from aesara.tensor.rewriting.logarithms.one_plus_powers import is_one_plus_power

#: Products of more factors are left as they are.
MOST_FACTORS = 16


@dataclass
class WithoutPowers:
    """Rest of a product, and the logarithm of the powers that were taken out of it."""

    factors: list[Variable]
    divisors: list[Variable]
    logarithm: Variable


@dataclass
class Power:
    """A factor ``base**number``; `alone` says whether its logarithm is finite where the factor overflows."""

    base: Variable
    number: float
    alone: bool = False

    @property
    def is_integer(self) -> bool:
        return self.number == round(self.number)

    @property
    def pays(self) -> bool:
        """Return whether it is taken out although that costs a logarithm: powers that are no products cost more."""
        return self.alone or not self.is_integer or abs(self.number) > 2


def without_powers(
    factors: Sequence[Variable], divisors: Sequence[Variable], kept: Collection[Variable], all_of_them: bool
) -> WithoutPowers | None:
    """Take the powers out of a product; None if there are none, or if it is not worth it.

    Parameters
    ----------
    factors, divisors
        The product; products among them are taken apart.
    kept
        Variables that are not looked behind.
    all_of_them
        Whether squares are taken out beside other variable factors, too, which costs a logarithm each.
    """
    sides = factors_of(factors, divisors, kept)
    if sides is None:
        return None
    variables = sum(not isinstance(v, Constant) for side in sides for v in side)
    terms: list[Variable] = []
    left: tuple[list[Variable], list[Variable]] = ([], [])
    for below, side in enumerate(sides):
        for var in side:
            power = None if var in kept else _power(var)
            if power is None or not (all_of_them or variables == 1 or power.pays):
                left[below].append(var)
                continue
            sign = -1 if below else 1
            base, number = power.base, sign * power.number
            if not power.is_integer or is_positive(base):
                is_root = var.owner is not None and var.owner.op == sqrt
                broken = not power.is_integer and not is_root
                terms.append(_multiple(number, log(with_infinite_power(base) if broken else base)))
            elif number % 2 == 0:
                terms.append(_multiple(number, log(at_abs(base))))
            else:  # the base has the sign of the power
                left[number < 0].append(base)
                terms.append(_multiple(number - np.sign(number), log(at_abs(base))))
    if not terms or (sides == ([base], []) and len(terms) == 1):
        return None
    return WithoutPowers(*left, terms[0] if len(terms) == 1 else add(*terms))


def factors_of(
    factors: Sequence[Variable], divisors: Sequence[Variable], kept: Collection[Variable]
) -> tuple[list[Variable], list[Variable]] | None:
    """The factors and divisors of a product, with products among them taken apart; None if there are too many."""
    sides: tuple[list[Variable], list[Variable]] = ([], [])
    stack = [(v, 0) for v in reversed(factors)] + [(v, 1) for v in reversed(divisors)]
    while stack:
        var, side = stack.pop()
        parts = None if var in kept else _parts(var)
        if parts is None:
            sides[side].append(var)
        else:
            stack.extend((v, side ^ below) for v, below in parts)
        if len(sides[0]) + len(sides[1]) > MOST_FACTORS:
            return None
    return sides


def _parts(var: Variable) -> list[tuple[Variable, int]] | None:
    """The factors of a product, and 1 beside those it is divided by; None for what is no product."""
    node = var.owner
    if node is None or node.op not in (mul, true_divide, reciprocal, neg):
        return None
    if any(v.type.dtype != var.type.dtype and common_value(v) is None for v in node.inputs):
        return None
    operands = [v if v.type.dtype == var.type.dtype else constant_like(common_value(v), var) for v in node.inputs]
    if node.op == mul:
        return [(v, 0) for v in operands]
    if node.op == true_divide:
        return [(operands[0], 0), (operands[1], 1)]
    if node.op == reciprocal:
        return [(operands[0], 1)]
    return [(constant_like(-1, var), 0), (operands[0], 0)]


def _power(var: Variable) -> Power | None:
    """A factor as a power that may leave the range where its base does not."""
    node = var.owner
    if is_one_plus_power(var):
        return Power(var, 1, alone=True)
    if node is None or node.op not in (at_pow, square, sqrt) or node.inputs[0].type.dtype != var.type.dtype:
        return None
    base = node.inputs[0]
    if node.op == square:
        return Power(base, 2, is_one_plus_power(base))
    if node.op == sqrt:
        return Power(base, 0.5) if _parts(base) is not None or _power(base) is not None else None
    number = exponent_value(node.inputs[1])
    if number is None or not 1 < abs(number) < np.inf:
        return None
    return Power(base, float(number), is_one_plus_power(base))


def _multiple(number: float, logarithm: Variable) -> Variable:
    if number == 1:
        return logarithm
    return mul(constant_like(number, logarithm), logarithm)
