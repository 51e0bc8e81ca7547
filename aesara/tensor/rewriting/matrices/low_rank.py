"""Diagonal matrices plus products ``U @ U.T`` of low rank: equations and determinants of the order of the rank.

The product may be ``U @ C @ U.T`` with a positive definite C. Products with other matrices in the middle, or with
another one on the right, need other formulas: see `corrections`.

With ``W = D^(-1/2) U``, the matrix ``D + U U^T`` is ``D^(1/2) (1 + W W^T) D^(1/2)``, and its inverse and determinant
follow from ``1 + W^T W`` (Woodbury's formula, and the matrix determinant lemma). That matrix has the order of the rank
and is positive definite, with eigenvalues of at least 1. If D is a multiple of the identity, its condition number is
that of the whole matrix.

Other diagonals may have a few numbers so small that the rows w of W for them dominate ``W^T W``, which loses the digits
of all others even if the whole matrix A is well conditioned. Therefore the rows T with the largest ``w w^T``, as many
as the rank, are eliminated. For the remaining rows R the matrix is ``D_R + U_R U_R^T``. With ``G = 1 + W_R^T W_R``, the
Schur complement of T is ``D_T + U_T G^-1 U_T^T``.

This bounds the error. Let S divide by the lengths of the rows of U. Then no row in R has a ``w w^T`` above the
condition number of ``S A S``: with the rows in T it is one of ``rank + 1`` rows, so a combination x of them has
``U^T S x = 0``, and ``x^T S A S x`` is a mean of their ``1 / w w^T``. The error of solutions by a Cholesky factor of A
is proportional to that condition number too.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from aesara import scalar as aes
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise import ops
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.core import identity_like
from aesara.tensor.linear_algebra.determinant import SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.ordering.sorting import argsort
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.reductions.sum_prod_max import sum
from aesara.tensor.rewriting.helpers import common_value, without_shuffles
from aesara.tensor.rewriting.matrices.expressions import (
    as_rows,
    diagonal_of,
    log_of_square,
    matrix_transpose,
    ones_like_batch,
)
from aesara.tensor.rewriting.matrices.facts import (
    are_transposes,
    facts_of,
    is_square,
    product_of_factors,
    split_numbers,
    transposed_of,
)
from aesara.tensor.rewriting.matrices.patterns import fits_as_columns, matrix_row, of_matrices, two_terms
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.specify_shape import SpecifyShape, specify_shape

rules = Rules()

_dot = Dot()

_POSITIVE = (ops.exp, ops.sigmoid, ops.softplus)
_NOT_NEGATIVE = (ops.square, ops.sqrt, ops.abs)


class _Decomposition(NamedTuple):
    """A diagonal ``d``, its square roots, ``W = U / roots``, and the Cholesky factor of ``1 + W.T @ W``.

    They are about the remaining rows if some are eliminated.
    """

    d: TensorVariable
    roots: TensorVariable
    scaled_u: Any
    factor: TensorVariable
    eliminated: _EliminatedRows | None


class _EliminatedRows(NamedTuple):
    """Eliminated rows of U, the Cholesky factor of their Schur complement, and a permutation that moves them last."""

    order: TensorVariable
    rows: Any
    factor: TensorVariable


#: The decompositions in a graph, so that all operations on a matrix share its factor.
_DECOMPOSITIONS: WeakKeyDictionary[FunctionGraph, dict[Variable, _Decomposition]] = WeakKeyDictionary()


def _parts(fgraph: FunctionGraph, x: Variable) -> _Decomposition | None:
    """Return the decomposition of a positive diagonal plus ``U @ U.T`` of less than half the rank, else None."""
    known = _DECOMPOSITIONS.setdefault(fgraph, {})
    transposed = transposed_of(x)
    x = x if transposed is None else transposed  # it is symmetric
    parts = known.get(x)
    if parts is None or parts.factor not in fgraph.clients:
        parts = _decompose(x)
        if parts is not None:
            known[x] = parts
    return parts


def _decompose(x: Variable) -> _Decomposition | None:
    """Build the decomposition of a matrix; None if it has another structure."""
    for term, product in two_terms(x, ops.add):
        u: Any = _low_rank_factor(product)
        if u is None or u.type.dtype != x.type.dtype:
            continue
        rows, rank = u.type.shape
        if rows is None or rank is None or 2 * rank >= rows:
            continue
        d: Any = _positive_diagonal(term)
        if d is None or d.type.dtype != x.type.dtype:
            continue
        check = CheckAndRaise(np.linalg.LinAlgError, "Singular matrix: a diagonal plus a product of low rank.")
        d = check(d, all_of(ops.gt(d, 0)))
        if _has_equal_numbers(d):
            return _Decomposition(d, *_scale(u, d), None)
        order = argsort(sum(ops.square(u), axis=1, dtype=x.type.dtype) / d)
        d, u = d[order], u[order]
        remaining = _Decomposition(d[:-rank], *_scale(u[:-rank], d[:-rank]), None)
        last = u[-rank:]
        half = SolveTriangular(lower=True, check_finite=False)(remaining.factor, last.T)
        complement = AllocDiag()(d[-rank:]) + _dot(half.T, half)
        return remaining._replace(eliminated=_EliminatedRows(order, last, Cholesky()(complement)))
    return None


def _scale(u: TensorVariable, d: TensorVariable) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """Return ``sqrt(d)``, ``W = U / sqrt(d)``, and the Cholesky factor of ``1 + W.T @ W``."""
    roots = ops.sqrt(d)
    scaled = u / as_rows(roots, False)
    inner = eye(scaled.type.shape[1], dtype=u.type.dtype) + _dot(scaled.T, scaled)
    return roots, scaled, Cholesky()(inner)


def _solution(parts: _Decomposition, b: Any) -> Any:
    """Return the solution for right-hand sides, a vector or columns."""
    solve, eliminated, kept = CholeskySolve(True, False), parts.eliminated, b
    if eliminated is not None:
        permuted, count = b[eliminated.order], eliminated.rows.type.shape[0]
        kept, last = permuted[:-count], permuted[-count:]
    roots = as_rows(parts.roots, b.type.ndim == 1)
    scaled = kept / roots
    inner = solve(parts.factor, _dot(parts.scaled_u.T, scaled))
    if eliminated is None:
        return (scaled - _dot(parts.scaled_u, inner)) / roots
    x = solve(eliminated.factor, last - _dot(eliminated.rows, inner))
    inner = inner + solve(parts.factor, _dot(eliminated.rows.T, x))
    both = concatenate([(scaled - _dot(parts.scaled_u, inner)) / roots, x], axis=0)
    return both[argsort(eliminated.order)]


def _low_rank_factor(x: Variable) -> Variable | None:
    """Return U of ``U @ U.T``, or V times a Cholesky factor of C for ``V @ C @ V.T``, else None."""
    if x.owner is None or not isinstance(x.owner.op, Dot):
        return None
    left, right = x.owner.inputs
    if left.type.ndim != 2 or right.type.ndim != 2 or left.type.dtype != right.type.dtype:
        return None
    if are_transposes(left, right):
        return left
    factor = _with_middle(left, right, 0)
    return _with_middle(right, left, 1) if factor is None else factor


def _with_middle(x: Variable, other: Variable, side: int) -> Variable | None:
    """Return U for `x` = ``V @ C`` and `other` = ``V.T`` (side 0), or for ``C @ V.T`` and ``V`` (side 1); else None."""
    node = x.owner
    if node is None or len(node.inputs) != 2 or (node.op != ops.mul and not isinstance(node.op, Dot)):
        return None
    for outer, middle in (node.inputs, node.inputs[::-1]):
        if outer.type.ndim != 2 or middle.type.dtype != outer.type.dtype or not are_transposes(outer, other):
            continue
        v: Any = other if side else outer
        if node.op == ops.mul:
            is_diagonal = (False, True) if side else (True, False)
            if middle.type.broadcastable == is_diagonal and _is_positive(middle):
                return ops.mul(v, ops.sqrt(matrix_transpose(middle) if side else middle))
        elif outer is node.inputs[side] and middle.type.ndim == 2 and "positive_definite" in facts_of(middle):
            return specify_shape(_dot(v, Cholesky()(middle)), v.type.shape)
    return None


def _positive_diagonal(x: Any) -> Variable | None:
    """Return the diagonal of a matrix if it is known to be positive, or all zero; else None."""
    facts = facts_of(x)
    if "diagonal" not in facts or not is_square(x):
        return None
    if "positive_definite" in facts:
        return diagonal_of(x)
    numbers, rest = split_numbers(x.owner.inputs if x.owner is not None and x.owner.op == ops.mul else [x])
    if len(rest) != 1 or not all(_is_positive(v, _NOT_NEGATIVE) for v in numbers):
        return None
    (matrix,) = rest
    if "identity" not in facts_of(matrix) and not _is_positive(diagonal_of(matrix)):
        return None
    return product_of_factors([*(v.dimshuffle() for v in numbers), diagonal_of(matrix)])


def _has_equal_numbers(d: Any) -> bool:
    """Return whether a vector is known to have one number only."""
    while d.owner is not None and isinstance(d.owner.op, (CheckAndRaise, SpecifyShape, Alloc)):
        d = d.owner.inputs[0]
    if all(d.type.broadcastable):
        return True
    if isinstance(d, Constant):
        return bool(np.all(np.asarray(d.data) == np.ravel(d.data)[:1]))
    node = d.owner
    if node is not None and isinstance(node.op, ExtractDiag) and "identity" in facts_of(node.inputs[0]):
        return True
    return (
        node is not None
        and node.op in (ops.mul, ops.square, ops.sqrt, ops.abs, *_POSITIVE)
        and all(_has_equal_numbers(v) for v in node.inputs)
    )


def _is_positive(x: Variable, nonnegative: tuple = ()) -> bool:
    """Return whether finite numbers are known to be positive, or zero as results of the ops `nonnegative`."""
    x = without_shuffles(x, Alloc)
    if isinstance(x, Constant):
        return bool(np.all(np.asarray(x.data) > 0))
    if x.owner is None:
        return False
    op = x.owner.op
    if op in (ops.add, ops.mul):
        return all(_is_positive(v, nonnegative) for v in x.owner.inputs)
    if nonnegative and isinstance(getattr(op, "scalar_op", None), aes.Pow):
        exponent = common_value(x.owner.inputs[1])
        return exponent is not None and exponent > 0 and exponent % 2 == 0
    return op in _POSITIVE or op in nonnegative


def solution(fgraph: FunctionGraph, x: Variable, b: TensorVariable) -> Variable | None:
    """Return the solution of equations by Woodbury's formula."""
    parts = _parts(fgraph, x)
    return None if parts is None else _solution(parts, b)


