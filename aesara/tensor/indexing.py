"""What an index means: its parts as variables and literals, and what it leaves of a shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.type import Type
from aesara.scalar import ScalarConstant, ScalarType, as_scalar
from aesara.scalar import int64 as scalar_int64
from aesara.tensor.constant_value import get_scalar_constant_value, known_integer
from aesara.tensor.conversion import as_tensor_variable, constant
from aesara.tensor.elementwise_ops import eq, gt, lt, maximum, minimum, switch
from aesara.tensor.exceptions import AdvancedIndexingError, NotScalarConstantError
from aesara.tensor.scalar_conversion import scalar_from_tensor
from aesara.tensor.selection import static_broadcast
from aesara.tensor.type import TensorType, discrete_dtypes
from aesara.tensor.type_other import (
    MakeSlice,
    NoneConst,
    NoneTypeT,
    SliceConstant,
    SliceType,
    as_symbolic_slice,
)


__all__ = [
    "as_index_constant",
    "as_index_literal",
    "as_index_variable",
    "as_nontensor_scalar",
    "basic_shape",
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

FULL_SLICE = slice(None)


def get_slice_elements(idxs: Iterable[Any], cond: Callable[[Any], bool]) -> list[Any]:
    """Return the parts of indices, those of slices one by one, for which `cond` holds.

    Examples
    --------
    >>> get_slice_elements([1, slice(2, None, 3)], lambda part: part is not None)
    [1, 2, 3]
    """
    found = []
    for index in idxs:
        parts = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
        found.extend(part for part in parts if cond(part))
    return found


def as_index_constant(a: Any) -> Any:
    """Return an index in which the integers are scalar constants.

    Examples
    --------
    >>> int(as_index_constant(3).data)
    3
    """
    if a is None or isinstance(a, Variable):
        return a
    if isinstance(a, slice):
        return slice(*(as_index_constant(part) for part in (a.start, a.stop, a.step)))
    if isinstance(a, (int, np.integer)) and not isinstance(a, bool):
        return ScalarConstant(scalar_int64, np.asarray(a, dtype="int64"))
    return as_tensor_variable(a)


def as_index_literal(idx: Any) -> Any:
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
    raise NotScalarConstantError(f"The index {idx} is not made of constants.")


def as_nontensor_scalar(a: Any) -> Variable:
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
    if isinstance(idx, list) and not idx:
        idx = np.empty(0, dtype="int64")
    idx = as_tensor_variable(idx)
    if idx.type.dtype not in discrete_dtypes:
        raise TypeError(
            f"index must be integers or a boolean mask; got {idx} of dtype {idx.type.dtype}."
        )
    return idx


def is_basic_idx(idx: Any) -> bool:
    """Say whether an index is a slice or None.

    Examples
    --------
    >>> is_basic_idx(slice(1, 2)), is_basic_idx([0, 1])
    (True, False)
    """
    return (
        idx is None
        or isinstance(idx, slice)
        or isinstance(getattr(idx, "type", None), (SliceType, NoneTypeT))
    )


def is_mask(idx: Any) -> bool:
    """Say whether an index is a Boolean tensor."""
    return getattr(idx, "dtype", None) == "bool"


def is_scalar_integer(entry: Any) -> bool:
    """Say whether `entry` is an integer of any kind, and no Boolean."""
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


def index_vars_to_types(entry: Any, slice_ok: bool = True) -> Any:
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
        return slice(
            *(None if part is None else index_vars_to_types(part, False) for part in parts)
        )
    if isinstance(entry, (int, np.integer)):
        raise TypeError(
            f"A Subtensor template has types in place of integers; got {entry!r}."
        )
    found = entry.type if isinstance(entry, Variable) else entry
    if isinstance(found, ScalarType) and found.dtype in discrete_dtypes:
        return found
    if isinstance(found, TensorType) and found.dtype in discrete_dtypes and found.dtype != "bool":
        if all(found.broadcastable):
            return as_scalar_type(found.dtype)
    if isinstance(found, Type):
        raise AdvancedIndexingError(
            f"Expected an integer scalar in a basic index; got {entry}."
        )
    raise AdvancedIndexingError(f"Invalid index type or slice for Subtensor: {entry!r}.")


def as_scalar_type(dtype: str) -> ScalarType:
    """Return the scalar type of a dtype."""
    return ScalarType(dtype)


def indices_from_subtensor(
    op_indices: Iterable[Variable], idx_list: Sequence[Any] | None
) -> tuple[Any, ...]:
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

    def fill_in(part: Any) -> Any:
        return next(scalars) if isinstance(part, Type) else part

    return tuple(
        slice(fill_in(entry.start), fill_in(entry.stop), fill_in(entry.step))
        if isinstance(entry, slice)
        else fill_in(entry)
        for entry in idx_list
    )


def get_idx_list(inputs: Sequence[Any], idx_list: Sequence[Any]) -> tuple[Any, ...]:
    """Return the index of a `Subtensor` node from its inputs and its template.

    Examples
    --------
    >>> get_idx_list(["x", 3], [scalar_int64])
    (3,)
    """
    return indices_from_subtensor(inputs[1:], idx_list)


def get_constant_idx(
    idx_list: Sequence[Any],
    inputs: Sequence[Variable],
    allow_partial: bool = False,
    only_process_constants: bool = False,
    elemwise: bool = True,
) -> list[Any]:
    """Return the index of a `Subtensor` node with integers where they are known.

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
            value = get_scalar_constant_value(
                part, only_process_constants=only_process_constants, elemwise=elemwise
            )
        except NotScalarConstantError:
            if allow_partial:
                return part
            raise
        return value.item()

    return [
        slice(literal(entry.start), literal(entry.stop), literal(entry.step))
        if isinstance(entry, slice)
        else literal(entry)
        for entry in get_idx_list(inputs, idx_list)
    ]


