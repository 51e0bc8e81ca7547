"""Routines of LAPACK for orthogonal factors and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.ir.expr import op
from aesara.ir.routine import Data, Integer, Leading, Routine, Status, family
from aesara.ir.routines.lapack_records import (
    BLOCK,
    ONE,
    SPECTRA,
    STATUS,
    K,
    M,
    N,
    inout,
    is_complex,
    out,
    part_of,
    readonly,
    record,
    work_of,
    workspace,
)

__all__ = ["least_squares", "orthogonal", "pivoted_qr", "qr"]

# -- orthogonal factors ------------------------------------------------------------------------------------------


@family("qr")
def qr(dtype: str) -> Routine:
    """QR factorization of a matrix stored by columns: R above the diagonal, Householder vectors below it."""
    length = BLOCK * op("maximum", N, ONE)
    least = op("minimum", M, N)
    return record(
        f"qr.{dtype}", "QR factorization", "lapack.geqrf", ("m", "n"),
        (
            inout("a", dtype, N, M), out("scales", dtype, least), workspace("workspace", dtype, length), STATUS,
        ),
        (
            Integer(M), Integer(N), Data("a"), Leading(M), Data("scales"), Data("workspace"), Integer(length),
            Status("status"),
        ),
        work_of((M, N, N), 2.0), _factor_qr, SPECTRA,
    )  # fmt: skip


def _factor_qr(
    values: dict[str, Any], a: np.ndarray, scales: np.ndarray, workspace: np.ndarray, status: np.ndarray
) -> None:
    workspace[...], status[...] = 0, 0
    if a.size:
        a[...], scales[...] = np.linalg.qr(a.T, mode="raw")


@family("pivoted_qr")
def pivoted_qr(dtype: str) -> Routine:
    """QR factorization with column pivoting; the diagonal of R decreases.

    `order` has the column numbers, from one; initial zeros let all columns move.
    """
    length = (3 + BLOCK) * N + BLOCK + 1
    workspaces, more = [workspace("workspace", dtype, length)], []
    if is_complex(dtype):
        workspaces.append(workspace("more", part_of(dtype), 2 * N + 1))
        more.append(Data("more"))
    return record(
        f"pivoted_qr.{dtype}", "QR factorization with pivots", "lapack.geqp3", ("m", "n"),
        (
            inout("a", dtype, N, M), inout("order", "int32", N), out("scales", dtype, op("minimum", M, N)), *workspaces,
            STATUS,
        ),
        (
            Integer(M), Integer(N), Data("a"), Leading(M), Data("order"), Data("scales"), Data("workspace"),
            Integer(length), *more, Status("status"),
        ),
        work_of((M, N, N), 3.0), _factor_pivoted_qr, SPECTRA,
    )  # fmt: skip


def _factor_pivoted_qr(
    values: dict[str, Any], a: np.ndarray, order: np.ndarray, scales: np.ndarray, *workspaces: np.ndarray
) -> None:
    for array in workspaces:
        array[...] = 0
    remainder = a.T.copy()
    order[...] = np.arange(values["n"]) + 1
    for k in range(min(remainder.shape)):
        at = k + int(np.argmax(np.linalg.norm(remainder[:, k:], axis=0)))
        for array in (remainder.T, order, a):
            array[[k, at]] = array[[at, k]]
        direction = remainder[:, k] / (np.linalg.norm(remainder[:, k]) or 1)
        remainder -= np.outer(direction, direction.conj() @ remainder)
    if a.size:
        a[...], scales[...] = np.linalg.qr(a.T, mode="raw")


@family("orthogonal")
def orthogonal(dtype: str) -> Routine:
    """Return the first n columns of Q, as rows, from the k Householder vectors of `qr` in the first k rows."""
    length = BLOCK * op("maximum", N, ONE)
    return record(
        f"orthogonal.{dtype}", "orthogonal matrix of a QR factorization", "lapack.orgqr", ("m", "n", "k"),
        (inout("a", dtype, N, M), readonly("scales", dtype, K), workspace("workspace", dtype, length), STATUS),
        (
            Integer(M), Integer(N), Integer(K), Data("a"), Leading(M), Data("scales"), Data("workspace"),
            Integer(length), Status("status"),
        ),
        work_of((M, N, K), 2.0), _make_orthogonal, SPECTRA,
    )  # fmt: skip


def _make_orthogonal(
    values: dict[str, Any], a: np.ndarray, scales: np.ndarray, workspace: np.ndarray, status: np.ndarray
) -> None:
    workspace[...], status[...] = 0, 0
    m, n, k = values["m"], values["n"], values["k"]
    q = np.eye(m, n, dtype=a.dtype)
    for j in reversed(range(k)):
        v = np.concatenate([np.zeros(j), [1.0], a[j, j + 1 :]])
        q -= scales[j] * np.outer(v, v.conj() @ q)
    a[...] = q.T


@family("least_squares")
def least_squares(dtype: str) -> Routine:
    """Least-squares solutions of k systems ``a x = b`` of m equations for n unknowns.

    `a` is stored by columns. Each row of `b` has length max(m, n); its first n elements become the solution, the next
    ones the residuals if the rank is n. There is at least one row. `values` are the singular values; those up to
    `cutoff` times the largest count as zero.
    """
    least, most = op("minimum", M, N), op("maximum", M, N)
    length = 300 * least + 75 * K + least * (least + K) + BLOCK * (M + N + K) + 1000
    workspaces, more = [workspace("workspace", dtype, length)], []
    if is_complex(dtype):
        workspaces.append(workspace("more", part_of(dtype), length))
        more.append(Data("more"))
    workspaces.append(workspace("whole", "int32", 100 * least + 100))
    real = part_of(dtype)
    return record(
        f"least_squares.{dtype}", "least squares", "lapack.gelsd", ("m", "n", "k"),
        (
            inout("a", dtype, N, M), inout("b", dtype, K, most), out("values", real, least), readonly("cutoff", real),
            out("rank", "int32"), *workspaces, STATUS,
        ),
        (
            Integer(M), Integer(N), Integer(K), Data("a"), Leading(M), Data("b"), Leading(most), Data("values"),
            Data("cutoff"), Data("rank"), Data("workspace"), Integer(length), *more, Data("whole"), Status("status"),
        ),
        work_of((M, N, least), 6.0), _solve_least_squares, SPECTRA,
    )  # fmt: skip


def _solve_least_squares(
    readonly: dict[str, Any], a: np.ndarray, b: np.ndarray, values: np.ndarray, cutoff: np.ndarray, rank: np.ndarray,
    *workspaces: np.ndarray,
) -> None:  # fmt: skip
    for array in workspaces:
        array[...] = 0
    rank[...] = 0
    if not a.size:
        b[...] = b if readonly["m"] and not readonly["n"] else 0
        return
    m, n = readonly["m"], readonly["n"]
    u, s, vh = np.linalg.svd(a.T)
    values[...] = s
    rank[...] = count = int((s > float(cutoff) * s[0]).sum())
    parts = b[:, :m] @ u.conj()
    solutions = (parts[:, :count] / s[:count]) @ vh[:count].conj()
    b[:, n:m] = parts[:, n:]
    b[:, :n] = solutions
