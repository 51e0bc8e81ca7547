"""Products and quotients of factors that leave the range, such as exponentials, in an order in which these meet.

``sinh(x) / S / S`` stays in the range where ``S * S`` does not. Such products stay as they are written, which is how
the chain rule makes them of numbers that are in the range, unless something cancels. Then each numerator stands with
a denominator: quotients are multiplied, and no two factors of one side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cosh,
    erfc,
    erfcx,
    exp,
    expm1,
    gamma,
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
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.helpers import common_value
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: Functions that overflow or underflow for arguments of a moderate size.
WIDE = frozenset((exp, expm1, cosh, sinh, gamma, erfc, erfcx, ndtr, sigmoid))
#: What may consist of them.
MADE_OF = frozenset((at_abs, add, sub, mul, true_divide, reciprocal, neg, square, sqrt, at_pow, softplus))
#: Powers up to this one are not looked at.
SMALL_EXPONENT = 4
#: So many operations are looked through.
MOST_SEEN = 24


def is_wide(var: Variable) -> bool:
    """Whether a factor is made of functions that leave the range."""
    stack = [var]
    for _ in range(MOST_SEEN):
        if not stack:
            return False
        node = stack.pop().owner
        if node is None:
            continue
        op = node.op
        if type(op) is not Elemwise:
            if isinstance(op, DimShuffle):
                stack.append(node.inputs[0])
            continue
        if op in WIDE:
            return True
        if op in MADE_OF:
            if op == at_pow:
                exponent = common_value(node.inputs[1])
                if exponent is None or abs(exponent) > SMALL_EXPONENT:
                    return True
            stack.extend(node.inputs)
    return False


def may_leave_range(num: Sequence[Variable], denum: Sequence[Variable]) -> bool:
    """Whether products of several factors of one side may leave the range where their quotient does not."""
    above, below = (sum(not isinstance(v, Constant) for v in side) for side in (num, denum))
    # With nothing above, two divisors may already be too much: their product is in the place of a small quotient.
    return (above + below > 2 or (below == 2 and not above)) and any(map(is_wide, denum))


def same_factors(
    num: Sequence[Variable], denum: Sequence[Variable], other_num: Sequence[Variable], other_denum: Sequence[Variable]
) -> bool:
    """Whether two products differ in nothing but their order and a sign."""
    sides = [[v for v in side if not isinstance(v, Constant)] for side in (num, denum, other_num, other_denum)]
    numbers = len(num) + len(denum) - len(sides[0]) - len(sides[1])
    left = len(other_num) + len(other_denum) - len(sides[2]) - len(sides[3])
    return numbers <= max(left, 1) and Counter(sides[0]) == Counter(sides[2]) and Counter(sides[1]) == Counter(sides[3])


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
    tops, bottoms = [v for v in num if is_wide(v)], [v for v in denum if is_wide(v)]
    rest = [v for v in num if v not in tops], [v for v in denum if v not in bottoms]
    quotients = []
    for of_same_argument in (True, False):
        for bottom in list(bottoms):
            top = next((v for v in tops if not of_same_argument or _have_one_argument(v, bottom)), None)
            if top is not None:
                tops.remove(top)
                bottoms.remove(bottom)
                quotients.append(merged([top], [bottom]))
    factors = [*rest[0], *quotients, *tops]
    result = merged(factors, rest[1]) if factors or rest[1] else None
    for bottom in bottoms:
        result = merged([] if result is None else [result], [bottom])
    assert result is not None, "a product has factors"
    return result


def _have_one_argument(one: Variable, other: Variable) -> bool:
    """Whether two variables are functions of the same one."""
    first, second = one.owner, other.owner
    return first is not None and second is not None and first.inputs[0] is second.inputs[0]
