"""Determinants by what is known of a matrix, without factors of it or with those that are there."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import add, eq, log, lt, mul, neg, neq, second, sgn, square, switch, true_divide
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import Cofactors, Det, SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.logarithms.along_axes import local_log_prod as local_log_prod_sqr
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of, is_square, transposed_of
from aesara.tensor.rewriting.matrices.parts import (
    diagonal_of,
    diagonal_of_square,
    in_places_of,
    is_real,
    log_of_product,
    matrix_rewriter,
    ones_like_batch,
    product_of,
    swapped,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

__all__ = [
    "local_cofactors_of_definite",
    "local_cofactors_over_det",
    "local_det_chol",
    "local_det_of_inverse",
    "local_det_of_product",
    "local_det_of_transpose",
    "local_det_of_triangle",
    "local_log_det",
    "local_log_prod_sqr",
    "signs_and_logarithms",
]


def signs_and_logarithms(d: Variable) -> tuple[Variable, Variable]:
    """Of the products of numbers along the last dimension."""
    return prod(sgn(d), axis=-1, dtype=d.type.dtype), log_of_product(d)


@rules.canonicalize
@matrix_rewriter(Det, SLogDet)
def local_det_of_transpose(fgraph, node):
    """``det(A.T)`` is ``det(A)``."""
    x = transposed_of(node.inputs[0])
    if x is None:
        return False
    made = core_op(node)(x)
    return in_places_of(node, *(made if isinstance(made, list) else [made]))


@rules.canonicalize
@matrix_rewriter(Det, SLogDet)
def local_det_of_triangle(fgraph, node):
    """The determinant of a triangular or diagonal matrix is the product of its diagonal."""
    (x,) = node.inputs
    if not is_real(x):
        return False
    known = facts_of(x)
    if not known & {"lower_triangular", "upper_triangular"}:
        return False
    if "identity" in known:
        one = ones_like_batch(x)
        return in_places_of(node, *([one] if isinstance(core_op(node), Det) else [one, one.zeros_like()]))
    d = diagonal_of_square(x)
    return in_places_of(node, *([product_of(d)] if isinstance(core_op(node), Det) else signs_and_logarithms(d)))


@rules.canonicalize
@matrix_rewriter(SLogDet)
def local_det_of_product(fgraph, node):
    """The logarithm of the determinant of ``A @ B`` is a sum, where one of both is easily had."""
    (x,) = node.inputs
    if x.owner is None or not isinstance(x.owner.op, Dot) or not is_real(x):
        return False
    factors = x.owner.inputs
    if any(v.type.ndim != 2 or v.type.dtype != x.type.dtype for v in factors) or not any(map(is_square, factors)):
        return False  # one that is square is enough: the determinant of the other is an error if that is not
    if not _is_same(*factors) and not any(_is_easy(v) for v in factors):
        return False
    (sign, size), (other_sign, other_size) = (core_op(node)(v) for v in factors)
    if not _is_same(*factors):
        fit = CheckAndRaise(ValueError, "The matrices of a product do not fit.")
        agree = eq(factors[0].shape[0], factors[1].shape[0])
        sign, size = fit(sign, agree), fit(size, agree)
    return in_places_of(node, mul(sign, other_sign), add(size, other_size))


def _is_same(a: Variable, b: Variable) -> bool:
    """Whether two matrices are the same, or transposes of each other."""
    return a is b or transposed_of(a) is b or transposed_of(b) is a


def _is_easy(x: Variable) -> bool:
    """Whether the determinant of a matrix takes no factors."""
    return bool(facts_of(x) & {"lower_triangular", "upper_triangular"})


@rules.canonicalize
@matrix_rewriter(SLogDet)
def local_det_of_inverse(fgraph, node):
    """The determinant of ``inv(A)`` is the reciprocal of that of A; a singular matrix is an error, as before."""
    (x,) = node.inputs
    if x.owner is None or not isinstance(core_op(x.owner), MatrixInverse) or not is_real(x):
        return False
    sign, size = core_op(node)(x.owner.inputs[0])
    check = CheckAndRaise(np.linalg.LinAlgError, "Singular matrix: its inverse has no determinant.")
    return in_places_of(node, check(sign, all_of(neq(sign, 0))), neg(size))


def cholesky_factor_of(fgraph: FunctionGraph, x: Variable) -> Variable | None:
    """The Cholesky factor of a symmetric matrix that is computed anyway; None if there is none."""
    for client, _ in fgraph.clients.get(x, ()):
        if not isinstance(client, Apply):
            continue
        op = core_op(client)
        if isinstance(op, Cholesky) and op.on_error == "raise" and "symmetric" in facts_of(x):
            if not any(getattr(other.op, "is_lazy", False) for other in fgraph.apply_nodes):
                return client.outputs[0]
    return None


@rules.stabilize
@rules.specialize
@matrix_rewriter(Det, SLogDet)
def local_det_chol(fgraph, node):
    """The determinant of a symmetric matrix whose Cholesky factor is there, or that is known to have one."""
    (x,) = node.inputs
    if not is_real(x) or "diagonal" in (known := facts_of(x)):
        return False
    factor = Cholesky()(x) if "positive_definite" in known else cholesky_factor_of(fgraph, x)
    if factor is None:
        return False
    d = diagonal_of(factor)
    if isinstance(core_op(node), Det):
        return in_places_of(node, product_of(square(d)))
    return in_places_of(node, ones_like_batch(x), 2 * log_of_product(d))


@rules.canonicalize
@matrix_rewriter(Cofactors)
def local_cofactors_of_definite(fgraph, node):
    """The cofactors of a positive definite matrix, as in the gradient of its determinant, by its inverse."""
    (x,) = node.inputs
    if not is_real(x) or "positive_definite" not in facts_of(x):
        return False
    determinant = Det()(x)
    scale = determinant.dimshuffle(*range(determinant.type.ndim), "x", "x")
    return in_places_of(node, mul(scale, swapped(MatrixInverse()(x))))


@rules.stabilize
@node_rewriter([log])
def local_log_det(fgraph, node):
    """``log(det(A))`` and ``log(abs(det(A)))`` of a determinant that may leave the range of numbers."""
    (out,) = node.outputs
    (x,) = node.inputs
    inner = x.owner
    with_sign = True
    if inner is not None and inner.op == absolute:
        with_sign = False
        inner = inner.inputs[0].owner
    if inner is None or not isinstance(core_op(inner), Det) or not is_real(inner.outputs[0]):
        return False
    (determinant,) = inner.outputs
    if len(fgraph.clients[determinant]) != 1 or determinant.type.dtype != out.type.dtype:
        return False
    sign, size = SLogDet()(*inner.inputs)
    if with_sign:
        size = switch(lt(sign, 0), np.asarray(np.nan, size.type.dtype), size)
    return in_place_of(out, size)


@rules.stabilize
@node_rewriter([true_divide])
def local_cofactors_over_det(fgraph, node):
    """Cofactors over the determinant, as in the gradient of its logarithm: the inverse, which has the same factors.

    A singular matrix is an error then, as it is for the gradient of `slogdet`.
    """
    (out,) = node.outputs
    factors, divisors = (
        list(v.owner.inputs) if v.owner is not None and v.owner.op == mul else [v] for v in node.inputs
    )
    for v in factors:
        if not isinstance(core_op(v.owner), Cofactors) or not is_real(v):
            continue
        (x,) = v.owner.inputs
        inverse = swapped(MatrixInverse()(x))
        for w in divisors:
            found = _determinant_in(w, x)
            if found is None:
                continue
            signs = [f for f in factors if _determinant_in(f, x) is sgn] if found is absolute else []
            if found is absolute and not signs:
                continue
            rest = [f for f in factors if f is not v and f not in signs[:1]]
            others = [d for d in divisors if d is not w]
            made = mul(inverse, *rest) if rest else inverse
            return in_place_of(out, made / (mul(*others) if len(others) > 1 else others[0]) if others else made)
    return False


def _determinant_in(v: Variable, x: Variable) -> Any:
    """`abs`, `sgn` or `second` if a variable is that function of the determinant of a matrix, or the determinant."""
    found: Any = second
    while v.owner is not None and not isinstance(core_op(v.owner), Det):
        if v.owner.op in (absolute, sgn):
            found = absolute if v.owner.op == absolute else sgn
        elif not isinstance(v.owner.op, DimShuffle):
            return None
        (v,) = v.owner.inputs
    return found if v.owner is not None and v.owner.inputs[0] is x else None
