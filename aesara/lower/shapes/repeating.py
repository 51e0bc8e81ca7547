"""Lowering of `repeat`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Assign, Declare, For, Statement
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader, Sequential, Writer, loops_over
from aesara.lower.broadcasting import operand_index_along
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import range_of
from aesara.lower.reductions.careduce import reduce_array
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.core.conversion import constant
from aesara.tensor.shapes.repeating import Repeat

#: upper bound of lengths
_LONGEST = 2**62
#: length of results up to which positions are computed at compile time
_LARGEST_CONSTANT = 2**16


@lower_op.register
def _repeat(op: Repeat, node: Apply, context: Context) -> Sequence[Array]:
    array, repeats = (context.array(v) for v in node.inputs)
    if op.axis is None and array.ndim != 1:
        array = context.add(Alias(array, (count_of(array.shape),)))
    axis = (op.axis or 0) % array.ndim
    size = array.shape[axis]
    guards = _require_valid_counts(repeats, size, node, context)
    if repeats.ndim == 0:
        count = context.size_from(repeats)
        length = size * primitive("maximum", count, ZERO)
        # entries of the result exist only if this is at least 1
        divisor = primitive("maximum", count, ONE)
        return [_gather(array, axis, length, (), lambda i, readers: i // divisor, guards)]
    data = context.constant_data(repeats)
    is_known = data is not None and size.is_const and len(data) in (1, size.attr)
    if data is not None and is_known and np.all(data >= 0) and data.sum() < _LARGEST_CONSTANT:
        source = context.array(constant(np.repeat(np.arange(size.attr), data.astype(np.intp))))
        return [_gather(array, axis, source.shape[0], (source,), lambda i, readers: readers[1]((i,)), guards)]
    return [_copy_sequentially(array, axis, repeats, guards, context)]


def _require_valid_counts(repeats: Array, size: Expr, node: Apply, context: Context) -> tuple[object, ...]:
    """Check that there is a count for each entry, none is negative, and their sum does not overflow."""
    guards: list[object] = []
    if repeats.ndim and not context.same_size(repeats.shape[0], size) and repeats.shape[0] is not ONE:
        length = repeats.shape[0]
        fits = primitive("eq", length, size) | primitive("eq", length, ONE)
        message = "repeat: there are {1} numbers of repetitions for {0} entries."
        guards += context.guard(fits, ValueError, message, node, [size, length])
    low, high = range_of(repeats, context)
    is_empty = primitive("eq", size, ZERO)
    message = "repeats may not contain negative values; one is {0}."
    guards += context.guard(_or(is_empty, low >= ZERO), ValueError, message, node, [low])
    most = _LONGEST // primitive("maximum", size, ONE)
    message = "repeat: {0} times {1} entries are too many."
    guards += context.guard(high <= most, ValueError, message, node, [high, size])
    return tuple(guards)


def _or(a: Expr, b: Expr) -> Expr:
    if b.is_const:
        return b if b.attr else a
    return a | b


def _gather(
    array: Array,
    axis: int,
    length: Expr,
    sources: Sequence[Array],
    source: Callable[[Expr, Sequence[Reader]], Expr],
    guards: Sequence[object],
) -> Array:
    """Gather along an axis; `source` maps positions of the result to those of the array."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(source(i, readers) if d == axis else i for d, i in enumerate(index)))

    shape = [length if d == axis else n for d, n in enumerate(array.shape)]
    expands = [True, *[axis < array.ndim - 1] * len(sources)]
    return Pointwise(array.dtype, shape, (array, *sources), body, 2 if sources else 6, expands, guards)


def _copy_sequentially(array: Array, axis: int, repeats: Array, guards: Sequence[object], context: Context) -> Array:
    """Repeat each entry along the axis by sequential copies."""
    size = array.shape[axis]

    def count_at(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(readers[0]((operand_index_along(index[0], repeats.shape[0], size, context),)), "int64")

    counts = context.add(Pointwise("int64", (size,), (repeats,), count_at, 1, requires=guards))
    total = context.size_from(reduce_array(context, counts, (0,), "add"))
    loops = tuple(var(f"v{d}") for d in range(array.ndim))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        end, count = var("r0"), readers[1]((loops[axis],))
        target = end + var("r1")
        value = readers[0](loops)
        copy = (write((*loops[:axis], target, *loops[axis + 1 :]), value),)
        row = loops_over(range(axis + 1, array.ndim), array.shape, copy, parallel=True)
        copies = For("r1", count, row)
        if axis == array.ndim - 1:
            copies = mark_parallel(copies)
        advance = Assign("r0", end + count)
        return loops_over(
            range(axis), array.shape, (Declare("r0", ZERO), For(f"v{axis}", size, (copies, advance))), independent=True
        )

    shape = [total if d == axis else n for d, n in enumerate(array.shape)]
    return Sequential(array.dtype, shape, (array, counts), body, guards)
