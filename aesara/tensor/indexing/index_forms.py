"""Indices as variables, as literals and as templates of types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.type import Type
from aesara.scalar import ScalarConstant, ScalarType, as_scalar
from aesara.scalar import int64 as scalar_int64
from aesara.scalar.var import ScalarLike
from aesara.tensor.core.constant_value import get_scalar_constant_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.scalar_conversion import scalar_from_tensor
from aesara.tensor.core.tensor_like import IndexEntry, TemplateEntry, TensorLike
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.exceptions import AdvancedIndexingError, NotScalarConstantError
from aesara.tensor.type_other import (
    MakeSlice,
    NoneConst,
    NoneTypeT,
    SliceConstant,
    SliceType,
    as_symbolic_slice,
)


def get_slice_elements(idxs: Iterable[TemplateEntry], cond: Callable[[Any], bool]) -> list[Any]:
    """Return the index entries, and the parts of slices, for which `cond` holds.

    Examples
    --------
    >>> get_slice_elements([1, slice(2, None, 3)], lambda part: part is not None)
    [1, 2, 3]
    """
    result: list[TemplateEntry] = []
    for index in idxs:
        parts = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
        result.extend(part for part in parts if cond(part))
    return result


def as_index_constant(a: TensorLike) -> Any:
    """Return an index with integers converted to scalar constants.

    Examples
    --------
    >>> int(as_index_constant(3).data)
    3
    """
    if a is None or isinstance(a, Variable):
        return a
    if isinstance(a, slice):
        return slice(*(as_index_constant(_within_int64(part)) for part in (a.start, a.stop, a.step)))
    if isinstance(a, (int, np.integer)) and not isinstance(a, bool):
        if a != _within_int64(a):
            raise IndexError(f"The index {a} is out of bounds for every tensor: it does not fit into int64.")
        return _integer_constant(int(a)).clone()
    return as_tensor_variable(a)


def _within_int64(part: IndexEntry) -> Any:
    """Return a part of a slice, clipped if it is an integer further off than any entry of a tensor."""
    return max(-(2**63), min(int(part), 2**63 - 1)) if isinstance(part, (int, np.integer)) else part


@lru_cache(maxsize=1024)
def _integer_constant(value: int) -> ScalarConstant:
    # Cache constants of small integers, and return clones, so that graphs do not share variables.
    return ScalarConstant(scalar_int64, np.asarray(value, dtype="int64"))


def as_index_literal(idx: IndexEntry) -> Any:
    """Return an index with only integers, None and slices of them in it.

    Raises
    ------
    NotScalarConstantError
        If a part is not a constant.

    Examples
    --------
    >>> as_index_literal(slice(as_index_constant(1), None))
    slice(1, None, None)
    """
    if idx is None or isinstance(getattr(idx, "type", None), NoneTypeT):
        return None
    if isinstance(idx, SliceConstant):
        return slice(*(as_index_literal(p) for p in (idx.data.start, idx.data.stop, idx.data.step)))
    if isinstance(idx, Constant):
        return idx.data.item() if isinstance(idx.data, (np.ndarray, np.generic)) else idx.data
    if isinstance(idx, (int, np.integer)):
        return int(idx)
    if isinstance(idx, np.ndarray) and idx.ndim == 0:
        return idx.item()
    owner = getattr(idx, "owner", None)
    if owner is not None and isinstance(owner.op, MakeSlice):
        idx = slice(*owner.inputs)
    if isinstance(idx, slice):
        return slice(*(as_index_literal(part) for part in (idx.start, idx.stop, idx.step)))
    raise NotScalarConstantError(f"The index {idx} is not constant.")


def as_nontensor_scalar(a: ScalarLike) -> Variable:
    """Return an index as a variable of a scalar type.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> as_nontensor_scalar(at.lscalar("i")).type
    ScalarType(int64)
    """
    if isinstance(a, Variable) and isinstance(a.type, TensorType):
        return scalar_from_tensor(a)
    if isinstance(a, (int, np.integer)) and not isinstance(a, bool):
        return as_index_constant(a)
    return as_scalar(a)


def as_index_variable(idx: Any) -> Variable:
    """Return an index of any kind as a variable.

    Raises
    ------
    TypeError
        If it is neither an integer nor a Boolean tensor, a slice or None.

    Examples
    --------
    >>> as_index_variable([0, 2]).type.shape
    (2,)
    """
    if idx is None:
        return NoneConst
    if isinstance(idx, slice):
        return as_symbolic_slice(idx)
    if isinstance(idx, Variable) and isinstance(idx.type, (SliceType, NoneTypeT)):
        return idx
    if isinstance(idx, (list, tuple)) and not idx:
        idx = np.empty(0, dtype="int64")
    idx = as_tensor_variable(idx)
    if idx.type.dtype not in discrete_dtypes:
        raise TypeError(f"index must be integers or a boolean mask; got {describe(idx)} of dtype {idx.type.dtype}.")
    return idx


def is_basic_idx(idx: IndexEntry) -> bool:
    """Return whether an index is a slice or None.

    Examples
    --------
    >>> is_basic_idx(slice(1, 2)), is_basic_idx([0, 1])
    (True, False)
    """
    return idx is None or isinstance(idx, slice) or isinstance(getattr(idx, "type", None), (SliceType, NoneTypeT))


def is_mask(idx: IndexEntry) -> bool:
    """Return whether an index is a Boolean tensor."""
    return getattr(idx, "dtype", None) == "bool"


def is_scalar_integer(entry: IndexEntry) -> bool:
    """Return whether `entry` is an integer of any kind, but not a Boolean."""
    if isinstance(entry, (bool, np.bool_)):
        return False
    if isinstance(entry, (int, np.integer)):
        return True
    if not isinstance(entry, Variable):
        return False
    if isinstance(entry.type, ScalarType):
        return entry.type.dtype in discrete_dtypes
    if isinstance(entry.type, TensorType) and entry.type.ndim == 0:
        return entry.type.dtype in discrete_dtypes and entry.type.dtype != "bool"
    return False


def index_vars_to_types(entry: IndexEntry, slice_ok: bool = True) -> Any:
    """Return an index with the types of the scalars in place of the scalars.

    Such an index is the template of a `Subtensor`.

    Raises
    ------
    AdvancedIndexingError
        If it is not a basic index.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> index_vars_to_types(slice(at.lscalar("i"), None))
    slice(ScalarType(int64), None, None)
    """
    if isinstance(entry, slice) and slice_ok:
        parts = (entry.start, entry.stop, entry.step)
        return slice(*(None if part is None else index_vars_to_types(part, False) for part in parts))
    if isinstance(entry, (int, np.integer)):
        raise TypeError(f"A Subtensor template has types in place of integers; got {entry!r}.")
    result = entry.type if isinstance(entry, Variable) else entry
    if isinstance(result, ScalarType) and result.dtype in discrete_dtypes:
        return result
    if isinstance(result, TensorType) and result.dtype in discrete_dtypes and result.dtype != "bool":
        if all(result.broadcastable):
            return as_scalar_type(result.dtype)
    if isinstance(result, Type):
        raise AdvancedIndexingError(f"Expected an integer scalar in a basic index; got {entry}.")
    raise AdvancedIndexingError(f"Invalid index type or slice for Subtensor: {entry!r}.")


def as_scalar_type(dtype: str) -> ScalarType:
    """Return the scalar type of a dtype."""
    return ScalarType(dtype)


def indices_from_subtensor(op_indices: Iterable[Any], idx_list: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return an index from a template and the scalars that belong into it.

    Parameters
    ----------
    op_indices
        The scalars, in the order in which the template has types for them.
    idx_list
        The template: types, and slices of types and None; without one the scalars
        are the index.

    Examples
    --------
    >>> indices_from_subtensor([1, 5], [slice(scalar_int64, None), scalar_int64])
    (slice(1, None, None), 5)
    """
    if idx_list is None:
        return tuple(op_indices)
    scalars = iter(op_indices)

    def fill_in(part: IndexEntry) -> Any:
        return next(scalars) if isinstance(part, Type) else part

    return tuple(
        slice(fill_in(entry.start), fill_in(entry.stop), fill_in(entry.step))
        if isinstance(entry, slice)
        else fill_in(entry)
        for entry in idx_list
    )


