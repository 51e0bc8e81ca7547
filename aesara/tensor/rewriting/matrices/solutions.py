"""Systems of equations by known facts about the matrix, and products with inverses as solutions."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import extract, one_of
from aesara.tensor.elementwise.ops import mul, neg
from aesara.tensor.linear_algebra.by_factors import SolveByLU
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.core import adjoint
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import Dot22
from aesara.tensor.products.matmul import MatMul, matmul
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.expressions import (
    apply_like,
    as_rows,
    diagonal_of,
    matrix_transpose,
    unless_singular,
)
from aesara.tensor.rewriting.matrices.facts import TRIANGLES, core_op, facts_of, split_numbers, transposed_of
from aesara.tensor.rewriting.matrices.patterns import matrix_row, matrix_with_fact, of_matrices, with_vectors
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.vectorization.blockwise import Blockwise

rules = Rules()

__all__ = ["inv_as_solve", "psd_solve_with_chol", "tag_solve_triangular"]

#: Systems of equations with a general matrix.
solve = of_matrices(Solve, assume_a={"gen"}, check_finite="check_finite")
SOLVERS = (Solve, SolveTriangular, CholeskySolve, SolveByLU)


def quotient_by_diagonal(x: Variable, b: Any, out: Any) -> Variable | None:
    """Divide right-hand sides by the diagonal of a matrix; raise an error at run time if it has a zero."""
    vectors = with_vectors(out.owner)
    d = diagonal_of(x)
    if d.type.broadcastable[-1] != b.type.broadcastable[-1 if vectors else -2]:
        return None  # one of the lengths would no longer be checked
    return b / as_rows(unless_singular(d), vectors)


def product_with_adjoint(x: Any, b: Variable, out: Any) -> Variable:
    """Return the product of the transpose of an orthogonal matrix with right-hand sides."""
    transposed = adjoint(x)
    if x.type.ndim == 2 and b.type.ndim <= 2:
        return Dot()(transposed, b)
    return matmul(transposed, as_rows(b, False))[..., 0] if with_vectors(out.owner) else matmul(transposed, b)


tag_solve_triangular = matrix_row(
    "tag_solve_triangular",
    (solve, matrix_with_fact("x", *TRIANGLES, but="diagonal"), "b"),
    lambda x, b, check_finite, out: apply_like(
        out.owner, SolveTriangular(lower="lower_triangular" in facts_of(x), check_finite=check_finite), x, b
    ),
    why="solve(A, b) -> solve_triangular(A, b) of a triangular matrix",
)
psd_solve_with_chol = matrix_row(
    "psd_solve_with_chol",
    (solve, matrix_with_fact("x", "positive_definite", but="diagonal"), "b"),
    lambda x, b, check_finite, out: apply_like(
        out.owner, CholeskySolve(True, check_finite=check_finite), Cholesky()(x), b
    ),
    why="solve(A, b) -> cho_solve(cholesky(A), b) of a positive definite matrix",
)
rules.add(
    matrix_row(
        "local_solve_of_diagonal",
        (solve, matrix_with_fact("x", "diagonal"), "b"),
        quotient_by_diagonal,
        why="solve(diag(d), b) -> b / d, with an error for a zero",
    ),
    matrix_row(
        "local_solve_of_orthogonal",
        (solve, matrix_with_fact("x", "orthogonal", but="diagonal"), "b"),
        product_with_adjoint,
        why="solve(A, b) -> dot(A.T, b) of an orthogonal matrix, or a permutation",
    ),
    tag_solve_triangular,
    matrix_row(
        "local_solve_of_inverse",
        (solve, (of_matrices(MatrixInverse), "a"), "b"),
        (Dot(), "a", "b"),
        lambda a, b: a.type.ndim == 2 and b.type.ndim <= 2,
        why="solve(inv(A), b) -> dot(A, b)",
    ),
    to=(rules.canonicalize,),
)
rules.add(tag_solve_triangular, psd_solve_with_chol, to=(rules.stabilize,))


@rules.canonicalize
@rules.specialize
@node_rewriter([*SOLVERS, Blockwise], operands=[mul, neg])
def local_solve_of_multiple(fgraph, node):
    """``solve(A, c * b)`` -> ``c * solve(A, b)`` for numbers c, if ``solve(A, b)`` is computed anyway

    A function, since it examines other clients of b, whose position differs among the ops.
    """
    *matrix, b = node.inputs
    inner = b.owner
    if not isinstance(core_op(node), SOLVERS) or inner is None or inner.op not in (mul, neg):
        return False
    _, rest = split_numbers(inner.inputs)
    if len(rest) != 1 or rest[0].type.shape != b.type.shape or rest[0].type.dtype != b.type.dtype:
        return False
    for other, _ in fgraph.clients[rest[0]]:
        if isinstance(other, Apply) and other.op == node.op and other.inputs == [*matrix, rest[0]]:
            new = inner.op(*[other.outputs[0] if v is rest[0] else v for v in inner.inputs])
            return in_place_of(node.outputs[0], new)
    return False


def inverse_in(var: Variable) -> tuple[Variable, bool] | None:
    """Return A and whether the variable is ``inv(A).T`` rather than ``inv(A)``; None for other variables."""
    operand = transposed_of(var)
    inverse: Any = var if operand is None else operand
    return (inverse.owner.inputs[0], operand is not None) if isinstance(core_op(inverse.owner), MatrixInverse) else None


def is_one_product(out: Any) -> bool:
    """Return whether a product of one dtype is of matrices, of a matrix and a vector, or of batches of matrices."""
    ndims = [v.type.ndim for v in out.owner.inputs]
    if any(v.type.dtype != out.type.dtype for v in out.owner.inputs):
        return False
    return max(ndims) <= 2 or (isinstance(out.owner.op, MatMul) and min(ndims) >= 2)


def solution_from_right(a: Variable, transposed: bool, b: Any) -> Variable:
    """Return ``dot(b, inv(A))`` as ``solve(A.T, b.T).T``."""
    solved: Any = Solve(check_finite=False)(
        a if transposed else matrix_transpose(a), b if b.type.ndim == 1 else matrix_transpose(b)
    )
    return solved if b.type.ndim == 1 else matrix_transpose(solved)


product = one_of(Dot, Dot22, MatMul)
inverse_matrix = extract(inverse_in, "a", "transposed", operands=[MatrixInverse, DimShuffle, Blockwise])
inv_as_solve = rules.group(
    "inv_as_solve",
    matrix_row(
        "inv_as_solve_on_left",
        (product, inverse_matrix, "b"),
        lambda a, transposed, b: Solve(check_finite=False)(matrix_transpose(a) if transposed else a, b),
        is_one_product,
        why="dot(inv(A), b) -> solve(A, b), which loses fewer digits",
    ),
    matrix_row(
        "inv_as_solve_on_right",
        (product, "b", inverse_matrix),
        solution_from_right,
        is_one_product,
        why="dot(b, inv(A)) -> solve(A.T, b.T).T, which loses fewer digits",
    ),
    to=(rules.canonicalize, rules.stabilize),
)
