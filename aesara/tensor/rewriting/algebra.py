"""Products, sums and opposites: read from a graph, compared, and built again.

A `Product` is ``number * factors / divisors * exp(exponent)``, a `SignedSum` terms with signs. A `Reading` selects the
operations that are expanded. Rules handle products and sums in these forms, and recognise ``-x`` with `opposite_of` and
`are_opposite`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.records import dataclass
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.rewriting.helpers import combined_in, common_value, computed_in, constant_like
from aesara.tensor.rewriting.wide_products import in_pairs, may_leave_range

__all__ = [
    "MULTIPLE",
    "NEAR",
    "TERM",
    "Product",
    "Reading",
    "SignedSum",
    "are_opposite",
    "combine",
    "multiple",
    "of_lists",
    "opposite",
    "opposite_of",
    "power_of",
]

_PRODUCT, _QUOTIENT, _RECIPROCAL, _OPPOSITE, _SQUARE, _POWER = range(6)
#: Ops that products consist of.
PRODUCTS = {
    ops.mul: _PRODUCT,
    ops.true_divide: _QUOTIENT,
    ops.reciprocal: _RECIPROCAL,
    ops.neg: _OPPOSITE,
    ops.square: _SQUARE,
    ops.pow: _POWER,
}


# Opposites


def opposite(x: Variable) -> Variable:
    """Return ``-x``; for ``-y`` that is ``y``."""
    inner = opposite_of(x)
    return ops.neg(x) if inner is None else inner


def opposite_of(var: Variable, dtype: str | None = None) -> Variable | None:
    """Return ``x`` for a variable ``-x``, else None.

    Parameters
    ----------
    var
        The variable.
    dtype
        The required dtype of the variable; by default any.
    """
    node = var.owner
    if node is None or node.op != ops.neg or (dtype is not None and var.type.dtype != dtype):
        return None
    return node.inputs[0]


def are_opposite(x: Variable, y: Variable) -> bool:
    """Return whether ``x == -y`` for a variable and its opposite, two differences, or two multiples of a variable."""
    if opposite_of(x) is y or opposite_of(y) is x:
        return True
    x_node, y_node = x.owner, y.owner
    if x_node is None or y_node is None:
        return False
    if x_node.op == y_node.op == ops.sub:
        return x_node.inputs[0] is y_node.inputs[1] and x_node.inputs[1] is y_node.inputs[0]
    (number, base), (other_number, other_base) = multiple(x), multiple(y)
    return base is other_base and number == -other_number


# Products


@dataclass(frozen=True)
class Reading:
    """The operations that are expanded in a product. Those of another dtype than the product's are single factors.

    Attributes
    ----------
    signs
        Whether ``-x`` is read as the factor `x`, with the sign in the number.
    numbers
        Whether finite constants among the factors are multiplied into the number.
    divides
        Whether the number is divided by constants among the divisors.
    powers
        Powers up to this exponent are read as repeated factors: ``x**2`` as two factors `x`.
    single
        Whether only multiples, products of a variable with numbers, are expanded.
    most
        The largest number of operands that are visited. Remaining products are single factors.
    """

    signs: bool = False
    numbers: bool = False
    divides: bool = False
    powers: int = 0
    single: bool = False
    most: int = 64


#: Factors and divisors, for rules that look for some among them at every node of a graph.
NEAR = Reading()
#: Terms of a sum, which are compared with each other.
TERM = Reading(signs=True, numbers=True, powers=2)
#: A number times a variable.
MULTIPLE = Reading(signs=True, numbers=True, divides=True, single=True)


@dataclass
class Product:
    """A product ``number * factors / divisors * exp(exponent)`` of one dtype.

    Attributes
    ----------
    factors, divisors
        The variables that are multiplied, and that are divided by, in the order in which they are written. A square may
        be there as two factors.
    number
        A number, which has the sign of the product.
    exponent
        The exponent of an exponential among the factors; None if there is none.
    """

    factors: list[Variable] = field(default_factory=list)
    divisors: list[Variable] = field(default_factory=list)
    number: float = 1.0
    exponent: Any = None

    @classmethod
    def read(
        cls,
        var: Variable,
        reading: Reading = NEAR,
        may_enter: Callable[[Variable], bool] | None = None,
        dtype: str | None = None,
    ) -> Product:
        """Return a variable as a product, which may have a single factor.

        Parameters
        ----------
        var
            The variable.
        reading
            The operations to expand.
        may_enter
            A predicate of the variables that may be expanded; by default all.
        dtype
            The dtype of the product; by default that of the variable.

        Examples
        --------
        >>> x, y = at.dvectors("x", "y")
        >>> product = Product.read(-2 * x**2 / y, TERM)
        >>> product.number, product.factors, product.divisors
        (-2.0, [x, x], [y])
        """
        product = cls()
        factors, divisors = product.factors, product.divisors
        dtype = var.type.dtype if dtype is None else dtype
        remaining = reading.most
        stack: list[tuple[Variable, int, bool]] = [(var, 1, False)]
        while stack:
            part, times, below = stack.pop()
            node = part.owner
            kind = None if node is None or type(node.op) is not Elemwise else PRODUCTS.get(node.op)
            if (
                kind is not None
                and node is not None
                and part.type.dtype == dtype
                and (part is var or remaining >= len(node.inputs))
                and (may_enter is None or may_enter(part))
            ):
                inputs = node.inputs
                if reading.single and not _is_multiple(kind, inputs, part.type):
                    kind = None
                if kind == _PRODUCT:
                    remaining -= len(inputs)
                    stack.extend((v, times, below) for v in reversed(inputs))
                    continue
                elif kind == _QUOTIENT:
                    remaining -= 2
                    stack.append((inputs[1], times, not below))
                    stack.append((inputs[0], times, below))
                    continue
                elif kind == _RECIPROCAL:
                    remaining -= 1
                    stack.append((inputs[0], times, not below))
                    continue
                elif kind == _OPPOSITE:
                    if reading.signs:
                        remaining -= 1
                        product.number *= (-1) ** times
                        stack.append((inputs[0], times, below))
                        continue
                elif kind is not None and reading.powers and inputs[0].type.dtype == dtype:
                    exponent = 2 if kind == _SQUARE else common_value(inputs[1])
                    if exponent is not None and exponent in range(2, reading.powers + 1):
                        remaining -= 1
                        stack.append((inputs[0], times * int(exponent), below))
                        continue
            if reading.divides if below else reading.numbers:
                value = common_value(part)
                if value is not None and np.isfinite(value) and (value != 0 or not below):
                    product.number *= float(value) ** (-times if below else times)
                    continue
            (divisors if below else factors).extend((part,) * times)
        return product

    @property
    def counts(self) -> tuple[Counter[Variable], Counter[Variable]]:
        """The multiplicities of the factors, and of the divisors."""
        return Counter(self.factors), Counter(self.divisors)

    @property
    def is_number(self) -> bool:
        """True if there are no factors, divisors and exponent."""
        return not self.factors and not self.divisors and self.exponent is None

    def has_operands_of(self, other: Product) -> bool:
        """Return whether two products differ only in their numbers and the order of their operands."""
        return (
            len(self.factors) == len(other.factors)
            and len(self.divisors) == len(other.divisors)
            and self.exponent is other.exponent
            and self.counts == other.counts
        )

    def without(self, factor: Variable, times: int = 1) -> Product | None:
        """Return the product without a factor; None if it does not occur that often."""
        if self.factors.count(factor) < times:
            return None
        factors = list(self.factors)
        for _ in range(times):
            factors.remove(factor)
        return Product(factors, list(self.divisors), self.number, self.exponent)

    def map(self, function: Callable[[Variable], Variable]) -> Product:
        """Return the product with a function applied to each factor and each divisor."""
        factors, divisors = ([function(v) for v in side] for side in (self.factors, self.divisors))
        return Product(factors, divisors, self.number, self.exponent)

    def expand(self, reading: Reading, may_enter: Callable[[Variable], bool] | None = None) -> Product:
        """Return the product with its factors and divisors expanded; see `read`."""
        expanded = Product([], [], self.number, self.exponent)
        for below, side in enumerate((self.factors, self.divisors)):
            for var in side:
                part = Product.read(var, reading, may_enter)
                sides = (part.factors, part.divisors)
                expanded.factors.extend(sides[below])
                expanded.divisors.extend(sides[1 - below])
                expanded.number *= 1 / part.number if below else part.number
        return expanded

    def mantissa(self, dtype: str) -> Variable | None:
        """Return the factors over the divisors, in a dtype, without the number and the exponent; None for 1."""
        top = combine(ops.mul, self.factors, dtype)
        bottom = combine(ops.mul, self.divisors, dtype)
        if bottom is None:
            return top
        return ops.reciprocal(bottom) if top is None else ops.true_divide(top, bottom)

    def build(self, out: Variable) -> Variable:
        """Return the product as a variable, in the dtype of `out`.

        Its shape is that of the factors and divisors; use `in_place_of` for the shape of `out`.

        Examples
        --------
        >>> x, y = at.dvectors("x", "y")
        >>> aesara.pprint(Product([x], [y], -1.0).build(x))
        '(-(x / y))'
        """
        dtype = out.type.dtype
        factors = list(self.factors) if self.exponent is None else [*self.factors, ops.exp(self.exponent)]
        if abs(self.number) != 1 or not (factors or self.divisors):
            factors.insert(0, constant_like(self.number, out))
            return _quotient(factors, self.divisors, out)
        result = _quotient(factors, self.divisors, out)
        return computed_in(dtype, ops.neg, [result]) if self.number < 0 else result


def _is_multiple(kind: int, inputs: Sequence[Variable], type_: TensorType) -> bool:
    """Return whether an operation multiplies one variable of the type of its result with a number."""
    if kind == _PRODUCT and len(inputs) == 2:
        x = next((x for x, factor in (inputs, inputs[::-1]) if common_value(factor) is not None), None)
        return x is not None and x.type == type_
    if kind == _QUOTIENT:
        return inputs[0].type == type_ and bool(common_value(inputs[1]))
    return kind == _OPPOSITE


def multiple(x: Variable) -> tuple[float, Variable]:
    """Return a number and a variable whose product is `x`.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> multiple(-x / 2)
    (-0.5, x)
    """
    node = x.owner
    if node is None or type(node.op) is not Elemwise or node.op not in PRODUCTS:
        return 1.0, x
    product = Product.read(x, MULTIPLE)
    if len(product.factors) == 1 and not product.divisors:
        return product.number, product.factors[0]
    return 1.0, x


def power_of(var: Variable) -> tuple[Variable, int]:
    """Return a base and an integer exponent whose power is a floating-point variable; the exponent may be 1.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> power_of(at.square(x) ** 3)
    (x, 6)
    """
    dtype, exponent = var.type.dtype, 1
    while var.owner is not None and var.owner.op in (ops.square, ops.pow) and dtype[:5] == "float":
        base = var.owner.inputs[0]
        if base.type.dtype != dtype:
            break
        factor = 2
        if var.owner.op == ops.pow:
            number = common_value(var.owner.inputs[1])
            if number is None or number.dtype.kind == "c" or not 2 <= number < np.inf or number != int(number):
                break
            factor = int(number)
        var, exponent = base, exponent * factor
    return var, exponent


def of_lists(simplifier: Callable[[Product], Product]) -> Callable[..., tuple[list[Variable], list[Variable]]]:
    """Return the function of two lists, factors and divisors, for a function of products, as canonizers take it."""

    def simplify(num: list[Variable], denum: list[Variable]) -> tuple[list[Variable], list[Variable]]:
        product = simplifier(Product(num, denum))
        return product.factors, product.divisors

    return simplify


def combine(op: Callable[..., Variable], operands: Sequence[Variable], dtype: str) -> Variable | None:
    """Return an op of one or more operands, computed in a dtype; None without operands."""
    return combined_in(dtype, op, operands) if operands else None


def _quotient(factors: Sequence[Variable], divisors: Sequence[Variable], out: Variable) -> Variable:
    """Return the quotient of two products, in an order in which no partial product leaves the range unnecessarily."""
    dtype = out.type.dtype

    def product(operands: Sequence[Variable]) -> Variable:
        return operands[0] if len(operands) == 1 else computed_in(dtype, ops.mul, operands)

    def merge(tops: Sequence[Variable], bottoms: Sequence[Variable]) -> Variable:
        top = product(tops) if tops else constant_like(1, out)
        return computed_in(dtype, ops.true_divide, [top, product(bottoms)]) if bottoms else top

    if dtype[:5] == "float" and may_leave_range(factors, divisors):
        return in_pairs(factors, divisors, merge)
    return merge(factors, divisors)


# Sums


@dataclass
class SignedSum:
    """A sum of terms, each with a sign, 1 or -1, in the order in which they are written."""

    terms: list[tuple[int, Variable]]

    @classmethod
    def read(cls, var: Variable, kept: Collection[Variable] = (), most: int = 0) -> SignedSum:
        """Return a variable as a sum, which may have a single term.

        Parameters
        ----------
        var
            The variable.
        kept
            Variables that are not expanded.
        most
            The largest number of terms if sums among the terms are expanded too. By default they are single terms.

        Examples
        --------
        >>> x, y = at.dvectors("x", "y")
        >>> SignedSum.read(x - y).terms
        [(1, x), (-1, y)]
        """
        terms: list[tuple[int, Variable]] = []
        dtype = var.type.dtype
        stack = [(1, var)]
        while stack:
            sign, term = stack.pop()
            node = term.owner
            is_whole = term is not var and (
                term in kept or term.type.dtype != dtype or len(terms) + len(stack) + 2 > most
            )
            if node is None or is_whole or node.op not in (ops.add, ops.sub):
                terms.append((sign, term))
            else:
                signs = (1, -1) if node.op == ops.sub else (1,) * len(node.inputs)
                stack.extend((sign * inner_sign, v) for inner_sign, v in reversed([*zip(signs, node.inputs)]))
        return cls(terms)

    def without(self, positions: Collection[int]) -> SignedSum:
        """Return the sum without the terms at some positions."""
        return SignedSum([term for k, term in enumerate(self.terms) if k not in positions])

    def plus(self, var: Variable, sign: int = 1) -> SignedSum:
        """Return the sum with one more term, in front of the others."""
        return SignedSum([(sign, var), *self.terms])

    def build(self, dtype: str) -> Variable:
        """Return the sum as a variable: the sum of the positive terms, minus the negative ones one after the other."""
        added = [v for sign, v in self.terms if sign > 0]
        total = combine(ops.add, added, dtype)
        for sign, var in self.terms:
            if sign < 0:
                total = ops.neg(var) if total is None else computed_in(dtype, ops.sub, [total, var])
        assert total is not None, "there is a term"
        return total
