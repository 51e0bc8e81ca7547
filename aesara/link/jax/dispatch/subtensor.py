"""Conversions of indexing: reads, and writes that set or add.

JAX clamps indices that are out of bounds, or drops writes to them.  Here bounds are checked, and slices are normalized
as in NumPy, before JAX gets an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from aesara.graph.nodes import Apply, Variable
from aesara.link.jax.dispatch.basic import (
    Checks,
    NotAsAssumed,
    SizeUnknown,
    is_known,
    jax_funcify,
    perform_node,
    require,
    require_known,
)
from aesara.link.jax.dispatch.scalar import PRIMITIVES, cast
from aesara.link.jax.dispatch.slice_lengths import distance
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.index_facts import mask_does_not_fit, mask_may_fit, result_layout
from aesara.tensor.indexing.index_forms import as_slice, indices_from_subtensor, is_mask
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.type_other import MakeSlice

__all__ = ["Indexing", "integers"]

#: entries of an index: integers, integer arrays, masks, slices and None
Index = Sequence[Any]


def _to_numpy(value: Any) -> Any:
    """Convert a value to an array of NumPy, unless it is a tracer."""
    return value if value is None or isinstance(value, jax.core.Tracer) else np.asarray(value)


def integers(values: Any) -> Any:
    """Cast integers to the signed dtype of positions; larger ones are clamped."""
    values = np.asarray(values) if is_known(values) else values
    largest = np.iinfo(np.int64 if is_known(values) else jnp.int_).max
    if values.dtype.kind == "u" and np.iinfo(values.dtype).max > largest:
        values = (np if is_known(values) else jnp).minimum(values, values.dtype.type(largest))
    return values.astype(int)


def _slice_range(entry: slice, length: Any) -> tuple[Any, Any, int]:
    """Return first position, length and (known) step of a slice."""
    step = 1 if entry.step is None else int(require_known(entry.step, "The step of a slice"))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    lowest, highest = (0, length) if step > 0 else (-1, length - 1)

    def bound(value: Any, default: Any) -> Any:
        if value is None:
            return default
        value = integers(value)
        return jnp.clip(jnp.where(value < 0, value + length, value), lowest, highest)

    first = bound(entry.start, lowest if step > 0 else highest)
    last = bound(entry.stop, highest if step > 0 else lowest)
    return first, jnp.maximum((last - first + step - (1 if step > 0 else -1)) // step, 0), step


class _Location:
    """An index for JAX into a window of an array.

    Parameters
    ----------
    shape
        The shape of the array.

    Attributes
    ----------
    starts, sizes
        The window, initially the whole array.
    parts
        The index into the window: integers, integer arrays, known slices and None.
    mode
        Handling of integers out of bounds by JAX.
    selected
        Masks of the selected entries, each with its first dimension in the region.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.starts: list[Any] = [0] * len(shape)
        self.sizes = list(shape)
        self.parts: list[Any] = []
        self.mode = "promise_in_bounds"
        self.selected: list[tuple[int, Any]] = []

    def window(self, x: jax.Array) -> Any:
        return x if tuple(self.sizes) == x.shape else lax.dynamic_slice(x, self.starts, self.sizes)

    def read(self, window: Any) -> Any:
        return window.at[tuple(self.parts)].get(mode=self.mode)

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """Return whether the index selects the whole window, in order."""
        pairs = zip(self.parts, shape)
        return all(isinstance(part, slice) and range(n)[part] == range(n) for part, n in pairs)

    def put(self, x: jax.Array, window: Any) -> Any:
        return window if tuple(self.sizes) == x.shape else lax.dynamic_update_slice(x, window, self.starts)


