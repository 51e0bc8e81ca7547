"""Elementwise sums and products of sparse matrices with sparse matrices and dense tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from aesara.graph.container import StorageCell
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar import upcast
from aesara.sparse.arrangement import neg, transpose
from aesara.sparse.construction import as_operands, as_sparse_variable, dense_operand, sparse_operand
from aesara.sparse.conversion import conj_of, dense, gradient_in, sp_ones_like, sp_zeros_like
from aesara.sparse.parts import Parts, convert_format, rows_and_columns_of
from aesara.sparse.reductions import sp_sum
from aesara.sparse.type import MATRIX_CLASSES, SparseLike, SparseTensorType, has_sparse_type
from aesara.tensor.core.casting import cast as dense_cast
from aesara.tensor.core.dtypes import continuous_dtypes
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import neg as dense_neg
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = [
    "AddSD",
    "AddSS",
    "AddSSData",
    "ColScaleCSC",
    "MulSD",
    "MulSS",
    "MulSV",
    "RowScaleCSC",
    "StructuredAddSV",
    "add",
    "add_s_d",
    "add_s_s",
    "add_s_s_data",
    "col_scale",
    "mul",
    "mul_s_d",
    "mul_s_s",
    "mul_s_v",
    "row_scale",
    "structured_add_s_v",
    "sub",
]


def major_indices(x: Any) -> np.ndarray:
    """Return the row (csr) or column (csc) number of each stored value of a compressed matrix."""
    return np.repeat(np.arange(x.indptr.size - 1), np.diff(x.indptr))


def elements_of_vector(format: str, parts: Parts, y: TensorVariable, axis: int) -> TensorVariable:
    """Return the element of a vector that belongs to the row (axis 0) or column (axis 1) of each stored value."""
    return specify_shape(y, (parts[3][axis],))[rows_and_columns_of(format, parts)[axis]]


def rows_and_columns(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return row and column numbers of the stored values of a matrix."""
    return (major_indices(x), x.indices) if x.format == "csr" else (x.indices, major_indices(x))


def with_data(x: Any, data: np.ndarray) -> scipy.sparse.spmatrix:
    """Return a matrix with the sparsity pattern of `x` and other stored values."""
    return MATRIX_CLASSES[x.format]((data, x.indices.copy(), x.indptr.copy()), shape=x.shape, copy=False)


def apply_to_patterns(operation: Callable[[Any, Any], Any], x: Any, y: Any) -> scipy.sparse.spmatrix:
    """Apply an operation of SciPy to two compressed matrices, with zeros of the result stored.

    SciPy drops zeros from the result. Its pattern would depend on values then, and gradients for the operands, which
    have the pattern of the result, would lack elements. Here the pattern of the result follows from those of the
    operands.

    Parameters
    ----------
    operation
        A sum, an elementwise product or a matrix product. It must also accept Boolean matrices.
    x, y
        Two matrices.

    Examples
    --------
    >>> import operator
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]])
    >>> apply_to_patterns(operator.add, A, -A).data.tolist()
    [0.0, 0.0, 0.0]
    """
    result = operation(x, y)
    if x.format not in ("csr", "csc") or y.format not in ("csr", "csc"):
        return result
    pattern = operation(_pattern_of(x), _pattern_of(y)).asformat(result.format)
    if pattern.nnz == result.nnz:
        return result
    for matrix in (pattern, result):
        matrix.sum_duplicates()
    length = result.shape[1] if result.format == "csr" else result.shape[0]
    keys, keys_of_pattern = (major_indices(m).astype("int64") * length + m.indices for m in (result, pattern))
    data = np.zeros(pattern.nnz, dtype=result.dtype)
    data[np.searchsorted(keys_of_pattern, keys)] = result.data
    return with_data(pattern, data)


def _pattern_of(x: Any) -> scipy.sparse.spmatrix:
    """Return a matrix that stores True for each stored value of `x`."""
    return with_data(x, np.ones(x.indices.size, dtype=bool))


def gradient_for(x: Any, gradient: TensorVariable) -> TensorVariable:
    """Return a gradient in the dtype and format of the operand `x`, or zero if `x` is discrete."""
    if x.type.dtype not in continuous_dtypes:
        return zero_for(x)
    gradient = gradient_in(gradient, x.type.dtype)
    return convert_format(gradient, x.type.format) if has_sparse_type(x) else gradient


