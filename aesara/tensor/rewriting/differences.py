"""Differences of functions of nearly equal numbers, in forms in which nothing cancels."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    eq,
    exp,
    expm1,
    le,
    lt,
    maximum,
    mul,
    neg,
    sqrt,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.rewriting.helpers import common_value, constant_like, output_of, real_of_same_dtype
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()


def difference_of_exponentials(x: Variable, y: Variable) -> Variable:
    """``exp(x) - exp(y)`` as the larger one times ``1 - exp(-|x - y|)``, with a sign."""
    distance = switch(eq(x, y), 0, at_abs(sub(x, y)))  # of equal infinite numbers, too
    missing = expm1(neg(distance))
    return mul(exp(maximum(x, y)), switch(lt(x, y), missing, neg(missing)))


def root_minus_one(x: Variable) -> Variable:
    """``sqrt(1 + x) - 1``: a quotient for small numbers, and as written where it cannot cancel."""
    root = sqrt(add(1, x))
    return switch(le(x, 3), true_divide(x, add(1, root)), sub(root, 1))


def one_minus_root(x: Variable) -> Variable:
    """``1 - sqrt(1 - x)``; no part of it has the form that the rule is for."""
    root = sqrt(sub(1, x))
    return switch(le(-3, x), true_divide(x, add(1, root)), neg(sub(root, 1)))


def difference_of_roots(c: Variable, x: Variable) -> Variable:
    """``sqrt(c + x) - sqrt(x)``."""
    return true_divide(c, add(sqrt(add(c, x)), sqrt(x)))


def adds_to_root(c: Variable) -> bool:
    """Return whether `c` is a positive number, so that roots with and without it are not both zero."""
    value = common_value(c)
    return value is not None and 0 < value < np.inf


def smooth_difference_of_roots(node: Apply) -> Variable | None:
    """`difference_of_roots` for differentiation; None for what is no such difference."""
    (out,) = node.outputs
    first, second = (output_of(v, sqrt) for v in node.inputs)
    if first is None or second is None:
        return None
    for one, other, is_positive in ((first, second, True), (second, first, False)):
        total = output_of(one.inputs[0], add)
        x = other.inputs[0]
        if total is None or len(total.inputs) != 2 or x not in total.inputs:
            continue
        value = common_value(total.inputs[1 if total.inputs[0] is x else 0])
        if value is not None and real_of_same_dtype(x, out) and adds_to_root(c := constant_like(value, x)):
            new = difference_of_roots(c, x)
            return new if is_positive else neg(new)
    return None


rules.add(
    # Late: by then logarithms and quotients have taken the differences that they have better forms for.
    row(
        "local_difference_of_exponentials",
        (sub, (exp, "x"), (exp, "y")),
        difference_of_exponentials,
        single_client=True,
    ),
    to=(rules.specialize,),
)
rules.add(
    row("local_root_minus_one", (add, -1, (sqrt, (add, 1, "*x"))), root_minus_one),
    row("local_root_of_difference_minus_one", (add, -1, (sqrt, (sub, 1, "x"))), lambda x: neg(one_minus_root(x))),
    row("local_one_minus_root", (sub, 1, (sqrt, (add, 1, "*x"))), lambda x: neg(root_minus_one(x))),
    row("local_difference_of_roots", (sub, (sqrt, (add, "c", "x")), (sqrt, "x")), difference_of_roots, adds_to_root),
    row(
        "local_opposite_difference_of_roots",
        (sub, (sqrt, "x"), (sqrt, (add, "c", "x"))),
        lambda c, x: neg(difference_of_roots(c, x)),
        adds_to_root,
    ),
    row("local_one_minus_root_of_difference", (sub, 1, (sqrt, (sub, 1, "x"))), one_minus_root),
    to=(rules.stabilize,),
)
