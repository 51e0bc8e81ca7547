"""Powers with small constant exponents among the factors of a logarithm, as multiples of logarithms.

``x**-3.5 * exp(-1 / x)`` is the product of an infinity and a zero for small `x`, and so is the product of its power
with a constant: the logarithm of the power is added to the exponent instead. In sums, and where nothing takes the
logarithm, these powers are factors like others.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.records import dataclass
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, log, mul, neg, reciprocal, sqrt, square, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.algebra import Product, Reading
from aesara.tensor.rewriting.helpers import common_value, constant_like, exponent_value
from aesara.tensor.rewriting.logarithms.functions import is_positive, with_infinite_power
from aesara.tensor.rewriting.logarithms.one_plus_powers import is_one_plus_power
from aesara.tensor.rewriting.logarithms.scaled import Scaled

#: Factors with products among them taken apart, in products of a few.
FACTORS = Reading(signs=True, most=16)


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


def without_powers(product: Product, kept: Collection[Variable], all_of_them: bool) -> Scaled | None:
    """Return a product with the logarithm of the powers among its factors as an exponent.

    None if there are none, or if it is not worth it.

    Parameters
    ----------
    product
        The product, with variables in one dtype; products among its factors are taken apart.
    kept
        Variables that are not looked behind.
    all_of_them
        Whether squares are taken out beside other variable factors, too, which costs a logarithm each.
    """
    product = factors_of(product, kept)
    sides = (product.factors, product.divisors)
    variables = sum(not isinstance(v, Constant) for side in sides for v in side)
    terms: list[Variable] = []
    left: tuple[list[Variable], list[Variable]] = ([], [])
    for below, side in enumerate(sides):
        for var in side:
            power = None if var in kept else _power(var)
            if power is None or not (all_of_them or variables == 1 or power.pays):
                left[below].append(var)
                continue
            base, number = power.base, (-1 if below else 1) * power.number
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
    return Scaled(terms[0] if len(terms) == 1 else add(*terms), *left)


def factors_of(product: Product, kept: Collection[Variable], reading: Reading = FACTORS) -> Product:
    """Return a product with products among its factors taken apart, and its sign as a factor -1.

    Operands have the dtype of the product: what is computed in another one is left whole.
    """
    if not product.factors and not product.divisors:
        return product
    whole = (product.factors or product.divisors)[0]
    found = product.expanded(reading, lambda var: var not in kept and _has_one_dtype(var))
    found = found.mapped(lambda var: _in_dtype(var, whole))
    if found.number < 0:
        found.factors.append(constant_like(-1, whole))
    return Product(found.factors, found.divisors)


def _has_one_dtype(var: Variable) -> bool:
    """Return whether the operands of a product have its dtype, or are numbers."""
    operands = () if var.owner is None else var.owner.inputs
    return all(v.type.dtype == var.type.dtype or common_value(v) is not None for v in operands)


def _in_dtype(var: Variable, whole: Variable) -> Variable:
    """Return a factor in the dtype of a product; those of another dtype are numbers."""
    value = None if var.type.dtype == whole.type.dtype else common_value(var)
    return var if value is None else constant_like(value, whole)


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
        return Power(base, 0.5) if _is_product(base) or _power(base) is not None else None
    number = exponent_value(node.inputs[1])
    if number is None or not 1 < abs(number) < np.inf:
        return None
    return Power(base, float(number), is_one_plus_power(base))


def _is_product(var: Variable) -> bool:
    """Return whether `factors_of` takes a variable apart."""
    return var.owner is not None and var.owner.op in (mul, true_divide, reciprocal, neg) and _has_one_dtype(var)


def _multiple(number: float, logarithm: Variable) -> Variable:
    if number == 1:
        return logarithm
    return mul(constant_like(number, logarithm), logarithm)
