"""Regions that an index selects: shape, and the map from an index into the region to one into the operand.

An index is parsed into *parts*, one for each indexed dimension of the operand and each new axis; a mask covers several
dimensions.  Index arrays are checked before the loops, by their smallest and largest entry, so that loops have no
branches.  Positions of the true entries of a mask are in range if the mask has the shape of the dimensions it covers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import broadcast_shape, operand_index
from aesara.lower.context import Context
from aesara.lower.errors import Exemption, Unsupported
from aesara.lower.ranges import may_be_negative, require_range
from aesara.lower.reductions.careduce import convert
from aesara.lower.sequences.sequential import flat_positions
from aesara.records import dataclass
from aesara.scalar.types import ScalarType
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_like import TemplateEntry
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.index_forms import get_slice_elements
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.type_other import MakeSlice, NoneTypeT, SliceConstant

__all__ = [
    "IntegerIndex",
    "Gather",
    "IndexRange",
    "NewAxis",
    "Region",
    "advanced_region",
    "basic_region",
    "is_full_slice",
    "is_known_empty",
    "require_mask_shape",
]


@dataclass(frozen=True)
class IndexRange:
    """A slice of a dimension: start + step * i for i < length."""

    start: Expr
    step: Expr
    length: Expr


@dataclass(frozen=True)
class IntegerIndex:
    """An integer index into a dimension."""

    position: Expr


@dataclass(frozen=True)
class Gather:
    """An integer array that indexes a dimension of size `size`; `operand` is its number among the index arrays.

    It indexes `rank` dimensions, raveled to one.
    """

    operand: int
    size: Expr
    may_be_negative: bool
    rank: int = 1

    def entry(self, index: Index, readers: Sequence[Reader]) -> Expr:
        """Return the position that an entry of the array selects."""
        entry = cast(readers[self.operand](index), "int64")
        if not self.may_be_negative:
            return entry
        return primitive("select", entry < ZERO, entry + self.size, entry)


@dataclass(frozen=True)
class NewAxis:
    """A new axis of length 1."""


#: the part of an index for a dimension of the operand, several raveled dimensions, or a new axis
Part = IndexRange | IntegerIndex | Gather | NewAxis


@dataclass(frozen=True)
class Region:
    """The region of an operand that an index selects; `locate` maps an index into it to one into the operand."""

    shape: tuple[Expr, ...]
    arrays: tuple[Array, ...]
    locate: Callable[[Index, Sequence[Reader]], Index]
    guards: tuple[object, ...]
    parts: tuple[Part, ...]

    @property
    def steps(self) -> tuple[Expr, ...]:
        """The steps of slices, which are not 0."""
        return tuple(part.step for part in self.parts if isinstance(part, IndexRange))

    @property
    def is_flat(self) -> bool:
        """True if raveled dimensions are indexed, so that the operand must be materialized."""
        return any(isinstance(part, Gather) and part.rank > 1 for part in self.parts)


# -- basic indices ---------------------------------------------------------------------------------------------


def _scalar(variable: Variable | None, context: Context) -> Expr | None:
    return None if variable is None else context.size_from(context.array(variable))


def _position(index: Expr, size: Expr, node: Apply, axis: int, context: Context) -> tuple[Expr, list[object]]:
    """Normalize a negative index; return it with the check that it is in range."""
    if index.is_const:
        position = index + size if index.attr < 0 else index
    else:
        position = primitive("select", index < ZERO, index + size, index)
    inside = (position >= ZERO) & (position < size)
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    if position.is_const and size.is_const and 0 <= position.attr < size.attr:
        return position, []
    return position, list(context.guard(inside, IndexError, message, node, [index, size]))


def _slice_bound(bound: Expr | None, default: Expr, size: Expr) -> Expr:
    """Return a bound of a slice, after adding `size` to negative ones."""
    if bound is None:
        return default
    return primitive("select", bound < ZERO, bound + size, bound)


def _clamp(value: Expr, low: Expr, high: Expr) -> Expr:
    if value is low or value is high:
        return value
    return primitive("minimum", primitive("maximum", value, low), high)


def _slice_range(
    start: Expr | None, stop: Expr | None, step: Expr | None, size: Expr, node: Apply, context: Context
) -> tuple[IndexRange, list[object]]:
    """Return the range of a slice, as Python's `slice.indices` does."""
    step = ONE if step is None else step
    if step.is_const:
        if step.attr == 0:
            raise Unsupported("a slice with step 0")
        return _range_in_direction(start, stop, step, size, step.attr > 0), []
    guards = context.guard(primitive("ne", step, ZERO), ValueError, "slice step cannot be zero", node)
    up = _range_in_direction(start, stop, step, size, True)
    down = _range_in_direction(start, stop, step, size, False)
    forward = step > ZERO

    def pick(a: Expr, b: Expr) -> Expr:
        return primitive("select", forward, a, b)

    return IndexRange(pick(up.start, down.start), step, pick(up.length, down.length)), list(guards)


