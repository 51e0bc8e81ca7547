"""Equal dimensions of operands and results of factors, inverses and solutions."""

from __future__ import annotations

from collections.abc import Iterator

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskyPullback
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import SolveBase
from aesara.tensor.rewriting.length_facts import Dimension, equal_dimensions


@equal_dimensions.register(Cholesky)
@equal_dimensions.register(CholeskyPullback)
@equal_dimensions.register(MatrixInverse)
def _(op: Op, node: Apply) -> Iterator[list[Dimension]]:
    yield [(v, axis) for v in (*node.outputs, *node.inputs) for axis in (0, 1)]


@equal_dimensions.register
def _(op: SolveBase, node: Apply) -> Iterator[list[Dimension]]:
    matrix, b = node.inputs
    (out,) = node.outputs
    yield [(matrix, 0), (matrix, 1), (b, 0), (out, 0)]
    yield from ([(b, axis), (out, axis)] for axis in range(1, out.type.ndim))
