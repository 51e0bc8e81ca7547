"""Stating the sizes of a tensor, and forgetting that they are one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.core.constant_value import constant_of_output, follow_input, known_integer
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of, get_vector_length, vector_length_of_output
from aesara.tensor.type_other import NoneConst, NoneTypeT

__all__ = ["specify_broadcastable", "specify_shape", "unbroadcast"]


class SpecifyShape(Op):
    """State the sizes of a tensor, checking them when the graph is computed.

    Inputs are the tensor and one integer scalar, or None, for each dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> SpecifyShape()(at.matrix("x"), 2, None).type.shape
    (2, None)
    """

    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x: Any, *shape: Any) -> Apply:
        x = as_tensor_variable(x)
        if len(shape) != x.type.ndim:
            raise ValueError(
                f"Expected {x.type.ndim} size(s) for {describe(x)} of type {x.type}; got {len(shape)}: {shape}, which "
                "will never match."
            )
        sizes = [_size_or_none(size) for size in shape]
        static_shape = []
        for axis, (size, known) in enumerate(zip(sizes, x.type.shape)):
            stated = None if size is NoneConst else known_integer(size)
            if stated is not None and stated < 0:
                raise ValueError(f"Sizes cannot be negative; got {stated}.")
            if stated is not None and known is not None and stated != known:
                raise ValueError(
                    f"SpecifyShape: dimension {axis} of {describe(x)} has size {known} "
                    f"according to its type; it cannot be {stated}."
                )
            static_shape.append(known if stated is None else stated)
        return Apply(self, [x, *sizes], [x.type.clone(shape=tuple(static_shape))()])

    def perform(self, node, inputs, output_storage):
        x, *expected = inputs
        actual = np.shape(x)
        if len(actual) != len(expected):
            raise AssertionError(f"SpecifyShape: expected {len(expected)} dimension(s), got {len(actual)}.")
        if not all(e is None or a == e for a, e in zip(actual, expected)):
            wanted = tuple(None if e is None else int(e) for e in expected)
            raise AssertionError(f"SpecifyShape: Got shape {actual}, expected {wanted}.")
        output_storage[0][0] = x

    def infer_shape(self, fgraph, node, input_shapes):
        x_shape, *_ = input_shapes
        sizes = []
        for axis, size in enumerate(node.inputs[1:]):
            static_size = node.outputs[0].type.shape[axis]
            if static_size is not None:
                sizes.append(constant(static_size, dtype="int64"))
            elif isinstance(size.type, NoneTypeT):
                sizes.append(x_shape[axis])
            else:
                sizes.append(size)
        return [tuple(sizes)]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        _, *sizes = inputs
        (g_out,) = output_gradients
        stated = [None if isinstance(s.type, NoneTypeT) else s for s in sizes]
        g_x = g_out
        if not isinstance(g_out.type, DisconnectedType):
            g_x = specify_shape(g_out, stated)
        return [g_x, *(DisconnectedType()() for _ in sizes)]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], *inputs[1:], return_list=True)


_specify_shape = SpecifyShape()


constant_of_output.register(SpecifyShape)(follow_input(0))


def _size_or_none(size: TensorLike) -> Variable:
    if size is None or (isinstance(size, Variable) and isinstance(size.type, NoneTypeT)):
        return NoneConst
    size = as_tensor_variable(size, ndim=0)
    if np.dtype(size.type.dtype).kind not in "iu":
        raise TypeError(f"Shape values must be integer types or None; got {size} of type {size.type}.")
    return size


def specify_shape(x: Any, shape: Any) -> TensorVariable:
    """State the shape of a tensor.

    The rest of the graph can rely on it; it is checked when the graph is computed.

    Parameters
    ----------
    x
        A tensor, or anything that converts to one.
    shape
        For each dimension an integer, a symbolic integer scalar, or None where
        nothing is stated; or a vector of known length.

    Returns
    -------
    TensorVariable
        `x` itself if its type has the shape.

    Raises
    ------
    ValueError
        If the shape contradicts the type of `x`.
    AssertionError
        When the graph is computed, if the value of `x` has another shape.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> specify_shape(at.matrix("x"), (None, 3)).type.shape
    (None, 3)
    """
    if not isinstance(shape, (tuple, list)):
        if isinstance(shape, np.ndarray):
            shape = tuple(shape) if shape.ndim else (shape[()],)
        elif isinstance(shape, Variable) and getattr(shape.type, "ndim", 0) == 1:
            try:
                shape = entries_of(shape, get_vector_length(shape))
            except ValueError as error:
                raise ValueError(f"specify_shape: a vector `shape` must have fixed dimensions. {error}") from error
        else:
            shape = (shape,)
    x = as_tensor_variable(x)
    tells_nothing_new = len(shape) == x.type.ndim and all(
        stated is None or (isinstance(stated, (int, np.integer)) and stated == known)
        for stated, known in zip(shape, x.type.shape)
    )
    return x if tells_nothing_new else _specify_shape(x, *shape)


class Unbroadcast(Op):
    """Forget that dimensions have size one, so that they do not broadcast.

    Parameters
    ----------
    axis
        The dimensions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Unbroadcast(0)(at.row("x")).type.shape
    (None, None)
    """

    __props__ = ("axes",)
    view_map = {0: [0]}
    check_input = False

    def __init__(self, *axis: int):
        if not all(isinstance(a, (int, np.integer)) for a in axis):
            raise TypeError(f"Unbroadcast needs integer axes; got {axis}.")
        self.axes = tuple(sorted({int(a) for a in axis}))

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{','.join(str(axis) for axis in self.axes)}}}"

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        ndim = x.type.ndim
        if not all(-ndim <= axis < ndim for axis in self.axes):
            raise ValueError(f"Trying to unbroadcast axes {self.axes} of {describe(x)}, which has {ndim} dimension(s).")
        axes = {axis % ndim for axis in self.axes}
        static_shape = [None if axis in axes and size == 1 else size for axis, size in enumerate(x.type.shape)]
        return Apply(self, [x], [x.type.clone(shape=static_shape)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(input_shapes[0])]

    def grad(self, inputs, output_gradients):
        (x,) = inputs
        (g_out,) = output_gradients
        axes = [a % x.type.ndim for a in self.axes if x.type.shape[a] == 1]
        return [specify_broadcastable(g_out, *axes)]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(*eval_points, return_list=True)


constant_of_output.register(Unbroadcast)(follow_input(0))


@vector_length_of_output.register(Unbroadcast)
def _length_of_unbroadcast(op, v):
    return v.owner.inputs[0].type.shape[0]


def unbroadcast(x: TensorLike, *axes: int) -> TensorVariable:
    """Make dimensions of `x` that are known to have size one not broadcast.

    Parameters
    ----------
    x
        A tensor.
    axes
        The dimensions; those of which the size is not known to be one are left.

    Returns
    -------
    TensorVariable
        `x` itself when there is nothing to do.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> unbroadcast(at.row("x"), 0).type.shape
    (None, None)
    """
    x = as_tensor_variable(x)
    known = [axis for axis in _normalized_axes(x, axes, "unbroadcast") if x.type.shape[axis] == 1]
    return Unbroadcast(*known)(x) if known else x


def specify_broadcastable(x: TensorLike, *axes: int) -> TensorVariable:
    """State that dimensions of `x` have size one, so that they broadcast.

    Parameters
    ----------
    x
        A tensor.
    axes
        The dimensions.

    Returns
    -------
    TensorVariable
        `x` itself when this is known already.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> specify_broadcastable(at.matrix("x"), 0).type.shape
    (1, None)
    """
    x = as_tensor_variable(x)
    of_size_one = _normalized_axes(x, axes, "specify broadcastable of")
    stated = [1 if axis in of_size_one else None for axis in range(x.type.ndim)]
    return specify_shape(x, stated)


def _normalized_axes(x: TensorVariable, axes: Sequence[int], function_name: str) -> list[int]:
    ndim = x.type.ndim
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(
                f"Trying to {function_name} a non-existent dimension: axis {axis} of {describe(x)}, which has {ndim} "
                "dimension(s)."
            )
    return sorted({axis % ndim for axis in axes})
