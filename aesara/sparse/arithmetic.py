"""Sums and products, element by element, of sparse matrices with one another and with dense tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar import upcast
from aesara.sparse.arrangement import neg, transpose
from aesara.sparse.construction import as_sparse_variable, both_operands, dense_operand, sparse_operand
from aesara.sparse.conversion import conj_of, dense, gradient_in, sp_ones_like, sp_zeros_like
from aesara.sparse.parts import Parts, in_format, places_of
from aesara.sparse.reductions import sp_sum
from aesara.sparse.type import MATRIX_CLASSES, SparseTensorType, has_sparse_type
from aesara.tensor.core.casting import cast as dense_cast
from aesara.tensor.core.dtypes import continuous_dtypes
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.elementwise.ops import neg as dense_neg
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.shapes.specify_shape import specify_shape

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable

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


def lines_of(x: Any) -> np.ndarray:
    """For each stored value of a compressed matrix the number of its row (csr) or column (csc)."""
    return np.repeat(np.arange(x.indptr.size - 1), np.diff(x.indptr))


def of_lines(format: str, parts: Parts, y: TensorVariable, axis: int) -> TensorVariable:
    """For each stored value the element of a vector for its row (axis 0) or column (axis 1)."""
    return specify_shape(y, (parts[3][axis],))[places_of(format, parts)[axis]]


def rows_and_columns(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the stored values of a matrix."""
    return (lines_of(x), x.indices) if x.format == "csr" else (x.indices, lines_of(x))


def with_data(x: Any, data: np.ndarray) -> Any:
    """A matrix with the pattern of another one, and other stored values."""
    return MATRIX_CLASSES[x.format]((data, x.indices.copy(), x.indptr.copy()), shape=x.shape, copy=False)


def at_all_places(operation: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Apply an operation of SciPy's to two compressed matrices, and store its result wherever their patterns put one.

    SciPy drops what is zero. Which places are stored would depend on values, and the gradient for an operand, which has
    the pattern of the result, would lack elements.

    Parameters
    ----------
    operation
        A sum, a product element by element, or a product of matrices, which make True of truth values that are True.
    x, y
        Two matrices.

    Examples
    --------
    >>> import operator
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]])
    >>> at_all_places(operator.add, A, -A).data.tolist()
    [0.0, 0.0, 0.0]
    """
    result = operation(x, y)
    if x.format not in ("csr", "csc") or y.format not in ("csr", "csc"):
        return result
    places = operation(_truth_of_places(x), _truth_of_places(y)).asformat(result.format)
    if places.nnz == result.nnz:
        return result
    for matrix in (places, result):
        matrix.sum_duplicates()
    length = result.shape[1] if result.format == "csr" else result.shape[0]
    key, key_of_all = (lines_of(m).astype("int64") * length + m.indices for m in (result, places))
    data = np.zeros(places.nnz, dtype=result.dtype)
    data[np.searchsorted(key_of_all, key)] = result.data
    return with_data(places, data)


def _truth_of_places(x: Any) -> Any:
    """A matrix that stores True wherever another one stores a value."""
    return with_data(x, np.ones(x.indices.size, dtype=bool))


def gradient_for(x: Any, gradient: TensorVariable) -> TensorVariable:
    """A gradient for an operand: in its dtype, in its format if it is sparse, and zero if it is discrete."""
    if x.type.dtype not in continuous_dtypes:
        return zero_for(x)
    gradient = gradient_in(gradient, x.type.dtype)
    return in_format(gradient, x.type.format) if has_sparse_type(x) else gradient


def zero_for(x: Any) -> TensorVariable:
    """The gradient for an operand of which nothing depends smoothly."""
    dtype = x.type.dtype if x.type.dtype in continuous_dtypes else "floatX"
    return sp_zeros_like(x, dtype) if has_sparse_type(x) else x.zeros_like(dtype=dtype)


def require_same_shape(op: Op, a: Any, b: Any) -> None:
    """Raise a `ValueError` if two values have different shapes."""
    if a.shape != b.shape:
        raise ValueError(f"{op}: inconsistent shapes: {a.shape} and {b.shape}.")


class _SparseAndSparse(Op):
    """An operation on the elements of two sparse matrices; the result has the format of the first.

    The places that the result stores follow from those of the operands; its values may be zero.
    """

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_sparse_variable(x), as_sparse_variable(y)
        dtype = upcast(x.type.dtype, y.type.dtype)
        return Apply(self, [x, y], [SparseTensorType(x.type.format, dtype)()])

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [shapes[0]]

    def _store(self, node: Apply, value: Any, output_storage: Any) -> None:
        kind: Any = node.outputs[0].type
        output_storage[0][0] = MATRIX_CLASSES[kind.format](value, dtype=kind.dtype)


class AddSS(_SparseAndSparse):
    """The sum of two sparse matrices."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        require_same_shape(self, *inputs)
        self._store(node, at_all_places(operator.add, *inputs), output_storage)

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        return [gradient_for(x, gout[0]) for x in inputs]


