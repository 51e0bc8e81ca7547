"""Functions of sampled values: interpolation, differences, integrals and binning."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise import ops
from aesara.tensor.joining.join_split import concatenate, join
from aesara.tensor.ordering.searching import searchsorted
from aesara.tensor.ordering.sorting import argsort
from aesara.tensor.reductions.all_any import any as any_true
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.sequences.cumulative import cumsum, diff
from aesara.tensor.shapes.rearranging import flatten, normalize_axes

__all__ = ["digitize", "ediff1d", "gradient", "interp", "trapezoid", "unwrap"]


def _as_floats(x: TensorLike) -> TensorVariable:
    x = as_tensor_variable(x)
    return x.astype("float64") if x.type.dtype in discrete_dtypes else x


def _vector(name: str, x: TensorLike) -> TensorVariable:
    x = _as_floats(x)
    if x.type.ndim != 1:
        raise ValueError(f"{name} must be a vector; got {describe(x)} of type {x.type}.")
    return x


def interp(
    x: TensorLike,
    xp: TensorLike,
    fp: TensorLike,
    left: TensorLike | None = None,
    right: TensorLike | None = None,
    period: TensorLike | None = None,
) -> TensorVariable:
    """Values between points by straight lines.

    Parameters
    ----------
    x
        Where the values are wanted.
    xp
        Where the points are: a vector in ascending order (in any order with a `period`).
    fp
        Their values: a vector of the same length.
    left, right
        The values before the first and after the last point; by default those
        of these points.
    period
        The points repeat after this distance, and `left` and `right` are ignored.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.interp([0.5, 2.5, 9.0], [0.0, 1.0, 3.0], [0.0, 10.0, 30.0]).eval()
    array([ 5., 25., 30.])
    """
    x, xp, fp = _as_floats(x), _vector("xp", xp), _vector("fp", fp)
    lengths = xp.type.shape[0], fp.type.shape[0]
    if None not in lengths and lengths[0] != lengths[1]:
        raise ValueError(f"interp: xp and fp must have the same length; got types {xp.type} and {fp.type}.")
    if 0 in lengths:
        raise ValueError("interp: there must be at least one point.")
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    last = xp.shape[0] - 1
    low = ops.minimum(ops.maximum(searchsorted(xp, x, side="right") - 1, 0), ops.maximum(last - 1, 0))
    high = ops.minimum(low + 1, last)
    x0, x1, f0, f1 = xp[low], xp[high], fp[low], fp[high]
    width = x1 - x0
    slope = ops.switch(ops.eq(width, 0), np.int8(0), (f1 - f0) / ops.switch(ops.eq(width, 0), np.int8(1), width))
    inside = ops.switch(ops.ge(x, x1), f1, slope * (x - x0) + f0)
    value = ops.switch(ops.lt(x, xp[0]), fp[0] if left is None else left, inside)
    value = ops.switch(ops.gt(x, xp[-1]), fp[-1] if right is None else right, value)
    # Comparisons with NaN are false; its result is NaN.
    return ops.switch(ops.eq(x, x), value, x)


def _periodic(
    x: TensorVariable, xp: TensorVariable, fp: TensorVariable, period: TensorLike
) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    period = ops.abs(_as_floats(period))
    x, xp = ops.mod(x, period), ops.mod(xp, period)
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    return x, join(0, xp[-1:] - period, xp, xp[:1] + period), join(0, fp[-1:], fp, fp[:1])


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> TensorVariable:
    """Return the bin of each element; 0 is before the first edge.

    Parameters
    ----------
    x
        The tensor.
    bins
        A vector, in ascending or in descending order.
    right
        Whether the upper end of an interval belongs to it, and not the lower one.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0]).eval()
    array([1, 4, 3])
    """
    x, bins = as_tensor_variable(x), as_tensor_variable(bins)
    if bins.type.ndim != 1:
        raise ValueError(f"digitize: bins must be a vector; got {describe(bins)} of type {bins.type}.")
    data = getattr(bins, "data", None)
    ascending = searchsorted(bins, x, side="left" if right else "right")
    if data is not None:
        steps = np.diff(data)
        if not (np.all(steps >= 0) or np.all(steps <= 0)):
            raise ValueError("digitize: bins must be monotonically increasing or decreasing.")
        if np.all(steps >= 0):
            return ascending
    descending = bins.shape[0] - searchsorted(bins[::-1], x, side="left" if right else "right")
    if data is not None:
        return descending
    falls = ops.lt(bins[-1:], bins[:1])
    # Without bins both results are zero.
    return ops.switch(any_true(falls), descending, ascending)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> TensorVariable:
    """Return differences of neighbouring elements of the flattened tensor, with optional values at both ends.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.ediff1d([1, 2, 4], to_begin=0).eval()
    array([0, 1, 2])
    """
    ary = flatten(as_tensor_variable(ary))
    parts = [diff(ary)]
    if to_begin is not None:
        parts.insert(0, flatten(as_tensor_variable(to_begin).astype(ary.type.dtype)))
    if to_end is not None:
        parts.append(flatten(as_tensor_variable(to_end).astype(ary.type.dtype)))
    return concatenate(parts)


def _part(x: TensorVariable, axis: int, start: Any, stop: Any) -> TensorVariable:
    return x[(*[slice(None)] * axis, slice(start, stop))]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> TensorVariable:
    """The integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y
        The values.
    x
        Where they are: a vector, or a tensor like `y`; by default at distances `dx`.
    dx
        The distance of neighbouring values.
    axis
        The axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.trapezoid([1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0]).eval()
    array(8.)
    """
    y = _as_floats(y)
    (axis,) = normalize_axes(axis, y.type.ndim)
    distance = as_tensor_variable(dx) if x is None else _distances(x, axis, y.type.ndim)
    heights = _part(y, axis, 1, None) + _part(y, axis, None, -1)
    return sum_along(distance * heights, axis=axis) / np.int8(2)


def _distances(x: TensorLike, axis: int, ndim: int) -> TensorVariable:
    x = _as_floats(x)
    if x.type.ndim == 1:
        return diff(x).dimshuffle([0 if k == axis else "x" for k in range(ndim)])
    return diff(x, axis=axis)


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> TensorVariable:
    """Add multiples of a period so that neighbouring elements differ by at most half of it.

    Parameters
    ----------
    p
        The tensor.
    discont
        Only larger differences are changed; at least half the period.
    axis
        The axis.
    period
        The period.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.unwrap([0, 1, 2, -1, 0], period=4).eval()
    array([0, 1, 2, 3, 4])
    """
    p = as_tensor_variable(p)
    (axis,) = normalize_axes(axis, p.type.ndim)
    steps = diff(p, axis=axis)
    whole = p.type.dtype in discrete_dtypes and isinstance(period, (int, np.integer))
    period = as_tensor_variable(np.int64(period) if whole else period)
    half = period // 2 if whole else period / 2
    wrapped = ops.mod(steps + half, period) - half
    at_border = ops.and_(ops.eq(wrapped, -half), ops.gt(steps, 0))
    if whole:
        # Half of an odd period is not an integer, so that no step equals it.
        at_border = ops.and_(at_border, ops.eq(ops.mod(period, 2), 0))
    wrapped = ops.switch(at_border, half, wrapped)
    limit = half if discont is None else ops.maximum(discont, half)
    correction = ops.switch(ops.lt(ops.abs(steps), limit), np.int8(0), wrapped - steps)
    return join(axis, _part(p, axis, None, 1), _part(p, axis, 1, None) + cumsum(correction, axis))


def gradient(f: TensorLike, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int = 1) -> Any:
    """Return derivatives along axes by finite differences, of second order in the interior.

    Parameters
    ----------
    f
        The values.
    varargs
        The distances of the values: a number for all axes, or for each axis a
        number or the vector of the coordinates. 1 by default.
    axis
        An axis or several; None for all.
    edge_order
        The order at both ends: 1 or 2.

    Returns
    -------
    TensorVariable or list
        A tensor for each axis; the tensor itself if there is one axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.gradient([1.0, 2.0, 4.0, 7.0]).eval()
    array([1. , 1.5, 2.5, 3. ])
    """
    f = _as_floats(f)
    ndim = f.type.ndim
    axes = tuple(range(ndim)) if axis is None else normalize_axes(axis, ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order must be 1 or 2; got {edge_order!r}.")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"gradient takes no distance, one, or one for each of {len(axes)} axes; got {len(varargs)}.")
    spacings = [as_tensor_variable(s) for s in varargs] or [as_tensor_variable(np.int8(1))]
    results = []
    for k, spacing in zip(axes, itertools.cycle(spacings)):
        n = f.type.shape[k]
        if n is not None and n < edge_order + 1:
            raise ValueError(
                f"gradient: at least {edge_order + 1} values are needed along axis {k}; {describe(f)} has {f.type}."
            )
        if spacing.type.ndim == 0:
            results.append(_even_gradient(f, spacing, k, edge_order))
        elif spacing.type.ndim == 1:
            results.append(_uneven_gradient(f, spacing, k, edge_order))
        else:
            raise ValueError(
                f"gradient: distances are numbers or vectors; got {describe(spacing)} of type {spacing.type}."
            )
    return results[0] if len(axes) == 1 else results


def _even_gradient(f: TensorVariable, h: TensorVariable, axis: int, edge_order: int) -> TensorVariable:
    def at_index(start: Any, stop: Any) -> TensorVariable:
        return _part(f, axis, start, stop)

    inside = (at_index(2, None) - at_index(None, -2)) / (2 * h)
    if edge_order == 1:
        first, last = (at_index(1, 2) - at_index(0, 1)) / h, (at_index(-1, None) - at_index(-2, -1)) / h
    else:
        first = (4 * at_index(1, 2) - 3 * at_index(0, 1) - at_index(2, 3)) / (2 * h)
        last = (3 * at_index(-1, None) - 4 * at_index(-2, -1) + at_index(-3, -2)) / (2 * h)
    return join(axis, first, inside, last)


def _uneven_gradient(f: TensorVariable, x: TensorVariable, axis: int, edge_order: int) -> TensorVariable:
    """Return derivatives for uneven spacing, from the parabola through three neighbouring points."""
    n_dims = f.type.ndim
    h = diff(_as_floats(x)).dimshuffle([0 if k == axis else "x" for k in range(n_dims)])

    def at_index(start: Any, stop: Any) -> TensorVariable:
        return _part(f, axis, start, stop)

    def width(start: Any, stop: Any) -> TensorVariable:
        return _part(h, axis, start, stop)

    before, after = width(None, -1), width(1, None)
    inside = (
        -after / (before * (before + after)) * at_index(None, -2)
        + (after - before) / (before * after) * at_index(1, -1)
        + before / (after * (before + after)) * at_index(2, None)
    )
    if edge_order == 1:
        first = (at_index(1, 2) - at_index(0, 1)) / width(0, 1)
        last = (at_index(-1, None) - at_index(-2, -1)) / width(-1, None)
        return join(axis, first, inside, last)
    h1, h2 = width(0, 1), width(1, 2)
    first = (
        -(2 * h1 + h2) / (h1 * (h1 + h2)) * at_index(0, 1)
        + (h1 + h2) / (h1 * h2) * at_index(1, 2)
        - h1 / (h2 * (h1 + h2)) * at_index(2, 3)
    )
    h1, h2 = width(-2, -1), width(-1, None)
    last = (
        h2 / (h1 * (h1 + h2)) * at_index(-3, -2)
        - (h2 + h1) / (h1 * h2) * at_index(-2, -1)
        + (2 * h2 + h1) / (h2 * (h1 + h2)) * at_index(-1, None)
    )
    return join(axis, first, inside, last)
