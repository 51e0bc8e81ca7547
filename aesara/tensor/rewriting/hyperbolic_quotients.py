"""Quotients of hyperbolic functions, also of those written as exponentials, for differentiation."""

from __future__ import annotations

from collections.abc import Collection

from aesara.graph.nodes import Variable
from aesara.records import dataclass
from aesara.tensor.elementwise.ops import add, cosh, exp, mul, reciprocal, sigmoid, sinh, sub, tanh
from aesara.tensor.rewriting.algebra import are_opposite, multiple, opposite
from aesara.tensor.rewriting.helpers import constant_like, has_value, output_of, real_of_same_dtype


@dataclass
class Part:
    """A sum or difference of two exponentials.

    Attributes
    ----------
    sign
        That of the second term.
    x
        What the quotient of the difference and the sum is the hyperbolic tangent of.
    kind
        Only two of the same kind make such a quotient.
    even
        Whether the sum is the same for ``-x``.
    opposite
        Whether it is the opposite: ``1 - exp(x)``.
    """

    sign: int
    x: Variable
    kind: str
    even: bool = True
    opposite: bool = False


def quotient_of_hyperbolic_functions(top: Variable, bottom: Variable, kept: Collection[Variable]) -> Variable | None:
    """``sinh(x) / cosh(x)`` as what ``tanh(x)`` is, and the inverse; None for other quotients.

    ``exp(x) - exp(-x)`` and ``exp(2 * x) - 1`` over the sums of the same terms are quotients of this kind.
    """
    first = _part(top, kept)
    second = None if first is None else _part(bottom, kept)
    if first is None or second is None or first.kind != second.kind or first.sign == second.sign:
        return None
    (number, base), (other_number, other) = multiple(first.x), multiple(second.x)
    if base is not other or (abs(number) != abs(other_number) if first.even else number != other_number):
        return None
    difference = first if first.sign < 0 else second
    x = opposite(difference.x) if difference.opposite else difference.x
    if difference is second:
        return reciprocal(tanh(x))
    # The slope of the logistic function keeps its digits where that of `tanh` is 1 minus almost 1.
    return sub(mul(2, sigmoid(mul(2, x))), 1)


def _part(var: Variable, kept: Collection[Variable]) -> Part | None:
    node = var.owner
    if node is None or var in kept:
        return None
    for op, sign in ((sinh, -1), (cosh, 1)):
        if node.op == op:
            return Part(sign, node.inputs[0], "functions") if real_of_same_dtype(node.inputs[0], var) else None
    if node.op not in (add, sub) or len(node.inputs) != 2:
        return None
    powers = [None if term in kept else output_of(term, exp) for term in node.inputs]
    if any(power is not None and not real_of_same_dtype(power.inputs[0], var) for power in powers):
        return None
    sign = 1 if node.op == add else -1
    first, second = powers
    if first is not None and second is not None:
        x, y = first.inputs[0], second.inputs[0]
        return Part(sign, x, "pair") if are_opposite(x, y) else None
    if first is not None and has_value(node.inputs[1], 1):
        return Part(sign, _half(first.inputs[0]), "one", even=False)
    if second is not None and has_value(node.inputs[0], 1):
        return Part(sign, _half(second.inputs[0]), "one", even=False, opposite=sign < 0)
    return None


def _half(x: Variable) -> Variable:
    return mul(constant_like(0.5, x), x)
