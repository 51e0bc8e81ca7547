"""Multiples of the identity plus any product of low rank ``U @ C @ V.T``.

With orthonormal columns Q that U and V are combinations of, ``U = Q R`` and ``V = Q S``, the matrix is ``d + Q M Q^T``
for ``M = R C S^T``. It acts as d beside the space of Q, and as ``d + M`` within, so that the small matrix has no larger
condition than the whole one; the formulas of Woodbury have ``C^-1 + V^T U / d`` there, which may have lost all digits.

Another diagonal is left alone: divided out on both sides, it may make the rest as badly conditioned as its numbers are
of different sizes, where the whole matrix is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import add, log, mul, neg, neq, reciprocal, sgn, sub, true_divide
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.determinant import SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, transposed_of
from aesara.tensor.rewriting.matrices.parts import (
    in_places_of,
    is_real,
    matrix_rewriter,
    swapped,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = ["local_det_of_correction", "local_inverse_of_correction", "local_solve_of_correction"]

_dot = Dot()

#: rows for each column: with fewer, factors of the whole matrix are as fast
FEWEST_ROWS = 4


class _Product(NamedTuple):
    """``numbers * (first * scale) @ middles @ last.T``; `last` is None where it is the same as `first`."""

    numbers: tuple[Any, ...]
    first: Any
    scale: Any
    middles: list[Any]
    last: Any


class _Within(NamedTuple):
    """``d + Q M Q^T``, with ``small = d + M``."""

    d: Any
    basis: Any
    small: Any


def _parts(x: Variable) -> _Within | None:
    """The parts of a multiple of the identity plus a product of few columns, which need not be symmetric."""
    node = x.owner
    if node is None or node.op not in (add, sub) or len(node.inputs) != 2 or x.type.ndim != 2 or not is_real(x):
        return None
    for term, product in (node.inputs, node.inputs[::-1]):
        if term.type.dtype != x.type.dtype or product.type.dtype != x.type.dtype:
            continue
        found = _factored(product)
        if found is None:
            continue
        # of an identity only its number is kept: that it fits must be known
        d = _identity_times(term) if None not in term.type.shape else None
        if d is None or d.type.dtype != x.type.dtype:
            continue
        if node.op == sub and term is node.inputs[1]:
            d = neg(d)
        elif node.op == sub:
            found = found._replace(numbers=(*found.numbers, np.asarray(-1, x.type.dtype)))
        return _within(d, found)
    return None


def _factored(product: Any) -> _Product | None:
    """A product of matrices, times numbers, with few columns within."""
    node = product.owner
    if node is None:
        return None
    if node.op in (mul, neg):
        rest = [v for v in node.inputs if not all(v.type.broadcastable)]
        numbers = [v.dimshuffle() for v in node.inputs if all(v.type.broadcastable)]
        found = _factored(rest[0]) if len(rest) == 1 else None
        if found is None:
            return None
        return found._replace(numbers=(*found.numbers, *(numbers or [np.asarray(-1, product.type.dtype)])))
    if node.op == true_divide and all(node.inputs[1].type.broadcastable):
        found = _factored(node.inputs[0])
        inverse = reciprocal(node.inputs[1].dimshuffle())
        return None if found is None else found._replace(numbers=(*found.numbers, inverse))
    factors = _factors_of(product)
    if len(factors) < 2 or any(v.type.ndim != 2 or v.type.dtype != product.type.dtype for v in factors):
        return None
    first, *middles, right = factors
    last, scale = swapped(right) if (inner := transposed_of(right)) is None else inner, None
    if first.owner is not None and first.owner.op == mul and len(first.owner.inputs) == 2:
        for outer, row in (first.owner.inputs, first.owner.inputs[::-1]):
            if outer is last and row.type.broadcastable == (True, False):
                first, scale = outer, row
    return _Product((), first, scale, middles, None if first is last or transposed_of(first) is right else last)


def _factors_of(product: Any) -> list[Any]:
    """The matrices of a product of several."""
    if product.owner is None or not isinstance(product.owner.op, Dot):
        return [product]
    left, right = product.owner.inputs
    return [*_factors_of(left), *_factors_of(right)]


def _identity_times(x: Any) -> Any:
    """The number d of d times the identity, without dimensions."""
    if "identity" in facts_of(x):
        return as_tensor_variable(np.asarray(1, x.type.dtype))
    if x.owner is None or x.owner.op != mul:
        return None
    numbers = [v.dimshuffle() for v in x.owner.inputs if all(v.type.broadcastable)]
    rest = [v for v in x.owner.inputs if not all(v.type.broadcastable)]
    if not numbers or len(rest) != 1 or "identity" not in facts_of(rest[0]):
        return None
    return numbers[0] if len(numbers) == 1 else mul(*numbers)


def _within(d: Any, product: _Product) -> _Within | None:
    outer = [product.first] if product.last is None else [product.first, product.last]
    widths = [v.type.shape[1] for v in outer]
    rows = product.first.type.shape[0]
    if rows is None or None in widths or FEWEST_ROWS * sum(widths) > rows:
        return None
    check = CheckAndRaise(np.linalg.LinAlgError, "Singular matrix: a diagonal plus a product of low rank.")
    d = check(d, neq(d, 0))
    basis, triangle = QRFull("reduced")(outer[0] if len(outer) == 1 else concatenate(outer, axis=1))
    made = triangle[:, : widths[0]]
    last = made if product.last is None else triangle[:, widths[0] :]
    if product.scale is not None:
        made = made * product.scale
    for middle in product.middles:
        made = _dot(made, middle)
    made = _dot(made, swapped(last))
    if product.numbers:
        made = mul(made, *product.numbers)
    one = eye(sum(widths), dtype=made.type.dtype)
    return _Within(d, basis, made + d * one)


@rules.canonicalize
@matrix_rewriter(Solve)
def local_solve_of_correction(fgraph, node):
    """Equations with a multiple of the identity plus any product of low rank, by others of the order of that rank."""
    (out,) = node.outputs
    x, b = node.inputs
    if core_op(node).assume_a != "gen" or b.type.ndim > 2 or b.type.broadcastable[0] or b.type.dtype != x.type.dtype:
        return False
    parts = _parts(x)
    if parts is None:
        return False
    along = _dot(swapped(parts.basis), b)
    beside = b - _dot(parts.basis, along)
    return in_place_of(out, beside / parts.d + _dot(parts.basis, Solve()(parts.small, along)))


@rules.stabilize  # when products with the inverse have become solutions
@matrix_rewriter(MatrixInverse)
def local_inverse_of_correction(fgraph, node):
    """The inverse of a multiple of the identity plus any product of low rank, by one of the order of that rank."""
    parts = _parts(node.inputs[0])
    if parts is None:
        return False
    turned = swapped(parts.basis)
    one = eye(parts.basis.shape[0], dtype=parts.d.type.dtype)
    beside = (one - _dot(parts.basis, turned)) / parts.d
    return in_place_of(node.outputs[0], beside + _dot(parts.basis, Solve()(parts.small, turned)))


@rules.canonicalize
@rules.stabilize  # where it is the logarithm of a determinant
@matrix_rewriter(SLogDet)
def local_det_of_correction(fgraph, node):
    """The determinant of a multiple of the identity plus any product of low rank, by one of the order of that rank."""
    (x,) = node.inputs
    parts = _parts(x)
    if parts is None:
        return False
    sign, size = SLogDet()(parts.small)
    count = parts.basis.type.shape[0] - parts.basis.type.shape[1]
    size = size + np.asarray(count, x.type.dtype) * log(absolute(parts.d))
    return in_places_of(node, sign * sgn(parts.d) if count % 2 else sign, size)
