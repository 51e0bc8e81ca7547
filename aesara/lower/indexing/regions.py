"""What an index selects of an array: its shape, and where an element of it lies.

An index is read into *parts*, one for each dimension of the operand and each new axis; a mask takes several at once.
Bounds of index arrays are checked before the loops, by their smallest and largest entry, so that the loops themselves
are free of branches; positions of the true entries of a mask are in range if the mask has the shape of what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import broadcast_shape, index_along
from aesara.lower.context import Context, Exemption, Unsupported
from aesara.lower.ranges import may_be_negative, require_range
from aesara.lower.reductions.careduce import converted
from aesara.lower.sequences.sequential import flat_positions
from aesara.records import dataclass
from aesara.scalar.types import ScalarType
from aesara.tensor.core.conversion import constant
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.index_forms import get_slice_elements
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.type_other import MakeSlice, NoneTypeT, SliceConstant

__all__ = [
    "At",
    "Gather",
    "IndexRange",
    "New",
    "Region",
    "advanced_region",
    "basic_region",
    "is_full_slice",
    "is_known_empty",
    "mask_fits",
]


@dataclass(frozen=True)
class IndexRange:
    """A slice of a dimension: start + step * i for i < length."""

    start: Expr
    step: Expr
    length: Expr


@dataclass(frozen=True)
class At:
    """One position along a dimension."""

    position: Expr


@dataclass(frozen=True)
class Gather:
    """An integer array along a dimension of size `size`; `operand` is its number among the index arrays.

    It takes `rank` dimensions: the positions are those in all of them in a row.
    """

    operand: int
    size: Expr
    negative: bool
    rank: int = 1


@dataclass(frozen=True)
class New:
    """A new axis of length 1."""


@dataclass(frozen=True)
class Region:
    """What an index selects: its shape, the index arrays, and where an element of it lies in the operand."""

    shape: tuple[Expr, ...]
    arrays: tuple[Array, ...]
    locate: Callable[[Index, Sequence[Reader]], Index]
    guards: tuple[object, ...]
    parts: tuple[object, ...]

    @property
    def steps(self) -> tuple[Expr, ...]:
        """The steps of its slices, which are not 0."""
        return tuple(part.step for part in self.parts if isinstance(part, IndexRange))

    @property
    def is_flat(self) -> bool:
        """Whether several dimensions are indexed in a row, so that what is indexed has to be in memory."""
        return any(isinstance(part, Gather) and part.rank > 1 for part in self.parts)


# -- reading indices -------------------------------------------------------------------------------------------


def _scalar(variable: Variable | None, context: Context) -> Expr | None:
    return None if variable is None else context.size_from(context.array(variable))


def _position(index: Expr, size: Expr, node: Apply, axis: int, context: Context) -> tuple[Expr, list[object]]:
    """An integer index counted from the front, and the check that it is in range."""
    if index.is_const:
        place = index + size if index.attr < 0 else index
    else:
        place = primitive("select", index < ZERO, index + size, index)
    inside = (place >= ZERO) & (place < size)
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    if place.is_const and size.is_const and 0 <= place.attr < size.attr:
        return place, []
    return place, list(context.guard(inside, IndexError, message, node, [index, size]))


def _from_front(bound: Expr | None, otherwise: Expr, size: Expr) -> Expr:
    """A slice's bound: negative ones count from the end."""
    if bound is None:
        return otherwise
    return primitive("select", bound < ZERO, bound + size, bound)


def _clamped(place: Expr, low: Expr, high: Expr) -> Expr:
    if place is low or place is high:
        return place
    return primitive("minimum", primitive("maximum", place, low), high)


def _run(
    start: Expr | None, stop: Expr | None, step: Expr | None, size: Expr, node: Apply, context: Context
) -> tuple[IndexRange, list[object]]:
    """A slice of a dimension of the given size, as Python's `slice.indices` has it."""
    step = ONE if step is None else step
    if step.is_const:
        if step.attr == 0:
            raise Unsupported("a slice with step 0")
        return _directed(start, stop, step, size, step.attr > 0), []
    guards = context.guard(primitive("ne", step, ZERO), ValueError, "slice step cannot be zero", node)
    up, down = _directed(start, stop, step, size, True), _directed(start, stop, step, size, False)
    forward = step > ZERO

    def pick(a: Expr, b: Expr) -> Expr:
        return primitive("select", forward, a, b)

    return IndexRange(pick(up.start, down.start), step, pick(up.length, down.length)), list(guards)


