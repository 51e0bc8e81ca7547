"""Medians and quantiles along axes, with and without NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import AxisLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise import ops
from aesara.tensor.indexing.permuting import take_along_axis
from aesara.tensor.joining.join_split import join
from aesara.tensor.ordering.sorting import sort
from aesara.tensor.reductions.all_any import all as all_true
from aesara.tensor.reductions.careduce import as_axes, normalize_axes
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.reshape import reshape

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

#: Where continuous quantiles lie between the sorted elements: the parameters alpha and beta of
#: Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996).
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_DISCRETE = (
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
)


def _as_floats(name: str, a: TensorLike) -> TensorVariable:
    a = as_tensor_variable(a)
    if a.type.dtype in complex_dtypes:
        raise TypeError(f"{name}: complex numbers have no order; got {describe(a)} of type {a.type}.")
    return a.astype("float64") if a.type.dtype in discrete_dtypes else a


def _rows(a: TensorVariable, axis: AxisLike) -> tuple[TensorVariable, tuple[int, ...]]:
    """Merge the given axes into one, and move it to the end."""
    axes = normalize_axes(as_axes(axis), a.type.ndim, a)
    if axes is None:
        axes = tuple(range(a.type.ndim))
    others = [k for k in range(a.type.ndim) if k not in axes]
    moved = dimshuffle(a, [*others, *axes]) if [*others, *axes] != list(range(a.type.ndim)) else a
    if len(axes) == 1:
        return moved, axes
    sizes = sizes_of(moved)
    known = [n for n in sizes[len(others) :] if isinstance(n, int)]
    length: Any = int(np.prod(known, dtype="int64"))
    for n in sizes[len(others) :]:
        if not isinstance(n, int):
            length = n * length if not isinstance(length, int) or length != 1 else n
    return reshape(moved, [*sizes[: len(others)], length], ndim=len(others) + 1), axes


def _keep_dims(result: TensorVariable, ndim: int, axes: tuple[int, ...], leading: int = 0) -> TensorVariable:
    """Insert the reduced axes into a result, after `leading` other dimensions."""
    others = iter(range(leading, result.type.ndim))
    return dimshuffle(result, [*range(leading), *["x" if k in axes else next(others) for k in range(ndim)]])


def _append_nan(ordered: TensorVariable) -> TensorVariable:
    """Append NaN to sorted rows if they may be empty."""
    if ordered.type.shape[-1]:
        return ordered
    nan = np.asarray(np.nan, dtype=ordered.type.dtype)
    return join(-1, ordered, alloc(nan, *sizes_of(ordered)[:-1], 1))


def _length(rows: TensorVariable) -> Any:
    return sizes_of(rows)[-1]


def median(a: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
    """Return the median along axes; NaN if an element is NaN.

    Parameters
    ----------
    a
        The tensor; integers are taken as float64.
    axis
        An axis or several; None for all.
    keepdims
        Keep the axes, with length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.median([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]], axis=1).eval()
    array([2., 5.])
    """
    a = _as_floats("median", a)
    rows, axes = _rows(a, axis)
    ordered = _append_nan(sort(rows, axis=-1))
    n = _length(rows)
    before: Any = max(n - 1, 0) if isinstance(n, int) else ops.maximum(n - 1, 0)
    last = ordered[..., before]
    middle = (ordered[..., before // 2] + ordered[..., n // 2]) * np.asarray(0.5, dtype=a.type.dtype)
    result = ops.switch(ops.isnan(last), last, middle)
    return _keep_dims(result, a.type.ndim, axes) if keepdims else result


def nanmedian(a: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
    """The median along axes of the elements that are not NaN; NaN if there are none. See `median`."""
    a = _as_floats("nanmedian", a)
    rows, axes = _rows(a, axis)
    # `sort` moves NaN to the end.
    ordered = _append_nan(sort(rows, axis=-1))
    n = sum_along(ops.invert(ops.isnan(rows)), axis=-1, keepdims=True)
    low = take_along_axis(ordered, ops.maximum(n - 1, 0) // 2, axis=-1)
    high = take_along_axis(ordered, ops.minimum(n // 2, ops.maximum(n - 1, 0)), axis=-1)
    result = ((low + high) * np.asarray(0.5, dtype=a.type.dtype))[..., 0]
    return _keep_dims(result, a.type.ndim, axes) if keepdims else result


def quantile(
    a: TensorLike, q: TensorLike, axis: AxisLike = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """Return quantiles along axes; NaN if an element is NaN.

    Parameters
    ----------
    a
        The tensor; integers are taken as float64.
    q
        Which quantiles: numbers from 0 to 1; may be symbolic.
    axis
        An axis or several; None for all.
    method
        Which number between two elements is taken: one of the methods of
        `numpy.quantile`.
    keepdims
        Keep the axes, with length 1.

    Returns
    -------
    TensorVariable
        The dimensions of `q` come first.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.quantile([3.0, 1.0, 2.0, 4.0], [0.0, 0.5]).eval()
    array([1. , 2.5])
    """
    a = _as_floats("quantile", a)
    rows, axes = _rows(a, axis)
    q = _checked_q(q)
    ordered = sort(rows, axis=-1)
    low, high, weight = _neighbours(q, _length(rows), method)
    weight = weight.astype(a.type.dtype)
    # The dimensions of q are the last ones here.
    result = _between(ordered[..., low], ordered[..., high], weight)
    last = ordered[..., -1]
    last = dimshuffle(last, [*range(last.type.ndim), *["x"] * q.type.ndim])
    result = ops.switch(ops.isnan(last), last, result)
    n_others, n_q = rows.type.ndim - 1, q.type.ndim
    result = dimshuffle(result, [*range(n_others, n_others + n_q), *range(n_others)])
    return _keep_dims(result, a.type.ndim, axes, leading=n_q) if keepdims else result


def nanquantile(
    a: TensorLike, q: TensorLike, axis: AxisLike = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """Quantiles along axes of the elements that are not NaN; NaN if there are none. See `quantile`."""
    a = _as_floats("nanquantile", a)
    rows, axes = _rows(a, axis)
    q = _checked_q(q)
    ordered = _append_nan(sort(rows, axis=-1))
    n = sum_along(ops.invert(ops.isnan(rows)), axis=-1, keepdims=True)
    flat = q.flatten() if q.type.ndim != 1 else q
    low, high, weight = _neighbours(flat, n, method)
    result = _between(
        take_along_axis(ordered, ops.maximum(low, 0), axis=-1),
        take_along_axis(ordered, ops.maximum(high, 0), axis=-1),
        weight.astype(a.type.dtype),
    )
    n_others = rows.type.ndim - 1
    result = dimshuffle(result, [n_others, *range(n_others)])
    if q.type.ndim != 1:
        result = reshape(result, [*sizes_of(q), *sizes_of(result)[1:]], ndim=q.type.ndim + n_others)
    return _keep_dims(result, a.type.ndim, axes, leading=q.type.ndim) if keepdims else result


def percentile(
    a: TensorLike, q: TensorLike, axis: AxisLike = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """Percentiles along axes: `quantile` for ``q / 100``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.percentile([3.0, 1.0, 2.0], 50).eval()
    array(2.)
    """
    return quantile(a, _hundredths(q), axis, method, keepdims)


def nanpercentile(
    a: TensorLike, q: TensorLike, axis: AxisLike = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """Percentiles along axes of the elements that are not NaN: `nanquantile` for ``q / 100``."""
    return nanquantile(a, _hundredths(q), axis, method, keepdims)


def _hundredths(q: TensorLike) -> Any:
    return ops.true_divide(q, 100) if isinstance(q, Variable) else np.true_divide(q, 100)


_in_unit_interval = CheckAndRaise(ValueError, "Quantiles must be in the range from 0 to 1 (percentiles to 100).")


def _checked_q(q: TensorLike) -> TensorVariable:
    if not isinstance(q, Variable):
        values = np.asarray(q, dtype="float64")
        if not np.all((values >= 0) & (values <= 1)):
            raise ValueError(f"Quantiles must be in the range from 0 to 1 (percentiles to 100); got {q}.")
        return constant(values)
    q = cast(q, "float64")
    return _in_unit_interval(q, all_true(ops.and_(ops.ge(q, 0.0), ops.le(q, 1.0))))


def _neighbours(q: TensorVariable, n: TensorLike, method: str) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """Return the positions of the sorted elements below and above each quantile, and the weight of the latter."""
    n = as_tensor_variable(n).astype("float64")
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        position = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
        position = ops.clip(position, 0.0, n - 1)
        low = ops.floor(position)
        weight = position - low
    elif method in _DISCRETE:
        low, weight = _discrete_position(q, n, method)
    else:
        raise ValueError(f"{method!r} is not a method of quantiles; they are {sorted([*_CONTINUOUS, *_DISCRETE])}.")
    low = ops.clip(low, 0.0, n - 1)
    high = ops.minimum(low + 1, n - 1)
    return low.astype("int64"), high.astype("int64"), weight


def _discrete_position(q: TensorVariable, n: TensorVariable, method: str) -> tuple[TensorVariable, TensorVariable]:
    """Return the position of the element below each quantile, and the weight of the next one."""
    zero = q * 0.0 + n * 0.0
    position = (n - 1) * q
    if method == "lower":
        return ops.floor(position), zero
    if method == "higher":
        return ops.ceil(position), zero
    if method == "nearest":
        return ops.round_half_to_even(position), zero
    if method == "midpoint":
        return ops.floor(position), ops.switch(ops.eq(ops.floor(position), position), zero, zero + 0.5)
    position = n * q - 1
    below = ops.floor(position)
    whole = ops.eq(below, position)
    if method == "inverted_cdf":
        return ops.switch(whole, position, below + 1), zero
    if method == "averaged_inverted_cdf":
        return below, ops.switch(ops.lt(below, 0.0), zero, ops.switch(whole, zero + 0.5, zero + 1.0))
    # closest_observation: of two equally near elements the one with the even number, counted from 1
    position = n * q - 1 - 0.5
    below = ops.floor(position)
    stays = ops.and_(ops.eq(below, position), ops.eq(ops.mod(below, 2.0), 1.0))
    return ops.switch(stays, below, below + 1), zero


def _between(low: TensorVariable, high: TensorVariable, weight: TensorVariable) -> TensorVariable:
    """Linear interpolation that is exact at both ends, and monotonic."""
    unit = np.asarray(1, dtype=weight.type.dtype)
    distance = high - low
    from_low, from_high = ops.add(low, distance * weight), high - distance * (unit - weight)
    return ops.switch(ops.ge(weight, np.asarray(0.5, dtype=weight.type.dtype)), from_high, from_low)
