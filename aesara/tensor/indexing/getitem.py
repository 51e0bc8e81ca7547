"""Conversion of ``x[...]`` to ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.index_facts import FULL_SLICE
from aesara.tensor.indexing.index_forms import (
    as_index_constant,
    as_index_variable,
    as_slice,
    get_slice_elements,
    is_mask,
    is_scalar_integer,
)
from aesara.tensor.indexing.subtensor_advanced import advanced_subtensor
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.type_other import NoneTypeT, SliceType


def getitem(x: Variable, args: Any) -> TensorVariable:
    """Return ``x[args]``, with NumPy's meaning.

    Parameters
    ----------
    x
        A tensor.
    args
        An index, or a tuple of them: integers, slices, None, Ellipsis, integer and
        Boolean arrays and lists; all but the last two may be symbolic, or symbolic in
        parts.

    Returns
    -------
    TensorVariable

    Raises
    ------
    IndexError
        If there are too many indices, or it is known that one is out of bounds.
    TypeError
        If an index is of a kind that does not index.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> getitem(at.matrix("x"), (slice(1, None), None, 0)).ndim
    2
    """
    if isinstance(args, list) and any(isinstance(arg, slice) for arg in args):
        args = tuple(args)
    elif not isinstance(args, tuple):
        args = (args,)
    entries = [_entry(arg) for arg in args]
    if any(_is_advanced(entry) for entry in entries):
        return _take_by_tensors(x, entries)
    entries = _without_ellipsis(entries, x.type.ndim)
    indices = [entry for entry in entries if entry is not None]
    if len(indices) == len(entries):
        return _basic_index(x, indices)
    part = x if all(_is_full_slice(entry) for entry in indices) else _basic_index(x, indices)
    # Index first and add new dimensions afterwards, so that set_subtensor can find the indexed tensor.
    dims = iter(range(part.type.ndim))
    pattern: list[Any] = []
    for entry in entries:
        if entry is None:
            pattern.append("x")
        elif isinstance(entry, slice):
            pattern.append(next(dims))
    return dimshuffle(part, [*pattern, *dims])


def _take_by_tensors(x: Variable, entries: list[IndexEntry]) -> TensorVariable:
    """Return the part of `x` that an index with tensors in it names."""
    separation = _empty_ellipsis(entries, x.type.ndim)
    if separation is None:
        return advanced_subtensor(x, *_without_ellipsis(entries, x.type.ndim))
    # x[i, ..., j] -> x[i, None, j] without the new dimension: both separate the advanced indices.
    entries = [None if entry is Ellipsis else entry for entry in entries]
    part = advanced_subtensor(x, *entries)
    basic = [i for i, entry in enumerate(entries) if not (_is_advanced(entry) or is_scalar_integer(entry))]
    n_basic = len(basic) + x.type.ndim - sum(_count_indexed_dims(entry) for entry in entries)
    dropped = part.type.ndim - n_basic + basic.index(separation)
    return dimshuffle(part, [axis for axis in range(part.type.ndim) if axis != dropped])


def _count_indexed_dims(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return entry.type.ndim if is_mask(entry) else 1


def _basic_index(x: Variable, entries: list[Any]) -> TensorVariable:
    """Return the part of `x` that integers and slices name."""
    index = [as_index_constant(entry) for entry in entries]
    return Subtensor(index)(x, *get_slice_elements(index, lambda part: part is not None))


def _is_full_slice(entry: IndexEntry) -> bool:
    if not isinstance(entry, slice):
        return False
    return entry.start is None and entry.stop is None and entry.step is None


def _entry(arg: IndexEntry) -> Any:
    """Return one index in one of few forms.

    These are None, Ellipsis, integers, slices, scalar variables, and tensor variables.
    """
    if arg is None or arg is Ellipsis:
        return arg
    if isinstance(arg, slice):
        return slice(*(_part_of_slice(part) for part in (arg.start, arg.stop, arg.step)))
    if isinstance(arg, (bool, np.bool_)) or (isinstance(arg, (list, tuple)) and _has_bool(arg)):
        raise TypeError(
            "TensorType does not support Python bools for indexing, such as "
            "tensor[[True, False]]. To use a boolean mask, convert the mask to a NumPy "
            "array first, e.g., tensor[numpy.array([True, False])]."
        )
    if isinstance(arg, (int, np.integer)):
        return int(arg)
    if isinstance(arg, np.ndarray) and arg.ndim == 0 and arg.dtype.kind in "iu":
        return int(arg)
    if isinstance(arg, Variable) and isinstance(arg.type, NoneTypeT):
        return None
    if isinstance(arg, Variable) and isinstance(arg.type, SliceType):
        try:
            return as_slice(arg)
        except NotScalarConstantError:
            return arg
    if is_scalar_integer(arg):
        return arg
    if isinstance(arg, (str, bytes, float, complex, dict)):
        raise TypeError(f"Expected an integer, a slice, None, Ellipsis or a tensor as index; got {describe(arg)}.")
    return as_index_variable(arg)


def _part_of_slice(part: IndexEntry) -> Any:
    if part is None or (isinstance(part, Variable) and isinstance(part.type, NoneTypeT)):
        return None
    if is_scalar_integer(part):
        return part
    if isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    raise TypeError(f"Expected an integer scalar or None in a slice; got {describe(part)}.")


def _has_bool(nested: Any) -> bool:
    pending = [nested]
    while pending:
        for entry in pending.pop():
            if isinstance(entry, (bool, np.bool_)):
                return True
            if isinstance(entry, (list, tuple)):
                pending.append(entry)
    return False


def _without_ellipsis(entries: list[IndexEntry], ndim: int) -> list[Any]:
    """Return the indices with an Ellipsis replaced by full slices."""
    positions = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(positions) > 1:
        raise IndexError("an index can only have a single Ellipsis (`...`)")
    n_indexed = sum(_count_indexed_dims(entry) for entry in entries)
    if n_indexed > ndim:
        raise IndexError(f"too many indices for array: the tensor has {ndim} dimension(s), but {n_indexed} are indexed")
    if not positions:
        return entries
    (position,) = positions
    filling = [FULL_SLICE] * (ndim - n_indexed)
    return [*entries[:position], *filling, *entries[position + 1 :]]


def _empty_ellipsis(entries: list[IndexEntry], ndim: int) -> int | None:
    """Return the position of an Ellipsis between advanced indices that stands for no dimension.

    In NumPy it separates the indices, so their dimensions become the first ones of the result.
    """
    position = next((i for i, entry in enumerate(entries) if entry is Ellipsis), None)
    if position is None or len(_without_ellipsis(entries, ndim)) >= len(entries):
        return None
    makes = [_is_advanced(entry) or is_scalar_integer(entry) for entry in entries]
    return position if any(makes[:position]) and any(makes[position:]) else None


def _is_advanced(entry: IndexEntry) -> bool:
    if not isinstance(entry, Variable):
        return False
    return isinstance(entry.type, SliceType) or not is_scalar_integer(entry)
