"""Logarithms of 1 plus a power, which are finite where the power overflows.

``log1p(c * b**n)`` is ``n * log(c**(1/n) * abs(b))`` there, so that one logarithm is enough for both: its argument and
the number in front of it are chosen.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, eq, log1p, mul, sqrt, square, switch, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    exponent_value,
    has_value,
    in_place_of,
    is_float,
    output_of,
)
from aesara.tensor.rewriting.logarithms.functions import is_positive
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


def _power(var: Variable, kept: Collection[Variable]) -> tuple[Variable, float] | None:
    """The base and the exponent of a factor that is a power above 1."""
    node = var.owner
    if node is None or var in kept or node.op not in (square, at_pow) or node.inputs[0].type.dtype != var.type.dtype:
        return None
    if node.op == square:
        return node.inputs[0], 2.0
    number = exponent_value(node.inputs[1]) if node.op == at_pow else None
    return (node.inputs[0], float(number)) if number is not None and 1 < number < np.inf else None


def log1p_of_power(var: Variable, kept: Collection[Variable] = (), differentiated: bool = False) -> Variable | None:
    """``log1p(var)`` for a power, times or over a number, or a square times or over a variable; None for others."""
    node = var.owner
    if node is None or not is_float(var) or var in kept:
        return None
    found, op, rest = _power(var, kept), None, None
    if found is None and node.op in (mul, true_divide) and len(node.inputs) == 2:
        places = (0, 1) if node.op == mul else (0,)
        for place in places:
            rest = node.inputs[1 - place]
            fits = rest.type.dtype == var.type.dtype or common_value(rest) is not None
            found = (
                _power(node.inputs[place], kept) if fits and node.inputs[place].type.dtype == var.type.dtype else None
            )
            if found is not None:
                op = node.op
                break
    if found is None:
        return None
    base, number = found
    root = None
    if rest is not None and op is not None:
        value = common_value(rest)
        if value is not None:
            root = constant_like(abs(np.float64(value)) ** (1 / number), var)
        elif number == 2:
            root = sqrt(at_abs(rest))
        else:
            return None
    is_infinite = eq(var, constant_like(np.inf, var))
    size = at_abs(base) if root is None or op is None else op(at_abs(base), root)
    if differentiated:
        inside = switch(is_infinite, constant_like(1, base), base)
        power = square(inside) if number == 2 else at_pow(inside, constant_like(number, inside))
        var = power if op is None else op(power, rest)
    one = constant_like(1, var)
    times = switch(is_infinite, constant_like(number, var), one)
    return mul(times, log1p(switch(is_infinite, size, var)))


def is_one_plus_power(var: Variable) -> bool:
    """Return whether a variable is 1 plus a power that is not negative."""
    node = output_of(var, add)
    if node is None or len(node.inputs) != 2 or not any(has_value(v, 1) for v in node.inputs):
        return False
    power = node.inputs[has_value(node.inputs[0], 1)]
    return power.type.dtype == var.type.dtype and is_positive(var) and log1p_of_power(power) is not None


def log_of_one_plus_power(var: Variable, kept: Collection[Variable]) -> Variable | None:
    """``log(var)``, for differentiation, where `var` is 1 plus a power."""
    node = output_of(var, add)
    if node is None or var in kept or len(node.inputs) != 2:
        return None
    for one, power in (node.inputs, node.inputs[::-1]):
        if has_value(one, 1) and power.type.dtype == var.type.dtype:
            return log1p_of_power(power, kept, differentiated=True)
    return None


@rules.stabilize
@rules.specialize
@node_rewriter([log1p], operands=[square, at_pow, mul, true_divide])
def local_log1p_of_power(fgraph, node):
    """``log1p(x**2)`` and ``log1p(x**2 / n)`` are finite where the square overflows."""
    (x,), (out,) = node.inputs, node.outputs
    new = log1p_of_power(x) if x.type.dtype == out.type.dtype else None
    return False if new is None else in_place_of(out, new, [x])
