"""Shape inference for indexing: lengths of slices, and shapes of indexed tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import IntegerLike, TemplateEntry, TensorLike
from aesara.tensor.elementwise.ops import gt, lt, maximum, minimum, switch
from aesara.tensor.indexing.index_facts import (
    FULL_SLICE,
    group_indices,
    mask_does_not_fit,
    mask_may_fit,
    result_layout,
)
from aesara.tensor.indexing.index_forms import (
    as_index_constant,
    as_index_literal,
    as_index_variable,
    as_nontensor_scalar,
    as_slice,
    get_constant_idx,
    get_idx_list,
    get_slice_elements,
    index_vars_to_types,
    indices_from_subtensor,
    is_basic_idx,
    is_mask,
    is_scalar_integer,
)
from aesara.tensor.indexing.selection import broadcast_sizes
from aesara.tensor.type_other import NoneTypeT

__all__ = [
    "as_index_constant",
    "as_index_literal",
    "as_index_variable",
    "as_nontensor_scalar",
    "basic_shape",
    "check_advanced_indexing_dimensions",
    "get_canonical_form_slice",
    "get_constant_idx",
    "get_idx_list",
    "get_slice_elements",
    "group_indices",
    "index_vars_to_types",
    "indexed_result_shape",
    "indices_from_subtensor",
    "is_basic_idx",
    "range_len",
    "slice_len",
]


#: The largest length of a tensor; positions beyond it are clipped.
LARGEST = 2**63 - 1


def _plain(value: IntegerLike) -> Any:
    """Return an integer where `value` is known, a tensor otherwise, None for None."""
    if value is None or isinstance(getattr(value, "type", None), NoneTypeT):
        return None
    known = known_integer(value)
    if known is not None:
        return max(-LARGEST, min(known, LARGEST))
    value = as_tensor_variable(value)
    if value.type.dtype == "uint64":
        value = minimum(value, constant(LARGEST, dtype="uint64"))
    # In a signed type that holds all sizes, whatever the type of the index.
    return cast(value, "int64")


def _at_least(value: IntegerLike, bound: int) -> Any:
    return max(value, bound) if isinstance(value, int) else maximum(value, bound)


def _smaller(a: TensorLike, b: TensorLike) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else minimum(a, b)


def _bound(value: Any, length: Any, shift: int) -> Any:
    """Return a start or a stop, counted from the front and clipped.

    The range is 0 to `length` for a shift of 0 (positive steps), and -1 to
    ``length - 1`` for a shift of -1 (negative steps).
    """
    if isinstance(value, int):
        if value == 0 and shift == 0:
            return 0
        if value < 0:
            # The same expression as the length of a slice that starts there.
            return _at_least(length - -value, shift)
        return _smaller(value, length + shift if shift else length)
    from_back = _at_least(length + value, shift)
    from_front = _smaller(value, length + shift if shift else length)
    return switch(lt(value, 0), from_back, from_front)


def _slice_bounds(start: IntegerLike, stop: IntegerLike, length: IntegerLike, forwards: bool) -> tuple[Any, Any]:
    if forwards:
        first = 0 if start is None else _bound(start, length, 0)
        last = length if stop is None else _bound(stop, length, 0)
        return first, last
    first = length - 1 if start is None else _bound(start, length, -1)
    last = -1 if stop is None else _bound(stop, length, -1)
    return first, last


def _count(first: Any, last: Any, step: Any) -> Any:
    """Return the length of ``range(first, last, step)`` for `step` > 0."""
    span = last - first
    if not (isinstance(step, int) and step == 1):
        span = (span + (step - 1)) // step
    return _at_least(span, 0)


def slice_len(slc: slice, n: IntegerLike) -> Any:
    """Return the length of a slice of a dimension of length `n`.

    Parameters
    ----------
    slc
        A slice, possibly symbolic.
    n
        The size of the dimension; an integer or a scalar variable.

    Returns
    -------
    int or TensorVariable
        An integer if all parts are known.

    Examples
    --------
    >>> slice_len(slice(1, None, 2), 6)
    3
    """
    start, stop, step = (_plain(part) for part in (slc.start, slc.stop, slc.step))
    step = 1 if step is None else step
    length = _plain(n)
    if isinstance(step, int):
        if step == 0:
            raise ValueError("The step of a slice cannot be zero.")
        if step == 1 and stop is None and isinstance(start, int) and start >= 0:
            # The start needs no clipping then.
            return length if start == 0 else _at_least(length - start, 0)
        first, last = _slice_bounds(start, stop, length, step > 0)
        if step == 1 and isinstance(first, int) and first == 0:
            # A stop that was clipped is not negative.
            return last
        return _count(first, last, step) if step > 0 else _count(last, first, -step)
    first, last = _slice_bounds(start, stop, length, True)
    upwards = _count(first, last, step)
    first, last = _slice_bounds(start, stop, length, False)
    return switch(gt(step, 0), upwards, _count(last, first, -step))


def range_len(slc: slice) -> Any:
    """Return the length of ``range(slc.start, slc.stop, slc.step)``.

    Examples
    --------
    >>> range_len(slice(0, 10, 3))
    4
    """
    start, stop, step = (_plain(part) for part in (slc.start, slc.stop, slc.step))
    start = 0 if start is None else start
    step = 1 if step is None else step
    if isinstance(step, int):
        return _count(start, stop, step) if step > 0 else _count(stop, start, -step)
    return switch(gt(step, 0), _count(start, stop, step), _count(stop, start, -step))


def get_canonical_form_slice(theslice: Any, length: Any) -> tuple[Any, Any]:
    """Return an index in a form without negative numbers.

    Parameters
    ----------
    theslice
        A slice, or an integer.
    length
        The size of the dimension.

    Returns
    -------
    index
        An integer, or a slice with ``0 <= start``, ``stop <= length`` and a positive
        step.
    direction
        1, or -1 if what the slice takes has to be reversed.

    Examples
    --------
    >>> get_canonical_form_slice(slice(None, None, -1), 5)
    (slice(0, 5, 1), -1)
    """
    length = _plain(length)
    if not isinstance(theslice, slice):
        index = _plain(theslice)
        if isinstance(index, int):
            return (index + length if index < 0 else index), 1
        return switch(lt(index, 0), index + length, index), 1
    start, stop, step = (_plain(p) for p in (theslice.start, theslice.stop, theslice.step))
    step = 1 if step is None else step
    if isinstance(step, int):
        if step == 0:
            raise ValueError("The step of a slice cannot be zero.")
        if step > 0:
            return slice(*_slice_bounds(start, stop, length, True), step), 1
        return _reversed_slice(start, stop, length, -step), -1
    upwards = _slice_bounds(start, stop, length, True)
    downwards = _reversed_slice(start, stop, length, -step)
    is_up = gt(step, 0)
    canonical = slice(
        switch(is_up, upwards[0], downwards.start),
        switch(is_up, upwards[1], downwards.stop),
        switch(is_up, step, -step),
    )
    return canonical, switch(is_up, 1, -1)


def _reversed_slice(start: IntegerLike, stop: IntegerLike, length: IntegerLike, stride: IntegerLike) -> slice:
    """Return a slice with positive step that selects the same entries as ``start:stop:-stride``, in reverse order."""
    first, last = _slice_bounds(start, stop, length, False)
    if isinstance(stride, int) and stride == 1:
        return slice(last + 1, first + 1, 1)
    count = _count(last, first, stride)
    # For an empty slice this is larger than `first`, so that the result is empty too.
    return slice(first - (count - 1) * stride, first + 1, stride)


def _as_result_size(size: IntegerLike) -> Any:
    return size if isinstance(size, Variable) else constant(size, dtype="int64")


def basic_shape(shape: Sequence[Any], indices: Sequence[Any]) -> tuple[Any, ...]:
    """Return the shape of the dimensions that are indexed by slices, None and integers.

    Parameters
    ----------
    shape
        The sizes.
    indices
        A basic index; dimensions beyond it are not part of the result.

    Examples
    --------
    >>> as_index_literal(basic_shape((5, 3), (slice(1, None), None))[0])
    4
    """
    sizes = iter(shape)
    result = []
    for index in indices:
        if index is None or isinstance(getattr(index, "type", None), NoneTypeT):
            result.append(constant(1, dtype="int64"))
            continue
        size = next(sizes)
        slc = as_slice(index)
        if slc is not None:
            result.append(size if slc == FULL_SLICE else _as_result_size(slice_len(slc, size)))
        elif not is_scalar_integer(index):
            raise ValueError(f"Invalid index for basic indexing: {index!r}.")
    return tuple(result)


def indexed_result_shape(
    array_shape: Sequence[IntegerLike], indices: Sequence[Any], indices_are_shapes: bool = False
) -> tuple[Any, ...]:
    """Return the sizes of an indexed tensor.

    Parameters
    ----------
    array_shape
        The sizes of the tensor.
    indices
        The index; slices, None and tensors.
    indices_are_shapes
        Whether the shapes of the tensors stand in `indices` instead of them.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(indexed_result_shape((4, 5), (at.lvector("i"), slice(None))))
    2
    """
    basic, advanced, position = result_layout(
        [_ShapeOfIndex(index) if isinstance(index, tuple) else index for index in indices]
        if indices_are_shapes
        else indices
    )
    basic_sizes = [
        constant(1, dtype="int64")
        if index is None or isinstance(getattr(index, "type", None), NoneTypeT)
        else basic_shape((array_shape[dimension],), (index,))[0]
        for dimension, index in basic
    ]
    n_indexed = sum(
        index.ndim if is_mask(index) else 1
        for index in indices
        if index is not None and not isinstance(getattr(index, "type", None), NoneTypeT)
    )
    shapes = [_sizes_of_index(index) for _, index in advanced]
    advanced_sizes = broadcast_sizes(*shapes) if shapes else ()
    return (*basic_sizes[:position], *advanced_sizes, *basic_sizes[position:], *array_shape[n_indexed:])


class _ShapeOfIndex(tuple):
    """The shape of an index tensor, standing for the tensor."""


def _sizes_of_index(index: Any) -> tuple[Sequence[Any], Sequence[int | None]]:
    """Return the sizes and the static shape of the dimensions that an index tensor contributes."""
    if isinstance(index, _ShapeOfIndex):
        return index, [known_integer(size) for size in index]
    tensor = as_tensor_variable(index)
    if is_mask(index):
        return [tensor.astype("int64").sum()], [None]
    if None not in tensor.type.shape:
        return [constant(size, dtype="int64") for size in tensor.type.shape], tensor.type.shape
    symbolic = tensor.shape
    return [symbolic[axis] for axis in range(tensor.type.ndim)], tensor.type.shape


def check_advanced_indexing_dimensions(input: Any, idx_list: Sequence[TemplateEntry]) -> None:
    """Check that Boolean masks have the sizes of the dimensions that they index, or sizes of 0.

    Parameters
    ----------
    input
        An array.
    idx_list
        The index: arrays, slices and None.

    Raises
    ------
    IndexError
        If a mask does not fit.
    """
    dimension = 0
    for index in idx_list:
        if index is None or (isinstance(index, np.ndarray) and index.dtype == bool and index.ndim == 0):
            continue
        if isinstance(index, np.ndarray) and index.dtype == bool:
            for offset, size in enumerate(index.shape, dimension):
                if offset >= input.ndim:
                    raise IndexError(
                        f"too many indices for array: it has {input.ndim} dimension(s), and a boolean index "
                        f"of shape {index.shape} takes those from {dimension} on"
                    )
                if not mask_may_fit(input.shape[offset], size):
                    raise IndexError(mask_does_not_fit(offset, input.shape[offset], size))
            dimension += index.ndim
        else:
            dimension += 1
