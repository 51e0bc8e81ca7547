"""Diagonals: taking them, making matrices of them, and filling them."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import maximum, minimum, switch
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.shapes.rearranging import flatten, normalize_axes

__all__ = ["diag", "diagonal", "extract_diag", "fill_diagonal", "fill_diagonal_offset"]


def _plane(axis1: int, axis2: int, ndim: int) -> tuple[int, int]:
    (first,), (second,) = normalize_axes(axis1, ndim, "axis1"), normalize_axes(axis2, ndim, "axis2")
    if first == second:
        raise ValueError(f"axis1 and axis2 cannot be the same; got {axis1} and {axis2}.")
    return first, second


class ExtractDiag(Op):
    """The diagonals of the matrices along two dimensions of a tensor.

    The other dimensions come first in the output, the diagonals last.

    Parameters
    ----------
    offset
        Which diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2
        The dimensions of the rows and of the columns.
    view
        Whether the output is a view of the input.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> ExtractDiag()(at.tensor("float64", shape=(3, 4))).type.shape
    (3,)
    """

    __props__ = ("offset", "axis1", "axis2", "view")

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1, view: bool = False):
        self.offset = int(offset)
        self.axis1 = int(axis1)
        self.axis2 = int(axis2)
        self.view = bool(view)
        if self.view:
            self.view_map = {0: [0]}

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.ndim < 2:
            raise ValueError(f"ExtractDiag needs an input with 2 or more dimensions; got {x.type}.")
        rows, columns = _plane(self.axis1, self.axis2, x.type.ndim)
        shape = x.type.shape
        length = None
        if shape[rows] is not None and shape[columns] is not None:
            length = _diagonal_length(shape[rows], shape[columns], self.offset)
        others = [size for axis, size in enumerate(shape) if axis not in (rows, columns)]
        return Apply(self, [x], [tensor_type(x.type.dtype, (*others, length))()])

    def perform(self, node, inputs, output_storage):
        taken = np.diagonal(inputs[0], self.offset, self.axis1, self.axis2)
        # NumPy's view is read-only.
        if self.view and inputs[0].flags.writeable:
            taken.flags.writeable = True
        output_storage[0][0] = taken if self.view else taken.copy()

    def infer_shape(self, fgraph, node, input_shapes):
        (shape,) = input_shapes
        rows, columns = _plane(self.axis1, self.axis2, len(shape))
        others = [size for axis, size in enumerate(shape) if axis not in (rows, columns)]
        known = node.outputs[0].type.shape[-1]
        if known is not None:
            return [(*others, constant(known, dtype="int64"))]
        n_rows, n_columns = shape[rows], shape[columns]
        if self.offset > 0:
            n_columns = n_columns - self.offset
        elif self.offset < 0:
            n_rows = n_rows + self.offset
        length = minimum(n_rows, n_columns)
        return [(*others, maximum(length, 0) if self.offset else length)]

    def L_op(self, inputs, outputs, output_gradients):
        (x,) = inputs
        (g_out,) = output_gradients
        # The upper left corner of the result is a square matrix with this diagonal.
        rows, columns = _plane(self.axis1, self.axis2, x.type.ndim)
        block = AllocDiag(self.offset, rows, columns)(g_out)
        corner = [slice(None)] * x.type.ndim
        zeros = x.zeros_like(dtype=g_out.type.dtype)
        sizes = block.shape
        for axis in (rows, columns):
            corner[axis] = slice(None, minimum(sizes[axis], x.shape[axis]))
        part = tuple(corner)
        return [set_subtensor(zeros[part], block[part])]

    def R_op(self, inputs, eval_points):
        return [None if point is None else self(point) for point in eval_points]


extract_diag = ExtractDiag()


def _diagonal_length(rows: int, columns: int, offset: int) -> int:
    if offset >= 0:
        return max(0, min(rows, columns - offset))
    return max(0, min(rows + offset, columns))


class AllocDiag(Op):
    """Square matrices that have the vectors along the last dimension as a diagonal.

    Parameters
    ----------
    offset
        Which diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2
        The dimensions of the output for the rows and the columns.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> AllocDiag(offset=1)(at.tensor("float64", shape=(3,))).type.shape
    (4, 4)
    """

    __props__ = ("offset", "axis1", "axis2")

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1):
        if axis1 < 0 or axis2 < 0:
            raise NotImplementedError("AllocDiag does not support negative axes.")
        if axis1 == axis2:
            raise ValueError(f"axis1 and axis2 cannot be the same; both are {axis1}.")
        self.offset = int(offset)
        self.axis1 = int(axis1)
        self.axis2 = int(axis2)

    def make_node(self, diag: Any) -> Apply:
        diag = as_tensor_variable(diag)
        if diag.type.ndim < 1:
            raise ValueError(f"AllocDiag needs an input with 1 or more dimensions; got {diag.type}.")
        if max(self.axis1, self.axis2) > diag.type.ndim:
            raise ValueError(
                f"The axes {self.axis1} and {self.axis2} are out of range for an output "
                f"with {diag.type.ndim + 1} dimensions."
            )
        length = diag.type.shape[-1]
        size = None if length is None else length + abs(self.offset)
        return Apply(self, [diag], [tensor_type(diag.type.dtype, tuple(self._arrange(diag.type.shape, size)))()])

    def _arrange(self, shape: Any, size: Any) -> list[Any]:
        """Return the sizes of the output, given those of the input."""
        result = list(shape[:-1])
        for axis in sorted((self.axis1, self.axis2)):
            result.insert(axis, size)
        return result

    def perform(self, node, inputs, output_storage):
        (diag,) = inputs
        size = diag.shape[-1] + abs(self.offset)
        result = np.zeros(self._arrange(diag.shape, size), dtype=diag.dtype)
        matrices = np.moveaxis(result, (self.axis1, self.axis2), (-2, -1))
        position = np.arange(diag.shape[-1])
        matrices[..., position + max(0, -self.offset), position + max(0, self.offset)] = diag
        output_storage[0][0] = result

    def infer_shape(self, fgraph, node, input_shapes):
        (shape,) = input_shapes
        size = shape[-1] + abs(self.offset) if self.offset else shape[-1]
        return [tuple(self._arrange(shape, size))]

    def grad(self, inputs, output_gradients):
        return [diagonal(output_gradients[0], self.offset, self.axis1, self.axis2)]

    def R_op(self, inputs, eval_points):
        return [None if point is None else self(point) for point in eval_points]


def diagonal(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """Return diagonals; see `numpy.diagonal`.

    Parameters
    ----------
    a
        A tensor with at least two dimensions.
    offset
        Which diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2
        The dimensions of the rows and of the columns.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> diagonal(at.matrix("a")).ndim
    1
    """
    return ExtractDiag(offset, axis1, axis2)(a)


def diag(v: TensorLike, k: int = 0) -> TensorVariable:
    """Return the diagonal of a matrix, or the matrix with a vector as diagonal.

    Parameters
    ----------
    v
        A vector or a tensor with at least two dimensions.
    k
        Which diagonal: 0 is the main one, positive ones are above it.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> diag(at.vector("v")).ndim, diag(at.matrix("m")).ndim
    (2, 1)
    """
    v = as_tensor_variable(v)
    if v.type.ndim == 1:
        return AllocDiag(k)(v)
    if v.type.ndim >= 2:
        return diagonal(v, offset=k)
    raise ValueError(f"`diag` needs at least one dimension; got {v.type}.")


def _as_filling(a: TensorVariable, val: TensorLike, op: Op) -> TensorVariable:
    """Return a value for entries of `a` in its dtype."""
    val = as_tensor_variable(val)
    if val.type.ndim:
        raise TypeError(f"{type(op).__name__}: the value must be a scalar; got {val.type}.")
    if val.type.dtype in complex_dtypes and a.type.dtype not in complex_dtypes:
        raise TypeError(f"{type(op).__name__}: a value of dtype {val.type.dtype} does not fit in {a.type.dtype}.")
    return cast(val, a.type.dtype)


class FillDiagonal(Op):
    """A copy of a tensor with the main diagonal set to a scalar.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> FillDiagonal()(at.matrix("a"), 1.0).ndim
    2
    """

    __props__ = ()

    def make_node(self, a: Any, val: Any) -> Apply:
        a = as_tensor_variable(a)
        if a.type.ndim < 2:
            raise TypeError(f"{type(self).__name__}: the first input must have 2 or more dimensions; got {a.type}.")
        val = _as_filling(a, val, self)
        if a.type.ndim > 2 and len(set(a.type.shape) - {None}) > 1:
            raise ValueError(f"The sizes of a tensor with more than two dimensions must be equal; got {a.type.shape}.")
        return Apply(self, [a, val], [a.type()])

    def perform(self, node, inputs, output_storage):
        filled = inputs[0].copy()
        np.fill_diagonal(filled, inputs[1])
        output_storage[0][0] = filled

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]

    def grad(self, inputs, output_gradients):
        (g_out,) = output_gradients
        g_a = fill_diagonal(g_out, np.zeros((), dtype=g_out.type.dtype))
        if g_out.type.ndim == 2:
            return [g_a, diagonal(g_out).sum()]
        n = g_out.shape[0]
        stride = sum(n**power for power in range(1, g_out.type.ndim)) + 1
        return [g_a, flatten(g_out)[::stride].sum()]


fill_diagonal_ = FillDiagonal()


def fill_diagonal(a: TensorLike, val: TensorLike) -> TensorVariable:
    """Return a copy of a tensor with the main diagonal set to a scalar.

    Parameters
    ----------
    a
        A matrix, or a tensor with more dimensions of equal size.
    val
        The scalar.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> fill_diagonal(at.matrix("a"), 0.0).ndim
    2
    """
    return fill_diagonal_(a, val)


class FillDiagonalOffset(Op):
    """A copy of a matrix with one of its diagonals set to a scalar.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> FillDiagonalOffset()(at.matrix("a"), 1.0, -1).ndim
    2
    """

    __props__ = ()

    def make_node(self, a: Any, val: Any, offset: IntegerLike) -> Apply:
        a = as_tensor_variable(a)
        if a.type.ndim != 2:
            raise TypeError(f"{type(self).__name__}: the first input must be a matrix; got {a.type}.")
        val = _as_filling(a, val, self)
        offset = as_tensor_variable(offset)
        if offset.type.ndim or offset.type.dtype not in discrete_dtypes:
            raise TypeError(f"{type(self).__name__}: the offset must be an integer scalar; got {offset.type}.")
        return Apply(self, [a, val, offset], [a.type()])

    def perform(self, node, inputs, output_storage):
        a, val, offset = inputs
        filled, offset = a.copy(), int(offset)
        position = np.arange(_diagonal_length(*a.shape, offset))
        filled[position + max(0, -offset), position + max(0, offset)] = val
        output_storage[0][0] = filled

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]

    def grad(self, inputs, output_gradients):
        offset = inputs[2]
        (g_out,) = output_gradients
        g_offset = grad_undefined(self, 2, offset, "An offset is not continuous.")
        zero = np.zeros((), dtype=g_out.type.dtype)
        on_diagonal = eye(g_out.shape[0], g_out.shape[1], offset, dtype="bool")
        return [
            fill_diagonal_offset(g_out, zero, offset),
            switch(on_diagonal, g_out, zero).sum(),
            g_offset,
        ]


fill_diagonal_offset_ = FillDiagonalOffset()


def fill_diagonal_offset(a: TensorLike, val: TensorLike, offset: IntegerLike) -> TensorVariable:
    """Return a copy of a matrix with one of its diagonals set to a scalar.

    Parameters
    ----------
    a
        The matrix.
    val
        The scalar.
    offset
        Which diagonal: 0 is the main one, positive ones are above it; may be symbolic.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> fill_diagonal_offset(at.matrix("a"), 0.0, 1).ndim
    2
    """
    return fill_diagonal_offset_(a, val, offset)
