"""Positions of maxima: loops that vectorise, since they compare either values or positions.

A loop that carries both the largest value and where it is runs one element after the other.  So the largest value of
a block is found first, and only if it is larger than what came before is its position looked for, in a second pass
over the block, which is in the cache.  In random data few blocks are.  No result depends on how many elements are
compared at once: the maximum is exact, and its position is the smallest of those that have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, linear_offset, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Assign, Declare, For, If, Statement
from aesara.ir.lanes import identity_of
from aesara.lower.arrays import ZERO, Array, Index, Pointwise, Reader, Sequential, Writer, loops_over
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.reductions.careduce import reduce_array, require_nonempty
from aesara.tensor.reductions.argmax import Argmax, MaxAndArgmax

#: length of the blocks
_BLOCK = 256
#: vectors that the loops take at once, since each iteration of an accumulation waits for the one before
_INTERLEAVE = 4
#: later than any position
_NOWHERE = 2**62


@lower_op.register
def _argmax(op: Argmax, node: Apply, context: Context) -> Sequence[Array]:
    return [argmax_array(context, context.array(node.inputs[0]), op.axis, node)]


@lower_op.register
def _max_and_argmax(op: MaxAndArgmax, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    axes = tuple(range(array.ndim)) if op.axis is None else tuple(op.axis)
    position = argmax_array(context, array, op.axis, node)
    guards = require_nonempty(context, array, axes, node, "zero-size array to reduction operation maximum")
    return [reduce_array(context, array, axes, "maximum", guards), position]


def argmax_array(context: Context, array: Array, axis: Sequence[int] | None, node: Apply) -> Array:
    """The position of the first maximum."""
    axes = tuple(range(array.ndim)) if axis is None else tuple(sorted(axis))
    guards = require_nonempty(context, array, axes, node, "attempt to get argmax of an empty sequence")
    if not axes:
        return Pointwise("int64", array.shape, (), lambda index, readers: const(0), 0)
    kept = [d for d in range(array.ndim) if d not in axes]
    if kept and kept[-1] > axes[0]:
        return _in_two_reductions(context, array, axes, kept, guards)
    return context.add(_in_blocks(array, len(kept), guards))


def _is_largest(value: Expr, largest: Expr) -> Expr:
    """Whether a value is the maximum, or a NaN: where there is one, the maximum is NaN and equals nothing."""
    same = primitive("eq", value, largest)
    return same | primitive("isnan", value) if value.dtype.startswith("float") else same


def _in_two_reductions(
    context: Context, array: Array, axes: Sequence[int], kept: Sequence[int], requires: Sequence[object]
) -> Array:
    """Where axes that are kept come behind others: the largest elements, then the first of the positions that match.

    Both accumulate in memory, with the innermost loop along it.
    """
    largest = reduce_array(context, array, axes, "maximum", requires)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        matches = _is_largest(readers[0](index), readers[1](tuple(index[d] for d in kept)))
        here = linear_offset([index[d] for d in axes], [array.shape[d] for d in axes])
        return primitive("select", matches, here, const(_NOWHERE))

    positions = Pointwise("int64", array.shape, (array, largest), body, 3, (True, True), requires)
    return reduce_array(context, context.add(positions), axes, "minimum", requires)


def _in_blocks(array: Array, kept: int, requires: Sequence[object]) -> Array:
    """Where the axes are the last ones: the last axis in blocks."""
    last = array.ndim - 1
    loops = tuple(var(f"v{d}") for d in range(array.ndim))
    block, inside = var(f"v{array.ndim}"), var(f"v{array.ndim + 1}")
    best, largest, found = var("r0", array.dtype), var("r1", array.dtype), var("r2", "int32")
    #: where the block begins that has the first of the largest elements
    place = tuple(var(f"r{3 + d}") for d in range(kept, array.ndim))
    size, length = const(_BLOCK), array.shape[-1]
    lowest, highest = identity_of("maximum", array.dtype), identity_of("minimum", array.dtype)
    is_float = array.dtype.startswith("float")

    def within(start: Expr, statement: Statement) -> For:
        extent = primitive("minimum", size, length - start)
        return mark_parallel(For(inside.attr, extent, (statement,), interleave=_INTERLEAVE))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        def element(start: Index) -> Expr:
            return readers[0]((*loops[:kept], *start[:-1], start[-1] + inside))

        here = (*loops[kept:last], block * size)
        # which of two zeros is the larger one is of no account
        compared = primitive("larger" if is_float else "maximum", element(here), largest)
        better, final = largest > best, primitive("eq", best, highest)
        if is_float:
            better, final = better | primitive("isnan", largest), primitive("isnan", best)
        compare: tuple[Statement, ...] = (
            Declare("r1", lowest),
            within(here[-1], Assign("r1", compared, reassociate=True)),
            *[Assign(p.attr, primitive("select", better, i, p)) for p, i in zip(place, here, strict=True)],
            Assign("r0", primitive("select", better, largest, best)),
        )
        blocks = (length + (_BLOCK - 1)) // size
        search: Statement = For(block.attr, blocks, (If(~final, compare),))
        for d in range(last - 1, kept - 1, -1):
            search = For(loops[d].attr, array.shape[d], (search,))
        nowhere = const(_BLOCK, "int32")
        matched = primitive("select", _is_largest(element(place), best), cast(inside, "int32"), nowhere)
        statements: tuple[Statement, ...] = (
            Declare("r0", lowest),
            *[Declare(p.attr, ZERO) for p in place],
            search,
            Declare("r2", nowhere),
            within(place[-1], Assign("r2", primitive("minimum", found, matched), reassociate=True)),
            write(loops[:kept], linear_offset(place, array.shape[kept:]) + cast(found, "int64")),
        )
        return loops_over(range(kept), array.shape, statements)

    return Sequential("int64", array.shape[:kept], (array,), body, requires)
