"""Transposes that change nothing, and those of inverses."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.rewriting.matrices.facts import facts_of
from aesara.tensor.rewriting.matrices.rows import (
    apply_like,
    is_real,
    matrix_row,
    matrix_transpose,
    of_matrices,
    transpose,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = ["no_transpose_symmetric", "transinv_to_invtrans"]

#: The budget of the search for symmetry at a transpose, of which there are many.
NEAR = 12


def with_other_triangle(x: Variable, b: Variable, solve: SolveTriangular, out: Any) -> Variable:
    """Return the solution for the transpose of a triangular matrix, which the routine reads in the other order."""
    turned = SolveTriangular(
        trans=1 if solve.trans in (0, "N") else 0,
        lower=not solve.lower,
        unit_diagonal=solve.unit_diagonal,
        check_finite=solve.check_finite,
    )
    return apply_like(out.owner, turned, x, b)


no_transpose_symmetric = matrix_row(
    "no_transpose_symmetric",
    (transpose, "x"),
    "x",
    lambda x: x.type.dtype[0] in "fc" and "symmetric" in facts_of(x, NEAR),
    why="A.T -> A of a symmetric matrix",
)
transinv_to_invtrans = matrix_row(
    "transinv_to_invtrans",
    (transpose, (one_of(MatrixInverse, name="inverse"), (transpose, "x"))),
    ("inverse", "x"),
    why="inv(A.T).T -> inv(A)",
)
rules.add(no_transpose_symmetric, to=(rules.canonicalize, rules.stabilize, rules.specialize))
rules.add(
    transinv_to_invtrans,
    matrix_row(
        "local_inverse_of_transpose",
        (of_matrices(MatrixInverse, name="inverse"), (transpose, "x")),
        lambda inverse, x: matrix_transpose(inverse(x)),
        why="inv(A.T) -> inv(A).T, as the inverse of A may be there already",
    ),
    matrix_row(
        "local_transpose_into_solve",
        (of_matrices(SolveTriangular, name="solve"), (transpose, "x"), "b"),
        with_other_triangle,
        is_real,
        why="solve_triangular(L.T, b) -> solve_triangular(L, b, trans=1)",
    ),
    to=(rules.canonicalize,),
)
