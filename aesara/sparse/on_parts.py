"""Products with the parts of a compressed matrix, as compiled functions compute products with sparse matrices.

``data``, ``indices`` and ``indptr`` are the parts of a csr or csc matrix. A *line* is a row of the former or a column
of the latter; its stored values are ``data[indptr[line] : indptr[line + 1]]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar import upcast
from aesara.sparse.type import COMPRESSED, MATRIX_CLASSES
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import tensor_type

if TYPE_CHECKING:
    from aesara.graph.container import StorageCell
    from aesara.graph.fg import FunctionGraph
    from aesara.tensor.core.tensor_like import TensorLike
    from aesara.tensor.core.variable import TensorVariable

__all__ = ["CompressedDot", "CompressedInner", "inner_products"]


class _OfFormat(Op):
    """An op for matrices of one format.

    Parameters
    ----------
    format
        ``"csr"`` or ``"csc"``.
    """

    __props__ = ("format",)

    def __init__(self, format: str):
        if format not in COMPRESSED:
            raise ValueError(f"format must be one of: {', '.join(COMPRESSED)}; got {format!r}.")
        self.format = format


class CompressedDot(_OfFormat):
    """The product of a matrix, given by its parts, and a dense matrix or vector."""

    def make_node(
        self, data: TensorLike, indices: TensorLike, indptr: TensorLike, shape: TensorLike, b: TensorLike
    ) -> Apply:
        inputs = [as_tensor_variable(argument) for argument in (data, indices, indptr, shape, b)]
        dtype = upcast(inputs[0].type.dtype, inputs[4].type.dtype)
        return Apply(self, inputs, [tensor_type(dtype, (None, *inputs[4].type.shape[1:]))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, indptr, shape, b = inputs
        if shape[1] != b.shape[0]:
            raise ValueError(f"{self}: shape mismatch: {tuple(shape)} and {b.shape} are not aligned.")
        matrix = MATRIX_CLASSES[self.format]((data, indices, indptr), tuple(shape))
        output_storage[0][0] = np.asarray(matrix @ b, dtype=node.outputs[0].type.dtype)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        shape: Any = node.inputs[3]
        return [(shape[0].astype("int64"), *shapes[4][1:])]


class CompressedInner(_OfFormat):
    """Inner products of row i of one matrix and row j of another one for each stored position (i, j) of a matrix."""

    def make_node(self, indices: TensorLike, indptr: TensorLike, x: TensorLike, y: TensorLike) -> Apply:
        inputs = [as_tensor_variable(one) for one in (indices, indptr, x, y)]
        dtype = upcast(inputs[2].type.dtype, inputs[3].type.dtype)
        return Apply(self, inputs, [tensor_type(dtype, (None,))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        indices, indptr, x, y = inputs
        rows_of_lines = x if self.format == "csr" else y
        if indptr.size - 1 != rows_of_lines.shape[0]:
            raise ValueError(f"{self}: there are {indptr.size - 1} lines, but {rows_of_lines.shape[0]} rows for them.")
        lines = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        rows, columns = (lines, indices) if self.format == "csr" else (indices, lines)
        output_storage[0][0] = inner_products(x, rows, y, columns)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


#: number of elements of each matrix that are multiplied in one call
_BLOCK = 1 << 20


def inner_products(x: np.ndarray, rows: np.ndarray, y: np.ndarray, other_rows: np.ndarray) -> np.ndarray:
    """Return inner products of rows of one matrix with rows of another one."""
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"Rows of length {x.shape[1]} and {y.shape[1]} have no inner product.")
    products = np.empty(rows.size, dtype=np.result_type(x, y))
    rows_per_block = max(1, _BLOCK // max(1, x.shape[1]))
    for start in range(0, rows.size, rows_per_block):
        block = slice(start, start + rows_per_block)
        np.einsum("ij,ij->i", x[rows[block]], y[other_rows[block]], out=products[block])
    return products
