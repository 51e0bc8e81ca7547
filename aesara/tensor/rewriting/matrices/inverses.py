"""Inverses and Cholesky factors of matrices with known facts."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.creation.diagonals import AllocDiag
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import gt, reciprocal, sqrt
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.core import adjoint
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.rewriting.helpers import is_float
from aesara.tensor.rewriting.matrices.expressions import diagonal_of_square, matrix_transpose, unless_singular
from aesara.tensor.rewriting.matrices.facts import TRIANGLES, are_transposes, facts_of
from aesara.tensor.rewriting.matrices.patterns import matrix_row, matrix_with_fact, of_matrices
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

inverse, cholesky = of_matrices(MatrixInverse), of_matrices(Cholesky, lower="lower", on_error="on_error")


def identity_of_order(x: Any) -> Variable:
    """Return the identity of the order of a matrix, as right-hand sides of equations."""
    return eye(x.shape[-1], dtype=x.type.dtype)


def inverse_of_triangle(x: Variable) -> Variable:
    """Return the inverse of a triangular matrix, by substitution."""
    return SolveTriangular(lower="lower_triangular" in facts_of(x), check_finite=False)(x, identity_of_order(x))


def root_of_diagonal(x: Variable, on_error: str) -> Variable | None:
    """Return the square root of a diagonal matrix; raise an error at run time if a number is not positive."""
    if "identity" in facts_of(x):
        return x
    if x.type.ndim != 2 or not is_float(x) or on_error != "raise":
        return None
    d = diagonal_of_square(x)
    check = CheckAndRaise(np.linalg.LinAlgError, "The matrix is not positive definite: see its diagonal.")
    return AllocDiag()(sqrt(check(d, all_of(gt(d, 0)))))


def is_square_of_factor(left: Variable, right: Variable, out: Variable) -> bool:
    """Return whether a product is one of a Cholesky factor and its transpose."""
    factor = ("positive_diagonal", "lower_triangular")
    return is_float(out) and are_transposes(left, right) and facts_of(left).issuperset(factor)


rules.add(
    matrix_row("local_inverse_of_inverse", (inverse, (inverse, "x")), "x", why="inv(inv(A)) -> A, singular or not"),
    matrix_row(
        "local_inverse_of_orthogonal",
        (inverse, matrix_with_fact("x", "orthogonal")),
        lambda x: x if "hermitian" in facts_of(x) else adjoint(x),
        why="inv(A) -> A.T of an orthogonal matrix, or a permutation",
    ),
    matrix_row(
        "local_inverse_of_diagonal",
        (inverse, matrix_with_fact("x", "diagonal", but="identity")),
        lambda x: AllocDiag()(reciprocal(unless_singular(diagonal_of_square(x)))),
        lambda x: x.type.ndim == 2,
        why="inv(diag(d)) -> diag(1 / d), with an error for a zero",
    ),
    matrix_row(
        "local_cholesky_of_diagonal",
        (cholesky, matrix_with_fact("x", "diagonal")),
        root_of_diagonal,
        why="cholesky(diag(d)) -> diag(sqrt(d)), with an error for a number that is not positive",
    ),
    matrix_row(
        "local_cholesky_of_square",
        (cholesky, (Dot, "left", "right")),
        lambda left, lower: left if lower else matrix_transpose(left),
        is_square_of_factor,
        why="cholesky(L @ L.T) -> L of a Cholesky factor L",
    ),
    to=(rules.canonicalize,),
)
rules.add(  # when products with the inverse have become solutions
    matrix_row(
        "local_inverse_of_triangle",
        (inverse, matrix_with_fact("x", *TRIANGLES, but="diagonal")),
        inverse_of_triangle,
        why="inv(A) -> solve_triangular(A, I) of a triangular matrix",
    ),
    matrix_row(
        "local_inverse_of_definite",
        (inverse, matrix_with_fact("x", "positive_definite", but="diagonal")),
        lambda x: CholeskySolve(True, check_finite=False)(Cholesky()(x), identity_of_order(x)),
        why="inv(A) -> cho_solve(cholesky(A), I) of a positive definite matrix",
    ),
    to=(rules.stabilize,),
)
