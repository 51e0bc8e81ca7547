"""Indexing of sparse matrices: elements, rectangles, lists of rows and lists of elements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from aesara.graph.container import StorageCell
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type
from aesara.sparse.arithmetic import apply_to_patterns
from aesara.sparse.construction import dense_operand, sparse_operand
from aesara.sparse.parts import convert_format
from aesara.sparse.type import MATRIX_CLASSES, SparseTensorType, has_sparse_type
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.joining.join_split import stack
from aesara.tensor.type_other import as_int_none_variable

__all__ = [
    "GetItem2Lists",
    "GetItem2ListsGrad",
    "GetItem2d",
    "GetItem2dGrad",
    "GetItemList",
    "GetItemListGrad",
    "GetItemScalar",
    "get_item_2d",
    "get_item_2lists",
    "get_item_2lists_grad",
    "get_item_list",
    "get_item_list_grad",
    "get_item_scalar",
]


def _index_vector(op: Op, index: TensorLike) -> TensorVariable:
    index = as_tensor_variable(index)
    if index.type.ndim != 1 or index.type.dtype not in integer_dtypes:
        raise IndexError(f"{op} takes vectors of integers as indices; {describe(index)} is a {index.type}.")
    return index


def _index_scalar(op: Op, index: TensorLike) -> TensorVariable:
    index = as_tensor_variable(index)
    if index.type.ndim != 0 or index.type.dtype not in integer_dtypes:
        raise NotImplementedError(f"{op} takes integers as indices; {describe(index)} is a {index.type}.")
    return index


def _no_gradient() -> Variable:
    return DisconnectedType()()


class GetItemList(Op):
    """Rows of a sparse matrix, selected by a list."""

    __props__ = ()

    def make_node(self, x: Any, index: Any) -> Apply:
        x = sparse_operand(self, x)
        return Apply(self, [x, _index_vector(self, index)], [SparseTensorType(x.type.format, x.type.dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, indices = inputs
        output_storage[0][0] = MATRIX_CLASSES[x.format](x[indices])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False]]

    def grad(self, inputs: Sequence[Any], g_outputs: Sequence[Any]) -> list[Variable]:
        x, indices = inputs
        (gz,) = g_outputs
        if not has_sparse_type(gz):
            return [inc_subtensor(zeros(x.shape, dtype=gz.type.dtype)[indices], gz), _no_gradient()]
        return [get_item_list_grad(x, indices, gz), _no_gradient()]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [(shapes[1][0], shapes[0][1])]


get_item_list = GetItemList()


class GetItemListGrad(Op):
    """The gradient of `GetItemList`: a matrix to whose rows those of the output gradient are added."""

    __props__ = ()

    def make_node(self, x: Any, index: Any, gz: Any) -> Apply:
        x = sparse_operand(self, x)
        gz = sparse_operand(self, gz)
        return Apply(
            self, [x, _index_vector(self, index), gz], [gz.type.clone(format=x.type.format, shape=x.type.shape)()]
        )

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, indices, gz = inputs
        positive_indices = np.where(indices < 0, indices + x.shape[0], indices)
        ones = np.ones(positive_indices.size, dtype=gz.dtype)
        selection = scipy.sparse.csr_matrix(
            (ones, (positive_indices, np.arange(positive_indices.size))), (x.shape[0], positive_indices.size)
        )
        output_storage[0][0] = MATRIX_CLASSES[x.format](
            apply_to_patterns(operator.matmul, selection, gz), dtype=gz.dtype
        )

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [False], [True]]

    def grad(self, inputs: Sequence[Any], g_outputs: Sequence[Any]) -> list[Variable]:
        _, indices, gz = inputs
        (g,) = g_outputs
        rows = g[indices] if g.type.is_dense else convert_format(get_item_list(g, indices), gz.type.format)
        return [_no_gradient(), _no_gradient(), rows]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


get_item_list_grad = GetItemListGrad()


class GetItem2Lists(Op):
    """Elements of a sparse matrix, selected by a list of rows and a list of columns, as a dense vector."""

    __props__ = ()

    def make_node(self, x: Any, ind1: TensorLike, ind2: TensorLike) -> Apply:
        x = sparse_operand(self, x)
        rows, columns = (_index_vector(self, index) for index in (ind1, ind2))
        return Apply(self, [x, rows, columns], [tensor_type(x.type.dtype, (None,))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, rows, columns = inputs
        if rows.size != columns.size:
            raise ValueError(f"{self}: there are {rows.size} rows, but {columns.size} columns.")
        output_storage[0][0] = (
            np.asarray(x[rows, columns], dtype=x.dtype).ravel() if rows.size else np.zeros(0, x.dtype)
        )

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False]]

    def grad(self, inputs: Sequence[TensorVariable], g_outputs: Sequence[TensorVariable]) -> list[Variable]:
        x, rows, columns = inputs
        return [get_item_2lists_grad(x, rows, columns, g_outputs[0]), _no_gradient(), _no_gradient()]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[1]]


get_item_2lists = GetItem2Lists()


class GetItem2ListsGrad(Op):
    """The gradient of `GetItem2Lists`: a sparse matrix with the elements of the output gradient; repeated positions add
    up.
    """

    __props__ = ()

    def make_node(self, x: Any, ind1: TensorLike, ind2: TensorLike, gz: Any) -> Apply:
        x = sparse_operand(self, x)
        rows, columns = (_index_vector(self, index) for index in (ind1, ind2))
        gz = dense_operand(self, gz, 1)
        return Apply(self, [x, rows, columns, gz], [x.type.clone(dtype=gz.type.dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, rows, columns, gz = inputs
        positive_indices = [np.where(i < 0, i + n, i) for i, n in zip((rows, columns), x.shape)]
        output_storage[0][0] = MATRIX_CLASSES[x.format]((gz, tuple(positive_indices)), shape=x.shape)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [False], [False], [True]]

    def grad(self, inputs: Sequence[Any], g_outputs: Sequence[Any]) -> list[Variable]:
        _, rows, columns, _ = inputs
        (g,) = g_outputs
        elements = g[rows, columns] if g.type.is_dense else get_item_2lists(g, rows, columns)
        return [*(_no_gradient() for _ in range(3)), elements]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


get_item_2lists_grad = GetItem2ListsGrad()


class GetItem2d(Op):
    """A rectangle of a sparse matrix, selected by two slices."""

    __props__ = ()

    def make_node(self, x: Any, index: TensorLike) -> Apply:
        x = sparse_operand(self, x)
        if not isinstance(index, (list, tuple)) or len(index) not in (1, 2):
            raise ValueError(f"A sparse matrix has two indices; got {index!r}.")
        slices = (*index, slice(None))[:2]
        limits = [as_int_none_variable(limit) for entry in slices for limit in self._limits(entry)]
        return Apply(self, [x, *limits], [SparseTensorType(x.type.format, x.type.dtype)()])

    @staticmethod
    def _limits(index: slice | TensorLike) -> list[Any]:
        if isinstance(index, slice):
            return [index.start, index.stop, index.step]
        if isinstance(index, Variable) and not isinstance(index.type, Type):
            raise TypeError(f"Not a type of index: {describe(index)}.")
        raise NotImplementedError(
            "Aesara has no sparse vector. Use X[a:b, c:d], X[a:b, c:c+1] or X[a:b] instead; "
            f"got the index {describe(index)}."
        )

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, *limits = inputs
        limits = [None if limit is None else int(limit) for limit in limits]
        part = x[_slices(limits)]
        output_storage[0][0] = MATRIX_CLASSES[x.format](part, copy=part is x)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[k == 0] for k in range(7)]

    def grad(self, inputs: Sequence[Any], g_outputs: Sequence[Any]) -> list[Variable]:
        x, *limits = inputs
        (gz,) = g_outputs
        if gz.type.is_dense:
            gradient_of_x = inc_subtensor(zeros(x.shape, dtype=gz.type.dtype)[_slices(limits)], gz)
        else:
            gradient_of_x = _get_item_2d_grad(x, gz, *limits)
        return [gradient_of_x, *(_no_gradient() for _ in limits)]


class GetItem2dGrad(Op):
    """The gradient of `GetItem2d`: a matrix that contains the output gradient in the rectangle."""

    __props__ = ()

    def make_node(self, x: Any, gz: Any, *limits: Any) -> Apply:
        x, gz = sparse_operand(self, x), sparse_operand(self, gz)
        return Apply(self, [x, gz, *limits], [gz.type.clone(format=x.type.format, shape=x.type.shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, gz, *limits = inputs
        rows, columns = (np.arange(n)[one] for n, one in zip(x.shape, _slices(limits)))
        gz = gz.tocoo()
        output_storage[0][0] = MATRIX_CLASSES[x.format]((gz.data, (rows[gz.row], columns[gz.col])), shape=x.shape)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[k == 1] for k in range(8)]

    def grad(self, inputs: Sequence[Any], g_outputs: Sequence[Any]) -> list[Variable]:
        _, gz, *limits = inputs
        (g,) = g_outputs
        part = (
            g[_slices(limits)] if g.type.is_dense else convert_format(get_item_2d(g, _slices(limits)), gz.type.format)
        )
        return [_no_gradient(), part, *(_no_gradient() for _ in limits)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


def _slices(limits: Sequence[object]) -> tuple[slice, slice]:
    """Return the slices with the given starts, stops and steps, which are values or variables."""
    bounds = [None if isinstance(limit, Constant) and limit.data is None else limit for limit in limits]
    return slice(*bounds[:3]), slice(*bounds[3:])


get_item_2d = GetItem2d()
_get_item_2d_grad = GetItem2dGrad()


class GetItemScalar(Op):
    """An element of a sparse matrix."""

    __props__ = ()

    def make_node(self, x: Any, index: Any) -> Apply:
        x = sparse_operand(self, x)
        if len(index) != 2:
            raise ValueError(f"An element of a matrix has two indices; got {index!r}.")
        indices = [_index_scalar(self, entry) for entry in index]
        return Apply(self, [x, *indices], [tensor_type(x.type.dtype, ())()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, row, column = inputs
        output_storage[0][0] = np.asarray(x[int(row), int(column)], dtype=x.dtype)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False]]

    def grad(self, inputs: Sequence[TensorVariable], g_outputs: Sequence[TensorVariable]) -> list[Variable]:
        x, *indices = inputs
        rows, columns, values = (stack([entry]) for entry in (*indices, g_outputs[0]))
        return [get_item_2lists_grad(x, rows, columns, values), _no_gradient(), _no_gradient()]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [()]


get_item_scalar = GetItemScalar()


def _is_whole(index: object) -> bool:
    return isinstance(index, slice) and index == slice(None)


def _is_list(index: object) -> bool:
    if isinstance(index, Variable):
        return getattr(index.type, "ndim", 0) == 1
    return isinstance(index, list) or (isinstance(index, np.ndarray) and index.ndim == 1)


def _is_number(index: object) -> bool:
    if isinstance(index, Variable):
        return getattr(index.type, "ndim", None) == 0
    return isinstance(index, (int, np.integer)) or (isinstance(index, np.ndarray) and index.ndim == 0)


def getitem(x: TensorVariable, args: Any) -> TensorVariable:
    """Return ``x[args]``: an element, a rectangle, rows by a list, or elements by two lists."""
    args = args if isinstance(args, tuple) else (args,)
    if len(args) == 2:
        if all(map(_is_number, args)):
            return get_item_scalar(x, args)
        if all(map(_is_list, args)):
            return get_item_2lists(x, *args)
        if _is_list(args[0]) and isinstance(args[1], slice):
            rows = get_item_list(x, args[0])
            return rows if _is_whole(args[1]) else get_item_2d(rows, (slice(None), args[1]))
    elif len(args) == 1 and _is_list(args[0]):
        return get_item_list(x, args[0])
    return get_item_2d(x, args)
