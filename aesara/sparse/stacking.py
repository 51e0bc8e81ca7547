"""Joining of sparse matrices, and construction from a list of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from aesara.graph.container import StorageCell
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.scalar import upcast
from aesara.sparse.construction import as_sparse_variable, dense_operand
from aesara.sparse.conversion import dense, sp_zeros_like
from aesara.sparse.parts import convert_format, convert_to_sparse
from aesara.sparse.slicing import get_item_2d
from aesara.sparse.type import SparseTensorType
from aesara.tensor.core.dtypes import continuous_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add

__all__ = ["ConstructSparseFromList", "HStack", "VStack", "construct_sparse_from_list", "hstack", "vstack"]


class HStack(Op):
    """Horizontal concatenation of sparse matrices.

    Parameters
    ----------
    format
        The format of the result; csc by default.
    dtype
        The dtype of the result.
    """

    __props__ = ("format", "dtype")
    #: the dimension along which matrices are joined
    axis = 1

    def __init__(self, format: str | None = None, dtype: str | None = None):
        if dtype is None:
            raise ValueError("The output dtype must be specified.")
        self.format = "csc" if format is None else format
        self.dtype = dtype

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.format},{self.dtype})"

    def make_node(self, *mat: TensorLike) -> Apply:
        return Apply(self, _matrices(mat), [SparseTensorType(self.format, self.dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        stack = scipy.sparse.hstack if self.axis else scipy.sparse.vstack
        output_storage[0][0] = node.outputs[0].type.filter(stack(inputs, format=self.format, dtype=self.dtype))

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[TensorVariable]:
        (gz,) = gout
        gradients, begin = [], 0
        for block in inputs:
            end = begin + block.shape[self.axis]
            part = slice(begin, end)
            if block.type.dtype in continuous_dtypes:
                index = (slice(None), part) if self.axis else (part, slice(None))
                part_of_gz = gz[index] if gz.type.is_dense else get_item_2d(gz, index)
                gradients.append(convert_format(part_of_gz, block.type.format))
            else:
                gradients.append(sp_zeros_like(block, "floatX"))
            begin = end
        return gradients

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable]:
        points = zip(inputs, eval_points)
        zero = lambda x: sp_zeros_like(x, self.dtype)
        return [self(*[zero(x) if point is None else convert_to_sparse(point, self.format) for x, point in points])]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        total = add(*(shape[self.axis] for shape in shapes)) if len(shapes) > 1 else shapes[0][self.axis]
        other = shapes[0][1 - self.axis]
        return [(other, total) if self.axis else (total, other)]


class VStack(HStack):
    """Vertical concatenation of sparse matrices; see `HStack`."""

    axis = 0


def _matrices(blocks: Iterable[Any]) -> list[TensorVariable]:
    matrices = [as_sparse_variable(block) for block in blocks]
    if not matrices:
        raise ValueError("Cannot join an empty list of sparses.")
    return matrices


def _stack(op_class: type[HStack], blocks: Any, format: str | None, dtype: str | None) -> TensorVariable:
    blocks = _matrices(blocks)
    if dtype is None:
        dtype = upcast(*(block.type.dtype for block in blocks))
    return op_class(format=format, dtype=dtype)(*blocks)


def hstack(blocks: object, format: str | None = None, dtype: str | None = None) -> TensorVariable:
    """Concatenate sparse matrices horizontally.

    Parameters
    ----------
    blocks
        The matrices, with the same number of rows.
    format
        The format of the result; csc by default.
    dtype
        The dtype of the result; by default determined by type promotion.
    """
    return _stack(HStack, blocks, format, dtype)


def vstack(blocks: object, format: str | None = None, dtype: str | None = None) -> TensorVariable:
    """Concatenate sparse matrices vertically; see `hstack`."""
    return _stack(VStack, blocks, format, dtype)


class ConstructSparseFromList(Op):
    """A csc matrix with the shape of `x`, to whose rows those of a dense matrix are added.

    It is the gradient of ``x[rows]`` if this is to be sparse; see `sparse_grad`.
    """

    __props__ = ()

    def make_node(self, x: Any, values: Any, ilist: Any) -> Apply:
        x, values, ilist = (dense_operand(self, operand) for operand in (x, values, ilist))
        if not (ilist.type.dtype.startswith("int") or ilist.type.dtype.startswith("uint")):
            raise TypeError(f"index must be integers; got {ilist.type}.")
        if ilist.type.ndim != 1:
            raise TypeError(f"index must be vector; got {ilist.type}.")
        if x.type.ndim != 2 or values.type.ndim != 2:
            raise TypeError(f"cannot create a sparse matrix of {x.type} with rows {values.type}: matrices are needed.")
        kind = SparseTensorType("csc", values.type.dtype, x.type.shape)
        return Apply(self, [x, values, ilist], [kind()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, values, rows = inputs
        if values.shape != (rows.size, x.shape[1]):
            raise ValueError(
                f"{self}: {rows.size} rows of {x.shape[1]} elements are needed; the values have shape {values.shape}."
            )
        row_numbers = np.repeat(np.where(rows < 0, rows + x.shape[0], rows), x.shape[1])
        columns = np.tile(np.arange(x.shape[1]), rows.size)
        output_storage[0][0] = scipy.sparse.csc_matrix((values.ravel(), (row_numbers, columns)), shape=x.shape)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        # Only the shape of the first input is used.
        return [[False], [True], [False]]

    def grad(self, inputs: Sequence[Any], grads: Sequence[Any]) -> list[Variable]:
        rows = dense(grads[0])[inputs[2]]
        return [DisconnectedType()(), rows, DisconnectedType()()]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return [None if eval_points[1] is None else self(inputs[0], eval_points[1], inputs[2])]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


construct_sparse_from_list = ConstructSparseFromList()