def inverse(fgraph: FunctionGraph, x: TensorVariable) -> Variable | None:
    """Return the inverse by Woodbury's formula."""
    parts = _parts(fgraph, x)
    if parts is None:
        return None
    if parts.eliminated is not None:
        return _solution(parts, identity_like(x))
    left = parts.scaled_u / as_rows(parts.roots, False)
    return AllocDiag()(ops.reciprocal(parts.d)) - _dot(left, CholeskySolve(True, False)(parts.factor, left.T))


def determinant(fgraph: FunctionGraph, x: Variable) -> tuple[Variable, Variable] | None:
    """Return the sign, which is one, and the logarithm of the determinant."""
    parts = _parts(fgraph, x)
    if parts is None:
        return None
    size: Any = sum(ops.log(parts.d), dtype=x.type.dtype) + log_of_square(parts.factor)
    return ones_like_batch(x), size if parts.eliminated is None else size + log_of_square(parts.eliminated.factor)


rules.canonicalize(
    matrix_row(
        "local_solve_of_low_rank",
        (of_matrices(Solve, assume_a={"gen", "pos"}), "x", "b"),
        solution,
        fits_as_columns,
        why="solve(D + U @ U.T, b) -> Woodbury's formula",
    )
)
rules.stabilize(  # when products with the inverse have become solutions
    matrix_row(
        "local_inverse_of_low_rank",
        (of_matrices(MatrixInverse), "x"),
        inverse,
        why="inv(D + U @ U.T) -> Woodbury's formula",
    )
)
rules.add(  # also where it is the logarithm of a determinant
    matrix_row(
        "local_det_of_low_rank",
        (of_matrices(SLogDet), "x"),
        determinant,
        why="slogdet(D + U @ U.T) -> one of the order of the rank",
    ),
    to=(rules.canonicalize, rules.stabilize),
)
