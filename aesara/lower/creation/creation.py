"""Lowering of ops that create arrays: fills, ranges, identity and triangular matrices, windows."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.ir.symbols import InputSize
from aesara.lower.arrays import ZERO, Array, Index, Pointwise, Reader, literal
from aesara.lower.broadcasting import broadcast_array
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import check_dtype
from aesara.lower.reductions.careduce import convert
from aesara.scalar.types import upcast
from aesara.tensor.creation.allocation import Alloc, AllocEmpty
from aesara.tensor.creation.eye_tri import Eye, Tri
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.sequences.windows import Bartlett
from aesara.tensor.shapes.broadcasting import BroadcastTo


def lengths_of(variables: Sequence[Variable], node: Apply, context: Context) -> tuple[list[Expr], list[object]]:
    """Return integer scalars as sizes, and the checks that none is negative."""
    sizes, guards = [], list[object]()
    for axis, variable in enumerate(variables):
        size = context.size_from(context.array(variable))
        message = f"negative dimensions are not allowed: dimension {axis} has size {{0}}."
        if not size.is_const or size.attr < 0:
            if not isinstance(size.attr, InputSize):
                guards += context.guard(size >= ZERO, ValueError, message, node, [size])
        sizes.append(size)
    return sizes, guards


@lower_op.register
def _alloc(op: Alloc, node: Apply, context: Context) -> Sequence[Array]:
    value, *lengths = node.inputs
    shape, guards = lengths_of(lengths, node, context)
    return [broadcast_array(context.array(value), shape, value.type.shape, "Alloc", guards, node, context)]


@lower_op.register
def _broadcast_to(op: BroadcastTo, node: Apply, context: Context) -> Sequence[Array]:
    value, *lengths = node.inputs
    shape, guards = lengths_of(lengths, node, context)
    return [broadcast_array(context.array(value), shape, value.type.shape, "broadcast_to", guards, node, context)]


@lower_op.register
def _alloc_empty(op: AllocEmpty, node: Apply, context: Context) -> Sequence[Array]:
    shape, guards = lengths_of(node.inputs, node, context)
    filled = literal(0, op.dtype, shape)
    filled.requires = tuple(guards)
    return [filled]


@lower_op.register
def _arange(op: ARange, node: Apply, context: Context) -> Sequence[Array]:
    check_dtype(op.dtype)
    bounds = [context.array(v) for v in node.inputs]
    static = node.outputs[0].type.shape[0]
    static_length = None if static is None else const(static)
    if any(a.dtype.startswith("float") for a in bounds):
        return [_float_arange(bounds, op.dtype, static_length, node, context)]
    first, last, by = (context.size_from(a) for a in bounds)
    message = "arange: the step must not be zero."
    guards: list[object] = list(context.guard(primitive("ne", by, ZERO), ZeroDivisionError, message, node))
    # ceil((last - first) / by), by floor division
    span = last - first
    if first is not ZERO and all(a.dtype != "uint64" for a in bounds):
        message = "Maximum allowed size exceeded: arange from {0} to {1}."
        is_exact = primitive("eq", last > first, span > ZERO)
        guards += context.guard(is_exact, ValueError, message, node, [first, last])
    count = ZERO - (ZERO - span) // by
    length = primitive("maximum", count, ZERO) if static_length is None else static_length
    guards += _require_short_bool(op.dtype, length, node, context)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(first + index[0] * by, op.dtype)

    array = Pointwise(op.dtype, (length,), (), body, 1, requires=guards)
    if by.is_const and op.dtype in ("int64", "uint64"):  # entries of others may wrap around
        end = first + (length - 1) * by
        low, high = (first, end) if by.attr > 0 else (end, first)
        if not (first is ZERO and by.attr > 0):
            # The bounds of an empty range must hold for no entry.
            nonempty = length > ZERO
            low, high = primitive("select", nonempty, low, ZERO), primitive("select", nonempty, high, const(-1))
        context.ranges[array] = (low, high)
    return [array]


def _require_short_bool(dtype: str, length: Expr, node: Apply, context: Context) -> tuple[object, ...]:
    if dtype != "bool":
        return ()
    message = "arange() is only supported for booleans when the result has at most length 2; it has {0}."
    return context.guard(length <= 2, TypeError, message, node, [length])


def _float_arange(
    bounds: Sequence[Array], dtype: str, static_length: Expr | None, node: Apply, context: Context
) -> Array:
    """Return a range with floating-point bounds, computed as NumPy does.

    It has ceil((stop - start) / step) entries, in the common dtype of the three.  The first two entries are converted
    to the dtype of the result, and the others are computed from these two.
    """
    common = upcast(*[a.dtype for a in bounds])
    start, stop, step = (convert(a, common) for a in bounds)
    entry = "float32" if dtype == "float16" else dtype
    ends = [
        context.add(Pointwise(dtype, (), (start,), lambda index, readers: cast(readers[0](()), dtype), 1)),
        context.add(
            Pointwise(
                dtype, (), (start, step),
                lambda index, readers: cast(readers[0](()) + readers[1](()), dtype), 2,
            )
        ),
    ]  # fmt: skip
    code = context.size_from(
        context.add(
            Pointwise("int64", (), (start, stop, step), lambda index, readers: _count(*[r(()) for r in readers]), 12)
        )
    )
    guards: list[object] = [
        *context.guard(primitive("ne", code, const(_NO_LENGTH)), ValueError, "arange: cannot compute length", node),
        *context.guard(primitive("ne", code, const(_TOO_LONG)), ValueError, "Maximum allowed size exceeded", node),
    ]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        first, second = (cast(read(()), entry) for read in readers)
        displacement = cast(index[0], entry) * (second - first)
        head = primitive("select", primitive("eq", index[0], ZERO), first, second)
        return cast(primitive("select", index[0] < 2, head, first + displacement), dtype)

    length = code if static_length is None else static_length
    guards += _require_short_bool(dtype, length, node, context)
    return Pointwise(dtype, (length,), ends, body, 3, [True, True], guards)


_NO_LENGTH, _TOO_LONG = -1, -2


def _count(start: Expr, stop: Expr, step: Expr) -> Expr:
    """Return the number of entries of a range, `_NO_LENGTH` or `_TOO_LONG`."""
    zero, none = const(0.0, "float64"), const(0, start.dtype)
    span = stop - start
    quotient = cast(span / step, "float64")
    length = primitive("maximum", primitive("ceil", quotient), zero)
    # A quotient that underflows to zero still has one entry if step and span have the same sign.
    forward = primitive("eq", span > none, step > none)
    tiny = primitive("eq", quotient, zero) & primitive("ne", span, none)
    length = primitive("select", tiny & forward, const(1.0, "float64"), length)
    too_long = primitive("abs", quotient) >= const(2.0**63, "float64")
    number = cast(primitive("select", too_long, zero, length), "int64")
    number = primitive("select", too_long, const(_TOO_LONG), number)
    return primitive("select", primitive("isnan", quotient), const(_NO_LENGTH), number)


@lower_op.register
def _eye(op: Eye, node: Apply, context: Context) -> Sequence[Array]:
    dtype = node.outputs[0].type.dtype
    (rows, columns), guards = lengths_of(node.inputs[:2], node, context)
    shift = context.size_from(context.array(node.inputs[2]))
    shape = [const(n) if n is not None else s for n, s in zip(node.outputs[0].type.shape, (rows, columns), strict=True)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        on_diagonal = primitive("eq", index[1] - index[0], shift)
        return primitive("select", on_diagonal, const(1, dtype), const(0, dtype))

    return [Pointwise(dtype, shape, (), body, 2, requires=guards)]


@lower_op.register
def _tri(op: Tri, node: Apply, context: Context) -> Sequence[Array]:
    # NumPy takes a negative size as 0 here
    rows, columns, shift = (context.size_from(context.array(v)) for v in node.inputs)
    shape = [primitive("maximum", n, ZERO) for n in (rows, columns)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        below = index[1] - index[0] <= shift
        return primitive("select", below, const(1, op.dtype), const(0, op.dtype))

    return [Pointwise(op.dtype, shape, (), body, 2)]


@lower_op.register
def _bartlett(op: Bartlett, node: Apply, context: Context) -> Sequence[Array]:
    count = context.size_from(context.array(node.inputs[0]))
    last = count - 1
    one = const(1.0, "float64")

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        # twice the distance from the middle, over the length: from -1 to 1
        position = index[0] * 2 - last
        ratio = cast(position, "float64") / cast(last, "float64")
        rising = position <= ZERO
        height = primitive("select", rising, one + ratio, one - ratio)
        return primitive("select", primitive("eq", last, ZERO), one, height)

    return [Pointwise("float64", (primitive("maximum", count, ZERO),), (), body, 10)]
