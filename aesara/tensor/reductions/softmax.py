"""Softmax and other functions that combine the elements along an axis, factorials, and all special functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.tensor_like import IntegerLike, OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import (
    exp,
)
from aesara.tensor.elementwise.special import as_floats
from aesara.tensor.reductions.sum_prod_max import sum

#: Stands for an axis that was not given.
UNSET_AXIS = object()


def _checked_axis(name: str, axis: int | None, x: TensorVariable) -> None:
    ndim = x.type.ndim
    if axis is not None and not -ndim <= axis < ndim:
        raise ValueError(f"{name} axis(={axis}) out of bounds for {ndim}D array {describe(x)}")


def _widen_half(x: TensorLike) -> np.ndarray:
    """Convert half precision, in which sums overflow, to single precision."""
    x = np.asarray(x)
    return x.astype("float32") if x.dtype == "float16" else x


class _AlongAxis(Op):
    """Common parts: an axis (None for all elements), and an output like the (last) input."""

    __props__: tuple[str, ...] = ("axis",)

    def __init__(self, axis: int | None):
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise TypeError(
                f"{type(self).__name__} requires its parameter `axis` to be an integer or None; got {axis!r}."
            )
        self.axis = None if axis is None else int(axis)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [shapes[-1]]


class Softmax(_AlongAxis):
    """Exponentials, divided by their sum along an axis: positive numbers that add up to 1."""

    nin, nout = 1, 1

    def make_node(self, x: Any) -> Apply:
        x = as_floats(x)
        _checked_axis("Softmax", self.axis, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x = _widen_half(inputs[0])
        with np.errstate(all="ignore"):
            powers = np.exp(x - np.max(x, axis=self.axis, keepdims=True, initial=-np.inf))
            powers /= np.sum(powers, axis=self.axis, keepdims=True)
        output_storage[0][0] = np.asarray(powers, dtype=node.outputs[0].type.numpy_dtype)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [SoftmaxGrad(self.axis)(output_grads[0], outputs[0])]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        # The Jacobian matrix is symmetric.
        (point,) = eval_points
        return [None if point is None else SoftmaxGrad(self.axis)(point, self(*inputs))]


class SoftmaxGrad(_AlongAxis):
    """The gradient of a cost with respect to the input of `Softmax`.

    The inputs are the gradient with respect to the output, and the output.
    """

    nin, nout = 2, 1

    def make_node(self, dy: Any, sm: Any) -> Apply:
        dy, sm = as_floats(dy), as_floats(sm)
        _checked_axis("SoftmaxGrad", self.axis, sm)
        if dy.type.ndim != sm.type.ndim:
            raise ValueError(
                f"SoftmaxGrad needs tensors with equally many dimensions; got types {dy.type} and {sm.type}."
            )
        if dy.type.dtype != sm.type.dtype:
            dy = dy.astype(sm.type.dtype)
        return Apply(self, [dy, sm], [tensor_type(sm.type.dtype, sm.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        dy, sm = map(_widen_half, inputs)
        with np.errstate(all="ignore"):
            weighted = dy * sm
            result = weighted - np.sum(weighted, axis=self.axis, keepdims=True) * sm
        output_storage[0][0] = np.asarray(result, dtype=node.outputs[0].type.numpy_dtype)

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[TensorVariable]:
        dy, sm = inputs
        (g,) = output_grads
        along = self.axis
        g_dot_sm = sum(g * sm, axis=along, keepdims=True)
        dy_dot_sm = sum(dy * sm, axis=along, keepdims=True)
        return [g * sm - g_dot_sm * sm, g * dy - g * dy_dot_sm - g_dot_sm * dy]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (dy, sm), (dy_tangent, sm_tangent) = inputs, eval_points
        tangent = None
        if dy_tangent is not None:
            tangent = self(dy_tangent, sm)
        if sm_tangent is not None:
            total = sum(dy * sm, axis=self.axis, keepdims=True)
            of_total = sum(dy * sm_tangent, axis=self.axis, keepdims=True)
            term = dy * sm_tangent - of_total * sm - total * sm_tangent
            tangent = term if tangent is None else tangent + term
        return [tangent]


class LogSoftmax(_AlongAxis):
    """The logarithm of `Softmax`, accurate where that underflows."""

    nin, nout = 1, 1

    def make_node(self, x: Any) -> Apply:
        x = as_floats(x)
        _checked_axis("LogSoftmax", self.axis, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x = _widen_half(inputs[0])
        with np.errstate(all="ignore"):
            shifted = x - np.max(x, axis=self.axis, keepdims=True, initial=-np.inf)
            result = shifted - np.log(np.sum(np.exp(shifted), axis=self.axis, keepdims=True))
        output_storage[0][0] = np.asarray(result, dtype=node.outputs[0].type.numpy_dtype)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (g,) = output_grads
        return [g - sum(g, axis=self.axis, keepdims=True) * exp(outputs[0])]

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[TensorVariable]:
        return self.L_op(inputs, [self(*inputs)], output_grads)

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (tangent,) = eval_points
        if tangent is None:
            return [None]
        return [tangent - sum(tangent * exp(self(*inputs)), axis=self.axis, keepdims=True)]


def softmax(c: Any, axis: Any = UNSET_AXIS) -> TensorVariable:
    """Exponentials, divided by their sum along an axis: positive numbers that add up to 1.

    Parameters
    ----------
    c
        The tensor; integers are taken as float64.
    axis
        The axis, the last one by default; None for the sum of all elements.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.softmax([1000.0, 1000.0]).eval()
    array([0.5, 0.5])
    """
    return Softmax(-1 if axis is UNSET_AXIS else axis)(c)


def log_softmax(c: Any, axis: Any = UNSET_AXIS) -> TensorVariable:
    """The logarithm of `softmax`, accurate where that underflows; see there for the parameters."""
    return LogSoftmax(-1 if axis is UNSET_AXIS else axis)(c)
