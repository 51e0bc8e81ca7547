"""Conversions between sparse and dense matrices, and between dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.container import StorageCell
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.sparse.construction import as_sparse_variable, dense_operand, sparse_operand
from aesara.sparse.parts import CSM, Parts, csm_properties, rows_and_columns_of
from aesara.sparse.type import MATRIX_CLASSES, SparseTensorType, has_sparse_type
from aesara.tensor.core.casting import cast as dense_cast
from aesara.tensor.core.casting import resolve_dtype
from aesara.tensor.core.dtypes import complex_dtypes, continuous_dtypes
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import ones_like, zeros, zeros_like
from aesara.tensor.elementwise.ops import conj, gradient_as, real
from aesara.tensor.indexing.inc_subtensor import inc_subtensor

__all__ = [
    "Cast",
    "DenseFromSparse",
    "SparseFromDense",
    "bcast",
    "cast",
    "ccast",
    "csc_from_dense",
    "csr_from_dense",
    "dcast",
    "dense_from_sparse",
    "fcast",
    "icast",
    "lcast",
    "sp_ones_like",
    "sp_zeros_like",
    "wcast",
    "zcast",
]


class Cast(Op):
    """Conversion of a sparse matrix to another dtype.

    Parameters
    ----------
    out_type
        The dtype.
    """

    __props__ = ("out_type",)

    def __init__(self, out_type: Any):
        self.out_type = resolve_dtype(out_type)

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.out_type})"

    def make_node(self, x: Any) -> Apply:
        x = as_sparse_variable(x)
        return Apply(self, [x], [x.type.clone(dtype=self.out_type)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        output_storage[0][0] = inputs[0].astype(self.out_type)

    def in_parts(self, node: Apply, x: Parts) -> list[Any]:
        data = x[0]
        if data.type.dtype.startswith("complex") and not self.out_type.startswith("complex"):
            data = real(data)  # as in SciPy
        return [(dense_cast(data, self.out_type), *x[1:])]

    def grad(
        self, inputs: Sequence[TensorVariable], outputs_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        (x,) = inputs
        (g,) = outputs_gradients
        if x.type.dtype not in continuous_dtypes:
            return [sp_zeros_like(x, "floatX")]
        return [gradient_in(g, x.type.dtype)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> Any:
        return shapes


bcast, wcast, icast, lcast = Cast("int8"), Cast("int16"), Cast("int32"), Cast("int64")
fcast, dcast, ccast, zcast = Cast("float32"), Cast("float64"), Cast("complex64"), Cast("complex128")


def cast(variable: TensorVariable, dtype: str | None) -> TensorVariable:
    """Convert a sparse matrix to another dtype.

    Examples
    --------
    >>> import aesara.sparse
    >>> aesara.sparse.cast(aesara.sparse.csr_matrix("A"), "float32").type
    Sparse(float32, (None, None), csr)
    """
    return Cast(dtype)(variable)


class DenseFromSparse(Op):
    """Conversion of a sparse matrix to a dense one.

    Parameters
    ----------
    structured
        Whether the gradient is with respect to the stored values, with the pattern of the input, or with respect to
        all elements.
    """

    __props__ = ()

    def __init__(self, structured: bool = True):
        self.sparse_grad = structured

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.sparse_grad == other.sparse_grad

    def __hash__(self) -> int:
        return hash((type(self), self.sparse_grad))

    def __str__(self) -> str:
        return f"{type(self).__name__}{{structured_grad={self.sparse_grad}}}"

    def make_node(self, x: Any) -> Apply:
        x = as_sparse_variable(x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        output_storage[0][0] = inputs[0].toarray()

    def in_parts(self, node: Apply, x: Parts) -> list[TensorVariable]:
        zero_matrix = zeros((x[3][0], x[3][1]), dtype=node.outputs[0].type.dtype)
        return [inc_subtensor(zero_matrix[rows_and_columns_of(node.inputs[0].type.format, x)], x[0])]

    def grad(self, inputs: Sequence[Variable], gout: Sequence[Variable]) -> list[TensorVariable]:
        (x,) = inputs
        (gz,) = gout
        if self.sparse_grad:
            return [sp_ones_like(x) * gz]
        return [SparseFromDense(x.type.format)(gz)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> Any:
        return shapes


dense_from_sparse = DenseFromSparse()


def gradient_in(gradient: TensorVariable, dtype: str) -> TensorVariable:
    """Convert a gradient to the dtype of its operand; the gradient for a real matrix is the real part."""
    if not has_sparse_type(gradient):
        return gradient_as(gradient, dtype)
    return gradient if gradient.type.dtype == dtype else cast(gradient, dtype)


class SparseFromDense(Op):
    """Conversion of a dense matrix to a sparse one, which stores only nonzero elements.

    Parameters
    ----------
    format
        ``"csr"``, ``"csc"`` or ``"bsr"``.
    """

    __props__ = ("format",)

    def __init__(self, format: str):
        if format not in MATRIX_CLASSES:
            raise ValueError(f"format must be one of: {', '.join(MATRIX_CLASSES)}; got {format!r}.")
        self.format = format

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.format}}}"

    def make_node(self, x: Any) -> Apply:
        x = dense_operand(self, x)
        if x.type.ndim > 2:
            raise TypeError(f"{self} cannot have higher dimension than 2; {describe(x)} is a {x.type}.")
        if x.type.ndim == 1:
            x = x.dimshuffle("x", 0)
        elif x.type.ndim == 0:
            x = x.dimshuffle("x", "x")
        return Apply(self, [x], [SparseTensorType(self.format, x.type.dtype, x.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        output_storage[0][0] = MATRIX_CLASSES[self.format](inputs[0])

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        (gz,) = gout
        return [dense_from_sparse(gz) if has_sparse_type(gz) else gz]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> Any:
        return shapes


SparseTensorType.from_dense = SparseFromDense

csr_from_dense = SparseFromDense("csr")
csc_from_dense = SparseFromDense("csc")


def sp_ones_like(x: Any, dtype: Any = None) -> TensorVariable:
    """Return a matrix with the pattern of `x` whose stored values are 1.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> A = aesara.sparse.constant(scipy.sparse.csr_matrix([[0.0, 5.0], [7.0, 0.0]]))
    >>> aesara.sparse.sp_ones_like(A).eval().toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    x = sparse_operand("sp_ones_like", x)
    data, indices, indptr, shape = csm_properties(x)
    return CSM(x.type.format)(ones_like(data, dtype=dtype), indices, indptr, shape)


def sp_zeros_like(x: Any, dtype: str | None = None) -> TensorVariable:
    """Return a matrix with the shape of `x` without stored values."""
    x = sparse_operand("sp_zeros_like", x)
    data, indices, indptr, shape = csm_properties(x)
    no_data = data[:0] if dtype is None else dense_cast(data[:0], dtype)
    return CSM(x.type.format)(no_data, indices[:0], zeros_like(indptr), shape)


def conj_of(x: Any) -> TensorVariable:
    """Return the complex conjugate of a sparse or dense matrix; real matrices are returned unchanged."""
    if not has_sparse_type(x):
        return conj(x)
    if x.type.dtype not in complex_dtypes:
        return x
    data, *pattern = csm_properties(x)
    return CSM(x.type.format)(conj(data), *pattern)


def dense(x: Any) -> TensorVariable:
    """Convert a sparse matrix to a dense one; dense matrices are returned unchanged."""
    return dense_from_sparse(x) if has_sparse_type(x) else x
