"""Lowering of ops that make arrays: alloc, arange, eye."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader, literal
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.tensor.allocation import Alloc, AllocEmpty
from aesara.tensor.creation import ARange, Eye


def _lengths(variables: Sequence[object], node: Apply, context: Context) -> tuple[list[Expr], list[object]]:
    sizes, guards = [], list[object]()
    for axis, variable in enumerate(variables):
        size = context.size_from(context.array(variable))  # type: ignore[arg-type]
        message = f"negative dimensions are not allowed: dimension {axis} has size {{0}}."
        if not size.is_const or size.attr < 0:
            if not (size.op == "var" and size.attr[0] == "s"):
                guards += context.guard(primitive("ge", size, ZERO), ValueError, message, node, [size])
        sizes.append(size)
    return sizes, guards


@lower_op.register
def _alloc(op: Alloc, node: Apply, context: Context) -> Sequence[Array]:
    value, *lengths = node.inputs
    array = context.array(value)
    shape, guards = _lengths(lengths, node, context)
    lead = len(shape) - array.ndim
    own: list[Expr | None] = []  # for each dimension of the value: ONE, its size if that may be 1, None if it is not
    for d, size in enumerate(array.shape):
        wanted = shape[lead + d]
        if value.type.shape[d] == 1:
            own.append(ONE)
        elif context.same_size(size, wanted):
            own.append(None)
        else:
            message = f"Alloc: dimension {lead + d} of the result has size {{0}}, but the value has size {{1}}."
            fits = primitive("or", primitive("eq", wanted, size), primitive("eq", size, ONE))
            guards += context.guard(fits, ValueError, message, node, [wanted, size])
            own.append(size)

    def place(d: int, i: Expr) -> Expr:
        size = own[d]
        if size is None:
            return i
        return ZERO if size is ONE else primitive("select", primitive("eq", size, ONE), ZERO, i)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(place(d, i) for d, i in enumerate(index[lead:])))

    def strided(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        steps = []
        for size, step in zip(own, strides, strict=True):
            if size is not None:
                step = ZERO if size is ONE else primitive("select", primitive("eq", size, ONE), ZERO, step)
            steps.append(step)
        return offset, (ZERO,) * lead + tuple(steps)

    expands = lead > 0 and any(size is not ONE for size in own)
    return [Pointwise(array.dtype, shape, (array,), body, 0, [expands], guards, strided)]


@lower_op.register
def _alloc_empty(op: AllocEmpty, node: Apply, context: Context) -> Sequence[Array]:
    check_dtype(op.dtype)
    shape, guards = _lengths(node.inputs, node, context)
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
    (rows, columns), guards = _lengths(node.inputs[:2], node, context)
    shift = context.size_from(context.array(node.inputs[2]))
    shape = [const(n) if n is not None else s for n, s in zip(node.outputs[0].type.shape, (rows, columns), strict=True)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        on = primitive("eq", primitive("sub", index[1], index[0]), shift)
        return primitive("select", on, const(1, dtype), const(0, dtype))

    return [Pointwise(dtype, shape, (), body, 2, requires=guards)]
