"""Value ranges of integer arrays, by which indices are checked before loops."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Pointwise
from aesara.lower.context import Context
from aesara.lower.errors import Exemption
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.lower.shape_arithmetic import count_of


def range_of(array: Array, context: Context) -> tuple[Expr, Expr]:
    """Return the smallest and largest entry of an integer array."""
    bounds = context.ranges.get(array)
    if bounds is None:
        data = context.constant_data(array)
        if data is not None:
            data = data.astype("int64")  # as loops read the entries
            low, high = (int(data.min()), int(data.max())) if data.size else (0, -1)
            bounds = const(low), const(high)
        elif array.ndim == 0:
            value = context.size_from(array)
            bounds = value, value
        elif array in context.positions_in:
            bounds = const(0), _largest_position(array, context)
        else:
            # The identities of signed dtypes, for empty arrays, pass any check; narrow dtypes are compared faster.
            wide = array if array.dtype in ("int16", "int32") else convert(array, "int64")
            axes = tuple(range(array.ndim))
            low_array = reduce_array(context, wide, axes, "minimum")
            high_array = reduce_array(context, wide, axes, "maximum")
            bounds = context.size_from(low_array), context.size_from(high_array)
        context.ranges[array] = bounds
    return bounds


def may_be_negative(array: Array, context: Context) -> bool:
    """Return whether an integer array may have negative entries."""
    if array in context.positions_in:
        return False
    low, _ = range_of(array, context)
    return not (low.is_const and low.attr >= 0)


def _largest_position(array: Array, context: Context) -> Expr:
    """Return the largest position; -1 or less if there is none."""
    _, last_is_largest = context.positions_in[array]
    if not last_is_largest:
        return context.size_from(reduce_array(context, array, tuple(range(array.ndim)), "maximum"))
    (length,) = array.shape
    end = primitive("maximum", length - 1, const(0))
    last = context.add(Pointwise("int64", (), (array,), lambda index, readers: readers[0]((end,)), 0))
    return primitive("select", length > const(0), context.size_from(last), const(-1))


def all_of(*conditions: Expr) -> Expr:
    """Return the conjunction of conditions, folded if they are constant."""
    unknown = [c for c in conditions if not (c.is_const and c.attr)]
    return functools.reduce(lambda a, b: a & b, unknown) if unknown else const(True, "bool")


def require_range(
    array: Array, lowest: Expr, size: Expr, kind: type[Exception], message: str, node: Apply, context: Context,
    result: Sequence[Expr] | None = None, exemption: Exemption | None = None,
) -> tuple[object, ...]:  # fmt: skip
    """Check that all entries are at least `lowest` and less than `size`.

    `lowest` is at most 0.  The message may use the smallest entry `{0}`, the largest `{1}`, the size `{2}`, and an
    invalid entry `{3}`.  If the array is broadcast to the shape `result`, and that is empty, entries may be anything.
    """
    known = context.positions_in.get(array)
    if known is not None and known[0] is size:
        return ()
    low, high = range_of(array, context)
    is_below_size = high < size
    invalid_entry = primitive("select", is_below_size, low, high)
    fits = all_of(low >= lowest, is_below_size)
    if result is not None and fits is not const(True, "bool") and count_of(result) is not count_of(array.shape):
        fits = fits | primitive("eq", count_of(result), const(0))
    values = [low, high, size, invalid_entry]
    return context.guard(fits, kind, message, node, values, exemption=exemption)
