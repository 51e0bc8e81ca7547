"""Routines of LAPACK for orthogonal factors and least squares."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import const, op
from aesara.ir.routine import Data, Families, Integer, Leading, Routine, Status
from aesara.ir.routines.lapack_records import (
    BLOCK,
    ONE,
    SPECTRA,
    STATUS,
    K,
    M,
    N,
    added,
    given,
    inout,
    is_complex,
    out,
    part_of,
    record,
    times,
    work_of,
    workspace,
)

__all__ = ["FAMILIES", "least_squares", "orthogonal", "pivoted_qr", "qr"]

# -- orthogonal factors ------------------------------------------------------------------------------------------


@functools.cache
def qr(dtype: str) -> Routine:
    """Of a matrix given by columns, a.T here: R over the diagonal, and below it what `orthogonal` makes Q of."""
    length = times(BLOCK, op("maximum", N, ONE))
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


@functools.cache
def pivoted_qr(dtype: str) -> Routine:
    """`qr` of a matrix with its columns in an order in which the diagonal of R decreases: `order` has their numbers.

    They count from one; zeros before say that all columns may move.
    """
    length = added(times(3 + BLOCK, N), const(BLOCK + 1))
    rooms, more = [workspace("workspace", dtype, length)], []
    if is_complex(dtype):
        rooms.append(workspace("more", part_of(dtype), added(times(2, N), ONE)))
        more.append(Data("more"))
    return record(
        f"pivoted_qr.{dtype}", "QR factorization with pivots", "lapack.geqp3", ("m", "n"),
        (
            inout("a", dtype, N, M), inout("order", "int32", N), out("scales", dtype, op("minimum", M, N)), *rooms,
            STATUS,
        ),
        (
            Integer(M), Integer(N), Data("a"), Leading(M), Data("order"), Data("scales"), Data("workspace"),
            Integer(length), *more, Status("status"),
        ),
        work_of((M, N, N), 3.0), _factor_pivoted_qr, SPECTRA,
    )  # fmt: skip


def _factor_pivoted_qr(
    values: dict[str, Any], a: np.ndarray, order: np.ndarray, scales: np.ndarray, *rooms: np.ndarray
) -> None:
    for room in rooms:
        room[...] = 0
    left = a.T.copy()
    order[...] = np.arange(values["n"]) + 1
    for k in range(min(left.shape)):
        at = k + int(np.argmax(np.linalg.norm(left[:, k:], axis=0)))
        for one in (left.T, order, a):
            one[[k, at]] = one[[at, k]]
        direction = left[:, k] / (np.linalg.norm(left[:, k]) or 1)
        left -= np.outer(direction, direction.conj() @ left)
    if a.size:
        a[...], scales[...] = np.linalg.qr(a.T, mode="raw")


@functools.cache
def orthogonal(dtype: str) -> Routine:
    """The first n columns of Q, as rows, from what `qr` has left of k columns, in the first k of these rows."""
    length = times(BLOCK, op("maximum", N, ONE))
    return record(
        f"orthogonal.{dtype}", "orthogonal matrix of a QR factorization", "lapack.orgqr", ("m", "n", "k"),
        (inout("a", dtype, N, M), given("scales", dtype, K), workspace("workspace", dtype, length), STATUS),
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


@functools.cache
def least_squares(dtype: str) -> Routine:
    """The solutions with the least squares of errors of k systems ``a x = b``, of m equations for n unknowns.

    `a` is given by columns; each row of `b` has room for m or n numbers, of which the first n become a solution, and
    those behind the errors, if the rank is n.  There is one row at least.  `values` are the singular values, of which
    those up to `cutoff` times the first count as zero.
    """
    least, most = op("minimum", M, N), op("maximum", M, N)
    long = added(times(300, least), times(75, K), least * (least + K), times(BLOCK, added(M, N, K)), const(1000))
    rooms, more = [workspace("workspace", dtype, long)], []
    if is_complex(dtype):
        rooms.append(workspace("more", part_of(dtype), long))
        more.append(Data("more"))
    rooms.append(workspace("whole", "int32", added(times(100, least), const(100))))
    real = part_of(dtype)
    return record(
        f"least_squares.{dtype}", "least squares", "lapack.gelsd", ("m", "n", "k"),
        (
            inout("a", dtype, N, M), inout("b", dtype, K, most), out("values", real, least), given("cutoff", real),
            out("rank", "int32"), *rooms, STATUS,
        ),
        (
            Integer(M), Integer(N), Integer(K), Data("a"), Leading(M), Data("b"), Leading(most), Data("values"),
            Data("cutoff"), Data("rank"), Data("workspace"), Integer(long), *more, Data("whole"), Status("status"),
        ),
        work_of((M, N, least), 6.0), _solve_least_squares, SPECTRA,
    )  # fmt: skip


def _solve_least_squares(
    given: dict[str, Any], a: np.ndarray, b: np.ndarray, values: np.ndarray, cutoff: np.ndarray, rank: np.ndarray,
    *rooms: np.ndarray,
) -> None:  # fmt: skip
    for room in rooms:
        room[...] = 0
    rank[...] = 0
    if not a.size:
        b[...] = b if given["m"] and not given["n"] else 0
        return
    m, n = given["m"], given["n"]
    u, s, vh = np.linalg.svd(a.T)
    values[...] = s
    rank[...] = count = int((s > float(cutoff) * s[0]).sum())
    parts = b[:, :m] @ u.conj()
    solutions = (parts[:, :count] / s[:count]) @ vh[:count].conj()
    b[:, n:m] = parts[:, n:]
    b[:, :n] = solutions


#: by the first word of its name, what makes a routine
FAMILIES: Families = {
    "least_squares": least_squares,
    "pivoted_qr": pivoted_qr,
    "qr": qr,
    "orthogonal": orthogonal,
}
