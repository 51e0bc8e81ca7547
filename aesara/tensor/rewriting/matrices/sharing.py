"""One factorization for all that is asked of a matrix: solutions, inverse, determinants, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.source import inherit_source
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import mul, neq, switch
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky, InverseByLU, SolveByLU
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.determinant import Det, SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.lu import LUFactor
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.determinants import determinant_by_cholesky, signs_and_logarithms
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, transposed_of
from aesara.tensor.rewriting.matrices.rows import (
    apply_like,
    diagonal_of,
    is_real,
    matrix_transpose,
    product_of,
    with_vectors,
)

__all__ = ["ShareFactorizations"]

_FACTORING = (Cholesky, Solve, MatrixInverse, Det, SLogDet)


class _Use:
    """A node that would factor a matrix, or its transpose."""

    def __init__(self, node: Apply) -> None:
        self.node, self.op = node, core_op(node)
        of = transposed_of(node.inputs[0])
        self.matrix, self.turned = (node.inputs[0], False) if of is None else (of, True)

    @property
    def reads_triangle(self) -> bool:
        """Return whether a Cholesky factor of one triangle is computed, and an error is raised if there is none."""
        return (isinstance(self.op, Cholesky) and self.op.on_error == "raise") or (
            isinstance(self.op, Solve) and self.op.assume_a == "pos"
        )

    @property
    def lower(self) -> bool:
        """Return whether the lower triangle of the matrix is read."""
        return bool(self.op.lower) != self.turned  # type: ignore[union-attr]

    @property
    def reads_all(self) -> bool:
        """Return whether nothing is known of the matrix that is factored."""
        if isinstance(self.op, Solve):
            return self.op.assume_a == "gen"
        return not isinstance(self.op, Cholesky)


class ShareFactorizations(GraphRewriter):
    """Share one Cholesky factor, or one LU decomposition, among nodes that factor the same matrix or its transpose.

    The Cholesky factor of a symmetric matrix serves all if one of them needs it anyway; else those that read the same
    triangle share one, and all others LU factors. In graphs with branches that may not be computed, nothing is shared:
    a factor that only one of them needs might not exist.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        uses: dict[Variable, list[_Use]] = {}
        for node in fgraph.toposort():
            x = node.inputs[0] if isinstance(core_op(node), _FACTORING) else None
            if x is not None and is_real(x) and x.type.shape[-1] != 1:
                use = _Use(node)
                uses.setdefault(use.matrix, []).append(use)
        shared = [group for group in uses.values() if len(group) > 1]
        if not shared or any(getattr(node.op, "is_lazy", False) for node in fgraph.apply_nodes):
            return
        for group in shared:
            for old, new in _replacements(group):
                fitting = in_place_of(old, new)
                if fitting is not None:
                    fgraph.replace_validate(old, fitting[0], reason="share_factorizations")


def _replacements(group: list[_Use]) -> Iterator[tuple[Variable, Variable]]:
    """Yield variables and their replacements, for nodes that factor one matrix."""
    matrix = group[0].matrix
    by_triangle = [use for use in group if use.reads_triangle]
    if by_triangle and "symmetric" in facts_of(matrix):
        kept = next((use for use in by_triangle if isinstance(use.op, Cholesky)), by_triangle[0])
        served = [use for use in group if use.reads_triangle or not isinstance(use.op, Cholesky)]
        yield from _by_cholesky(matrix, served, kept.lower)
        return
    for lower in (True, False):
        served = [use for use in by_triangle if use.lower == lower]
        if len(served) > 1:
            yield from _by_cholesky(matrix, served, lower)
    served = [use for use in group if use.reads_all]
    if len(served) > 1:
        yield from _by_lu(matrix, served)


def _by_cholesky(matrix: Variable, served: list[_Use], lower: bool) -> Iterator[tuple[Variable, Variable]]:
    factor = _made_at(served[0].node, lambda: Cholesky(lower=lower)(matrix))
    for use in served:
        made = _made_at(use.node, lambda use=use: _from_cholesky(use, factor, lower))
        yield from zip(use.node.outputs, made)


def _from_cholesky(use: _Use, factor: TensorVariable, lower: bool) -> list[Variable]:
    node, op = use.node, use.op
    if isinstance(op, Cholesky):
        return [factor if bool(op.lower) == lower else matrix_transpose(factor)]
    if isinstance(op, Solve):
        return [apply_like(node, CholeskySolve(lower, op.check_finite), factor, node.inputs[1])]
    if isinstance(op, MatrixInverse):
        if factor.type.ndim == 2:
            return [InverseByCholesky(lower)(factor)]
        return [CholeskySolve(lower, False)(factor, eye(factor.shape[-1], dtype=factor.type.dtype))]
    return determinant_by_cholesky(op, factor)


def _by_lu(matrix: Variable, served: list[_Use]) -> Iterator[tuple[Variable, Variable]]:
    factors, pivots = _made_at(served[0].node, lambda: LUFactor()(matrix))
    for use in served:
        made = _made_at(use.node, lambda use=use: _from_lu(use, factors, pivots))
        yield from zip(use.node.outputs, made)


def _from_lu(use: _Use, factors: TensorVariable, pivots: TensorVariable) -> list[Variable]:
    node, op = use.node, use.op
    if isinstance(op, Solve):
        solve = SolveByLU(use.turned, op.check_finite)
        signature = "(n,n),(n),(n)->(n)" if with_vectors(node) else "(n,n),(n),(n,k)->(n,k)"
        return [apply_like(node, solve, factors, pivots, node.inputs[1], signature=signature)]
    if isinstance(op, MatrixInverse):
        inverse = InverseByLU()(factors, pivots)
        return [matrix_transpose(inverse) if use.turned else inverse]
    d = diagonal_of(factors)
    one = np.asarray(1, d.type.dtype)
    swaps = prod(switch(neq(pivots, arange(pivots.shape[-1], dtype="int32")), -one, one), axis=-1, dtype=d.type.dtype)
    if isinstance(op, Det):
        return [mul(product_of(d), swaps)]
    sign, size = signs_and_logarithms(d)
    return [mul(sign, swaps), size]


def _made_at(node: Apply, make):
    """Call a function; its results get the source line of a node."""
    with inherit_source(node):
        return make()
