"""Lowering of ops that read, assert and change shapes."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.graph.nodes import Apply, Constant
from aesara.ir.expr import Expr, cast, const, is_size
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Alias, Array, Index, Pointwise, Reader
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.joining.joining import integers_of_vector, vector_of
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.shapes.cpu_contiguous import CpuContiguous
from aesara.tensor.shapes.reshape import Reshape, wrong_number_of_lengths
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast


def size_array(size: Expr) -> Array:
    """Return a size as a 0-d int64 array."""
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
    return [_with_shape(array, shape, guards)]


@lower_op.register(CpuContiguous)
@lower_op.register(Unbroadcast)
def _same_elements(op: object, node: Apply, context: Context) -> Sequence[Array]:
    return [context.array(node.inputs[0])]


def _with_shape(array: Array, shape: Sequence[Expr], guards: Sequence[object]) -> Array:
    """Return the array with other expressions for its sizes."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index)

    return Pointwise(
        array.dtype, shape, (array,), body, 0, requires=guards, strided=lambda offset, strides: (offset, strides)
    )


@lower_op.register
def _reshape(op: Reshape, node: Apply, context: Context) -> Sequence[Array]:
    x, shape = node.inputs
    array = context.array(x)
    total = count_of(array.shape)
    message = wrong_number_of_lengths(op.ndim, "{0}")
    lengths = integers_of_vector(shape, op.ndim, node, context, message)
    new_shape, guards = _resolve_lengths(lengths, total, node, context)
    unknown = _unknown_dimension(array.shape, lengths)
    if unknown is not None:
        axis, size = unknown
        new_shape[axis] = size
    for d, static in enumerate(node.outputs[0].type.shape):
        if static is not None:
            new_shape[d] = const(static)
    count = count_of(new_shape)
    if total is not count:
        message = "cannot reshape array of size {0}: the lengths multiply to more than any array has."
        guards += context.guard(_fits_int64(new_shape), ValueError, message, node, [total])
        message = "cannot reshape array of size {0} into a shape of size {1}."
        guards += context.guard(primitive("eq", total, count), ValueError, message, node, [total, count])
    if _same_up_to_ones(array.shape, new_shape):
        return [_with_unit_dimensions(array, new_shape, guards)]
    return [Alias(array, new_shape, guards)]


def _unknown_dimension(old: Sequence[Expr], lengths: Sequence[Expr]) -> tuple[int, Expr] | None:
    """Return the axis of the length -1 and its size, if the other lengths are those of the other dimensions, or None.

    Their product is not 0, which is checked, so that the remaining dimension is unchanged.
    """
    unknown = [d for d, n in enumerate(lengths) if n.is_const and n.attr == -1]
    if len(unknown) != 1:
        return None
    (axis,) = unknown
    before = [n for n in lengths[:axis] if not _is_one(n)]
    behind = [n for n in lengths[axis + 1 :] if not _is_one(n)]
    sizes = [n for n in old if not _is_one(n)]
    at = len(before)
    if len(sizes) != at + 1 + len(behind) or sizes[:at] != before or sizes[at + 1 :] != behind:
        return None
    return axis, sizes[at]


def _resolve_lengths(
    lengths: list[Expr], total: Expr, node: Apply, context: Context
) -> tuple[list[Expr], list[object]]:
    """Replace the length -1, which may be known only at run time, with the size that it stands for."""
    is_unknown = {d: primitive("eq", n, const(-1)) for d, n in enumerate(lengths) if not is_size(n)}
    is_unknown = {d: flag for d, flag in is_unknown.items() if flag is not const(False, "bool")}
    if not is_unknown:
        return lengths, []
    guards: list[object] = []
    for d in is_unknown:
        message = "Reshape: lengths must be -1 or at least 0; one is {0}."
        guards += context.guard(lengths[d] >= (-1), ValueError, message, node, [lengths[d]])
    if len(is_unknown) > 1:
        count = functools.reduce(
            lambda a, b: a + b,
            [primitive("select", flag, const(1), const(0)) for flag in is_unknown.values()],
        )
        message = "can only specify one unknown dimension; {0} are -1."
        guards += context.guard(count <= 1, ValueError, message, node, [count])

    def replace_unknown(value: Expr) -> list[Expr]:
        return [primitive("select", is_unknown[d], value, n) if d in is_unknown else n for d, n in enumerate(lengths)]

    known = count_of(replace_unknown(const(1)))
    any_unknown = functools.reduce(lambda a, b: a | b, is_unknown.values())
    if not (known.is_const and known.attr):
        message = "cannot reshape array of size {0} into a shape whose other lengths multiply to 0."
        possible = primitive("ne", known, const(0))
        if not any_unknown.is_const:
            possible = ~any_unknown | possible
        guards += context.guard(possible, ValueError, message, node, [total])
    quotient = total // primitive("maximum", known, const(1))
    return replace_unknown(quotient), guards


def _fits_int64(sizes: Sequence[Expr]) -> Expr:
    """Return whether the product of nonnegative sizes does not overflow."""
    unknown = [n for n in sizes if not n.is_const]
    if not unknown or (len(unknown) == 1 and all(_is_one(n) for n in sizes if n.is_const)):
        return const(True, "bool")
    factors = [cast(n, "float64") for n in sizes]
    approximate = functools.reduce(lambda a, b: a * b, factors)
    return approximate < const(2.0**62, "float64")


def _is_one(n: Expr) -> bool:
    return n.is_const and n.attr == 1


def _same_up_to_ones(old: Sequence[Expr], new: Sequence[Expr]) -> bool:
    return [n for n in old if not _is_one(n)] == [n for n in new if not _is_one(n)]


def _with_unit_dimensions(array: Array, shape: Sequence[Expr], guards: Sequence[object]) -> Array:
    """Return a view with dimensions of length 1 added and dropped."""
    old = [d for d, n in enumerate(array.shape) if not _is_one(n)]
    new = [d for d, n in enumerate(shape) if not _is_one(n)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        inner: list[Expr] = [const(0)] * array.ndim
        for d, e in zip(old, new, strict=True):
            inner[d] = index[e]
        return readers[0](tuple(inner))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        out: list[Expr] = [const(0)] * len(shape)
        for d, e in zip(old, new, strict=True):
            out[e] = strides[d]
        return offset, tuple(out)

    return Pointwise(array.dtype, shape, (array,), body, 0, requires=guards, strided=restride)
