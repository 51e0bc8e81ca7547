"""Lowering of linear recurrences."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr
from aesara.lower.arrays import Array, Index, Reader
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported
from aesara.lower.folds import accumulate
from aesara.tensor.sequences.recurrence import LinearRecurrence


@lower_op.register
def _linear_recurrence(op: LinearRecurrence, node: Apply, context: Context) -> Sequence[Array]:
    factors, terms = (context.array(v) for v in node.inputs)
    if terms.dtype == "bool":
        raise Unsupported("a recurrence of booleans")
    guards: list[object] = []
    message = "LinearRecurrence: the factors have size {0} in a dimension, the terms {1}."
    for of_a, of_b in zip(factors.shape, terms.shape, strict=True):
        guards += context.require_equal(of_a, of_b, ValueError, message, node)

    def step(readers: Sequence[Reader], value: Expr, previous: Index, current: Index) -> Expr:
        # A backward step has the factor of the forward step between the same elements.
        return readers[0](previous if op.backwards else current) * value + readers[1](current)

    return [accumulate((factors, terms), op.axis, step, op.backwards, guards)]
