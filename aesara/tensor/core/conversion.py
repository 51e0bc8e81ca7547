"""Conversion of numbers, arrays and variables of other types to tensor variables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.conversion import _as_symbolic
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.tensor.core.scalar_conversion import tensor_from_scalar
from aesara.tensor.core.tensor_constant import TensorConstant
from aesara.tensor.core.tensor_type import TensorType, refuse_without_values, tensor_type
from aesara.tensor.core.variable import TensorVariable

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["as_tensor", "as_tensor_variable", "constant"]


def as_tensor_variable(x: object, name: str | None = None, ndim: int | None = None, **kwargs: object) -> TensorVariable:
    """Make a tensor variable of something.

    Parameters
    ----------
    x
        A tensor variable (returned as it is), a scalar variable, a node with
        one output, a number, an array, or a sequence of these.
    name
        The name of the variable, if a new one is made.
    ndim
        How many dimensions the result has: missing ones are added in front
        with length 1, superfluous ones are dropped from the front if their
        length is known to be 1.

    Raises
    ------
    NotImplementedError
        If no conversion to a tensor is known.
    TypeError, ValueError
        If `x` is a variable of another kind, or has not as many dimensions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.as_tensor_variable([1.0, 2.5]).type
    TensorType(float64, (2,))
    """
    if ndim is None:
        if isinstance(x, Variable):
            if isinstance(x.type, TensorType):
                return x  # type: ignore[return-value]  # its class follows from its type
        elif (type(x) is int or type(x) is float) and not kwargs:
            return _constant_of_number(x, name)
    return _as_tensor_variable(x, name, ndim, **kwargs)


@singledispatch
def _as_tensor_variable(x: object, name: str | None, ndim: int | None, **kwargs: Any) -> TensorVariable:
    """Register a conversion for a class of objects here to make `as_tensor_variable` accept them."""
    refuse_without_values(x)
    if hasattr(x, "__array__") and not isinstance(x, type):
        return constant(np.asarray(x), name=name, ndim=ndim, **kwargs)
    hint = " Call the function, and give what it returns." if callable(x) and not isinstance(x, type) else ""
    raise NotImplementedError(
        f"Cannot convert {describe(x)} to a tensor variable. Expected a variable, a number, an array, or a sequence "
        f"of these.{hint}"
    )


@_as_tensor_variable.register(Variable)
def _as_tensor_from_variable(x: Any, name: str | None, ndim: int | None, **kwargs: object) -> TensorVariable:
    if isinstance(x.type, aes.ScalarType):
        x = tensor_from_scalar(x)
    if not isinstance(x.type, TensorType):
        raise TypeError(f"Tensor type field must be a TensorType; found {type(x.type)} (of {describe(x)}).")
    if ndim is None or ndim == x.type.ndim:
        return x
    missing = ndim - x.type.ndim
    if missing > 0:
        return x.dimshuffle(["x"] * missing + list(range(x.type.ndim)))
    if not all(x.type.broadcastable[:-missing]):
        raise ValueError(
            f"Tensor of type {x.type} could not be cast to have {ndim} dimensions: "
            f"only leading dimensions whose length is known to be 1 can be dropped."
        )
    return x.dimshuffle(list(range(-missing, x.type.ndim)))


@_as_tensor_variable.register(Apply)
def _as_tensor_from_apply(x: Apply, name: str | None, ndim: int | None, **kwargs: object) -> TensorVariable:
    if x.op.default_output is None and len(x.outputs) != 1:
        raise TypeError("Multi-output Op encountered. Retry using only one of the outputs directly.")
    try:
        output = x.default_output()
    except AttributeError as error:
        raise ValueError(f"{x.op} gives no tensor: {error}") from error
    return as_tensor_variable(output, name=name, ndim=ndim, **kwargs)


@_as_tensor_variable.register(Number)
@_as_tensor_variable.register(np.ndarray)
@_as_tensor_variable.register(np.generic)
def _as_tensor_from_value(
    x: object, name: str | None, ndim: int | None, dtype: DTypeLike | None = None, **kwargs: object
) -> TensorVariable:
    return constant(x, name=name, ndim=ndim, dtype=dtype)


@_as_tensor_variable.register(list)
@_as_tensor_variable.register(tuple)
@_as_tensor_variable.register(range)
def _as_tensor_from_sequence(
    x: object, name: str | None, ndim: int | None, dtype: DTypeLike | None = None, **kwargs: object
) -> TensorVariable:
    # Ops that join tensors convert sequences that contain variables.
    return constant(x, name=name, ndim=ndim, dtype=dtype)


@_as_tensor_variable.register(bool)
def _as_tensor_from_bool(x: bool, name: str | None, ndim: int | None, **kwargs: object) -> TensorVariable:
    raise TypeError(
        "Cannot cast True or False as a tensor variable. Please use np.array(True) or np.array(False) "
        "if you need these constants. This error might be caused by using the == operator on Variables. "
        "v == w does not do what you think it does, use aesara.tensor.eq(v, w) instead."
    )


#: Values of Python numbers as arrays, under the options that choose their dtypes.
_numbers: dict[tuple[object, ...], tuple[TensorType, np.ndarray]] = {}


def _constant_of_number(x: int | float, name: str | None) -> TensorConstant:
    """Return the constant of a Python number; constants of the same number share their array."""
    # Zero cannot be a key, because 0.0 == -0.0, nor can NaN, because NaN != NaN.
    key = (type(x), x, config.floatX, config.cast_policy, aes.autocast_float.dtypes)
    cached = _numbers.get(key) if x else None
    if cached is None:
        data = aes.convert(x)
        data.flags.writeable = False
        cached = (tensor_type(data.dtype.name, ()), data)
        if x and x == x and len(_numbers) < 10_000:
            _numbers[key] = cached
    return TensorType.constant_type(*cached, name=name)


def constant(
    x: object, name: str | None = None, ndim: int | None = None, dtype: DTypeLike | None = None
) -> TensorConstant:
    """Return a constant tensor variable.

    A Python number gets the smallest dtype permitted by ``config.autocast_float`` and the integer rules of
    `aesara.scalar`. The value is copied, so that later changes of an array do not affect the graph.

    Parameters
    ----------
    x
        A number, an array, or a nested sequence of numbers.
    name
        The name of the constant.
    ndim
        How many dimensions it has; dimensions of length 1 are added or
        dropped in front.
    dtype
        The dtype; it must be able to hold the value.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.constant(1.5, dtype="float64").type
    TensorType(float64, ())
    """
    if dtype is None and ndim is None and (type(x) is int or type(x) is float):
        return _constant_of_number(x, name)
    if isinstance(x, Constant):
        value: Any = x
        if (
            (name is None or value.name == name)
            and (ndim is None or value.ndim == ndim)
            and (dtype is None or value.dtype == dtype)
            and isinstance(x.type, TensorType)
        ):
            return value
        x = x.data
    elif isinstance(x, Variable) or (isinstance(x, (list, tuple)) and contains_variable(x)):
        raise TypeError(f"A constant has a value that is known now; got an expression: {describe(x)}.")
    data = _constant_value(x, dtype)
    if ndim is not None and data.ndim != ndim:
        data = _with_ndim(data, ndim)
    return TensorType.constant_type(tensor_type(data.dtype.name, data.shape), data, name=name)


@hooks.empty_shape.set
def _empty_shape() -> Variable:
    return constant(np.empty(0, "int64"))


def _constant_value(x: Any, dtype: DTypeLike | None) -> np.ndarray:
    """Return a new array with the value of `x` and the dtype of the constant."""
    refuse_without_values(x)
    if type(x) in (int, float, bool) or dtype is not None:
        data = aes.convert(x, dtype=dtype)
    else:
        data = np.asarray(x)
        if isinstance(x, (list, tuple)) and not data.size:
            data = data.astype(config.floatX)  # no number that says otherwise
    if data is x or (data.base is not None) or data.dtype.byteorder == ">":
        data = np.array(data, dtype=data.dtype.newbyteorder("="), order="C", subok=False)
    if data.dtype.kind not in "biufc":
        raise TypeError(f"Unsupported dtype for TensorType: {data.dtype}. A constant holds numbers; got {describe(x)}.")
    return data


def _with_ndim(data: np.ndarray, ndim: int) -> np.ndarray:
    missing = ndim - data.ndim
    if missing > 0:
        return data.reshape((1,) * missing + data.shape)
    if any(length != 1 for length in data.shape[:-missing]):
        raise ValueError(
            f"A value of shape {data.shape} could not be cast to have {ndim} dimensions: "
            "only leading dimensions of length 1 can be dropped."
        )
    return data.reshape(data.shape[-missing:])


def contains_variable(items: Iterable[object]) -> bool:
    """Return whether a nested list or tuple has a symbolic variable or a node somewhere in it."""
    pending = [items]
    while pending:
        for item in pending.pop():
            if isinstance(item, (Variable, Apply)):
                return True
            if isinstance(item, (list, tuple)):
                pending.append(item)
    return False


@_as_symbolic.register(object)
def _as_symbolic_tensor(x: object, **kwargs: Any) -> TensorVariable:
    return as_tensor_variable(x, **kwargs)


as_tensor = as_tensor_variable
