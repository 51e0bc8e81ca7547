"""Products of factors that leave the range, such as exponentials, where the whole does not.

``sinh(x) / S / S`` stays in the range where ``S * S`` does not: each factor stands with a divisor, so that quotients
are multiplied, and no two factors of one side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.rewriting.helpers import common_value
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: Functions that overflow or underflow for arguments of a moderate size.
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
#: Functions that come so close to a limit that their slopes underflow,
FLAT = frozenset((special.erf, ops.tanh))
#: where the slopes of their arguments may overflow.
STEEP = frozenset((ops.log, ops.reciprocal, ops.true_divide))
#: What may consist of them.
MADE_OF = frozenset(
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
#: What is looked at in an operation: nothing else, its argument, whether it is a sum, its exponent, its inputs.
_WIDE, _FLAT, _SUM, _POWER, _OTHER = range(5)
_KINDS = (
    dict.fromkeys(MADE_OF, _OTHER) | {ops.pow: _POWER, ops.add: _SUM, ops.sub: _SUM} | dict.fromkeys(FLAT, _FLAT)
    | dict.fromkeys(WIDE, _WIDE)
)  # fmt: skip
#: Powers up to this one are not looked at.
SMALL_EXPONENT = 4
#: So many operations are looked through.
MOST_SEEN = 24


def is_wide(var: Variable) -> bool:
    """Return whether a factor is made of functions that leave the range."""
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
    """Return whether a product of some of the factors may leave the range where the whole does not."""
    above, below = (sum(not isinstance(v, Constant) for v in side) for side in (num, denum))
    if above + below < 2 or not any(map(is_wide, (*denum, *num))):
        return False
    # With nothing above, two divisors may already be too much: their product is in the place of a small quotient. Two
    # factors may be, with a number.
    return above + below > 2 or not above or not all(common_value(v) in (None, 1, -1) for v in (*num, *denum))


def in_pairs(
    num: Sequence[Variable],
    denum: Sequence[Variable],
    merged: Callable[[Sequence[Variable], Sequence[Variable]], Variable],
) -> Variable:
    """Return the product of numerators over denominators, dividing by each denominator as early as possible.

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
    """Return whether two variables are functions of the same one."""
    first, second = one.owner, other.owner
    return first is not None and second is not None and first.inputs[0] is second.inputs[0]
