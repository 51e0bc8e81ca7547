"""Spread of a single observation, which is 0 / 0 where the number of observations is reduced by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import eq, switch

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable

__all__ = ["deviation_of_one"]


def deviation_of_one(x: TensorVariable, deviation: TensorVariable, divisor: Any) -> TensorVariable:
    """Return the deviation of the only observation from the mean, which is NaN where its square is divided by zero.

    The mean is known to be the observation, so rewriting takes the deviation for 0, and the quotient and its gradient
    too. NaN stays NaN.

    Parameters
    ----------
    x
        The observation.
    deviation
        Its difference to the mean.
    divisor
        The number by which the square is divided, or a scalar variable.
    """
    dtype = deviation.type.dtype
    undefined = x.astype(dtype) * constant(np.asarray(np.nan, dtype))
    if isinstance(divisor, Variable):
        return switch(eq(divisor, 0), undefined, deviation)
    return undefined if divisor == 0 else deviation
