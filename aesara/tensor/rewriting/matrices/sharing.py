"""Sharing of one factorization among solutions, inverses, determinants and gradients of the same matrix."""

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
from aesara.tensor.rewriting.helpers import in_place_of, is_float
from aesara.tensor.rewriting.matrices.determinants import determinant_by_cholesky, signs_and_logarithms
from aesara.tensor.rewriting.matrices.expressions import apply_like, diagonal_of, matrix_transpose, product_of
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, transposed_of
from aesara.tensor.rewriting.matrices.patterns import with_vectors

__all__ = ["ShareFactorizations"]

_FACTORING = (Cholesky, Solve, MatrixInverse, Det, SLogDet)


class _FactoringNode:
    """A node that factors a matrix or its transpose."""

    def __init__(self, node: Apply) -> None:
        self.node, self.op = node, core_op(node)
        operand = transposed_of(node.inputs[0])
        self.matrix, self.transposed = (node.inputs[0], False) if operand is None else (operand, True)

    @property
    def reads_triangle(self) -> bool:
        """Return whether it computes a Cholesky factor from one triangle, and raises an error if there is none."""
        return (isinstance(self.op, Cholesky) and self.op.on_error == "raise") or (
            isinstance(self.op, Solve) and self.op.assume_a == "pos"
        )

    @property
    def lower(self) -> bool:
        """Return whether the lower triangle of the matrix is read."""
        return bool(self.op.lower) != self.transposed  # type: ignore[union-attr]

    @property
    def reads_all(self) -> bool:
        """Return whether it factors a general matrix, of which it reads all elements."""
        if isinstance(self.op, Solve):
            return self.op.assume_a == "gen"
        return not isinstance(self.op, Cholesky)


class ShareFactorizations(GraphRewriter):
    """Share one Cholesky factor, or one LU decomposition, among nodes that factor the same matrix or its transpose.

    If one of them needs the Cholesky factor of a symmetric matrix, all use that. Otherwise nodes that read the same
    triangle share a Cholesky factor, and nodes that read the whole matrix share LU factors. Graphs with lazy branches
    are left alone: a factor that only a skipped branch needs might not exist.
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        nodes_by_matrix: dict[Variable, list[_FactoringNode]] = {}
        for node in fgraph.toposort():
            x = node.inputs[0] if isinstance(core_op(node), _FACTORING) else None
            if x is not None and is_float(x) and x.type.shape[-1] != 1:
                factoring = _FactoringNode(node)
                nodes_by_matrix.setdefault(factoring.matrix, []).append(factoring)
        shared = [group for group in nodes_by_matrix.values() if len(group) > 1]
        if not shared or any(getattr(node.op, "is_lazy", False) for node in fgraph.apply_nodes):
            return
        for group in shared:
            for output, replacement in _replacements(group):
                fitting = in_place_of(output, replacement)
                if fitting is not None:
                    fgraph.replace_validate(output, fitting[0], reason="share_factorizations")


def _replacements(group: list[_FactoringNode]) -> Iterator[tuple[Variable, Variable]]:
    """Yield variables and their replacements, for nodes that factor one matrix."""
    matrix = group[0].matrix
    by_triangle = [node for node in group if node.reads_triangle]
    if by_triangle and "symmetric" in facts_of(matrix):
        kept = next((node for node in by_triangle if isinstance(node.op, Cholesky)), by_triangle[0])
        sharing = [node for node in group if node.reads_triangle or not isinstance(node.op, Cholesky)]
        yield from _by_cholesky(matrix, sharing, kept.lower)
        return
    for lower in (True, False):
        sharing = [node for node in by_triangle if node.lower == lower]
        if len(sharing) > 1:
            yield from _by_cholesky(matrix, sharing, lower)
    sharing = [node for node in group if node.reads_all]
    if len(sharing) > 1:
        yield from _by_lu(matrix, sharing)


def _by_cholesky(matrix: Variable, sharing: list[_FactoringNode], lower: bool) -> Iterator[tuple[Variable, Variable]]:
    factor = _with_source_of(sharing[0].node, lambda: Cholesky(lower=lower)(matrix))
    for use in sharing:
        outputs = _with_source_of(use.node, lambda use=use: _from_cholesky(use, factor, lower))
        yield from zip(use.node.outputs, outputs)


def _from_cholesky(use: _FactoringNode, factor: TensorVariable, lower: bool) -> list[Variable]:
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


def _by_lu(matrix: Variable, sharing: list[_FactoringNode]) -> Iterator[tuple[Variable, Variable]]:
    factors, pivots = _with_source_of(sharing[0].node, lambda: LUFactor()(matrix))
    for use in sharing:
        outputs = _with_source_of(use.node, lambda use=use: _from_lu(use, factors, pivots))
        yield from zip(use.node.outputs, outputs)


def _from_lu(use: _FactoringNode, factors: TensorVariable, pivots: TensorVariable) -> list[Variable]:
    node, op = use.node, use.op
    if isinstance(op, Solve):
        solve = SolveByLU(use.transposed, op.check_finite)
        signature = "(n,n),(n),(n)->(n)" if with_vectors(node) else "(n,n),(n),(n,k)->(n,k)"
        return [apply_like(node, solve, factors, pivots, node.inputs[1], signature=signature)]
    if isinstance(op, MatrixInverse):
        inverse = InverseByLU()(factors, pivots)
        return [matrix_transpose(inverse) if use.transposed else inverse]
    d = diagonal_of(factors)
    one = np.asarray(1, d.type.dtype)
    sign_of_pivots = prod(
        switch(neq(pivots, arange(pivots.shape[-1], dtype="int32")), -one, one), axis=-1, dtype=d.type.dtype
    )
    if isinstance(op, Det):
        return [mul(product_of(d), sign_of_pivots)]
    sign, size = signs_and_logarithms(d)
    return [mul(sign, sign_of_pivots), size]


def _with_source_of(node: Apply, build):
    """Call a function that builds a graph; its variables get the source line of `node`."""
    with inherit_source(node):
        return build()
