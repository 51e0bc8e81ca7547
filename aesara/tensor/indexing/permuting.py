"""Permutations of entries, and taking entries along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import eq
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.selection import broadcast_sizes, static_broadcast
from aesara.tensor.shapes.rearranging import flatten, normalize_axes
from aesara.tensor.shapes.reshape import shape_padleft
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["inverse_permutation", "permute_row_elements", "take_along_axis"]


class PermuteRowElements(Op):
    """Reorder the entries along the last dimension.

    Inputs are the tensor, the permutations (integers along the last dimension), and
    whether their inverses are applied (an integer or a Python boolean).  The leading dimensions broadcast.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> PermuteRowElements()(at.matrix("x"), at.lvector("p"), 0).ndim
    2
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any, inverse: Any) -> Apply:
        inverse = int(inverse) if isinstance(inverse, bool) else inverse
        x, y, inverse = (as_tensor_variable(value) for value in (x, y, inverse))
        if y.type.dtype not in integer_dtypes:
            raise TypeError(f"A permutation is made of integers; got {y.type}.")
        if inverse.type.dtype not in discrete_dtypes or inverse.type.ndim:
            raise TypeError(f"`inverse` must be an integer scalar; got {inverse.type}.")
        ndim = max(x.type.ndim, y.type.ndim)
        x, y = shape_padleft(x, ndim - x.type.ndim), shape_padleft(y, ndim - y.type.ndim)
        shape = static_broadcast(x.type.shape, y.type.shape)
        return Apply(self, [x, y, inverse], [tensor_type(x.type.dtype, shape)()])

    def perform(self, node, inputs, output_storage):
        x, y, inverse = inputs
        shape = np.broadcast_shapes(x.shape, y.shape)
        y = np.broadcast_to(y, shape).astype("int64")
        x = np.broadcast_to(x, shape)
        if inverse:
            result = np.zeros(shape, dtype=x.dtype)
            np.put_along_axis(result, y, x, axis=-1)
        else:
            result = np.take_along_axis(x, y, axis=-1)
        output_storage[0][0] = result

    def infer_shape(self, fgraph, node, input_shapes):
        x, y, _ = node.inputs
        return [broadcast_sizes((input_shapes[0], x.type.shape), (input_shapes[1], y.type.shape))]

    def connection_pattern(self, node):
        return [[True], [False], [False]]

    def grad(self, inputs, output_gradients):
        x, y, inverse = inputs
        (g_out,) = output_gradients
        if x.type.dtype in discrete_dtypes:
            g_x = x.zeros_like(dtype="floatX")
        else:
            g_x = permute_row_elements(g_out, y, eq(inverse, 0))
            repeated = [
                axis for axis, (known, size) in enumerate(zip(x.type.shape, g_x.type.shape)) if known == 1 and size != 1
            ]
            if repeated:
                g_x = g_x.sum(axis=repeated, keepdims=True)
            g_x = specify_shape(g_x, x.type.shape)
        return [g_x, DisconnectedType()(), DisconnectedType()()]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], *inputs[1:], return_list=True)


_permute_row_elements = PermuteRowElements()


def permute_row_elements(x: TensorLike, y: TensorLike, inverse: Any = 0) -> TensorVariable:
    """Reorder the entries along the last dimension.

    Parameters
    ----------
    x
        The tensor.
    y
        Permutations along the last dimension; leading dimensions broadcast.
    inverse
        Whether the inverse permutations are applied.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> permute_row_elements(at.vector("x"), [2, 0, 1]).ndim
    1
    """
    return _permute_row_elements(x, y, inverse)


def inverse_permutation(perm: TensorLike) -> TensorVariable:
    """Return the inverses of the permutations along the last dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> inverse_permutation(at.lvector("p")).ndim
    1
    """
    perm = as_tensor_variable(perm)
    positions = arange(perm.shape[perm.type.ndim - 1], dtype=perm.type.dtype)
    return permute_row_elements(positions, perm, inverse=1)


def take_along_axis(arr: Any, indices: Any, axis: int | None = 0) -> TensorVariable:
    """Take entries along a dimension by indices of their own for each line.

    Parameters
    ----------
    arr
        The tensor.
    indices
        Integers, with as many dimensions as `arr`; the other dimensions broadcast.
    axis
        The dimension; if None, `arr` is flattened.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> take_along_axis(at.matrix("x"), at.lmatrix("i"), 1).ndim
    2
    """
    arr, indices = as_tensor_variable(arr), as_tensor_variable(indices)
    if axis is None:
        arr, axis = flatten(arr), 0
    if indices.type.dtype not in integer_dtypes:
        raise IndexError(f"`indices` must be integers; got {indices.type}.")
    if arr.type.ndim != indices.type.ndim:
        raise ValueError(
            f"`indices` and `arr` must have the same number of dimensions; got {indices.type.ndim} and {arr.type.ndim}."
        )
    ndim = arr.type.ndim
    (axis,) = normalize_axes(axis, ndim)
    index = [
        indices if dim == axis else arange(arr.shape[dim]).dimshuffle([0 if i == dim else "x" for i in range(ndim)])
        for dim in range(ndim)
    ]
    return getitem(arr, tuple(index))
