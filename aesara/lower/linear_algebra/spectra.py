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
    conjugate,
    identities,
    is_not_zero,
    not_finite,
    side,
    swapped,
)
from aesara.tensor.linear_algebra.eigen import COMPLEX_EIGENVALUES, Eig, Eigh, Eigvalsh, GeneralizedEigh
from aesara.tensor.linear_algebra.schur import QZ, Schur
from aesara.tensor.linear_algebra.svd import SVD

__all__: list[str] = []


@adopt(Eigh)
def _eigh(op: Eigh, of: Matrices) -> Sequence[Numbers]:
    values, vectors = _spectrum(of, op.UPLO == "L", "vectors")
    return [values, conjugate(swapped(vectors))]


@adopt(GeneralizedEigh)
def _eigh_of_two(op: GeneralizedEigh, of: Matrices) -> Sequence[Numbers]:
    of.require_finite(*of.inputs)
    values, vectors = _spectrum_of_two(of, op.lower, "vectors")
    return [values, conjugate(swapped(vectors))]


@adopt(Eigvalsh)
def _eigvalsh(op: Eigvalsh, of: Matrices) -> Sequence[Numbers]:
    of.require_finite(*of.inputs)
    of.require_square(of.inputs[0])
    spectrum = _spectrum if len(of.inputs) == 1 else _spectrum_of_two
    return [spectrum(of, bool(op.lower), "values")[0]]


def _spectrum(of: Matrices, lower: bool, job: str) -> tuple[Array, Numbers]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    made = of.call(spectra.eigh(job, side(lower), a.dtype), {"n": order}, {"a": a})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return made["values"], made["a"]


def _spectrum_of_two(of: Matrices, lower: bool, job: str) -> tuple[Array, Numbers]:
    a, b = of.inputs
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
    job = "values" if not op.compute_uv else "full" if op.full_matrices else "reduced"
    vectors = {"left": rows, "right": columns} if job == "full" else {}
    starts = {name: identities(of, order, a) for name, order in vectors.items()}
    made = of.call(spectra.svd(job, a.dtype), {"m": rows, "n": columns}, {"a": a, **starts})
    of.require_success(made["status"], "has singular values that did not converge; the routine returned")
    return [made["values"]] if job == "values" else [made["left"], made["values"], made["right"]]
