"""Shapes of draws: the argument ``size``, and broadcasting of parameters along batch dimensions.

The *core* dimensions of a parameter are those of the parameter of a single distribution (none for a scale, two for a
covariance); the leading dimensions before these are its *batch* dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import infer_static_shape
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import complex_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, ShapeLike
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.shapes.broadcasting import broadcast_shape_iter, broadcast_to
from aesara.tensor.shapes.shape import shape_tuple
from aesara.tensor.shapes.specify_shape import specify_shape

if TYPE_CHECKING:
    pass

__all__ = [
    "broadcast_params",
    "default_supp_shape_from_params",
    "explicit_expand_dims",
    "normalize_size_param",
    "params_broadcast_shapes",
    "sizes_of_shape",
    "supp_shape_from_ref_param_shape",
]


#: the argument ``size`` of a draw: the shape of a batch of draws; None if the parameters determine it
SizeLike: TypeAlias = ShapeLike | None


def normalize_size_param(size: SizeLike) -> Variable:
    """Convert the argument ``size`` of a draw to a vector of integers.

    Parameters
    ----------
    size
        A number, a sequence of numbers, a vector whose length is known; None is the same as ``()``. What computes
        floating-point numbers is rounded towards zero; constants must be integers.

    Returns
    -------
    TensorVariable
        A vector of dtype int64 of known length; it is empty where the shape comes from the parameters alone.

    Raises
    ------
    TypeError
        If it is none of those, or its elements are no integers.
    ValueError
        If it is a vector of unknown length, or a matrix.

    Examples
    --------
    >>> normalize_size_param(3).data, normalize_size_param(None).data
    (array([3]), array([], dtype=int64))
    """
    if size is None:
        return constant(np.zeros(0, dtype="int64"))
    if isinstance(size, bool | np.bool_) or not isinstance(size, int | np.integer | np.ndarray | Variable | Sequence):
        raise TypeError("Parameter size must be None, an integer, or a sequence with integers.")
    if isinstance(size, str):
        raise TypeError(f"Parameter size must be None, an integer, or a sequence with integers; got {size!r}.")
    if (isinstance(size, Sequence) and not len(size)) or (isinstance(size, np.ndarray) and size.shape == (0,)):
        return constant(np.zeros(0, dtype="int64"))
    vector = as_tensor_variable(size, ndim=1)
    if isinstance(vector, Constant) and vector.type.dtype not in integer_dtypes:
        raise TypeError(
            f"Parameter size must be None, an integer, or a sequence with integers; got {size!r} of dtype "
            f"{vector.type.dtype}."
        )
    if isinstance(vector, Constant):
        lengths = [int(n) for n in vector.data]
        if any(n < 0 for n in lengths):
            raise ValueError(f"Sizes cannot be negative, got {lengths}.")
        return constant(np.asarray(lengths, dtype="int64"))
    if vector.type.dtype in complex_dtypes:
        raise TypeError(f"Parameter size must have integers; got {size!r} of dtype {vector.type.dtype}.")
    vector = cast(vector, "int64")
    if vector.type.shape[0] is None:
        vector = specify_shape(vector, (get_vector_length(vector),))
    return vector


def sizes_of_shape(shape: Variable | Sequence[IntegerLike]) -> tuple[IntegerLike, ...]:
    """Return the sizes of a shape: a vector of static length, or a sequence of numbers."""
    return tuple(infer_static_shape(shape)[0]) if isinstance(shape, Variable) else tuple(shape)


def params_broadcast_shapes(
    param_shapes: Sequence[Any], ndims_params: Sequence[int], use_aesara: bool = True
) -> list[tuple[Any, ...]]:
    """Return the shapes of parameters with broadcast batch dimensions.

    Parameters
    ----------
    param_shapes
        The shapes: tuples, or symbolic vectors of known length.
    ndims_params
        For each parameter, how many core dimensions it has.
    use_aesara
        Whether sizes may be symbolic; else all are numbers.

    Examples
    --------
    >>> params_broadcast_shapes([(4, 3), (3, 3)], [1, 2], use_aesara=False)
    [(4, 3), (4, 3, 3)]
    """
    shapes: list[tuple[Any, ...]] = [sizes_of_shape(shape) for shape in param_shapes]
    batches = [shape[: len(shape) - ndim] for shape, ndim in zip(shapes, ndims_params, strict=True)]
    if use_aesara:
        common: tuple[Any, ...] = broadcast_shape_iter(batches, arrays_are_shapes=True)
    else:
        common = np.broadcast_shapes(*batches)
    # A batch dimension in front of missing core dimensions is no core dimension.
    return [(*common, *shape[len(batch) :]) for shape, batch in zip(shapes, batches)]


def broadcast_params(params: Sequence[Any], ndims_params: Sequence[int]) -> list[Any]:
    """Broadcast parameters along their batch dimensions.

    Parameters
    ----------
    params
        Arrays, or variables.
    ndims_params
        For each parameter, how many core dimensions it has.

    Examples
    --------
    >>> [p.shape for p in broadcast_params([np.zeros((4, 3)), np.eye(3)], [1, 2])]
    [(4, 3), (4, 3, 3)]
    """
    symbolic = any(isinstance(param, Variable) for param in params)
    if not symbolic:
        arrays = [np.asarray(param) for param in params]
        shapes = params_broadcast_shapes([array.shape for array in arrays], ndims_params, use_aesara=False)
        return [np.broadcast_to(array, shape) for array, shape in zip(arrays, shapes)]
    tensors = [as_tensor_variable(param) for param in params]
    shapes = params_broadcast_shapes([shape_tuple(tensor) for tensor in tensors], ndims_params)
    return [broadcast_to(tensor, shape) for tensor, shape in zip(tensors, shapes)]


def explicit_expand_dims(
    params: Sequence[Any], ndim_params: Sequence[int], size_length: int | None = None
) -> list[Variable]:
    """Extend parameters to the number of batch dimensions of the draws.

    Parameters
    ----------
    params
        The parameters.
    ndim_params
        For each parameter, how many core dimensions it has.
    size_length
        How many sizes are given; without them the parameters alone say how many batch dimensions there are.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> [p.ndim for p in explicit_expand_dims([at.vector(), at.scalar()], [0, 0])]
    [1, 1]
    """
    batches = [param.type.ndim - ndim for param, ndim in zip(params, ndim_params, strict=True)]
    most = max(batches, default=0) if size_length is None else max(size_length, *batches, 0)
    return [
        param.dimshuffle(["x"] * (most - batch) + list(range(param.type.ndim))) if batch < most else param
        for param, batch in zip(params, batches)
    ]


def default_supp_shape_from_params(
    ndim_supp: int,
    dist_params: Sequence[Variable],
    rep_param_idx: int = 0,
    param_shapes: Sequence[tuple[Any, ...]] | None = None,
) -> tuple[Any, ...]:
    """Return the shape of one draw, given by the last dimensions of a parameter.

    Parameters
    ----------
    ndim_supp
        How many dimensions one draw has.
    dist_params
        The parameters of the distribution.
    rep_param_idx
        The number of the parameter that has the shape.
    param_shapes
        The shapes of the parameters, where they are known.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> default_supp_shape_from_params(1, [at.tensor("float64", shape=(None, 3))])
    (3,)
    """
    if ndim_supp <= 0:
        raise ValueError("ndim_supp must be greater than 0")
    parameter = as_tensor_variable(dist_params[rep_param_idx])
    if parameter.type.ndim < ndim_supp:
        raise ValueError(
            f"Reference parameter does not match the expected dimensions; {parameter} has less than {ndim_supp} dim(s)."
        )
    static = parameter.type.shape[-ndim_supp:]
    if None not in static:
        return tuple(static)
    shape = shape_tuple(parameter) if param_shapes is None else sizes_of_shape(param_shapes[rep_param_idx])
    return tuple(shape[-ndim_supp:])


def supp_shape_from_ref_param_shape(
    *,
    ndim_supp: int,
    dist_params: Sequence[Variable],
    param_shapes: Sequence[tuple[IntegerLike, ...]] | None = None,
    ref_param_idx: int,
) -> tuple[IntegerLike, ...]:
    """Return the shape of one draw, given by the last dimensions of a parameter; see
    `default_supp_shape_from_params`.
    """
    return default_supp_shape_from_params(ndim_supp, dist_params, ref_param_idx, param_shapes)
