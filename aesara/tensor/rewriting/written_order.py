"""Sums and products rebuilt in their written order after operands have cancelled.

Products that may leave the range keep the order in which they are written, since the chain rule writes products whose
partial products are in the range; see `wide_products`. Differences keep theirs because ``(x - y) - z`` has digits of
``x - y`` that ``x - (y + z)`` loses if `x` and `y` are nearly the same.
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


def rebuild(
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
        The multiplicities of the added operands (or factors), and of the subtracted ones (or divisors).
    inverting
        Ops whose last operand is on the other side than their result.
    leaf
        A function of an operand and its side, 0 or 1, that returns its part.
    of_node
        A function of a node and the parts of its operands that returns the part of the node.
    """
    remaining = [Counter(side) for side in leaves]
    parts: list[Part] = []
    stack = [(out, 0, False)]  # a variable, its side, and whether the last parts are its operands
    while stack:
        var, side, is_visited = stack.pop()
        if not is_visited and remaining[side][var] > 0:
            remaining[side][var] -= 1
            parts.append(leaf(var, side))
            continue
        node = var.owner
        assert node is not None, "the operands are those of the sum or product"
        count = len(node.inputs)
        if is_visited:
            parts[-count:] = [of_node(node, parts[-count:])]
            continue
        sides = [side] * count
        if node.op in inverting:
            sides[-1] = 1 - side
        stack.append((var, side, True))
        stack.extend((v, s, False) for v, s in reversed(list(zip(node.inputs, sides, strict=True))))
    (part,) = parts
    return part


def same_factors(first: Product, second: Product) -> bool:
    """Return whether two products differ only in their order and sign, or in a constant factor over divisors."""
    sides = [
        [v for v in side if not isinstance(v, Constant)] for p in (first, second) for side in (p.factors, p.divisors)
    ]
    numbers = len(first.factors) + len(first.divisors) - len(sides[0]) - len(sides[1])
    other_numbers = len(second.factors) + len(second.divisors) - len(sides[2]) - len(sides[3])
    return (
        numbers <= max(other_numbers, not sides[0])
        and Counter(sides[0]) == Counter(sides[2])
        and Counter(sides[1]) == Counter(sides[3])
    )


