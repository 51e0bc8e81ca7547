"""Sums that are smooth, though their terms have kinks: functions written with the larger of two and an absolute value.

``max(x, 0) + log(1 + exp(-abs(x)))`` is ``softplus(x)``. The slopes of its terms at zero are what is agreed on for
kinks, whose sum is not the slope of the sum. So it is differentiated as the smooth function.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    clip,
    exp,
    ge,
    gt,
    log,
    log1p,
    maximum,
    mul,
    softplus,
    sub,
    switch,
)
from aesara.tensor.reductions.logsumexp import logaddexp_
from aesara.tensor.rewriting.algebra import SignedSum, are_opposite, multiple
from aesara.tensor.rewriting.helpers import has_value, output_of

#: So many terms are looked at.
MOST_TERMS = 16


def smooth_sum(node: Apply, kept: Collection[Variable]) -> Variable | None:
    """A sum with softplus, or the logarithm of a sum of exponentials, in the place of terms with kinks.

    Parameters
    ----------
    node
        A sum or a difference.
    kept
        Variables that are not looked behind.
    """
    (out,) = node.outputs
    total = SignedSum.read(out, kept, MOST_TERMS)
    for i, (sign, var) in enumerate(total.terms):
        found = _decay(var, kept)
        if found is None:
            continue
        number, x = found
        for k, (other_sign, other) in enumerate(total.terms):
            new = _without_kink(number, x, other, kept) if k != i and other_sign == sign else None
            if new is not None and new.type.dtype == out.type.dtype:
                return total.without((i, k)).plus(new, sign).build(out.type.dtype)
    return None


def _decay(var: Variable, kept: Collection[Variable]) -> tuple[float, Variable] | None:
    """`number` and `x` of ``log(1 + exp(number * abs(x)))`` with a number below zero."""
    node = var.owner
    if node is None or node.op not in (softplus, log1p, log) or var in kept:
        return None
    (inner,) = node.inputs
    if node.op == log:
        total = output_of(inner, add)
        if total is None or len(total.inputs) != 2 or inner in kept or not any(has_value(v, 1) for v in total.inputs):
            return None
        inner = total.inputs[0] if has_value(total.inputs[1], 1) else total.inputs[1]
    if node.op != softplus:
        power = output_of(inner, exp)
        if power is None or inner in kept:
            return None
        (inner,) = power.inputs
    number, size = multiple(inner)
    found = output_of(size, at_abs)
    if found is None or not number < 0 or any(v in kept for v in _until(inner, size)):
        return None
    return number, found.inputs[0]


def _until(var: Variable, last: Variable) -> Iterator[Variable]:
    """The variables that `multiple` has passed from one to another."""
    stack = [var]
    while stack:
        current = stack.pop()
        yield current
        if current is not last and current.owner is not None:
            stack.extend(current.owner.inputs)


def _without_kink(number: float, x: Variable, other: Variable, kept: Collection[Variable]) -> Variable | None:
    """The sum of a term and ``log(1 + exp(number * abs(x)))``, if it is smooth."""
    node = other.owner
    if node is None or other in kept:
        return None
    if number == -2 and node.op == at_abs and node.inputs[0] is x:
        return sub(softplus(mul(2, x)), x)
    if number != -1:
        return None
    if node.op == switch:
        condition, y, zero = node.inputs
        compared = condition.owner
        if compared is None or compared.op not in (gt, ge) or compared.inputs[0] is not y:
            return None
        if not has_value(compared.inputs[1], 0) or not has_value(zero, 0):
            return None
    elif node.op == clip:
        y, zero, largest = node.inputs
        if not has_value(zero, 0) or not has_value(largest, np.inf):
            return None
    elif node.op == maximum and len(node.inputs) == 2:
        y, zero = node.inputs
        if has_value(y, 0):
            y, zero = zero, y
        if not has_value(zero, 0):
            difference = output_of(x, sub)
            if difference is None or x in kept or {*difference.inputs} != {y, zero}:
                return None
            return logaddexp_(y, zero)
    else:
        return None
    (first, base), (second, of_other) = multiple(x), multiple(y)
    same_size = base is of_other and abs(first) == abs(second)
    return softplus(y) if same_size or are_opposite(x, y) else None
