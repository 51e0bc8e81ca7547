"""Lowering of ops that make arrays: by filling, ranges, identity and triangular matrices, windows."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Index, Pointwise, Reader, literal
from aesara.lower.broadcasting import stretched
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.tensor.allocation import Alloc, AllocEmpty
from aesara.tensor.broadcasting import BroadcastTo
from aesara.tensor.creation import ARange, Eye, Tri
from aesara.tensor.extra_ops import Bartlett


def lengths_of(variables: Sequence[Variable], node: Apply, context: Context) -> tuple[list[Expr], list[object]]:
    """Integer scalars as sizes, and the checks that none is negative."""
    sizes, guards = [], list[object]()
    for axis, variable in enumerate(variables):
        size = context.size_from(context.array(variable))
        message = f"negative dimensions are not allowed: dimension {axis} has size {{0}}."
        if not size.is_const or size.attr < 0:
            if not (size.op == "var" and size.attr[0] == "s"):
                guards += context.guard(primitive("ge", size, ZERO), ValueError, message, node, [size])
        sizes.append(size)
    return sizes, guards


@lower_op.register
def _alloc(op: Alloc, node: Apply, context: Context) -> Sequence[Array]:
    value, *lengths = node.inputs
    shape, guards = lengths_of(lengths, node, context)
    return [stretched(context.array(value), shape, value.type.shape, "Alloc", guards, node, context)]


@lower_op.register
def _broadcast_to(op: BroadcastTo, node: Apply, context: Context) -> Sequence[Array]:
    value, *lengths = node.inputs
    shape, guards = lengths_of(lengths, node, context)
    return [stretched(context.array(value), shape, value.type.shape, "broadcast_to", guards, node, context)]


@lower_op.register
def _alloc_empty(op: AllocEmpty, node: Apply, context: Context) -> Sequence[Array]:
    check_dtype(op.dtype)
    shape, guards = lengths_of(node.inputs, node, context)
    filled = literal(0, op.dtype, shape)
    filled.requires = tuple(guards)
    return [filled]


@lower_op.register
def _arange(op: ARange, node: Apply, context: Context) -> Sequence[Array]:
    check_dtype(op.dtype)
    start, stop, step = (context.array(v) for v in node.inputs)
    if any(a.dtype.startswith("float") for a in (start, stop, step)):
        raise Unsupported("arange of floating-point bounds")
    first, last, by = (context.size_from(a) for a in (start, stop, step))
    message = "arange: the step must not be zero."
    guards = list(context.guard(primitive("ne", by, ZERO), ValueError, message, node))
    # ceil((last - first) / by), by floor division
    span = primitive("sub", last, first)
    count = primitive("sub", ZERO, primitive("intdiv", primitive("sub", ZERO, span), by))
    length = primitive("maximum", count, ZERO)
    (static,) = node.outputs[0].type.shape
    if static is not None:
        length = const(static)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(primitive("add", first, primitive("mul", index[0], by)), op.dtype)

    array = Pointwise(op.dtype, (length,), (), body, 1, requires=guards)
    if by.is_const:
        end = primitive("add", first, primitive("mul", primitive("sub", length, const(1)), by))
        context.ranges[array] = (first, end) if by.attr > 0 else (end, first)
    return [array]


@lower_op.register
def _eye(op: Eye, node: Apply, context: Context) -> Sequence[Array]:
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    (rows, columns), guards = lengths_of(node.inputs[:2], node, context)
    shift = context.size_from(context.array(node.inputs[2]))
    shape = [const(n) if n is not None else s for n, s in zip(node.outputs[0].type.shape, (rows, columns), strict=True)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        on = primitive("eq", primitive("sub", index[1], index[0]), shift)
        return primitive("select", on, const(1, dtype), const(0, dtype))

    return [Pointwise(dtype, shape, (), body, 2, requires=guards)]


@lower_op.register
def _tri(op: Tri, node: Apply, context: Context) -> Sequence[Array]:
    check_dtype(op.dtype)
    # NumPy takes a negative size as 0 here
    rows, columns, shift = (context.size_from(context.array(v)) for v in node.inputs)
    shape = [primitive("maximum", n, ZERO) for n in (rows, columns)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        below = primitive("le", primitive("sub", index[1], index[0]), shift)
        return primitive("select", below, const(1, op.dtype), const(0, op.dtype))

    return [Pointwise(op.dtype, shape, (), body, 2)]


@lower_op.register
def _bartlett(op: Bartlett, node: Apply, context: Context) -> Sequence[Array]:
    count = context.size_from(context.array(node.inputs[0]))
    last = primitive("sub", count, const(1))
    one = const(1.0, "float64")

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        # twice the distance from the middle, over the length: from -1 to 1
        position = primitive("sub", primitive("mul", index[0], const(2)), last)
        ratio = primitive("div", cast(position, "float64"), cast(last, "float64"))
        rising = primitive("le", position, ZERO)
        height = primitive("select", rising, primitive("add", one, ratio), primitive("sub", one, ratio))
        return primitive("select", primitive("eq", last, ZERO), one, height)

    return [Pointwise("float64", (primitive("maximum", count, ZERO),), (), body, 10)]
