"""A column of equal numbers in front of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import IntegerLike, OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.joining.join_split import join
from aesara.tensor.nnet.composed import ComposedOp

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["prepend_0_to_each_row", "prepend_1_to_each_row", "prepend_scalar_to_each_row"]


def _as_matrix(mat: TensorLike) -> TensorVariable:
    mat = as_tensor_variable(mat)
    if mat.type.ndim != 2:
        raise TypeError(f"A matrix is expected; got {describe(mat)} of type {mat.type}.")
    return mat


def _one_more_column(mat: TensorVariable) -> tuple[int | None, int | None]:
    rows, columns = mat.type.shape
    return rows, None if columns is None else columns + 1


def _prepend(value: TensorLike, mat: np.ndarray, dtype: str) -> np.ndarray:
    result = np.empty((mat.shape[0], mat.shape[1] + 1), dtype=dtype)
    result[:, 0] = value
    result[:, 1:] = mat
    return result


class Prepend_scalar_constant_to_each_row(ComposedOp):
    """A matrix with an additional first column, which is a constant.

    Parameters
    ----------
    val
        The constant; it takes the dtype of the matrix.

    Examples
    --------
    >>> from aesara.tensor.nnet import prepend_1_to_each_row
    >>> prepend_1_to_each_row([[2.0, 3.0]]).eval()
    array([[1., 2., 3.]])
    """

    __props__ = ("val",)
    nin, nout = 1, 1

    def __init__(self, val: Any = 0):
        self.val = float(getattr(val, "data", val))

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.val}}}"

    def make_node(self, mat: Any) -> Apply:
        mat = _as_matrix(mat)
        return Apply(self, [mat], [tensor_type(mat.type.dtype, _one_more_column(mat))()])

    def expand(self, mat: TensorVariable) -> list[TensorVariable]:
        column = alloc(np.asarray(self.val, dtype=mat.type.dtype), mat.shape[0], 1)
        return [join(1, column, mat)]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        output_storage[0][0] = _prepend(self.val, inputs[0], node.outputs[0].type.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [(shapes[0][0], shapes[0][1] + 1)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        return [output_grads[0][:, 1:]]


class Prepend_scalar_to_each_row(ComposedOp):
    """A matrix with an additional first column; inputs are its value and the matrix.

    Examples
    --------
    >>> from aesara.tensor.nnet import prepend_scalar_to_each_row
    >>> prepend_scalar_to_each_row(5.0, [[2.0, 3.0]]).eval()
    array([[5., 2., 3.]])
    """

    nin, nout = 2, 1

    def make_node(self, val: Any, mat: Any) -> Apply:
        val, mat = as_tensor_variable(val), _as_matrix(mat)
        if val.type.ndim != 0:
            raise TypeError(f"The number to be prepended must be a scalar; got {describe(val)} of type {val.type}.")
        dtype = aes.upcast(val.type.dtype, mat.type.dtype)
        return Apply(self, [val, mat], [tensor_type(dtype, _one_more_column(mat))()])

    def expand(self, val: TensorVariable, mat: TensorVariable) -> list[TensorVariable]:
        return [join(1, alloc(val, mat.shape[0], 1), mat)]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        val, mat = inputs
        output_storage[0][0] = _prepend(val, mat, node.outputs[0].type.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [(shapes[1][0], shapes[1][1] + 1)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        val, mat = inputs
        (g,) = output_grads
        return [g[:, 0].sum().astype(val.type.dtype), g[:, 1:].astype(mat.type.dtype)]


prepend_scalar_to_each_row = Prepend_scalar_to_each_row()
prepend_0_to_each_row = Prepend_scalar_constant_to_each_row(0.0)
prepend_1_to_each_row = Prepend_scalar_constant_to_each_row(1.0)
