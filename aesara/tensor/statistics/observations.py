"""Statistics of observations: weighted means, correlations, histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from aesara import scalar as aes
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import diagonal
from aesara.tensor.creation.equal_steps import linspace
from aesara.tensor.elementwise import ops
from aesara.tensor.joining.join_split import join
from aesara.tensor.ordering.searching import searchsorted
from aesara.tensor.ordering.sorting import argsort, sort
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.reductions.sum_prod_max import supremum
from aesara.tensor.sequences.convolve import convolve
from aesara.tensor.sequences.cumulative import cumsum, diff
from aesara.tensor.shapes.broadcasting import broadcast_to
from aesara.tensor.shapes.rearranging import flatten, normalize_axes, sizes_of
from aesara.tensor.statistics.covariance import cov
from aesara.tensor.statistics.mean_var import mean

__all__ = ["average", "corrcoef", "correlate", "histogram"]


def average(
    a: TensorLike,
    axis: int | Sequence[int] | None = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> TensorVariable | tuple[TensorVariable, TensorVariable]:
    """The weighted mean along axes.

    Parameters
    ----------
    a
        The tensor.
    axis
        An axis or several; None for all.
    weights
        A tensor like `a`, or a vector for a single axis; by default all weigh the same.
    returned
        Return the sums of the weights, too.
    keepdims
        Keep the axes, with length 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.average([1.0, 2.0, 6.0], weights=[1.0, 2.0, 1.0]).eval()
    array(2.75)
    """
    a = as_tensor_variable(a)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        if not returned:
            return result
        count = sum_along(a.ones_like(dtype=result.type.dtype), axis=axis, keepdims=keepdims)
        return result, count
    weights = as_tensor_variable(weights)
    if weights.type.ndim != a.type.ndim:
        if weights.type.ndim != 1 or axis is None or not np.ndim(axis) == 0:
            raise TypeError(
                "average: weights must have the shape of the tensor, or be a vector for one axis; "
                f"got types {weights.type} and {a.type}."
            )
        (along,) = normalize_axes(axis, a.type.ndim)
        weights = weights.dimshuffle([0 if k == along else "x" for k in range(a.type.ndim)])
        weights = broadcast_to(weights, [n if k != along else weights.shape[k] for k, n in enumerate(sizes_of(a))])
    dtype = aes.upcast(a.type.dtype, weights.type.dtype)
    dtype = "float64" if dtype in discrete_dtypes else dtype
    working = {"float16": "float32"}.get(dtype, dtype)  # sums in half precision overflow
    total = sum_along(weights.astype(working), axis=axis, keepdims=keepdims)
    result = sum_along(a.astype(working) * weights.astype(working), axis=axis, keepdims=keepdims) / total
    return (result.astype(dtype), total.astype(dtype)) if returned else result.astype(dtype)


def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True) -> TensorVariable:
    """The correlation coefficients of variables; see `cov` for the parameters.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    covariance = cov(x, y, rowvar)
    if covariance.type.ndim == 0:
        # Use `switch`, because rewriting replaces x / x by 1 also where it is NaN.
        is_number = ops.and_(ops.lt(0, ops.real(covariance)), ops.lt(ops.real(covariance), np.inf))
        return ops.switch(is_number, covariance.ones_like(), covariance * np.float32(np.nan))
    deviation = ops.sqrt(ops.real(diagonal(covariance)))
    result = covariance / deviation.dimshuffle(0, "x") / deviation.dimshuffle("x", 0)
    # Rounding errors may exceed 1.
    if result.type.dtype in complex_dtypes:
        return ops.complex(ops.clip(ops.real(result), -1, 1), ops.clip(ops.imag(result), -1, 1))
    return ops.clip(result, np.int8(-1), np.int8(1))


