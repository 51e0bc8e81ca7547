"""Vectorized pooling: windows are in the last dimensions, all others are batch dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.signal.pooling import PoolingOp
from aesara.tensor.vectorization.batches import batch_sizes, batches, broadcast_batch
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


@vectorize_node.register(PoolingOp)
def vectorize_pooling(op: PoolingOp, node: Apply, *inputs: TensorVariable) -> Apply | Sequence[TensorVariable]:
    """Apply the op to more images; if the windows are batched, apply it to each member of the batch."""
    numbers = batches(node, inputs)
    if any(numbers[op.operands :]):
        return vectorize_by_blockwise(op, node, *inputs)
    arrays, numbers = inputs[: op.operands], numbers[: op.operands]
    sizes = batch_sizes(arrays, numbers)
    whole = [broadcast_batch(x, n, sizes) for x, n in zip(arrays, numbers, strict=True)]
    return [op(*whole, *inputs[op.operands :])]
