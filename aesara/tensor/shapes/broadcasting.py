"""Broadcasting tensors to a common shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.constant_value import (
    constant_of_output,
    follow_input,
    infer_static_shape,
    known_integer,
)
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, maximum, or_, switch
from aesara.tensor.indexing.selection import static_broadcast
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.repeated import summed_where_known
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import shape_tuple
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["broadcast_arrays", "broadcast_shape", "broadcast_shape_iter", "broadcast_to"]


class BroadcastTo(Op):
    """A tensor broadcast to a shape.

    Inputs are the tensor and one integer scalar for each dimension of the output, or a tuple of them.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> BroadcastTo()(at.vector("x"), 3, 2).type.shape
    (3, 2)
    """

    __props__ = ()

    def make_node(self, a: Any, *shape: Any) -> Apply:
        a = as_tensor_variable(a)
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            (shape,) = shape
        sizes, static_shape = infer_static_shape(shape)
        n_new = len(sizes) - a.type.ndim
        if n_new < 0:
            raise ValueError(f"A tensor of {a.type.ndim} dimension(s) cannot be broadcast to a shape of {len(sizes)}.")
        for axis, (known, asked) in enumerate(zip(a.type.shape, static_shape[n_new:])):
            if known is not None and known != 1 and asked is not None and asked != known:
                raise ValueError(
                    f"A tensor of shape {a.type.shape} cannot be broadcast to shape {static_shape}: expected size "
                    f"{known} in dimension {n_new + axis}, got {asked}. Only dimensions of size 1 are broadcast."
                )
        return Apply(self, [a, *sizes], [tensor_type(a.type.dtype, static_shape)()])

    def perform(self, node, inputs, output_storage):
        a, *shape = inputs
        # Copy, because NumPy's result is read-only.
        output_storage[0][0] = np.broadcast_to(a, [int(size) for size in shape]).copy()

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(node.inputs[1:])]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        a, *sizes = inputs
        (g_out,) = output_gradients
        disconnected = [DisconnectedType()() for _ in sizes]
        if a.type.dtype in discrete_dtypes:
            return [a.zeros_like(dtype="floatX"), *disconnected]
        return [specify_shape(summed_to(g_out, a), a.type.shape), *disconnected]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], *inputs[1:], return_list=True)


def summed_to(gradient: TensorVariable, a: TensorVariable) -> TensorVariable:
    """Sum the gradient of a broadcast tensor over the dimensions along which `a` was repeated."""
    gradient = summed_where_known(gradient, a)
    if all(n is not None or m == 1 for n, m in zip(a.type.shape, gradient.type.shape)):
        return gradient
    # A length that is not known may be 1. As many parts as the tensor has elements along a dimension, and their sums:
    # parts of one element, or one part of all.
    parts: list[Any] = []
    for n, m in zip(shape_tuple(a), shape_tuple(gradient)):
        parts += [n, m // maximum(n, 1)]
    return reshape(gradient, parts, ndim=len(parts)).sum(axis=list(range(1, len(parts), 2)))


broadcast_to_ = BroadcastTo()
constant_of_output.register(BroadcastTo)(follow_input(0))


def broadcast_to(x: TensorLike, shape: Any) -> TensorVariable:
    """Broadcast a tensor to a shape.

    Parameters
    ----------
    x
        The tensor.
    shape
        The sizes: a sequence of integers, which may be symbolic, or a vector of known
        length.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> broadcast_to(at.vector("x"), (2, 3)).type.shape
    (2, 3)
    """
    x = as_tensor_variable(x)
    sizes, _ = infer_static_shape(shape)
    if x.type.ndim == 0 and not sizes:
        return x
    return broadcast_to_(x, *sizes)


def broadcast_arrays(*args: Any) -> tuple[TensorVariable, ...]:
    """Broadcast tensors to the shape that they have in common.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> [y.ndim for y in broadcast_arrays(at.matrix("x"), at.vector("y"))]
    [2, 2]
    """
    tensors = [as_tensor_variable(arg) for arg in args]
    shape = broadcast_shape_iter(tensors)
    return tuple(broadcast_to(tensor, shape) for tensor in tensors)


def broadcast_shape(*arrays: TensorLike, **kwargs: Any) -> tuple[TensorVariable, ...]:
    """Return the sizes of the shape that tensors broadcast to; see `broadcast_shape_iter`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(broadcast_shape(at.matrix("x"), at.vector("y")))
    2
    """
    return broadcast_shape_iter(arrays, **kwargs)


def broadcast_shape_iter(arrays: Iterable[Any], arrays_are_shapes: bool = False) -> tuple[TensorVariable, ...]:
    """Return the sizes of the shape that tensors broadcast to.

    Parameters
    ----------
    arrays
        The tensors.
    arrays_are_shapes
        Whether their shapes are given instead of them.

    Returns
    -------
    tuple of TensorVariable
        The sizes; those that are not known are checked when they are computed.

    Raises
    ------
    ValueError
        If it is known that the shapes do not fit.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> [int(n.data) for n in broadcast_shape_iter([(2, 1), (3,)], arrays_are_shapes=True)]
    [2, 3]
    """
    shapes = [list(entry) if arrays_are_shapes else sizes_of(as_tensor_variable(entry)) for entry in arrays]
    static = [[known_integer(size) for size in shape] for shape in shapes]
    known = static_broadcast(*static)
    result: list[TensorVariable] = []
    for axis, size in zip(range(-len(known), 0), known):
        if size is not None:
            result.append(constant(size, dtype="int64"))
            continue
        unknown = [
            as_tensor_variable(shape[axis])
            for shape, facts in zip(shapes, static)
            if len(shape) >= -axis and facts[axis] != 1
        ]
        result.append(_common_size(unknown))
    return tuple(result)


_check_sizes = Assert("Could not broadcast dimensions")


def _common_size(sizes: list[TensorVariable]) -> TensorVariable:
    """Return the size that all sizes other than one have."""
    common = sizes[0]
    for size in sizes[1:]:
        if size is common:
            continue
        fits = or_(eq(common, size), or_(eq(common, 1), eq(size, 1)))
        common = _check_sizes(switch(eq(common, 1), size, common), fits)
    return common