def zero_for(x: TensorVariable) -> TensorVariable:
    """Return a zero gradient for an operand."""
    dtype = x.type.dtype if x.type.dtype in continuous_dtypes else "floatX"
    return sp_zeros_like(x, dtype) if has_sparse_type(x) else x.zeros_like(dtype=dtype)


def require_same_shape(
    op: Op, a: TensorVariable | scipy.sparse.spmatrix, b: TensorVariable | scipy.sparse.spmatrix
) -> None:
    """Raise a `ValueError` if two values have different shapes."""
    if a.shape != b.shape:
        raise ValueError(f"{op}: inconsistent shapes: {a.shape} and {b.shape}.")


class _SparseAndSparse(Op):
    """An elementwise operation on two sparse matrices; the result has the format of the first one.

    The pattern of the result depends only on those of the operands; stored values may be zero.
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_sparse_variable(x), as_sparse_variable(y)
        dtype = upcast(x.type.dtype, y.type.dtype)
        return Apply(self, [x, y], [SparseTensorType(x.type.format, dtype)()])

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]

    def _store(self, node: Apply, value: Any, output_storage: list[StorageCell]) -> None:
        kind: Any = node.outputs[0].type
        output_storage[0][0] = MATRIX_CLASSES[kind.format](value, dtype=kind.dtype)


class AddSS(_SparseAndSparse):
    """The sum of two sparse matrices."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        require_same_shape(self, *inputs)
        self._store(node, apply_to_patterns(operator.add, *inputs), output_storage)

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        return [gradient_for(x, gout[0]) for x in inputs]


add_s_s = AddSS()


class AddSSData(_SparseAndSparse):
    """The sum of two sparse matrices with the same pattern."""

    def make_node(self, x: object, y: object) -> Apply:
        node = super().make_node(x, y)
        if node.inputs[0].type.format != node.inputs[1].type.format:
            raise TypeError(f"{self} takes two matrices of one format; got {[v.type for v in node.inputs]}.")
        return node

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        require_same_shape(self, x, y)
        if x.data.shape != y.data.shape:
            raise ValueError(f"{self}: the patterns differ: {x.data.size} and {y.data.size} values are stored.")
        output_storage[0][0] = with_data(x, x.data + y.data)

    def in_parts(self, node: Apply, x: Parts, y: Parts) -> list[Any]:
        return [(x[0] + y[0], *x[1:])]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        return [gradient_for(x, gout[0]) for x in inputs]


add_s_s_data = AddSSData()


