"""Running sums and products, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import conj, neq
from aesara.tensor.joining.join_split import join
from aesara.tensor.sequences.recurrence import LinearRecurrence, shift
from aesara.tensor.shapes.rearranging import flatten, normalize_axes
from aesara.tensor.shapes.reshape import reshape

__all__ = ["cumprod", "cumsum", "diff"]


class CumOp(Op):
    """Running sums, or products, along a dimension.

    Parameters
    ----------
    axis
        The dimension; None for those of the flattened tensor.
    mode
        ``"add"`` or ``"mul"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> CumOp(axis=0)(at.matrix("x")).ndim
    2
    """

    __props__ = ("axis", "mode")

    def __init__(self, axis: int | None = None, mode: str = "add"):
        if mode not in ("add", "mul"):
            raise ValueError(f"CumOp: mode must be 'add' or 'mul'; got {mode!r}.")
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise TypeError(f"CumOp: axis must be an integer or None; got {axis!r}.")
        self.axis = None if axis is None else int(axis)
        self.mode = mode

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.axis}, {self.mode}}}"

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.axis is None:
            shape = x.type.shape
            length = None if None in shape else int(np.prod(shape, dtype="int64"))
            return Apply(self, [x], [tensor_type(x.type.dtype, (length,))()])
        if not -x.type.ndim <= self.axis < x.type.ndim:
            raise ValueError(f"axis(={self.axis}) out of bounds for {x.type.ndim} dimension(s).")
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        # NumPy would convert small integers to int64.
        accumulate = np.cumsum if self.mode == "add" else np.cumprod
        output_storage[0][0] = accumulate(x, axis=self.axis, dtype=x.dtype)

    def infer_shape(self, fgraph, node, input_shapes):
        (shape,) = input_shapes
        if self.axis is not None:
            return [shape]
        size = as_tensor_variable(np.array(1, dtype="int64"))
        for position, length in enumerate(shape):
            size = length if position == 0 else size * length
        return [(size,)]

    def L_op(self, inputs, outputs, output_gradients):
        (x,) = inputs
        (g_out,) = output_gradients
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype="floatX")]
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        if self.mode == "add":
            backwards = (slice(None),) * axis + (slice(None, None, -1),)
            total = CumOp(axis=axis)(g_out[backwards])[backwards]
        else:
            # Multiply instead of dividing the product by x, so that derivatives of all orders are right at x = 0.
            factors = flatten(x) if self.axis is None else x
            before = shift(outputs[0], axis, 1.0)
            total = LinearRecurrence(axis, backwards=True)(conj(factors), g_out) * conj(before)
        if self.axis is None:
            total = reshape(total, x.shape, ndim=x.type.ndim)
        return [total]

    def R_op(self, inputs, eval_points):
        (x,), (point,) = inputs, eval_points
        if point is None or self.mode == "add":
            return [None if point is None else self(point)]
        if self.axis is None:
            x, point = flatten(x), flatten(point)
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        before = shift(CumOp(axis=axis, mode="mul")(x), axis, 1.0)
        return [LinearRecurrence(axis)(x, before * point)]


class CumsumOp(Op):
    """The `CumOp` for sums, under an older name."""

    __props__ = ("axis",)

    def __new__(cls, axis: int | None = None) -> CumOp:  # type: ignore[misc]  # it is there to give another one
        return CumOp(axis, mode="add")


class CumprodOp(Op):
    """The `CumOp` for products, under an older name."""

    __props__ = ("axis",)

    def __new__(cls, axis: int | None = None) -> CumOp:  # type: ignore[misc]  # it is there to give another one
        return CumOp(axis, mode="mul")


def cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> TensorVariable:
    """Return running sums, in the dtype of `x`.

    Parameters
    ----------
    x
        The tensor.
    axis
        The dimension; by default that of the flattened tensor.
    dtype
        Another dtype for sums and result.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> cumsum(at.matrix("x"), axis=1).ndim
    2
    """
    return CumOp(axis=axis, mode="add")(_countable(x, dtype))


def cumprod(x: Any, axis: int | None = None, dtype: Any = None) -> TensorVariable:
    """Return running products, in the dtype of `x`; see `cumsum`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> cumprod(at.matrix("x")).ndim
    1
    """
    return CumOp(axis=axis, mode="mul")(_countable(x, dtype))


def _countable(x: Any, dtype: Any) -> TensorVariable:
    x = as_tensor_variable(x)
    if dtype is not None:
        return cast(x, dtype)
    return cast(x, "int64") if x.type.dtype == "bool" else x


def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> TensorVariable:
    """Return the differences of neighbouring entries, taken `n` times.

    Parameters
    ----------
    x
        The tensor.
    n
        How often.
    axis
        The dimension.
    prepend, append
        Values before and after the entries: a number, or a tensor.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> diff(at.tensor("float64", shape=(5,))).type.shape
    (4,)
    """
    x = as_tensor_variable(x)
    if n < 0:
        raise ValueError(f"The order of a difference cannot be negative; got {n}.")
    if prepend is not None or append is not None:
        x = _extend(x, axis, prepend, append)
    if x.type.ndim == 0:
        raise ValueError("`diff` needs at least one dimension.")
    (axis,) = normalize_axes(axis, x.type.ndim)
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = neq(later, earlier) if x.type.dtype == "bool" else later - earlier
    return x


def _extend(x: TensorVariable, axis: int, prepend: TensorLike, append: TensorLike) -> TensorVariable:
    """Extend a tensor by scalars or tensors at the ends of a dimension."""
    (axis,) = normalize_axes(axis, x.type.ndim)
    parts = [x]
    for value, position in ((prepend, 0), (append, len(parts) + 1)):
        if value is not None:
            part = as_tensor_variable(value)
            if part.type.ndim == 0:
                part = alloc(part, *[1 if k == axis else x.shape[k] for k in range(x.type.ndim)])
            parts.insert(position, part)
    return join(axis, *parts)
