"""Routines of LAPACK for orthogonal factors and least squares."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import op
from aesara.ir.routine import Data, Integer, Leading, Routine, Status
from aesara.ir.routines.lapack_records import (
    BLOCK,
    ONE,
    STATUS,
    K,
    M,
    N,
    given,
    inout,
    out,
    record,
    times,
    work_of,
    workspace,
)

__all__ = ["orthogonal", "qr"]

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
        work_of((M, N, N), 2.0), _factor_qr,
    )  # fmt: skip


def _factor_qr(
    values: dict[str, Any], a: np.ndarray, scales: np.ndarray, workspace: np.ndarray, status: np.ndarray
) -> None:
    workspace[...], status[...] = 0, 0
    if a.size:
        a[...], scales[...] = np.linalg.qr(a.T, mode="raw")


@functools.cache
def orthogonal(dtype: str) -> Routine:
    """The first k columns of Q, as rows, from what `qr` has left of as many columns."""
    length = times(BLOCK, op("maximum", K, ONE))
    return record(
        f"orthogonal.{dtype}", "orthogonal matrix of a QR factorization", "lapack.orgqr", ("m", "k"),
        (
            inout("a", dtype, K, M), given("scales", dtype, K), workspace("workspace", dtype, length),
            STATUS,
        ),
        (
            Integer(M), Integer(K), Integer(K), Data("a"), Leading(M), Data("scales"), Data("workspace"),
            Integer(length), Status("status"),
        ),
        work_of((K, K, M), 2.0), _make_orthogonal,
    )  # fmt: skip


def _make_orthogonal(
    values: dict[str, Any], a: np.ndarray, scales: np.ndarray, workspace: np.ndarray, status: np.ndarray
) -> None:
    workspace[...], status[...] = 0, 0
    m, k = values["m"], values["k"]
    q = np.eye(m, k, dtype=a.dtype)
    for j in reversed(range(k)):
        v = np.concatenate([np.zeros(j), [1.0], a[j, j + 1 :]])
        q -= scales[j] * np.outer(v, v.conj() @ q)
    a[...] = q.T
