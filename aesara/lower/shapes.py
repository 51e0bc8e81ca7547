"""Lowering of shapes: reading, asserting and changing them, and ops that pass a value through."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.graph.nodes import Apply, Constant
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Alias, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import product
from aesara.lower.context import Context, Unsupported
from aesara.lower.dispatch import lower_op
from aesara.lower.joining import integers_of_vector, vector_of
from aesara.tensor.extra_ops import CpuContiguous
from aesara.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape, Unbroadcast


def size_array(size: Expr) -> Array:
    """A size as a 0-d int64 array."""
    return Pointwise("int64", (), (), lambda index, readers: size, 0)


@lower_op.register
def _shape(op: Shape, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    return [vector_of([size_array(n) for n in array.shape], "int64", context)]


@lower_op.register
def _shape_i(op: Shape_i, node: Apply, context: Context) -> Sequence[Array]:
    return [size_array(context.array(node.inputs[0]).shape[op.i])]


@lower_op.register
def _specify_shape(op: SpecifyShape, node: Apply, context: Context) -> Sequence[Array]:
    x, *wanted = node.inputs
    array = context.array(x)
    shape, guards = list(array.shape), list[object]()
    for axis, variable in enumerate(wanted):
        if isinstance(variable, Constant) and variable.data is None:
            continue
        size = context.size_from(context.array(variable))
        message = f"SpecifyShape: dimension {axis} of the input has shape {{0}}, expected {{1}}."
        guards += context.require_equal(array.shape[axis], size, AssertionError, message, node)
        shape[axis] = size
    return [_same(array, shape, guards)]


@lower_op.register(CpuContiguous)
@lower_op.register(Unbroadcast)
def _same_elements(op: object, node: Apply, context: Context) -> Sequence[Array]:
    return [context.array(node.inputs[0])]


def _same(array: Array, shape: Sequence[Expr], guards: Sequence[object]) -> Array:
    """The array itself under other (equal) sizes."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index)

    return Pointwise(
        array.dtype, shape, (array,), body, 0, requires=guards, strided=lambda offset, strides: (offset, strides)
    )


@lower_op.register
def _reshape(op: Reshape, node: Apply, context: Context) -> Sequence[Array]:
    x, shape = node.inputs
    array = context.array(x)
    wanted = integers_of_vector(shape, op.ndim, node, context)
    total = product(array.shape)
    negative = [d for d, n in enumerate(wanted) if n.is_const and n.attr == -1]
    guards: list[object] = []
    if not negative and any(not n.is_const for n in wanted):
        wanted, negative = _resolve_unknown(wanted, node, context, guards)
    if len(negative) > 1:
        raise Unsupported("a reshape with several unknown lengths")
    if negative:
        known = product([n for d, n in enumerate(wanted) if d not in negative])
        guards += _divisible(known, total, node, context)
        wanted[negative[0]] = primitive("intdiv", total, primitive("maximum", known, const(1)))
    for d, static in enumerate(node.outputs[0].type.shape):
        if static is not None:
            wanted[d] = const(static)
    message = "cannot reshape array of size {0} into a shape of size {1}."
    guards += context.guard(
        primitive("eq", total, product(wanted)), ValueError, message, node, [total, product(wanted)]
    )
    if _same_up_to_ones(array.shape, wanted):
        return [_with_unit_dimensions(array, wanted, guards)]
    return [Alias(array, wanted, guards)]


def _resolve_unknown(
    wanted: list[Expr], node: Apply, context: Context, guards: list[object]
) -> tuple[list[Expr], list[int]]:
    """Lengths given at run time: -1 is allowed there too."""
    total = product(context.array(node.inputs[0]).shape)
    resolved = []
    known: Expr = const(1)
    for n in wanted:
        known = primitive("mul", known, primitive("select", primitive("eq", n, const(-1)), const(1), n))
    unknown = functools.reduce(lambda a, b: primitive("or", a, b), [primitive("eq", n, const(-1)) for n in wanted])
    message = "cannot reshape array of size {0} into a shape whose other lengths multiply to 0."
    given = primitive("or", primitive("invert", unknown), primitive("ne", known, const(0)))
    guards += context.guard(given, ValueError, message, node, [total])
    for n in wanted:
        rest = primitive("intdiv", total, primitive("maximum", known, const(1)))
        free = n.op == "load" or (n.op == "var" and n.attr[0] == "h") or n.op not in ("var", "const")
        resolved.append(primitive("select", primitive("eq", n, const(-1)), rest, n) if free else n)
        if not n.is_const and free:
            message = "Reshape: lengths must be -1 or at least 0; one is {0}."
            guards += context.guard(primitive("ge", n, const(-1)), ValueError, message, node, [n])
    return resolved, []


def _divisible(known: Expr, total: Expr, node: Apply, context: Context) -> tuple[object, ...]:
    """The check that an unknown length can be worked out."""
    message = "cannot reshape array of size {0} into a shape whose other lengths multiply to {1}."
    return context.guard(primitive("ne", known, const(0)), ValueError, message, node, [total, known])


def _is_one(n: Expr) -> bool:
    return n.is_const and n.attr == 1


def _same_up_to_ones(old: Sequence[Expr], new: Sequence[Expr]) -> bool:
    return [n for n in old if not _is_one(n)] == [n for n in new if not _is_one(n)]


def _with_unit_dimensions(array: Array, shape: Sequence[Expr], guards: Sequence[object]) -> Array:
    """Adding and dropping dimensions of length 1 needs no memory of its own."""
    old = [d for d, n in enumerate(array.shape) if not _is_one(n)]
    new = [d for d, n in enumerate(shape) if not _is_one(n)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        inner: list[Expr] = [const(0)] * array.ndim
        for d, e in zip(old, new, strict=True):
            inner[d] = index[e]
        return readers[0](tuple(inner))

    def strided(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        out: list[Expr] = [const(0)] * len(shape)
        for d, e in zip(old, new, strict=True):
            out[e] = strides[d]
        return offset, tuple(out)

    return Pointwise(array.dtype, shape, (array,), body, 0, requires=guards, strided=strided)
