"""Lowering of what carries a complex number along: products, extrema, running products, linear recurrences."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, For, Statement
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader, Sequential, Writer
from aesara.lower.complex import ComplexArray, part_dtype, split
from aesara.lower.context import Context, Unsupported
from aesara.lower.dispatch import lower_complex_op
from aesara.lower.elementwise.complex_elemwise import part_recipes
from aesara.lower.elementwise.complex_parts import on_each_part
from aesara.lower.elementwise.scalars import follow
from aesara.lower.reductions.careduce import converted, require_nonempty
from aesara.lower.sequences.sequential import flat
from aesara.scalar.arithmetic import Add
from aesara.scalar.complex_forms import Parts, choose, complex_form, is_nonzero, times
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.sum_prod_max import MulWithoutZeros
from aesara.tensor.sequences.cumulative import CumOp
from aesara.tensor.sequences.recurrence import LinearRecurrence

Pair = tuple[Expr, Expr]

_CARRIED = ("r0", "r1")


@complex_form(MulWithoutZeros)
def _mul_without_zeros(op: ScalarOp, z: Parts, w: Parts) -> Parts:
    return choose(is_nonzero(z), choose(is_nonzero(w), times(z, w), z), w)


def _product(z: Pair, w: Pair) -> Pair:
    (a, b), (c, d) = z, w
    re = a * c - b * d
    return re, a * d + b * c


def _carried(
    operands: Sequence[ComplexArray], axes: Sequence[int], first: Callable[[Sequence[Pair]], Pair],
    following: Callable[[Pair, Sequence[Pair]], Pair], context: Context, start: complex | None = None,
    every: bool = False, place: Callable[[Index], Index] = lambda index: index,
    requires: Sequence[object] = (),
) -> ComplexArray:  # fmt: skip
    """Carry a number along axes of operands of one shape, in row-major order over the axes.

    `first` makes it of the first elements, `following` of the number so far and the next elements.  The result holds
    the last number (or `start`, where there are no elements), or with `every` each one.  `place` says where the
    elements of an iteration are.
    """
    shape, dtype = operands[0].real.shape, operands[0].real.dtype
    loops = tuple(var(f"v{d}") for d in range(len(shape)))
    kept = [d for d in range(len(shape)) if d not in axes]
    state = (var(_CARRIED[0], dtype), var(_CARRIED[1], dtype))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        here = place(loops)
        elements = [(readers[k](here), readers[k + 1](here)) for k in range(0, len(readers), 2)]
        is_first = functools.reduce(
            lambda a, b: a & b, [primitive("eq", loops[d], ZERO) for d in axes]
        )
        values = zip(first(elements), following(state, elements), strict=True)
        re, im = (primitive("select", is_first, a, b) for a, b in values)
        # both are computed before the first is assigned
        statements: tuple[Statement, ...] = (Declare("r2", re), Assign("r1", im), Assign("r0", var("r2", dtype)))
        index = here if every else tuple(loops[d] for d in kept)
        stores = tuple(write((*index, const(k)), state[k]) for k in (0, 1))
        if every:
            statements += stores
        for d in sorted(axes, reverse=True):
            statements = (For(f"v{d}", shape[d], statements),)
        begin = complex(start or 0)
        statements = (
            Declare("r0", const(begin.real, dtype)),
            Declare("r1", const(begin.imag, dtype)),
            *statements,
            *(() if every else stores),
        )
        for d in reversed(kept):
            statements = (For(f"v{d}", shape[d], statements),)
        return statements

    arrays = [part for operand in operands for part in operand.parts]
    result_shape = shape if every else [shape[d] for d in kept]
    whole = Sequential(dtype, (*result_shape, const(2)), arrays, body, requires=requires)
    return split(context.add(whole))


def _converted(z: ComplexArray, dtype: str, context: Context) -> ComplexArray:
    parts = [converted(part, part_dtype(dtype)) for part in z.parts]
    return ComplexArray(*map(context.added, parts))


@lower_complex_op.register
def _careduce(op: CAReduce, node: Apply, context: Context) -> list[Array | ComplexArray]:
    """Sums part by part, other reductions one element after the other."""
    if isinstance(op.scalar_op, Add):
        return on_each_part(slice(0, 1), node, context)
    out = node.outputs[0].type.dtype
    dtype = op.acc_dtype or out
    if not dtype.startswith("complex") or not out.startswith("complex"):
        raise Unsupported(f"reduction of complex numbers with {op.scalar_op} to {out}")
    z = _converted(context.pair(node.inputs[0]), dtype, context)
    axes = tuple(range(z.real.ndim)) if op.axis is None else tuple(op.axis)
    if not axes:
        return [_converted(z, out, context)]
    ((re, im),) = part_recipes(op.scalar_op, (get_scalar_type(dtype=dtype),) * 2)
    start = getattr(op.scalar_op, "identity", None)
    guards: list[object] = []
    if start is None or abs(start) > 1:
        start = None
        what = f"zero-size array to reduction operation {op.scalar_op}"
        guards = require_nonempty(context, z.real, axes, node, what)

    def following(so_far: Pair, elements: Sequence[Pair]) -> Pair:
        arguments = [*so_far, *elements[0]]
        return follow(re.recipe, arguments)[0], follow(im.recipe, arguments)[0]

    result = _carried([z], axes, lambda elements: elements[0], following, context, start, requires=guards)
    return [_converted(result, out, context)]


@lower_complex_op.register
def _cumulative(op: CumOp, node: Apply, context: Context) -> list[Array | ComplexArray]:
    if op.mode == "add":
        return on_each_part(slice(0, 1), node, context)
    z = context.pair(node.inputs[0])
    if op.axis is None:
        z = ComplexArray(*(flat(part, context) for part in z.parts))
    if z.real.ndim == 0:
        return [z]
    axis = (op.axis or 0) % z.real.ndim

    def following(so_far: Pair, elements: Sequence[Pair]) -> Pair:
        return _product(so_far, elements[0])

    return [_carried([z], (axis,), lambda elements: elements[0], following, context, every=True)]


def _moved(array: Array, axis: int, context: Context) -> Array:
    """For each place along an axis the element of the next one; the last place has its own."""
    last = array.shape[axis] - ONE

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        following = primitive("minimum", index[axis] + ONE, last)
        return readers[0]((*index[:axis], following, *index[axis + 1 :]))

    return context.add(Pointwise(array.dtype, array.shape, (array,), body))


@lower_complex_op.register
def _linear_recurrence(op: LinearRecurrence, node: Apply, context: Context) -> list[ComplexArray]:
    factors, terms = (context.pair(v) for v in node.inputs)
    guards: list[object] = []
    message = "LinearRecurrence: the factors have size {0} in a dimension, the terms {1}."
    for of_a, of_b in zip(factors.real.shape, terms.real.shape, strict=True):
        guards += context.require_equal(of_a, of_b, ValueError, message, node)
    axis, last = op.axis, terms.real.shape[op.axis] - ONE

    def mirrored(index: Index) -> Index:
        return (*index[:axis], last - index[axis], *index[axis + 1 :])

    if op.backwards:
        # the factor of a step back is that of the place it comes from
        factors = ComplexArray(*(_moved(part, axis, context) for part in factors.parts))

    def following(so_far: Pair, elements: Sequence[Pair]) -> Pair:
        (re, im), term = _product(elements[0], so_far), elements[1]
        return re + term[0], im + term[1]

    place = mirrored if op.backwards else lambda index: index
    result = _carried(
        [factors, terms], (axis,), lambda elements: elements[1], following, context, every=True, place=place,
        requires=guards,
    )  # fmt: skip
    return [result]
