"""Variance of a single observation, which is 0 / 0 if the divisor is the number of observations minus one."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, switch


def spread_of_one(spread: TensorVariable, products: TensorVariable, divisor: TensorLike) -> TensorVariable:
    """Return the spread of a single observation: NaN if the divisor is zero.

    The mean equals the observation, so rewriting replaces the deviation by 0, also in gradients, where the quotient is
    NaN. Products with the observation itself are not zero, and their product with NaN stays NaN.

    Parameters
    ----------
    spread
        The squares of the deviation, or products with others, divided.
    products
        The same products of the observation, not divided.
    divisor
        A number, or a scalar variable.
    """
    dtype = spread.type.dtype
    undefined = products.astype(dtype) * constant(np.asarray(np.nan, dtype))
    if isinstance(divisor, Variable):
        return switch(eq(divisor, 0), undefined, spread)
    return undefined if divisor == 0 else spread
