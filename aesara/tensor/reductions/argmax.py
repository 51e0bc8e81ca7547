"""Positions of the largest and smallest elements along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.pullback import is_disconnected
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import AxisLike, OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, invert, maximum, minimum, neg
from aesara.tensor.reductions.careduce import as_axes, normalize_axes, with_kept_dims
from aesara.tensor.reductions.sum_prod_max import max, min

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["argmax", "argmin", "largest", "max_and_argmax", "ptp", "smallest"]


def _all_axes(axis: int | Sequence[int] | None, ndim: int, x: TensorLike | None = None) -> tuple[int, ...]:
    """Return axes in ascending order, all if `axis` is None; error messages name the variable `x`."""
    axes = normalize_axes(as_axes(axis), ndim, x)
    return tuple(range(ndim)) if axes is None else tuple(sorted(axes))


def _argmax(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return the position of the first largest element along axes, in C order over these axes."""
    other_axes = [a for a in range(x.ndim) if a not in axes]
    rows = x.transpose([*other_axes, *axes])
    rows = rows.reshape(rows.shape[: len(other_axes)] + (int(np.prod([x.shape[a] for a in axes], dtype=np.int64)),))
    return np.asarray(np.argmax(rows, axis=-1), dtype=np.int64)


class _ArgOp(Op):
    """Common parts of the ops that look for positions."""

    __props__: tuple[str, ...] = ("axis",)

    def __init__(self, axis: int | Sequence[int] | None):
        self.axis = as_axes(axis)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"

    def _prepare(self, x: TensorLike) -> tuple[_ArgOp, TensorVariable, tuple[int | None, ...]]:
        """Return the op with axes counted from the front, the input, and the static shape of the output."""
        x = as_tensor_variable(x)
        axes = _all_axes(self.axis, x.type.ndim, x)
        # The axes are None: reduce all of them without a transposition.
        op = self if axes == self.axis or self.axis is None else type(self)(axes)
        if 0 in [x.type.shape[a] for a in axes]:
            raise ValueError(f"attempt to get argmax of an empty sequence: {describe(x)} has type {x.type}.")
        return op, x, tuple([n for a, n in enumerate(x.type.shape) if a not in axes])

    def _shape(self, node: Apply, shape: Any) -> tuple:
        axes = _all_axes(self.axis, node.inputs[0].type.ndim)
        return tuple([length for a, length in enumerate(shape) if a not in axes])


class Argmax(_ArgOp):
    """The position of the largest element along axes, counted in C order over these axes.

    The first of several equal ones counts; NaN is larger than any number.
    """

    def make_node(self, x: Any, axis: Any = None) -> Apply:
        op, x, shape = self._prepare(x)
        return Apply(op, [x], [tensor_type("int64", shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x = np.asarray(inputs[0])
        output_storage[0][0] = _argmax(x, _all_axes(self.axis, x.ndim))

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        return [self._shape(node, shapes[0])]

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return [inputs[0].zeros_like(dtype=config.floatX)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return [None]


class MaxAndArgmax(_ArgOp):
    """The largest element along axes, and its position counted in C order over these axes."""

    def make_node(self, x: Any) -> Apply:
        op, x, shape = self._prepare(x)
        outputs = [tensor_type(x.type.dtype, shape)(name="max"), tensor_type("int64", shape)(name="argmax")]
        return Apply(op, [x], outputs)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x = np.asarray(inputs[0])
        axes = _all_axes(self.axis, x.ndim)
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(np.maximum.reduce(x, axis=axes))
        output_storage[1][0] = _argmax(x, axes)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        shape = self._shape(node, shapes[0])
        return [shape, shape]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False]]

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        """Return the gradient; each element that equals the maximum gets the whole gradient."""
        (x,) = inputs
        g_max = output_gradients[0]
        if is_disconnected(g_max):
            return [g_max]
        largest = with_kept_dims(x, max(x, self.axis), self.axis)
        return [eq(largest, x) * with_kept_dims(x, g_max, self.axis)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        if eval_points[0] is None:
            return [None, None]
        (x,) = inputs
        (largest,) = max(x, self.axis).get_parents()
        return [*largest.op.R_op([x], eval_points), None]


def max_and_argmax(
    a: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> list[TensorVariable]:
    """Return the maximum along axes and its position.

    Parameters
    ----------
    a
        The tensor.
    axis
        An axis or several; None for all.
    keepdims
        Keep the axes, with length 1.

    Returns
    -------
    list
        The maximum, and its position in C order over the axes. The first of
        several equal elements counts; NaN is larger than any number.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> largest, position = at.max_and_argmax([3.0, 7.0, 5.0])
    >>> position.eval()
    array(1)
    """
    a = as_tensor_variable(a)
    results = MaxAndArgmax(_all_axes(axis, a.type.ndim, a))(a)
    return [with_kept_dims(a, result, axis) for result in results] if keepdims else list(results)


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The position of the largest element along axes; see `max_and_argmax`."""
    x = as_tensor_variable(x)
    position = Argmax(_all_axes(axis, x.type.ndim, x))(x)
    position.name = "argmax"
    return with_kept_dims(x, position, axis) if keepdims else position


def argmin(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
    """The position of the smallest element along axes, the first of several equal ones."""
    x = as_tensor_variable(x)
    return argmax(_reversed_order(x), axis, keepdims)


def _reversed_order(x: TensorVariable) -> TensorVariable:
    """Return a tensor whose elements have the reverse order."""
    # The bitwise complement reverses integers without overflow, negation would not; NaN stays NaN.
    return invert(x) if x.type.dtype in discrete_dtypes else neg(x)


def ptp(a: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
    """The range of values along axes: the largest minus the smallest element."""
    a = as_tensor_variable(a)
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def smallest(*args: Any) -> TensorVariable:
    """The smallest of several tensors, element by element."""
    return _fold(minimum, args)


def largest(*args: Any) -> TensorVariable:
    """The largest of several tensors, element by element."""
    return _fold(maximum, args)


def _fold(function: Callable[[Any, Any], TensorVariable], tensors: tuple[Any, ...]) -> TensorVariable:
    if not tensors:
        raise TypeError("At least one tensor is needed.")
    result = as_tensor_variable(tensors[0])
    for x in tensors[1:]:
        result = function(result, x)
    return result
