"""Ops on the parts of sparse matrices, with the names of Aesara 2.9.4.

Compiled functions compute all operations on parts anyway (`aesara.sparse.on_parts`). These ops are for graphs that name
them, and for the rules of `aesara.sparse.rewriting` that create them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar import upcast
from aesara.sparse.on_parts import inner_products
from aesara.sparse.parts import CSMGrad
from aesara.sparse.type import COMPRESSED, MATRIX_CLASSES
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import tensor_type

if TYPE_CHECKING:
    from aesara.graph.container import StorageCell
    from aesara.tensor.core.tensor_like import TensorLike
    from aesara.tensor.core.variable import TensorVariable


__all__ = [
    "AddSD_ccode",
    "CSMGradC",
    "MulSDCSC",
    "MulSDCSR",
    "MulSVCSR",
    "SamplingDotCSR",
    "StructuredAddSVCSR",
    "StructuredDotCSC",
    "StructuredDotCSR",
    "UsmmCscDense",
    "csm_grad_c",
    "mul_s_d_csc",
    "mul_s_d_csr",
    "mul_s_v_csr",
    "sampling_dot_csr",
    "sd_csc",
    "sd_csr",
    "structured_add_s_v_csr",
    "usmm_csc_dense",
    "usmm_csc_dense_inplace",
]


def _tensors(*inputs: object) -> list[TensorVariable]:
    return [as_tensor_variable(value) for value in inputs]


def _major_indices(indptr: np.ndarray) -> np.ndarray:
    """Return the row (csr) or column (csc) number of each stored value."""
    return np.repeat(np.arange(indptr.size - 1), np.diff(indptr))


class _VectorForm(Op):
    """An op without parameters."""

    __props__: tuple[str, ...] = ()


class StructuredDotCSC(_VectorForm):
    """The product of a csc matrix, given by its parts and number of rows, and a dense matrix."""

    def make_node(
        self, a_val: TensorLike, a_ind: TensorLike, a_ptr: TensorLike, a_nrows: TensorLike, b: TensorLike
    ) -> Apply:
        inputs = _tensors(a_val, a_ind, a_ptr, a_nrows, b)
        dtype = upcast(inputs[0].type.dtype, inputs[4].type.dtype)
        return Apply(self, inputs, [tensor_type(dtype, (None, inputs[4].type.shape[1]))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        a_val, a_ind, a_ptr, a_nrows, b = inputs
        a = MATRIX_CLASSES["csc"]((a_val, a_ind, a_ptr), (int(a_nrows), b.shape[0]))
        output_storage[0][0] = np.asarray(a @ b, dtype=node.outputs[0].type.dtype)


class StructuredDotCSR(_VectorForm):
    """The product of a csr matrix and a dense matrix."""

    def make_node(self, a_val: TensorLike, a_ind: TensorLike, a_ptr: TensorLike, b: TensorLike) -> Apply:
        inputs = _tensors(a_val, a_ind, a_ptr, b)
        dtype = upcast(inputs[0].type.dtype, inputs[3].type.dtype)
        return Apply(self, inputs, [tensor_type(dtype, (None, inputs[3].type.shape[1]))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        a_val, a_ind, a_ptr, b = inputs
        a = MATRIX_CLASSES["csr"]((a_val, a_ind, a_ptr), (a_ptr.size - 1, b.shape[0]))
        output_storage[0][0] = np.asarray(a @ b, dtype=node.outputs[0].type.dtype)


class CSMGradC(CSMGrad):
    """Another name of `CSMGrad`."""


class _OfStoredValues(_VectorForm):
    """An op that computes new stored values of a matrix."""

    def make_node(self, a_data: TensorLike, a_indices: TensorLike, a_indptr: TensorLike, b: TensorLike) -> Apply:
        inputs = _tensors(a_data, a_indices, a_indptr, b)
        dtype = upcast(inputs[0].type.dtype, inputs[3].type.dtype)
        return Apply(self, inputs, [tensor_type(dtype, (None,))()])


class MulSDCSC(_OfStoredValues):
    """The stored values of the elementwise product of a csc matrix and a dense matrix."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, indptr, b = inputs
        output_storage[0][0] = data * b[indices, _major_indices(indptr)]


class MulSDCSR(_OfStoredValues):
    """The stored values of the elementwise product of a csr matrix and a dense matrix."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, indptr, b = inputs
        output_storage[0][0] = data * b[_major_indices(indptr), indices]


class MulSVCSR(_OfStoredValues):
    """The stored values of a csr matrix, multiplied by the elements of a vector for their columns."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, _, b = inputs
        output_storage[0][0] = data * b[indices]


