"""Vectorized nodes of Fourier transforms: they act on the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
)
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


@vectorize_node.register(FourierTransform)
@vectorize_node.register(RealFourierTransform)
def _transform(op: FourierTransform | RealFourierTransform, node: Apply, x: TensorVariable) -> Apply:
    return op.make_node(x)


@vectorize_node.register(InverseRealFourierTransform)
def _inverse(
    op: InverseRealFourierTransform, node: Apply, x: TensorVariable, n: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    return op.make_node(x, n) if n.type.ndim == 0 else vectorize_by_blockwise(op, node, x, n)