def _directed(start: Expr | None, stop: Expr | None, step: Expr, size: Expr, forward: bool) -> IndexRange:
    low, high = (ZERO, size) if forward else (const(-1), size - ONE)
    before, behind = (low, high) if forward else (high, low)
    first, last = _from_front(start, before, size), _from_front(stop, behind, size)
    span = _span(first, last, low, high) if forward else _span(last, first, low, high)
    first = _clamped(first, low, high)
    return IndexRange(first, step, _steps(span, step, forward))


def _span(lower: Expr, upper: Expr, low: Expr, high: Expr) -> Expr:
    """The distance of two bounds that are moved into [low, high]; negative for any that it is, if `upper` is lower.

    To move each bound from one side is enough, if the difference does not wrap then.
    """
    span = primitive("minimum", upper, high) - primitive("maximum", lower, low)
    return span if span.is_bounded else _clamped(upper, low, high) - _clamped(lower, low, high)


def _steps(span: Expr, step: Expr, forward: bool) -> Expr:
    """Number of elements in a span; where sizes are not known to be small, in a form that no step makes overflow."""
    if step.is_const:
        width: int = abs(step.attr)
        padded = primitive("maximum", span, ZERO) + (width - 1)
        if width == 1 or padded.is_bounded:
            return padded // width
    further = (span - ONE) // step if forward else (ONE - span) // step
    return primitive("select", span > ZERO, further + ONE, ZERO)


def _basic_parts(
    idx_list: Sequence[object], scalars: Iterator[Variable], array: Array, node: Apply, context: Context
) -> tuple[list[object], list[object]]:
    parts: list[object] = []
    guards: list[object] = []
    for axis, entry in enumerate(idx_list):
        size = array.shape[axis]
        chosen = [next(scalars) for part in get_slice_elements([entry], _is_type)]
        chain = chosen[0].owner if chosen else None
        if chain is not None and isinstance(chain.op, ChainedIndex) and chosen == chain.outputs:
            part, checks = chained(chain, size, context)
        else:
            part, checks = _entry_part(entry, iter(chosen), size, node, axis, context)
        parts.append(part)
        guards += checks
    for size in array.shape[len(parts) :]:
        parts.append(IndexRange(ZERO, ONE, size))
    return parts, guards


def _is_type(part: object) -> bool:
    return isinstance(part, ScalarType)


def _entry_part(
    entry: object, scalars: Iterator[Variable], size: Expr, node: Apply, axis: int, context: Context
) -> tuple[IndexRange | At, list[object]]:
    """What one entry of a basic index takes of a dimension of the given size."""
    if isinstance(entry, slice):
        start, stop, step = [_entry(b, scalars, context) for b in (entry.start, entry.stop, entry.step)]
        return _run(start, stop, step, size, node, context)
    index = _entry(entry, scalars, context)
    assert index is not None
    position, checks = _position(index, size, node, axis, context)
    return At(position), checks


def chained(node: Apply, size: Expr, context: Context) -> tuple[IndexRange | At, list[object]]:
    """What the entries of a `ChainedIndex` take of a dimension of the given size, each of what those before it take."""
    scalars = iter(node.inputs[1:])
    taken, guards = IndexRange(ZERO, ONE, size), list[object]()
    for entry in node.op.entries:
        part, checks = _entry_part(entry, scalars, taken.length, node, node.op.axis, context)
        guards += checks
        if isinstance(part, At):
            return At(taken.start + part.position * taken.step), guards
        taken = IndexRange(taken.start + part.start * taken.step, taken.step * part.step, part.length)
    return taken, guards


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
    """The check that all entries are valid positions, and whether there may be negative ones.

    Beside other index arrays, entries may be anything if they are broadcast to no elements.
    """
    message = f"index {{3}} is out of bounds for axis {axis} with size {{2}}"
    exemption = None if is_alone or array.ndim == 0 else Exemption.NO_ELEMENTS
    guards = require_range(array, ZERO - size, size, IndexError, message, node, context, exemption=exemption)
    return list(guards), may_be_negative(array, context)


def is_known_empty(mask: Array) -> bool:
    """Return whether a length of a mask is known to be 0; the mask chooses nothing then."""
    return any(size is ZERO for size in mask.shape)


