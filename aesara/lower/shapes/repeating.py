"""Lowering of repeats: the entries of one dimension, each as often as a vector says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Assign, Declare, For, Statement
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader, Sequential, Writer, loops_over
from aesara.lower.broadcasting import index_along
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import range_of
from aesara.lower.reductions.careduce import reduce_array
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.core.conversion import constant
from aesara.tensor.shapes.repeating import Repeat

#: no dimension is longer
_LONGEST = 2**62
#: up to this length, positions are worked out when the graph is compiled
_SMALL = 2**16


@lower_op.register
def _repeat(op: Repeat, node: Apply, context: Context) -> Sequence[Array]:
    array, repeats = (context.array(v) for v in node.inputs)
    check_dtype(array.dtype)
    if op.axis is None and array.ndim != 1:
        array = context.add(Alias(array, (count_of(array.shape),)))
    axis = (op.axis or 0) % array.ndim
    size = array.shape[axis]
    guards = _checked(repeats, size, node, context)
    if repeats.ndim == 0:
        each = context.size_from(repeats)
        length = size * primitive("maximum", each, ZERO)
        # where there is an entry, it is repeated at least once
        divisor = primitive("maximum", each, ONE)
        return [_taken(array, axis, length, (), lambda i, readers: i // divisor, guards)]
    data = context.constant_data(repeats)
    if data is not None and size.is_const and len(data) in (1, size.attr) and np.all(data >= 0) and data.sum() < _SMALL:
        source = context.array(constant(np.repeat(np.arange(size.attr), data.astype(np.intp))))
        return [_taken(array, axis, source.shape[0], (source,), lambda i, readers: readers[1]((i,)), guards)]
    return [_copied(array, axis, repeats, guards, context)]


def _checked(repeats: Array, size: Expr, node: Apply, context: Context) -> tuple[object, ...]:
    """The checks that there is a number for each entry, none negative, and that their sum does not overflow."""
    guards: list[object] = []
    if repeats.ndim and not context.same_size(repeats.shape[0], size) and repeats.shape[0] is not ONE:
        given = repeats.shape[0]
        fits = primitive("eq", given, size) | primitive("eq", given, ONE)
        message = "repeat: there are {1} numbers of repetitions for {0} entries."
        guards += context.guard(fits, ValueError, message, node, [size, given])
    low, high = range_of(repeats, context)
    none = primitive("eq", size, ZERO)
    message = "repeats may not contain negative values; one is {0}."
    guards += context.guard(_or(none, low >= ZERO), ValueError, message, node, [low])
    most = _LONGEST // primitive("maximum", size, ONE)
    message = "repeat: {0} times {1} entries are too many."
    guards += context.guard(high <= most, ValueError, message, node, [high, size])
    return tuple(guards)


def _or(a: Expr, b: Expr) -> Expr:
    if b.is_const:
        return b if b.attr else a
    return a | b


def _taken(
    array: Array,
    axis: int,
    length: Expr,
    sources: Sequence[Array],
    source: Callable[[Expr, Sequence[Reader]], Expr],
    guards: Sequence[object],
) -> Array:
    """The array of which each entry along the axis is the one that `source` says."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(source(i, readers) if d == axis else i for d, i in enumerate(index)))

    shape = [length if d == axis else n for d, n in enumerate(array.shape)]
    expands = [True, *[axis < array.ndim - 1] * len(sources)]
    return Pointwise(array.dtype, shape, (array, *sources), body, 2 if sources else 6, expands, guards)


def _copied(array: Array, axis: int, repeats: Array, guards: Sequence[object], context: Context) -> Array:
    """The array with each entry along the axis as often as `repeats` says: copies, one after the other."""
    size = array.shape[axis]

    def often(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(readers[0]((index_along(index[0], repeats.shape[0], size, context),)), "int64")

    counts = context.add(Pointwise("int64", (size,), (repeats,), often, 1, requires=guards))
    total = context.size_from(reduce_array(context, counts, (0,), "add"))
    loops = tuple(var(f"v{d}") for d in range(array.ndim))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        place, count = var("r0"), readers[1]((loops[axis],))
        there = place + var("r1")
        value = readers[0](loops)
        copy = (write((*loops[:axis], there, *loops[axis + 1 :]), value),)
        row = loops_over(range(axis + 1, array.ndim), array.shape, copy, parallel=True)
        copies = For("r1", count, row)
        if axis == array.ndim - 1:
            copies = mark_parallel(copies)
        moved = Assign("r0", place + count)
        return loops_over(range(axis), array.shape, (Declare("r0", ZERO), For(f"v{axis}", size, (copies, moved))))

    shape = [total if d == axis else n for d, n in enumerate(array.shape)]
    return Sequential(array.dtype, shape, (array, counts), body, guards)
