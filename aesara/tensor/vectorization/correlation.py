"""Vectorized convolutions: a batch of images, of filters or of outputs is more images, channels or outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.products.correlation import Correlation
from aesara.tensor.vectorization.batches import batches
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise

#: direction, number of the operand with the batch: the axis of the operand that takes it in, that of the result, and
#: whether channels and outputs may be grouped and filters unshared
_AXES = {
    ("forward", 0): (0, 0, True),
    ("forward", 1): (0, 1, False),
    ("inputs", 0): (1, 1, False),
    ("inputs", 1): (0, 0, True),
    ("weights", 0): (1, 1, False),
    ("weights", 1): (1, 0, False),
}


@vectorize_node.register(Correlation)
def _correlation(op: Correlation, node: Apply, *inputs: TensorVariable) -> Apply | Sequence[TensorVariable]:
    """Merge the batch of one operand with an axis of it; compute the members one by one if both have batches."""
    numbers = batches(node, inputs)
    batched = [k for k, n in enumerate(numbers) if n]
    if len(batched) != 1 or batched[0] > 1:
        return vectorize_by_blockwise(op, node, *inputs)
    (k,) = batched
    axis, of_result, any_windows = _AXES[op.direction, k]
    if not any_windows and (op.windows.groups > 1 or op.windows.unshared):
        return vectorize_by_blockwise(op, node, *inputs)
    x, n = inputs[k], numbers[k]
    sizes = [x.shape[d] for d in range(x.type.ndim)]
    order = [*range(n, n + axis), *range(n), *range(n + axis, x.type.ndim)]
    merged = [*sizes[n : n + axis], reduce(mul, sizes[:n]) * sizes[n + axis], *sizes[n + axis + 1 :]]
    operands = list(inputs)
    operands[k] = x.dimshuffle(*order).reshape(tuple(merged), ndim=x.type.ndim - n)
    result = op(*operands)
    lengths = [result.shape[d] for d in range(result.type.ndim)]
    split = [*lengths[:of_result], *sizes[:n], sizes[n + axis], *lengths[of_result + 1 :]]
    whole = result.reshape(tuple(split), ndim=result.type.ndim + n)
    front = range(of_result, of_result + n)
    return [whole.dimshuffle(*front, *(d for d in range(whole.type.ndim) if d not in front))]
