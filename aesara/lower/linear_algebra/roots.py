"""Lowering of square roots and logarithms of matrices: those of their triangular Schur forms.

Real matrices take complex forms too, since the eigenvalues may be complex; the results are real again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.ir.routines import spectra
from aesara.lower.complex import ComplexArray
from aesara.lower.linear_algebra.matrices import Matrices, Numbers, adopt, not_finite, swapped
from aesara.scan.carried import fori_loop, while_loop
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.creation.eye_tri import eye, tril, triu
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import (
    and_,
    eq,
    exp2,
    expm1,
    gt,
    invert,
    log,
    lt,
    maximum,
    neq,
    or_,
    real,
    sqrt,
    switch,
)
from aesara.tensor.linear_algebra.core import adjoint, one_norm, real_dtype
from aesara.tensor.linear_algebra.matrix_functions import (
    COMPLEX_RESULT,
    NO_LOGARITHM,
    NO_ROOT,
    LogMatrix,
    SqrtMatrix,
)
from aesara.tensor.linear_algebra.schur import Schur
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.all_any import any as any_of
from aesara.tensor.reductions.sum_prod_max import max as largest

__all__: list[str] = []


def _of_triangle(op: LogMatrix | SqrtMatrix, of: Matrices, function: Callable[[Any], Any]) -> list[Numbers]:
    """A function of matrices, from the one for triangles."""
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    of.require_finite(a)
    made = of.call(spectra.schur(a.dtype), {"n": order}, {"a": swapped(a)})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    form, unitary = swapped(made["a"]), swapped(made["unitary"])
    if not isinstance(a, ComplexArray):
        (found,) = of.expression(_has_negative_value, [form])
        of.require_none(found, of.linalg_error, COMPLEX_RESULT)
    if isinstance(op, LogMatrix):
        (found,) = of.expression(lambda form: [eq(_diagonal(form), 0)], [form])
        of.require_none(found, of.linalg_error, NO_LOGARITHM)

    def result(form: Any, unitary: Any) -> list[Any]:
        dtype = form.type.dtype
        if dtype.startswith("complex"):
            return [matmul(unitary, matmul(function(triu(form)), adjoint(unitary)))]
        triangle, turn = Schur("complex")(form)
        inner = matmul(turn, matmul(function(triu(triangle)), adjoint(turn)))
        return [matmul(unitary, matmul(real(inner), adjoint(unitary)))]

    return of.expression(result, [form, unitary])


def _has_negative_value(form: Any) -> list[Any]:
    """Where the real Schur form of a matrix has a negative eigenvalue: one that is no part of a pair."""
    below = neq(tril(form, -1), 0)
    in_pair = or_(any_of(below, axis=-1), any_of(below, axis=-2))
    return [and_(invert(in_pair), lt(_diagonal(form), 0))]


def _diagonal(x: Any) -> Any:
    return ExtractDiag(0, x.type.ndim - 2, x.type.ndim - 1)(x)


def _as_column(x: Any) -> Any:
    return x.dimshuffle(*range(x.type.ndim), "x")


def _with_diagonal(x: Any, d: Any) -> Any:
    """Matrices with other numbers on the diagonal."""
    place = arange(x.shape[-1])
    return switch(eq(place.dimshuffle(0, "x"), place), _as_column(d), x)


# -- square roots ------------------------------------------------------------------------------------------------


def _root_of_triangle(t: Any) -> Any:
    """The square root of upper triangles, column by column: A. Björck and S. Hammarling (1983).

    With what stands before it, a column y of the root and its diagonal element r solve ``(R + r) y = t``.
    """
    place = arange(t.shape[-1])
    d = sqrt(_diagonal(t))
    one, zero = np.asarray(1, t.type.dtype), np.asarray(0, t.type.dtype)
    infinite = np.asarray(np.inf, real_dtype(t.type.dtype))

    def with_column(k: Any, root: Any) -> Any:
        before = lt(place, k)
        sums = d + d[..., k].dimshuffle(*range(d.type.ndim - 1), "x")
        none = eq(sums, zero)
        system = _with_diagonal(root, switch(or_(none, invert(before)), one, sums))
        y = SolveTriangular(check_finite=False)(system, _as_column(switch(before, t[..., :, k], zero)))
        lost = and_(_as_column(none), neq(y, zero))  # there is no root
        return switch(eq(place, k), root + switch(lost, infinite, y), root)

    return fori_loop(1, t.shape[-1], with_column, _with_diagonal(t.zeros_like(), d))


@adopt(SqrtMatrix)
def _sqrtm(op: SqrtMatrix, of: Matrices) -> Sequence[Numbers]:
    (root,) = _of_triangle(op, of, _root_of_triangle)
    of.require_none(not_finite(root), of.linalg_error, NO_ROOT)
    return [root]


# -- logarithms --------------------------------------------------------------------------------------------------

#: points and weights of the integral of ``x / (1 + t x)`` for t from 0 to 1, which is the logarithm of ``1 + x``
_POINTS, _WEIGHTS = ((np.polynomial.legendre.leggauss(7)[k] + (1 - k)) / 2 for k in (0, 1))
#: how large x may be, for the precision of float64: A. H. Al-Mohy and N. J. Higham (2012), "Improved inverse scaling
#: and squaring algorithms for the matrix logarithm", table 2.1
_RADIUS = 0.264
#: more roots than any number needs
_MOST_ROOTS = 80


def _less_one(t: Any, logarithms: Any, count: Any) -> Any:
    """The matrix less the identity: its diagonal has the exponentials of logarithms over a power of 2."""
    factor = exp2(-count)
    return _with_diagonal(t, expm1(logarithms * factor.dimshuffle(*range(count.type.ndim), "x")))


def _log_of_triangle(t: Any) -> Any:
    """The logarithm of upper triangles: that of a root near the identity, by quadrature (a Padé approximant)."""
    dtype = real_dtype(t.type.dtype)
    logarithms = log(_diagonal(t))
    start = largest(absolute(logarithms), axis=-1, initial=0) * np.asarray(0, dtype)

    def is_far(state: Any) -> Any:
        root, count = state
        x = _less_one(root, logarithms, count)
        square = matmul(x, x)
        size = maximum(sqrt(one_norm(square)), one_norm(matmul(square, x)) ** np.asarray(1 / 3, dtype))
        return and_(gt(size, np.asarray(_RADIUS, dtype)), lt(count, _MOST_ROOTS))

    def next_root(state: Any) -> Any:
        root, count = state
        far = is_far(state)
        following = switch(far.dimshuffle(*range(far.type.ndim), "x", "x"), _root_of_triangle(root), root)
        return following, count + far.astype(dtype)

    root, count = while_loop(lambda state: any_of(is_far(state)), next_root, (t, start))
    x = _less_one(root, logarithms, count)
    unit = eye(t.shape[-1], dtype=dtype)
    total = t.zeros_like()
    for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
        part = SolveTriangular(check_finite=False)(unit + x * np.asarray(point, dtype), x)
        total = total + part * np.asarray(weight, dtype)
    factor = exp2(count)
    return _with_diagonal(total * factor.dimshuffle(*range(count.type.ndim), "x", "x"), logarithms)


@adopt(LogMatrix)
def _logm(op: LogMatrix, of: Matrices) -> Sequence[Numbers]:
    return _of_triangle(op, of, _log_of_triangle)