add_s_s = AddSS()


class AddSSData(_SparseAndSparse):
    """The sum of two sparse matrices that have the same pattern."""

    def make_node(self, x: Any, y: Any) -> Apply:
        node = super().make_node(x, y)
        if node.inputs[0].type.format != node.inputs[1].type.format:
            raise TypeError(f"{self} takes two matrices of one format; got {[v.type for v in node.inputs]}.")
        return node

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        x, y = inputs
        require_same_shape(self, x, y)
        if x.data.shape != y.data.shape:
            raise ValueError(f"{self}: the patterns differ: {x.data.size} and {y.data.size} values are stored.")
        output_storage[0][0] = with_data(x, x.data + y.data)

    def in_parts(self, node: Apply, x: Parts, y: Parts) -> list[Any]:
        return [(x[0] + y[0], *x[1:])]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        return [gradient_for(x, gout[0]) for x in inputs]


add_s_s_data = AddSSData()


class AddSD(Op):
    """The sum of a sparse and a dense matrix, which is dense."""

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

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        x, y = inputs
        require_same_shape(self, x, y)
        output_storage[0][0] = np.asarray(x + y, dtype=node.outputs[0].type.dtype)

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[Any]:
        kind = node.outputs[0].type
        whole = specify_shape(dense_cast(y, kind.dtype), (x[3][0], x[3][1]))
        return [inc_subtensor(whole[places_of(node.inputs[0].type.format, x)], dense_cast(x[0], kind.dtype))]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        x, y = inputs
        return [gradient_for(x, sp_ones_like(x) * gout[0]), gradient_for(y, gout[0])]

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [shapes[1]]


add_s_d = AddSD()


def add(x: Any, y: Any) -> TensorVariable:
    """The sum of two matrices, of which at least one is sparse.

    It is sparse if both are, and dense otherwise.
    """
    x, y = _operands("add", x, y)
    if has_sparse_type(x):
        return (add_s_s if has_sparse_type(y) else add_s_d)(x, y)
    return add_s_d(y, x)


def _operands(name: str, x: Any, y: Any) -> tuple[TensorVariable, TensorVariable]:
    x, y = both_operands(x, y)
    if not (has_sparse_type(x) or has_sparse_type(y)):
        raise TypeError(f"aesara.sparse.{name} takes at least one sparse matrix; got {x.type} and {y.type}.")
    return x, y


def sub(x: Any, y: Any) -> TensorVariable:
    """The difference of two matrices, of which at least one is sparse; see `add`."""
    x, y = _operands("sub", x, y)
    return add(x, neg(y) if has_sparse_type(y) else dense_neg(y))


class MulSS(_SparseAndSparse):
    """The product of two sparse matrices, element by element."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        require_same_shape(self, *inputs)
        self._store(node, at_all_places(lambda x, y: x.multiply(y), *inputs), output_storage)

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        x, y = inputs
        (gz,) = gout
        return [gradient_for(x, conj_of(y) * gz), gradient_for(y, conj_of(x) * gz)]


mul_s_s = MulSS()


class MulSD(Op):
    """The product of a sparse matrix with a number or a dense matrix, element by element; it has the same pattern.

    A dense matrix may broadcast along dimensions that are known to have length 1.
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

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
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
            places = places_of(node.inputs[0].type.format, x)
            index = tuple(0 if length is None else place for length, place in zip(lengths, places))
            y = specify_shape(y, lengths)[index]
        return [(data * y, *rest)]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        x, y = inputs
        (gz,) = gout
        of_y = conj_of(x) * gz
        if y.type.ndim == 0:
            of_y = sp_sum(of_y, sparse_grad=True) if has_sparse_type(of_y) else of_y.sum()
        else:
            of_y = dense(of_y)
            for axis, broadcasts in enumerate(y.type.broadcastable):
                if broadcasts:
                    of_y = of_y.sum(axis=axis, keepdims=True)
        return [gradient_for(x, conj_of(y) * gz), gradient_for(y, of_y)]

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [shapes[0]]


mul_s_d = MulSD()


