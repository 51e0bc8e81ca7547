"""Lowering of indexing: reading, setting and adding, by integers, slices, None, integer arrays and masks.

Reads are index arithmetic; writes are loops over the region.  A write under a mask with a value that is constant along
the dimensions of the mask is a `select` for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Assembled, Index, Pointwise, Reader, Source, Write
from aesara.lower.broadcasting import broadcast_index
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported
from aesara.lower.indexing.regions import (
    IndexRange,
    IntegerIndex,
    Region,
    advanced_region,
    basic_region,
    compose_slices,
    is_full_slice,
    is_known_empty,
    require_mask_shape,
)
from aesara.lower.reductions.careduce import convert
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor

# -- reads -----------------------------------------------------------------------------------------------------


def _static(node: Apply, shape: Sequence[Expr]) -> list[Expr]:
    return [n if s is None else const(s) for n, s in zip(shape, node.outputs[0].type.shape, strict=True)]


@lower_op.register
def _subtensor(op: Subtensor, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    parts = context.vectors.get(x)
    region = basic_region(op, node.inputs[1:], x, node, context)
    if parts is not None and len(region.parts) == 1 and isinstance(region.parts[0], IntegerIndex):
        position = region.parts[0].position
        if position.is_const:
            return [parts[position.attr]]

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        out = []
        for part, step in zip(region.parts, strides, strict=True):
            if isinstance(part, IntegerIndex):
                offset = offset + part.position * step
            else:
                assert isinstance(part, IndexRange)
                offset = offset + part.start * step
                out.append(part.step * step)
        return offset, tuple(out)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](region.locate(index, ()))

    shape = _static(node, region.shape)
    return [Pointwise(x.dtype, shape, (x,), body, 0, requires=region.guards, strided=restride)]


@lower_op.register
def _chained_index(op: ChainedIndex, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a composed index that is read as a value; basic indexing uses `compose_slices` directly."""
    size = context.array(node.inputs[0]).shape[op.dimension]
    part, guards = compose_slices(node, size, context)
    if isinstance(part, IntegerIndex):
        results = [part.position]
    else:
        # As in the reference: canonical start and step of short ranges, and a stop that is not negative by accident.
        step = primitive("select", part.length > ONE, part.step, ONE)
        start = primitive("select", part.length > ZERO, part.start, ZERO)
        stop = start + part.length * step
        results = [start, primitive("select", stop < ZERO, ZERO - size - ONE, stop), step]

    def scalar(result: Expr) -> Array:
        return Pointwise("int64", (), (), lambda index, readers: result, 0, requires=guards)

    return [scalar(result) for result in results]


def _materialize(array: Array, context: Context) -> Array:
    """Return an equal array that is materialized."""
    if array.is_stored is False:
        return array
    if array.stamp < 0:
        context.add(array)
    return context.add(Alias(array, array.shape))


def _gather(x: Array, region: Region, node: Apply, context: Context) -> Array:
    if region.is_flat:
        x = _materialize(x, context)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](region.locate(index, readers[1:]))

    operands = (x, *region.arrays)
    # An index `arange` selects one element of each row; the other elements need not be computed.
    is_by_arange = any(v.owner is not None and isinstance(v.owner.op, ARange) for v in node.inputs[1:])
    reads_once = is_by_arange and len(region.shape) < x.ndim and not region.is_flat
    expands = [not reads_once] + [False] * len(region.arrays)
    return Pointwise(x.dtype, _static(node, region.shape), operands, body, 2, expands, region.guards)


