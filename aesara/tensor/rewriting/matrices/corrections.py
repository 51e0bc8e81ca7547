"""Multiples of the identity plus any product of low rank ``U @ C @ V.T``.

With orthonormal columns Q that U and V are combinations of, ``U = Q R`` and ``V = Q S``, the matrix is ``d + Q M Q^T``
for ``M = R C S^T``. It acts as d on the complement of the space of Q, and as ``d + M`` within, so that the condition
of the small matrix is not larger; Woodbury's formulas have ``C^-1 + V^T U / d`` there, which may have lost all digits.

Another diagonal is left alone: divided out on both sides, it may make the rest as badly conditioned as its numbers are
of different sizes, where the whole matrix is not.
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
from aesara.tensor.rewriting.matrices.facts import facts_of, product_of_factors, split_numbers, transposed_of
from aesara.tensor.rewriting.matrices.rows import (
    fits_as_columns,
    matrix_row,
    matrix_transpose,
    minus_one,
    of_matrices,
    two_terms,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

_dot = Dot()

#: rows for each column: with fewer, factors of the whole matrix are as fast
FEWEST_ROWS = 4


class _Product(NamedTuple):
    """``numbers * (first * scale) @ middles @ last.T``; `last` is None if it is `first`."""

    numbers: tuple[TensorVariable, ...]
    first: Any
    scale: Any
    middles: list[TensorVariable]
    last: Any

    def times(self, *numbers: Any) -> _Product:
        """Return the product times some numbers more."""
        return self._replace(numbers=(*self.numbers, *numbers))


class _Within(NamedTuple):
    """``d + Q M Q^T``, with ``small = d + M``."""

    d: TensorVariable
    basis: Any
    small: TensorVariable


def _parts(x: Any) -> _Within | None:
    """Return the parts of a multiple of the identity plus a product of few columns, which need not be symmetric."""
    for term, product in two_terms(x, ops.add, ops.sub):
        found = _factor(product)
        # of an identity only its number is kept: that it fits must be known
        d = _identity_times(term) if found is not None and None not in term.type.shape else None
        if found is None or d is None or d.type.dtype != x.type.dtype:
            continue
        if x.owner.op == ops.add:
            return _within(d, found)
        return _within(ops.neg(d), found) if term is x.owner.inputs[1] else _within(d, found.times(minus_one(x)))
    return None


def _factor(product: Any) -> _Product | None:
    """Return the factors of a matrix product, times numbers, if it has few inner columns; else None."""
    node = product.owner
    if node is None:
        return None
    if node.op in (ops.mul, ops.neg):
        numbers, rest = split_numbers(node.inputs)
        found = _factor(rest[0]) if len(rest) == 1 else None
        return found and found.times(*([v.dimshuffle() for v in numbers] or [minus_one(product)]))
    if node.op == ops.true_divide and all(node.inputs[1].type.broadcastable):
        found = _factor(node.inputs[0])
        return found and found.times(ops.reciprocal(node.inputs[1].dimshuffle()))
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
    """Return the matrices of a product of several."""
    if product.owner is None or not isinstance(product.owner.op, Dot):
        return [product]
    left, right = product.owner.inputs
    return [*_factors_of(left), *_factors_of(right)]


def _identity_times(x: Any) -> Any:
    """Return the scalar d of d times the identity, else None."""
    if "identity" in facts_of(x):
        return as_tensor_variable(np.asarray(1, x.type.dtype))
    if x.owner is None or x.owner.op != ops.mul:
        return None
    numbers, rest = split_numbers(x.owner.inputs)
    if not numbers or len(rest) != 1 or "identity" not in facts_of(rest[0]):
        return None
    return product_of_factors([v.dimshuffle() for v in numbers])


def _within(d: Any, product: _Product) -> _Within | None:
    outer = [product.first] if product.last is None else [product.first, product.last]
    widths = [v.type.shape[1] for v in outer]
    rows = product.first.type.shape[0]
    if rows is None or None in widths or FEWEST_ROWS * sum(widths) > rows:
        return None
    check = CheckAndRaise(np.linalg.LinAlgError, "Singular matrix: a diagonal plus a product of low rank.")
    d = check(d, ops.neq(d, 0))
    basis, triangle = QRFull("reduced")(outer[0] if len(outer) == 1 else concatenate(outer, axis=1))
    made = triangle[:, : widths[0]]
    last = made if product.last is None else triangle[:, widths[0] :]
    if product.scale is not None:
        made = made * product.scale
    for middle in product.middles:
        made = _dot(made, middle)
    made = _dot(made, matrix_transpose(last))
    if product.numbers:
        made = ops.mul(made, *product.numbers)
    one = eye(sum(widths), dtype=made.type.dtype)
    return _Within(d, basis, made + d * one)


def solution(parts: _Within, b: TensorVariable) -> Variable:
    """Return the solution: by the small matrix within the space of Q, a quotient in its complement."""
    along = _dot(matrix_transpose(parts.basis), b)
    beside = b - _dot(parts.basis, along)
    return beside / parts.d + _dot(parts.basis, Solve()(parts.small, along))


def inverse(parts: _Within) -> Variable:
    """Return the inverse, by solutions for the transpose of Q."""
    turned = matrix_transpose(parts.basis)
    beside = (eye(parts.basis.shape[0], dtype=parts.d.type.dtype) - _dot(parts.basis, turned)) / parts.d
    return beside + _dot(parts.basis, Solve()(parts.small, turned))


def determinant(parts: _Within) -> tuple[Variable, Variable]:
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
