"""Sums and diagonals of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.sparse.arrangement import Transpose
from aesara.sparse.construction import as_sparse_variable, dense_operand
from aesara.sparse.conversion import SparseFromDense, sp_ones_like, sp_zeros_like
from aesara.sparse.on_parts import CompressedDot
from aesara.sparse.parts import Parts, convert_format
from aesara.sparse.type import SparseLike, SparseTensorType, has_sparse_type
from aesara.tensor.core.dtypes import continuous_dtypes
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import ones
from aesara.tensor.creation.diagonals import diagonal
from aesara.tensor.creation.ranges import arange
from aesara.tensor.joining.join_split import stack
from aesara.tensor.reductions.sum_prod_max import sum as dense_sum

if TYPE_CHECKING:
    from aesara.graph.container import StorageCell
    from aesara.graph.fg import FunctionGraph
    from aesara.graph.nodes import Variable

__all__ = ["Diag", "SpSum", "SquareDiagonal", "diag", "sp_sum", "square_diagonal"]


class SpSum(Op):
    """The sum of all elements of a sparse matrix, or of each column (axis 0) or row (axis 1).

    Parameters
    ----------
    axis
        None, 0 or 1.
    sparse_grad
        Whether the gradient has the pattern of the input.
    """

    __props__ = ("axis",)

    def __init__(self, axis: int | None = None, sparse_grad: bool = True):
        if axis not in (None, 0, 1):
            raise ValueError(f"Illegal value for self.axis: a matrix is summed over axis 0, 1 or None; got {axis!r}.")
        self.axis = axis
        # It affects only the gradient.
        self.structured = sparse_grad

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.axis == other.axis and self.structured == other.structured

    def __hash__(self) -> int:
        return hash((type(self), self.axis, self.structured))

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"

    def make_node(self, x: Any) -> Apply:
        x = as_sparse_variable(x)
        shape = () if self.axis is None else (x.type.shape[1 - self.axis],)
        return Apply(self, [x], [tensor_type(x.type.dtype, shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        (x,) = inputs
        # Some versions of SciPy modify the matrix in `x.sum()`: they sort its indices.
        total = np.asarray(x.data.sum() if self.axis is None else x.sum(axis=self.axis), dtype=x.dtype)
        output_storage[0][0] = total if self.axis is None else total.ravel()

    def in_parts(self, node: Apply, x: Parts) -> list[TensorVariable]:
        data, indices, indptr, shape = x
        kind: Any = node.inputs[0].type
        if self.axis is None:
            return [dense_sum(data, dtype=kind.dtype)]
        # The sums of rows are the product of the matrix and a vector of ones.
        format = kind.format if self.axis else Transpose.format_map[kind.format]
        shape = shape if self.axis else shape[::-1]
        return [CompressedDot(format)(data, indices, indptr, shape, ones((shape[1],), dtype=kind.dtype))]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[TensorVariable]:
        (x,) = inputs
        (gz,) = gout
        kind: SparseTensorType = x.type
        if kind.dtype not in continuous_dtypes:
            return [sp_zeros_like(x, "floatX")]
        if self.axis is not None:
            gz = gz.dimshuffle("x", 0) if self.axis == 0 else gz.dimshuffle(0, "x")
        if self.structured:
            return [sp_ones_like(x) * gz]
        return [SparseFromDense(kind.format)(ones(x.shape, dtype=kind.dtype) * gz)]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [() if self.axis is None else (shapes[0][1 - self.axis],)]


def sp_sum(x: SparseLike, axis: int | None = None, sparse_grad: bool = False) -> TensorVariable:
    """Return the sum of all elements of a sparse matrix, or of each column or row.

    Parameters
    ----------
    x
        The matrix.
    axis
        None for all elements, 0 for a vector of the sums of columns, 1 for sums of rows.
    sparse_grad
        Whether the gradient is with respect to the stored values, with the pattern of `x`. Otherwise it is with respect
        to all elements, and is a sparse matrix that stores all of them.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> A = aesara.sparse.constant(scipy.sparse.csr_matrix([[1.0, 5.0], [7.0, 0.0]]))
    >>> aesara.sparse.sp_sum(A, axis=1).eval()
    array([6., 7.])
    """
    return SpSum(axis, sparse_grad)(x)


class Diag(Op):
    """The diagonal of a square sparse matrix, as a dense vector."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        x = as_sparse_variable(x)
        return Apply(self, [x], [tensor_type(x.type.dtype, (None,))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        (x,) = inputs
        if x.shape[0] != x.shape[1]:
            raise ValueError(f"Diag only apply on square matrix; the shape is {x.shape}.")
        output_storage[0][0] = np.asarray(x.diagonal(), dtype=x.dtype)

    def grad(self, inputs: Sequence[Variable], gout: Sequence[Variable]) -> list[TensorVariable]:
        return [convert_format(square_diagonal(gout[0]), inputs[0].type.format)]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [(shapes[0][0],)]


diag = Diag()


class SquareDiagonal(Op):
    """The square csc matrix with a given diagonal."""

    __props__ = ()

    def make_node(self, diag: Any) -> Apply:
        diag = dense_operand(self, diag)
        if diag.type.ndim != 1:
            raise TypeError(f"data argument must be a vector; got {diag.type}.")
        return Apply(self, [diag], [SparseTensorType("csc", diag.type.dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        (values,) = inputs
        count = values.size
        indices = np.arange(count + 1, dtype="int32")
        output_storage[0][0] = scipy.sparse.csc_matrix((values.copy(), indices[:count], indices), (count, count))

    def in_parts(self, node: Apply, values: TensorVariable) -> list[Any]:
        count = values.shape[0]
        shape = stack([count, count]).astype("int32")
        return [(values, arange(count, dtype="int32"), arange(count + 1, dtype="int32"), shape)]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        (gz,) = gout
        return [diag(gz) if has_sparse_type(gz) else diagonal(gz)]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [(shapes[0][0], shapes[0][0])]


square_diagonal = SquareDiagonal()
