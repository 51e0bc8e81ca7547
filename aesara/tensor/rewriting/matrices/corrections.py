"""Multiples of the identity plus any product of low rank ``U @ C @ V.T``.

Let the orthonormal columns Q span those of U and V: ``U = Q R``, ``V = Q S``. The matrix is then ``d + Q M Q^T`` with
``M = R C S^T``. It acts as ``d + M`` in the span of Q and as d in its complement, so the small matrix ``d + M`` is
conditioned no worse than the whole. In its place, Woodbury's formula has ``C^-1 + V^T U / d``, which may lose all
digits.

Other diagonals are not handled: dividing by one on both sides can make a well-conditioned problem ill-conditioned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.matching import extract
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise import ops
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.determinant import SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.matrices.expressions import matrix_transpose, minus_one
from aesara.tensor.rewriting.matrices.facts import facts_of, product_of_factors, split_numbers, transposed_of
from aesara.tensor.rewriting.matrices.patterns import fits_as_columns, matrix_row, of_matrices, two_terms
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

_dot = Dot()

#: Rows for each column of the product. With fewer, factors of the whole matrix are as fast.
FEWEST_ROWS = 4


class _Product(NamedTuple):
    """``numbers * (first * scale) @ middles @ last.T``; `last` is None if it is `first`."""

    numbers: tuple[TensorVariable, ...]
    first: Any
    scale: Any
    middles: list[TensorVariable]
    last: Any

    def times(self, *numbers: Any) -> _Product:
        """Return the product with further numbers as factors."""
        return self._replace(numbers=(*self.numbers, *numbers))


class _Reduced(NamedTuple):
    """``d + Q M Q^T``, with ``small = d + M``."""

    d: TensorVariable
    basis: Any
    small: TensorVariable


def _parts(x: Any) -> _Reduced | None:
    """Return the parts of a multiple of the identity plus a product of low rank, else None."""
    for term, product in two_terms(x, ops.add, ops.sub):
        low_rank = _factor(product)
        # Only the number of the identity is kept, so its order must be known to fit.
        d = _identity_times(term) if low_rank is not None and None not in term.type.shape else None
        if low_rank is None or d is None or d.type.dtype != x.type.dtype:
            continue
        if x.owner.op == ops.add:
            return _reduce(d, low_rank)
        return _reduce(ops.neg(d), low_rank) if term is x.owner.inputs[1] else _reduce(d, low_rank.times(minus_one(x)))
    return None


def _factor(product: Any) -> _Product | None:
    """Return the factors of a multiple of a matrix product, else None."""
    node = product.owner
    if node is None:
        return None
    if node.op in (ops.mul, ops.neg):
        numbers, rest = split_numbers(node.inputs)
        factored = _factor(rest[0]) if len(rest) == 1 else None
        return factored and factored.times(*([v.dimshuffle() for v in numbers] or [minus_one(product)]))
    if node.op == ops.true_divide and all(node.inputs[1].type.broadcastable):
        factored = _factor(node.inputs[0])
        return factored and factored.times(ops.reciprocal(node.inputs[1].dimshuffle()))
    factors = _factors_of(product)
    if len(factors) < 2 or any(v.type.ndim != 2 or v.type.dtype != product.type.dtype for v in factors):
        return None
    first, *middles, right = factors
    last, scale = matrix_transpose(right) if (inner := transposed_of(right)) is None else inner, None
    if first.owner is not None and first.owner.op == ops.mul and len(first.owner.inputs) == 2:
        for outer, row in (first.owner.inputs, first.owner.inputs[::-1]):
            if outer is last and row.type.broadcastable == (True, False):
                first, scale = outer, row
    return _Product((), first, scale, middles, None if first is last or transposed_of(first) is right else last)


def _factors_of(product: Any) -> list[Any]:
    """Return the factors of nested matrix products, from left to right."""
    if product.owner is None or not isinstance(product.owner.op, Dot):
        return [product]
    left, right = product.owner.inputs
    return [*_factors_of(left), *_factors_of(right)]


def _identity_times(x: Any) -> Any:
    """Return the scalar ``d`` of ``d * I``, else None."""
    if "identity" in facts_of(x):
        return as_tensor_variable(np.asarray(1, x.type.dtype))
    if x.owner is None or x.owner.op != ops.mul:
        return None
    numbers, rest = split_numbers(x.owner.inputs)
    if not numbers or len(rest) != 1 or "identity" not in facts_of(rest[0]):
        return None
    return product_of_factors([v.dimshuffle() for v in numbers])


def _reduce(d: Any, product: _Product) -> _Reduced | None:
    """Return the parts of ``d * I + product``; None if the rank is unknown or too large."""
    columns = [product.first] if product.last is None else [product.first, product.last]
    widths = [v.type.shape[1] for v in columns]
    rows = product.first.type.shape[0]
    if rows is None or None in widths or FEWEST_ROWS * sum(widths) > rows:
        return None
    check = CheckAndRaise(np.linalg.LinAlgError, "Singular matrix: a diagonal plus a product of low rank.")
    d = check(d, ops.neq(d, 0))
    basis, triangle = QRFull("reduced")(columns[0] if len(columns) == 1 else concatenate(columns, axis=1))
    middle_matrix = triangle[:, : widths[0]]
    last = middle_matrix if product.last is None else triangle[:, widths[0] :]
    if product.scale is not None:
        middle_matrix = middle_matrix * product.scale
    for middle in product.middles:
        middle_matrix = _dot(middle_matrix, middle)
    middle_matrix = _dot(middle_matrix, matrix_transpose(last))
    if product.numbers:
        middle_matrix = ops.mul(middle_matrix, *product.numbers)
    identity = eye(sum(widths), dtype=middle_matrix.type.dtype)
    return _Reduced(d, basis, middle_matrix + d * identity)


def solution(parts: _Reduced, b: TensorVariable) -> Variable:
    """Return the solution: by the small matrix in the span of Q, by division in its complement."""
    projection = _dot(matrix_transpose(parts.basis), b)
    complement = b - _dot(parts.basis, projection)
    return complement / parts.d + _dot(parts.basis, Solve()(parts.small, projection))


def inverse(parts: _Reduced) -> Variable:
    """Return the inverse, by a solution for the transpose of Q."""
    transposed = matrix_transpose(parts.basis)
    complement = (eye(parts.basis.shape[0], dtype=parts.d.type.dtype) - _dot(parts.basis, transposed)) / parts.d
    return complement + _dot(parts.basis, Solve()(parts.small, transposed))


def determinant(parts: _Reduced) -> tuple[Variable, Variable]:
    """Return the sign and the logarithm of the determinant of the small matrix times ``d**(n - rank)``."""
    sign, size = SLogDet()(parts.small)
    count = parts.basis.type.shape[0] - parts.basis.type.shape[1]
    size = size + np.asarray(count, parts.d.type.dtype) * ops.log(ops.abs(parts.d))
    return sign * ops.sgn(parts.d) if count % 2 else sign, size


correction = extract(_parts, "parts")
rules.canonicalize(
    matrix_row(
        "local_solve_of_correction",
        (of_matrices(Solve, assume_a={"gen"}), correction, "b"),
        solution,
        lambda parts, b: fits_as_columns(parts.d, b),
        why="solve(d * I + U @ C @ V.T, b) -> a solution of the order of the rank",
    )
)
rules.stabilize(  # when products with the inverse have become solutions
    matrix_row(
        "local_inverse_of_correction",
        (of_matrices(MatrixInverse), correction),
        inverse,
        why="inv(d * I + U @ C @ V.T) -> a solution of the order of the rank",
    )
)
rules.add(  # also where it is the logarithm of a determinant
    matrix_row(
        "local_det_of_correction",
        (of_matrices(SLogDet), correction),
        determinant,
        why="slogdet(d * I + U @ C @ V.T) -> one of the order of the rank",
    ),
    to=(rules.canonicalize, rules.stabilize),
)
