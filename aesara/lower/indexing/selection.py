"""Lowering of `choose` and of permutations of rows."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Assembled, Index, Pointwise, Reader, Write, literal
from aesara.lower.broadcasting import broadcast_shape, operand_index
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import range_of, require_range
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.indexing.choosing import Choose
from aesara.tensor.indexing.permuting import PermuteRowElements
from aesara.tensor.indexing.selection import Default


@lower_op.register
def _default(op: Default, node: Apply, context: Context) -> Sequence[Array]:
    # A tensor is never None.
    return [context.array(node.inputs[0])]


@lower_op.register
def _choose(op: Choose, node: Apply, context: Context) -> Sequence[Array]:
    selector, choices = (context.array(v) for v in node.inputs)
    count, rest = choices.shape[0], choices.shape[1:]
    shape, guards = broadcast_shape([selector.shape, rest], ValueError, "the index and the choices", node, context)
    last = count - 1
    if op.mode == "raise":
        message = "Choose: an index is out of range: they go from {0} to {1}, and there are {2} choices."
        guards += require_range(selector, ZERO, count, ValueError, message, node, context)
    elif not count.is_const or count.attr == 0:
        total = count_of(shape)
        nonempty = (count > ZERO) | primitive("eq", total, ZERO)
        message = "Choose: there are {0} choices to take {1} entries from."
        guards += context.guard(nonempty, IndexError, message, node, [count, total])

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        which = cast(readers[0](operand_index(index, selector.shape, shape, context)), "int64")
        if op.mode == "wrap":
            which = which % count
        elif op.mode == "clip":
            which = primitive("minimum", primitive("maximum", which, ZERO), last)
        return readers[1]((which, *operand_index(index, rest, shape, context)))

    return [Pointwise(choices.dtype, shape, (selector, choices), body, 2, [False, True], guards)]


@lower_op.register
def _permute_rows(op: PermuteRowElements, node: Apply, context: Context) -> Sequence[Array]:
    x, order, inverse = (context.array(v) for v in node.inputs)
    shape, guards = broadcast_shape([x.shape, order.shape], ValueError, "the rows and permutations", node, context)
    size = shape[-1]
    message = "a permutation of {2} entries must not have entries from {0} to {1}"
    guards += require_range(order, ZERO - size, size, IndexError, message, node, context, shape)
    low, _ = range_of(order, context)

    def permute(index: Index, read: Reader) -> Index:
        position = cast(read(operand_index(index, order.shape, shape, context)), "int64")
        if not (low.is_const and low.attr >= 0):
            position = primitive("select", position < ZERO, position + size, position)
        return (*index[:-1], position)

    def gather() -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return readers[0](operand_index(permute(index, readers[1]), x.shape, shape, context))

        return context.add(Pointwise(x.dtype, shape, (x, order), body, 2, [True, False], guards))

    def scatter() -> Array:
        zeros = context.add(literal(0, x.dtype, shape))
        write = Write(
            shape, (x, order),
            lambda index, readers: permute(index, readers[1]),
            lambda index, readers: readers[0](operand_index(index, x.shape, shape, context)),
        )  # fmt: skip
        return context.add(Assembled(x.dtype, shape, zeros, [write], guards))

    is_inverse = context.size_from(inverse)
    if is_inverse.is_const:
        return [scatter() if is_inverse.attr else gather()]
    gathered, scattered = gather(), scatter()

    def select(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("select", primitive("ne", is_inverse, ZERO), readers[1](index), readers[0](index))

    return [Pointwise(x.dtype, shape, (gathered, scattered), select, 1)]
