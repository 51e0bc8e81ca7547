"""Lowering of indexing: reading, setting and adding, by integers, slices, None and integer arrays.

An index is read into *parts*, one for each dimension of the operand and each new axis.  Reading is then pure index
arithmetic; writing is a loop over the region that is written.  Bounds of index arrays are checked before the loops,
by their smallest and largest entry, so that the loops themselves are free of branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Assembled, Index, Pointwise, Reader, Write
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.reductions import converted, reduce_array
from aesara.scalar.types import ScalarType
from aesara.tensor.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.type_other import MakeSlice, NoneTypeT, SliceConstant


@dataclass(frozen=True)
class _Run:
    """A slice of a dimension: start + step * i for i < length."""

    start: Expr
    step: Expr
    length: Expr


@dataclass(frozen=True)
class _At:
    """One position along a dimension."""

    position: Expr


@dataclass(frozen=True)
class _Gather:
    """An integer array along a dimension of size `size`; `operand` is its number among the index arrays."""

    operand: int
    size: Expr
    negative: bool


@dataclass(frozen=True)
class _New:
    """A new axis of length 1."""


@dataclass(frozen=True)
class _Region:
    """What an index selects: its shape, the index arrays, and where an element of it lies in the operand."""

    shape: tuple[Expr, ...]
    arrays: tuple[Array, ...]
    locate: Callable[[Index, Sequence[Reader]], Index]
    guards: tuple[object, ...]
    parts: tuple[object, ...]


# -- reading indices -------------------------------------------------------------------------------------------


def _scalar(variable: Variable | None, context: Context) -> Expr | None:
    return None if variable is None else context.size_from(context.array(variable))


def _position(index: Expr, size: Expr, node: Apply, axis: int, context: Context) -> tuple[Expr, list[object]]:
    """An integer index counted from the front, and the check that it is in range."""
    if index.is_const:
        place = primitive("add", index, size) if index.attr < 0 else index
    else:
        place = primitive("select", primitive("lt", index, ZERO), primitive("add", index, size), index)
    inside = primitive("and", primitive("ge", place, ZERO), primitive("lt", place, size))
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    if place.is_const and size.is_const and 0 <= place.attr < size.attr:
        return place, []
    return place, list(context.guard(inside, IndexError, message, node, [index, size]))


def _clamped(bound: Expr, size: Expr, low: Expr, high: Expr) -> Expr:
    """A slice's bound: negative ones count from the end, then it is moved into [low, high]."""
    if bound.is_const and bound.attr >= 0:
        moved = bound
        if low is ZERO:
            return primitive("minimum", moved, high)
    elif bound.is_const:
        moved = primitive("add", size, bound)
        if high is size:
            return primitive("maximum", moved, low)
    else:
        moved = primitive("select", primitive("lt", bound, ZERO), primitive("add", bound, size), bound)
    return primitive("minimum", primitive("maximum", moved, low), high)


def _run(
    start: Expr | None, stop: Expr | None, step: Expr | None, size: Expr, node: Apply, context: Context
) -> tuple[_Run, list[object]]:
    """A slice of a dimension of the given size, as Python's `slice.indices` has it."""
    step = ONE if step is None else step
    if step.is_const:
        if step.attr == 0:
            raise Unsupported("a slice with step 0")
        return _directed(start, stop, step, size, step.attr > 0), []
    guards = context.guard(primitive("ne", step, ZERO), ValueError, "slice step cannot be zero", node)
    up, down = _directed(start, stop, step, size, True), _directed(start, stop, step, size, False)
    forward = primitive("gt", step, ZERO)

    def pick(a: Expr, b: Expr) -> Expr:
        return primitive("select", forward, a, b)

    return _Run(pick(up.start, down.start), step, pick(up.length, down.length)), list(guards)


def _directed(start: Expr | None, stop: Expr | None, step: Expr, size: Expr, forward: bool) -> _Run:
    if forward:
        first = ZERO if start is None else _clamped(start, size, ZERO, size)
        last = size if stop is None else _clamped(stop, size, ZERO, size)
        span = primitive("sub", last, first)
        if step is ONE:
            length = span if first is ZERO else primitive("maximum", span, ZERO)
        else:
            length = _steps(span, primitive("intdiv", primitive("sub", span, ONE), step))
        return _Run(first, step, length)
    end = primitive("sub", size, ONE)
    first = end if start is None else _clamped(start, size, const(-1), end)
    last = const(-1) if stop is None else _clamped(stop, size, const(-1), end)
    span = primitive("sub", first, last)
    return _Run(first, step, _steps(span, primitive("intdiv", primitive("sub", ONE, span), step)))


