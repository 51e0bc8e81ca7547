"""Lowering of what carries a complex number along: products, extrema, running products, linear recurrences."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray, part_dtype
from aesara.lower.context import Context, Unsupported
from aesara.lower.dispatch import lower_complex_op
from aesara.lower.elementwise.complex_elemwise import part_recipes
from aesara.lower.elementwise.complex_parts import on_each_part
from aesara.lower.elementwise.scalars import follow
from aesara.lower.reductions.careduce import converted, require_nonempty
from aesara.lower.sequences.carried import Pair, carried, product
from aesara.lower.sequences.sequential import flat
from aesara.scalar.arithmetic import Add
from aesara.scalar.complex_forms import Parts, choose, complex_form, is_nonzero, times
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.sum_prod_max import MulWithoutZeros, Supremum
from aesara.tensor.sequences.cumulative import CumOp
from aesara.tensor.sequences.recurrence import LinearRecurrence


@complex_form(MulWithoutZeros)
def _mul_without_zeros(op: ScalarOp, z: Parts, w: Parts) -> Parts:
    return choose(is_nonzero(z), choose(is_nonzero(w), times(z, w), z), w)


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
    if start is None or (abs(start) > 1 and not isinstance(op, Supremum)):
        start = None
        what = f"zero-size array to reduction operation {op.scalar_op}"
        guards = require_nonempty(context, z.real, axes, node, what)

    def following(so_far: Pair, elements: Sequence[Pair]) -> Pair:
        arguments = [*so_far, *elements[0]]
        return follow(re.recipe, arguments)[0], follow(im.recipe, arguments)[0]

    result = carried([z], axes, lambda elements: elements[0], following, context, start, requires=guards)
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
        return product(so_far, elements[0])

    return [carried([z], (axis,), lambda elements: elements[0], following, context, every=True)]


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
        (re, im), term = product(elements[0], so_far), elements[1]
        return re + term[0], im + term[1]

    place = mirrored if op.backwards else lambda index: index
    result = carried(
        [factors, terms], (axis,), lambda elements: elements[1], following, context, every=True, place=place,
        requires=guards,
    )  # fmt: skip
    return [result]