def _range_in_direction(start: Expr | None, stop: Expr | None, step: Expr, size: Expr, forward: bool) -> IndexRange:
    low, high = (ZERO, size) if forward else (const(-1), size - ONE)
    before, behind = (low, high) if forward else (high, low)
    first, last = _slice_bound(start, before, size), _slice_bound(stop, behind, size)
    span = _span(first, last, low, high) if forward else _span(last, first, low, high)
    first = _clamp(first, low, high)
    return IndexRange(first, step, _count(span, step, forward))


def _span(lower: Expr, upper: Expr, low: Expr, high: Expr) -> Expr:
    """Return the distance between bounds that are clamped to [low, high]; it is negative if `upper` is lower.

    Clamping each bound on one side is enough, unless the difference may wrap around.
    """
    span = primitive("minimum", upper, high) - primitive("maximum", lower, low)
    return span if span.is_bounded else _clamp(upper, low, high) - _clamp(lower, low, high)


def _count(span: Expr, step: Expr, forward: bool) -> Expr:
    """Return the number of elements in a span, without overflow for large steps."""
    if step.is_const:
        width: int = abs(step.attr)
        padded = primitive("maximum", span, ZERO) + (width - 1)
        if width == 1 or padded.is_bounded:
            return padded // width
    further = (span - ONE) // step if forward else (ONE - span) // step
    return primitive("select", span > ZERO, further + ONE, ZERO)


def _basic_parts(
    idx_list: Sequence[TemplateEntry], scalars: Iterator[Variable], array: Array, node: Apply, context: Context
) -> tuple[list[Part], list[object]]:
    parts: list[Part] = []
    guards: list[object] = []
    for axis, entry in enumerate(idx_list):
        size = array.shape[axis]
        operands = [next(scalars) for part in get_slice_elements([entry], _is_type)]
        chain = operands[0].owner if operands else None
        if chain is not None and isinstance(chain.op, ChainedIndex) and operands == chain.outputs:
            part, checks = compose_slices(chain, size, context)
        else:
            part, checks = _entry_part(entry, iter(operands), size, node, axis, context)
        parts.append(part)
        guards += checks
    for size in array.shape[len(parts) :]:
        parts.append(IndexRange(ZERO, ONE, size))
    return parts, guards


def _is_type(part: object) -> bool:
    return isinstance(part, ScalarType)


def _entry_part(
    entry: object, scalars: Iterator[Variable], size: Expr, node: Apply, axis: int, context: Context
) -> tuple[IndexRange | IntegerIndex, list[object]]:
    """Return the part for one entry of a basic index into a dimension of the given size."""
    if isinstance(entry, slice):
        start, stop, step = [_entry(b, scalars, context) for b in (entry.start, entry.stop, entry.step)]
        return _slice_range(start, stop, step, size, node, context)
    index = _entry(entry, scalars, context)
    assert index is not None
    position, checks = _position(index, size, node, axis, context)
    return IntegerIndex(position), checks


