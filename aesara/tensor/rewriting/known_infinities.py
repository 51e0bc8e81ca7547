"""Infinities and NaN that are known when a graph is rewritten, whose products with zero are NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.scalar.arithmetic import Neg
from aesara.scalar.power import Sqr, Sqrt
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import mul, second, switch, true_divide
from aesara.tensor.rewriting.helpers import common_value
from aesara.tensor.shapes.dimshuffle import DimShuffle

__all__ = ["has_infinities", "is_zero_or_nan"]

#: The depth of expressions that are searched.
_DEPTH = 8
#: Ops whose results are zero, infinite or NaN where their operands are.
_LIKE_OPERAND = (Neg, Sqr, Sqrt)


def has_infinities(var: Variable, depth: int = _DEPTH) -> bool:
    """Return whether elements are known to be infinite or NaN because a factor is, or a divisor is zero.

    These are all elements, or those of one branch of a choice.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> has_infinities(x * np.inf), has_infinities(0.5 / at.sqrt(at.zeros_like(x))), has_infinities(x / 2)
    (True, True, False)
    """
    value = common_value(var)
    if value is not None:
        return not np.isfinite(value)
    node = var.owner
    if node is not None and node.op == switch and depth:
        return any(has_infinities(v, depth - 1) for v in node.inputs[1:])
    operands = _operands(var, depth)
    if operands is None:
        return False
    factors, divisors = operands
    return any(has_infinities(v, depth - 1) for v in factors) or any(is_zero_or_nan(v, depth - 1) for v in divisors)


def is_zero_or_nan(var: Variable, depth: int = _DEPTH) -> bool:
    """Return whether each element is known to be zero or NaN because a factor is."""
    value = common_value(var)
    if value is not None:
        return bool(value == 0 or value != value)
    operands = _operands(var, depth)
    return operands is not None and any(is_zero_or_nan(v, depth - 1) for v in operands[0])


def _operands(var: Variable, depth: int) -> tuple[list[Any], list[Any]] | None:
    """Return the factors and divisors of a floating-point product or quotient; None for other variables."""
    node = var.owner
    if node is None or depth == 0 or var.type.dtype[0] not in "fc":
        return None
    op, inputs = node.op, node.inputs
    if op == true_divide:
        return inputs[:1], inputs[1:]
    if op == second:
        return inputs[1:], []
    like_operand = isinstance(op, DimShuffle) or (isinstance(op, Elemwise) and isinstance(op.scalar_op, _LIKE_OPERAND))
    return (inputs, []) if op == mul or like_operand else None