def _steps(span: Expr, further: Expr) -> Expr:
    """Number of elements in a span: the first and `further` ones, in a form that no step makes overflow."""
    return primitive("select", primitive("gt", span, ZERO), primitive("add", further, ONE), ZERO)


def _basic_parts(
    idx_list: Sequence[object], scalars: Iterator[Variable], array: Array, node: Apply, context: Context
) -> tuple[list[object], list[object]]:
    parts: list[object] = []
    guards: list[object] = []
    for axis, entry in enumerate(idx_list):
        size = array.shape[axis]
        if isinstance(entry, slice):
            start, stop, step = [_entry(b, scalars, context) for b in (entry.start, entry.stop, entry.step)]
            part, checks = _run(start, stop, step, size, node, context)
            parts.append(part)
        else:
            index = _entry(entry, scalars, context)
            assert index is not None
            position, checks = _position(index, size, node, axis, context)
            parts.append(_At(position))
        guards += checks
    for size in array.shape[len(parts) :]:
        parts.append(_Run(ZERO, ONE, size))
    return parts, guards


def _entry(entry: object, scalars: Iterator[Variable], context: Context) -> Expr | None:
    if entry is None:
        return None
    if isinstance(entry, int):
        return const(entry)
    return _scalar(next(scalars), context)


# -- index arrays ----------------------------------------------------------------------------------------------


def _range_of(array: Array, context: Context) -> tuple[Expr, Expr]:
    """The smallest and largest entry of an integer array."""
    found = context.ranges.get(array)
    if found is None:
        data = context.constant_data(array)
        if data is not None:
            low, high = (int(data.min()), int(data.max())) if data.size else (0, -1)
            found = const(low), const(high)
        elif array.ndim == 0:
            value = context.size_from(array)
            found = value, value
        else:
            wide = converted(array, "int64")
            axes = tuple(range(array.ndim))
            low_array = reduce_array(context, wide, axes, "minimum")
            high_array = reduce_array(context, wide, axes, "maximum")
            found = context.size_from(low_array), context.size_from(high_array)
        context.ranges[array] = found
    return found


def _check_range(array: Array, size: Expr, node: Apply, axis: int, context: Context) -> tuple[list[object], bool]:
    """The check that all entries are valid positions, and whether there may be negative ones."""
    low, high = _range_of(array, context)
    inside = primitive("and", primitive("ge", low, primitive("sub", ZERO, size)), primitive("lt", high, size))
    if low.is_const and high.is_const and size.is_const and -size.attr <= low.attr and high.attr < size.attr:
        guards: tuple[object, ...] = ()
    else:
        message = f"index out of bounds for axis {axis} with size {{2}}: the index array goes from {{0}} to {{1}}"
        guards = context.guard(inside, IndexError, message, node, [low, high, size])
    return list(guards), not (low.is_const and low.attr >= 0)


def _broadcast_shape(arrays: Sequence[Array], node: Apply, context: Context) -> tuple[tuple[Expr, ...], list[object]]:
    """The common shape of index arrays; a length of 1, known or not, is broadcast as in NumPy."""
    rank = max(a.ndim for a in arrays)
    shape: list[Expr] = []
    guards: list[object] = []
    for d in range(rank):
        size: Expr = ONE
        for array in arrays:
            k = d - (rank - array.ndim)
            if k < 0 or array.shape[k] is ONE or context.same_size(size, array.shape[k]):
                continue
            other = array.shape[k]
            if size is ONE:
                size = other
                continue
            message = "shape mismatch: index arrays have sizes {0} and {1} along one dimension."
            fits = primitive("or", primitive("eq", size, other), primitive("eq", other, ONE))
            if not size.is_const:
                fits = primitive("or", fits, primitive("eq", size, ONE))
            guards += context.guard(fits, IndexError, message, node, [size, other])
            size = size if size.is_const else primitive("select", primitive("eq", size, ONE), other, size)
        shape.append(size)
    return tuple(shape), guards