class _SparseAndVector(Op):
    """An operation on the stored values of a sparse matrix and the element of a vector for their column."""

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = sparse_operand(self, x), dense_operand(self, y, 1)
        if x.type.dtype != y.type.dtype:
            raise NotImplementedError(
                f"{self} takes a matrix and a vector of one dtype; they have {x.type.dtype} and {y.type.dtype}."
            )
        return Apply(self, [x, y], [x.type()])

    @staticmethod
    def _of_columns(op: Op, x: Any, y: np.ndarray) -> np.ndarray:
        if y.size != x.shape[1]:
            raise ValueError(f"{op}: the matrix has {x.shape[1]} columns, the vector {y.size} elements.")
        return y[rows_and_columns(x)[1]]

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [shapes[0]]


class MulSV(_SparseAndVector):
    """A sparse matrix whose columns are multiplied by the elements of a vector."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        x, y = inputs
        output_storage[0][0] = with_data(x, x.data[: x.indices.size] * self._of_columns(self, x, y))

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[Any]:
        return [(x[0] * of_lines(node.inputs[0].type.format, x, y, 1), *x[1:])]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        x, y = inputs
        (gz,) = gout
        if x.type.dtype not in continuous_dtypes:  # as that of the vector
            return [zero_for(x), zero_for(y)]
        x, y = map(conj_of, inputs)
        if not has_sparse_type(gz):
            return [y.dimshuffle("x", 0) * gz, dense(x * gz).sum(axis=0)]
        return [mul_s_v(gz, y), sp_sum(x * gz, axis=0, sparse_grad=True)]


mul_s_v = MulSV()


class StructuredAddSV(_SparseAndVector):
    """A sparse matrix to whose stored values the element of a vector for their column is added."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        x, y = inputs
        output_storage[0][0] = with_data(x, x.data[: x.indices.size] + self._of_columns(self, x, y))

    def in_parts(self, node: Apply, x: Parts, y: TensorVariable) -> list[Any]:
        return [(x[0] + of_lines(node.inputs[0].type.format, x, y, 1), *x[1:])]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        x, _ = inputs
        gz = gout[0] if has_sparse_type(gout[0]) else sp_ones_like(x) * gout[0]
        return [gz, sp_sum(gz, axis=0, sparse_grad=True)]


structured_add_s_v = StructuredAddSV()


def mul(x: Any, y: Any) -> TensorVariable:
    """The product, element by element, of a sparse matrix with a sparse or dense one or a number.

    It is sparse, and with a dense factor it has the pattern of the sparse one.
    """
    x, y = _operands("mul", x, y)
    if has_sparse_type(x):
        return (mul_s_s if has_sparse_type(y) else mul_s_d)(x, y)
    return mul_s_d(y, x)


class _ScaleCSC(Op):
    """A csc matrix whose rows or columns are multiplied by the elements of a vector."""

    __props__ = ()
    axis: int

    def make_node(self, x: Any, s: Any) -> Apply:
        x, s = sparse_operand(self, x), dense_operand(self, s, 1)
        if x.type.format != "csc":
            raise ValueError(f"x was not a csc matrix; {describe(x)} is a {x.type}. Use row_scale or col_scale.")
        dtype = upcast(x.type.dtype, s.type.dtype)
        return Apply(self, [x, s], [x.type.clone(dtype=dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        x, s = inputs
        if s.shape != (x.shape[self.axis],):
            raise ValueError(f"{self}: a vector of length {x.shape[self.axis]} is needed; got {s.shape}.")
        dtype = node.outputs[0].type.dtype
        data = x.data[: x.indices.size] * s[rows_and_columns(x)[self.axis]]
        output_storage[0][0] = with_data(x, data.astype(dtype, copy=False))

    def in_parts(self, node: Apply, x: Parts, s: TensorVariable) -> list[Any]:
        return [(x[0] * of_lines("csc", x, s, self.axis), *x[1:])]

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [shapes[0]]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Any]:
        x, s = inputs
        gz = gout[0] if has_sparse_type(gout[0]) else sp_ones_like(x) * gout[0]
        scale = col_scale if self.axis else row_scale
        return [gradient_for(x, scale(gz, conj_of(s))), gradient_for(s, sp_sum(conj_of(x) * gz, axis=1 - self.axis))]


class ColScaleCSC(_ScaleCSC):
    """A csc matrix whose columns are multiplied by the elements of a vector."""

    axis = 1


class RowScaleCSC(_ScaleCSC):
    """A csc matrix whose rows are multiplied by the elements of a vector."""

    axis = 0


def col_scale(x: Any, s: Any) -> TensorVariable:
    """A sparse matrix whose columns are multiplied by the elements of a vector.

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


def row_scale(x: Any, s: Any) -> TensorVariable:
    """A sparse matrix whose rows are multiplied by the elements of a vector; see `col_scale`."""
    return transpose(col_scale(transpose(x), s))
