"""Gradients of values that an operation repeats, as writing to a part of a tensor does."""

from __future__ import annotations

from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, gradient_as
from aesara.tensor.shapes.specify_shape import specify_shape

_repeats_nothing = CheckAndRaise(
    ValueError,
    "The gradient of a value that was repeated: its type does not say that it has length 1 along this dimension. Say "
    "so, as by `aesara.tensor.specify_broadcastable(value, 0)`.",
)


def summed_where_known(gradient: TensorVariable, value: TensorVariable) -> TensorVariable:
    """Sum the gradient of a broadcast value over new dimensions, and over those in which it is known to be repeated."""
    n_new = gradient.type.ndim - value.type.ndim
    gradient = gradient.sum(axis=list(range(n_new))) if n_new else gradient
    lengths = enumerate(zip(value.type.shape, gradient.type.shape))
    repeated = [axis for axis, (n, m) in lengths if n == 1 and m != 1]
    return gradient.sum(axis=repeated, keepdims=True) if repeated else gradient


def gradient_of_value(value: TensorVariable, gradient: TensorVariable) -> TensorVariable:
    """Return the gradient for a value that was broadcast, given that of the result.

    Repeated dimensions are summed. An unknown length of the value is assumed to be that of the result. The gradient has
    the dtype of the value; for integers the dtype is not changed.
    """
    gradient = summed_where_known(gradient, value)
    lengths = enumerate(zip(value.type.shape, gradient.type.shape))
    unknown = [axis for axis, (n, m) in lengths if n is None and m != 1]
    if unknown:
        gradient = _repeats_nothing(gradient, *(eq(value.shape[axis], gradient.shape[axis]) for axis in unknown))
    if value.type.dtype not in discrete_dtypes:
        gradient = gradient_as(gradient, value.type.dtype)
    return specify_shape(gradient, value.type.shape)
