"""Systems of equations by what is known of their matrix, and products with inverses as solutions."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import conj, mul, neg
from aesara.tensor.linear_algebra.by_factors import SolveByLU
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import Dot22
from aesara.tensor.products.matmul import MatMul, matmul
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, transposed_of
from aesara.tensor.rewriting.matrices.parts import (
    applied_like,
    as_rows,
    diagonal_of,
    is_real,
    matrix_rewriter,
    swapped,
    unless_singular,
    with_vectors,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.vectorization.blockwise import Blockwise

rules = Rules()

__all__ = [
    "inv_as_solve",
    "local_solve_of_diagonal",
    "local_solve_of_inverse",
    "local_solve_of_multiple",
    "local_solve_of_orthogonal",
    "psd_solve_with_chol",
    "tag_solve_triangular",
]


def _known(node: Apply) -> frozenset[str]:
    """Facts about the matrix of a system for which the op itself takes nothing for granted."""
    op = core_op(node)
    if op.assume_a != "gen":  # type: ignore[union-attr]
        return frozenset()
    return facts_of(node.inputs[0])


@rules.canonicalize
@matrix_rewriter(Solve)
def local_solve_of_diagonal(fgraph, node):
    """The solution for a diagonal matrix is a quotient; a zero on the diagonal is an error, as before."""
    (out,) = node.outputs
    x, b = node.inputs
    if "diagonal" not in _known(node):
        return False
    vectors = with_vectors(node)
    d = diagonal_of(x)
    if d.type.broadcastable[-1] != b.type.broadcastable[-1 if vectors else -2]:
        return False  # the length of one of them would no longer be looked at
    return in_place_of(out, b / as_rows(unless_singular(d, d), vectors))


@rules.canonicalize
@matrix_rewriter(Solve)
def local_solve_of_orthogonal(fgraph, node):
    """The solution for an orthogonal matrix, or a permutation, is a product with its transpose."""
    (out,) = node.outputs
    x, b = node.inputs
    known = _known(node)
    if "orthogonal" not in known or "diagonal" in known:
        return False
    back = swapped(x) if is_real(x) else conj(swapped(x))
    if x.type.ndim == 2 and b.type.ndim <= 2:
        return in_place_of(out, Dot()(back, b))
    if with_vectors(node):
        return in_place_of(out, matmul(back, as_rows(b, False))[..., 0])
    return in_place_of(out, matmul(back, b))


@rules.canonicalize
@rules.stabilize
@matrix_rewriter(Solve)
def tag_solve_triangular(fgraph, node):
    """The solution for a triangular matrix, by substitution."""
    (out,) = node.outputs
    known = _known(node)
    if "diagonal" in known or not known & {"lower_triangular", "upper_triangular"}:
        return False
    op = SolveTriangular(lower="lower_triangular" in known, check_finite=core_op(node).check_finite)
    return in_place_of(out, applied_like(node, op, *node.inputs))


@rules.canonicalize
@matrix_rewriter(Solve)
def local_solve_of_inverse(fgraph, node):
    """``solve(inv(A), b)`` as ``dot(A, b)``."""
    (out,) = node.outputs
    x, b = node.inputs
    if core_op(node).assume_a != "gen" or not isinstance(core_op(x.owner), MatrixInverse):
        return False
    (a,) = x.owner.inputs
    if a.type.ndim != 2 or b.type.ndim > 2:
        return False
    return in_place_of(out, Dot()(a, b))


@rules.stabilize
@matrix_rewriter(Solve)
def psd_solve_with_chol(fgraph, node):
    """The solution for a positive definite matrix, by its Cholesky factor."""
    (out,) = node.outputs
    known = _known(node)
    if "positive_definite" not in known or "diagonal" in known:
        return False
    factor = Cholesky()(node.inputs[0])
    op = CholeskySolve(True, check_finite=core_op(node).check_finite)
    return in_place_of(out, applied_like(node, op, factor, node.inputs[1]))


@rules.canonicalize
@rules.specialize
@matrix_rewriter(Solve, SolveTriangular, CholeskySolve, SolveByLU)
def local_solve_of_multiple(fgraph, node):
    """``solve(A, c * b)`` as ``c * solve(A, b)`` for numbers c, where ``solve(A, b)`` is computed anyway."""
    (out,) = node.outputs
    *matrix, b = node.inputs
    inner = b.owner
    if inner is None or inner.op not in (mul, neg):
        return False
    rest = [v for v in inner.inputs if not all(v.type.broadcastable)]
    if len(rest) != 1 or rest[0].type.shape != b.type.shape or rest[0].type.dtype != b.type.dtype:
        return False
    for other, _ in fgraph.clients[rest[0]]:
        if isinstance(other, Apply) and other.op == node.op and other.inputs == [*matrix, rest[0]]:
            (solved,) = other.outputs
            if inner.op == neg:
                return in_place_of(out, neg(solved))
            return in_place_of(out, mul(*[solved if v is rest[0] else v for v in inner.inputs]))
    return False


def _inverted(x: Variable) -> tuple[Variable, bool] | None:
    """What a variable is the inverse of, and whether that is to be transposed."""
    turned = transposed_of(x)
    inverse = x if turned is None else turned
    if inverse.owner is None or not isinstance(core_op(inverse.owner), MatrixInverse):
        return None
    return inverse.owner.inputs[0], turned is not None


def _are_matrices(*factors: Variable) -> bool:
    """Whether a product is one of matrices, and not of vectors."""
    return all(v.type.ndim >= 2 for v in factors)


@rules.canonicalize
@rules.stabilize
@node_rewriter([Dot, Dot22, MatMul], operands=[MatrixInverse, DimShuffle, Blockwise])
def inv_as_solve(fgraph, node):
    """``dot(inv(A), b)`` as ``solve(A, b)``, which loses fewer digits."""
    (out,) = node.outputs
    left, right = node.inputs
    if any(v.type.dtype != out.type.dtype for v in node.inputs):
        return False
    if any(v.type.ndim > 2 for v in node.inputs) and not (isinstance(node.op, MatMul) and _are_matrices(left, right)):
        return False
    solve = Solve(check_finite=False)
    found = _inverted(left)
    if found is not None:
        a, turned = found
        return in_place_of(out, solve(swapped(a) if turned else a, right))
    found = _inverted(right)
    if found is None:
        return False
    a, turned = found
    solved: Any = solve(a if turned else swapped(a), left if left.type.ndim == 1 else swapped(left))
    return in_place_of(out, solved if left.type.ndim == 1 else swapped(solved))
