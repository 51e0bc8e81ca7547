"""Lowering of shapes: reading, asserting and changing them, and ops that pass a value through."""

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
    total = count_of(array.shape)
    message = wrong_number_of_lengths(op.ndim, "{0}")
    lengths = integers_of_vector(shape, op.ndim, node, context, message)
    wanted, guards = _resolved(lengths, total, node, context)
    left = _left_open(array.shape, lengths)
    if left is not None:
        place, size = left
        wanted[place] = size
    for d, static in enumerate(node.outputs[0].type.shape):
        if static is not None:
            wanted[d] = const(static)
    count = count_of(wanted)
    if total is not count:
        message = "cannot reshape array of size {0}: the lengths multiply to more than any array has."
        guards += context.guard(_is_exact(wanted), ValueError, message, node, [total])
        message = "cannot reshape array of size {0} into a shape of size {1}."
        guards += context.guard(primitive("eq", total, count), ValueError, message, node, [total, count])
    if _same_up_to_ones(array.shape, wanted):
        return [_with_unit_dimensions(array, wanted, guards)]
    return [Alias(array, wanted, guards)]


def _left_open(old: Sequence[Expr], lengths: Sequence[Expr]) -> tuple[int, Expr] | None:
    """The place of the -1 and the size that it stands for, if the other lengths are those of the other dimensions.

    These do not multiply to 0, which is checked, so that what is left is one dimension as it is.
    """
    places = [d for d, n in enumerate(lengths) if n.is_const and n.attr == -1]
    if len(places) != 1:
        return None
    (place,) = places
    before = [n for n in lengths[:place] if not _is_one(n)]
    behind = [n for n in lengths[place + 1 :] if not _is_one(n)]
    sizes = [n for n in old if not _is_one(n)]
    at = len(before)
    if len(sizes) != at + 1 + len(behind) or sizes[:at] != before or sizes[at + 1 :] != behind:
        return None
    return place, sizes[at]


def _resolved(wanted: list[Expr], total: Expr, node: Apply, context: Context) -> tuple[list[Expr], list[object]]:
    """Lengths with the one that is -1, known or at run time, worked out from the number of elements."""
    asked = {d: primitive("eq", n, const(-1)) for d, n in enumerate(wanted) if not is_size(n)}
    asked = {d: here for d, here in asked.items() if here is not const(False, "bool")}
    if not asked:
        return wanted, []
    guards: list[object] = []
    for d in asked:
        message = "Reshape: lengths must be -1 or at least 0; one is {0}."
        guards += context.guard(wanted[d] >= (-1), ValueError, message, node, [wanted[d]])
    if len(asked) > 1:
        count = functools.reduce(
            lambda a, b: a + b,
            [primitive("select", here, const(1), const(0)) for here in asked.values()],
        )
        message = "can only specify one unknown dimension; {0} are -1."
        guards += context.guard(count <= 1, ValueError, message, node, [count])
    known = count_of([primitive("select", asked[d], const(1), n) if d in asked else n for d, n in enumerate(wanted)])
    given = functools.reduce(lambda a, b: a | b, asked.values())
    if not (known.is_const and known.attr):
        message = "cannot reshape array of size {0} into a shape whose other lengths multiply to 0."
        possible = primitive("ne", known, const(0))
        if not given.is_const:
            possible = ~given | possible
        guards += context.guard(possible, ValueError, message, node, [total])
    rest = total // primitive("maximum", known, const(1))
    return [primitive("select", asked[d], rest, n) if d in asked else n for d, n in enumerate(wanted)], guards


def _is_exact(sizes: Sequence[Expr]) -> Expr:
    """Whether the product of sizes that are not negative is what it is without overflow."""
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
