"""Lowering of searches in sorted vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Assign, Declare, For, If, Statement, While
from aesara.ir.lanes import identity_of
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Reader, Sequential, Writer
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import require_range
from aesara.lower.reductions.careduce import converted
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.ordering.searching import SearchsortedOp

#: how many values are searched for together; and in how many entries they are without looking at the extreme ones first
_BLOCK, _FEW = 128, 64


def sorts_before(a: Expr, b: Expr) -> Expr:
    """Whether a comes before b in NumPy's order, in which NaN is the largest number."""
    if not a.dtype.startswith("float"):
        return a < b
    only_b = primitive("isnan", b) & ~primitive("isnan", a)
    return (a < b) | only_b


@lower_op.register
def _searchsorted(op: SearchsortedOp, node: Apply, context: Context) -> Sequence[Array]:
    vector, values, *rest = (context.array(v) for v in node.inputs)
    dtype = np.result_type(vector.dtype, values.dtype).name
    check_dtype(dtype)
    dtype = "int8" if dtype == "bool" else dtype
    operands = [converted(vector, dtype), converted(values, dtype), *rest]
    size = vector.shape[0]
    guards: list[object] = []
    if rest:
        (sorter,) = rest
        message = "sorter.size must equal a.size: they are {0} and {1}."
        guards += context.require_equal(sorter.shape[0], size, ValueError, message, node)
        message = "Sorter index out of range: {3} for a vector of {2} entries."
        guards += require_range(sorter, ZERO, size, ValueError, message, node, context)

    return [places_in(context, operands, op.side, guards)]


def places_in(context: Context, operands: Sequence[Array], side: str, guards: Sequence[object] = ()) -> Array:
    """Where values belong in a sorted vector: before entries that are equal ("left"), or behind them.

    Parameters
    ----------
    context
        What is lowered.
    operands
        The vector, the values, which have the same dtype, and, if need be, the places that sort the vector.
    side
        "left" or "right".
    guards
        The checks that must have passed before.
    """
    vector, values, *rest = operands = list(operands)
    size, dtype = vector.shape[0], vector.dtype
    flat = values
    if values.ndim != 1:
        flat = operands[1] = context.add(Alias(context.add(flat), (count_of(values.shape),)))
    number = flat.shape[0]

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        """The run of entries among which a place is halves as often for each value, so that vectors search together.

        Where it begins stands in the result meanwhile.
        """
        start, inside = var("v0") * _BLOCK, var("v1")
        here = (start + inside,)
        value, begin, count = readers[1](here), var("r0"), var("r1")

        def beyond(place: Expr, value: Expr) -> Expr:
            entry = readers[0]((cast(readers[2]((place,)), "int64") if rest else place,))
            if side == "left":
                return sorts_before(entry, value)
            return ~sorts_before(value, entry)

        def halved(first: Expr, value: Expr, half: Expr) -> Expr:
            middle = first + half
            return primitive("select", beyond(middle - ONE, value), middle, first)

        def settled(first: Expr, value: Expr) -> Expr:
            return first + cast(beyond(first, value), "int64")

        def for_each(*statements: Statement) -> For:
            extent = primitive("minimum", const(_BLOCK), number - start)
            return mark_parallel(For("v1", extent, statements))

        def narrowed() -> tuple[Statement, ...]:
            """Between the places of the smallest and of the largest value of the block are those of the others."""
            low, high, end, left = var("r2", dtype), var("r3", dtype), var("r4"), var("r5")
            half, bound, numbers = primitive("shr", left, ONE), identity_of("minimum", dtype), value
            if dtype.startswith("float"):
                numbers = primitive("select", primitive("isnan", value), bound, value)
            ends = ((begin, low), (end, high))
            return (
                Declare(low.attr, bound), Declare(high.attr, identity_of("maximum", dtype)),
                for_each(
                    Assign(low.attr, primitive("minimum", low, numbers), reassociate=True),
                    Assign(high.attr, primitive("maximum", high, value), reassociate=True),
                ),
                Declare(end.attr, ZERO), Declare(left.attr, size),
                While(left > ONE, (
                    *(Assign(place.attr, halved(place, extreme, half)) for place, extreme in ends),
                    Assign(left.attr, left - half),
                )),
                *(Assign(place.attr, settled(place, extreme)) for place, extreme in ends),
                Assign(count.attr, end - begin),
            )  # fmt: skip

        half = primitive("shr", count, ONE)
        block = (
            Declare(begin.attr, ZERO), Declare(count.attr, size),
            If(size > _FEW, narrowed()),
            for_each(write(here, begin)),
            While(count > ONE, (
                for_each(write(here, halved(read(here), value, half))),
                Assign(count.attr, count - half),
            )),
            If(count > ZERO, (for_each(write(here, settled(read(here), value))),)),
        )  # fmt: skip
        blocks = (number + (_BLOCK - 1)) // _BLOCK
        return (For("v0", blocks, block),)

    places = Sequential("int64", flat.shape, operands, body, guards)
    return places if values.ndim == 1 else Alias(context.add(places), values.shape)
