"""Exponentials within functions that are flat where these overflow, for differentiation.

``exp(-exp(x))`` is zero from `x` = 7 on, and so are its slopes. The chain rule multiplies the zero by ``exp(x)``, which
is infinite from 710 on, and zero times infinity is NaN. What is differentiated has an exponential that does not
overflow.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.derivatives.gradient_operators import DisconnectedGrad, disconnected_grad
from aesara.tensor.elementwise.ops import add, exp, minimum, mul, neg, sub, true_divide
from aesara.tensor.rewriting.helpers import constant_like, output_of, real_of_same_dtype

#: Exponentials are looked for within so many sums and products.
DEEPEST = 4


def with_bounded_exponentials(var: Variable, kept: Collection[Variable], margin: float = 0.0) -> Variable:
    """`var` with exponentials that are the largest number of the dtype, or less, where they would be infinite.

    Parameters
    ----------
    var
        A sum, or product, with exponentials among its terms and factors; `var` itself if there are none.
    kept
        Variables that are not looked behind.
    margin
        By the exponential of this, they stay below the largest number.
    """
    return _bounded(var, kept, margin, DEEPEST)


def _bounded(var: Variable, kept: Collection[Variable], margin: float, depth: int) -> Variable:
    node = var.owner
    if node is None or depth == 0 or var in kept:
        return var
    if node.op == exp:
        (x,) = node.inputs
        if not real_of_same_dtype(x, var) or _is_bounded(x):
            return var
        largest = np.nextafter(np.log(np.finfo(x.type.dtype).max), 0, dtype=x.type.dtype)
        inside = disconnected_grad(minimum(x, constant_like(largest - margin, x)))
        # The slope is that of the exponential everywhere: what is added is zero.
        return exp(add(inside, sub(x, disconnected_grad(x))))
    if node.op in (add, sub, mul, true_divide, neg):
        operands = [_bounded(v, kept, margin, depth - 1) for v in node.inputs]
        if any(new is not old for new, old in zip(operands, node.inputs)):
            return node.op(*operands)
    return var


def _is_bounded(x: Variable) -> bool:
    node = output_of(x, add)
    return node is not None and output_of(node.inputs[0], DisconnectedGrad) is not None
