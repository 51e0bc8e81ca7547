"""Sparse matrices and their parts: `CSM` builds a matrix from vectors, `CSMProperties` returns the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.sparse.construction import as_sparse_variable, sparse_operand
from aesara.sparse.type import COMPRESSED, MATRIX_CLASSES, SparseTensorType
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.shapes.repeating import repeat

if TYPE_CHECKING:
    from aesara.graph.container import StorageCell
    from aesara.graph.fg import FunctionGraph
    from aesara.graph.nodes import Variable

__all__ = [
    "CSC",
    "CSM",
    "CSR",
    "CSMGrad",
    "CSMProperties",
    "csm_data",
    "csm_grad",
    "csm_indices",
    "csm_indptr",
    "csm_properties",
    "csm_shape",
]

Parts = tuple[Any, Any, Any, Any]


def _refuse_kmap(kmap: object) -> None:
    if kmap is not None:
        raise ValueError("Do not use kmap, it is removed: permute the data before.")


class CSMProperties(Op):
    """The parts of a csr or csc matrix: stored values, indices, pointers to the beginnings of rows or columns, and
    shape.

    Indices are int32. The gradient with respect to the matrix has its pattern.
    """

    __props__ = ()
    view_map = {0: [0], 1: [0], 2: [0]}

    def __init__(self, kmap: object = None):
        _refuse_kmap(kmap)

    def make_node(self, csm: Any) -> Apply:
        csm = sparse_operand(self, csm)
        return Apply(self, [csm], [kind() for kind in csm.type.part_types()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        for cell, part in zip(output_storage, node.inputs[0].type.take_apart(inputs[0])):
            cell[0] = part

    def in_parts(self, node: Apply, csm: Parts) -> list[TensorVariable]:
        return list(csm)

    def grad(self, inputs: Sequence[Any], g: Sequence[Any]) -> list[Variable]:
        (csm,) = inputs
        _, indices, indptr, shape = csm_properties(csm)
        gradient_of_data = g[0]
        if isinstance(gradient_of_data.type, DisconnectedType):
            return [DisconnectedType()()]
        return [CSM(csm.type.format)(gradient_of_data, indices, indptr, shape)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False, False, False]]


csm_properties = CSMProperties()


def csm_data(csm: object) -> TensorVariable:
    """Return the stored values of a sparse matrix.

    Examples
    --------
    >>> import aesara.sparse
    >>> aesara.sparse.csm_data(aesara.sparse.csr_matrix("A")).type
    TensorType(float64, (None,))
    """
    return csm_properties(csm)[0]


def csm_indices(csm: TensorVariable) -> TensorVariable:
    """Return the column (csr) or row (csc) number of each stored value."""
    return csm_properties(csm)[1]


def csm_indptr(csm: TensorVariable) -> TensorVariable:
    """Return the row (csr) or column (csc) pointers, followed by the number of stored values."""
    return csm_properties(csm)[2]


def csm_shape(csm: TensorVariable) -> TensorVariable:
    """Return the shape of a sparse matrix as a vector of two integers."""
    return csm_properties(csm)[3]


def rows_and_columns_of(format: str, parts: Parts) -> tuple[TensorVariable, TensorVariable]:
    """Return row and column numbers of stored values, given the parts of a matrix."""
    _, indices, indptr, _ = parts
    counts = indptr[1:] - indptr[:-1]
    lines = repeat(arange(counts.shape[0], dtype="int32"), counts)
    return (lines, indices) if format == "csr" else (indices, lines)


class CSM(Op):
    """The csr or csc matrix with the given parts.

    Parameters
    ----------
    format
        ``"csr"`` or ``"csc"``.
    kmap
        Accepted for compatibility; must be None.
    """

    __props__ = ("format",)
    view_map = {0: [0]}

    def __init__(self, format: str, kmap: Any = None):
        if format not in COMPRESSED:
            raise ValueError(f"format must be one of: {', '.join(COMPRESSED)}; got {format!r}.")
        _refuse_kmap(kmap)
        self.format = format

    def make_node(self, data: TensorLike, indices: TensorLike, indptr: TensorLike, shape: TensorLike) -> Apply:
        data = as_tensor_variable(data)
        if data.type.ndim != 1:
            raise TypeError(f"data argument must be a vector; got {data.type}.")
        integers = [
            self._integers(*argument) for argument in (("indices", indices), ("indptr", indptr), ("shape", shape))
        ]
        return Apply(self, [data, *integers], [SparseTensorType(self.format, data.type.dtype)()])

    @staticmethod
    def _integers(name: str, x: TensorLike) -> TensorVariable:
        x = as_tensor_variable(x)
        if x.type.ndim != 1 or x.type.dtype not in ("int8", "int16", "int32", "int64", "uint8", "uint16"):
            raise TypeError(f"{name} must be a vector of integers; got {x.type}.")
        return x if x.type.dtype == "int32" else cast(x, "int32")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, indptr, shape = inputs
        if len(shape) != 2:
            raise ValueError(f"Shape should be an array of length 2; got {len(shape)} numbers.")
        if data.shape != indices.shape:
            raise ValueError(
                f"Data and indices of a matrix must have the same length; they have {data.size} and {indices.size}."
            )
        # Only the data may be shared, since the pattern may belong to another matrix, which is modified in place.
        output_storage[0][0] = node.outputs[0].type.put_together([data, indices.copy(), indptr.copy(), shape])

    def in_parts(self, node: Apply, *parts: TensorVariable) -> list[Any]:
        return [parts]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False], [False]]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        data, indices, indptr, shape = inputs
        of_g = csm_properties(convert_to_sparse(gout[0], self.format))
        return [csm_grad()(data, indices, indptr, shape, *of_g), *(DisconnectedType()() for _ in range(3))]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[TensorVariable | None]:
        return [None if eval_points[0] is None else self(eval_points[0], *inputs[1:])]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        shape: Any = node.inputs[3]
        return [(cast(shape[0], "int64"), cast(shape[1], "int64"))]


class ChangeFormat(Op):
    """Conversion of a sparse matrix to another format.

    Parameters
    ----------
    format
        The format.
    """

    __props__ = ("format",)

    def __init__(self, format: str):
        if format not in MATRIX_CLASSES:
            raise ValueError(f"format must be one of: {', '.join(MATRIX_CLASSES)}; got {format!r}.")
        self.format = format

    def make_node(self, x: Any) -> Apply:
        x = as_sparse_variable(x)
        return Apply(self, [x], [x.type.clone(format=self.format)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        output_storage[0][0] = inputs[0].asformat(self.format, copy=True)

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Variable]:
        return [convert_format(gout[0], inputs[0].type.format)]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> Any:
        return shapes


def convert_format(x: TensorVariable, format: str) -> TensorVariable:
    """Return a sparse matrix in a format; dense matrices are returned unchanged."""
    if not isinstance(x.type, SparseTensorType) or x.type.format == format:
        return x
    return ChangeFormat(format)(x)


def convert_to_sparse(x: TensorVariable, format: str) -> TensorVariable:
    """Convert a matrix, dense or sparse, to a sparse matrix in a format."""
    return SparseTensorType.from_dense(format)(x) if x.type.is_dense else convert_format(x, format)


CSC = CSM("csc")
CSR = CSM("csr")


class CSMGrad(Op):
    """The gradient of `CSM`: the elements of a matrix at the positions that another matrix stores.

    Parameters
    ----------
    kmap
        Accepted for compatibility; must be None.
    """

    __props__ = ()

    def __init__(self, kmap: object = None):
        _refuse_kmap(kmap)

    def make_node(
        self, x_data: TensorLike, x_indices: TensorLike, x_indptr: TensorLike, x_shape: TensorLike,
        g_data: TensorLike, g_indices: TensorLike, g_indptr: TensorLike, g_shape: TensorLike,
    ) -> Apply:  # fmt: skip
        inputs = [x_data, x_indices, x_indptr, x_shape, g_data, g_indices, g_indptr, g_shape]
        tensors = [as_tensor_variable(part) for part in inputs]
        return Apply(self, tensors, [tensor_type(tensors[4].type.dtype, (None,))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        _, indices, indptr, shape, g_data, g_indices, g_indptr, _ = inputs
        if _are_equal(indices, g_indices) and _are_equal(indptr, g_indptr):
            output_storage[0][0] = g_data.copy()
            return
        lines = indptr.size - 1
        # Several stored values of the same position are added.
        g = scipy.sparse.csr_matrix((g_data, g_indices, g_indptr), (lines, shape.max()))
        line_numbers = np.repeat(np.arange(lines), np.diff(indptr))
        values = np.asarray(g[line_numbers, indices]).ravel() if indices.size else g_data[:0]
        output_storage[0][0] = values.astype(g_data.dtype, copy=False)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[k == 4] for k in range(8)]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        x, g = inputs[:4], inputs[4:]
        gradients: list[Any] = [DisconnectedType()() for _ in inputs]
        gradients[4] = self(*g, gout[0], *x[1:])
        return gradients

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[1]]


csm_grad = CSMGrad


def _are_equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a is b or np.array_equal(a, b)
