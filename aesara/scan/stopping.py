"""The condition that ends a loop."""

from __future__ import annotations

from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable

__all__ = ["until"]


class until:
    """Condition that ends a loop after the step in which it is true; the last value that the step returns.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.scan.utils import until
    >>> limit = at.dscalar("limit")
    >>> def double(value):
    ...     return value * 2, until(value * 2 > limit)
    >>> powers, _ = aesara.scan(double, outputs_info=at.constant(1.0, dtype="float64"), n_steps=100)
    >>> aesara.function([limit], powers)(10.0)
    array([ 2.,  4.,  8., 16.])
    """

    def __init__(self, condition: Any):
        self.condition = as_tensor_variable(condition)
        if self.condition.type.ndim != 0:
            raise ValueError(f"until takes a single truth value, got {self.condition.type}.")