class AddSD(Op):
    """The sum of a sparse and a dense matrix; the result is dense."""

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_sparse_variable(x), dense_operand(self, y)
        if y.type.ndim != 2:
            raise TypeError(
                f"{self}: a sparse matrix is added to a dense matrix; {describe(y)} is a {y.type}. "
                "structured_add adds a number to the stored values, structured_add_s_v a vector."
            )
        dtype = upcast(x.type.dtype, y.type.dtype)
        return Apply(self, [x, y], [tensor_type(dtype, y.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        require_same_shape(self, x, y)
        output_storage[0][0] = np.asarray(x + y, dtype=node.outputs[0].type.dtype)

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[TensorVariable]:
        kind = node.outputs[0].type
        whole = specify_shape(dense_cast(y, kind.dtype), (x[3][0], x[3][1]))
        return [inc_subtensor(whole[rows_and_columns_of(node.inputs[0].type.format, x)], dense_cast(x[0], kind.dtype))]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        x, y = inputs
        return [gradient_for(x, sp_ones_like(x) * gout[0]), gradient_for(y, gout[0])]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[1]]


add_s_d = AddSD()


def add(x: SparseLike, y: SparseLike) -> TensorVariable:
    """Add two matrices, at least one of which is sparse.

    The result is sparse if both are, and dense otherwise.
    """
    x, y = _operands("add", x, y)
    if has_sparse_type(x):
        return (add_s_s if has_sparse_type(y) else add_s_d)(x, y)
    return add_s_d(y, x)


def _operands(name: str, x: SparseLike, y: SparseLike) -> tuple[TensorVariable, TensorVariable]:
    x, y = as_operands(x, y)
    if not (has_sparse_type(x) or has_sparse_type(y)):
        raise TypeError(f"aesara.sparse.{name} takes at least one sparse matrix; got {x.type} and {y.type}.")
    return x, y


def sub(x: SparseLike, y: SparseLike) -> TensorVariable:
    """Subtract two matrices, at least one of which is sparse; see `add`."""
    x, y = _operands("sub", x, y)
    return add(x, neg(y) if has_sparse_type(y) else dense_neg(y))


class MulSS(_SparseAndSparse):
    """The elementwise product of two sparse matrices."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        require_same_shape(self, *inputs)
        self._store(node, apply_to_patterns(lambda x, y: x.multiply(y), *inputs), output_storage)

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        x, y = inputs
        (gz,) = gout
        return [gradient_for(x, conj_of(y) * gz), gradient_for(y, conj_of(x) * gz)]


mul_s_s = MulSS()


class MulSD(Op):
    """The elementwise product of a sparse matrix and a scalar or dense matrix; the result has the pattern of the
    former.

    A dense matrix is broadcast along dimensions that are known to have length 1.
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = sparse_operand(self, x), dense_operand(self, y)
        if y.type.ndim not in (0, 2):
            raise TypeError(
                f"{self}: a sparse matrix is multiplied by a number or a dense matrix; {describe(y)} is a {y.type}. "
                "mul_s_v multiplies its columns by the elements of a vector, row_scale and col_scale rows or columns."
            )
        dtype = upcast(x.type.dtype, y.type.dtype)
        return Apply(self, [x, y], [x.type.clone(dtype=dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        dtype = node.outputs[0].type.dtype
        if y.ndim:
            for n, length, broadcasts in zip(x.shape, y.shape, node.inputs[1].type.broadcastable):
                if not broadcasts and n != length:
                    raise ValueError(f"{self}: inconsistent shapes: {x.shape} and {y.shape}.")
            y = np.broadcast_to(y, x.shape)[rows_and_columns(x)]
        output_storage[0][0] = with_data(x, (x.data[: x.indices.size] * y).astype(dtype, copy=False))

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[Any]:
        data, *rest = x
        if y.type.ndim:
            lengths = [None if broadcasts else x[3][k] for k, broadcasts in enumerate(y.type.broadcastable)]
            positions = rows_and_columns_of(node.inputs[0].type.format, x)
            index = tuple(0 if length is None else position for length, position in zip(lengths, positions))
            y = specify_shape(y, lengths)[index]
        return [(data * y, *rest)]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        x, y = inputs
        (gz,) = gout
        gradient_of_y = conj_of(x) * gz
        if y.type.ndim == 0:
            gradient_of_y = (
                sp_sum(gradient_of_y, sparse_grad=True) if has_sparse_type(gradient_of_y) else gradient_of_y.sum()
            )
        else:
            gradient_of_y = dense(gradient_of_y)
            for axis, broadcasts in enumerate(y.type.broadcastable):
                if broadcasts:
                    gradient_of_y = gradient_of_y.sum(axis=axis, keepdims=True)
        return [gradient_for(x, conj_of(y) * gz), gradient_for(y, gradient_of_y)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


mul_s_d = MulSD()


class _SparseAndVector(Op):
    """An elementwise operation on stored values of a sparse matrix and elements of a vector, which
    belong to columns.
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = sparse_operand(self, x), dense_operand(self, y, 1)
        if x.type.dtype != y.type.dtype:
            raise NotImplementedError(
                f"{self} takes a matrix and a vector of one dtype; they have {x.type.dtype} and {y.type.dtype}."
            )
        return Apply(self, [x, y], [x.type()])

    @staticmethod
    def _elements_of_columns(op: Op, x: TensorVariable, y: np.ndarray) -> np.ndarray:
        if y.size != x.shape[1]:
            raise ValueError(f"{op}: the matrix has {x.shape[1]} columns, the vector {y.size} elements.")
        return y[rows_and_columns(x)[1]]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


class MulSV(_SparseAndVector):
    """The product of each column of a sparse matrix with an element of a vector."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        output_storage[0][0] = with_data(x, x.data[: x.indices.size] * self._elements_of_columns(self, x, y))

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[Any]:
        return [(x[0] * elements_of_vector(node.inputs[0].type.format, x, y, 1), *x[1:])]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        x, y = inputs
        (gz,) = gout
        if x.type.dtype not in continuous_dtypes:  # the vector has the same dtype
            return [zero_for(x), zero_for(y)]
        x, y = map(conj_of, inputs)
        if not has_sparse_type(gz):
            return [y.dimshuffle("x", 0) * gz, dense(x * gz).sum(axis=0)]
        return [mul_s_v(gz, y), sp_sum(x * gz, axis=0, sparse_grad=True)]


mul_s_v = MulSV()


class StructuredAddSV(_SparseAndVector):
    """The sum of the stored values of each column of a sparse matrix with an element of a vector."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        output_storage[0][0] = with_data(x, x.data[: x.indices.size] + self._elements_of_columns(self, x, y))

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[Any]:
        return [(x[0] + elements_of_vector(node.inputs[0].type.format, x, y, 1), *x[1:])]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        x, _ = inputs
        gz = gout[0] if has_sparse_type(gout[0]) else sp_ones_like(x) * gout[0]
        return [gz, sp_sum(gz, axis=0, sparse_grad=True)]


structured_add_s_v = StructuredAddSV()


def mul(x: SparseLike, y: SparseLike) -> TensorVariable:
    """Multiply a sparse matrix elementwise with a sparse or dense matrix or a scalar.

    The result is sparse; with a dense factor, it has the pattern of the sparse one.
    """
    x, y = _operands("mul", x, y)
    if has_sparse_type(x):
        return (mul_s_s if has_sparse_type(y) else mul_s_d)(x, y)
    return mul_s_d(y, x)


class _ScaleCSC(Op):
    """The product of each row or column of a csc matrix with an element of a vector."""

    __props__ = ()
    axis: int

    def make_node(self, x: Any, s: Any) -> Apply:
        x, s = sparse_operand(self, x), dense_operand(self, s, 1)
        if x.type.format != "csc":
            raise ValueError(f"x was not a csc matrix; {describe(x)} is a {x.type}. Use row_scale or col_scale.")
        dtype = upcast(x.type.dtype, s.type.dtype)
        return Apply(self, [x, s], [x.type.clone(dtype=dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, s = inputs
        if s.shape != (x.shape[self.axis],):
            raise ValueError(f"{self}: a vector of length {x.shape[self.axis]} is needed; got {s.shape}.")
        dtype = node.outputs[0].type.dtype
        data = x.data[: x.indices.size] * s[rows_and_columns(x)[self.axis]]
        output_storage[0][0] = with_data(x, data.astype(dtype, copy=False))

    def in_parts(self, node: Apply, x: Parts, s: TensorVariable) -> list[Any]:
        return [(x[0] * elements_of_vector("csc", x, s, self.axis), *x[1:])]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        x, s = inputs
        gz = gout[0] if has_sparse_type(gout[0]) else sp_ones_like(x) * gout[0]
        scale = col_scale if self.axis else row_scale
        return [gradient_for(x, scale(gz, conj_of(s))), gradient_for(s, sp_sum(conj_of(x) * gz, axis=1 - self.axis))]


class ColScaleCSC(_ScaleCSC):
    """The product of each column of a csc matrix with an element of a vector."""

    axis = 1


class RowScaleCSC(_ScaleCSC):
    """The product of each row of a csc matrix with an element of a vector."""

    axis = 0


def col_scale(x: Any, s: SparseLike) -> TensorVariable:
    """Multiply each column of a sparse matrix with an element of a vector.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> A = aesara.sparse.constant(scipy.sparse.csr_matrix([[1.0, 2.0], [3.0, 0.0]]))
    >>> aesara.sparse.col_scale(A, [10.0, 100.0]).eval().toarray()
    array([[ 10., 200.],
           [ 30.,   0.]])
    """
    x = sparse_operand("col_scale", x)
    if x.type.format == "csc":
        return ColScaleCSC()(x, s)
    return transpose(RowScaleCSC()(transpose(x), s))


def row_scale(x: SparseLike, s: SparseLike) -> TensorVariable:
    """Multiply each row of a sparse matrix with an element of a vector; see `col_scale`."""
    return transpose(col_scale(transpose(x), s))
