"""Lowering of run-time checks."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Pointwise
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import escape_braces
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.core.check_and_raise import CheckAndRaise


@lower_op.register
def _check_and_raise(op: CheckAndRaise, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    guards: list[object] = []
    for variable in op.conditions(node.inputs):
        condition = convert(context.array(variable), "bool")
        if condition.ndim:
            condition = reduce_array(context, condition, tuple(range(condition.ndim)), "and")
        holds = context.size_from(condition)
        message = escape_braces(op.msg)
        guards += context.guard(primitive("ne", holds, const(0)), op.exc_type, message, node)
    return [
        Pointwise(
            array.dtype, array.shape, (array,), lambda index, readers: readers[0](index), 0, requires=guards,
            strided=lambda offset, strides: (offset, strides),
        )
    ]  # fmt: skip
