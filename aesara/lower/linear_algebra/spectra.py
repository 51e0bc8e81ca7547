"""Lowering of spectra, of Schur forms and of singular values."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.routines import schur_forms, spectra
from aesara.lower.arrays import Array
from aesara.lower.complex import ComplexArray
from aesara.lower.linear_algebra.matrices import (
    Matrices,
    Numbers,
    adopt,
    identities,
    is_not_zero,
    not_finite,
    side,
    swapped,
)
from aesara.tensor.linear_algebra.core import SINGULAR_VALUES_OF_INFINITIES
from aesara.tensor.linear_algebra.eigen import COMPLEX_EIGENVALUES, Eig, Eigh, Eigvalsh, GeneralizedEigh
from aesara.tensor.linear_algebra.schur import QZ, Schur
from aesara.tensor.linear_algebra.svd import SVD

__all__: list[str] = []


@adopt(Eigh)
def _eigh(op: Eigh, of: Matrices) -> Sequence[Numbers]:
    # As `_svd` does: LAPACK sees the matrix itself, and the vectors have the signs that NumPy's have.
    values, vectors = _spectrum(of, swapped(of.inputs[0]), op.UPLO != "L", "vectors")
    return [values, swapped(vectors)]


@adopt(GeneralizedEigh)
def _eigh_of_two(op: GeneralizedEigh, of: Matrices) -> Sequence[Numbers]:
    of.require_finite(*of.inputs)
    a, b = of.inputs
    values, vectors = _spectrum_of_two(of, swapped(a), swapped(b), not op.lower, "vectors")
    return [values, swapped(vectors)]


@adopt(Eigvalsh)
def _eigvalsh(op: Eigvalsh, of: Matrices) -> Sequence[Numbers]:
    of.require_finite(*of.inputs)
    a, *others = of.inputs
    of.require_square(a)
    if others:
        return [_spectrum_of_two(of, a, others[0], bool(op.lower), "values")[0]]
    return [_spectrum(of, a, bool(op.lower), "values")[0]]


def _spectrum(of: Matrices, a: Numbers, lower: bool, job: str) -> tuple[Array, Numbers]:
    order = of.require_square(a, of.linalg_error)
    made = of.call(spectra.eigh(job, side(lower), a.dtype), {"n": order}, {"a": a})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return made["values"], made["a"]


def _spectrum_of_two(of: Matrices, a: Numbers, b: Numbers, lower: bool, job: str) -> tuple[Array, Numbers]:
    order = of.require_square(a)
    of.require_square(b)
    of.require_equal(order, b.shape[-1], "matrices of orders {0} and {1} do not fit.")
    made = of.call(spectra.eigh_of_two(job, side(lower), a.dtype), {"n": order}, {"a": a, "b": b})
    what = (
        "has no eigenvalues with the second one: that is not positive definite, or they did not converge; the routine "
        "returned"
    )
    of.require_success(made["status"], what)
    return made["values"], made["a"]


def _require_singular_values(of: Matrices, a: Numbers, status: Array) -> None:
    of.require_success(status, "has singular values that did not converge; the routine returned")
    of.require_none(not_finite(a), of.linalg_error, SINGULAR_VALUES_OF_INFINITIES)


@adopt(Eig)
def _eig(op: Eig, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    of.require_none(not_finite(a), of.linalg_error, "array must not contain infs or NaNs")
    made = of.call(spectra.eig(a.dtype), {"n": order}, {"a": swapped(a)})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    if not isinstance(a, ComplexArray):
        of.require_none(is_not_zero(made["imaginary"]), of.linalg_error, COMPLEX_EIGENVALUES)
    return [made["values"], swapped(made["vectors"])]


@adopt(Schur)
def _schur(op: Schur, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    order = of.require_square(a)
    of.require_finite(a)
    made = of.call(spectra.schur(a.dtype), {"n": order}, {"a": swapped(a)})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return [swapped(made["a"]), swapped(made["unitary"])]


@adopt(QZ)
def _qz(op: QZ, of: Matrices) -> Sequence[Numbers]:
    a, b = of.inputs
    order = of.require_square(a)
    of.require_square(b)
    of.require_equal(order, b.shape[-1], "matrices of orders {0} and {1} do not fit.")
    of.require_finite(a, b)
    made = of.call(schur_forms.qz(a.dtype), {"n": order}, {"a": swapped(a), "b": swapped(b)})
    of.require_success(made["status"], "has no Schur form with the other one that was found; the routine returned")
    return [swapped(made[name]) for name in ("a", "b", "left", "right")]


@adopt(SVD)
def _svd(op: SVD, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    if not op.compute_uv:
        made = of.call(spectra.svd("values", a.dtype), {"m": rows, "n": columns}, {"a": a})
        _require_singular_values(of, a, made["status"])
        return [made["values"]]
    # The routine has LAPACK factor the transpose, as it lies in memory. It gets the transpose, so that LAPACK sees the
    # matrix itself, and the vectors have the signs that NumPy's have.
    vectors = {"left": columns, "right": rows} if op.full_matrices else {}
    starts = {name: identities(of, order, a) for name, order in vectors.items()}
    routine = spectra.svd("full" if op.full_matrices else "reduced", a.dtype)
    made = of.call(routine, {"m": columns, "n": rows}, {"a": swapped(a), **starts})
    _require_singular_values(of, a, made["status"])
    return [swapped(made["right"]), made["values"], swapped(made["left"])]
