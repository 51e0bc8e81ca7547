"""Gradients for matrices that are given by Cholesky factors.

What arrives at a factor L is mostly a sum of a few kinds of terms: ``diag(d)``, from the logarithm of a determinant,
and products ``U @ V.T`` with ``U = solve(L.T, g)``, from quadratic forms. In the gradient stands ``L.T`` times this
sum, of which only a triangle counts, then solutions on both sides. Such terms need nothing of that:

* ``L.T @ U`` is g; of ``L.T @ diag(d)`` the diagonal counts, a multiple of the identity if ``d = c / diag(L)``.
* A symmetric matrix in the middle stays what it is: solutions on both sides of the identity are the inverse, and those
  of ``V @ V.T`` are the product of ``solve(L.T, V)`` with its transpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from aesara import scalar as aes
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.scalar_conversion import ScalarFromTensor
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, mul, neg, reciprocal, sub, true_divide
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky
from aesara.tensor.linear_algebra.cholesky import CholeskyPullback, CholeskySolve
from aesara.tensor.linear_algebra.core import triangle
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import common_value, in_place_of
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.matrices.facts import facts_of, transposed_of, triangle_in
from aesara.tensor.rewriting.matrices.parts import is_real, swapped
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

__all__ = ["local_inverse_by_cholesky", "local_pullback_of_cholesky"]

_dot = Dot()

#: Numbers that a term is multiplied by, without dimensions.
_Weights = tuple[Any, ...]


class _Diagonal(NamedTuple):
    """``diag(d)``."""

    weights: _Weights
    d: Any


class _Outer(NamedTuple):
    """``left @ right.T``, of vectors or of matrices."""

    weights: _Weights
    left: Any
    right: Any


class _Symmetric(NamedTuple):
    """``matrix @ L`` with a symmetric matrix."""

    weights: _Weights
    matrix: Any


_Term = _Diagonal | _Outer | _Symmetric


class _Factor:
    """A Cholesky factor L, or its transpose, in a graph."""

    def __init__(self, fgraph: FunctionGraph, factor: Any, lower: bool) -> None:
        self.fgraph, self.factor, self.lower = fgraph, factor, lower

    # -- what a gradient is the sum of

    def terms(self, x: Variable, weights: _Weights = ()) -> Iterator[_Term | None]:
        """The terms of a gradient for this factor; None for one of another kind."""
        node = x.owner
        if node is None:
            yield None
        elif node.op == add:
            for v in node.inputs:
                yield from self.terms(v, weights) if v.type.shape == x.type.shape else [None]
        elif node.op == sub:
            for v, sign in zip(node.inputs, ((), (_minus_one(x),)), strict=True):
                yield from self.terms(v, weights + sign) if v.type.shape == x.type.shape else [None]
        elif node.op == neg:
            yield from self.terms(node.inputs[0], (*weights, _minus_one(x)))
        elif node.op == mul:
            yield from self._of_product(x, weights)
        elif (found := triangle_in(x)) is not None:
            inner, lower = found
            yield from self.terms(inner, weights) if lower == self.lower else [None]
        elif isinstance(node.op, Dot):
            first, second = node.inputs
            yield self._of_dot(first, second, weights)
        else:
            d = self._diagonal(x)
            yield None if d is None else _Diagonal(weights, d)

    def _of_product(self, x: Variable, weights: _Weights) -> Iterator[_Term | None]:
        assert x.owner is not None
        numbers, rest = _numbers_and_rest(x.owner)
        weights += numbers
        if len(rest) == 1:
            yield from self.terms(rest[0], weights) if rest[0].type.shape == x.type.shape else [None]
            return
        columns = [v for v in rest if v.type.broadcastable == (False, True)]
        rows = [v for v in rest if v.type.broadcastable == (True, False)]
        if not columns or not rows or len(columns) + len(rows) != len(rest):
            yield None
            return
        left, right = (v[0] if len(v) == 1 else mul(*v) for v in (columns, rows))
        yield self._of_dot(left, right, weights)

    def _of_dot(self, left: Any, right: Any, weights: _Weights) -> _Term | None:
        if left.type.ndim != 2 or right.type.ndim != 2:
            return None
        for matrix, factor in ((left, right),) if self.lower else ((right, left),):
            found = triangle_in(factor)
            inner = factor if found is None or found[1] != self.lower else found[0]
            if inner is self.factor and "symmetric" in facts_of(matrix):
                return _Symmetric(weights, matrix)
        (of_left, left), (of_right, right) = map(_without_numbers, (left, right))
        weights += of_left + of_right
        return _Outer(weights, left, _turned(right)) if self.lower else _Outer(weights, _turned(right), left)

    def _diagonal(self, x: Variable) -> Variable | None:
        """What stands on the diagonal of a matrix that has it in the place of `ExtractDiag` of this factor."""
        node = x.owner
        if node is None:
            return None
        if isinstance(node.op, AllocDiag):
            return node.inputs[0] if node.op.offset == 0 and x.type.ndim == 2 else None
        if not isinstance(node.op, IncSubtensor) or not node.op.set_instead_of_inc:
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
        """Whether a length is the order of this factor, or the smallest of such lengths."""
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

    # -- what becomes of them

    def before(self, left: Any) -> tuple[_Weights, Any, SolveTriangular] | None:
        """The g of ``left = solve(L.T, g)``, without numbers that it is multiplied by, and the op that solves."""
        weights, solved = _without_numbers(left)
        node = solved.owner
        if node is None or not isinstance(node.op, SolveTriangular) or node.inputs[0] is not self.factor:
            return None
        op = node.op
        if op.unit_diagonal or bool(op.lower) != self.lower or (op.trans in (0, "N")) == self.lower:
            return None
        more, g = _without_numbers(node.inputs[1])
        return weights + more, g, op

    def transposed(self) -> Any:
        """The transpose of L."""
        return swapped(self.factor) if self.lower else self.factor

    def multiple_of_reciprocal(self, d: Any) -> _Weights | None:
        """The numbers c of ``d = c / diagonal``."""
        weights, inner = _without_numbers(d)
        node = inner.owner
        if node is None:
            return None
        if node.op == true_divide:
            above, below = node.inputs
            if above.type.shape != (1,):
                return None
            weights = (*weights, _as_number(above))
        elif node.op == reciprocal:
            (below,) = node.inputs
        else:
            return None
        below = below.owner
        if below is None or not isinstance(below.op, ExtractDiag) or below.op.offset != 0:
            return None
        return weights if below.inputs[0] is self.factor else None


def _minus_one(x: Variable) -> Any:
    return np.asarray(-1, x.type.dtype)


def _as_number(x: Any) -> Any:
    """A number without dimensions."""
    return x.dimshuffle() if x.type.ndim else x


def _numbers_and_rest(node: Apply) -> tuple[_Weights, list[Any]]:
    """The numbers among the operands of a product, and the others."""
    numbers = tuple(_as_number(v) for v in node.inputs if all(v.type.broadcastable))
    return numbers, [v for v in node.inputs if not all(v.type.broadcastable)]


def _without_numbers(x: Any) -> tuple[_Weights, Any]:
    """The numbers that a vector or matrix is multiplied by, and what it is without them: as a vector, if it is one."""
    weights: _Weights = ()
    while x.owner is not None:
        node = x.owner
        if node.op == neg:
            weights, x = (*weights, _minus_one(x)), node.inputs[0]
        elif node.op == mul:
            numbers, rest = _numbers_and_rest(node)
            if len(rest) != 1 or not numbers or rest[0].type.ndim != x.type.ndim:
                break
            weights, x = weights + numbers, rest[0]
        elif isinstance(node.op, DimShuffle) and node.op.new_order == (0, "x"):
            (x,) = node.inputs
        else:
            break
    return weights, x


def _turned(x: Any) -> Any:
    """The transpose of a matrix: as a vector, if it is a row made of that."""
    if x.type.ndim == 1:
        return x.dimshuffle("x", 0)
    inner, node = transposed_of(x), x.owner
    if inner is None and node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == ("x", 0):
        (inner,) = node.inputs
    return swapped(x) if inner is None else inner


def _scaled(weights: _Weights, x: Any) -> Any:
    """A vector or matrix times numbers; constants are multiplied at once."""
    values = [common_value(w) if isinstance(w, Variable) else w for w in weights]
    number = math.prod(float(v) for v in values if v is not None)
    factors = [w for w, v in zip(weights, values, strict=True) if v is None]
    factors += [] if number == 1 else [np.asarray(number, x.type.dtype)]
    return mul(x, *factors) if factors else x


def _product(left: Any, right: Any) -> Any:
    """``left @ right.T``, of vectors or of matrices."""
    if left.type.ndim == 1:
        left = left.dimshuffle(0, "x")
    turned = right.dimshuffle("x", 0) if right.type.ndim == 1 else swapped(right)
    alone = left.type.broadcastable[1] and turned.type.broadcastable[0]
    return mul(left, turned) if alone else _dot(left, turned)


def _sum(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else add(*parts)


@rules.stabilize("shape_unsafe")
@node_rewriter([CholeskyPullback])
def local_pullback_of_cholesky(fgraph, node):
    """The gradient for a matrix from that for its Cholesky factor, by what that is the sum of."""
    (out,) = node.outputs
    given, gradient = node.inputs
    lower = node.op.lower
    if ("lower_triangular" if lower else "upper_triangular") not in facts_of(given):
        return in_place_of(out, node.op.expression(given, gradient))
    factor = _Factor(fgraph, given, lower)
    terms = list(factor.terms(gradient)) if is_real(out) else [None]
    whole = None if None in terms else _by_terms(factor, [t for t in terms if t is not None])
    if whole is None:
        return in_place_of(out, node.op.of_triangular(given, gradient))
    half = np.asarray(0.5, out.type.dtype)
    return in_place_of(out, triangle(whole, lower) * (1 - half * eye(given.shape[0], dtype=out.type.dtype)))


def _by_terms(factor: _Factor, terms: list[_Term]) -> Any:
    """Twice the symmetric gradient, as a sum of products and of a multiple of the inverse; None if that takes more."""
    found: list[Any] = []
    for term in terms:
        if isinstance(term, _Symmetric):
            found.append(_scaled(term.weights, term.matrix))
        elif isinstance(term, _Diagonal):
            weights = factor.multiple_of_reciprocal(term.d)
            if weights is None:
                return None
            found.append(_scaled(term.weights + weights, InverseByCholesky(factor.lower, whole=False)(factor.factor)))
        else:
            before = factor.before(term.left)
            right_weights, right = _without_numbers(term.right)
            if before is None or before[1] is not right:
                return None
            weights, g, solve = before
            solved = solve(factor.factor, g)
            found.append(_scaled(term.weights + weights + right_weights, _product(solved, solved)))
    return _sum(found) if found else None


@rules.stabilize
@node_rewriter([CholeskySolve])
def local_inverse_by_cholesky(fgraph, node):
    """The inverse by a Cholesky factor, where the identity is the right-hand side."""
    (out,) = node.outputs
    factor, b = node.inputs
    if b.type.ndim != 2 or "identity" not in facts_of(b) or "positive_diagonal" not in facts_of(factor):
        return False
    return in_place_of(out, InverseByCholesky(bool(node.op.lower))(factor))
