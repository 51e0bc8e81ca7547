"""Elements in reverse order, and rotated matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.messages import describe
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.shapes.rearranging import moveaxis, normalize_axes, transpose

__all__ = ["flip", "fliplr", "flipud", "rollaxis", "rot90"]


def flip(m: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """Reverse the order of the elements along axes.

    Parameters
    ----------
    m
        The tensor.
    axis
        An axis or several; None for all.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.flip([[1, 2], [3, 4]], axis=1).eval()
    array([[2, 1],
           [4, 3]])
    """
    m = as_tensor_variable(m)
    ndim = m.type.ndim
    axes = range(ndim) if axis is None else normalize_axes(axis, ndim)
    return m[tuple([slice(None, None, -1) if k in axes else slice(None) for k in range(ndim)])]


def flipud(m: TensorLike) -> TensorVariable:
    """Reverse the order of the elements along the first axis: a matrix upside down."""
    return flip(_with_dimensions("flipud", m, 1), 0)


def fliplr(m: TensorLike) -> TensorVariable:
    """Reverse the order of the elements along the second axis: a matrix with left and right exchanged."""
    return flip(_with_dimensions("fliplr", m, 2), 1)


def _with_dimensions(name: str, m: TensorLike, ndim: int) -> TensorVariable:
    m = as_tensor_variable(m)
    if m.type.ndim < ndim:
        raise ValueError(f"{name} needs a tensor of {ndim} or more dimensions; got {describe(m)} of type {m.type}.")
    return m


def rot90(m: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> TensorVariable:
    """Turn a tensor by 90 degrees in the plane of two axes.

    Parameters
    ----------
    m
        The tensor.
    k
        How often; from the first axis towards the second.
    axes
        The plane.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.rot90([[1, 2], [3, 4]]).eval()
    array([[2, 4],
           [1, 3]])
    """
    m = as_tensor_variable(m)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"rot90: k must be an integer; got {k!r}.")
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError(f"rot90 needs two axes; got {axes}.")
    first, second = normalize_axes(axes, m.type.ndim, "axes")
    k %= 4
    if k == 2:
        return flip(m, (first, second))
    order = list(range(m.type.ndim))
    order[first], order[second] = second, first
    if k == 0:
        return m
    return transpose(flip(m, second), order) if k == 1 else flip(transpose(m, order), second)


def rollaxis(a: TensorLike, axis: int, start: int = 0) -> TensorVariable:
    """Move an axis in front of another one; see `numpy.rollaxis`, and prefer `moveaxis`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.rollaxis(at.tensor("float64", (2, 3, 4)), 2).type.shape
    (4, 2, 3)
    """
    a = as_tensor_variable(a)
    ndim = a.type.ndim
    (axis,) = normalize_axes(axis, ndim)
    if not -ndim <= start <= ndim:
        raise np.exceptions.AxisError(f"start {start} is out of bounds for a tensor of dimension {ndim}")
    start = start + ndim if start < 0 else start
    return moveaxis(a, axis, start - 1 if axis < start else start)
