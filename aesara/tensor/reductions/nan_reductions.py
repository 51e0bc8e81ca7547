"""Reductions along axes of the elements that are not NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.half_precision import half_in_single
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import conj, gt, invert, isnan, real, sqrt, switch
from aesara.tensor.reductions.all_any import all as all_true
from aesara.tensor.reductions.all_any import any as any_true
from aesara.tensor.reductions.argmax import argmax, argmin
from aesara.tensor.reductions.careduce import normalize_axes as checked_axes
from aesara.tensor.reductions.sum_prod_max import max as max_along
from aesara.tensor.reductions.sum_prod_max import min as min_along
from aesara.tensor.reductions.sum_prod_max import prod as prod_along
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.sequences.cumulative import cumprod, cumsum

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _without_nan(a: TensorVariable, value: float) -> TensorVariable:
    """Replace NaN in a tensor by a number."""
    if a.type.dtype in discrete_dtypes:
        return a
    return switch(isnan(a), np.asarray(value, dtype=a.type.dtype), a)


def nansum(
    a: TensorLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> TensorVariable:
    """The sum of the elements along axes that are not NaN; 0 if there are none.

    Parameters
    ----------
    a
        The tensor.
    axis
        An axis or several; None for all.
    dtype
        The dtype of the result; see `sum`.
    keepdims
        Keep the axes, with length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.nansum([1.0, at.nan, 2.0]).eval()
    array(3.)
    """
    return sum_along(_without_nan(as_tensor_variable(a), 0.0), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(
    a: TensorLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> TensorVariable:
    """The product of the elements along axes that are not NaN; 1 if there are none. See `nansum`."""
    return prod_along(_without_nan(as_tensor_variable(a), 1.0), axis=axis, dtype=dtype, keepdims=keepdims)


def nancumsum(a: TensorLike, axis: int | None = None) -> TensorVariable:
    """The running sums along an axis, in which NaN counts as 0."""
    return cumsum(_without_nan(as_tensor_variable(a), 0.0), axis)


def nancumprod(a: TensorLike, axis: int | None = None) -> TensorVariable:
    """The running products along an axis, in which NaN counts as 1."""
    return cumprod(_without_nan(as_tensor_variable(a), 1.0), axis)


def nanmax(a: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """The largest element along axes that is not NaN; NaN if there is none.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.nanmax([[1.0, at.nan], [at.nan, at.nan]], axis=1).eval()
    array([ 1., nan])
    """
    a = as_tensor_variable(a)
    if a.type.dtype in discrete_dtypes:
        return max_along(a, axis, keepdims)
    return _nan_if_all_are(a, max_along(_without_nan(a, -np.inf), axis, keepdims), axis, keepdims)


def nanmin(a: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """The smallest element along axes that is not NaN; NaN if there is none."""
    a = as_tensor_variable(a)
    if a.type.dtype in discrete_dtypes:
        return min_along(a, axis, keepdims)
    return _nan_if_all_are(a, min_along(_without_nan(a, np.inf), axis, keepdims), axis, keepdims)


def _nan_if_all_are(
    a: TensorVariable, result: TensorVariable, axis: int | Sequence[int] | None, keepdims: bool
) -> TensorVariable:
    return switch(all_true(isnan(a), axis, keepdims), np.asarray(np.nan, dtype=a.type.dtype), result)


def nanargmax(a: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """Return the position along axes of the largest element that is not NaN; raise an error if all are NaN."""
    a = as_tensor_variable(a)
    if a.type.dtype in discrete_dtypes:
        return argmax(a, axis, keepdims)
    return argmax(_replace_nan(_some_number(a, axis), -np.inf), axis, keepdims)


def nanargmin(a: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> TensorVariable:
    """Return the position along axes of the smallest element that is not NaN; raise an error if all are NaN."""
    a = as_tensor_variable(a)
    if a.type.dtype in discrete_dtypes:
        return argmin(a, axis, keepdims)
    return argmin(_replace_nan(_some_number(a, axis), np.inf), axis, keepdims)


_has_numbers = CheckAndRaise(ValueError, "All-NaN slice encountered: there is no largest or smallest element.")


def _replace_nan(a: TensorVariable, worst: float) -> TensorVariable:
    return _without_nan(a, worst)


def _some_number(a: TensorVariable, axis: int | Sequence[int] | None) -> TensorVariable:
    """Return a tensor, with a check that not all elements along the axes are NaN."""
    return _has_numbers(a, all_true(any_true(invert(isnan(a)), axis)))


def _count(a: TensorVariable, axis: Any, keepdims: bool, dtype: str) -> TensorVariable:
    """Count the elements along axes that are not NaN."""
    checked_axes(None if axis is None else tuple(np.atleast_1d(axis).tolist()), a.type.ndim)
    return sum_along(invert(isnan(a)), axis=axis, keepdims=keepdims).astype(dtype)


def _as_floats(a: TensorLike) -> TensorVariable:
    a = as_tensor_variable(a)
    return a.astype("float64") if a.type.dtype in discrete_dtypes else a


def _real_dtype(a: TensorVariable) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(a.type.dtype, a.type.dtype)


@half_in_single
def nanmean(
    a: TensorLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> TensorVariable:
    """The mean of the elements along axes that are not NaN; NaN if there are none.

    Parameters
    ----------
    a
        The tensor; integers are taken as float64.
    axis
        An axis or several; None for all.
    dtype
        The dtype of the result and of the sum.
    keepdims
        Keep the axes, with length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.nanmean([[1.0, at.nan], [3.0, 5.0]], axis=0).eval()
    array([2., 5.])
    """
    a = _as_floats(a)
    if dtype is not None:
        a = a.astype(dtype)
    total = nansum(a, axis=axis, keepdims=keepdims, dtype=a.type.dtype)
    return (total / _count(a, axis, keepdims, _real_dtype(a))).astype(a.type.dtype)


@half_in_single
def nanvar(
    a: TensorLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    ddof: TensorLike = 0,
    keepdims: bool = False,
) -> TensorVariable:
    """Return the variance of the elements along axes that are not NaN; NaN if there are at most `ddof` of them.

    See `nanmean` for the parameters; the sum of squares is divided by the count minus `ddof`.
    """
    a = _as_floats(a)
    if dtype is not None:
        a = a.astype(dtype)
    deviation = a - nanmean(a, axis=axis, keepdims=True)
    squared = real(deviation * conj(deviation)) if a.type.dtype in complex_dtypes else deviation * deviation
    real_dtype = _real_dtype(a)
    # Only what is NaN in `a` is left out: deviations from an infinite mean count.
    squared = switch(isnan(a), np.asarray(0, dtype=real_dtype), squared)
    total = sum_along(squared, axis=axis, keepdims=keepdims, dtype=real_dtype)
    degrees = _count(a, axis, keepdims, real_dtype) - ddof
    variance = (total / degrees).astype(real_dtype)
    return switch(gt(degrees, 0), variance, np.asarray(np.nan, dtype=real_dtype))


@half_in_single
def nanstd(
    a: TensorLike,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    ddof: TensorLike = 0,
    keepdims: bool = False,
) -> TensorVariable:
    """The standard deviation of the elements along axes that are not NaN: the root of `nanvar`."""
    return sqrt(nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims))