def mask_fits(mask: Array, x: Array, axis: int, node: Apply, context: Context) -> list[object]:
    """The check that a mask has the sizes of the dimensions of `x` from `axis` on.

    A mask of length 0 fits any size.  The check fails for it, unless that length is known, and the reference computes
    the call (`link.llvm.by_reference`); so loops need not ask whether the mask has elements.
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
    """Positions of a mask's true entries in all of its dimensions in a row, and the check that it fits."""
    mask = context.array(variable)
    guards = mask_fits(mask, x, axis, node, context)
    if isinstance(variable, Constant):
        return context.array(constant(np.flatnonzero(variable.data))), guards
    if mask.ndim:
        return flat_positions(mask, context), guards
    # A mask without dimensions makes one of length one or zero, and takes none.
    count = context.size_from(context.add(converted(mask, "int64")))
    return context.add(Pointwise("int64", (count,), (), lambda index, readers: ZERO, 0)), guards


def _region(
    parts: Sequence[object], arrays: Sequence[Array], index_shape: tuple[Expr, ...], guards: Sequence[object],
    context: Context,
) -> Region:  # fmt: skip
    """Shape and location rule of the selected region, with the dimensions of index arrays where NumPy puts them."""
    gathers = [k for k, p in enumerate(parts) if isinstance(p, Gather)]
    advanced = [k for k, p in enumerate(parts) if isinstance(p, (Gather, At))] if gathers else []
    adjacent = not advanced or advanced[-1] - advanced[0] + 1 == len(advanced)
    rank = len(index_shape)
    kept = [k for k, p in enumerate(parts) if isinstance(p, (IndexRange, New))]
    before = [k for k in kept if adjacent and advanced and k < advanced[0]]
    shape: list[Expr] = []
    axis_of: dict[int, int] = {}

    def put(k: int) -> None:
        part = parts[k]
        axis_of[k] = len(shape)
        shape.append(part.length if isinstance(part, IndexRange) else ONE)

    for k in before:
        put(k)
    first = len(shape)
    shape.extend(index_shape)
    for k, part in enumerate(parts):
        if isinstance(part, (IndexRange, New)) and k not in axis_of:
            put(k)

    def locate(index: Index, readers: Sequence[Reader]) -> Index:
        inner = index[first : first + rank]
        place: list[Expr] = []
        for k, part in enumerate(parts):
            if isinstance(part, IndexRange):
                place.append(part.start + index[axis_of[k]] * part.step)
            elif isinstance(part, At):
                place.append(part.position)
            elif isinstance(part, Gather):
                # Memory is linear: all of a position in several dimensions may stand in the last of them.
                place += [ZERO] * (part.rank - 1)
                if part.rank == 0:
                    continue
                array = arrays[part.operand]
                lead = rank - array.ndim
                own = tuple(
                    index_along(inner[lead + d], n, index_shape[lead + d], context) for d, n in enumerate(array.shape)
                )
                entry = cast(readers[part.operand](own), "int64")
                if part.negative:
                    wrapped = entry + part.size
                    entry = primitive("select", entry < ZERO, wrapped, entry)
                place.append(entry)
        return tuple(place)

    return Region(tuple(shape), tuple(arrays), locate, tuple(guards), tuple(parts))


def basic_region(
    op: Subtensor | IncSubtensor, scalars: Sequence[Variable], x: Array, node: Apply, context: Context
) -> Region:
    parts, guards = _basic_parts(op.idx_list, iter(scalars), x, node, context)
    return _region(parts, (), (), guards, context)


def advanced_region(index: Sequence[Variable], x: Array, node: Apply, context: Context) -> Region:
    parts: list[object] = []
    arrays: list[Array] = []
    guards: list[object] = []
    is_alone = sum(getattr(v.type, "dtype", None) is not None and v.type.ndim > 0 for v in index) < 2
    axis = 0
    for variable in index:
        if isinstance(variable.type, NoneTypeT):
            parts.append(New())
            continue
        bounds = _slice_bounds(variable, context)
        rank = 1
        if bounds is not None:
            part, checks = _run(*bounds, x.shape[axis], node, context)
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
    """Whether a part of an index is known to take a whole dimension as it is."""
    return isinstance(variable, Constant) and isinstance(variable.data, slice) and variable.data == slice(None)


def _slice_bounds(variable: Variable, context: Context) -> tuple[Expr | None, Expr | None, Expr | None] | None:
    """Bounds of a slice given as a constant or made in the graph; None for anything else."""
    if isinstance(variable, (SliceConstant, Constant)) and isinstance(variable.data, slice):
        data = variable.data
        start, stop, step = [None if b is None else const(int(b)) for b in (data.start, data.stop, data.step)]
        return start, stop, step
    if variable.owner is not None and isinstance(variable.owner.op, MakeSlice):
        parts = variable.owner.inputs
        start, stop, step = [None if isinstance(v.type, NoneTypeT) else _scalar(v, context) for v in parts]
        return start, stop, step
    return None