class StructuredAddSVCSR(_OfStoredValues):
    """The stored values of a csr matrix, plus the elements of a vector for their columns."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, _, b = inputs
        output_storage[0][0] = data + b[indices]


class SamplingDotCSR(_VectorForm):
    """`SamplingDot` for a csr matrix; the outputs are stored values, indices and pointers."""

    def make_node(
        self,
        x: TensorLike,
        y: TensorLike,
        p_data: TensorLike,
        p_ind: TensorLike,
        p_ptr: TensorLike,
        p_ncols: TensorLike,
    ) -> Apply:
        inputs = _tensors(x, y, p_data, p_ind, p_ptr, p_ncols)
        dtype = upcast(*(one.type.dtype for one in inputs[:3]))
        return Apply(self, inputs, [tensor_type(dtype, (None,))(), inputs[3].type(), inputs[4].type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y, data, indices, indptr, _ = inputs
        output_storage[0][0] = data * inner_products(x, _major_indices(indptr), y, indices)
        output_storage[1][0], output_storage[2][0] = indices.copy(), indptr.copy()


class UsmmCscDense(_VectorForm):
    """``alpha * dot(x, y) + z`` for a csc matrix `x`, given by its parts and number of rows.

    Parameters
    ----------
    inplace
        Whether to overwrite `z` by the result.
    """

    __props__ = ("inplace",)

    def __init__(self, inplace: bool):
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [6]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def make_node(
        self,
        alpha: TensorLike,
        x_val: TensorLike,
        x_ind: TensorLike,
        x_ptr: TensorLike,
        x_nrows: TensorLike,
        y: TensorLike,
        z: TensorLike,
    ) -> Apply:
        inputs = _tensors(alpha, x_val, x_ind, x_ptr, x_nrows, y, z)
        dtype = upcast(*(inputs[k].type.dtype for k in (0, 1, 5, 6)))
        if self.inplace and inputs[6].type.dtype != dtype:
            raise TypeError(f"{self} has results of dtype {dtype}, which do not fit into {inputs[6].type}.")
        return Apply(self, inputs, [tensor_type(dtype, (None, inputs[5].type.shape[1]))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        alpha, x_val, x_ind, x_ptr, x_nrows, y, z = inputs
        x = MATRIX_CLASSES["csc"]((x_val, x_ind, x_ptr), (int(x_nrows), y.shape[0]))
        total = alpha.reshape(()) * (x @ y) + z
        if self.inplace:
            z[...] = total
        output_storage[0][0] = z if self.inplace else np.asarray(total, dtype=node.outputs[0].type.dtype)


class AddSD_ccode(_VectorForm):
    """The sum of a sparse matrix and a dense one.

    Parameters
    ----------
    format
        ``"csr"`` or ``"csc"``.
    inplace
        Whether to overwrite the dense matrix by the result.
    """

    __props__ = ("format", "inplace")

    def __init__(self, format: str, inplace: bool = False, *args: TensorLike, **kwargs: object):
        if format not in COMPRESSED:
            raise ValueError(f"format must be one of: {', '.join(COMPRESSED)}; got {format!r}.")
        self.format, self.inplace = format, inplace
        if inplace:
            self.destroy_map = {0: [3]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def make_node(self, x_data: TensorLike, x_indices: TensorLike, x_indptr: TensorLike, y: TensorLike) -> Apply:
        inputs = _tensors(x_data, x_indices, x_indptr, y)
        dtype = upcast(inputs[0].type.dtype, inputs[3].type.dtype)
        if self.inplace and inputs[3].type.dtype != dtype:
            raise TypeError(f"{self} has results of dtype {dtype}, which do not fit into {inputs[3].type}.")
        return Apply(self, inputs, [tensor_type(dtype, inputs[3].type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        data, indices, indptr, y = inputs
        total = y if self.inplace else y.astype(node.outputs[0].type.dtype)
        positions = (_major_indices(indptr), indices) if self.format == "csr" else (indices, _major_indices(indptr))
        np.add.at(total, positions, data)
        output_storage[0][0] = total


sd_csc, sd_csr = StructuredDotCSC(), StructuredDotCSR()
csm_grad_c = CSMGradC()
mul_s_d_csc, mul_s_d_csr, mul_s_v_csr = MulSDCSC(), MulSDCSR(), MulSVCSR()
structured_add_s_v_csr = StructuredAddSVCSR()
sampling_dot_csr = SamplingDotCSR()
usmm_csc_dense, usmm_csc_dense_inplace = UsmmCscDense(inplace=False), UsmmCscDense(inplace=True)
