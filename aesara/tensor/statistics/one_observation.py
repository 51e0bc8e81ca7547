"""Spread of a single observation, which is 0 / 0 where the number of observations is reduced by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import eq, switch

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable


def spread_of_one(spread: TensorVariable, products: TensorVariable, divisor: Any) -> TensorVariable:
    """Return the spread of what is known to be one observation: NaN where the divisor is zero.

    The mean is the observation. So rewriting takes the deviation for 0, and gradients through its quotient too, where
    they are NaN. Products of the observation itself are no zeros, and NaN times them stays NaN.

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
