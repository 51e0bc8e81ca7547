"""Gradients for matrices that are given by Cholesky factors.

The gradient of a factor L is mostly a sum of a few kinds of terms: ``diag(d)``, from the logarithm of a determinant,
and products ``U @ V.T`` with ``U = solve(L.T, g)``, from quadratic forms. In the gradient stands ``L.T`` times this
sum, of which only a triangle counts, then solutions on both sides. Such terms need nothing of that:

* ``L.T @ U`` is g; of ``L.T @ diag(d)`` the diagonal counts, a multiple of the identity if ``d = c / diag(L)``.
* A symmetric matrix in the middle stays what it is: solutions on both sides of the identity are the inverse, and those
  of ``V @ V.T`` are the product of ``solve(L.T, V)`` with its transpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.scalar_conversion import ScalarFromTensor
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, mul, neg, reciprocal, sub, true_divide
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky
from aesara.tensor.linear_algebra.cholesky import CholeskyPullback, CholeskySolve
from aesara.tensor.linear_algebra.core import triangle
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import common_value, in_place_of, output_of
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.matrices.facts import (
    TRIANGLES,
    diagonal_in,
    facts_of,
    product_of_factors,
    split_numbers,
    transposed_of,
    triangle_in,
)
from aesara.tensor.rewriting.matrices.rows import is_real, matrix_row, matrix_transpose, matrix_with_fact, minus_one
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

_dot = Dot()

#: Numbers that a term is multiplied by, without dimensions.
_Weights = tuple[Any, ...]


class _Factor:
    """A Cholesky factor L, or its transpose, in a graph."""

    def __init__(self, fgraph: FunctionGraph, factor: TensorVariable, lower: bool) -> None:
        self.fgraph, self.factor, self.lower = fgraph, factor, lower

    def terms(self, x: Variable, weights: _Weights = ()) -> Iterator[Any]:
        """Yield the replacements of the terms of a gradient for this factor; None for a term of another kind."""
        node = x.owner
        if node is None:
            yield None
        elif node.op == add:
            for v in node.inputs:
                yield from self._terms_of_shape(v, x, weights)
        elif node.op == sub:
            yield from self._terms_of_shape(node.inputs[0], x, weights)
            yield from self._terms_of_shape(node.inputs[1], x, (*weights, minus_one(x)))
        elif node.op == neg:
            yield from self.terms(node.inputs[0], (*weights, minus_one(x)))
        elif node.op == mul:
            yield from self._of_product(node, weights)
        elif (found := triangle_in(x)) is not None:
            inner, lower = found
            yield from self.terms(inner, weights) if lower == self.lower else [None]
        elif isinstance(node.op, Dot):
            left, right = node.inputs
            yield self._of_dot(left, right, weights)
        else:
            d = self._diagonal(x)
            yield None if d is None else self._of_diagonal(d, weights)

    def _terms_of_shape(self, v: Variable, x: Variable, weights: _Weights) -> Iterator[Any]:
        """Yield the terms of an operand of `x`; None if its shape is another."""
        yield from self.terms(v, weights) if v.type.shape == x.type.shape else [None]

    def _of_product(self, node: Apply, weights: _Weights) -> Iterator[Any]:
        numbers, rest = split_numbers(node.inputs)
        weights += _as_weights(numbers)
        if len(rest) == 1:
            yield from self._terms_of_shape(rest[0], node.outputs[0], weights)
            return
        columns = [v for v in rest if v.type.broadcastable == (False, True)]
        rows = [v for v in rest if v.type.broadcastable == (True, False)]
        are_all = columns and rows and len(columns) + len(rows) == len(rest)
        yield self._of_dot(product_of_factors(columns), product_of_factors(rows), weights) if are_all else None

    def _of_dot(self, left: Any, right: Any, weights: _Weights) -> Any:
        """Return the replacement of a product of matrices.

        Of ``S @ L`` with a symmetric matrix that is S; of ``solve(L.T, g) @ g.T`` it is ``solve(L.T, g)`` times its
        transpose.
        """
        if left.type.ndim != 2 or right.type.ndim != 2:
            return None
        matrix, factor = (left, right) if self.lower else (right, left)
        found = triangle_in(factor)
        inner = factor if found is None or found[1] != self.lower else found[0]
        if inner is self.factor and "symmetric" in facts_of(matrix):
            return _scale(weights, matrix)
        (of_left, left), (of_right, right) = map(_without_numbers, (left, right))
        left, right = (left, _transpose_of(right)) if self.lower else (_transpose_of(right), left)
        (more_left, left), (more_right, right) = map(_without_numbers, (left, right))
        node = left.owner
        if node is None or not isinstance(node.op, SolveTriangular) or node.inputs[0] is not self.factor:
            return None
        solve = node.op
        if solve.unit_diagonal or bool(solve.lower) != self.lower or (solve.trans in (0, "N")) == self.lower:
            return None
        of_g, g = _without_numbers(node.inputs[1])
        weights += of_left + of_right + more_left + of_g + more_right
        return _scale(weights, _square(solve(self.factor, g))) if g is right else None

    def _of_diagonal(self, d: Any, weights: _Weights) -> Any:
        """Return c times the inverse for ``diag(d)`` with ``d = c / diag(L)``; None for other diagonals."""
        numbers, inner = _without_numbers(d)
        node = inner.owner
        if node is None or node.op not in (true_divide, reciprocal):
            return None
        *above, below = node.inputs
        diagonal = output_of(below, ExtractDiag)
        if any(v.type.shape != (1,) for v in above) or diagonal is None or diagonal.op.offset != 0:
            return None
        if diagonal.inputs[0] is not self.factor:
            return None
        weights += numbers + _as_weights(above)
        return _scale(weights, InverseByCholesky(self.lower, whole=False)(self.factor))

    def _diagonal(self, x: Variable) -> Variable | None:
        """Return the diagonal of a matrix that has it in the place of `ExtractDiag` of this factor."""
        node = x.owner
        d = diagonal_in(x)
        if d is not None and x.type.ndim == 2:
            return d
        if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set_instead_of_inc:
            return None
        zeros, block, *ends = node.inputs
        if common_value(zeros) != 0 or block.owner is None or not isinstance(block.owner.op, Subtensor):
            return None
        matrix, *others = block.owner.inputs
        if tuple(node.op.idx_list) != tuple(block.owner.op.idx_list) or others != ends or len(ends) != 2:
            return None
        if any(not isinstance(s, slice) or (s.start, s.step) != (None, None) for s in node.op.idx_list):
            return None
        d = self._diagonal(matrix)
        return d if d is not None and all(map(self._is_order, ends)) else None

    def _is_order(self, end: Any) -> bool:
        """Return whether a length is the order of this factor, or the smallest of such lengths."""
        node = end.owner
        if node is not None and isinstance(node.op, ScalarFromTensor):
            return self._is_order(node.inputs[0])
        if node is not None and isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, aes.ScalarMinimum):
            return all(map(self._is_order, node.inputs))
        feature = getattr(self.fgraph, "shape_feature", None)
        found = dimension_measured_by(end)
        if found is None or feature is None or found[0] not in feature.shape_of:
            return False
        return bool(feature.same_shape(found[0], self.factor, found[1], 0, with_checks=True))


def _as_weights(numbers: list[TensorVariable]) -> _Weights:
    """Return numbers without dimensions."""
    return tuple(v.dimshuffle() for v in numbers)


def _without_numbers(x: Any) -> tuple[_Weights, Any]:
    """Return the scalar factors of a vector or matrix, and the rest; a column becomes a vector."""
    weights: _Weights = ()
    while x.owner is not None:
        node = x.owner
        if node.op == neg:
            weights, x = (*weights, minus_one(x)), node.inputs[0]
        elif node.op == mul:
            numbers, rest = split_numbers(node.inputs)
            if len(rest) != 1 or not numbers or rest[0].type.ndim != x.type.ndim:
                break
            weights, x = weights + _as_weights(numbers), rest[0]
        elif isinstance(node.op, DimShuffle) and node.op.new_order == (0, "x"):
            (x,) = node.inputs
        else:
            break
    return weights, x


def _transpose_of(x: TensorVariable) -> Any:
    """Return the transpose of a matrix, or the vector that a row was made of."""
    if x.type.ndim == 1:
        return x.dimshuffle("x", 0)
    inner, node = transposed_of(x), x.owner
    if inner is None and node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == ("x", 0):
        return node.inputs[0]
    return matrix_transpose(x) if inner is None else inner


def _scale(weights: _Weights, x: TensorVariable) -> TensorVariable:
    """Return a vector or matrix times scalars; constants are multiplied at once."""
    values = [common_value(w) if isinstance(w, Variable) else w for w in weights]
    number = math.prod(float(v) for v in values if v is not None)
    factors = [w for w, v in zip(weights, values, strict=True) if v is None]
    factors += [] if number == 1 else [np.asarray(number, x.type.dtype)]
    return mul(x, *factors) if factors else x


def _square(x: TensorVariable) -> TensorVariable:
    """Return ``x @ x.T``, of a vector or of a matrix."""
    if x.type.ndim == 1:
        return mul(x.dimshuffle(0, "x"), x.dimshuffle("x", 0))
    turned = matrix_transpose(x)
    return mul(x, turned) if x.type.broadcastable[1] else _dot(x, turned)


@rules.stabilize("shape_unsafe")
@node_rewriter([CholeskyPullback])
def local_pullback_of_cholesky(fgraph, node):
    """``cholesky_pullback(L, g)`` -> solutions, or products and inverses for the terms that `g` is a sum of"""
    (out,) = node.outputs
    given, gradient = node.inputs
    lower = node.op.lower
    if TRIANGLES[not lower] not in facts_of(given):
        return in_place_of(out, node.op.expression(given, gradient))
    whole = _twice_the_gradient(_Factor(fgraph, given, lower), gradient) if is_real(out) else None
    if whole is None:
        return in_place_of(out, node.op.of_triangular(given, gradient))
    half = np.asarray(0.5, out.type.dtype)
    return in_place_of(out, triangle(whole, lower) * (1 - half * eye(given.shape[0], dtype=out.type.dtype)))


def _twice_the_gradient(factor: _Factor, gradient: Variable) -> Any:
    """Return a sum of products, and of a multiple of the inverse; None if that takes more."""
    terms = []
    for term in factor.terms(gradient):
        if term is None:
            return None
        terms.append(term)
    return None if not terms else terms[0] if len(terms) == 1 else add(*terms)


rules.stabilize(
    matrix_row(
        "local_inverse_by_cholesky",
        (
            one_of(CholeskySolve, lower="lower"),
            matrix_with_fact("factor", "positive_diagonal"),
            matrix_with_fact("b", "identity"),
        ),
        lambda factor, lower: InverseByCholesky(bool(lower))(factor),
        lambda b: b.type.ndim == 2,
        why="cho_solve(L, I) -> the inverse by the Cholesky factor L",
    )
)
