"""Logarithms of sums of exponentials, along axes and of several tensors."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.half_precision import half_in_single
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.derivatives.gradient_operators import disconnected_grad
from aesara.tensor.elementwise.elemwise import tensor_function
from aesara.tensor.elementwise.ops import eq, exp, isinf, log, switch
from aesara.tensor.reductions.careduce import as_axes, normalize_axes
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.reductions.sum_prod_max import supremum

__all__ = ["logaddexp", "logsumexp"]


@half_in_single
def logsumexp(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """The logarithm of the sum of exponentials along axes, without overflow; minus infinity of no elements.

    Parameters
    ----------
    x
        The tensor.
    axis
        An axis or several; None for all.
    keepdims
        Keep the axes, with length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.logsumexp([1000.0, 1000.0]).eval()
    array(1000.69314718)
    """
    x = as_tensor_variable(x)
    if x.type.dtype in discrete_dtypes:
        x = x.astype(exp(x).type.dtype)
    largest = supremum(x, axis=axis, keepdims=True)
    # Infinity minus infinity is not a number; without a shift the sum has the right limit.  The result does not depend
    # on the shift, so gradients need not flow through it.
    shift = switch(isinf(largest), np.int8(0), disconnected_grad(largest))
    total = sum_along(exp(x - shift), axis=axis, keepdims=True)
    # If all elements are -inf, the derivative of the logarithm is not finite.
    nothing = eq(total, np.int8(0))
    logarithm = log(switch(nothing, np.int8(1), total))
    total = switch(nothing, np.asarray(-np.inf, dtype=logarithm.type.dtype), logarithm) + shift
    if keepdims:
        return total
    axes = normalize_axes(as_axes(axis), x.type.ndim, x)
    other_axes = [] if axes is None else [a for a in range(x.type.ndim) if a not in axes]
    return total.dimshuffle(other_axes)


logaddexp_ = tensor_function(aes.logaddexp, "logaddexp")


def logaddexp(*xs: Any) -> TensorVariable:
    """The logarithm of the sum of the exponentials of several tensors, element by element, without overflow.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.logaddexp([1000.0], [1000.0]).eval()
    array([1000.69314718])
    """
    if len(xs) < 2:
        raise TypeError(f"logaddexp takes at least two tensors; got {len(xs)}.")
    return functools.reduce(logaddexp_, xs)
