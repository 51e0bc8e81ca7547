"""Lowering of operations that stand for expressions, such as products in the forms of BLAS.

The expression is lowered, and may fuse with what is around it. Which of the products BLAS adds to what there is already
is decided by the schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Constant
from aesara.lower.arrays import Array
from aesara.lower.complex import ComplexArray
from aesara.lower.context import Context
from aesara.lower.dispatch import is_complex, lower_all, lower_complex_op, lower_op
from aesara.lower.products.dot import scaled_product
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.products.gemm import Dot22Scalar


@lower_op.register
def _dot22scalar(op: Dot22Scalar, node: Apply, context: Context) -> Sequence[Array]:
    """BLAS scales while it multiplies."""
    return [scaled_product(node, context)]


@lower_op.register  # type: ignore[arg-type]  # of real numbers it gives arrays
@lower_complex_op.register
def lower_expression(op: ExpressionOp, node: Apply, context: Context) -> Sequence[Array | ComplexArray]:
    """Lower what an operation stands for."""
    # Each node gets variables of its own, since arrays are found by variable.
    inner: list[Any] = [v if isinstance(v, Constant) else v.type() for v in node.inputs]
    for outer, variable in zip(node.inputs, inner, strict=True):
        if variable is not outer:
            context.set(variable, context.pair(outer) if is_complex(outer) else context.array(outer))
    result = op.definition(*inner)
    before = len(context.made)
    lower_all(inner, [result], context)
    while len(context.made) > before:
        context.made.popitem()  # what has been made, has been made for this node
    return [context.pair(result) if is_complex(result) else context.array(result)]
