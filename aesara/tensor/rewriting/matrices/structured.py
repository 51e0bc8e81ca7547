"""Operations on block-diagonal matrices and Kronecker products as operations on the blocks or factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.matching import extract
from aesara.tensor.core.casting import cast
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add, eq, exp, mul, pow, switch
from aesara.tensor.joining.join_split import Join, join
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import Det, SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.linear_algebra.structured import block_diag
from aesara.tensor.products.vectors import kron
from aesara.tensor.rewriting.helpers import has_value, is_float
from aesara.tensor.rewriting.matrices.expressions import matrix_transpose
from aesara.tensor.rewriting.matrices.facts import is_square, kronecker_factors, transposed_of
from aesara.tensor.rewriting.matrices.patterns import matrix_row, matrix_with_fact, of_matrices
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.reshape import reshape

if TYPE_CHECKING:
    from aesara.graph.op import Op


rules = Rules()


def _operands_of_join(x: Variable, axis: int) -> list[Variable]:
    """Return the operands of a join along an axis, else an empty list."""
    if x.owner is None or not isinstance(x.owner.op, Join):
        return []
    join_axis, *parts = x.owner.inputs
    return parts if isinstance(join_axis, Constant) and int(join_axis.data) % x.type.ndim == axis else []


def blocks_of(x: Variable) -> list[Variable] | None:
    """Return the diagonal blocks of a block-diagonal matrix, none of which is known not to be square; else None."""
    if x.type.ndim != 2:
        return None
    transposed = transposed_of(x)
    if transposed is not None:
        blocks = blocks_of(transposed)
        return None if blocks is None else [matrix_transpose(block) for block in blocks]
    rows = [_operands_of_join(row, 1) for row in _operands_of_join(x, 0)]
    if len(rows) < 2 or any(len(row) != len(rows) for row in rows):
        return None
    blocks = [row[k] for k, row in enumerate(rows)]
    if not all(has_value(v, 0) for k, row in enumerate(rows) for j, v in enumerate(row) if j != k):
        return None
    if any(None not in block.type.shape and not is_square(block) for block in blocks):
        return None
    return blocks if all(block.type.dtype == x.type.dtype for block in blocks) else None


def solution_by_blocks(op: Op, blocks: list[TensorVariable], b: TensorVariable) -> Variable:
    """Solve for each block with its rows of the right-hand sides, and join the solutions."""
    solutions = []
    start: TensorVariable | int = 0
    for block in blocks[:-1]:
        end = start + block.shape[0]
        solutions.append(op(block, b[start:end]))
        start = end
    return join(0, *solutions, op(blocks[-1], b[start:]))


def by_blocks(op: Op, blocks: list[TensorVariable]) -> Variable:
    """Apply an op to each block, and return the block-diagonal matrix of the results."""
    return block_diag(*map(op, blocks))


def determinant_by_blocks(op: Op, blocks: list[TensorVariable]) -> tuple[Variable, Variable]:
    """Return the product of the signs of the determinants of blocks, and the sum of the logarithms."""
    signs, sizes = zip(*map(op, blocks), strict=True)
    return mul(*signs), add(*sizes)


block_diagonal = extract(blocks_of, "blocks")
cholesky_of_blocks = matrix_row(
    "local_cholesky_of_blocks",
    (of_matrices(Cholesky, name="op", on_error={"raise"}), block_diagonal),  # else one block would make NaN of all
    by_blocks,
    why="cholesky(block_diag(A, B)) -> block_diag(cholesky(A), cholesky(B))",
)
solve_of_blocks = matrix_row(
    "local_solve_of_blocks",
    (of_matrices(Solve, name="op"), block_diagonal, "b"),
    solution_by_blocks,
    lambda b: b.type.ndim <= 2 and not b.type.broadcastable[0],
    why="solve(block_diag(A, B), b) -> solve(A, b[:n]) and solve(B, b[n:])",
)
inverse_of_blocks = matrix_row(
    "local_inverse_of_blocks",
    (of_matrices(MatrixInverse, name="op"), block_diagonal),
    by_blocks,
    why="inv(block_diag(A, B)) -> block_diag(inv(A), inv(B))",
)
determinant_of_blocks = matrix_row(
    "local_det_of_blocks",
    (of_matrices(SLogDet, name="op"), block_diagonal),
    determinant_by_blocks,
    lambda blocks: is_float(blocks[0]) and all(map(is_square, blocks)),  # else the determinant is zero
    why="slogdet(block_diag(A, B)) -> slogdet(A) + slogdet(B)",
)
rules.add(solve_of_blocks, cholesky_of_blocks, to=(rules.canonicalize,))
rules.add(inverse_of_blocks, to=(rules.stabilize,))  # when products with the inverse have become solutions
rules.add(determinant_of_blocks, to=(rules.canonicalize, rules.stabilize))  # also for the logarithm of a determinant


def solution_by_factors(
    first: TensorVariable, second: TensorVariable, b: TensorVariable, check_finite: bool
) -> Variable:
    """Return the solution, with each right-hand side reshaped to a matrix of n rows and m columns."""
    n, m = first.shape[0], second.shape[0]
    solve = Solve(check_finite=check_finite)
    if b.type.ndim == 1:
        half = solve(first, reshape(b, (n, m)))
        return reshape(solve(second, half.T).T, b.shape, ndim=1)
    columns = b.shape[1]
    half = reshape(solve(first, reshape(b, (n, m * columns))), (n, m, columns)).dimshuffle(1, 0, 2)
    solved = reshape(solve(second, reshape(half, (m, n * columns))), (m, n, columns)).dimshuffle(1, 0, 2)
    return reshape(solved, b.shape, ndim=2)


def determinant_by_factors(first: TensorVariable, second: TensorVariable) -> tuple[Variable, Variable]:
    """Return the sign and the logarithm of ``det(A) ** m * det(B) ** n``; powers may overflow."""
    (sign, size), (other_sign, other_size) = SLogDet()(first), SLogDet()(second)
    n, m = first.shape[0], second.shape[0]
    return mul(_power(sign, m), _power(other_sign, n)), add(_multiple(size, m), _multiple(other_size, n))


def _power(sign: Variable, times: Variable) -> Variable:
    return pow(sign, cast(times, sign.type.dtype))


def _multiple(logarithm: TensorVariable, times: Variable) -> Variable:
    """Return ``times * logarithm``, and zero for ``times == 0`` even if the logarithm is infinite."""
    return switch(eq(times, 0), logarithm.zeros_like(), mul(logarithm, cast(times, logarithm.type.dtype)))


def determinant_from_logarithm(first: TensorVariable, second: TensorVariable) -> Variable:
    """Return ``det(A) ** m * det(B) ** n``, of A of order n and B of order m."""
    sign, size = determinant_by_factors(first, second)
    return mul(sign, exp(size))


def are_square(first: Variable, second: Variable) -> bool:
    """Return whether the factors are real, and known to be square."""
    return is_float(first) and is_square(first) and is_square(second)


kronecker = extract(kronecker_factors, "first", "second")
definite = extract(
    kronecker_factors, matrix_with_fact("first", "positive_definite"), matrix_with_fact("second", "positive_definite")
)
rules.add(
    matrix_row(
        "local_solve_of_kronecker",
        (of_matrices(Solve, assume_a={"gen"}, check_finite="check_finite"), kronecker, "b"),
        solution_by_factors,
        lambda b, out: b.type.ndim <= 2 and b.type.dtype == out.type.dtype,
        why="solve(kron(A, B), b) -> solve(B, solve(A, b).T).T with b as a matrix",
    ),
    matrix_row(
        "local_cholesky_of_kronecker",
        (of_matrices(Cholesky, name="op"), definite),
        lambda op, first, second: kron(op(first), op(second)),
        why="cholesky(kron(A, B)) -> kron(cholesky(A), cholesky(B)) of positive definite matrices",
    ),
    to=(rules.canonicalize,),
)
rules.stabilize(  # when products with the inverse have become solutions
    matrix_row(
        "local_inverse_of_kronecker",
        (of_matrices(MatrixInverse, name="op"), kronecker),
        lambda op, first, second: kron(op(first), op(second)),
        why="inv(kron(A, B)) -> kron(inv(A), inv(B))",
    )
)
rules.add(  # also where it is the logarithm of a determinant
    matrix_row(
        "local_slogdet_of_kronecker",
        (of_matrices(SLogDet), kronecker),
        determinant_by_factors,
        are_square,
        why="slogdet(kron(A, B)) -> m * slogdet(A) + n * slogdet(B)",
    ),
    to=(rules.canonicalize, rules.stabilize),
)
rules.specialize(  # when logarithms of determinants have become such
    matrix_row(
        "local_det_of_kronecker",
        (of_matrices(Det), kronecker),
        determinant_from_logarithm,
        are_square,
        why="det(kron(A, B)) -> det(A) ** m * det(B) ** n",
    )
)
