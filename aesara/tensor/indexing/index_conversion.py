"""Conversion between positions in a tensor and positions in its entries in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.indexing.selection import broadcast_sizes, static_broadcast

__all__ = ["ravel_multi_index", "unravel_index"]


def _check_order(order: str) -> str:
    if order not in ("C", "F"):
        raise ValueError(f"`order` must be 'C' or 'F'; got {order!r}.")
    return order


def _as_integers(value: TensorLike, name: str) -> TensorVariable:
    if isinstance(value, (list, tuple)) and not value:
        value = np.empty(0, dtype="int64")
    value = as_tensor_variable(value)
    if value.type.dtype not in integer_dtypes:
        raise TypeError(f"`{name}` must be integers; got {value.type}.")
    return value


def _as_dims(dims: TensorLike) -> TensorVariable:
    dims = _as_integers(dims, "dims")
    if dims.type.ndim == 0:
        dims = dims.dimshuffle("x")
    if dims.type.ndim != 1:
        raise TypeError(f"`dims` must be a vector; got {dims.type}.")
    return dims


class UnravelIndex(Op):
    """Positions along each dimension, from positions in the entries in a row.

    Parameters
    ----------
    order
        ``"C"``: the last dimension changes fastest; ``"F"``: the first.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(UnravelIndex()(at.lvector("i"), (3, 4)))
    2
    """

    __props__ = ("order",)

    def __init__(self, order: str = "C"):
        self.order = _check_order(order)

    def make_node(self, indices: Any, dims: Any) -> Apply:
        indices, dims = _as_integers(indices, "indices"), _as_dims(dims)
        out_type = tensor_type("int64", indices.type.shape)
        return Apply(self, [indices, dims], [out_type() for _ in range(get_vector_length(dims))])

    def perform(self, node, inputs, output_storage):
        indices, dims = inputs
        positions = np.unravel_index(indices, tuple(dims), order=self.order)
        for storage, along_dimension in zip(output_storage, positions):
            # NumPy's result is read-only.
            storage[0] = np.array(along_dimension, dtype="int64")

    def grad(self, inputs, output_gradients):
        return [x.zeros_like(dtype="floatX") for x in inputs]

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]] * len(node.outputs)


def unravel_index(indices: TensorLike, dims: TensorLike, order: str = "C") -> tuple[TensorVariable, ...]:
    """Return positions along each dimension from positions in the entries in a row.

    Parameters
    ----------
    indices
        Integers.
    dims
        The sizes of the tensor; how many there are must be known.
    order
        ``"C"``: the last dimension changes fastest; ``"F"``: the first.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> rows, columns = unravel_index(at.lvector("i"), (3, 4))
    >>> rows.dtype
    'int64'
    """
    positions = UnravelIndex(order=order)(indices, dims)
    return tuple(positions) if isinstance(positions, (list, tuple)) else (positions,)


class RavelMultiIndex(Op):
    """Positions in the entries in a row, from positions along each dimension.

    Parameters
    ----------
    mode
        What happens to positions out of range: ``"raise"``, ``"wrap"`` or ``"clip"``;
        one for all dimensions, or a tuple.
    order
        ``"C"``: the last dimension changes fastest; ``"F"``: the first.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> RavelMultiIndex()(at.lvector("i"), at.lvector("j"), (3, 4)).ndim
    1
    """

    __props__ = ("mode", "order")

    def __init__(self, mode: str | tuple[str, ...] = "raise", order: str = "C"):
        for entry in (mode,) if isinstance(mode, str) else mode:
            if entry not in ("raise", "wrap", "clip"):
                raise ValueError(f"`mode` must be 'raise', 'wrap' or 'clip'; got {entry!r}.")
        self.mode = mode if isinstance(mode, str) else tuple(mode)
        self.order = _check_order(order)

    def make_node(self, *inputs: Any) -> Apply:
        *multi_index, dims = inputs
        positions = [_as_integers(entry, "multi_index") for entry in multi_index]
        dims = _as_dims(dims)
        shape = static_broadcast(*(entry.type.shape for entry in positions))
        return Apply(self, [*positions, dims], [tensor_type("int64", shape)()])

    def perform(self, node, inputs, output_storage):
        *multi_index, dims = inputs
        positions = np.ravel_multi_index(tuple(multi_index), tuple(dims), mode=self.mode, order=self.order)
        output_storage[0][0] = np.asarray(positions, dtype="int64")

    def grad(self, inputs, output_gradients):
        return [x.zeros_like(dtype="floatX") for x in inputs]

    def infer_shape(self, fgraph, node, input_shapes):
        positions = node.inputs[:-1]
        return [broadcast_sizes(*((shape, entry.type.shape) for shape, entry in zip(input_shapes, positions)))]


def ravel_multi_index(
    multi_index: Sequence[Any] | TensorVariable,
    dims: TensorLike,
    mode: str | tuple[str, ...] = "raise",
    order: str = "C",
) -> TensorVariable:
    """Return positions in the entries in a row from positions along each dimension.

    Parameters
    ----------
    multi_index
        Integers for each dimension: a sequence of tensors, or one tensor of which the
        first dimension has a known size.
    dims
        The sizes of the tensor.
    mode
        What happens to positions out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.
    order
        ``"C"``: the last dimension changes fastest; ``"F"``: the first.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> ravel_multi_index((at.lvector("i"), at.lvector("j")), (3, 4)).ndim
    1
    """
    if not isinstance(multi_index, (tuple, list)):
        tensor = as_tensor_variable(multi_index)
        dims = _as_dims(dims)
        n = tensor.type.shape[0] if tensor.type.ndim else None
        n = get_vector_length(dims) if n is None else n
        multi_index = [tensor[i] for i in range(n)]
    return RavelMultiIndex(mode=mode, order=order)(*multi_index, dims)