def compose_slices(node: Apply, size: Expr, context: Context) -> tuple[IndexRange | IntegerIndex, list[object]]:
    """Compose the successive slices (and integer) of a `ChainedIndex` into one part."""
    scalars = iter(node.inputs[1:])
    composed, guards = IndexRange(ZERO, ONE, size), list[object]()
    for entry in node.op.entries:
        part, checks = _entry_part(entry, scalars, composed.length, node, node.op.axis, context)
        guards += checks
        if isinstance(part, IntegerIndex):
            return IntegerIndex(composed.start + part.position * composed.step), guards
        start = composed.start + part.start * composed.step
        composed = IndexRange(start, composed.step * part.step, part.length)
    return composed, guards


def _entry(entry: object, scalars: Iterator[Variable], context: Context) -> Expr | None:
    if entry is None:
        return None
    if isinstance(entry, int):
        return const(entry)
    return _scalar(next(scalars), context)


# -- index arrays ----------------------------------------------------------------------------------------------


def _check_range(
    array: Array, size: Expr, node: Apply, axis: int, is_alone: bool, context: Context
) -> tuple[list[object], bool]:
    """Check that all entries are in range; return the checks, and whether entries may be negative.

    With other index arrays, entries that are broadcast to no elements may be out of range.
    """
    message = f"index {{3}} is out of bounds for axis {axis} with size {{2}}"
    exemption = None if is_alone or array.ndim == 0 else Exemption.NO_ELEMENTS
    guards = require_range(array, ZERO - size, size, IndexError, message, node, context, exemption=exemption)
    return list(guards), may_be_negative(array, context)


def is_known_empty(mask: Array) -> bool:
    """Return whether a dimension of a mask is known to be empty."""
    return any(size is ZERO for size in mask.shape)


def require_mask_shape(mask: Array, x: Array, axis: int, node: Apply, context: Context) -> list[object]:
    """Check that a mask has the sizes of the dimensions of `x` from `axis` on.

    NumPy accepts an empty mask for any size.  Unless it is known to be empty, the check fails, and the reference
    computes the call (`link.llvm.by_reference`), so that loops need no branch.
    """
    guards: list[object] = []
    for d, size in enumerate(mask.shape, axis):
        if size is ZERO:
            continue
        message = (
            f"boolean index did not match indexed array along axis {d}; size of axis is {{0}} but size of "
            "corresponding boolean axis is {1}"
        )
        guards += context.require_equal(x.shape[d], size, IndexError, message, node, Exemption.EMPTY_MASK)
    return guards


def _mask(variable: Variable, x: Array, axis: int, node: Apply, context: Context) -> tuple[Array, list[object]]:
    """Return the raveled positions of true entries of a mask, and the check that it fits."""
    mask = context.array(variable)
    guards = require_mask_shape(mask, x, axis, node, context)
    if isinstance(variable, Constant):
        return context.array(constant(np.flatnonzero(variable.data))), guards
    if mask.ndim:
        return flat_positions(mask, context), guards
    # A 0-d mask indexes no dimension, and adds one of length one or zero.
    count = context.size_from(context.add(convert(mask, "int64")))
    return context.add(Pointwise("int64", (count,), (), lambda index, readers: ZERO, 0)), guards


def _region(
    parts: Sequence[Part], arrays: Sequence[Array], index_shape: tuple[Expr, ...], guards: Sequence[object],
    context: Context,
) -> Region:  # fmt: skip
    """Build a region, with the dimensions of index arrays where NumPy puts them."""
    before, after = _kept_parts(parts)
    first, last = len(before), len(before) + len(index_shape)
    axis_of = {k: d for d, k in enumerate(before)} | {k: d for d, k in enumerate(after, last)}

    def length(k: int) -> Expr:
        part = parts[k]
        return part.length if isinstance(part, IndexRange) else ONE

    def locate(index: Index, readers: Sequence[Reader]) -> Index:
        position: list[Expr] = []
        for k, part in enumerate(parts):
            if isinstance(part, IndexRange):
                position.append(part.start + index[axis_of[k]] * part.step)
            elif isinstance(part, IntegerIndex):
                position.append(part.position)
            elif isinstance(part, Gather):
                # Memory is contiguous: the last of the raveled dimensions takes the whole offset.
                position += [ZERO] * (part.rank - 1)
                if part.rank:
                    array_index = operand_index(index[first:last], arrays[part.operand].shape, index_shape, context)
                    position.append(part.entry(array_index, readers))
        return tuple(position)

    shape = (*map(length, before), *index_shape, *map(length, after))
    return Region(shape, tuple(arrays), locate, tuple(guards), tuple(parts))


