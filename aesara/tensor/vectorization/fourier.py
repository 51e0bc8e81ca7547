"""Vectorized nodes of Fourier transforms: they act on the last dimensions."""

from __future__ import annotations

from aesara.graph.nodes import Apply, Variable
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
)
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


@vectorize_node.register(FourierTransform)
@vectorize_node.register(RealFourierTransform)
def _transform(op: FourierTransform | RealFourierTransform, node: Apply, x: Variable) -> Apply:
    return op.make_node(x)


@vectorize_node.register(InverseRealFourierTransform)
def _inverse(op: InverseRealFourierTransform, node: Apply, x: Variable, n: Variable) -> Apply:
    return op.make_node(x, n) if n.type.ndim == 0 else vectorize_by_blockwise(op, node, x, n)
