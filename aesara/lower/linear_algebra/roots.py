"""Lowering of square roots and logarithms of matrices by Schur decomposition.

Real matrices have complex Schur forms here, since their eigenvalues may be complex; the results are real.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aesara.ir.routines import spectra
from aesara.lower.arrays import Array
from aesara.lower.linear_algebra.matrices import MatrixBatch, adopt, not_finite, transpose
from aesara.scan.carried import fori_loop, while_loop
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.creation.eye_tri import eye, tril, triu
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise import ops
from aesara.tensor.linear_algebra.core import adjoint, one_norm, real_dtype
from aesara.tensor.linear_algebra.matrix_functions import (
    COMPLEX_RESULT,
    NO_LOGARITHM,
    NO_ROOT,
    ROOT_OF_ZERO,
    LogMatrix,
    SqrtMatrix,
)
from aesara.tensor.linear_algebra.schur import Schur
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.all_any import any as any_of
from aesara.tensor.reductions.sum_prod_max import max as largest

__all__: list[str] = []


class _SchurDecomposition(NamedTuple):
    """The (quasi-)triangular Schur form of a matrix, and the unitary matrix."""

    form: Any
    unitary: Any


def _schur_form(batch: MatrixBatch) -> _SchurDecomposition:
    (a,) = batch.inputs
    order = batch.require_square(a, batch.linalg_error)
    batch.require_finite(a)
    outputs = batch.call(spectra.schur(a.dtype), {"n": order}, {"a": transpose(a)})
    batch.require_success(outputs["status"], "has eigenvalues that did not converge; the routine returned")
    return _SchurDecomposition(transpose(outputs["a"]), transpose(outputs["unitary"]))


def _is_real(batch: MatrixBatch) -> bool:
    return not batch.inputs[0].is_complex


def _evaluate_by_schur(function: Callable[[Any], Any], form: Any, unitary: Any) -> Any:
    """Evaluate a function of matrices, given for complex triangular ones, by their Schur decomposition."""
    if form.type.dtype.startswith("complex"):
        return matmul(unitary, matmul(function(triu(form)), adjoint(unitary)))
    triangle, basis = Schur("complex")(form)
    inner = matmul(basis, matmul(function(triu(triangle)), adjoint(basis)))
    return matmul(unitary, matmul(ops.real(inner), adjoint(unitary)))


def _is_negative(form: Any) -> Any:
    """Test which real eigenvalues on the diagonal of a real Schur form are negative."""
    below = ops.neq(tril(form, -1), 0)
    in_pair = ops.or_(any_of(below, axis=-1), any_of(below, axis=-2))
    return ops.and_(ops.invert(in_pair), ops.lt(_diagonal(form), 0))


def _diagonal(x: Any) -> Any:
    return ExtractDiag(0, x.type.ndim - 2, x.type.ndim - 1)(x)


def _as_column(x: Any) -> Any:
    return x.dimshuffle(*range(x.type.ndim), "x")


def _with_diagonal(x: Any, d: Any) -> Any:
    """Replace the diagonals of matrices."""
    position = arange(x.shape[-1])
    return ops.switch(ops.eq(position.dimshuffle(0, "x"), position), _as_column(d), x)


# -- square roots ------------------------------------------------------------------------------------------------


def _root_of_triangle(t: Any, rounding: Any = None) -> Any:
    """Return the square root of upper triangular matrices, column by column: A. Björck and S. Hammarling (1983).

    If there is none, an element is infinite. `rounding` is the size of rounding errors in the matrices, if zeros on
    their diagonals are allowed: see `SqrtMatrix.element`.
    """
    position = arange(t.shape[-1])
    d = ops.sqrt(_diagonal(t))

    def with_column(k: Any, root: Any) -> Any:
        def with_element(step: Any, rest: Any) -> Any:
            i = k - 1 - step
            element = _element_of_root(rest[..., i], d[..., i] + d[..., k], rounding)
            element = element.dimshuffle(*range(element.type.ndim), "x")
            return ops.switch(
                ops.lt(position, i), rest - root[..., :, i] * element, ops.switch(ops.eq(position, i), element, rest)
            )

        column = fori_loop(0, k, with_element, t[..., :, k])
        inside = ops.and_(ops.eq(position, k), ops.lt(position.dimshuffle(0, "x"), k))
        return ops.switch(inside, _as_column(column), root)

    return fori_loop(1, t.shape[-1], with_column, _with_diagonal(t.zeros_like(), d))


def _element_of_root(rest: Any, divisor: Any, rounding: Any) -> Any:
    zero, one = np.asarray(0, rest.type.dtype), np.asarray(1, rest.type.dtype)
    infinite = np.asarray(np.inf, real_dtype(rest.type.dtype))
    is_singular = ops.eq(divisor, zero)
    if rounding is None:
        return ops.switch(
            ops.and_(is_singular, ops.neq(rest, zero)), infinite, rest / ops.switch(is_singular, one, divisor)
        )
    is_zero = ops.le(ops.abs(divisor), np.asarray(ROOT_OF_ZERO, rounding.type.dtype) * ops.sqrt(rounding))
    lost = ops.and_(ops.le(ops.abs(rest), rounding), is_zero)
    quotient = rest / ops.switch(ops.or_(is_singular, lost), one, divisor)
    return ops.switch(lost, zero, ops.switch(ops.and_(is_singular, ops.neq(rest, zero)), infinite, quotient))


@adopt(SqrtMatrix)
def _sqrtm(op: SqrtMatrix, batch: MatrixBatch) -> Sequence[Array]:
    """Lower a square root by the same steps as the reference."""
    schur = _schur_form(batch)
    if _is_real(batch):
        (wrong,) = batch.expression(_has_no_real_root, [schur.form])
        batch.require_none(wrong, batch.linalg_error, COMPLEX_RESULT)

    def result(form: Any, unitary: Any) -> list[Any]:
        if not form.type.dtype.startswith("complex"):
            diagonal = _diagonal(form)
            form = _with_diagonal(form, ops.switch(_is_negative(form), np.asarray(0, form.type.dtype), diagonal))
        return [_evaluate_by_schur(lambda t: _root_of_triangle(t, _rounding(t)), form, unitary)]

    (root,) = batch.expression(result, list(schur))
    batch.require_none(not_finite(root), batch.linalg_error, NO_ROOT)
    return [root]


def _rounding(form: Any) -> Any:
    """Return the size of rounding errors of a Schur form."""
    dtype = real_dtype(form.type.dtype)
    return form.shape[-1].astype(dtype) * np.finfo(dtype).eps * one_norm(form)


def _has_no_real_root(form: Any) -> list[Any]:
    below = ops.lt(_diagonal(form), -_as_column(_rounding(form)))
    return [ops.and_(_is_negative(form), below)]


# -- logarithms --------------------------------------------------------------------------------------------------

#: points and weights of the integral of ``x / (1 + t x)`` for t from 0 to 1, which is the logarithm of ``1 + x``
_POINTS, _WEIGHTS = ((np.polynomial.legendre.leggauss(7)[k] + (1 - k)) / 2 for k in (0, 1))
#: largest norm of x for the precision of float64: A. H. Al-Mohy and N. J. Higham (2012), "Improved inverse scaling
#: and squaring algorithms for the matrix logarithm", table 2.1
_RADIUS = 0.264
#: more roots than any float64 needs
_MOST_ROOTS = 80


def _minus_identity(t: Any, logarithms: Any, count: Any) -> Any:
    """Subtract the identity from a matrix whose diagonal is ``exp(logarithms / 2**count)``."""
    factor = ops.exp2(-count)
    return _with_diagonal(t, ops.expm1(logarithms * factor.dimshuffle(*range(count.type.ndim), "x")))


def _log_of_triangle(t: Any) -> Any:
    """Return the logarithm of upper triangular matrices, by quadrature for a root near the identity."""
    dtype = real_dtype(t.type.dtype)
    logarithms = ops.log(_diagonal(t))
    start = largest(ops.abs(logarithms), axis=-1, initial=0) * np.asarray(0, dtype)

    def is_far(state: Any) -> Any:
        root, count = state
        x = _minus_identity(root, logarithms, count)
        square = matmul(x, x)
        size = ops.maximum(ops.sqrt(one_norm(square)), one_norm(matmul(square, x)) ** np.asarray(1 / 3, dtype))
        return ops.and_(ops.gt(size, np.asarray(_RADIUS, dtype)), ops.lt(count, _MOST_ROOTS))

    def next_root(state: Any) -> Any:
        root, count = state
        far = is_far(state)
        next_value = ops.switch(far.dimshuffle(*range(far.type.ndim), "x", "x"), _root_of_triangle(root), root)
        return next_value, count + far.astype(dtype)

    root, count = while_loop(lambda state: any_of(is_far(state)), next_root, (t, start))
    x = _minus_identity(root, logarithms, count)
    unit = eye(t.shape[-1], dtype=dtype)
    total = t.zeros_like()
    for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
        part = SolveTriangular(check_finite=False)(unit + x * np.asarray(point, dtype), x)
        total = total + part * np.asarray(weight, dtype)
    factor = ops.exp2(count)
    return _with_diagonal(total * factor.dimshuffle(*range(count.type.ndim), "x", "x"), logarithms)


@adopt(LogMatrix)
def _logm(op: LogMatrix, batch: MatrixBatch) -> Sequence[Array]:
    schur = _schur_form(batch)
    if _is_real(batch):
        (wrong,) = batch.expression(lambda form: [_is_negative(form)], [schur.form])
        batch.require_none(wrong, batch.linalg_error, COMPLEX_RESULT)
    (wrong,) = batch.expression(lambda form: [ops.eq(_diagonal(form), 0)], [schur.form])
    batch.require_none(wrong, batch.linalg_error, NO_LOGARITHM)
    return batch.expression(lambda form, unitary: [_evaluate_by_schur(_log_of_triangle, form, unitary)], list(schur))
