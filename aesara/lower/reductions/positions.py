"""Lowering of argmax by loops that vectorize, since each carries either values or positions.

A loop that carries both the maximum and its position does not vectorize.  So the maximum of each block is computed
first, and the position is searched for in a second pass over the first block with the largest maximum.  Results do not
depend on the vector width: the maximum is exact, and the position is the smallest one.
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
#: interleave count of the loops, which hides the latency of accumulations
_INTERLEAVE = 4
#: larger than any position
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
    """Return the position of the first maximum."""
    axes = tuple(range(array.ndim)) if axis is None else tuple(sorted(axis))
    guards = require_nonempty(context, array, axes, node, "attempt to get argmax of an empty sequence")
    if not axes:
        return Pointwise("int64", array.shape, (), lambda index, readers: const(0), 0)
    kept = [d for d in range(array.ndim) if d not in axes]
    if kept and kept[-1] > axes[0]:
        return _argmax_by_reductions(context, array, axes, kept, guards)
    return context.add(_argmax_in_blocks(array, len(kept), guards))


def _is_largest(value: Expr, largest: Expr) -> Expr:
    """Return whether a value is the maximum, or NaN (the maximum is NaN then)."""
    same = primitive("eq", value, largest)
    return same | primitive("isnan", value) if value.dtype.startswith("float") else same


def _argmax_by_reductions(
    context: Context, array: Array, axes: Sequence[int], kept: Sequence[int], requires: Sequence[object]
) -> Array:
    """Reduce leading axes: first to the maxima, then to the smallest positions of elements that equal them.

    Both accumulate in memory, with the innermost loop along contiguous memory.
    """
    largest = reduce_array(context, array, axes, "maximum", requires)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        matches = _is_largest(readers[0](index), readers[1](tuple(index[d] for d in kept)))
        position = linear_offset([index[d] for d in axes], [array.shape[d] for d in axes])
        return primitive("select", matches, position, const(_NOWHERE))

    positions = Pointwise("int64", array.shape, (array, largest), body, 3, (True, True), requires)
    return reduce_array(context, context.add(positions), axes, "minimum", requires)


def _argmax_in_blocks(array: Array, kept: int, requires: Sequence[object]) -> Array:
    """Reduce trailing axes, with the last axis in blocks."""
    last = array.ndim - 1
    loops = tuple(var(f"v{d}") for d in range(array.ndim))
    block, inside = var(f"v{array.ndim}"), var(f"v{array.ndim + 1}")
    best, largest, first_match = var("r0", array.dtype), var("r1", array.dtype), var("r2", "int32")
    #: start of the first block with the largest maximum
    best_block = tuple(var(f"r{3 + d}") for d in range(kept, array.ndim))
    size, length = const(_BLOCK), array.shape[-1]
    lowest, highest = identity_of("maximum", array.dtype), identity_of("minimum", array.dtype)
    is_float = array.dtype.startswith("float")

    def loop_over_block(start: Expr, statement: Statement) -> For:
        extent = primitive("minimum", size, length - start)
        return mark_parallel(For(inside.attr, extent, (statement,), interleave=_INTERLEAVE))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        def element(start: Index) -> Expr:
            return readers[0]((*loops[:kept], *start[:-1], start[-1] + inside))

        start = (*loops[kept:last], block * size)
        # either of two zeros of opposite sign may be the maximum
        compared = primitive("larger" if is_float else "maximum", element(start), largest)
        better, final = largest > best, primitive("eq", best, highest)
        if is_float:
            better, final = better | primitive("isnan", largest), primitive("isnan", best)
        compare: tuple[Statement, ...] = (
            Declare("r1", lowest),
            loop_over_block(start[-1], Assign("r1", compared, reassociate=True)),
            *[Assign(p.attr, primitive("select", better, i, p)) for p, i in zip(best_block, start, strict=True)],
            Assign("r0", primitive("select", better, largest, best)),
        )
        blocks = (length + (_BLOCK - 1)) // size
        search: Statement = For(block.attr, blocks, (If(~final, compare),))
        for d in range(last - 1, kept - 1, -1):
            search = For(loops[d].attr, array.shape[d], (search,))
        nowhere = const(_BLOCK, "int32")
        matched = primitive("select", _is_largest(element(best_block), best), cast(inside, "int32"), nowhere)
        statements: tuple[Statement, ...] = (
            Declare("r0", lowest),
            *[Declare(p.attr, ZERO) for p in best_block],
            search,
            Declare("r2", nowhere),
            loop_over_block(best_block[-1], Assign("r2", primitive("minimum", first_match, matched), reassociate=True)),
            write(loops[:kept], linear_offset(best_block, array.shape[kept:]) + cast(first_match, "int64")),
        )
        return loops_over(range(kept), array.shape, statements, independent=True)

    return Sequential("int64", array.shape[:kept], (array,), body, requires)