def correlate(a: Any, v: Any, mode: Literal["valid", "same", "full"] = "valid") -> TensorVariable:
    """The sums of products of a vector and a shifted (conjugated) one, for each shift.

    Parameters
    ----------
    a, v
        The vectors.
    mode
        "valid" for the shifts at which one lies within the other, "same" for as
        many in the middle as the longer one has elements, "full" for every overlap.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], mode="same").eval()
    array([2. , 3.5, 3. ])
    """
    a, v = as_tensor_variable(a), as_tensor_variable(v)
    for name, x in (("a", a), ("v", v)):
        if x.type.ndim != 1:
            raise ValueError(f"correlate: {name} must be a vector; got {describe(x)} of type {x.type}.")
    if mode != "same":
        return convolve(a, ops.conj(v)[::-1], mode)
    # For an even number of shifts, NumPy's middle depends on which vector is longer.
    full = convolve(a, ops.conj(v)[::-1], "full")
    n, m = a.shape[0], v.shape[0]
    longer = ops.switch(n >= m, n, m)
    shorter = ops.switch(n >= m, m, n)
    start = ops.switch(n >= m, (shorter - 1) // 2, shorter // 2)
    result = full[start : start + longer]
    if None in (a.type.shape[0], v.type.shape[0]):
        return result
    return result.with_static_shape((max(a.type.shape[0], v.type.shape[0]),))


def histogram(
    a: TensorLike, bins: Any = 10, range: Any = None, density: bool = False, weights: TensorLike | None = None
) -> tuple[TensorVariable, TensorVariable]:
    """Count the elements in each of a row of intervals.

    Parameters
    ----------
    a
        The tensor.
    bins
        The number of intervals of equal width, or the vector of their borders.
    range
        The first and the last border; by default the smallest and the largest element.
    density
        Divide so that the integral is 1.
    weights
        The weight of each element; by default 1.

    Returns
    -------
    counts
        The number of elements (or the sum of weights) in each interval; the
        upper border belongs to the last one only.
    edges
        The borders.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> counts, edges = at.histogram([1.0, 2.0, 1.0, 4.0], bins=[0.0, 2.0, 3.0, 4.0])
    >>> counts.eval()
    array([2, 1, 1])
    """
    a = flatten(as_tensor_variable(a))
    if a.type.dtype in complex_dtypes:
        raise TypeError(f"histogram: complex numbers have no order; got {describe(a)} of type {a.type}.")
    edges = _edges(a, bins, range)
    if weights is None:
        counts = _below(sort(a), edges)
        counts = diff(counts)
    else:
        weights = flatten(as_tensor_variable(weights))
        order = argsort(a)
        sums = cumsum(weights[order])
        sums = join(0, as_tensor_variable(np.zeros(1, dtype=sums.type.dtype)), sums)
        counts = diff(sums[_below(a[order], edges)])
    if density:
        counts = counts / diff(edges) / sum_along(counts)
    return counts, edges


def _below(ordered: TensorVariable, edges: TensorVariable) -> TensorVariable:
    """Return the number of elements below each edge; the last edge counts elements equal to it."""
    return join(0, searchsorted(ordered, edges[:-1], side="left"), searchsorted(ordered, edges[-1:], side="right"))


def _edges(a: TensorVariable, bins: TensorLike, range: Sequence[TensorLike]) -> TensorVariable:
    if not isinstance(bins, Variable):
        bins = np.asarray(bins) if np.ndim(bins) else bins
    edges = as_tensor_variable(bins)
    if edges.type.ndim == 1:
        return edges
    if edges.type.ndim > 1 or edges.type.dtype not in discrete_dtypes:
        raise TypeError(f"histogram: bins must be an integer or a vector; got {describe(edges)} of type {edges.type}.")
    if isinstance(bins, (int, np.integer)) and bins < 1:
        raise ValueError(f"histogram: the number of bins must be positive; got {bins}.")
    if range is not None:
        low, high = [as_tensor_variable(end).astype("float64") for end in range]
    else:
        least, most = -supremum(-a.astype("float64")), supremum(a.astype("float64"))
        nothing = ops.lt(most, least)
        low, high = ops.switch(nothing, 0.0, least), ops.switch(nothing, 1.0, most)
    same = ops.eq(low, high)
    return linspace(ops.switch(same, low - 0.5, low), ops.switch(same, high + 0.5, high), edges + 1)
