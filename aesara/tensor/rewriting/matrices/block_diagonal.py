"""Block-diagonal matrices, as `block_diag` makes them: what is asked of one is asked of its blocks."""

from __future__ import annotations

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.ops import add, mul
from aesara.tensor.joining.join_split import Join, join
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.linear_algebra.structured import block_diag
from aesara.tensor.rewriting.helpers import common_value, in_place_of
from aesara.tensor.rewriting.matrices.facts import core_op, is_square, transposed_of
from aesara.tensor.rewriting.matrices.parts import in_places_of, is_real, matrix_rewriter, swapped
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = [
    "local_cholesky_of_blocks",
    "local_det_of_blocks",
    "local_inverse_of_blocks",
    "local_solve_of_blocks",
]


def _joined(x: Variable, axis: int) -> list[Variable]:
    """What a matrix is joined of along an axis."""
    if x.owner is None or not isinstance(x.owner.op, Join):
        return []
    where, *parts = x.owner.inputs
    return parts if isinstance(where, Constant) and int(where.data) % x.type.ndim == axis else []


def _is_zero(x: Variable) -> bool:
    """Whether a matrix has nothing but zeros."""
    if isinstance(x, Constant) or (x.owner is not None and isinstance(x.owner.op, Alloc)):
        value = common_value(x)
        return value is not None and value == 0
    return False


def _blocks(x: Variable) -> list[Variable] | None:
    """The blocks along the diagonal of a matrix, which may all be square; None for other matrices."""
    if x.type.ndim != 2:
        return None
    turned = transposed_of(x)
    if turned is not None:
        blocks = _blocks(turned)
        return None if blocks is None else [swapped(block) for block in blocks]
    rows = [_joined(row, 1) for row in _joined(x, 0)]
    if len(rows) < 2 or any(len(row) != len(rows) for row in rows):
        return None
    blocks = [row[k] for k, row in enumerate(rows)]
    if not all(_is_zero(v) for k, row in enumerate(rows) for j, v in enumerate(row) if j != k):
        return None
    sizes = [block.type.shape for block in blocks]
    if any(None not in size and size[0] != size[1] for size in sizes):
        return None
    return blocks if all(block.type.dtype == x.type.dtype for block in blocks) else None


@rules.canonicalize
@matrix_rewriter(Solve)
def local_solve_of_blocks(fgraph, node):
    """``solve(block_diag(A, B), b)``: the rows of b for A, and those for B, by themselves."""
    x, b = node.inputs
    blocks = _blocks(x)
    if blocks is None or b.type.ndim > 2 or b.type.broadcastable[0]:
        return False
    solved, start = [], 0
    for block in blocks[:-1]:
        end = start + block.shape[0]
        solved.append(core_op(node)(block, b[start:end]))
        start = end
    solved.append(core_op(node)(blocks[-1], b[start:]))
    return in_place_of(node.outputs[0], join(0, *solved))


@rules.stabilize  # when products with the inverse have become solutions
@matrix_rewriter(MatrixInverse)
def local_inverse_of_blocks(fgraph, node):
    """``inv(block_diag(A, B))`` as ``block_diag(inv(A), inv(B))``."""
    blocks = _blocks(node.inputs[0])
    if blocks is None:
        return False
    return in_place_of(node.outputs[0], block_diag(*(core_op(node)(block) for block in blocks)))


@rules.canonicalize
@matrix_rewriter(Cholesky)
def local_cholesky_of_blocks(fgraph, node):
    """The Cholesky factor of a block-diagonal matrix has those of its blocks."""
    blocks = _blocks(node.inputs[0])
    if blocks is None or core_op(node).on_error != "raise":
        return False  # a block that has no factor makes NaN of all
    return in_place_of(node.outputs[0], block_diag(*(core_op(node)(block) for block in blocks)))


@rules.canonicalize
@rules.stabilize  # where it is the logarithm of a determinant
@matrix_rewriter(SLogDet)
def local_det_of_blocks(fgraph, node):
    """The logarithm of the determinant of a block-diagonal matrix is the sum of those of its blocks."""
    (x,) = node.inputs
    blocks = _blocks(x)
    if blocks is None or not is_real(x) or not all(map(is_square, blocks)):
        return False  # with blocks that are not square it is zero
    signs, sizes = zip(*(core_op(node)(block) for block in blocks), strict=True)
    return in_places_of(node, mul(*signs), add(*sizes))
