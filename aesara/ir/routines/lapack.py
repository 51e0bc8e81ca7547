"""Routines of LAPACK and BLAS for linear systems: factorizations, solutions, inverses.

The C functions are those that `scipy.linalg` exports; `lapack_records` explains the order of matrices.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import op
from aesara.ir.routine import Character, Data, Integer, Leading, Routine, Status, family
from aesara.ir.routines.lapack_records import (
    BLOCK,
    FACTORS,
    ONE,
    SOLUTIONS,
    STATUS,
    D,
    K,
    L,
    M,
    N,
    U,
    inout,
    out,
    pointer_to_one,
    readonly,
    record,
    work_of,
    workspace,
)

__all__ = [
    "cholesky",
    "factor_cholesky",
    "inverse_of_cholesky",
    "inverse_of_lu",
    "lu",
    "lu_of_columns",
    "solve_banded",
    "solve_definite_banded",
    "solve_lu",
    "solve_triangular",
]

# -- positive definite matrices ----------------------------------------------------------------------------------


@family("cholesky")
def cholesky(triangle: str, dtype: str) -> Routine:
    """Cholesky factor of a Hermitian matrix, in place of its "lower" or "upper" triangle; the other one is not read.

    The status is the order of the first leading minor that is not positive, or 0.
    """
    lower = triangle == "lower"
    return record(
        f"cholesky.{triangle}.{dtype}", "Cholesky factorization", "lapack.potrf", ("n",),
        (inout("a", dtype, N, N), STATUS),
        (Character("U" if lower else "L"), Integer(N), Data("a"), Leading(N), Status("status")),
        work_of((N, N, N), 1 / 6), functools.partial(factor_cholesky, lower), FACTORS,
    )  # fmt: skip


def factor_cholesky(lower: bool, values: dict[str, Any], a: np.ndarray, status: np.ndarray) -> None:
    """Reference of the routine `cholesky`."""
    whole = np.tril(a) + np.tril(a, -1).T.conj() if lower else np.triu(a) + np.triu(a, 1).T.conj()
    status[...] = 0
    for k in range(1, values["n"] + 1):
        try:
            factor = np.linalg.cholesky(whole[:k, :k])
        except np.linalg.LinAlgError:
            status[...] = k
            return
        if np.isnan(factor).any():
            status[...] = k
            return
    if values["n"]:
        triangle = np.tril_indices(values["n"]) if lower else np.triu_indices(values["n"])
        a[triangle] = (factor if lower else factor.T.conj())[triangle]


@family("inverse_of_cholesky")
def inverse_of_cholesky(triangle: str, dtype: str) -> Routine:
    """Inverse of a matrix from its Cholesky factor; only the same triangle is written.

    The status is the number of the first zero on the diagonal of the factor, or 0.
    """
    lower = triangle == "lower"
    return record(
        f"inverse_of_cholesky.{triangle}.{dtype}", "inverse by a Cholesky factor", "lapack.potri", ("n",),
        (inout("a", dtype, N, N), STATUS),
        (Character("U" if lower else "L"), Integer(N), Data("a"), Leading(N), Status("status")),
        work_of((N, N, N), 1 / 3), functools.partial(_invert_cholesky, lower), SOLUTIONS,
    )  # fmt: skip


def _invert_cholesky(lower: bool, values: dict[str, Any], a: np.ndarray, status: np.ndarray) -> None:
    zeros = np.flatnonzero(np.diagonal(a) == 0)
    status[...] = zeros[0] + 1 if zeros.size else 0
    if not a.size or zeros.size:
        return
    factor = np.tril(a) if lower else np.triu(a).T.conj()
    back = np.linalg.inv(factor)
    triangle = np.tril_indices(len(a)) if lower else np.triu_indices(len(a))
    a[triangle] = (back.T.conj() @ back)[triangle]


# -- triangular systems ------------------------------------------------------------------------------------------


@family("solve_triangular")
def solve_triangular(triangle: str, transposed: str, diagonal: str, dtype: str) -> Routine:
    """Solve ``a x = b`` ("plain"), ``a.T x = b`` ("transposed") or ``a.T.conj() x = b`` ("adjoint") in place of b.

    The "lower" or "upper" triangle of `a` is read; its diagonal is read ("general") or assumed to be 1 ("unit").
    """
    lower, unit = triangle == "lower", diagonal == "unit"
    letter = {"plain": "N", "transposed": "T", "adjoint": "C"}[transposed]
    # For LAPACK, which reads columns, a x = b is x' a' = b': the factor is on the right.
    return record(
        f"solve_triangular.{triangle}.{transposed}.{diagonal}.{dtype}", "triangular solve", "blas.trsm", ("m", "n"),
        (readonly("a", dtype, M, M), inout("b", dtype, M, N)),
        (
            Character("R"), Character("U" if lower else "L"), Character(letter),
            Character("U" if unit else "N"), Integer(N), Integer(M), pointer_to_one(dtype), Data("a"),
            Leading(M), Data("b"), Leading(N),
        ),
        work_of((M, M, N), 0.5), functools.partial(_solve_triangular, lower, letter, unit), SOLUTIONS,
    )  # fmt: skip


def _solve_triangular(
    lower: bool, letter: str, unit: bool, values: dict[str, Any], a: np.ndarray, b: np.ndarray
) -> None:
    matrix = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(matrix, 1)
    if letter != "N":
        matrix, lower = matrix.T.conj() if letter == "C" else matrix.T, not lower
    rows = range(len(b)) if lower else reversed(range(len(b)))
    with np.errstate(all="ignore"):
        for k in rows:
            done = slice(0, k) if lower else slice(k + 1, None)
            b[k] = (b[k] - matrix[k, done] @ b[done]) / matrix[k, k]


# -- general square matrices -------------------------------------------------------------------------------------


@family("lu")
def lu(dtype: str) -> Routine:
    """LU factorization ``a.T = P L U``, with L below the diagonal of ``a.T``; `pivots` are the row interchanges.

    The status is the number of the first zero on the diagonal of U, or 0.
    """
    return record(
        f"lu.{dtype}", "LU factorization", "lapack.getrf", ("n",),
        (inout("a", dtype, N, N), out("pivots", "int32", N), STATUS),
        (Integer(N), Integer(N), Data("a"), Leading(N), Data("pivots"), Status("status")),
        work_of((N, N, N), 1 / 3), _factor_lu, FACTORS,
    )  # fmt: skip


def _factor_lu(values: dict[str, Any], a: np.ndarray, pivots: np.ndarray, status: np.ndarray) -> None:
    t = a.T
    status[...] = 0
    with np.errstate(all="ignore"):
        for k in range(min(t.shape)):
            at = k + int(np.argmax(abs(t[k:, k].real) + abs(t[k:, k].imag)))
            pivots[k] = at + 1
            t[[k, at]] = t[[at, k]]
            if t[k, k] == 0:
                status[...] = status or k + 1
                continue
            t[k + 1 :, k] /= t[k, k]
            t[k + 1 :, k + 1 :] -= np.outer(t[k + 1 :, k], t[k, k + 1 :])


@family("lu_of_columns")
def lu_of_columns(dtype: str) -> Routine:
    """LU factorization of an m x n matrix stored by columns, with min(m, n) pivots, as in `lu`."""
    return record(
        f"lu_of_columns.{dtype}", "LU factorization", "lapack.getrf", ("m", "n"),
        (inout("a", dtype, N, M), out("pivots", "int32", op("minimum", M, N)), STATUS),
        (Integer(M), Integer(N), Data("a"), Leading(M), Data("pivots"), Status("status")),
        work_of((M, N, N), 1 / 3), _factor_lu, FACTORS,
    )  # fmt: skip


@family("solve_lu")
def solve_lu(transposed: str, dtype: str) -> Routine:
    """Solve ``a x = b``, or ``a.T x = b`` ("transposed"), from the factors of `lu`; each solution is a row, in place of
    b."""
    transpose = transposed == "transposed"
    return record(
        f"solve_lu.{transposed}.{dtype}", "solution by LU factors", "lapack.getrs", ("n", "k"),
        (
            readonly("a", dtype, N, N), readonly("pivots", "int32", N), inout("b", dtype, K, N), STATUS,
        ),
        (
            Character("N" if transpose else "T"), Integer(N), Integer(K), Data("a"), Leading(N), Data("pivots"),
            Data("b"), Leading(N), Status("status"),
        ),
        work_of((K, N, N), 1.0), functools.partial(_solve_lu, transpose), SOLUTIONS,
    )  # fmt: skip


def _matrix_of_lu(a: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    t = a.T
    product = (np.tril(t, -1) + np.eye(len(t))) @ np.triu(t)
    for k in reversed(range(len(t))):
        at = pivots[k] - 1
        product[[k, at]] = product[[at, k]]
    matrix: np.ndarray = product.T
    return matrix


def _solve_lu(
    transpose: bool, values: dict[str, Any], a: np.ndarray, pivots: np.ndarray, b: np.ndarray, status: np.ndarray
) -> None:
    matrix = _matrix_of_lu(a, pivots)
    status[...] = 0
    try:
        b[...] = np.linalg.solve(matrix.T if transpose else matrix, b.T).T if b.size else b
    except np.linalg.LinAlgError:
        b[...] = np.nan


@family("inverse_of_lu")
def inverse_of_lu(dtype: str) -> Routine:
    """Inverse from the factors of `lu`, in place of them; the status is as that of `lu`."""
    length = BLOCK * op("maximum", N, ONE)
    return record(
        f"inverse_of_lu.{dtype}", "inverse by LU factors", "lapack.getri", ("n",),
        (
            inout("a", dtype, N, N), readonly("pivots", "int32", N), workspace("workspace", dtype, length),
            STATUS,
        ),
        (
            Integer(N), Data("a"), Leading(N), Data("pivots"), Data("workspace"), Integer(length), Status("status"),
        ),
        work_of((N, N, N), 2 / 3), _invert_lu,
    )  # fmt: skip


def _invert_lu(
    values: dict[str, Any], a: np.ndarray, pivots: np.ndarray, workspace: np.ndarray, status: np.ndarray
) -> None:
    workspace[...] = 0
    zeros = np.flatnonzero(np.diagonal(a) == 0)
    status[...] = zeros[0] + 1 if zeros.size else 0
    if a.size and not zeros.size:
        a[...] = np.linalg.inv(_matrix_of_lu(a, pivots))


# -- banded matrices ---------------------------------------------------------------------------------------------


@family("solve_banded")
def solve_banded(dtype: str) -> Routine:
    """Solve banded equations ``a x = b``; each solution is a row, in place of b.

    The matrix has l diagonals below and u above the main one.  Row j of `bands` holds column j of
    the matrix, after l elements of workspace; it is overwritten.  The status is the number of the first zero on the
    diagonal of U, or 0.
    """
    height = 2 * L + U + 1
    return record(
        f"solve_banded.{dtype}", "solution of banded equations", "lapack.gbsv", ("n", "k", "l", "u"),
        (
            inout("bands", dtype, N, height), workspace("pivots", "int32", N), inout("b", dtype, K, N), STATUS,
        ),
        (
            Integer(N), Integer(L), Integer(U), Integer(K), Data("bands"), Leading(height), Data("pivots"),
            Data("b"), Leading(N), Status("status"),
        ),
        work_of((K, N, height), 2.0), _solve_banded,
    )  # fmt: skip


def _solve_banded(
    values: dict[str, Any], bands: np.ndarray, pivots: np.ndarray, b: np.ndarray, status: np.ndarray
) -> None:
    pivots[...], status[...] = 0, 0
    n, below, above = values["n"], values["l"], values["u"]
    matrix = np.zeros((n, n), bands.dtype)
    for i in range(n):
        for j in range(max(i - below, 0), min(i + above + 1, n)):
            matrix[i, j] = bands[j, below + above + i - j]
    _solve_dense(matrix, b, status)


def _solve_dense(matrix: np.ndarray, b: np.ndarray, status: np.ndarray) -> None:
    try:
        b[...] = np.linalg.solve(matrix, b.T).T if b.size else b
    except np.linalg.LinAlgError:
        b[...], status[...] = np.nan, 1


@family("solve_definite_banded")
def solve_definite_banded(triangle: str, dtype: str) -> Routine:
    """Solve equations with Hermitian positive definite banded matrices.

    They consist of the main diagonal and the "lower" or "upper" d - 1 diagonals beside it.  The status is the order of
    the first leading minor that is not positive, or 0.
    """
    lower = triangle == "lower"
    return record(
        f"solve_definite_banded.{triangle}.{dtype}", "solution of banded equations", "lapack.pbsv", ("n", "k", "d"),
        (inout("bands", dtype, N, D), inout("b", dtype, K, N), STATUS),
        (
            Character("L" if lower else "U"), Integer(N), Integer(D - ONE), Integer(K), Data("bands"),
            Leading(D), Data("b"), Leading(N), Status("status"),
        ),
        work_of((K, N, D), 1.0), functools.partial(_solve_definite_banded, lower),
    )  # fmt: skip


def _solve_definite_banded(
    lower: bool, values: dict[str, Any], bands: np.ndarray, b: np.ndarray, status: np.ndarray
) -> None:
    status[...] = 0
    n, beside = values["n"], values["d"] - 1
    matrix = np.zeros((n, n), bands.dtype)
    for j in range(n):
        for i in range(j, min(j + beside + 1, n)):
            low = bands[j, i - j] if lower else bands[i, beside + j - i].conj()
            matrix[i, j], matrix[j, i] = low, low.conj()
        matrix[j, j] = matrix[j, j].real
    if not (np.linalg.eigvalsh(matrix) > 0).all():
        b[...], status[...] = np.nan, 1
        return
    _solve_dense(matrix, b, status)
