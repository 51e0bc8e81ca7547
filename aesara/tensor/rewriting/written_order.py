"""Sums and products, taken apart and put together again in the order in which they are written.

Products that may leave the range stay as they are written, which is how the chain rule makes them of numbers that are
in the range, unless something cancels; see `wide_products`.

``(x - y) - z`` has the digits of ``x - y``, which ``x - (y + z)`` loses where `x` and `y` are nearly the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import add, mul, neg, reciprocal, sub, true_divide
from aesara.tensor.rewriting.algebra import Product
from aesara.tensor.rewriting.helpers import common_value, computed_in

Part = TypeVar("Part")


def put_together(
    out: Variable,
    leaves: Sequence[Counter[Variable]],
    inverting: Collection[Op],
    leaf: Callable[[Variable, int], Part],
    of_node: Callable[[Apply, list[Part]], Part],
) -> Part:
    """Rebuild a sum or a product from its leaves, visited from left to right without recursion.

    Parameters
    ----------
    out
        The sum or product.
    leaves
        How often each operand is on the first side, and how often on the second: what is subtracted, or divided by.
    inverting
        Ops whose last operand is on the other side than their result.
    leaf
        Gives the part for an operand on a side, 0 or 1.
    of_node
        Gives the part for a node from those of its operands.
    """
    left = [Counter(side) for side in leaves]
    found: list[Part] = []
    stack = [(out, 0, False)]  # what to visit, on which side it is, and whether its operands are the last parts
    while stack:
        var, side, is_visited = stack.pop()
        if not is_visited and left[side][var] > 0:
            left[side][var] -= 1
            found.append(leaf(var, side))
            continue
        node = var.owner
        assert node is not None, "the operands are those of the sum or product"
        count = len(node.inputs)
        if is_visited:
            found[-count:] = [of_node(node, found[-count:])]
            continue
        sides = [side] * count
        if node.op in inverting:
            sides[-1] = 1 - side
        stack.append((var, side, True))
        stack.extend((v, s, False) for v, s in reversed(list(zip(node.inputs, sides, strict=True))))
    (part,) = found
    return part


def same_factors(one: Product, other: Product) -> bool:
    """Return whether two products differ in nothing but their order and a sign, or the number above their divisors."""
    sides = [[v for v in side if not isinstance(v, Constant)] for p in (one, other) for side in (p.factors, p.divisors)]
    numbers = len(one.factors) + len(one.divisors) - len(sides[0]) - len(sides[1])
    left = len(other.factors) + len(other.divisors) - len(sides[2]) - len(sides[3])
    return (
        numbers <= max(left, not sides[0])
        and Counter(sides[0]) == Counter(sides[2])
        and Counter(sides[1]) == Counter(sides[3])
    )


def is_written_like(one: Variable, other: Variable) -> bool:
    """Return whether two products are the same nodes of the same factors."""
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if isinstance(a, Constant) or isinstance(b, Constant):
            if common_value(a) is None or common_value(a) != common_value(b):
                return False
            continue
        first, second = a.owner, b.owner
        if first is None or second is None or first.op != second.op or len(first.inputs) != len(second.inputs):
            return False
        stack.extend(zip(first.inputs, second.inputs, strict=True))
    return True


def in_written_order(out: Variable, written: Product, left: Product) -> Variable | None:
    """Return the product `out` without the factors that have cancelled, in the order in which it is written.

    Parameters
    ----------
    out
        The product.
    written
        Its factors and divisors, as they are written.
    left
        Those that are left, and a constant in front of them.

    Returns
    -------
    Variable or None
        None if there are factors that are not written: where they stand is open.
    """
    order = _WrittenOrder(out.type.dtype, written, left)
    result = order.product(out)
    return None if order.is_incomplete() else result


#: A product as far as it is built; divisors wait until there is something above them.
PartOfProduct = tuple[Variable | None, tuple[Variable, ...]]
NOTHING: PartOfProduct = (None, ())


class _WrittenOrder:
    """Builds products from what is left of their factors; see `in_written_order`."""

    def __init__(self, dtype: str, written: Product, left: Product):
        self.dtype = dtype
        self.leaves = written.counts
        self.constants = [v for v in left.factors if isinstance(v, Constant) and not self.leaves[0][v]]
        self.left = left.counts
        self.left[0].subtract(self.constants)
        self.made: set[Variable] = set()

    def is_incomplete(self) -> bool:
        """Return whether there are factors that have not been met."""
        return any(count > 0 for side in self.left for count in side.values())

    def product(self, out: Variable) -> Variable:
        """Return the product of the factors that are left."""
        top, divisors = put_together(
            out, self.leaves, (reciprocal, true_divide), lambda v, side: (self._leaf(v, side), ()), self._of_node
        )
        for number in self.constants:
            # Products are computed from left to right.
            top = number if top is None else self._times([top, number] if top in self.made else [number, top])
        if top is None:
            top = constant(np.ones((1,) * out.type.ndim, self.dtype))
        for divisor in divisors:
            top = self._over(top, divisor)
        return top

    def _leaf(self, var: Variable, side: int) -> Variable | None:
        while var.owner is not None and var.owner.op == neg and var.type.dtype == self.dtype:
            (var,) = var.owner.inputs
        if self.left[side][var] > 0:
            self.left[side][var] -= 1
            return var
        value = common_value(var)
        if value is None or side or not self.constants:
            return None
        size = abs(common_value(self.constants[0]))
        # What it multiplies stays in the range if the number is no further from 1 than the one that is written.
        return self.constants.pop() if min(1, abs(value)) <= size <= max(1, abs(value)) else None

    def _of_node(self, node: Apply, parts: Sequence[PartOfProduct]) -> PartOfProduct:
        if node.op == neg:
            return parts[0]
        if node.op == mul:
            return self._multiply(parts)
        if node.op == reciprocal:
            return self._divide(NOTHING, parts[0])
        return self._divide(*parts)

    def _multiply(self, parts: Sequence[PartOfProduct]) -> PartOfProduct:
        factors: list[Variable] = []
        waiting: list[Variable] = []
        for top, divisors in parts:
            if top is not None:
                factors.append(top)
            waiting.extend(divisors)
            if factors and waiting:
                product = self._times(factors)
                for divisor in waiting:
                    product = self._over(product, divisor)
                factors, waiting = [product], []
        return (self._times(factors) if factors else None), tuple(waiting)

    def _divide(self, part: PartOfProduct, by: PartOfProduct) -> PartOfProduct:
        top, divisors = by
        if divisors:
            part = self._multiply([part, *((v, ()) for v in divisors)])
        return part if top is None else self._multiply([part, (None, (top,))])

    def _times(self, factors: Sequence[Variable]) -> Variable:
        if len(factors) == 1:
            return factors[0]
        first = factors[0]
        if first in self.made and first.owner is not None:
            factors = [*first.owner.inputs, *factors[1:]]
        product = computed_in(self.dtype, mul, factors)
        self.made.add(product)
        return product

    def _over(self, top: Variable, bottom: Variable) -> Variable:
        return computed_in(self.dtype, true_divide, [top, bottom])


#: A part of a sum: what is added of it, and whether it is subtracted instead.
PartOfSum = tuple[Variable, bool]


def keeps_order(out: Variable, terms: Sequence[Variable]) -> bool:
    """Return whether a sum of these terms keeps its written order: a sum of floats with differences."""
    return out.type.dtype[:5] in ("float", "compl") and any(
        var.owner is not None and var.owner.op == sub for var in terms
    )


def sum_in_written_order(
    out: Variable, flat: tuple[list[Variable], list[Variable]], num: Sequence[Variable], denum: Sequence[Variable]
) -> Variable | None:
    """Return the sum `out` without the terms that have cancelled, in the order in which it is written.

    Parameters
    ----------
    out
        The sum, of sums, differences and opposites.
    flat
        The terms that are added, as they are written, and those that are subtracted.
    num, denum
        Those that are left; constants are one of `num`, which stands where the first of them is written.

    Returns
    -------
    Variable or None
        None if there are terms that are not written: where they stand is open.
    """
    builder = _Builder(out.type.dtype, flat, num, denum)
    result = builder.total(out)
    return None if builder.is_incomplete() or result is None else result


class _Builder:
    def __init__(
        self,
        dtype: str,
        flat: tuple[list[Variable], list[Variable]],
        num: Sequence[Variable],
        denum: Sequence[Variable],
    ):
        self.dtype = dtype
        self.leaves = [Counter(side) for side in flat]
        self.constants = [v for v in num if common_value(v) is not None]
        self.left = [Counter(v for v in num if common_value(v) is None), Counter(denum)]
        self.made: set[Variable] = set()

    def is_incomplete(self) -> bool:
        """Return whether there are terms that have not been met."""
        return bool(self.constants) or any(count > 0 for side in self.left for count in side.values())

    def total(self, out: Variable) -> Variable | None:
        """Return the sum of the terms that are left; None if there are none."""
        part = put_together(out, self.leaves, (sub, neg), self._leaf, lambda node, parts: self._sum(parts))
        if part is None:
            return None
        result, negative = part
        return computed_in(self.dtype, neg, [result]) if negative else result

    def _leaf(self, var: Variable, side: int) -> PartOfSum | None:
        if self.left[side][var] > 0:
            self.left[side][var] -= 1
            return var, bool(side)
        return (self.constants.pop(), False) if self.constants and common_value(var) is not None else None

    def _sum(self, parts: Sequence[PartOfSum | None]) -> PartOfSum | None:
        """Return the sum of the parts that are left, in their order."""
        terms: list[Variable] = []
        is_negative = False
        for var, negative in filter(None, parts):
            if not terms:
                is_negative = negative
            if negative == is_negative:
                terms.append(var)
            else:
                operands = [self._add(terms), var]
                terms = [computed_in(self.dtype, sub, operands[::-1] if is_negative else operands)]
                is_negative = False
        return (self._add(terms), is_negative) if terms else None

    def _add(self, terms: Sequence[Variable]) -> Variable:
        if len(terms) == 1:
            return terms[0]
        first = terms[0]
        if first in self.made and first.owner is not None:
            terms = [*first.owner.inputs, *terms[1:]]  # sums are computed from left to right
        total = computed_in(self.dtype, add, terms)
        self.made.add(total)
        return total


__all__ = [
    "put_together",
]
