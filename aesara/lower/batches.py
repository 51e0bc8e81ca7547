"""Ops applied to each member of a batch: what has a rule for batches has become that when this is asked."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.lower.arrays import Array
from aesara.lower.context import Context, Unsupported
from aesara.lower.dispatch import lower_op
from aesara.tensor.vectorization.blockwise import Blockwise


@lower_op.register
def _blockwise(op: Blockwise, node: Apply, context: Context) -> Sequence[Array]:
    raise Unsupported(f"{op.core_op} has no rule for batches (vectorize_node): it is called for each member")
