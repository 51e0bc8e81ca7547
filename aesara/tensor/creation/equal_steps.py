"""Vectors of numbers at equal distances, or with equal quotients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import complex_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise import ops
from aesara.tensor.shapes.rearranging import moveaxis, normalize_axes

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["geomspace", "linspace", "logspace"]


def _one_of(name: str, first: Any, other_name: str, other: object, default: Any = None) -> Any:
    """Return the value of an argument that has two names."""
    if first is not None and other is not None:
        raise TypeError(f"{name} and {other_name} are two names of one argument: give one of them.")
    value = first if first is not None else other
    if value is None:
        if default is None:
            raise TypeError(f"The argument {name} (or {other_name}) is missing.")
        return default
    return value


def _in_dtype(x: TensorVariable, dtype: Any) -> TensorVariable:
    if dtype is None:
        return x
    # Round towards minus infinity, as NumPy does.
    return (ops.floor(x) if np.dtype(dtype).name in integer_dtypes else x).astype(np.dtype(dtype).name)


def linspace(
    start: Any,
    end: Any = None,
    steps: Any = None,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    stop: Any = None,
    num: Any = None,
) -> Any:
    """Return equally spaced numbers from `start` to `end`.

    Parameters
    ----------
    start
        The first number, or a tensor of such.
    end, stop
        The last number, or a tensor of such.
    steps, num
        How many numbers; may be symbolic. 50 by default.
    endpoint
        Whether `end` is the last number; otherwise the sequence stops one step before it.
    retstep
        Return the distance, too.
    dtype
        The dtype of the result; by default floating-point.
    axis
        Where the numbers are in the result, if `start` or `end` has dimensions.

    Examples
    --------
    >>> linspace(0, 1, 5).type.shape
    (5,)
    >>> linspace(0, 1, 4, endpoint=False).eval()
    array([0.  , 0.25, 0.5 , 0.75])
    """
    end = _one_of("end", end, "stop", stop)
    steps = as_tensor_variable(_one_of("steps", steps, "num", num, 50))
    start, end = as_tensor_variable(start), as_tensor_variable(end)
    if steps.type.dtype not in integer_dtypes or steps.type.ndim:
        raise TypeError(f"The number of steps must be an integer; got {steps.type}.")
    # A single number has no step.
    n_intervals = ops.maximum(steps - constant(1, dtype="int64"), 1) if endpoint else ops.maximum(steps, 1)
    step = (end - start) / n_intervals
    position = arange(steps)
    ndim = step.type.ndim
    if ndim:
        position = position.dimshuffle(0, *["x"] * ndim)
    numbers = start + position * step
    if endpoint:
        # Set the last number exactly.
        last = ops.and_(ops.eq(position, n_intervals), ops.gt(position, 0))
        numbers = ops.switch(last, end, numbers)
    if axis != 0:
        normalize_axes(axis, ndim + 1)
        numbers = moveaxis(numbers, 0, axis)
    numbers = _in_dtype(numbers, dtype)
    return (numbers, step) if retstep else numbers


def logspace(
    start: TensorLike,
    end: TensorLike | None = None,
    steps: IntegerLike | None = None,
    base: Any = 10.0,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
    *,
    stop: TensorLike | None = None,
    num: IntegerLike | None = None,
) -> TensorVariable:
    """Return numbers equally spaced by their logarithm, which goes from `start` to `end`.

    Parameters
    ----------
    start, end, stop
        The logarithms of the first and of the last number.
    base
        The base of the logarithm.
    steps, num, endpoint, dtype, axis
        As for `linspace`.

    Examples
    --------
    >>> logspace(0, 2, 3).eval()
    array([  1.,  10., 100.])
    """
    powers = linspace(start, end, steps, endpoint, axis=axis, stop=stop, num=num)
    return _in_dtype(as_tensor_variable(base) ** powers, dtype)


def geomspace(
    start: TensorLike,
    end: TensorLike | None = None,
    steps: IntegerLike | None = None,
    base: TensorLike = 10.0,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
    *,
    stop: TensorLike | None = None,
    num: IntegerLike | None = None,
) -> TensorVariable:
    """Return numbers from `start` to `end`, each a multiple of the one before.

    Parameters
    ----------
    start, end, stop
        The first and the last number, both positive or both negative.
    base
        The base of the logarithm that is used.
    steps, num, endpoint, dtype, axis
        As for `linspace`.

    Examples
    --------
    >>> geomspace(1, 1000, 4).type.shape
    (4,)
    """
    start, end, base = [as_tensor_variable(x) for x in (start, _one_of("end", end, "stop", stop), base)]
    if any(x.type.dtype in complex_dtypes for x in (start, end)):
        raise TypeError(f"geomspace needs real numbers; got types {start.type} and {end.type}.")
    # Python numbers may be constants of a narrow dtype, in which the logarithm would be inaccurate.
    start, end, base = [x.astype("float64") for x in (start, end, base)]
    scale = ops.log(base)
    powers = linspace(ops.log(ops.abs(start)) / scale, ops.log(ops.abs(end)) / scale, steps, endpoint, num=num)
    numbers = base**powers
    position = arange(powers.shape[0])
    if powers.type.ndim > 1:
        position = position.dimshuffle(0, *["x"] * (powers.type.ndim - 1))
    numbers = ops.sgn(start) * numbers
    # Set both ends exactly.
    numbers = ops.switch(ops.eq(position, 0), start, numbers)
    if endpoint:
        numbers = ops.switch(ops.and_(ops.gt(position, 0), ops.eq(position, powers.shape[0] - 1)), end, numbers)
    if axis != 0:
        normalize_axes(axis, powers.type.ndim)
        numbers = moveaxis(numbers, 0, axis)
    return _in_dtype(numbers, dtype)
