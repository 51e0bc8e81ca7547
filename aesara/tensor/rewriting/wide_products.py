"""Products of factors that may leave the range, such as exponentials, although the whole product does not.

Each factor is paired with a divisor, and the quotients are multiplied: ``sinh(x) / S / S`` stays in the range where
``S * S`` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.rewriting.helpers import common_value
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: Functions that overflow or underflow for arguments of moderate size.
WIDE = frozenset(
    (
        ops.exp,
        ops.expm1,
        ops.cosh,
        ops.sinh,
        special.gamma,
        special.erfc,
        special.erfcx,
        special.erfcx_reciprocal,
        special.ndtr,
        ops.sigmoid,
    )
)
#: Functions that come so close to a limit that their derivatives underflow.
FLAT = frozenset((special.erf, ops.tanh))
#: Arguments of these, whose own derivatives may overflow.
STEEP = frozenset((ops.log, ops.reciprocal, ops.true_divide))
#: Operations whose results may leave the range if operands do.
COMPOSING = frozenset(
    (
        ops.abs,
        ops.add,
        ops.sub,
        ops.mul,
        ops.true_divide,
        ops.reciprocal,
        ops.neg,
        ops.square,
        ops.sqrt,
        ops.pow,
        ops.softplus,
    )
)
#: Kinds of operations: wide; flat, so the argument is examined; a sum; a power, so the exponent is; and others.
_WIDE, _FLAT, _SUM, _POWER, _OTHER = range(5)
_KINDS = (
    dict.fromkeys(COMPOSING, _OTHER) | {ops.pow: _POWER, ops.add: _SUM, ops.sub: _SUM} | dict.fromkeys(FLAT, _FLAT)
    | dict.fromkeys(WIDE, _WIDE)
)  # fmt: skip
#: Powers up to this exponent do not count as wide.
SMALL_EXPONENT = 4
#: The largest number of operations that are visited.
MOST_VISITED = 24


def is_wide(var: Variable) -> bool:
    """Return whether a factor is composed of functions that may leave the range."""
    stack = [(var, False)]
    for _ in range(MOST_VISITED):
        if not stack:
            return False
        visited, in_sum = stack.pop()
        node = visited.owner
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
    """Return whether a product of some of the factors may leave the range where the whole does not."""
    above, below = (sum(not isinstance(v, Constant) for v in side) for side in (num, denum))
    if above + below < 2 or not any(map(is_wide, (*denum, *num))):
        return False
    # The product of two divisors alone may overflow although its reciprocal is in the range. So may that of two
    # factors with a constant.
    return above + below > 2 or not above or not all(common_value(v) in (None, 1, -1) for v in (*num, *denum))


def in_pairs(
    num: Sequence[Variable],
    denum: Sequence[Variable],
    merge: Callable[[Sequence[Variable], Sequence[Variable]], Variable],
) -> Variable:
    """Return the product of numerators over denominators, dividing by each denominator as early as possible.

    Parameters
    ----------
    num, denum
        The factors.
    merge
        A function of factors and divisors that returns the quotient of their products.
    """
    wide = {v for v in (*num, *denum) if is_wide(v)}
    tops, bottoms = [v for v in num if v in wide], [v for v in denum if v in wide]
    others = [v for v in num if v not in wide]
    quotients = []
    for same_argument in (True, False):
        if not same_argument:
            bottoms += [v for v in denum if v not in wide]
        for bottom in list(bottoms):
            top = next((v for v in tops if not same_argument or _have_one_argument(v, bottom)), None)
            if top is not None:
                tops.remove(top)
                bottoms.remove(bottom)
                quotients.append(merge([top], [bottom]))
    if bottoms and not quotients:
        quotients, others = others, []
    for bottom in bottoms:
        quotients = [merge(quotients, [bottom])]
    return merge([*others, *quotients, *tops], [])


def _have_one_argument(x: Variable, y: Variable) -> bool:
    """Return whether two variables are functions of the same argument."""
    first, second = x.owner, y.owner
    return first is not None and second is not None and first.inputs[0] is second.inputs[0]