def _plain(value: Any) -> Any:
    """Return an integer where `value` is known, a tensor otherwise, None for None."""
    if value is None or isinstance(getattr(value, "type", None), NoneTypeT):
        return None
    known = known_integer(value)
    return as_tensor_variable(value) if known is None else known


def _at_least(value: Any, bound: int) -> Any:
    return max(value, bound) if isinstance(value, int) else maximum(value, bound)


def _smaller(a: Any, b: Any) -> Any:
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
            return _at_least(length + value, shift)
        return _smaller(value, length + shift if shift else length)
    from_back = _at_least(length + value, shift)
    from_front = _smaller(value, length + shift if shift else length)
    return switch(lt(value, 0), from_back, from_front)


def _slice_bounds(start: Any, stop: Any, length: Any, forwards: bool) -> tuple[Any, Any]:
    if forwards:
        first = 0 if start is None else _bound(start, length, 0)
        last = length if stop is None else _bound(stop, length, 0)
        return first, last
    first = length - 1 if start is None else _bound(start, length, -1)
    last = -1 if stop is None else _bound(stop, length, -1)
    return first, last


def _count(first: Any, last: Any, step: Any) -> Any:
    """Return how many numbers there are from `first` to before `last` by `step` > 0."""
    span = last - first
    if not (isinstance(step, int) and step == 1):
        span = (span + (step - 1)) // step
    return _at_least(span, 0)


def slice_len(slc: slice, n: Any) -> Any:
    """Return how many entries a slice leaves of `n`.

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
            # No need to clip the start as well.
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
    """Return how many numbers ``range(slc.start, slc.stop, slc.step)`` has.

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


def _reversed_slice(start: Any, stop: Any, length: Any, stride: Any) -> slice:
    """Return a slice with what ``start:stop:-stride`` takes, from the smallest up."""
    first, last = _slice_bounds(start, stop, length, False)
    if isinstance(stride, int) and stride == 1:
        return slice(last + 1, first + 1, 1)
    count = _count(last, first, stride)
    # For an empty slice this is larger than `first`, so that the result is empty too.
    return slice(first - (count - 1) * stride, first + 1, stride)


def _as_result_size(size: Any) -> Any:
    return size if isinstance(size, Variable) else constant(size, dtype="int64")


def basic_shape(shape: Sequence[Any], indices: Sequence[Any]) -> tuple[Any, ...]:
    """Return what slices, None and integers leave of the dimensions that they index.

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
            return slice(
                *(None if isinstance(p.type, NoneTypeT) else p for p in index.owner.inputs)
            )
        raise NotScalarConstantError(f"The parts of the slice {index} are not known.")
    return None


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


def result_layout(indices: Sequence[Any]) -> tuple[list[tuple[int, Any]], list[tuple[int, Any]], int]:
    """Say which dimensions of the result of an advanced index come from where.

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


