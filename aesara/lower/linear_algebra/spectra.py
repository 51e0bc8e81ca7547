"""Lowering of orthogonal factors, of spectra and of singular values."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import orthogonal, spectra
from aesara.lower.arrays import Array, Pointwise
from aesara.lower.complex import ComplexArray, complex_from_real
from aesara.lower.context import Unsupported
from aesara.lower.linear_algebra.matrices import (
    Matrices,
    Numbers,
    adopt,
    conjugate,
    parts_of,
    side,
    swapped,
    taken,
    triangle,
)
from aesara.tensor.linear_algebra.eigen import Eigh, Eigvalsh
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.svd import SVD

__all__: list[str] = []


@adopt(QRFull)
def _qr(op: QRFull, of: Matrices) -> Sequence[Numbers]:
    if op._form not in ("reduced", "r"):
        raise Unsupported(f"QR factorizations of the form {op._form!r}")
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    least = primitive("minimum", rows, columns)
    made = of.call(orthogonal.qr(a.dtype), {"m": rows, "n": columns}, {"a": swapped(a)})
    factors = made["a"]
    shape = (*factors.shape[:-2], least, columns)
    r = triangle(taken(swapped(factors), shape), False)
    if op._form == "r":
        return [r]
    leading = taken(factors, (*factors.shape[:-2], least, rows))
    routine = orthogonal.orthogonal(a.dtype)
    q = of.call(routine, {"m": rows, "k": least}, {"a": leading, "scales": made["scales"]})["a"]
    return [swapped(q), r]


@adopt(Eigh)
def _eigh(op: Eigh, of: Matrices) -> Sequence[Numbers]:
    values, vectors = _spectrum(of, op.UPLO == "L", "vectors")
    return [values, conjugate(swapped(vectors))]


@adopt(Eigvalsh)
def _eigvalsh(op: Eigvalsh, of: Matrices) -> Sequence[Numbers]:
    if len(of.inputs) > 1:
        raise Unsupported("generalized eigenvalues")
    of.require_finite(*of.inputs)
    return [_spectrum(of, bool(op.lower), "values")[0]]


def _spectrum(of: Matrices, lower: bool, job: str) -> tuple[Array, Numbers]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    made = of.call(spectra.eigh(job, side(lower), a.dtype), {"n": order}, {"a": a})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return made["values"], made["a"]


def _identities(of: Matrices, order: Expr, like: Numbers) -> Numbers:
    """An identity matrix for each member of the batch."""
    dtype = parts_of(like)[0].dtype
    one, zero = const(1, dtype), const(0, dtype)
    made = Pointwise(
        dtype, (*of.lead, order, order), (),
        lambda index, readers: primitive("select", primitive("eq", index[-2], index[-1]), one, zero),
    )  # fmt: skip
    return complex_from_real(made) if isinstance(like, ComplexArray) else made


@adopt(SVD)
def _svd(op: SVD, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    job = "values" if not op.compute_uv else "full" if op.full_matrices else "reduced"
    vectors = {"left": rows, "right": columns} if job == "full" else {}
    starts = {name: _identities(of, order, a) for name, order in vectors.items()}
    made = of.call(spectra.svd(job, a.dtype), {"m": rows, "n": columns}, {"a": a, **starts})
    of.require_success(made["status"], "has singular values that did not converge; the routine returned")
    return [made["values"]] if job == "values" else [made["left"], made["values"], made["right"]]
