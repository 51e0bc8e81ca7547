"""Lowering of ops that are defined by expressions, such as the BLAS ops.

The expression is lowered inline, and fuses with others. The schedule decides which products accumulate into their
addend.
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
    """Lower a scaled product, whose factor BLAS applies."""
    return [scaled_product(node, context)]


@lower_op.register  # type: ignore[arg-type]  # returns arrays for real numbers
@lower_complex_op.register
def lower_expression(op: ExpressionOp, node: Apply, context: Context) -> Sequence[Array | ComplexArray]:
    """Lower the definition of an op inline."""
    # Each node gets variables of its own, since arrays are found by variable.
    inner: list[Any] = [v if isinstance(v, Constant) else v.type() for v in node.inputs]
    for outer, variable in zip(node.inputs, inner, strict=True):
        if variable is not outer:
            context.set(variable, context.pair(outer) if is_complex(outer) else context.array(outer))
    result = op.definition(*inner)
    before = len(context.made)
    lower_all(inner, [result], context)
    while len(context.made) > before:
        context.made.popitem()  # the items belong to this node
    return [context.pair(result) if is_complex(result) else context.array(result)]