class Indexing:
    """Reads and writes by the index of a node.

    Parameters
    ----------
    node
        The node.
    checks
        The run-time checks.
    slices
        For each entry of the index the slice of variables, or None.
    """

    def __init__(self, node: Apply | None, checks: Checks | None, slices: Sequence[slice | None] = ()) -> None:
        self.node = node
        self.checks = checks
        self.distances = [None if entry is None else distance(entry.start, entry.stop) for entry in slices]

    def read(self, x: jax.Array, index: Index) -> Any:
        """Return the region that an index selects."""
        x = jnp.asarray(x)
        location = self._locate(x.shape, index, None)
        return location.read(location.window(x))

    def write(self, x: jax.Array, y: jax.Array, index: Index, is_set: bool, only_once: bool = False) -> Any:
        """Return the array after a region is set to a value, or incremented.

        With `only_once`, duplicate indices increment only once.
        """
        x, y = jnp.asarray(x), jnp.asarray(cast(y, x.dtype.name))
        ndim = _region_ndim(x.ndim, index)
        if is_set and y.ndim > ndim and set(y.shape[: y.ndim - ndim]) == {1}:
            y = y.reshape(y.shape[y.ndim - ndim :])
        y = y.reshape((1,) * (ndim - y.ndim) + y.shape)
        masks = [k for k, entry in enumerate(index) if is_mask(entry) and isinstance(entry, jax.core.Tracer)]
        if len(masks) == 1 and not any(np.ndim(entry) for entry in index if not is_mask(entry)):
            return self._write_by_mask(x, y, index, masks[0], is_set)
        location = self._locate(x.shape, index, y.shape)
        return self._write_at(x, y, location, is_set, only_once)

    def _write_at(self, x: jax.Array, y: jax.Array, location: _Location, is_set: bool, only_once: bool) -> Any:
        window = location.window(x)
        _require_broadcastable(y.shape, _region_shape(window.shape, location.parts))
        is_once = not any(map(np.ndim, location.parts))
        if is_set or only_once:
            y, is_once = _last_of_each(window.shape, y, location.parts)
        if location.selected or (only_once and not is_set):
            part = location.read(window)
            y = y if is_set else PRIMITIVES["add"](part, y)
            for dimension, mask in location.selected:
                after = part.ndim - dimension - mask.ndim
                y = jnp.where(mask.reshape(mask.shape + (1,) * after), y, part)
            is_set = True
        if location.is_whole(window.shape):
            # XLA converts a scatter to the whole array to a `map`, and fails if it is reversed.
            y = jnp.broadcast_to(cast(y, str(x.dtype)), window.shape)
            return location.put(x, y if is_set else PRIMITIVES["add"](window, y))
        at = window.at[tuple(location.parts)]
        write = at.set if is_set else at.max if x.dtype == bool else at.add
        return location.put(x, write(y, mode=location.mode, unique_indices=is_once))

    def _write_by_mask(self, x: jax.Array, y: jax.Array, index: Index, k: int, is_set: bool) -> Any:
        """Write under an unknown mask; the other entries are integers, slices and None."""
        mask = self._require_mask_shape(index[k], x.shape, sum(_n_indexed(entry) for entry in index[:k]))
        axis = result_layout(index)[2]
        n_values = y.shape[axis]
        order = jnp.zeros(mask.shape, dtype=int)
        if n_values != 1:
            message = f"cannot assign {n_values} input values to the output values where the mask is true"
            self._require(mask.sum() == n_values, ValueError, message)
            order = jnp.cumsum(mask.reshape(-1)).reshape(mask.shape) - 1
        dimension = sum(entry is None or isinstance(entry, slice) for entry in index[:k])
        y = jnp.moveaxis(y, axis, dimension)
        if n_values == 0:
            shape = (*y.shape[:dimension], *mask.shape, *y.shape[dimension + 1 :])
        else:
            y = jnp.take(y, order, axis=dimension, mode="clip")
            shape = y.shape
        everything = (*index[:k], *[slice(None)] * mask.ndim, *index[k + 1 :])
        location = self._locate(x.shape, everything, shape)
        if n_values == 0:
            _require_broadcastable(shape, _region_shape(tuple(location.sizes), location.parts))
            return x
        location.selected.append((dimension, mask))
        return self._write_at(x, y, location, is_set, False)

    def _locate(self, shape: tuple[int, ...], index: Index, value_shape: tuple[int, ...] | None) -> _Location:
        """Convert an index to one for JAX; `value_shape` is that of a value to write, if any."""
        location = _Location(shape)
        axis = dimension = 0
        is_empty = any(_selects_nothing(entry) for entry in index)
        for k, entry in enumerate(index):
            if isinstance(entry, slice):
                wanted = None if value_shape is None else value_shape[dimension]
                span = self.distances[k] if self.distances else None
                part = self._slice(entry, axis, location, dimension, span, wanted)
                location.parts.append(part)
            elif is_mask(entry):
                mask = require_known(entry, "The number of the entries that a mask chooses")
                mask = self._require_mask_shape(mask, shape, axis)
                location.parts += [mask] if mask.ndim == 0 else np.nonzero(mask)
            elif is_empty and np.ndim(entry):
                location.parts.append(np.zeros(np.shape(entry), dtype=int))  # any positions are valid, as in NumPy
            else:
                location.parts.append(entry if entry is None else self._integers(entry, shape[axis], axis, location))
            axis += _n_indexed(entry)
            dimension += entry is None or isinstance(entry, slice)
        shapes = [np.shape(part) for part in location.parts if np.ndim(part)]
        if len({length for one in shapes for length in one} - {1}) > 1:
            _check_broadcast(shapes)
        return location

    def _require_mask_shape(self, mask: Any, shape: tuple[int, ...], axis: int) -> Any:
        """Check the shape of a mask; an empty mask fits any shape, as in NumPy."""
        wanted = shape[axis : axis + mask.ndim]
        for offset, (size, of_mask) in enumerate(zip(wanted, mask.shape), axis):
            if not mask_may_fit(size, of_mask):
                raise IndexError(mask_does_not_fit(offset, size, of_mask))
        return mask if mask.shape == wanted else np.zeros(wanted, dtype=bool)

    def _require(self, holds: Any, error: type[Exception], message: str) -> None:
        require(self.checks, holds, error, message, self.node)

    def in_bounds(self, entry: Any, length: int, axis: int) -> Any:
        """Normalize negative indices and check bounds; without checks, indices out of bounds become `length`."""
        entry = integers(_to_numpy(entry))
        holds = (entry >= -length) & (entry < length)
        if is_known(entry) and not np.all(holds):
            wrong = np.ravel(entry)[np.argmin(holds)]
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {length}")
        if length == 0 and np.size(entry):
            raise IndexError(f"index is out of bounds for axis {axis} with size 0")
        self._require(holds, IndexError, f"index is out of bounds for axis {axis} with size {length}")
        if is_known(entry):
            return np.where(entry < 0, entry + length, entry)
        from_front = jnp.where(entry < 0, entry + length, entry)
        return from_front if self.checks is not None else jnp.where(holds, from_front, length)

    def _integers(self, entry: Any, length: int, axis: int, location: _Location) -> Any:
        entry = self.in_bounds(entry, length, axis)
        if not is_known(entry) and self.checks is None:
            # Without checks, reads out of bounds are NaN.
            location.mode = "fill"
        return int(entry) if is_known(entry) and entry.ndim == 0 else entry

    def _slice(
        self, entry: slice, axis: int, location: _Location, dimension: int, distance: int | None, wanted: int | None
    ) -> slice:
        """Convert a slice to a known one; for an unknown start, the window shrinks to its range."""
        entry = slice(*map(_to_numpy, (entry.start, entry.stop, entry.step)))
        length = location.sizes[axis]
        if is_known(entry):
            return slice(*(None if part is None else int(part) for part in (entry.start, entry.stop, entry.step)))
        first, count, step = _slice_range(entry, length)
        if wanted == 1:
            offset = jnp.arange(length) - first
            selected = (offset % step == 0) & (offset // step >= 0) & (offset // step < count)
            location.selected.append((dimension, selected))
            return slice(None)
        if wanted is not None:
            message = (
                f"could not broadcast a value with {wanted} entries along dimension {dimension} to those of a slice"
            )
            self._require(count == wanted, ValueError, message)
        elif distance is not None and self.checks is not None and self.checks.assuming:
            wanted = max(0, min(-(-distance // step), -(-length // abs(step))))
            self._require(count == wanted, NotAsAssumed, "The slice does not extend beyond the dimension.")
        else:
            ends = [part for part in (entry.start, entry.stop) if part is not None and not is_known(part)]
            raise SizeUnknown("The length of a slice", ends)
        if wanted > length:
            raise ValueError(f"could not broadcast {wanted} entries of a value into a dimension of length {length}")
        if wanted == 0:
            return slice(0, 0)
        location.starts[axis] = first if step > 0 else first + (wanted - 1) * step
        location.sizes[axis] = (wanted - 1) * abs(step) + 1
        return slice(None, None, step)


def _check_broadcast(shapes: Sequence[tuple[int, ...]]) -> None:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError as error:
        text = " ".join(map(str, shapes))
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {text}"
        ) from error


def _region_shape(shape: tuple[int, ...], parts: Index) -> tuple[int, ...]:
    """Return the shape of the region that an index with valid integers selects."""
    index = [part if _is_basic(part) or is_mask(part) else np.zeros(np.shape(part), dtype=int) for part in parts]
    return np.broadcast_to(np.zeros(()), shape)[tuple(index)].shape


def _is_basic(part: Any) -> bool:
    return part is None or isinstance(part, slice)


def _require_broadcastable(shape: tuple[int, ...], region: tuple[int, ...]) -> None:
    """Check that a value broadcasts to a region, which JAX does not for an empty one."""
    for k, (size, wanted) in enumerate(zip(shape, region, strict=True)):
        if size not in (1, wanted):
            raise ValueError(
                f"could not broadcast the value into the indexed region: dimension {k} has size {size}, "
                f"expected {wanted}."
            )


def _selects_nothing(entry: Any) -> bool:
    """Return whether an entry of an index broadcasts the others to no elements."""
    if is_mask(entry):
        return entry.ndim > 0 and is_known(entry) and not np.any(entry)
    return not _is_basic(entry) and 0 in np.shape(entry)


def _n_indexed(entry: Any) -> int:
    """Return the number of dimensions that an entry of an index covers."""
    return 0 if entry is None else entry.ndim if is_mask(entry) else 1


def _region_ndim(ndim: int, index: Index) -> int:
    _, advanced, _ = result_layout(index)
    n_new = max((1 if is_mask(entry) else np.ndim(entry) for _, entry in advanced), default=0)
    kept = sum(entry is None or isinstance(entry, slice) for entry in index)
    return kept + n_new + ndim - sum(map(_n_indexed, index))


def _last_of_each(shape: tuple[int, ...], y: jax.Array, parts: Index) -> tuple[Any, bool]:
    """Replace entries of a value at duplicate indices with the last one of each.

    The second result is True if there are no duplicates.
    """
    _, advanced, axis = result_layout(parts)
    arrays = [np.zeros(int(a), dtype=int) if is_mask(a) else a for _, a in advanced]
    lengths = [1 if is_mask(a) else shape[dimension] for dimension, a in advanced]
    index_shape = np.broadcast_shapes(*map(np.shape, arrays))
    index_ndim, n = len(index_shape), int(np.prod(index_shape))
    if n <= 1:
        return y, True
    if set(y.shape[axis : axis + index_ndim]) <= {1}:
        return y, False
    position: Any = 0
    for array, length in zip(arrays, lengths):
        position = position * length + array
    order = np.arange(n)
    total = int(np.prod(lengths))
    last: Any
    if is_known(position):
        position = np.broadcast_to(position, index_shape).reshape(-1)
        last = np.zeros(total, dtype=int)
        last[position] = order
        last = last[position]
        if np.array_equal(last, order):
            return y, True
    else:
        position = jnp.broadcast_to(position, index_shape).reshape(-1)
        last = jnp.zeros(total, dtype=int).at[position].max(order)[position]
    y = jnp.broadcast_to(y, y.shape[:axis] + index_shape + y.shape[axis + index_ndim :])
    flat = y.reshape(y.shape[:axis] + (n,) + y.shape[axis + index_ndim :])
    return jnp.take(flat, last, axis=axis, mode="clip").reshape(y.shape), False


def _fold_if_known(node: Apply, function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute nodes with known inputs by NumPy, others by `function`."""
    return lambda *values: perform_node(node, values) if all(map(is_known, values)) else function(*values)


def _slices_of(parts: Sequence[Variable]) -> list[slice | None]:
    found: list[slice | None] = []
    for part in parts:
        try:
            found.append(as_slice(part))
        except NotScalarConstantError:
            found.append(None)
    return found


@jax_funcify.register(Subtensor)
def jax_funcify_Subtensor(op: Subtensor, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Read the region that integers and slices select."""
    indexing = Indexing(node, checks, _slices_of(indices_from_subtensor(node.inputs[1:], op.idx_list)))

    def part(x: jax.Array, *scalars: Any) -> Any:
        return indexing.read(x, indices_from_subtensor(scalars, op.idx_list))

    return _fold_if_known(node, part)


@jax_funcify.register(IncSubtensor)
def jax_funcify_IncSubtensor(op: IncSubtensor, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Write to the region that integers and slices select."""
    indexing = Indexing(node, checks)

    def write(x: jax.Array, y: jax.Array, *scalars: Any) -> Any:
        return indexing.write(x, y, indices_from_subtensor(scalars, op.idx_list), op.set_instead_of_inc)

    return _fold_if_known(node, write)


@jax_funcify.register(AdvancedSubtensor)
@jax_funcify.register(AdvancedSubtensor1)
def jax_funcify_AdvancedSubtensor(op: Any, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Read the region that integers, masks, slices and None select."""
    indexing = Indexing(node, checks, _slices_of(node.inputs[1:]))
    return _fold_if_known(node, lambda x, *index: indexing.read(x, index))


@jax_funcify.register(AdvancedIncSubtensor)
@jax_funcify.register(AdvancedIncSubtensor1)
def jax_funcify_AdvancedIncSubtensor(op: Any, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Write to the region that integers, masks, slices and None select."""
    indexing = Indexing(node, checks)
    only_once = getattr(op, "ignore_duplicates", False)

    def write(x: jax.Array, y: jax.Array, *index: Any) -> Any:
        return indexing.write(x, y, index, op.set_instead_of_inc, only_once)

    return _fold_if_known(node, write)


@jax_funcify.register(MakeSlice)
def jax_funcify_MakeSlice(op: MakeSlice, **kwargs: Any) -> Callable[..., Any]:
    """Return a slice of Python."""
    return slice


@jax_funcify.register(ChainedIndex)
def jax_funcify_ChainedIndex(op: ChainedIndex, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Compose successive slices of one axis; bounds must be known unless the last entry is an integer."""

    def compose(x: jax.Array, *scalars: Any) -> Any:
        scalars = tuple(map(_to_numpy, scalars))
        if op.is_slice:
            scalars = tuple(require_known(scalar, "A slice of a slice") for scalar in scalars)
        if all(map(is_known, scalars)):
            cells: list[list[Any]] = [[None] for _ in node.outputs]
            op.perform(node, [x, *scalars], cells)  # needs only the shape of the array
            return [np.asarray(cell[0]) for cell in cells]
        *slices, entry = op.index_of(scalars)
        first, count, step = 0, x.shape[op.dimension], 1
        for one in slices:
            start, count, stride = _slice_range(one, count)
            first, step = first + step * start, step * stride
        entry = integers(entry)
        holds = (entry >= -count) & (entry < count)
        require(checks, holds, IndexError, f"index is out of bounds for axis {op.axis}", node)
        return first + step * jnp.where(entry < 0, entry + count, entry)

    return compose