def indexed_result_shape(
    array_shape: Sequence[Any], indices: Sequence[Any], indices_are_shapes: bool = False
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
    kept = [
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
    made = list(_broadcast(shapes)) if shapes else []
    return (*kept[:position], *made, *kept[position:], *array_shape[n_indexed:])


class _ShapeOfIndex(tuple):
    """The shape of an index tensor, standing for the tensor."""


def _sizes_of_index(index: Any) -> list[tuple[Any, int | None]]:
    """Return the symbolic and the known sizes that an index tensor contributes."""
    if isinstance(index, _ShapeOfIndex):
        return [(size, known_integer(size)) for size in index]
    if is_mask(index):
        tensor = as_tensor_variable(index)
        return [(tensor.astype("int64").sum(), None)]
    tensor = as_tensor_variable(index)
    symbolic = None if None not in tensor.type.shape else tensor.shape
    return [
        (constant(known, dtype="int64") if known is not None else symbolic[axis], known)
        for axis, known in enumerate(tensor.type.shape)
    ]


def _broadcast(shapes: Sequence[Sequence[tuple[Any, int | None]]]) -> tuple[Any, ...]:
    ndim = max(len(shape) for shape in shapes)
    result = []
    for axis in range(-ndim, 0):
        candidates = [shape[axis] for shape in shapes if len(shape) >= -axis]
        not_one = [entry for entry in candidates if entry[1] != 1]
        known = [entry for entry in not_one if entry[1] is not None]
        if known or len(not_one) < 2:
            result.append((known or not_one or candidates)[0][0])
            continue
        # A size of one gives way to any other, zero included.
        size = not_one[0][0]
        for other, _ in not_one[1:]:
            if other is not size:
                size = switch(eq(size, 1), other, size)
        result.append(size)
    return tuple(result)


def check_advanced_indexing_dimensions(input: Any, idx_list: Sequence[Any]) -> None:
    """Check that Boolean masks have the sizes of the dimensions that they index.

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
            for offset, size in enumerate(index.shape):
                if dimension + offset >= input.ndim or size != input.shape[dimension + offset]:
                    raise IndexError(
                        f"boolean index did not match indexed array along dimension {dimension + offset}: "
                        f"the array has shape {input.shape} and the mask {index.shape}"
                    )
            dimension += index.ndim
        else:
            dimension += 1


def static_slice_length(slc: slice, size: int | None) -> int | None:
    """Return how many entries a slice leaves of `size`, if that is known.

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
            # A part is not known; of nothing, nothing is left all the same.
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
    """Check an integer index where it and the size of the dimension are known.

    Raises
    ------
    IndexError
        If it is out of bounds.
    """
    if size is None:
        return
    known = known_integer(index)
    if known is not None and not -size <= known < size:
        raise IndexError(
            f"index {known} is out of bounds for axis {dimension} with size {size}"
        )


def static_indexed_shape(shape: Sequence[int | None], indices: Sequence[Any]) -> tuple[int | None, ...]:
    """Return what is known of the shape after advanced indexing.

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
        (index.type.ndim if is_mask(index) else 1)
        for index in indices
        if not isinstance(index.type, NoneTypeT)
    )
    if n_indexed > len(shape):
        raise IndexError(
            f"too many indices for array: the tensor has {len(shape)} dimension(s), "
            f"but {n_indexed} are indexed"
        )
    basic, advanced, position = result_layout(indices)
    kept = [_static_size_kept(shape, dimension, index) for dimension, index in basic]
    made = [_static_sizes_made(shape, dimension, index) for dimension, index in advanced]
    try:
        made_shape = static_broadcast(*made)
    except ValueError as error:
        raise IndexError(
            f"shape mismatch: indexing arrays of shapes {made} cannot be broadcast together"
        ) from error
    return (*kept[:position], *made_shape, *kept[position:], *shape[n_indexed:])


def _static_size_kept(shape: Sequence[int | None], dimension: int, index: Variable) -> int | None:
    if isinstance(index.type, NoneTypeT):
        return 1
    try:
        slc = as_slice(index)
    except NotScalarConstantError:
        return None
    return static_slice_length(slc, shape[dimension])


def _static_sizes_made(
    shape: Sequence[int | None], dimension: int, index: Variable
) -> tuple[int | None, ...]:
    if is_mask(index):
        for offset, size in enumerate(index.type.shape):
            actual = shape[dimension + offset]
            if size is not None and actual is not None and size != actual:
                raise IndexError(
                    "boolean index did not match indexed array along dimension "
                    f"{dimension + offset}; its size is {actual}, but the mask has {size}"
                )
        return (int(np.count_nonzero(index.data)) if isinstance(index, Constant) else None,)
    size = shape[dimension]
    if isinstance(index, Constant) and size is not None and index.data.size:
        lowest, highest = int(index.data.min()), int(index.data.max())
        if lowest < -size or highest >= size:
            wrong = lowest if lowest < -size else highest
            raise IndexError(
                f"index {wrong} is out of bounds for axis {dimension} with size {size}"
            )
    return index.type.shape