@lower_op.register(AdvancedSubtensor1)
@lower_op.register(AdvancedSubtensor)
def _advanced_subtensor(op: object, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    return [_gather(x, advanced_region(node.inputs[1:], x, node, context), node, context)]


# -- writes ----------------------------------------------------------------------------------------------------


def _value_index(
    y: Array, shape: Sequence[Expr], node: Apply, context: Context
) -> tuple[Callable[[Sequence[Expr]], Index], list[object]]:
    """Return the map from an index into the region to one into the value, and the checks that the value broadcasts."""
    lead = len(shape) - y.ndim
    if lead < 0:
        raise Unsupported("a value with more dimensions than the region that it is written to")
    guards: list[object] = []
    lengths: list[Expr | None] = []
    for d, size in enumerate(y.shape):
        length = shape[lead + d]
        if size is ONE:
            lengths.append(ONE)
            continue
        if context.same_size(size, length):
            lengths.append(None)
            continue
        message = (
            f"could not broadcast the value into the indexed region: dimension {d} has size {{0}}, expected {{1}}."
        )
        fits = primitive("eq", size, length) | primitive("eq", size, ONE)
        guards += context.guard(fits, ValueError, message, node, [size, length])
        lengths.append(size)

    def along(index: Sequence[Expr]) -> Index:
        entries = []
        for i, size in zip(index[lead:], lengths, strict=True):
            if size is ONE:
                entries.append(ZERO)
            else:
                entries.append(i if size is None else broadcast_index(i, size))
        return tuple(entries)

    return along, guards


def _write(
    x: Array, y_variable: Variable, region: Region, node: Apply, context: Context, accumulate: bool,
    add_once: bool = False,
) -> Array:  # fmt: skip
    """Set a region of `x` to `y`, or add `y`; `add_once`: duplicate indices count once."""
    dtype = node.outputs[0].type.dtype
    base = convert(x, dtype)
    if region.is_flat and add_once:
        base = _materialize(base, context)
    y = context.array(y_variable)
    value_index, checks = _value_index(y, region.shape, node, context)

    def position(index: Index, readers: Sequence[Reader]) -> Index:
        return region.locate(index, readers[2:])

    def value(index: Index, readers: Sequence[Reader]) -> Expr:
        new = cast(readers[1](value_index(index)), dtype)
        return readers[0](position(index, readers)) + new if add_once else new

    # An operand is copied if it is overwritten later, so the base is one only if it is read.
    operands = (base if add_once else y, y, *region.arrays)
    write = Write(region.shape, operands, position, value, accumulate, region.steps)
    return Assembled(dtype, x.shape, base, [write], [*region.guards, *checks])


@lower_op.register
def _inc_subtensor(op: IncSubtensor, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    region = basic_region(op, node.inputs[2:], x, node, context)
    if op.set_instead_of_inc and _covers(x, region, context):
        return [_overwrite(x, region, node, context)]
    block = _block_in_row(x, region, node, context)
    if block is not None:
        return [_row_with_block(x, block, node, region, context, not op.set_instead_of_inc)]
    return [_write(x, node.inputs[1], region, node, context, not op.set_instead_of_inc)]


def _covers(x: Array, region: Region, context: Context) -> bool:
    """Return whether a region is the whole array, in order."""
    return all(
        isinstance(part, IndexRange) and part.start is ZERO and part.step is ONE and context.same_size(part.length, n)
        for part, n in zip(region.parts, x.shape, strict=True)
    )


def _overwrite(x: Array, region: Region, node: Apply, context: Context) -> Array:
    """Return `y` broadcast to the shape of `x`, all of which it overwrites."""
    dtype = node.outputs[0].type.dtype
    y = context.array(node.inputs[1])
    value_index, checks = _value_index(y, x.shape, node, context)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(readers[0](value_index(index)), dtype)

    expands = (any(size is ONE for size in y.shape) or y.ndim < x.ndim,)
    return Pointwise(dtype, x.shape, (y,), body, 1, expands, [*region.guards, *checks])


def _block_in_row(x: Array, region: Region, node: Apply, context: Context) -> list[IndexRange] | None:
    """Return the range along each dimension if all steps are 1 and `x` is a buffer of a loop, else None."""
    if context.outer is None or not isinstance(x, Source) or x.dtype != node.outputs[0].type.dtype:
        return None
    ranges = [part for part in region.parts if isinstance(part, IndexRange) and part.step is ONE]
    return ranges if len(ranges) == len(region.parts) == x.ndim else None


def _row_with_block(
    x: Array, block: Sequence[IndexRange], node: Apply, region: Region, context: Context, add: bool
) -> Array:
    """Return a row of a loop with a block replaced, so that each element is written once.

    The next row has other memory, so only the elements around the block are copied.
    """
    y = context.array(node.inputs[1])
    value_index, checks = _value_index(y, region.shape, node, context)

    def write(starts: Sequence[Expr], domain: Sequence[Expr], is_block: bool) -> Write:
        def position(index: Index, readers: Sequence[Reader]) -> Index:
            return tuple(start + i for start, i in zip(starts, index, strict=True))

        def value(index: Index, readers: Sequence[Reader]) -> Expr:
            if not is_block:
                return readers[0](position(index, readers))
            new = cast(readers[1](value_index(index)), x.dtype)
            return readers[0](position(index, readers)) + new if add else new

        operands = (x, y) if is_block and add else (y, y) if is_block else (x,)
        return Write(tuple(domain), operands, position, value)

    writes = []
    for d, part in enumerate(block):
        size, end = x.shape[d], part.start + part.length
        if part.start is ZERO and context.same_size(part.length, size):
            continue
        inside, after = block[:d], x.shape[d + 1 :]
        for start, length in ((ZERO, part.start), (end, size - end)):
            if length is not ZERO:
                starts = [*[p.start for p in inside], start, *[ZERO] * len(after)]
                writes.append(write(starts, [*[p.length for p in inside], length, *after], False))
    writes.append(write([part.start for part in block], region.shape, True))
    return Assembled(x.dtype, x.shape, None, writes, [*region.guards, *checks])


def _select_by_mask(node: Apply, add: bool, context: Context) -> Array | None:
    """Lower a write under a mask as a `select` for each element, or return None.

    The other indices must be full slices, and the value must be constant along the dimensions of the mask.
    """
    x_variable, y_variable, *index = node.inputs
    masks = [k for k, part in enumerate(index) if getattr(part.type, "dtype", None) == "bool"]
    if len(masks) != 1 or not all(k in masks or is_full_slice(part) for k, part in enumerate(index)):
        return None
    (position,) = masks
    rank = index[position].type.ndim
    n_region = x_variable.type.ndim - rank + 1
    lead = n_region - y_variable.type.ndim
    if lead < 0 or (lead <= position and y_variable.type.shape[position - lead] != 1):
        return None
    x, y, mask = (context.array(v) for v in (x_variable, y_variable, index[position]))
    if is_known_empty(mask):
        return None
    dtype = node.outputs[0].type.dtype
    guards = require_mask_shape(mask, x, position, node, context)
    # the dimension of the array for each dimension of the region
    axes = [d if d < position else d + rank - 1 for d in range(n_region)]
    shape = [ONE if d == position else x.shape[axis] for d, axis in enumerate(axes)]
    along, checks = _value_index(y, shape, node, context)

    def body(i: Index, readers: Sequence[Reader]) -> Expr:
        old = cast(readers[0](i), dtype)
        new = cast(readers[2](along([ZERO if d == position else i[axis] for d, axis in enumerate(axes)])), dtype)
        if add:
            new = old + new
        return primitive("select", readers[1](i[position : position + rank]), new, old)

    expands = (False, rank < x.ndim, y.ndim > 0)
    return Pointwise(dtype, x.shape, (x, mask, y), body, 2, expands, (*guards, *checks))


@lower_op.register(AdvancedIncSubtensor1)
@lower_op.register(AdvancedIncSubtensor)
def _advanced_inc_subtensor(
    op: AdvancedIncSubtensor1 | AdvancedIncSubtensor, node: Apply, context: Context
) -> Sequence[Array]:
    add = not op.set_instead_of_inc
    selected = _select_by_mask(node, add, context)
    if selected is not None:
        return [selected]
    x = context.array(node.inputs[0])
    region = advanced_region(node.inputs[2:], x, node, context)
    add_once = add and getattr(op, "ignore_duplicates", False)
    return [_write(x, node.inputs[1], region, node, context, add and not add_once, add_once=add_once)]
