"""Vectorized convolutions: sums of products over windows, which compile to loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import and_, clip, ge, lt, maximum, minimum, switch
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor
from aesara.tensor.reductions.sum_prod_max import sum as tensor_sum
from aesara.tensor.sequences.convolve import Convolve
from aesara.tensor.type_other import as_symbolic_slice
from aesara.tensor.vectorization.batches import align, batches


@vectorize_node.register(Convolve)
def _convolve(op: Convolve, node: Apply, a: TensorVariable, v: TensorVariable) -> Sequence[TensorVariable]:
    of_a, of_v = batches(node, [a, v])
    dtype = node.outputs[0].type.dtype
    a, v = a.astype(dtype), v.astype(dtype)
    n, m = a.shape[of_a], v.shape[of_v]
    first, count = _window(op.mode, n, m)
    # For each entry of the result the positions in `a` that meet the entries of `v`.
    meeting = (first + arange(count)).dimshuffle(0, "x") - arange(m).dimshuffle("x", 0)
    inside = and_(ge(meeting, 0), lt(meeting, n))
    everything = [as_symbolic_slice(slice(None)) for _ in range(of_a)]
    windows = AdvancedSubtensor()(a, *everything, clip(meeting, 0, n - 1))
    products = switch(inside, windows * align(v, of_v, of_v, 2), np.zeros((), dtype=dtype))
    return [tensor_sum(products, axis=-1, dtype=dtype)]


def _window(mode: str, n: TensorVariable, m: TensorVariable) -> tuple[TensorVariable | int, TensorVariable]:
    """Return the offset and the length of the result in the full convolution."""
    if mode == "full":
        return 0, n + m - 1
    shorter, longer = minimum(n, m), maximum(n, m)
    if mode == "same":
        return (shorter - 1) // 2, longer
    return shorter - 1, longer - shorter + 1