def _kept_parts(parts: Sequence[Part]) -> tuple[list[int], list[int]]:
    """Return the numbers of the slices and new axes before the dimensions of index arrays, and of those after.

    The dimensions of index arrays come first, unless these and integers are adjacent.
    """
    kept = [k for k, part in enumerate(parts) if isinstance(part, (IndexRange, NewAxis))]
    if not any(isinstance(part, Gather) for part in parts):
        return [], kept
    advanced = [k for k, part in enumerate(parts) if isinstance(part, (Gather, IntegerIndex))]
    adjacent = advanced[-1] - advanced[0] + 1 == len(advanced)
    before = [k for k in kept if adjacent and k < advanced[0]]
    return before, kept[len(before) :]


def basic_region(
    op: Subtensor | IncSubtensor, scalars: Sequence[Variable], x: Array, node: Apply, context: Context
) -> Region:
    parts, guards = _basic_parts(op.idx_list, iter(scalars), x, node, context)
    return _region(parts, (), (), guards, context)


def advanced_region(index: Sequence[Variable], x: Array, node: Apply, context: Context) -> Region:
    parts: list[Part] = []
    arrays: list[Array] = []
    guards: list[object] = []
    is_alone = sum(getattr(v.type, "dtype", None) is not None and v.type.ndim > 0 for v in index) < 2
    axis = 0
    for variable in index:
        if isinstance(variable.type, NoneTypeT):
            parts.append(NewAxis())
            continue
        bounds = _slice_bounds(variable, context)
        rank = 1
        if bounds is not None:
            part, checks = _slice_range(*bounds, x.shape[axis], node, context)
            parts.append(part)
        elif getattr(variable.type, "dtype", None) == "bool":
            rank = variable.type.ndim
            positions, checks = _mask(variable, x, axis, node, context)
            parts.append(Gather(len(arrays), ONE, False, rank))
            arrays.append(positions)
        else:
            if isinstance(variable.type, ScalarType):
                raise Unsupported(f"an index of type {variable.type}")
            array = context.array(variable)
            checks, negative = _check_range(array, x.shape[axis], node, axis, is_alone, context)
            parts.append(Gather(len(arrays), x.shape[axis], negative))
            arrays.append(array)
        guards += checks
        axis += rank
    for size in x.shape[axis:]:
        parts.append(IndexRange(ZERO, ONE, size))
    shape: tuple[Expr, ...] = ()
    if arrays:
        shape, checks = broadcast_shape([a.shape for a in arrays], IndexError, "index arrays", node, context)
        guards += checks
    return _region(parts, arrays, shape, guards, context)


def is_full_slice(variable: Variable) -> bool:
    """Return whether an index is the constant `slice(None)`."""
    return isinstance(variable, Constant) and isinstance(variable.data, slice) and variable.data == slice(None)


def _slice_bounds(variable: Variable, context: Context) -> tuple[Expr | None, Expr | None, Expr | None] | None:
    """Return the bounds of a slice, constant or built in the graph; None for other indices."""
    if isinstance(variable, (SliceConstant, Constant)) and isinstance(variable.data, slice):
        data = variable.data
        start, stop, step = [None if b is None else const(int(b)) for b in (data.start, data.stop, data.step)]
        return start, stop, step
    if variable.owner is not None and isinstance(variable.owner.op, MakeSlice):
        parts = variable.owner.inputs
        start, stop, step = [None if isinstance(v.type, NoneTypeT) else _scalar(v, context) for v in parts]
        return start, stop, step
    return None
