"""Inverses and factors of matrices by what is known of them."""

from __future__ import annotations

import numpy as np

from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.creation.diagonals import AllocDiag
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import conj, gt, reciprocal, sqrt
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, transposed_of
from aesara.tensor.rewriting.matrices.parts import (
    diagonal_of_square,
    is_real,
    matrix_rewriter,
    swapped,
    unless_singular,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = [
    "local_cholesky_of_diagonal",
    "local_cholesky_of_square",
    "local_inverse_of_definite",
    "local_inverse_of_diagonal",
    "local_inverse_of_inverse",
    "local_inverse_of_orthogonal",
    "local_inverse_of_triangle",
]


@rules.canonicalize
@matrix_rewriter(MatrixInverse)
def local_inverse_of_inverse(fgraph, node):
    """``inv(inv(A))`` is A; whether that is singular is not looked at."""
    (x,) = node.inputs
    if x.owner is None or not isinstance(core_op(x.owner), MatrixInverse):
        return False
    return in_place_of(node.outputs[0], x.owner.inputs[0])


@rules.canonicalize
@matrix_rewriter(MatrixInverse)
def local_inverse_of_orthogonal(fgraph, node):
    """The inverse of an orthogonal matrix, or a permutation, is its transpose."""
    (x,) = node.inputs
    known = facts_of(x)
    if "identity" in known:
        return in_place_of(node.outputs[0], x)
    if "orthogonal" not in known or "diagonal" in known:
        return False
    return in_place_of(node.outputs[0], swapped(x) if is_real(x) else conj(swapped(x)))


@rules.canonicalize
@matrix_rewriter(MatrixInverse)
def local_inverse_of_diagonal(fgraph, node):
    """The inverse of a diagonal matrix has the reciprocals; a zero on the diagonal is an error, as before."""
    (x,) = node.inputs
    known = facts_of(x)
    if "diagonal" not in known or "identity" in known or x.type.ndim != 2:
        return False
    d = diagonal_of_square(x)
    return in_place_of(node.outputs[0], AllocDiag()(reciprocal(unless_singular(d, d))))


@rules.stabilize  # when products with the inverse have become solutions
@matrix_rewriter(MatrixInverse)
def local_inverse_of_triangle(fgraph, node):
    """The inverse of a triangular matrix, by substitution."""
    (x,) = node.inputs
    known = facts_of(x)
    if "diagonal" in known or not known & {"lower_triangular", "upper_triangular"}:
        return False
    solve = SolveTriangular(lower="lower_triangular" in known, check_finite=False)
    return in_place_of(node.outputs[0], solve(x, eye(x.shape[-1], dtype=x.type.dtype)))


@rules.stabilize  # as above
@matrix_rewriter(MatrixInverse)
def local_inverse_of_definite(fgraph, node):
    """The inverse of a positive definite matrix, by its Cholesky factor."""
    (x,) = node.inputs
    known = facts_of(x)
    if "positive_definite" not in known or "diagonal" in known:
        return False
    solve = CholeskySolve(True, check_finite=False)
    return in_place_of(node.outputs[0], solve(Cholesky()(x), eye(x.shape[-1], dtype=x.type.dtype)))


@rules.canonicalize
@matrix_rewriter(Cholesky)
def local_cholesky_of_diagonal(fgraph, node):
    """The Cholesky factor of a diagonal matrix has the roots; a number that is not positive is an error, as before."""
    (x,) = node.inputs
    known = facts_of(x)
    if "identity" in known:
        return in_place_of(node.outputs[0], x)
    if "diagonal" not in known or x.type.ndim != 2 or not is_real(x):
        return False
    if node.op.on_error != "raise":
        return False
    d = diagonal_of_square(x)
    check = CheckAndRaise(np.linalg.LinAlgError, "The matrix is not positive definite: see its diagonal.")
    return in_place_of(node.outputs[0], AllocDiag()(sqrt(check(d, all_of(gt(d, 0))))))


@rules.canonicalize
@matrix_rewriter(Cholesky)
def local_cholesky_of_square(fgraph, node):
    """The Cholesky factor of ``L @ L.T`` for such a factor L is L."""
    (x,) = node.inputs
    if x.owner is None or not isinstance(x.owner.op, Dot) or not is_real(x):
        return False
    left, right = x.owner.inputs
    if transposed_of(right) is not left and transposed_of(left) is not right:
        return False
    known = facts_of(left)
    if "positive_diagonal" not in known:
        return False
    if "lower_triangular" in known:
        return in_place_of(node.outputs[0], left if core_op(node).lower else swapped(left))
    return False
