"""Lowering of sequential ops on complex numbers: products, extrema, cumulative products, linear recurrences."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray, part_dtype
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_complex_op
from aesara.lower.elementwise.complex_elemwise import part_recipes
from aesara.lower.elementwise.complex_parts import on_each_part
from aesara.lower.elementwise.scalars import evaluate
from aesara.lower.errors import Unsupported
from aesara.lower.reductions.careduce import convert, require_nonempty
from aesara.lower.sequences.carried import Pair, carry, product
from aesara.lower.sequences.sequential import flatten
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


def _convert(z: ComplexArray, dtype: str, context: Context) -> ComplexArray:
    parts = [convert(part, part_dtype(dtype)) for part in z.parts]
    return ComplexArray(*map(context.ensure_added, parts))


@lower_complex_op.register
def _careduce(op: CAReduce, node: Apply, context: Context) -> list[Array | ComplexArray]:
    """Lower a reduction: sums for each part, others sequentially."""
    if isinstance(op.scalar_op, Add):
        return on_each_part(slice(0, 1), node, context)
    out = node.outputs[0].type.dtype
    dtype = op.acc_dtype or out
    if not dtype.startswith("complex") or not out.startswith("complex"):
        raise Unsupported(f"reduction of complex numbers with {op.scalar_op} to {out}")
    z = _convert(context.pair(node.inputs[0]), dtype, context)
    axes = tuple(range(z.real.ndim)) if op.axis is None else tuple(op.axis)
    if not axes:
        return [_convert(z, out, context)]
    ((re, im),) = part_recipes(op.scalar_op, (get_scalar_type(dtype=dtype),) * 2)
    start = getattr(op.scalar_op, "identity", None)
    guards: list[object] = []
    if start is None or (abs(start) > 1 and not isinstance(op, Supremum)):
        start = None
        failure = f"zero-size array to reduction operation {op.scalar_op}"
        guards = require_nonempty(context, z.real, axes, node, failure)

    def step(carried: Pair, elements: Sequence[Pair]) -> Pair:
        arguments = [*carried, *elements[0]]
        return evaluate(re.recipe, arguments)[0], evaluate(im.recipe, arguments)[0]

    result = carry([z], axes, lambda elements: elements[0], step, context, start, requires=guards)
    return [_convert(result, out, context)]


@lower_complex_op.register
def _cumulative(op: CumOp, node: Apply, context: Context) -> list[Array | ComplexArray]:
    if op.mode == "add":
        return on_each_part(slice(0, 1), node, context)
    z = context.pair(node.inputs[0])
    if op.axis is None:
        z = ComplexArray(*(flatten(part, context) for part in z.parts))
    if z.real.ndim == 0:
        return [z]
    axis = (op.axis or 0) % z.real.ndim

    def step(carried: Pair, elements: Sequence[Pair]) -> Pair:
        return product(carried, elements[0])

    return [carry([z], (axis,), lambda elements: elements[0], step, context, every=True)]


def _shift(array: Array, axis: int, context: Context) -> Array:
    """Shift an array along an axis by one, repeating the last element."""
    last = array.shape[axis] - ONE

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        next_index = primitive("minimum", index[axis] + ONE, last)
        return readers[0]((*index[:axis], next_index, *index[axis + 1 :]))

    return context.add(Pointwise(array.dtype, array.shape, (array,), body))


@lower_complex_op.register
def _linear_recurrence(op: LinearRecurrence, node: Apply, context: Context) -> list[ComplexArray]:
    factors, terms = (context.pair(v) for v in node.inputs)
    guards: list[object] = []
    message = "LinearRecurrence: the factors have size {0} in a dimension, the terms {1}."
    for of_a, of_b in zip(factors.real.shape, terms.real.shape, strict=True):
        guards += context.require_equal(of_a, of_b, ValueError, message, node)
    axis, last = op.axis, terms.real.shape[op.axis] - ONE

    def mirror(index: Index) -> Index:
        return (*index[:axis], last - index[axis], *index[axis + 1 :])

    if op.backwards:
        # the factor of a backward step is that of the element that it starts from
        factors = ComplexArray(*(_shift(part, axis, context) for part in factors.parts))

    def step(carried: Pair, elements: Sequence[Pair]) -> Pair:
        (re, im), term = product(elements[0], carried), elements[1]
        return re + term[0], im + term[1]

    position = mirror if op.backwards else lambda index: index
    result = carry(
        [factors, terms], (axis,), lambda elements: elements[1], step, context, every=True, position=position,
        requires=guards,
    )  # fmt: skip
    return [result]
