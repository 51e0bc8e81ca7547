"""Averages, spread, and sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.nodes import Apply
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.half_precision import half_in_single
from aesara.tensor.core.tensor_like import AxisLike, OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import conj, real, second, sqrt
from aesara.tensor.reductions.careduce import CAReduce, as_axes, normalize_axes, with_kept_dims
from aesara.tensor.reductions.sum_prod_max import select_where
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.statistics.one_observation import spread_of_one

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["mean", "std", "var"]


class Mean(CAReduce):
    """The mean along axes as a single op; `mean` composes it of a sum and a division by default."""

    __props__ = ("axis",)
    nfunc_spec = ("mean", 1, 1)

    def __init__(self, axis: int | Sequence[int] | None = None):
        super().__init__(aes.mean, axis)

    def __str__(self) -> str:
        return "Mean" if self.axis is None else f"Mean{{{', '.join(map(str, self.axis))}}}"

    def output_dtype(self, input_dtype: str) -> str:
        return "float64"

    def _resolve(self, inp: Any) -> Mean:
        axis = normalize_axes(self.axis, inp.type.ndim, inp)
        return self if axis == self.axis else type(self)(axis)

    def make_node(self, inp: Any) -> Apply:
        inp = as_tensor_variable(inp)
        op = self._resolve(inp)
        shape = () if op.axis is None else tuple([n for i, n in enumerate(inp.type.shape) if i not in op.axis])
        return Apply(op, [inp], [tensor_type("float64", shape)()])

    def clone(self, **kwargs: Any) -> Mean:  # type: ignore[override]  # what a class fixes is no parameter
        axis = kwargs.get("axis")
        return type(self)(self.axis if axis is None else axis)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        output_storage[0][0] = np.asarray(np.mean(inputs[0], axis=self.axis, dtype="float64"))

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (x,) = inputs
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        share = with_kept_dims(x, as_tensor_variable(output_grads[0]), self.axis) / _count(x, self.axis, "float64")
        return [second(x, share).astype(x.type.dtype)]


def _count(x: TensorVariable, axis: AxisLike, dtype: str) -> TensorVariable:
    """Return the number of reduced elements in a dtype."""
    axes = normalize_axes(as_axes(axis), x.type.ndim, x)
    count: TensorVariable | None = None
    for a in range(x.type.ndim) if axes is None else axes:
        known = x.type.shape[a]
        length = as_tensor_variable(np.int64(known)) if known is not None else x.shape[a]
        count = length if count is None else count * length
    if count is None:
        return as_tensor_variable(np.asarray(1, dtype=dtype))
    return count.astype(dtype)


def _is_single(x: TensorVariable, axis: int | Sequence[int] | None) -> bool:
    """Return whether there is known to be one element along axes."""
    axes = normalize_axes(as_axes(axis), x.type.ndim, x)
    return all(x.type.shape[a] == 1 for a in (range(x.type.ndim) if axes is None else axes))


def mean(
    input: Any,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    op: bool = False,
    keepdims: bool = False,
    acc_dtype: DTypeLike | None = None,
    *,
    where: Any = None,
) -> TensorVariable:
    """The arithmetic mean along axes.

    Parameters
    ----------
    input
        The tensor.
    axis
        An axis or several; None for all.
    dtype
        The dtype of the sum that is divided. By default float64 for integers and float32 for float16, whose mean is
        rounded to float16; else that of the input.
    op
        Use the single op `Mean`, which has neither `dtype` nor `acc_dtype`.
    keepdims
        Keep the axes, with length 1.
    acc_dtype
        The dtype in which elements are added.
    where
        Which elements take part: a Boolean tensor that broadcasts.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.mean([1, 2, 4]).eval()
    array(2.33333333)
    """
    x = select_where(as_tensor_variable(input), where, 0)
    axis = as_axes(axis)
    if op:
        if where is not None:
            raise NotImplementedError("The Mean op takes all elements: leave out where, or op=True.")
        if dtype not in (None, "float64") or acc_dtype not in (None, "float64"):
            raise NotImplementedError("The Mean op computes in float64: leave out dtype and acc_dtype, or op=True.")
        out = Mean(axis)(x)
        return with_kept_dims(x, out, axis) if keepdims else out
    if dtype is not None:
        sum_dtype = np.dtype(dtype).name
        if sum_dtype in discrete_dtypes and x.type.dtype not in discrete_dtypes:
            sum_dtype = x.type.dtype
    else:
        # Sums in half precision overflow at 65504.
        sum_dtype = {"float16": "float32"}.get(x.type.dtype, x.type.dtype)
        sum_dtype = "float64" if sum_dtype in discrete_dtypes else sum_dtype
    total = sum_along(x, axis=axis, dtype=sum_dtype, keepdims=keepdims, acc_dtype=acc_dtype)
    # Cast the count to the real dtype of the sum, so that it does not change the dtype of the result.
    count_dtype = {"complex64": "float32", "complex128": "float64"}.get(total.type.dtype, total.type.dtype)
    if count_dtype in discrete_dtypes or count_dtype == "float16":
        count_dtype = "float64" if count_dtype != "float16" else "float32"
    if where is None:
        result = total / _count(x, axis, count_dtype)
    else:
        result = total / _count_selected(x, where, axis, keepdims, count_dtype)
    if total.type.dtype == "float16" or (x.type.dtype == "float16" and dtype is None):
        result = result.astype("float16")
    result.name = "mean"
    return result


def _count_selected(x: TensorVariable, where: TensorLike, axis: AxisLike, keepdims: bool, dtype: str) -> TensorVariable:
    """Return the number of elements along axes for which a condition holds."""
    taking_part = second(x, as_tensor_variable(where))
    return sum_along(taking_part, axis=axis, keepdims=keepdims).astype(dtype)


@half_in_single
def var(
    input: TensorLike,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    corrected: bool = False,
    *,
    dtype: Any = None,
    where: Any = None,
) -> TensorVariable:
    """The variance along axes.

    Parameters
    ----------
    input
        The tensor.
    axis
        An axis or several; None for all.
    ddof
        The sum of squared deviations is divided by the count minus `ddof`.
    keepdims
        Keep the axes, with length 1.
    corrected
        Compensate rounding of the mean: the square of the mean deviation,
        zero in exact arithmetic, is subtracted.
    dtype
        The dtype in which to compute; by default that of the input.
    where
        Which elements take part: a Boolean tensor that broadcasts.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.var([1.0, 2.0, 3.0], ddof=1).eval()
    array(1.)
    """
    x = as_tensor_variable(input)
    if dtype is not None:
        x = x.astype(dtype)
    deviation = select_where(x - mean(x, axis, keepdims=True, where=where), where, 0)
    if x.type.dtype in complex_dtypes:
        squared = real(deviation * conj(deviation))
    else:
        squared = deviation**2
    if isinstance(ddof, (int, float)) and ddof == 0:
        result = mean(squared, axis, keepdims=keepdims, where=where)
    else:
        dtype = squared.type.dtype
        total = sum_along(squared, axis, keepdims=keepdims)
        if where is None:
            count = _count(x, axis, dtype)
        else:
            count = _count_selected(x, where, axis, keepdims, dtype)
        result = (total / (count - ddof)).astype(dtype)
        if where is None and _is_single(x, axis):
            result = spread_of_one(result, sum_along(real(x * conj(x)), axis, keepdims=keepdims), 1 - ddof)
    if corrected:
        error = mean(deviation, axis, keepdims=keepdims, where=where) ** 2
        result = result - (real(error) if x.type.dtype in complex_dtypes else error)
    result.name = "var"
    return result


@half_in_single
def std(
    input: TensorLike,
    axis: AxisLike = None,
    ddof: TensorLike = 0,
    keepdims: bool = False,
    corrected: bool = False,
    *,
    dtype: DTypeLike | None = None,
    where: TensorLike | None = None,
) -> TensorVariable:
    """The standard deviation along axes: the square root of `var`, which see for the parameters."""
    result = sqrt(var(input, axis, ddof=ddof, keepdims=keepdims, corrected=corrected, dtype=dtype, where=where))
    result.name = "std"
    return result
