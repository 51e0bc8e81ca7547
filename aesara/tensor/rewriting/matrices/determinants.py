"""Determinants by known facts about the matrix, or by factors that the graph computes anyway."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import extract
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise import ops
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import Cofactors, Det, SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.rewriting.helpers import in_place_of, is_float, output_of
from aesara.tensor.rewriting.logarithms.rules import local_log_prod as local_log_prod_sqr
from aesara.tensor.rewriting.matrices.expressions import (
    diagonal_of,
    diagonal_of_square,
    log_of_product,
    log_of_square,
    matrix_transpose,
    ones_like_batch,
    product_of,
)
from aesara.tensor.rewriting.matrices.facts import (
    TRIANGLES,
    are_transposes,
    core_op,
    facts_of,
    is_square,
    product_of_factors,
)
from aesara.tensor.rewriting.matrices.patterns import matrix_row, matrix_with_fact, of_matrices, transpose
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

__all__ = ["local_det_chol", "local_log_prod_sqr", "signs_and_logarithms"]

determinant, slogdet = of_matrices(Det, SLogDet, name="op"), of_matrices(SLogDet)


def signs_and_logarithms(d: Variable) -> tuple[Variable, Variable]:
    """Return the signs of products along the last dimension, and the logarithms of their absolute values."""
    return prod(ops.sgn(d), axis=-1, dtype=d.type.dtype), log_of_product(d)


def determinant_of_triangle(op: Op, x: Variable) -> Any:
    """Return the product of the diagonal, or its sign and logarithm."""
    if "identity" in facts_of(x):
        one: Any = ones_like_batch(x)
        return one if isinstance(op, Det) else (one, one.zeros_like())
    d = diagonal_of_square(x)
    return product_of(d) if isinstance(op, Det) else signs_and_logarithms(d)


def has_easy_factors(a: Variable, b: Variable) -> bool:
    """Return whether the determinant of one factor is cheap, or both factors have the same.

    It suffices that one factor is known to be square: the determinant of the other raises an error if that is not.
    """
    if not a.type.ndim == b.type.ndim == 2 or a.type.dtype != b.type.dtype or not is_float(a):
        return False
    if not is_square(a) and not is_square(b):
        return False
    return are_same(a, b) or any(not facts_of(x).isdisjoint(TRIANGLES) for x in (a, b))


def are_same(a: Variable, b: Variable) -> bool:
    """Return whether two factors are the same matrix or transposes, with the same determinant."""
    return a is b or are_transposes(a, b)


def determinant_of_product(a: TensorVariable, b: TensorVariable) -> tuple[Variable, Variable]:
    """Return the sign and the logarithm of the determinant of ``A @ B``."""
    (sign, size), (other_sign, other_size) = SLogDet()(a), SLogDet()(b)
    if not are_same(a, b):
        check = CheckAndRaise(ValueError, "The matrices of a product do not fit.")
        condition = ops.eq(a.shape[0], b.shape[0])
        sign, size = check(sign, condition), check(size, condition)
    return ops.mul(sign, other_sign), ops.add(size, other_size)


def determinant_of_inverse(x: Variable) -> tuple[Variable, Variable]:
    """Return the sign and the logarithm of ``1 / det(A)``; raise an error at run time if A is singular."""
    sign, size = SLogDet()(x)
    check = CheckAndRaise(np.linalg.LinAlgError, "Singular matrix: its inverse has no determinant.")
    return check(sign, all_of(ops.neq(sign, 0))), ops.neg(size)


def cholesky_factor_of(fgraph: FunctionGraph, x: Variable) -> Variable | None:
    """Return the Cholesky factor of a symmetric matrix if the graph computes it, else None."""
    for client, _ in fgraph.clients.get(x, ()):
        if not isinstance(client, Apply):
            continue
        op = core_op(client)
        if isinstance(op, Cholesky) and op.on_error == "raise" and "symmetric" in facts_of(x):
            if not any(getattr(other.op, "is_lazy", False) for other in fgraph.apply_nodes):
                return client.outputs[0]
    return None


def determinant_by_cholesky(op: Op | None, factor: Variable) -> list[Variable]:
    """Return the outputs of `Det` or `SLogDet` for ``L @ L.T``, by the factor L."""
    if isinstance(op, Det):
        return [product_of(ops.square(diagonal_of(factor)))]
    return [ones_like_batch(factor), log_of_square(factor)]


def determinant_by_factor(op: Op, x: Variable, fgraph: FunctionGraph) -> list[Variable] | None:
    """Return the determinant by a Cholesky factor that the graph computes, or that is known to exist; else None."""
    factor = Cholesky()(x) if "positive_definite" in facts_of(x) else cholesky_factor_of(fgraph, x)
    return None if factor is None else determinant_by_cholesky(op, factor)


def cofactors_by_inverse(x: Variable) -> Variable:
    """Return the cofactors of a positive definite matrix."""
    determinant_: TensorVariable = Det()(x)
    return ops.mul(
        determinant_.dimshuffle(*range(determinant_.type.ndim), "x", "x"), matrix_transpose(MatrixInverse()(x))
    )


def determinant_in(var: Variable) -> tuple[Variable, Variable, bool] | None:
    """Return ``det(A)``, A, and whether the variable is ``det(A)`` rather than ``abs(det(A))``; else None."""
    node = output_of(var, ops.abs)
    d: Any = var if node is None else node.inputs[0]
    return (d, d.owner.inputs[0], node is None) if isinstance(core_op(d.owner), Det) else None


def log_of_determinant(x: Variable, is_signed: bool) -> Variable:
    """Return ``log(abs(det(A)))``; if signed, ``log(det(A))``, which is NaN for a negative determinant."""
    sign, size = SLogDet()(x)
    return ops.switch(ops.lt(sign, 0), np.asarray(np.nan, size.type.dtype), size) if is_signed else size


def is_real_with_one_client(d: Variable, out: Variable, fgraph: FunctionGraph) -> bool:
    """Return whether a determinant is real and has no other client."""
    return is_float(d) and d.type.dtype == out.type.dtype and len(fgraph.clients[d]) == 1


rules.add(
    matrix_row("local_det_of_transpose", (determinant, (transpose, "x")), ("op", "x"), why="det(A.T) -> det(A)"),
    matrix_row(
        "local_det_of_triangle",
        (determinant, matrix_with_fact("x", *TRIANGLES)),
        determinant_of_triangle,
        is_float,
        why="det(A) -> prod(diagonal(A)) of a triangular matrix",
    ),
    matrix_row(
        "local_det_of_product",
        (slogdet, (Dot, "a", "b")),
        determinant_of_product,
        has_easy_factors,
        why="slogdet(A @ B) -> slogdet(A) + slogdet(B), if one of both is cheap",
    ),
    matrix_row(
        "local_det_of_inverse",
        (slogdet, (of_matrices(MatrixInverse), "x")),
        determinant_of_inverse,
        lambda out: is_float(out),
        why="slogdet(inv(A)) -> -slogdet(A)",
    ),
    matrix_row(
        "local_cofactors_of_definite",
        (of_matrices(Cofactors), matrix_with_fact("x", "positive_definite")),
        cofactors_by_inverse,
        is_float,
        why="cofactors(A) -> det(A) * inv(A).T of a positive definite matrix, as in the gradient of its determinant",
    ),
    to=(rules.canonicalize,),
)
local_det_chol = matrix_row(
    "local_det_chol",
    (determinant, "x"),
    determinant_by_factor,
    lambda x: is_float(x) and "diagonal" not in facts_of(x),
    why="det(A) -> prod(diagonal(cholesky(A)) ** 2), if that factor is computed or A is positive definite",
)
rules.add(local_det_chol, to=(rules.stabilize, rules.specialize))
rules.stabilize(
    matrix_row(
        "local_log_det",
        (ops.log, extract(determinant_in, "d", "x", "is_signed")),
        log_of_determinant,
        is_real_with_one_client,
        why="log(abs(det(A))) -> slogdet(A)[1], which stays in the range of numbers, and log(det(A)) likewise",
    )
)


@rules.stabilize
@node_rewriter([ops.true_divide])
def local_cofactors_over_det(fgraph, node):
    """``cofactors(A) / det(A)`` -> ``inv(A).T``, as in the gradient of the logarithm of the determinant

    A singular matrix then raises an error, as in the gradient of `slogdet`.
    """
    factors, divisors = map(_factors_of, node.inputs)
    for v in factors:
        if not isinstance(core_op(v.owner), Cofactors) or not is_float(v):
            continue
        (x,) = v.owner.inputs
        for w in divisors:
            function = _determinant_in(w, x)
            signs = [f for f in factors if _determinant_in(f, x) is ops.sgn][:1] if function is ops.abs else []
            if function is not ops.second and not signs:
                continue
            inverse = product_of_factors(
                [matrix_transpose(MatrixInverse()(x)), *(f for f in factors if f is not v and f not in signs)]
            )
            others = [d for d in divisors if d is not w]
            return in_place_of(node.outputs[0], inverse / product_of_factors(others) if others else inverse)
    return False


def _factors_of(var: Variable) -> list[Any]:
    node = output_of(var, ops.mul)
    return [var] if node is None else list(node.inputs)


def _determinant_in(v: Variable, x: Variable) -> Any:
    """Return `abs` or `sgn` if `v` is that function of ``det(x)``, `second` if it is ``det(x)`` itself, else None."""
    function: Any = ops.second
    while v.owner is not None and not isinstance(core_op(v.owner), Det):
        if v.owner.op in (ops.abs, ops.sgn):
            function = v.owner.op
        elif not isinstance(v.owner.op, DimShuffle):
            return None
        (v,) = v.owner.inputs
    return function if v.owner is not None and v.owner.inputs[0] is x else None
