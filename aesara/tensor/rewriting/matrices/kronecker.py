"""Kronecker products: what is asked of one is asked of its factors."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.elementwise.ops import add, eq, exp, mul, pow, switch
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import Det, SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.vectors import kron
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, is_square, kronecker_factors
from aesara.tensor.rewriting.matrices.parts import in_places_of, is_real, matrix_rewriter
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.reshape import reshape

rules = Rules()

__all__ = [
    "local_cholesky_of_kronecker",
    "local_det_of_kronecker",
    "local_inverse_of_kronecker",
    "local_slogdet_of_kronecker",
    "local_solve_of_kronecker",
]


@rules.canonicalize
@matrix_rewriter(Solve)
def local_solve_of_kronecker(fgraph, node):
    """``solve(kron(A, B), b)``: with b as a matrix, ``solve(B, solve(A, b).T).T``."""
    (out,) = node.outputs
    x, b = node.inputs
    op = core_op(node)
    factors = kronecker_factors(x)
    if factors is None or op.assume_a != "gen" or b.type.ndim > 2 or b.type.dtype != out.type.dtype:
        return False
    first, second = factors
    n, m = first.shape[0], second.shape[0]
    solve = Solve(check_finite=op.check_finite)
    if b.type.ndim == 1:
        half = solve(first, reshape(b, (n, m)))
        return in_place_of(out, reshape(solve(second, half.T).T, b.shape, ndim=1))
    columns = b.shape[1]
    half = reshape(solve(first, reshape(b, (n, m * columns))), (n, m, columns)).dimshuffle(1, 0, 2)
    solved = reshape(solve(second, reshape(half, (m, n * columns))), (m, n, columns)).dimshuffle(1, 0, 2)
    return in_place_of(out, reshape(solved, b.shape, ndim=2))


@rules.stabilize  # when products with the inverse have become solutions
@matrix_rewriter(MatrixInverse)
def local_inverse_of_kronecker(fgraph, node):
    """``inv(kron(A, B))`` as ``kron(inv(A), inv(B))``."""
    factors = kronecker_factors(node.inputs[0])
    if factors is None:
        return False
    return in_place_of(node.outputs[0], kron(*(core_op(node)(x) for x in factors)))


@rules.canonicalize
@matrix_rewriter(Cholesky)
def local_cholesky_of_kronecker(fgraph, node):
    """The Cholesky factor of a Kronecker product is that of its factors', where these are positive definite."""
    factors = kronecker_factors(node.inputs[0])
    if factors is None or not all("positive_definite" in facts_of(x) for x in factors):
        return False
    return in_place_of(node.outputs[0], kron(*(core_op(node)(x) for x in factors)))


@rules.canonicalize
@rules.stabilize  # where it is the logarithm of a determinant
@matrix_rewriter(SLogDet)
def local_slogdet_of_kronecker(fgraph, node):
    """The logarithm of the determinant of ``kron(A, B)``, from those of A and B."""
    found = _determinant(node)
    return in_places_of(node, *found) if found else False


@rules.specialize  # when logarithms of determinants have become such
@matrix_rewriter(Det)
def local_det_of_kronecker(fgraph, node):
    """The determinant of ``kron(A, B)`` is ``det(A) ** m * det(B) ** n``, of A of order n and B of order m."""
    found = _determinant(node)
    return in_places_of(node, mul(found[0], exp(found[1]))) if found else False


def _determinant(node: Apply) -> tuple[Variable, Variable] | None:
    """The sign and the logarithm of the determinant of a Kronecker product; by logarithms, lest powers overflow."""
    (x,) = node.inputs
    factors: Any = kronecker_factors(x)
    if factors is None or not is_real(x) or not all(map(is_square, factors)):
        return None
    (sign, size), (other_sign, other_size) = (SLogDet()(v) for v in factors)
    n, m = (v.shape[0] for v in factors)
    return (
        mul(_power(sign, m), _power(other_sign, n)),
        add(_multiple(size, m), _multiple(other_size, n)),
    )


def _power(sign: Variable, times: Variable) -> Variable:
    return pow(sign, cast(times, sign.type.dtype))


def _multiple(logarithm: Any, times: Variable) -> Variable:
    """Zero where it is taken no time, infinite or not."""
    zero = logarithm.zeros_like()
    return switch(eq(times, 0), zero, mul(logarithm, cast(times, logarithm.type.dtype)))