def _along(index: Expr, size: Expr, whole: Expr, context: Context) -> Expr:
    """The index along one dimension of an index array of that size in a region of size `whole`."""
    if size is ONE:
        return ZERO
    if context.same_size(size, whole):
        return index
    return primitive("select", primitive("eq", size, ONE), ZERO, index)


def _region(
    parts: Sequence[object], arrays: Sequence[Array], index_shape: tuple[Expr, ...], guards: Sequence[object],
    context: Context,
) -> _Region:  # fmt: skip
    """Shape and location rule of the selected region, with the dimensions of index arrays where NumPy puts them."""
    gathers = [k for k, p in enumerate(parts) if isinstance(p, _Gather)]
    advanced = [k for k, p in enumerate(parts) if isinstance(p, (_Gather, _At))] if gathers else []
    adjacent = not advanced or advanced[-1] - advanced[0] + 1 == len(advanced)
    rank = len(index_shape)
    before = [
        k for k, p in enumerate(parts) if isinstance(p, (_Run, _New)) and adjacent and advanced and k < advanced[0]
    ]
    shape: list[Expr] = []
    axis_of: dict[int, int] = {}

    def put(k: int) -> None:
        part = parts[k]
        axis_of[k] = len(shape)
        shape.append(part.length if isinstance(part, _Run) else ONE)

    for k in before:
        put(k)
    first = len(shape)
    shape.extend(index_shape)
    for k, part in enumerate(parts):
        if isinstance(part, (_Run, _New)) and k not in axis_of:
            put(k)

    def locate(index: Index, readers: Sequence[Reader]) -> Index:
        inner = index[first : first + rank]
        place: list[Expr] = []
        for k, part in enumerate(parts):
            if isinstance(part, _Run):
                place.append(primitive("add", part.start, primitive("mul", index[axis_of[k]], part.step)))
            elif isinstance(part, _At):
                place.append(part.position)
            elif isinstance(part, _Gather):
                array = arrays[part.operand]
                lead = rank - array.ndim
                own = tuple(
                    _along(inner[lead + d], n, index_shape[lead + d], context) for d, n in enumerate(array.shape)
                )
                entry = cast(readers[part.operand](own), "int64")
                if part.negative:
                    wrapped = primitive("add", entry, part.size)
                    entry = primitive("select", primitive("lt", entry, ZERO), wrapped, entry)
                place.append(entry)
        return tuple(place)

    return _Region(tuple(shape), tuple(arrays), locate, tuple(guards), tuple(parts))


def _basic_region(
    op: Subtensor | IncSubtensor, scalars: Sequence[Variable], x: Array, node: Apply, context: Context
) -> _Region:
    parts, guards = _basic_parts(op.idx_list, iter(scalars), x, node, context)
    return _region(parts, (), (), guards, context)


def _advanced_region(index: Sequence[Variable], x: Array, node: Apply, context: Context) -> _Region:
    parts: list[object] = []
    arrays: list[Array] = []
    guards: list[object] = []
    axis = 0
    for variable in index:
        if isinstance(variable.type, NoneTypeT):
            parts.append(_New())
            continue
        size = x.shape[axis]
        bounds = _slice_bounds(variable, context)
        if bounds is not None:
            part, checks = _run(*bounds, size, node, context)
            parts.append(part)
        else:
            if isinstance(variable.type, ScalarType) or variable.type.dtype == "bool":
                raise Unsupported(f"an index of type {variable.type}")
            array = context.array(variable)
            checks, negative = _check_range(array, size, node, axis, context)
            parts.append(_Gather(len(arrays), size, negative))
            arrays.append(array)
        guards += checks
        axis += 1
    for size in x.shape[axis:]:
        parts.append(_Run(ZERO, ONE, size))
    shape: tuple[Expr, ...] = ()
    if arrays:
        shape, checks = _broadcast_shape(arrays, node, context)
        guards += checks
    return _region(parts, arrays, shape, guards, context)


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


# -- reading ---------------------------------------------------------------------------------------------------


def _static(node: Apply, shape: Sequence[Expr]) -> list[Expr]:
    return [n if s is None else const(s) for n, s in zip(shape, node.outputs[0].type.shape, strict=True)]


