"""Block-diagonal matrices, as `block_diag` makes them: what is asked of one is asked of its blocks."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.matching import extract
from aesara.tensor.elementwise.ops import add, mul
from aesara.tensor.joining.join_split import Join, join
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.linear_algebra.structured import block_diag
from aesara.tensor.rewriting.helpers import has_value
from aesara.tensor.rewriting.matrices.facts import is_square, transposed_of
from aesara.tensor.rewriting.matrices.parts import is_real, swapped
from aesara.tensor.rewriting.matrices.rows import matrix_row, of_matrices
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


def _joined(x: Variable, axis: int) -> list[Variable]:
    """Return what a matrix is joined of along an axis."""
    if x.owner is None or not isinstance(x.owner.op, Join):
        return []
    where, *parts = x.owner.inputs
    return parts if isinstance(where, Constant) and int(where.data) % x.type.ndim == axis else []


def blocks_of(x: Variable) -> list[Variable] | None:
    """The blocks along the diagonal of a matrix, which may all be square; None for other matrices."""
    if x.type.ndim != 2:
        return None
    turned = transposed_of(x)
    if turned is not None:
        blocks = blocks_of(turned)
        return None if blocks is None else [swapped(block) for block in blocks]
    rows = [_joined(row, 1) for row in _joined(x, 0)]
    if len(rows) < 2 or any(len(row) != len(rows) for row in rows):
        return None
    blocks = [row[k] for k, row in enumerate(rows)]
    if not all(has_value(v, 0) for k, row in enumerate(rows) for j, v in enumerate(row) if j != k):
        return None
    if any(None not in block.type.shape and not is_square(block) for block in blocks):
        return None
    return blocks if all(block.type.dtype == x.type.dtype for block in blocks) else None


def solution_by_blocks(op: Any, blocks: list[Any], b: Any) -> Variable:
    """Return the solutions for the blocks, each with its own rows of the right-hand sides."""
    solved, start = [], 0
    for block in blocks[:-1]:
        end = start + block.shape[0]
        solved.append(op(block, b[start:end]))
        start = end
    return join(0, *solved, op(blocks[-1], b[start:]))


def by_blocks(op: Any, blocks: list[Any]) -> Variable:
    """Return the block-diagonal matrix of what an op makes of each block."""
    return block_diag(*map(op, blocks))


def determinant_by_blocks(op: Any, blocks: list[Any]) -> tuple[Variable, Variable]:
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
    lambda blocks: is_real(blocks[0]) and all(map(is_square, blocks)),  # with others it is zero
    why="slogdet(block_diag(A, B)) -> slogdet(A) + slogdet(B)",
)
rules.add(solve_of_blocks, cholesky_of_blocks, to=(rules.canonicalize,))
rules.add(inverse_of_blocks, to=(rules.stabilize,))  # when products with the inverse have become solutions
rules.add(determinant_of_blocks, to=(rules.canonicalize, rules.stabilize))  # there of the logarithm of a determinant