def get_idx_list(inputs: Sequence[Any], idx_list: Sequence[TemplateEntry]) -> tuple[Any, ...]:
    """Return the index of a `Subtensor` node from its inputs and its template.

    Examples
    --------
    >>> get_idx_list(["x", 3], [scalar_int64])
    (3,)
    """
    return indices_from_subtensor(inputs[1:], idx_list)


def get_constant_idx(
    idx_list: Sequence[TemplateEntry],
    inputs: Sequence[Variable],
    allow_partial: bool = False,
    only_process_constants: bool = False,
    elemwise: bool = True,
) -> list[Any]:
    """Return the index of a `Subtensor` node, with known scalars replaced by integers.

    Parameters
    ----------
    idx_list
        The template.
    inputs
        The inputs of the node.
    allow_partial
        Whether parts that are not known are returned as variables.
    only_process_constants, elemwise
        As for `get_scalar_constant_value`.

    Raises
    ------
    NotScalarConstantError
        If a part is not known, and `allow_partial` is false.
    """

    def literal(part: Any) -> Any:
        if part is None:
            return None
        try:
            value = get_scalar_constant_value(part, only_process_constants=only_process_constants, elemwise=elemwise)
        except NotScalarConstantError:
            if allow_partial:
                return part
            raise
        return None if value is None else value.item()

    return [
        slice(literal(entry.start), literal(entry.stop), literal(entry.step))
        if isinstance(entry, slice)
        else literal(entry)
        for entry in get_idx_list(inputs, idx_list)
    ]


def as_slice(index: Any) -> slice | None:
    """Return the slice that an index is, symbolic or not; None if it is none.

    Examples
    --------
    >>> as_slice(as_index_variable(slice(1, None)))
    slice(1, None, None)
    """
    if isinstance(index, slice):
        return index
    if isinstance(index, SliceConstant):
        return index.data
    if isinstance(getattr(index, "type", None), SliceType):
        if index.owner is not None and isinstance(index.owner.op, MakeSlice):
            return slice(*(None if isinstance(p.type, NoneTypeT) else p for p in index.owner.inputs))
        raise NotScalarConstantError(f"The parts of the slice {index} are not known.")
    return None