@lower_op.register
def _subtensor(op: Subtensor, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    parts = context.vectors.get(x)
    region = _basic_region(op, node.inputs[1:], x, node, context)
    if parts is not None and len(region.parts) == 1 and isinstance(region.parts[0], _At):
        position = region.parts[0].position
        if position.is_const:
            return [parts[position.attr]]

    def strided(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        out = []
        for part, step in zip(region.parts, strides, strict=True):
            if isinstance(part, _At):
                offset = primitive("add", offset, primitive("mul", part.position, step))
            else:
                assert isinstance(part, _Run)
                offset = primitive("add", offset, primitive("mul", part.start, step))
                out.append(primitive("mul", part.step, step))
        return offset, tuple(out)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](region.locate(index, ()))

    shape = _static(node, region.shape)
    return [Pointwise(x.dtype, shape, (x,), body, 0, requires=region.guards, strided=strided)]


def _gather(x: Array, region: _Region, node: Apply) -> Array:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](region.locate(index, readers[1:]))

    operands = (x, *region.arrays)
    expands = [True] + [False] * len(region.arrays)
    return Pointwise(x.dtype, _static(node, region.shape), operands, body, 2, expands, region.guards)


@lower_op.register(AdvancedSubtensor1)
@lower_op.register(AdvancedSubtensor)
def _advanced_subtensor(op: object, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    return [_gather(x, _advanced_region(node.inputs[1:], x, node, context), node)]


# -- writing ---------------------------------------------------------------------------------------------------


def _write(
    x: Array, y_variable: Variable, region: _Region, node: Apply, context: Context, accumulate: bool,
    parallel: bool, from_old: bool = False,
) -> Array:  # fmt: skip
    """The array `x` with `y` set or added in a region; `from_old` adds to the old values, so duplicates count once."""
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    base = converted(x, dtype)
    y = context.array(y_variable)
    shape, guards = region.shape, list(region.guards)
    lead = len(shape) - y.ndim
    if lead < 0:
        raise Unsupported("a value with more dimensions than the region that it is written to")
    fixed: list[Expr | None] = []
    for d in range(y.ndim):
        size, wanted = y.shape[d], shape[lead + d]
        if size is ONE:
            fixed.append(ONE)
            continue
        if context.same_size(size, wanted):
            fixed.append(None)
            continue
        message = (
            f"could not broadcast the value into the indexed region: dimension {d} has size {{0}}, expected {{1}}."
        )
        fits = primitive("or", primitive("eq", size, wanted), primitive("eq", size, ONE))
        guards += context.guard(fits, ValueError, message, node, [size, wanted])
        fixed.append(size)

    def value_index(index: Index) -> Index:
        own = []
        for d, size in enumerate(fixed):
            i = index[lead + d]
            if size is ONE:
                own.append(ZERO)
            elif size is None:
                own.append(i)
            else:
                own.append(primitive("select", primitive("eq", size, ONE), ZERO, i))
        return tuple(own)

    def place(index: Index, readers: Sequence[Reader]) -> Index:
        return region.locate(index, readers[2:])

    def value(index: Index, readers: Sequence[Reader]) -> Expr:
        written = cast(readers[1](value_index(index)), dtype)
        if from_old:
            return primitive("add", readers[0](place(index, readers)), written)
        return written

    # Writing must not be seen by what reads the old array, so the base is an operand only where it is read.
    operands = (base if from_old else y, y, *region.arrays)
    write = Write(shape, operands, place, value, accumulate, parallel)
    return Assembled(dtype, x.shape, base, [write], guards)


@lower_op.register
def _inc_subtensor(op: IncSubtensor, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    region = _basic_region(op, node.inputs[2:], x, node, context)
    return [_write(x, node.inputs[1], region, node, context, not op.set_instead_of_inc, parallel=True)]


@lower_op.register(AdvancedIncSubtensor1)
@lower_op.register(AdvancedIncSubtensor)
def _advanced_inc_subtensor(
    op: AdvancedIncSubtensor1 | AdvancedIncSubtensor, node: Apply, context: Context
) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    region = _advanced_region(node.inputs[2:], x, node, context)
    add = not op.set_instead_of_inc
    once = add and getattr(op, "ignore_duplicates", False)
    return [_write(x, node.inputs[1], region, node, context, add and not once, parallel=False, from_old=once)]
