"""Products in the order in which they are written, without the factors that have cancelled.

Products that may leave the range stay as they are written, which is how the chain rule makes them of numbers that are
in the range, unless something cancels; see `wide_products`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import mul, neg, reciprocal, true_divide
from aesara.tensor.rewriting.algebra import Product
from aesara.tensor.rewriting.helpers import common_value, computed_in
from aesara.tensor.rewriting.written_order import put_together


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
Part = tuple[Variable | None, tuple[Variable, ...]]
NOTHING: Part = (None, ())


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

    def _of_node(self, node: Apply, parts: Sequence[Part]) -> Part:
        if node.op == neg:
            return parts[0]
        if node.op == mul:
            return self._multiplied(parts)
        if node.op == reciprocal:
            return self._divided(NOTHING, parts[0])
        return self._divided(*parts)

    def _multiplied(self, parts: Sequence[Part]) -> Part:
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

    def _divided(self, part: Part, by: Part) -> Part:
        top, divisors = by
        if divisors:
            part = self._multiplied([part, *((v, ()) for v in divisors)])
        return part if top is None else self._multiplied([part, (None, (top,))])

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
