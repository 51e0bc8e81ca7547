"""Lowering of Sylvester, Lyapunov and Riccati equations by Schur decompositions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.ir.routines import schur_forms, spectra
from aesara.lower.arrays import Array
from aesara.lower.linear_algebra.matrices import MatrixBatch, adopt, broadcast_batch, conjugate, transpose
from aesara.tensor.core.casting import cast
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.numpy_ops import hypot, rint
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import adjoint, one_norm, real_dtype, rows_of
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.matrix_equations import (
    NO_UNIQUE_SOLUTION,
    NOT_STABILISED,
    BilinearSolveDiscreteLyapunov,
    SolveContinuousLyapunov,
    SolveContinuousRiccati,
    SolveDiscreteRiccati,
    SolveSylvester,
)
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.sum_prod_max import max as largest

__all__: list[str] = []


def _schur(batch: MatrixBatch, a: Array) -> tuple[Array, Array]:
    """Return the (column-major) Schur form of a matrix, and the unitary matrix."""
    outputs = batch.call(spectra.schur(a.dtype), {"n": a.shape[-1]}, {"a": transpose(a)}, a.shape[: len(batch.lead)])
    batch.require_success(outputs["status"], "has eigenvalues that did not converge; the routine returned")
    return outputs["a"], transpose(outputs["unitary"])


def _require_order(batch: MatrixBatch, a: Array, q: Array, axis: int) -> None:
    """Check that `a` is square, with as many rows as `q` has rows (axis -2) or columns (-1)."""
    order = batch.require_square(a)
    name = "rows" if axis == -2 else "columns"
    batch.require_equal(order, q.shape[axis], f"a matrix of order {{0}} and one of {{1}} {name} do not fit.")


def _solution(batch: MatrixBatch, a: Array, b: Array, q: Array) -> Array:
    """Solve ``A X + X B^H = Q`` by the Schur forms of A and B."""
    form, u = _schur(batch, a)
    other_form, v = (form, u) if b is a else _schur(batch, b)
    (transformed,) = batch.expression(lambda u, q, v: [matmul(adjoint(u), matmul(q, v))], [u, q, v])
    arguments = {"a": form, "b": other_form, "c": transpose(transformed)}
    sizes = {"m": form.shape[-1], "n": other_form.shape[-1]}
    outputs = batch.call(schur_forms.sylvester(q.dtype), sizes, arguments)
    solution: Array
    (solution,) = batch.expression(
        lambda u, y, v, scale: [matmul(u, matmul(y, adjoint(v))) / _as_matrix(scale)],
        [u, transpose(outputs["c"]), v, outputs["scale"]],
    )
    (wrong,) = batch.expression(_has_no_solution, [a, b, q, solution, outputs["status"]])
    batch.require_none(wrong, batch.linalg_error, NO_UNIQUE_SOLUTION)
    return solution


def _has_no_solution(a: Any, b: Any, q: Any, x: Any, status: Any) -> list[Any]:
    """Test whether the routine perturbed a singular equation whose solution does not solve the original."""
    residual = matmul(a, x) + matmul(x, adjoint(b)) - q
    bound = np.asarray(np.sqrt(np.finfo(q.type.dtype).eps), real_dtype(q.type.dtype))
    return [ops.and_(ops.neq(status, 0), ops.gt(one_norm(residual), bound * one_norm(q)))]


def _as_matrix(scale: Any) -> Any:
    return scale.dimshuffle(*range(scale.type.ndim), "x")


@adopt(SolveSylvester)
def _sylvester(op: SolveSylvester, batch: MatrixBatch) -> Sequence[Array]:
    a, b, q = batch.inputs
    _require_order(batch, a, q, -2)
    _require_order(batch, b, q, -1)
    batch.require_finite(a, b)
    return [_solution(batch, a, conjugate(transpose(b)), q)]


@adopt(SolveContinuousLyapunov)
def _continuous_lyapunov(op: SolveContinuousLyapunov, batch: MatrixBatch) -> Sequence[Array]:
    a, q = batch.inputs
    _require_order(batch, a, q, -2)
    batch.require_square(q)
    batch.require_finite(a)
    return [_solution(batch, a, a, q)]


@adopt(BilinearSolveDiscreteLyapunov)
def _discrete_lyapunov(op: BilinearSolveDiscreteLyapunov, batch: MatrixBatch) -> Sequence[Array]:
    """Solve ``B X + X B^H = -2 C Q C^H`` with ``B = (A - 1) (A + 1)^-1`` and ``C = (A + 1)^-1``."""
    a, q = batch.inputs
    _require_order(batch, a, q, -2)
    batch.require_square(q)

    def continuous(a: Any, q: Any) -> list[Any]:
        unit = eye(a.shape[-1], dtype=real_dtype(a.type.dtype))
        inverse = MatrixInverse()(a + unit)
        return [matmul(inverse, a - unit), matmul(inverse, matmul(-2 * q, adjoint(inverse)))]

    b, c = batch.expression(continuous)
    batch.require_finite(b)
    return [_solution(batch, b, b, c)]


# -- Riccati equations -------------------------------------------------------------------------------------------
#
# The columns of ``[1; X]`` span the deflating subspace of the stable eigenvalues of a pencil ``H - w J`` of order
# 2 n + m, which an orthogonal transformation deflates by the m controls: P. Van Dooren (1981), "A generalized
# eigenvalue approach for solving Riccati equations". The pencil is first balanced by powers of 2.


@adopt(SolveContinuousRiccati)
def _continuous_riccati(op: SolveContinuousRiccati, batch: MatrixBatch) -> Sequence[Array]:
    def pencil(a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        zeros, unit = _zeros(a, b, r), eye(a.shape[-1], dtype=real_dtype(a.type.dtype)) + a.zeros_like()
        h = ((a, zeros["n,n"], b), (-q, -adjoint(a), zeros["n,m"]), (zeros["m,n"], adjoint(b), r))
        j = ((unit, zeros["n,n"], zeros["n,m"]), (zeros["n,n"], unit, zeros["n,m"]), _row_of_zeros(zeros))
        return [_block_matrix(h), _block_matrix(j)]

    def is_stable(above: Any, below: Any, *imaginary: Any) -> list[Any]:
        return [cast(ops.and_(ops.lt(ops.real(above), 0), ops.gt(ops.real(below), 0)), "int32")]

    def terms(x: Any, a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        controlled = matmul(matmul(x, b), Solve(check_finite=False)(r, matmul(adjoint(b), x)))
        return [matmul(adjoint(a), x), matmul(x, a), -controlled, q]

    values = batch.call(
        spectra.svd("values", batch.inputs[3].dtype), {"m": batch.inputs[3].shape[-2], "n": batch.inputs[3].shape[-1]},
        {"a": batch.inputs[3]},
    )["values"]  # fmt: skip
    (singular,) = batch.expression(_is_negligible, [values])
    batch.require_none(singular, ValueError, "the matrix r is numerically singular.")
    return [_riccati(batch, pencil, is_stable, terms)]


@adopt(SolveDiscreteRiccati)
def _discrete_riccati(op: SolveDiscreteRiccati, batch: MatrixBatch) -> Sequence[Array]:
    def pencil(a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        zeros, unit = _zeros(a, b, r), eye(a.shape[-1], dtype=real_dtype(a.type.dtype)) + a.zeros_like()
        h = ((a, zeros["n,n"], b), (-q, unit, zeros["n,m"]), (zeros["m,n"], zeros["m,n"], r))
        j = ((unit, zeros["n,n"], zeros["n,m"]), (zeros["n,n"], adjoint(a), zeros["n,m"]))
        return [_block_matrix(h), _block_matrix((*j, (zeros["m,n"], -adjoint(b), zeros["m,m"])))]

    def is_stable(above: Any, below: Any, *imaginary: Any) -> list[Any]:
        size = hypot(above, *imaginary) if imaginary else ops.abs(above)
        return [cast(ops.lt(size, ops.abs(below)), "int32")]

    def terms(x: Any, a: Any, b: Any, q: Any, r: Any) -> list[Any]:
        before, through = matmul(adjoint(a), x), matmul(adjoint(b), x)
        gain = Solve(check_finite=False)(r + matmul(through, b), matmul(through, a))
        return [matmul(before, a), -x, -matmul(matmul(before, b), gain), q]

    return [_riccati(batch, pencil, is_stable, terms)]


def _zeros(a: Any, b: Any, r: Any) -> dict[str, Any]:
    return {
        "n,n": a.zeros_like(), "n,m": b.zeros_like(), "m,n": adjoint(b).zeros_like(), "m,m": r.zeros_like()
    }  # fmt: skip


def _row_of_zeros(zeros: dict[str, Any]) -> tuple[Any, ...]:
    return zeros["m,n"], zeros["m,n"], zeros["m,m"]


def _block_matrix(blocks: Sequence[Sequence[Any]]) -> Any:
    return concatenate([concatenate(row, axis=-1) for row in blocks], axis=-2)


def _is_negligible(values: Any) -> list[Any]:
    """Test which singular values are zero within rounding."""
    eps = np.asarray(np.finfo(values.type.dtype).eps, values.type.dtype)
    return [ops.le(values, eps * largest(values, axis=-1, keepdims=True, initial=0))]


def _is_not_hermitian(x: Any) -> list[Any]:
    eps = np.asarray(100 * np.finfo(x.type.dtype).eps, real_dtype(x.type.dtype))
    return [ops.gt(one_norm(x - adjoint(x)), eps * one_norm(x))]


def _riccati(
    batch: MatrixBatch, pencil: Callable[..., list[Any]], is_stable: Callable[..., list[Any]],
    terms: Callable[..., list[Any]],
) -> Array:  # fmt: skip
    """Return the stabilising solution of a Riccati equation.

    `pencil` builds the extended pencil, `is_stable` tests its eigenvalues, and `terms` returns the terms of the
    equation.  The solution is computed in double precision, as by SciPy: the problem may be much worse conditioned
    than its matrices.
    """
    dtype = batch.inputs[0].dtype
    a, b, q, r = batch.expression(lambda *inputs: [cast(x, _double(x)) for x in inputs])
    _require_order(batch, a, b, -2)
    _require_order(batch, q, b, -2)
    _require_order(batch, r, b, -1)
    batch.require_finite(a, b, q, r)
    for name, x in (("q", q), ("r", r)):
        (asymmetric,) = batch.expression(_is_not_hermitian, [x])
        batch.require_none(asymmetric, ValueError, f"the matrix {name} must be symmetric or Hermitian.")
    h, j, sizes = batch.expression(
        lambda *known: _with_off_diagonal(*pencil(*known)), [broadcast_batch(x, batch.lead) for x in (a, b, q, r)]
    )  # fmt: skip
    balance = batch.call(schur_forms.scales(sizes.dtype), {"n": sizes.shape[-1]}, {"a": transpose(sizes)})["scales"]
    h, j, scale = batch.expression(_balance, [h, j, balance, a])
    left, right = batch.expression(_deflate_controls, [h, j, b])
    arguments = {"a": transpose(left), "b": transpose(right)}
    outputs = batch.call(schur_forms.qz(left.dtype), {"n": left.shape[-1]}, arguments)
    batch.require_success(outputs["status"], "has a pencil whose eigenvalues were not found; the routine returned")
    values = [outputs[name] for name in ("above", "below", "imaginary") if name in outputs]
    (chosen,) = batch.expression(is_stable, values)
    (wrong,) = batch.expression(lambda c, a: [ops.neq(c.sum(axis=-1), a.shape[-1])], [chosen, a])
    batch.require_none(wrong, batch.linalg_error, NOT_STABILISED)
    arguments = {"chosen": chosen, **{name: outputs[name] for name in ("a", "b", "left", "right")}}
    ordered = batch.call(schur_forms.qz_reordered(left.dtype), {"n": left.shape[-1]}, arguments)
    batch.require_success(ordered["status"], "has a pencil whose eigenvalues are too close; the routine returned")
    solution: Array
    solution, singular, skew = batch.expression(_from_vectors, [transpose(ordered["right"]), scale, a])
    batch.require_none(singular, batch.linalg_error, "there is no finite solution.")
    batch.require_none(skew, batch.linalg_error, NOT_STABILISED)
    (wrong,) = batch.expression(lambda x, *known: _do_not_cancel(terms(x, *known)), [solution, a, b, q, r])
    batch.require_none(wrong, batch.linalg_error, NOT_STABILISED)
    (solution,) = batch.expression(lambda x: [cast(x, dtype)], [solution])
    return solution


def _double(x: Any) -> str:
    return "complex128" if x.type.dtype.startswith("complex") else "float64"


def _do_not_cancel(terms: list[Any]) -> list[Any]:
    """Test whether the sum of terms is far from zero."""
    dtype = real_dtype(terms[0].type.dtype)
    size = functools.reduce(ops.maximum, [one_norm(term) for term in terms])
    return [ops.gt(one_norm(functools.reduce(ops.add, terms)), np.asarray(np.sqrt(np.finfo(dtype).eps), dtype) * size)]


def _with_off_diagonal(h: Any, j: Any) -> list[Any]:
    """Append the absolute values of the off-diagonal entries."""
    sizes = ops.abs(h) + ops.abs(j)
    position = arange(sizes.shape[-1])
    return [h, j, ops.switch(ops.eq(position.dimshuffle(0, "x"), position), sizes.zeros_like(), sizes)]


def _balance(h: Any, j: Any, balance: Any, a: Any) -> list[Any]:
    """Balance a pencil by scaling rows and columns; factors for the second block are reciprocals of the first."""
    n = a.shape[-1]
    exponent = ops.log2(balance)
    half = rint((exponent[..., n : 2 * n] - exponent[..., :n]) / 2)
    factor = ops.exp2(concatenate([half, -half, exponent[..., 2 * n :]], axis=-1))
    change = factor.dimshuffle(*range(factor.type.ndim), "x") / rows_of(factor)
    return [h * change, j * change, ops.exp2(half)]


def _deflate_controls(h: Any, j: Any, b: Any) -> list[Any]:
    m = b.shape[-1]
    basis = adjoint(QRFull("complete")(h[..., h.shape[-1] - m :])[0])[..., m:, :]
    return [matmul(basis, x[..., : h.shape[-1] - m]) for x in (h, j)]


def _from_vectors(vectors: Any, scale: Any, a: Any) -> list[Any]:
    """Return X, and tests whether it is not finite, and not Hermitian within rounding."""
    n = a.shape[-1]
    first, second = vectors[..., :n, :n], vectors[..., n:, :n]
    eps = np.finfo(vectors.type.dtype).eps
    dtype = real_dtype(vectors.type.dtype)
    inner = matmul(adjoint(first), second)
    skew = ops.gt(
        one_norm(inner - adjoint(inner)),
        ops.maximum(np.asarray(1000 * eps, dtype), np.asarray(0.1, dtype) * one_norm(inner)),
    )
    basis = adjoint(first)
    condition = one_norm(basis) * one_norm(MatrixInverse()(basis))
    x = adjoint(Solve(check_finite=False)(basis, adjoint(second)))
    x = x * scale.dimshuffle(*range(scale.type.ndim), "x") * rows_of(scale)
    return [(x + adjoint(x)) * np.asarray(0.5, dtype), ops.gt(condition, np.asarray(1 / eps, dtype)), skew]
