"""Pullbacks of Cholesky factors, in closed form for the usual terms of their cotangents.

The cotangent of a factor L is mostly a sum of terms ``diag(d)``, from the logarithm of a determinant, and
``U @ V.T`` with ``U = solve(L.T, g)``, from quadratic forms. The general pullback multiplies the sum by ``L.T``, takes
a triangle of the product, and solves equations with L on both sides. For these terms it simplifies:

* ``L.T @ U`` is g. Only the diagonal of ``L.T @ diag(d)`` counts: a multiple of the identity if ``d = c / diag(L)``.
* A symmetric matrix between the solutions is kept whole: those of the identity are the inverse, and those of
  ``V @ V.T`` are the product of ``solve(L.T, V)`` with its transpose.
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
from aesara.tensor.rewriting.helpers import common_value, in_place_of, is_float, output_of
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.matrices.expressions import matrix_transpose, minus_one
from aesara.tensor.rewriting.matrices.facts import (
    TRIANGLES,
    diagonal_in,
    facts_of,
    product_of_factors,
    split_numbers,
    transposed_of,
    triangle_in,
)
from aesara.tensor.rewriting.matrices.patterns import matrix_row, matrix_with_fact
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
        """Yield the pullback of each term of a cotangent; None for a term that has no closed form."""
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
        elif (triangular_part := triangle_in(x)) is not None:
            inner, lower = triangular_part
            yield from self.terms(inner, weights) if lower == self.lower else [None]
        elif isinstance(node.op, Dot):
            left, right = node.inputs
            yield self._of_dot(left, right, weights)
        else:
            d = self._diagonal(x)
            yield None if d is None else self._of_diagonal(d, weights)

    def _terms_of_shape(self, v: Variable, x: Variable, weights: _Weights) -> Iterator[Any]:
        """Yield the terms of an operand of `x`; None if its shape differs from that of `x`."""
        yield from self.terms(v, weights) if v.type.shape == x.type.shape else [None]

    def _of_product(self, node: Apply, weights: _Weights) -> Iterator[Any]:
        numbers, rest = split_numbers(node.inputs)
        weights += _as_weights(numbers)
        if len(rest) == 1:
            yield from self._terms_of_shape(rest[0], node.outputs[0], weights)
            return
        columns = [v for v in rest if v.type.broadcastable == (False, True)]
        rows = [v for v in rest if v.type.broadcastable == (True, False)]
        is_outer_product = columns and rows and len(columns) + len(rows) == len(rest)
        yield self._of_dot(product_of_factors(columns), product_of_factors(rows), weights) if is_outer_product else None

    def _of_dot(self, left: Any, right: Any, weights: _Weights) -> Any:
        """Return the pullback of a product of matrices.

        That of ``S @ L`` with a symmetric matrix S is S; that of ``U @ g.T`` with ``U = solve(L.T, g)`` is ``U @ U.T``.
        """
        if left.type.ndim != 2 or right.type.ndim != 2:
            return None
        matrix, factor = (left, right) if self.lower else (right, left)
        part = triangle_in(factor)
        inner = factor if part is None or part[1] != self.lower else part[0]
        if inner is self.factor and "symmetric" in facts_of(matrix):
            return _scale(weights, matrix)
        (left_weights, left), (right_weights, right) = map(_without_numbers, (left, right))
        left, right = (left, _transpose_of(right)) if self.lower else (_transpose_of(right), left)
        (inner_left_weights, left), (inner_right_weights, right) = map(_without_numbers, (left, right))
        node = left.owner
        if node is None or not isinstance(node.op, SolveTriangular) or node.inputs[0] is not self.factor:
            return None
        solve = node.op
        if solve.unit_diagonal or bool(solve.lower) != self.lower or (solve.trans in (0, "N")) == self.lower:
            return None
        g_weights, g = _without_numbers(node.inputs[1])
        weights += left_weights + right_weights + inner_left_weights + g_weights + inner_right_weights
        return _scale(weights, _square(solve(self.factor, g))) if g is right else None

    def _of_diagonal(self, d: Any, weights: _Weights) -> Any:
        """Return the pullback of ``diag(d)``: c times the inverse for ``d = c / diag(L)``, else None."""
        numbers, inner = _without_numbers(d)
        node = inner.owner
        if node is None or node.op not in (true_divide, reciprocal):
            return None
        *numerators, denominator = node.inputs
        diagonal = output_of(denominator, ExtractDiag)
        if any(v.type.shape != (1,) for v in numerators) or diagonal is None or diagonal.op.offset != 0:
            return None
        if diagonal.inputs[0] is not self.factor:
            return None
        weights += numbers + _as_weights(numerators)
        return _scale(weights, InverseByCholesky(self.lower, whole=False)(self.factor))

    def _diagonal(self, x: Variable) -> Variable | None:
        """Return the diagonal of a diagonal matrix, as `diag` or the pullback of `ExtractDiag` write one, else None."""
        node = x.owner
        d = diagonal_in(x)
        if d is not None and x.type.ndim == 2:
            return d
        if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set_instead_of_inc:
            return None
        zeros, block, *stops = node.inputs
        if common_value(zeros) != 0 or block.owner is None or not isinstance(block.owner.op, Subtensor):
            return None
        matrix, *others = block.owner.inputs
        if tuple(node.op.idx_list) != tuple(block.owner.op.idx_list) or others != stops or len(stops) != 2:
            return None
        if any(not isinstance(s, slice) or (s.start, s.step) != (None, None) for s in node.op.idx_list):
            return None
        d = self._diagonal(matrix)
        return d if d is not None and all(map(self._is_order, stops)) else None

    def _is_order(self, length: Any) -> bool:
        """Return whether a length, or a minimum of lengths, is the order of this factor."""
        node = length.owner
        if node is not None and isinstance(node.op, ScalarFromTensor):
            return self._is_order(node.inputs[0])
        if node is not None and isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, aes.ScalarMinimum):
            return all(map(self._is_order, node.inputs))
        feature = getattr(self.fgraph, "shape_feature", None)
        dimension = dimension_measured_by(length)
        if dimension is None or feature is None or dimension[0] not in feature.shape_of:
            return False
        return bool(feature.same_shape(dimension[0], self.factor, dimension[1], 0, with_checks=True))


def _as_weights(numbers: list[TensorVariable]) -> _Weights:
    """Return numbers without dimensions."""
    return tuple(v.dimshuffle() for v in numbers)


def _without_numbers(x: Any) -> tuple[_Weights, Any]:
    """Split a vector or matrix into scalar factors and the rest; a column becomes a vector."""
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
    """Return the transpose of a matrix, or the vector that a row shows."""
    if x.type.ndim == 1:
        return x.dimshuffle("x", 0)
    inner, node = transposed_of(x), x.owner
    if inner is None and node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == ("x", 0):
        return node.inputs[0]
    return matrix_transpose(x) if inner is None else inner


def _scale(weights: _Weights, x: TensorVariable) -> TensorVariable:
    """Multiply a vector or matrix by scalars, of which the constants become one number."""
    values = [common_value(w) if isinstance(w, Variable) else w for w in weights]
    number = math.prod(float(v) for v in values if v is not None)
    factors = [w for w, v in zip(weights, values, strict=True) if v is None]
    factors += [] if number == 1 else [np.asarray(number, x.type.dtype)]
    return mul(x, *factors) if factors else x


def _square(x: TensorVariable) -> TensorVariable:
    """Return ``x @ x.T`` of a vector or a matrix."""
    if x.type.ndim == 1:
        return mul(x.dimshuffle(0, "x"), x.dimshuffle("x", 0))
    transposed = matrix_transpose(x)
    return mul(x, transposed) if x.type.broadcastable[1] else _dot(x, transposed)


@rules.stabilize("shape_unsafe")
@node_rewriter([CholeskyPullback])
def local_pullback_of_cholesky(fgraph, node):
    """``cholesky_pullback(L, g)`` -> a closed form for each term of `g`, or the general formula"""
    (out,) = node.outputs
    factor, gradient = node.inputs
    lower = node.op.lower
    if TRIANGLES[not lower] not in facts_of(factor):
        return in_place_of(out, node.op.expression(factor, gradient))
    doubled = _doubled_pullback(_Factor(fgraph, factor, lower), gradient) if is_float(out) else None
    if doubled is None:
        return in_place_of(out, node.op.of_triangular(factor, gradient))
    half = np.asarray(0.5, out.type.dtype)
    return in_place_of(out, triangle(doubled, lower) * (1 - half * eye(factor.shape[0], dtype=out.type.dtype)))


def _doubled_pullback(factor: _Factor, gradient: Variable) -> Any:
    """Return twice the pullback of a cotangent whose terms all have a closed form, else None."""
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