def is_written_like(x: Variable, y: Variable) -> bool:
    """Return whether two expressions consist of the same operations on the same operands."""
    stack = [(x, y)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if isinstance(a, Constant) or isinstance(b, Constant):
            if common_value(a) is None or common_value(a) != common_value(b):
                return False
            continue
        a_node, b_node = a.owner, b.owner
        if a_node is None or b_node is None or a_node.op != b_node.op or len(a_node.inputs) != len(b_node.inputs):
            return False
        stack.extend(zip(a_node.inputs, b_node.inputs, strict=True))
    return True


def in_written_order(out: Variable, written: Product, remaining: Product) -> Variable | None:
    """Return the product `out` without the factors that have cancelled, in the order in which it is written.

    Parameters
    ----------
    out
        The product.
    written
        Its factors and divisors, as they are written.
    remaining
        The remaining ones, after a constant.

    Returns
    -------
    Variable or None
        None if there are other factors, whose position is undefined.
    """
    order = _ProductBuilder(out.type.dtype, written, remaining)
    result = order.product(out)
    return None if order.is_incomplete() else result


#: A partial product, and divisors that are applied when there is a factor to divide.
PartOfProduct = tuple[Variable | None, tuple[Variable, ...]]
NOTHING: PartOfProduct = (None, ())


class _ProductBuilder:
    """A builder of products from their remaining factors; see `in_written_order`."""

    def __init__(self, dtype: str, written: Product, remaining: Product):
        self.dtype = dtype
        self.leaves = written.counts
        self.constants = [v for v in remaining.factors if isinstance(v, Constant) and not self.leaves[0][v]]
        self.remaining = remaining.counts
        self.remaining[0].subtract(self.constants)
        self.built: set[Variable] = set()

    def is_incomplete(self) -> bool:
        """Return whether remaining factors were not found in the written product."""
        return any(count > 0 for side in self.remaining for count in side.values())

    def product(self, out: Variable) -> Variable:
        """Return the product of the remaining factors."""
        top, divisors = rebuild(
            out, self.leaves, (reciprocal, true_divide), lambda v, side: (self._leaf(v, side), ()), self._of_node
        )
        for number in self.constants:
            # A partial product comes first, since products are computed from left to right.
            top = number if top is None else self._times([top, number] if top in self.built else [number, top])
        if top is None:
            top = constant(np.ones((1,) * out.type.ndim, self.dtype))
        for divisor in divisors:
            top = self._over(top, divisor)
        return top

    def _leaf(self, var: Variable, side: int) -> Variable | None:
        while var.owner is not None and var.owner.op == neg and var.type.dtype == self.dtype:
            (var,) = var.owner.inputs
        if self.remaining[side][var] > 0:
            self.remaining[side][var] -= 1
            return var
        value = common_value(var)
        if value is None or side or not self.constants:
            return None
        size = abs(common_value(self.constants[0]))
        # Partial products stay in the range if the number is no further from 1 than the written one.
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
        pending: list[Variable] = []
        for top, divisors in parts:
            if top is not None:
                factors.append(top)
            pending.extend(divisors)
            if factors and pending:
                product = self._times(factors)
                for divisor in pending:
                    product = self._over(product, divisor)
                factors, pending = [product], []
        return (self._times(factors) if factors else None), tuple(pending)

    def _divide(self, part: PartOfProduct, by: PartOfProduct) -> PartOfProduct:
        top, divisors = by
        if divisors:
            part = self._multiply([part, *((v, ()) for v in divisors)])
        return part if top is None else self._multiply([part, (None, (top,))])

    def _times(self, factors: Sequence[Variable]) -> Variable:
        if len(factors) == 1:
            return factors[0]
        first = factors[0]
        if first in self.built and first.owner is not None:
            factors = [*first.owner.inputs, *factors[1:]]
        product = computed_in(self.dtype, mul, factors)
        self.built.add(product)
        return product

    def _over(self, top: Variable, bottom: Variable) -> Variable:
        return computed_in(self.dtype, true_divide, [top, bottom])


#: A part of a sum, and whether it is subtracted.
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
        The added terms, as they are written, and the subtracted ones.
    num, denum
        The remaining ones; `num` may have one constant, at the position of the first written one.

    Returns
    -------
    Variable or None
        None if there are other terms, whose position is undefined.
    """
    builder = _SumBuilder(out.type.dtype, flat, num, denum)
    result = builder.total(out)
    return None if builder.is_incomplete() or result is None else result


class _SumBuilder:
    """A builder of sums from their remaining terms; see `sum_in_written_order`."""

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
        self.remaining = [Counter(v for v in num if common_value(v) is None), Counter(denum)]
        self.built: set[Variable] = set()

    def is_incomplete(self) -> bool:
        """Return whether remaining terms were not found in the written sum."""
        return bool(self.constants) or any(count > 0 for side in self.remaining for count in side.values())

    def total(self, out: Variable) -> Variable | None:
        """Return the sum of the remaining terms; None if there are none."""
        part = rebuild(out, self.leaves, (sub, neg), self._leaf, lambda node, parts: self._sum(parts))
        if part is None:
            return None
        result, negative = part
        return computed_in(self.dtype, neg, [result]) if negative else result

    def _leaf(self, var: Variable, side: int) -> PartOfSum | None:
        if self.remaining[side][var] > 0:
            self.remaining[side][var] -= 1
            return var, bool(side)
        return (self.constants.pop(), False) if self.constants and common_value(var) is not None else None

    def _sum(self, parts: Sequence[PartOfSum | None]) -> PartOfSum | None:
        """Return the sum of the remaining parts, in their order."""
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
        if first in self.built and first.owner is not None:
            terms = [*first.owner.inputs, *terms[1:]]  # sums are computed from left to right
        total = computed_in(self.dtype, add, terms)
        self.built.add(total)
        return total


__all__ = [
    "rebuild",
]
