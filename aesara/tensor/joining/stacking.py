"""NumPy's ways of putting tensors together along a dimension, and of taking them apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.constant_value import known_entries
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import ShapeLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.creation.allocation import ones
from aesara.tensor.elementwise.ops import minimum
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.joining.join_split import concatenate, join
from aesara.tensor.shapes.broadcasting import broadcast_to
from aesara.tensor.shapes.rearranging import flatten, normalize_axes, sizes_of
from aesara.tensor.shapes.reshape import shape_padleft, shape_padright

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat_with_broadcast",
    "delete",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "insert",
    "row_stack",
    "slice_at_axis",
    "unstack",
    "vsplit",
    "vstack",
]


def _tensors(name: str, tup: Sequence[TensorLike]) -> list[TensorVariable]:
    if isinstance(tup, Variable):
        if tup.type.ndim == 0 or tup.type.shape[0] is None:
            raise TypeError(f"{name} needs a list of tensors, or a tensor of known length; got {tup.type}.")
        return entries_of(tup, tup.type.shape[0])
    tensors = [as_tensor_variable(t) for t in tup]
    if not tensors:
        raise ValueError(f"{name} needs at least one tensor.")
    return tensors


def _in_dtype(tensors: list[TensorVariable], dtype: Any) -> list[TensorVariable]:
    return tensors if dtype is None else [t.astype(dtype) for t in tensors]


def vstack(tup: Sequence[TensorLike], dtype: Any = None) -> TensorVariable:
    """Concatenate tensors along the first dimension; vectors become rows.

    Parameters
    ----------
    tup
        The tensors.
    dtype
        The dtype of the result; by default the one they promote to.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.vstack([[1, 2], [[3, 4], [5, 6]]]).eval()
    array([[1, 2],
           [3, 4],
           [5, 6]])
    """
    rows = [shape_padleft(t, 2 - t.type.ndim) if t.type.ndim < 2 else t for t in _tensors("vstack", tup)]
    return concatenate(_in_dtype(rows, dtype), axis=0)


row_stack = vstack


def hstack(tup: Sequence[TensorLike], dtype: Any = None) -> TensorVariable:
    """Concatenate tensors along the second dimension, vectors along the first.

    See `vstack` for the parameters.
    """
    tensors = [shape_padleft(t) if t.type.ndim == 0 else t for t in _tensors("hstack", tup)]
    return concatenate(_in_dtype(tensors, dtype), axis=0 if tensors[0].type.ndim == 1 else 1)


def dstack(tup: Sequence[TensorLike], dtype: Any = None) -> TensorVariable:
    """Concatenate tensors along the third dimension; see `vstack` for the parameters.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.dstack([at.tensor("float64", (2, 3)), at.tensor("float64", (2, 3))]).type.shape
    (2, 3, 2)
    """
    deep = []
    for t in _tensors("dstack", tup):
        if t.type.ndim < 2:
            t = shape_padleft(t, 2 - t.type.ndim)
        deep.append(shape_padright(t) if t.type.ndim == 2 else t)
    return concatenate(_in_dtype(deep, dtype), axis=2)


def column_stack(tup: Any) -> TensorVariable:
    """Stack tensors as columns of a matrix.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.column_stack([[1, 2], [3, 4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    columns = []
    for t in _tensors("column_stack", tup):
        columns.append(shape_padright(t, 2 - t.type.ndim) if t.type.ndim < 2 else t)
    return concatenate(columns, axis=1)


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> TensorVariable:
    """Append values to a tensor; without an axis both are flattened first.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.append([1, 2], [[3], [4]]).eval()
    array([1, 2, 3, 4])
    """
    arr, values = as_tensor_variable(arr), as_tensor_variable(values)
    if axis is None:
        return join(0, flatten(arr), flatten(values))
    return join(axis, arr, values)


def block(arrays: Any) -> TensorVariable:
    """Assemble a tensor from nested lists: the innermost lists are concatenated along the last dimension, and so on.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.block([[at.eye(2), at.zeros((2, 1))], [at.ones((1, 3))]]).type.shape
    (3, 3)
    """
    depth = _depth(arrays)
    ndim = max([depth, *[t.type.ndim for t in _leaves(arrays)]])

    def join_nested(entry: Any, level: int) -> TensorVariable:
        if level == depth:
            t = as_tensor_variable(entry)
            return shape_padleft(t, ndim - t.type.ndim) if t.type.ndim < ndim else t
        return concatenate([join_nested(part, level + 1) for part in entry], axis=ndim - depth + level)

    return join_nested(arrays, 0)


def _depth(arrays: Sequence[TensorLike]) -> int:
    if not isinstance(arrays, list):
        if isinstance(arrays, tuple):
            raise TypeError("block takes nested lists, not tuples.")
        return 0
    if not arrays:
        raise ValueError("block: a list is empty.")
    depths = {_depth(entry) for entry in arrays}
    if len(depths) > 1:
        raise ValueError(f"block: lists must be nested equally deep; got depths {sorted(depths)} side by side.")
    return 1 + depths.pop()


def _leaves(arrays: Sequence[TensorLike]) -> list[TensorVariable]:
    return [t for entry in arrays for t in _leaves(entry)] if isinstance(arrays, list) else [as_tensor_variable(arrays)]


def unstack(x: TensorLike, axis: int = 0) -> list[TensorVariable]:
    """Return the entries of a tensor along an axis, whose length must be static.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> [part.type.shape for part in at.unstack(at.tensor("float64", (2, 3)))]
    [(3,), (3,)]
    """
    x = as_tensor_variable(x)
    (axis,) = normalize_axes(axis, x.type.ndim)
    length = x.type.shape[axis]
    if length is None:
        raise ValueError(f"unstack: the length of axis {axis} must be known; {describe(x)} has type {x.type}.")
    return [x[(*[slice(None)] * axis, i)] for i in range(length)]


def array_split(ary: TensorLike, indices_or_sections: ShapeLike, axis: int = 0) -> list[TensorVariable]:
    """Cut a tensor along an axis into parts.

    Parameters
    ----------
    ary
        The tensor.
    indices_or_sections
        A number of parts as equally long as possible, the first ones by one
        longer; or the positions of the cuts, a list whose entries may be
        symbolic.
    axis
        The axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> [part.eval().tolist() for part in at.array_split([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    ary = as_tensor_variable(ary)
    (axis,) = normalize_axes(axis, ary.type.ndim)
    before = (slice(None),) * axis
    return [ary[(*before, slice(*ends))] for ends in _cuts(ary, indices_or_sections, axis)]


def _cuts(ary: TensorVariable, indices_or_sections: Any, axis: int) -> list[tuple[Any, Any]]:
    """Return the start and stop of each part along `axis`; the last stop may be None."""
    if isinstance(indices_or_sections, (int, np.integer)) and not isinstance(indices_or_sections, bool):
        n = int(indices_or_sections)
        if n < 1:
            raise ValueError(f"The number of parts must be positive; got {n}.")
        length = sizes_of(ary)[axis]
        each, extra = length // n, length % n
        borders: list[Any] = []
        for i in range(n + 1):
            longer = min(i, extra) if isinstance(extra, int) else minimum(extra, i)
            borders.append(i * each + longer)
        return list(pairwise(borders))
    if isinstance(indices_or_sections, Variable):
        positions = _entries(indices_or_sections)
    else:
        positions = [int(p) if isinstance(p, np.integer) else p for p in indices_or_sections]
    return list(zip([0, *positions], [*positions, None]))


def _entries(positions: Any) -> list[Any]:
    if positions.type.ndim != 1 or positions.type.dtype not in integer_dtypes or positions.type.shape[0] is None:
        raise TypeError(f"The positions must be a vector of integers, of known length; got {positions.type}.")
    known = known_entries(positions) or [None] * positions.type.shape[0]
    return [positions[i] if position is None else position for i, position in enumerate(known)]


def hsplit(ary: TensorLike, indices_or_sections: ShapeLike) -> list[TensorVariable]:
    """Cut a tensor along its second dimension, a vector along its only one; see `array_split`."""
    ary = as_tensor_variable(ary)
    return split_evenly("hsplit", ary, indices_or_sections, 0 if ary.type.ndim == 1 else 1, 1)


def vsplit(ary: TensorLike, indices_or_sections: ShapeLike) -> list[TensorVariable]:
    """Cut a tensor along its first dimension; see `array_split`."""
    return split_evenly("vsplit", as_tensor_variable(ary), indices_or_sections, 0, 2)


def dsplit(ary: TensorLike, indices_or_sections: ShapeLike) -> list[TensorVariable]:
    """Cut a tensor along its third dimension; see `array_split`."""
    return split_evenly("dsplit", as_tensor_variable(ary), indices_or_sections, 2, 3)


def split_evenly(
    name: str, ary: TensorVariable, indices_or_sections: ShapeLike, axis: int, ndim: int = 0
) -> list[TensorVariable]:
    """Split a tensor along a dimension into equal parts or at given positions."""
    if ary.type.ndim < ndim:
        raise ValueError(f"{name} needs a tensor of {ndim} or more dimensions; got {describe(ary)} of type {ary.type}.")
    length = ary.type.shape[axis]
    n = indices_or_sections
    if isinstance(n, (int, np.integer)) and length is not None and n > 0 and length % n:
        raise ValueError(f"{name}: a dimension of length {length} cannot be cut into {n} equal parts.")
    return array_split(ary, indices_or_sections, axis)


def delete(arr: TensorLike, obj: int | slice | Sequence[int] | np.ndarray, axis: int | None = None) -> TensorVariable:
    """Leave out elements along an axis; without an axis the tensor is flattened.

    Parameters
    ----------
    arr
        The tensor.
    obj
        Which positions: an integer, several, a slice, or a Boolean for each.
    axis
        The axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.delete([1, 2, 3, 4], [0, 2]).eval()
    array([2, 4])
    """
    arr = as_tensor_variable(arr)
    if axis is None:
        arr, axis = flatten(arr), 0
    (axis,) = normalize_axes(axis, arr.type.ndim)
    length = arr.type.shape[axis]
    before = (slice(None),) * axis
    if length is not None and not isinstance(obj, Variable):
        return arr[(*before, np.delete(np.arange(length), obj))]
    if not isinstance(obj, (Variable, slice)):
        obj = np.asarray(obj)
        # An empty list is not an index.
        obj = obj.astype("int64") if obj.size == 0 else obj
    everything = ones((arr.shape[axis],), dtype="bool")
    return arr[(*before, set_subtensor(everything[obj], np.array(False)))]


def insert(arr: TensorLike, obj: Any, values: TensorLike, axis: int | None = None) -> TensorVariable:
    """Insert values before a position along an axis.

    Parameters
    ----------
    arr
        The tensor; it is flattened if there is no axis.
    obj
        In front of which position: an integer, which may be symbolic.
    values
        The values to insert: a tensor of the same rank, or one that broadcasts to
        the part at a position.
    axis
        The axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.insert([1, 2, 3], 1, 7).eval()
    array([1, 7, 2, 3])
    """
    arr, values = as_tensor_variable(arr), as_tensor_variable(values)
    if axis is None:
        arr, axis = flatten(arr), 0
    (axis,) = normalize_axes(axis, arr.type.ndim)
    if np.ndim(obj) if not isinstance(obj, Variable) else obj.type.ndim:
        raise TypeError("insert takes a single position; put parts together with concatenate for several.")
    before = (slice(None),) * axis
    length = arr.type.shape[axis]
    if isinstance(obj, (int, np.integer)) and length is not None and not -length <= obj <= length:
        raise IndexError(f"insert: position {obj} is out of bounds for axis {axis} with size {length}.")
    first, rest = arr[(*before, slice(None, obj))], arr[(*before, slice(obj, None))]
    sizes = sizes_of(arr)
    if values.type.ndim < arr.type.ndim:
        part = broadcast_to(values, [*sizes[:axis], *sizes[axis + 1 :]])
        values = part.dimshuffle([*range(axis), "x", *range(axis, part.type.ndim)])
    return join(axis, first, values.astype(arr.type.dtype), rest)


def concat_with_broadcast(tensor_list: Sequence[Any], axis: int = 0) -> TensorVariable:
    """Concatenate tensors along an axis, broadcast to each other in all other dimensions.

    Parameters
    ----------
    tensor_list
        The tensors, with equally many dimensions.
    axis
        The axis.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.concat_with_broadcast([at.zeros((1, 2)), at.ones((3, 1))], axis=1).type.shape
    (3, 3)
    """
    tensors = _tensors("concat_with_broadcast", tensor_list)
    ndim = tensors[0].type.ndim
    if any(t.type.ndim != ndim for t in tensors):
        raise TypeError(f"concat_with_broadcast needs equally many dimensions; got {[t.type.ndim for t in tensors]}.")
    (axis,) = normalize_axes(axis, ndim)
    others = [[1 if k == axis else n for k, n in enumerate(sizes_of(t))] for t in tensors]
    # A dimension is broadcast where its length is known to be 1.
    common = [next((n for n in lengths if not (isinstance(n, int) and n == 1)), 1) for lengths in zip(*others)]
    parts = []
    for t in tensors:
        sizes = sizes_of(t)
        shape = [n if k == axis else common[k] for k, n in enumerate(sizes)]
        repeats = [n for k, n in enumerate(sizes) if k != axis and t.type.shape[k] == 1 and common[k] is not n]
        parts.append(broadcast_to(t, shape) if repeats else t)
    return concatenate(parts, axis=axis)


def slice_at_axis(sl: slice, axis: int) -> tuple[Any, ...]:
    """Return the index that applies a slice to an axis, counted from the front.

    Examples
    --------
    >>> slice_at_axis(slice(1, 3), 1)
    (slice(None, None, None), slice(1, 3, None), Ellipsis)
    """
    return (*[slice(None)] * axis, sl, ...) if axis >= 0 else (..., sl, *[slice(None)] * (-axis - 1))
