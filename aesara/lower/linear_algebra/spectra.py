"""Lowering of eigenvalues, Schur decompositions and singular values."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.routines import schur_forms, spectra
from aesara.lower.arrays import Array
from aesara.lower.linear_algebra.matrices import (
    MatrixBatch,
    adopt,
    identities,
    is_not_zero,
    not_finite,
    side,
    transpose,
)
from aesara.tensor.linear_algebra.core import SINGULAR_VALUES_OF_INFINITIES
from aesara.tensor.linear_algebra.eigen import COMPLEX_EIGENVALUES, Eig, Eigh, Eigvalsh, GeneralizedEigh
from aesara.tensor.linear_algebra.schur import QZ, Schur
from aesara.tensor.linear_algebra.svd import SVD

__all__: list[str] = []


@adopt(Eigh)
def _eigh(op: Eigh, batch: MatrixBatch) -> Sequence[Array]:
    # As in `_svd`: LAPACK gets the matrix itself, so that vectors have the same signs as those of NumPy.
    values, vectors = _spectrum(batch, transpose(batch.inputs[0]), op.UPLO != "L", "vectors")
    return [values, transpose(vectors)]


@adopt(GeneralizedEigh)
def _generalized_eigh(op: GeneralizedEigh, batch: MatrixBatch) -> Sequence[Array]:
    batch.require_finite(*batch.inputs)
    a, b = batch.inputs
    values, vectors = _generalized_spectrum(batch, transpose(a), transpose(b), not op.lower, "vectors")
    return [values, transpose(vectors)]


@adopt(Eigvalsh)
def _eigvalsh(op: Eigvalsh, batch: MatrixBatch) -> Sequence[Array]:
    batch.require_finite(*batch.inputs)
    a, *others = batch.inputs
    batch.require_square(a)
    if others:
        return [_generalized_spectrum(batch, a, others[0], bool(op.lower), "values")[0]]
    return [_spectrum(batch, a, bool(op.lower), "values")[0]]


def _spectrum(batch: MatrixBatch, a: Array, lower: bool, job: str) -> tuple[Array, Array]:
    order = batch.require_square(a, batch.linalg_error)
    outputs = batch.call(spectra.eigh(job, side(lower), a.dtype), {"n": order}, {"a": a})
    batch.require_success(outputs["status"], "has eigenvalues that did not converge; the routine returned")
    return outputs["values"], outputs["a"]


def _generalized_spectrum(batch: MatrixBatch, a: Array, b: Array, lower: bool, job: str) -> tuple[Array, Array]:
    order = batch.require_square(a)
    batch.require_square(b)
    batch.require_equal(order, b.shape[-1], "matrices of orders {0} and {1} do not fit.")
    outputs = batch.call(spectra.eigh_of_two(job, side(lower), a.dtype), {"n": order}, {"a": a, "b": b})
    failure = (
        "has no eigenvalues with the second one: that is not positive definite, or they did not converge; the routine "
        "returned"
    )
    batch.require_success(outputs["status"], failure)
    return outputs["values"], outputs["a"]


def _require_singular_values(batch: MatrixBatch, a: Array, status: Array) -> None:
    batch.require_success(status, "has singular values that did not converge; the routine returned")
    batch.require_none(not_finite(a), batch.linalg_error, SINGULAR_VALUES_OF_INFINITIES)


@adopt(Eig)
def _eig(op: Eig, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    order = batch.require_square(a, batch.linalg_error)
    batch.require_none(not_finite(a), batch.linalg_error, "array must not contain infs or NaNs")
    outputs = batch.call(spectra.eig(a.dtype), {"n": order}, {"a": transpose(a)})
    batch.require_success(outputs["status"], "has eigenvalues that did not converge; the routine returned")
    if not a.is_complex:
        batch.require_none(is_not_zero(outputs["imaginary"]), batch.linalg_error, COMPLEX_EIGENVALUES)
    return [outputs["values"], transpose(outputs["vectors"])]


@adopt(Schur)
def _schur(op: Schur, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    order = batch.require_square(a)
    batch.require_finite(a)
    outputs = batch.call(spectra.schur(a.dtype), {"n": order}, {"a": transpose(a)})
    batch.require_success(outputs["status"], "has eigenvalues that did not converge; the routine returned")
    return [transpose(outputs["a"]), transpose(outputs["unitary"])]


@adopt(QZ)
def _qz(op: QZ, batch: MatrixBatch) -> Sequence[Array]:
    a, b = batch.inputs
    order = batch.require_square(a)
    batch.require_square(b)
    batch.require_equal(order, b.shape[-1], "matrices of orders {0} and {1} do not fit.")
    batch.require_finite(a, b)
    outputs = batch.call(schur_forms.qz(a.dtype), {"n": order}, {"a": transpose(a), "b": transpose(b)})
    failure = "has no Schur form with the other one that was found; the routine returned"
    batch.require_success(outputs["status"], failure)
    return [transpose(outputs[name]) for name in ("a", "b", "left", "right")]


@adopt(SVD)
def _svd(op: SVD, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    rows, columns = a.shape[-2:]
    if not op.compute_uv:
        outputs = batch.call(spectra.svd("values", a.dtype), {"m": rows, "n": columns}, {"a": a})
        _require_singular_values(batch, a, outputs["status"])
        return [outputs["values"]]
    # LAPACK is column-major. It gets the transpose, and so the matrix itself, such that vectors have the same signs as
    # those of NumPy.
    vectors = {"left": columns, "right": rows} if op.full_matrices else {}
    starts = {name: identities(batch, order, a) for name, order in vectors.items()}
    routine = spectra.svd("full" if op.full_matrices else "reduced", a.dtype)
    outputs = batch.call(routine, {"m": columns, "n": rows}, {"a": transpose(a), **starts})
    _require_singular_values(batch, a, outputs["status"])
    return [transpose(outputs["right"]), outputs["values"], transpose(outputs["left"])]
