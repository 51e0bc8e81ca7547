"""Transposes of symmetric matrices, and of inverses and triangular matrices."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.rewriting.helpers import is_float
from aesara.tensor.rewriting.matrices.expressions import apply_like, matrix_transpose
from aesara.tensor.rewriting.matrices.facts import facts_of
from aesara.tensor.rewriting.matrices.patterns import matrix_row, of_matrices, transpose
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = ["no_transpose_symmetric", "transinv_to_invtrans"]

#: The budget of the search for symmetry at each transpose: small, since there are many.
SYMMETRY_BUDGET = 12


def with_other_triangle(x: Variable, b: Variable, solve: SolveTriangular, out: Any) -> Variable:
    """Return ``solve_triangular(x.T, b)``, where the routine reads `x` in the other order."""
    transposed_solve = SolveTriangular(
        trans=1 if solve.trans in (0, "N") else 0,
        lower=not solve.lower,
        unit_diagonal=solve.unit_diagonal,
        check_finite=solve.check_finite,
    )
    return apply_like(out.owner, transposed_solve, x, b)


no_transpose_symmetric = matrix_row(
    "no_transpose_symmetric",
    (transpose, "x"),
    "x",
    lambda x: x.type.dtype[0] in "fc" and "symmetric" in facts_of(x, SYMMETRY_BUDGET),
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
        is_float,
        why="solve_triangular(L.T, b) -> solve_triangular(L, b, trans=1)",
    ),
    to=(rules.canonicalize,),
)
