"""Static facts of an index: the axes its parts apply to, and the sizes of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Constant
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.index_forms import as_slice, is_basic_idx, is_mask
from aesara.tensor.indexing.selection import static_broadcast
from aesara.tensor.type_other import NoneTypeT

FULL_SLICE = slice(None)


def group_indices(indices: Sequence[Any]) -> list[tuple[bool, list[tuple[int, Any]]]]:
    """Group neighbouring indices by whether they are basic.

    Returns
    -------
    list of (bool, list of (int, index))
        For each group whether it is basic, and its indices with the dimension of the
        input that each belongs to.

    Examples
    --------
    >>> group_indices(([0, 1], slice(None)))
    [(False, [(0, [0, 1])]), (True, [(1, slice(None, None, None))])]
    """
    groups: list[tuple[bool, list[tuple[int, Any]]]] = []
    dimension = 0
    for index in indices:
        basic = is_basic_idx(index)
        if not groups or groups[-1][0] != basic:
            groups.append((basic, []))
        groups[-1][1].append((dimension, index))
        if index is not None and not isinstance(getattr(index, "type", None), NoneTypeT):
            dimension += index.ndim if is_mask(index) else 1
    return groups


def result_layout(indices: Sequence[IndexEntry]) -> tuple[list[tuple[int, Any]], list[tuple[int, Any]], int]:
    """Return the source of each dimension of the result of an advanced index.

    Returns
    -------
    basic
        The slices and None of the index, each with the dimension of the input.
    advanced
        The tensors of the index, each with the first dimension of the input it takes.
    position
        How many of the basic ones stand before the dimensions that the tensors make.
    """
    groups = group_indices(indices)
    basic = [entry for is_basic, group in groups if is_basic for entry in group]
    advanced = [entry for is_basic, group in groups if not is_basic for entry in group]
    n_advanced_groups = sum(not is_basic for is_basic, _ in groups)
    starts_basic = bool(groups) and groups[0][0]
    position = len(groups[0][1]) if starts_basic and n_advanced_groups == 1 else 0
    return basic, advanced, position


def mask_may_fit(size: int | None, of_mask: int | None) -> bool:
    """Return whether a mask may index a dimension, given their static lengths.

    As in NumPy, the length of the mask must be that of the dimension, or 0: an empty mask selects nothing.

    Examples
    --------
    >>> mask_may_fit(5, 5), mask_may_fit(5, 0), mask_may_fit(5, 1)
    (True, True, False)
    """
    return of_mask == 0 or None in (size, of_mask) or size == of_mask


def mask_does_not_fit(dimension: int, size: int, of_mask: int) -> str:
    """Return the text of the error of a mask with a wrong size."""
    return (
        f"boolean index did not match indexed array along axis {dimension}; size of axis is {size} but size of "
        f"corresponding boolean axis is {of_mask}"
    )


def static_slice_length(slc: slice, size: int | None) -> int | None:
    """Return the static length of a slice of a dimension, or None.

    Parameters
    ----------
    slc
        A slice of variables, integers and None.
    size
        The size of the dimension, None if it is unknown.

    Examples
    --------
    >>> static_slice_length(slice(None, None, 2), 5)
    3
    """
    if slc == FULL_SLICE:
        return size
    parts = []
    for part in (slc.start, slc.stop, slc.step):
        known = None if part is None else known_integer(part)
        if part is not None and known is None and not isinstance(getattr(part, "type", None), NoneTypeT):
            # A bound is unknown; the slice of an empty dimension is empty in any case.
            return 0 if size == 0 else None
        parts.append(known)
    start, stop, step = parts
    if step == 0:
        raise ValueError("The step of a slice cannot be zero.")
    if size is not None:
        return len(range(*slice(start, stop, step).indices(size)))
    return 0 if _is_empty_for_any_size(start, stop, 1 if step is None else step) else None


def _is_empty_for_any_size(start: int | None, stop: int | None, step: int) -> bool:
    if step < 0:
        start, stop = stop, start
        # 3:3:-1 is empty, and so is 2:5:-1, but 5:2:-1 is not.
        return start is not None and stop is not None and (start >= 0) == (stop >= 0) and start >= stop
    if stop == 0:
        return True
    return start is not None and stop is not None and (start >= 0) == (stop >= 0) and start >= stop


def check_static_index(index: Any, size: int | None, dimension: int) -> None:
    """Check an integer index if it and the length of the dimension are static.

    Raises
    ------
    IndexError
        If it is out of bounds.
    """
    if size is None:
        return
    known = known_integer(index)
    if known is not None and not -size <= known < size:
        raise IndexError(f"index {known} is out of bounds for axis {dimension} with size {size}")


def static_indexed_shape(shape: Sequence[int | None], indices: Sequence[Any]) -> tuple[int | None, ...]:
    """Return the static shape after advanced indexing.

    Parameters
    ----------
    shape
        The static shape of the tensor.
    indices
        Variables: tensors, slices, None.

    Raises
    ------
    IndexError
        If there are too many indices, or constants among them are out of bounds.
    """
    n_indexed = sum(
        (index.type.ndim if is_mask(index) else 1) for index in indices if not isinstance(index.type, NoneTypeT)
    )
    if n_indexed > len(shape):
        raise IndexError(
            f"too many indices for array: the tensor has {len(shape)} dimension(s), but {n_indexed} are indexed"
        )
    basic, advanced, position = result_layout(indices)
    basic_sizes = [_static_size_kept(shape, dimension, index) for dimension, index in basic]
    advanced_sizes = [_static_sizes_made(shape, dimension, index) for dimension, index in advanced]
    try:
        made_shape = static_broadcast(*advanced_sizes)
    except ValueError as error:
        raise IndexError(
            f"shape mismatch: indexing arrays of shapes {advanced_sizes} cannot be broadcast together"
        ) from error
    for dimension, index in advanced:
        if index.type.ndim == 0 or not (None in made_shape or 0 in made_shape):
            # Positions are not checked if the broadcast index is empty.
            _check_positions(shape, dimension, index)
    return (*basic_sizes[:position], *made_shape, *basic_sizes[position:], *shape[n_indexed:])


def _static_size_kept(shape: Sequence[int | None], dimension: int, index: TensorVariable) -> int | None:
    if isinstance(index.type, NoneTypeT):
        return 1
    try:
        slc = as_slice(index)
    except NotScalarConstantError:
        return None
    return None if slc is None else static_slice_length(slc, shape[dimension])


def _static_sizes_made(shape: Sequence[int | None], dimension: int, index: TensorVariable) -> tuple[int | None, ...]:
    if is_mask(index):
        for offset, size in enumerate(index.type.shape):
            actual = shape[dimension + offset]
            if not mask_may_fit(actual, size):
                assert actual is not None and size is not None
                raise IndexError(mask_does_not_fit(dimension + offset, actual, size))
        return (int(np.count_nonzero(index.data)) if isinstance(index, Constant) else None,)
    return index.type.shape


def _check_positions(shape: Sequence[int | None], dimension: int, index: TensorVariable) -> None:
    if not isinstance(index, Constant) or is_mask(index) or not index.data.size:
        return  # a mask without dimensions may stand behind the last dimension
    size = shape[dimension]
    if size is not None:
        lowest, highest = int(index.data.min()), int(index.data.max())
        if lowest < -size or highest >= size:
            wrong = lowest if lowest < -size else highest
            raise IndexError(f"index {wrong} is out of bounds for axis {dimension} with size {size}")
