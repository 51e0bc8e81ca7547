"""Ops that rearrange or negate stored values of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.container import StorageCell
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.sparse.construction import as_sparse_variable, sparse_operand
from aesara.sparse.parts import Parts
from aesara.sparse.type import has_sparse_type
from aesara.tensor.core.variable import TensorVariable

__all__ = [
    "EnsureSortedIndices",
    "Neg",
    "Remove0",
    "Transpose",
    "clean",
    "ensure_sorted_indices",
    "neg",
    "remove0",
    "transpose",
]


class Transpose(Op):
    """The transpose of a csr matrix as a csc matrix, or vice versa; the stored values are not moved."""

    __props__ = ()
    view_map = {0: [0]}

    format_map = {"csr": "csc", "csc": "csr"}

    def __str__(self) -> str:
        return "SparseTranspose"

    def make_node(self, x: Any) -> Apply:
        x = sparse_operand(self, x)
        kind = x.type.clone(format=self.format_map[x.type.format], shape=x.type.shape[::-1])
        return Apply(self, [x], [kind()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        output_storage[0][0] = inputs[0].transpose()

    def in_parts(self, node: Apply, x: Parts) -> list[Any]:
        return [(*x[:3], x[3][::-1])]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[TensorVariable]:
        (gz,) = gout
        return [transpose(gz) if has_sparse_type(gz) else gz.T]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0][::-1]]


transpose = Transpose()


class _LikeInput(Op):
    """An op on a sparse matrix whose result has the same type and shape."""

    def make_node(self, x: Any) -> Apply:
        x = as_sparse_variable(x)
        return Apply(self, [x], [x.type()])

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return list(output_gradients)

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> Any:
        return shapes


class Neg(_LikeInput):
    """The negative of a sparse matrix."""

    __props__ = ()

    def __str__(self) -> str:
        return "SparseNeg"

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        output_storage[0][0] = -inputs[0]

    def in_parts(self, node: Apply, x: Parts) -> list[Any]:
        return [(-x[0], *x[1:])]

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return [-output_gradients[0]]


neg = Neg()


class EnsureSortedIndices(_LikeInput):
    """The matrix with sorted indices in each row (csr) or column (csc).

    Parameters
    ----------
    inplace
        Whether to sort the input in place.
    """

    __props__ = ("inplace",)

    def __init__(self, inplace: bool):
        self.inplace = inplace
        if inplace:
            self.view_map = {0: [0]}
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        (x,) = inputs
        if self.inplace:
            x.sort_indices()
            output_storage[0][0] = x
        else:
            output_storage[0][0] = x.sorted_indices()


ensure_sorted_indices = EnsureSortedIndices(inplace=False)


class Remove0(_LikeInput):
    """The matrix without explicitly stored zeros.

    Parameters
    ----------
    inplace
        Whether to modify the input.
    """

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else ''}}}"

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x = inputs[0] if self.inplace else inputs[0].copy()
        x.eliminate_zeros()
        output_storage[0][0] = x


remove0 = Remove0()


def clean(x: TensorVariable) -> TensorVariable:
    """Remove stored zeros from a sparse matrix, and sort its indices."""
    return ensure_sorted_indices(remove0(x))
