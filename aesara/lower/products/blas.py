"""Lowering of ops that are defined by expressions, such as the BLAS ops.

The expression is lowered inline, and fuses with others. The schedule decides which products accumulate into their
addend.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.lower.arrays import Array
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_definition, lower_op
from aesara.lower.products.dot import scaled_product
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.products.gemm import Dot22Scalar


@lower_op.register
def _dot22scalar(op: Dot22Scalar, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a scaled product, whose factor BLAS applies."""
    return [scaled_product(node, context)]


@lower_op.register
def lower_expression(op: ExpressionOp, node: Apply, context: Context) -> Sequence[Array]:
    """Lower the definition of an op inline."""
    return lower_definition(node, lambda inner: [op.definition(*inner)], context)
