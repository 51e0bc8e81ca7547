"""Routines of LAPACK for eigenvalues and singular values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import Expr, op
from aesara.ir.routine import CArgument, Character, Data, Integer, Leading, Null, Parameter, Routine, Status, family
from aesara.ir.routines.lapack import factor_cholesky
from aesara.ir.routines.lapack_records import (
    BLOCK,
    ONE,
    SPECTRA,
    STATUS,
    M,
    N,
    inout,
    is_complex,
    out,
    part_of,
    record,
    work_of,
    workspace,
)

__all__ = ["eig", "eigh", "eigh_of_two", "schur", "svd"]

# -- spectra -----------------------------------------------------------------------------------------------------


@family("eigh")
def eigh(job: str, triangle: str, dtype: str) -> Routine:
    """Eigenvalues of a Hermitian matrix in ascending order, and eigenvectors with job "vectors" (else "values").

    Eigenvectors are rows, in place of the matrix.  For complex matrices the rows are conjugates of the eigenvectors.
    """
    lower, with_vectors = triangle == "lower", job == "vectors"
    workspaces, arguments = _eigh_workspaces(with_vectors, dtype)
    return record(
        f"eigh.{job}.{triangle}.{dtype}", "eigenvalues of a symmetric matrix", "lapack.syevd", ("n",),
        (
            inout("a", dtype, N, N), out("values", part_of(dtype), N), *workspaces, STATUS,
        ),
        (
            Character("V" if with_vectors else "N"), Character("U" if lower else "L"), Integer(N), Data("a"),
            Leading(N), Data("values"), *arguments, Status("status"),
        ),
        work_of((N, N, N), 4.0 if with_vectors else 2.0), functools.partial(_spectrum, lower, with_vectors), SPECTRA,
    )  # fmt: skip


def _eigh_workspaces(with_vectors: bool, dtype: str) -> tuple[list[Parameter], list[CArgument]]:
    """Return the workspaces of `eigh`, and the arguments for them."""
    squares, blocks = N * N, BLOCK * N
    whole = 5 * N + 3 if with_vectors else ONE
    lengths: list[tuple[str, str, Expr]]
    if is_complex(dtype):
        lengths = [
            ("workspace", dtype, 2 * N + (squares if with_vectors else blocks) + 1),
            (
                "more",
                part_of(dtype),
                5 * N + 2 * squares + 1 if with_vectors else N + 1,
            ),
        ]
    else:
        length = 6 * N + 2 * squares + 1 if with_vectors else 2 * N + blocks + 1
        lengths = [("workspace", dtype, length)]
    lengths.append(("whole", "int32", whole))
    arguments: list[CArgument] = []
    for name, _, length in lengths:
        arguments += [Data(name), Integer(length)]
    return [workspace(*array) for array in lengths], arguments


def _spectrum(
    lower: bool, with_vectors: bool, sizes: dict[str, Any],
    a: np.ndarray, values: np.ndarray, *workspaces: np.ndarray,
) -> None:  # fmt: skip
    for array in workspaces:
        array[...] = 0
    status = workspaces[-1]
    if not a.size:
        return
    try:
        values[...], vectors = np.linalg.eigh(a, UPLO="L" if lower else "U")
        a[...] = vectors.T.conj() if with_vectors else 0
    except np.linalg.LinAlgError:
        values[...], a[...], status[...] = np.nan, np.nan, 1


@family("eigh_of_two")
def eigh_of_two(job: str, triangle: str, dtype: str) -> Routine:
    """Generalized eigenvalues of ``a v = w b v`` with a positive definite matrix b, which is overwritten; see `eigh`.

    The status is n plus the order of the first leading minor of b that is not positive.
    """
    lower, with_vectors = triangle == "lower", job == "vectors"
    workspaces, arguments = _eigh_workspaces(with_vectors, dtype)
    return record(
        f"eigh_of_two.{job}.{triangle}.{dtype}", "eigenvalues of two symmetric matrices", "lapack.sygvd", ("n",),
        (
            inout("a", dtype, N, N), inout("b", dtype, N, N), out("values", part_of(dtype), N), *workspaces, STATUS,
        ),
        (
            Integer(ONE), Character("V" if with_vectors else "N"), Character("U" if lower else "L"), Integer(N),
            Data("a"), Leading(N), Data("b"), Leading(N), Data("values"), *arguments, Status("status"),
        ),
        work_of((N, N, N), 6.0 if with_vectors else 4.0), functools.partial(_spectrum_of_two, lower, with_vectors),
        SPECTRA,
    )  # fmt: skip


def _spectrum_of_two(
    lower: bool, with_vectors: bool, sizes: dict[str, Any],
    a: np.ndarray, b: np.ndarray, values: np.ndarray, *workspaces: np.ndarray,
) -> None:  # fmt: skip
    for array in workspaces:
        array[...] = 0
    order, status = np.zeros((), "int64"), workspaces[-1]
    factor_cholesky(lower, sizes, b, order)
    if order:
        values[...], a[...], status[...] = np.nan, np.nan, len(b) + order
        return
    factor = np.tril(b) if lower else np.triu(b).T.conj()
    whole = np.tril(a) + np.tril(a, -1).T.conj() if lower else np.triu(a) + np.triu(a, 1).T.conj()
    if a.size:
        inverse = np.linalg.inv(factor)
        values[...], vectors = np.linalg.eigh(inverse @ whole @ inverse.T.conj())
        a[...] = (inverse.T.conj() @ vectors).T.conj() if with_vectors else 0


@family("eig")
def eig(dtype: str) -> Routine:
    """Eigenvalues, and eigenvectors as rows, of a matrix stored by columns, which is overwritten.

    For a real matrix, `imaginary` has the imaginary parts; a conjugate pair has the real and the imaginary part of one
    eigenvector in its two rows.
    """
    values, workspaces, arguments = _eig_parameters(dtype)
    return record(
        f"eig.{dtype}", "eigenvalues", "lapack.geev", ("n",),
        (inout("a", dtype, N, N), *values, out("vectors", dtype, N, N), *workspaces, STATUS),
        (
            Character("N"), Character("V"), Integer(N), Data("a"), Leading(N), *(Data(v.name) for v in values), Null(),
            Integer(ONE), Data("vectors"), Leading(N), *arguments, Status("status"),
        ),
        work_of((N, N, N), 25.0), _general_spectrum, SPECTRA,
    )  # fmt: skip


def _eig_parameters(dtype: str) -> tuple[list[Parameter], list[Parameter], list[CArgument]]:
    """Return the parameters for eigenvalues and for workspaces, and the arguments for the workspaces."""
    length = (4 + 2 * BLOCK) * N + 1
    workspaces, arguments = [workspace("workspace", dtype, length)], [Data("workspace"), Integer(length)]
    if not is_complex(dtype):
        return [out("values", dtype, N), out("imaginary", dtype, N)], workspaces, arguments
    workspaces.append(workspace("more", part_of(dtype), 2 * N + 1))
    return [out("values", dtype, N)], workspaces, [*arguments, Data("more")]


def _general_spectrum(sizes: dict[str, Any], a: np.ndarray, values: np.ndarray, *others: np.ndarray) -> None:
    for array in others:
        array[...] = 0
    if not a.size:
        return
    eigenvalues, vectors = np.linalg.eig(a.T)
    at = 0 if values.dtype.kind == "c" else 1
    if not at:
        values[...], others[0][...] = eigenvalues, vectors.T
        return
    values[...], others[0][...] = eigenvalues.real, eigenvalues.imag
    others[1][...] = np.where((eigenvalues.imag < 0)[:, None], -vectors.T.imag, vectors.T.real)


@family("schur")
def schur(dtype: str) -> Routine:
    """Schur form of a matrix, in place, and the unitary matrix; both are stored by columns."""
    values, workspaces, arguments = _eig_parameters(dtype)
    return record(
        f"schur.{dtype}", "Schur decomposition", "lapack.gees", ("n",),
        (
            inout("a", dtype, N, N), *values, out("unitary", dtype, N, N), workspace("sorted", "int32", ONE),
            *workspaces, STATUS,
        ),
        (
            Character("V"), Character("N"), Null(), Integer(N), Data("a"), Leading(N), Data("sorted"),
            *(Data(v.name) for v in values), Data("unitary"), Leading(N), *arguments, Null(), Status("status"),
        ),
        work_of((N, N, N), 25.0), _schur_form, SPECTRA,
    )  # fmt: skip


def _schur_form(sizes: dict[str, Any], a: np.ndarray, values: np.ndarray, *others: np.ndarray) -> None:
    for array in others:
        array[...] = 0
    values[...] = 0
    if not a.size:
        return
    import scipy.linalg  # slow to import

    is_real = values.dtype.kind != "c"
    (gees,) = scipy.linalg.get_lapack_funcs(("gees",), (a,))
    form, _, *_, unitary, _, status = gees(lambda *_: None, a.T)
    a[...], others[1 if is_real else 0][...], others[-1][...] = form.T, unitary.T, status


@family("svd")
def svd(job: str, dtype: str) -> Routine:
    """Singular values of a matrix, with "reduced" or "full" singular vectors, or only "values".

    The matrix is overwritten. Full singular vectors are initialized with identity matrices, which stay if the matrix is
    empty.
    """
    least, most = op("minimum", M, N), op("maximum", M, N)
    squares = least * least
    left = {"reduced": (M, least), "full": (M, M), "values": (ONE, ONE)}[job]
    right = {"reduced": (least, N), "full": (N, N), "values": (ONE, ONE)}[job]
    vectors = inout if job == "full" else out
    length = 4 * squares + 7 * least + BLOCK * (M + N) + 1
    workspaces, arguments = [workspace("workspace", dtype, length)], [Data("workspace"), Integer(length)]
    if is_complex(dtype):
        vectors_length = 0 if job == "values" else 2 * (most * least)
        length = 5 * squares + 7 * least + vectors_length + 1
        workspaces.append(workspace("more", part_of(dtype), length))
        arguments.append(Data("more"))
    workspaces.append(workspace("whole", "int32", 8 * least + 1))
    return record(
        f"svd.{job}.{dtype}", "singular values", "lapack.gesdd", ("m", "n"),
        (
            inout("a", dtype, M, N), out("values", part_of(dtype), least), vectors("left", dtype, *left),
            vectors("right", dtype, *right), *workspaces, STATUS,
        ),
        (
            # LAPACK reads the transpose, whose left vectors are our right ones.
            Character({"reduced": "S", "full": "A", "values": "N"}[job]), Integer(N), Integer(M), Data("a"),
            Leading(N), Data("values"), Data("right"), Leading(right[1]), Data("left"), Leading(left[1]),
            *arguments, Data("whole"), Status("status"),
        ),
        work_of((M, N, least), 8.0), functools.partial(_singular_values, job), SPECTRA,
    )  # fmt: skip


def _singular_values(
    job: str, sizes: dict[str, Any], a: np.ndarray, values: np.ndarray, left: np.ndarray, right: np.ndarray,
    *workspaces: np.ndarray,
) -> None:  # fmt: skip
    for array in (left, right, *workspaces):
        array[...] = 0
    status = workspaces[-1]
    try:
        if job == "values":
            values[...] = np.linalg.svd(a, compute_uv=False)
        else:
            left[...], values[...], right[...] = np.linalg.svd(a, full_matrices=job == "full")
    except np.linalg.LinAlgError:
        values[...], status[...] = np.nan, 1
    a[...] = 0
