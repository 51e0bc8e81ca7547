"""Products and quotients of factors that leave the range, such as exponentials, in an order in which these meet.

``sinh(x) / S / S`` stays in the range where ``S * S`` does not. Such products stay as they are written, which is how
the chain rule makes them of numbers that are in the range, unless something cancels. Then each numerator stands with
a denominator: quotients are multiplied, and no two factors of one side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cosh,
    erf,
    erfc,
    erfcx,
    erfcx_reciprocal,
    exp,
    expm1,
    gamma,
    log,
    mul,
    ndtr,
    neg,
    reciprocal,
    sigmoid,
    sinh,
    softplus,
    sqrt,
    square,
    sub,
    tanh,
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.helpers import common_value, computed_in
from aesara.tensor.rewriting.written_order import put_together
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: Functions that overflow or underflow for arguments of a moderate size.
WIDE = frozenset((exp, expm1, cosh, sinh, gamma, erfc, erfcx, erfcx_reciprocal, ndtr, sigmoid))
#: Functions that come so close to a limit that their slopes underflow,
FLAT = frozenset((erf, tanh))
#: where the slopes of their arguments may overflow.
STEEP = frozenset((log, reciprocal, true_divide))
#: What may consist of them.
MADE_OF = frozenset((at_abs, add, sub, mul, true_divide, reciprocal, neg, square, sqrt, at_pow, softplus))
#: What is looked at in an operation: nothing else, its argument, whether it is a sum, its exponent, its inputs.
_WIDE, _FLAT, _SUM, _POWER, _OTHER = range(5)
_KINDS = (
    dict.fromkeys(MADE_OF, _OTHER) | {at_pow: _POWER, add: _SUM, sub: _SUM} | dict.fromkeys(FLAT, _FLAT)
    | dict.fromkeys(WIDE, _WIDE)
)  # fmt: skip
#: Powers up to this one are not looked at.
SMALL_EXPONENT = 4
#: So many operations are looked through.
MOST_SEEN = 24


def is_wide(var: Variable) -> bool:
    """Whether a factor is made of functions that leave the range."""
    stack = [(var, False)]
    for _ in range(MOST_SEEN):
        if not stack:
            return False
        one, in_sum = stack.pop()
        node = one.owner
        if node is None:
            continue
        op = node.op
        if type(op) is not Elemwise:
            if isinstance(op, DimShuffle):
                stack.append((node.inputs[0], in_sum))
            continue
        kind = _KINDS.get(op)
        if kind is None:
            continue
        if kind == _WIDE:
            return True
        if kind == _FLAT:
            if in_sum and _is_steep(node.inputs[0]):
                return True
            continue
        if kind == _POWER:
            exponent = common_value(node.inputs[1])
            if exponent is None or abs(exponent) > SMALL_EXPONENT:
                return True
        in_sum = in_sum or kind == _SUM
        for v in node.inputs:
            stack.append((v, in_sum))
    return False


def _is_steep(var: Variable) -> bool:
    return var.owner is not None and var.owner.op in STEEP


def may_leave_range(num: Sequence[Variable], denum: Sequence[Variable]) -> bool:
    """Whether a product of some of the factors may leave the range where the whole does not."""
    above, below = (sum(not isinstance(v, Constant) for v in side) for side in (num, denum))
    if above + below < 2 or not any(map(is_wide, (*denum, *num))):
        return False
    # With nothing above, two divisors may already be too much: their product is in the place of a small quotient. Two
    # factors may be, with a number.
    return above + below > 2 or not above or not all(common_value(v) in (None, 1, -1) for v in (*num, *denum))


def same_factors(
    num: Sequence[Variable], denum: Sequence[Variable], other_num: Sequence[Variable], other_denum: Sequence[Variable]
) -> bool:
    """Whether two products differ in nothing but their order and a sign, or the number above their divisors."""
    sides = [[v for v in side if not isinstance(v, Constant)] for side in (num, denum, other_num, other_denum)]
    numbers = len(num) + len(denum) - len(sides[0]) - len(sides[1])
    left = len(other_num) + len(other_denum) - len(sides[2]) - len(sides[3])
    return (
        numbers <= max(left, not sides[0])
        and Counter(sides[0]) == Counter(sides[2])
        and Counter(sides[1]) == Counter(sides[3])
    )


def is_written_like(one: Variable, other: Variable) -> bool:
    """Whether two products are the same nodes of the same factors."""
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


def in_written_order(
    out: Variable, flat: tuple[list[Variable], list[Variable]], num: Sequence[Variable], denum: Sequence[Variable]
) -> Variable | None:
    """The product `out` without the factors that have cancelled, in the order in which it is written.

    Parameters
    ----------
    out
        The product.
    flat
        Its factors, as they are written, and its divisors.
    num, denum
        Those that are left, and a constant in front of them.

    Returns
    -------
    Variable or None
        None if there are factors that are not written: where they stand is open.
    """
    leaves = [Counter(side) for side in flat]
    new: list[Variable] = [v for v in num if isinstance(v, Constant) and not leaves[0][v]]
    left = [Counter(num), Counter(denum)]
    left[0].subtract(new)
    order = WrittenOrder(out.type.dtype, leaves, left, new)
    result = order.product(out)
    return None if order.is_incomplete() else result


#: A product as far as it is built; divisors wait until there is something above them.
Part = tuple[Variable | None, tuple[Variable, ...]]
NOTHING: Part = (None, ())


class WrittenOrder:
    """Builds products from what is left of their factors; see `in_written_order`."""

    def __init__(
        self, dtype: str, leaves: list[Counter[Variable]], left: list[Counter[Variable]], constants: list[Variable]
    ):
        self.dtype = dtype
        self.leaves = leaves
        self.left = left
        self.constants = constants
        self.made: set[Variable] = set()

    def is_incomplete(self) -> bool:
        """Whether there are factors that have not been met."""
        return any(count > 0 for side in self.left for count in side.values())

    def product(self, out: Variable) -> Variable:
        """What is left of the product."""
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


def in_pairs(
    num: Sequence[Variable],
    denum: Sequence[Variable],
    merged: Callable[[Sequence[Variable], Sequence[Variable]], Variable],
) -> Variable:
    """The product of numerators over denominators, each of which is divided by as soon as there is something to divide.

    Parameters
    ----------
    num, denum
        The factors.
    merged
        Makes a product over a product.
    """
    wide = {v for v in (*num, *denum) if is_wide(v)}
    tops, bottoms = [v for v in num if v in wide], [v for v in denum if v in wide]
    others = [v for v in num if v not in wide]
    quotients = []
    for of_same_argument in (True, False):
        if not of_same_argument:
            bottoms += [v for v in denum if v not in wide]
        for bottom in list(bottoms):
            top = next((v for v in tops if not of_same_argument or _have_one_argument(v, bottom)), None)
            if top is not None:
                tops.remove(top)
                bottoms.remove(bottom)
                quotients.append(merged([top], [bottom]))
    if bottoms and not quotients:
        quotients, others = others, []
    for bottom in bottoms:
        quotients = [merged(quotients, [bottom])]
    return merged([*others, *quotients, *tops], [])


def _have_one_argument(one: Variable, other: Variable) -> bool:
    """Whether two variables are functions of the same one."""
    first, second = one.owner, other.owner
    return first is not None and second is not None and first.inputs[0] is second.inputs[0]
