"""Symbolic parameters of draws: shapes, dtypes and checks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Constant
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import float_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import invert
from aesara.tensor.random.parameters import SizeLike, normalize_size_param, sizes_of_shape
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.shapes.broadcasting import broadcast_shape, broadcast_to


def float_dtype(dtype: str | None) -> str:
    """Return the dtype of draws: `config.floatX` unless another floating-point dtype is given."""
    name = config.floatX if dtype in (None, "floatX") else np.dtype(dtype).name
    if name not in float_dtypes:
        raise TypeError(f"These draws are floating-point numbers; their dtype cannot be {name}.")
    return name


def floats_of(dtype: str, *params: TensorLike) -> list[TensorVariable]:
    """Parameters in the dtype of the draws."""
    return [convert(as_tensor_variable(param), dtype) for param in params]


def is_number(param: object, number: float) -> bool:
    """Return whether a parameter is a certain number, known when the graph is built."""
    return isinstance(param, int | float) and param == number


def shape_and_params(size: SizeLike, *params: TensorVariable) -> tuple[tuple[IntegerLike, ...], list[TensorVariable]]:
    """Return the shape of draws and the parameters, broadcast to it.

    Parameters
    ----------
    size
        The argument of the user; None leaves the shape to the parameters.
    params
        The parameters, all of whose dimensions are of the batch.

    Returns
    -------
    shape
        The sizes.
    params
        The parameters; those that are no single numbers have the shape.
    """
    shape = sizes_of_shape(normalize_size_param(size))
    arrays = [param for param in params if param.type.ndim]
    if not shape and arrays:
        shape = broadcast_shape(*arrays)
    return shape, [broadcast_to(param, shape) if param.type.ndim else param for param in params]


def refuse(
    param: TensorVariable, wrong: Callable[..., np.ndarray | TensorVariable], message: str, *others: TensorVariable
) -> TensorVariable:
    """Return a parameter with a check that its value is valid.

    Parameters
    ----------
    param
        The parameter.
    wrong
        Tells, of the parameter and `others`, which elements cannot be. Constants that are wrong raise the error at
        once, others in the call.
    message
        The error's text.
    others
        Other parameters that the check depends on.
    """
    values = [constant_of(value) for value in (param, *others)]
    if all(value is not None for value in values):
        if np.any(wrong(*values)):
            raise ValueError(message)
        return param
    return CheckAndRaise(ValueError, message)(param, all_of(invert(wrong(param, *others))))


def constant_of(param: TensorVariable) -> np.ndarray | None:
    """Return the value of a constant parameter, or None."""
    return param.data if isinstance(param, Constant) else None


def convert(param: TensorVariable, dtype: str) -> TensorVariable:
    """Convert a parameter to another dtype; constants stay constants."""
    return constant(param.data.astype(dtype)) if isinstance(param, Constant) else cast(param, dtype)
