"""Routines of LAPACK for eigenvalues and singular values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aesara.ir.expr import Expr, const, op
from aesara.ir.routine import CArgument, Character, Data, Integer, Leading, Routine, Status
from aesara.ir.routines.lapack_records import (
    BLOCK,
    ONE,
    STATUS,
    M,
    N,
    added,
    inout,
    is_complex,
    out,
    part_of,
    record,
    times,
    work_of,
    workspace,
)

__all__ = ["eigh", "svd"]

# -- spectra -----------------------------------------------------------------------------------------------------


@functools.cache
def eigh(job: str, triangle: str, dtype: str) -> Routine:
    """Eigenvalues of a Hermitian matrix in ascending order, and "vectors" (else "values"), as rows in its place.

    Of complex matrices these rows are the conjugates of the vectors.
    """
    lower, with_vectors = triangle == "lower", job == "vectors"
    squares, blocks = N * N, times(BLOCK, N)
    whole = added(times(5, N), const(3)) if with_vectors else ONE
    lengths: list[tuple[str, str, Expr]]
    if is_complex(dtype):
        lengths = [
            ("workspace", dtype, added(times(2, N), squares if with_vectors else blocks, ONE)),
            ("more", part_of(dtype), added(times(5, N), times(2, squares), ONE) if with_vectors else added(N, ONE)),
        ]
    else:
        length = added(times(6, N), times(2, squares), ONE) if with_vectors else added(times(2, N), blocks, ONE)
        lengths = [("workspace", dtype, length)]
    lengths.append(("whole", "int32", whole))
    rooms: list[CArgument] = []
    for name, _, length in lengths:
        rooms += [Data(name), Integer(length)]
    return record(
        f"eigh.{job}.{triangle}.{dtype}", "eigenvalues of a symmetric matrix", "lapack.syevd", ("n",),
        (
            inout("a", dtype, N, N), out("values", part_of(dtype), N), *(workspace(*room) for room in lengths), STATUS,
        ),
        (
            Character("V" if with_vectors else "N"), Character("U" if lower else "L"), Integer(N), Data("a"),
            Leading(N), Data("values"), *rooms, Status("status"),
        ),
        work_of((N, N, N), 4.0 if with_vectors else 2.0), functools.partial(_spectrum, lower, with_vectors),
    )  # fmt: skip


def _spectrum(
    lower: bool, with_vectors: bool, given: dict[str, Any],
    a: np.ndarray, values: np.ndarray, *rooms: np.ndarray,
) -> None:  # fmt: skip
    for room in rooms:
        room[...] = 0
    status = rooms[-1]
    if not a.size:
        return
    try:
        values[...], vectors = np.linalg.eigh(a, UPLO="L" if lower else "U")
        a[...] = vectors.T.conj() if with_vectors else 0
    except np.linalg.LinAlgError:
        values[...], a[...], status[...] = np.nan, np.nan, 1


@functools.cache
def svd(job: str, dtype: str) -> Routine:
    """The singular values of a matrix, and "reduced" or "full" singular vectors, or only "values".

    The matrix is overwritten.  Full singular vectors begin as identity matrices: of an empty matrix they stay that.
    """
    least, most = op("minimum", M, N), op("maximum", M, N)
    squares = least * least
    left = {"reduced": (M, least), "full": (M, M), "values": (ONE, ONE)}[job]
    right = {"reduced": (least, N), "full": (N, N), "values": (ONE, ONE)}[job]
    vectors = inout if job == "full" else out
    length = added(times(4, squares), times(7, least), times(BLOCK, most), ONE)
    rooms, arguments = [workspace("workspace", dtype, length)], [Data("workspace"), Integer(length)]
    if is_complex(dtype):
        pieces = (times(5, squares), times(7, least), *([] if job == "values" else [times(2, most * least)]), ONE)
        rooms.append(workspace("more", part_of(dtype), added(*pieces)))
        arguments.append(Data("more"))
    rooms.append(workspace("whole", "int32", added(times(8, least), ONE)))
    return record(
        f"svd.{job}.{dtype}", "singular values", "lapack.gesdd", ("m", "n"),
        (
            inout("a", dtype, M, N), out("values", part_of(dtype), least), vectors("left", dtype, *left),
            vectors("right", dtype, *right), *rooms, STATUS,
        ),
        (
            # LAPACK sees the transpose, whose left vectors are our right ones.
            Character({"reduced": "S", "full": "A", "values": "N"}[job]), Integer(N), Integer(M), Data("a"),
            Leading(N), Data("values"), Data("right"), Leading(right[1]), Data("left"), Leading(left[1]),
            *arguments, Data("whole"), Status("status"),
        ),
        work_of((M, N, least), 8.0), functools.partial(_singular, job),
    )  # fmt: skip


def _singular(
    job: str, given: dict[str, Any], a: np.ndarray, values: np.ndarray, left: np.ndarray, right: np.ndarray,
    *rooms: np.ndarray,
) -> None:  # fmt: skip
    for array in (left, right, *rooms):
        array[...] = 0
    status = rooms[-1]
    try:
        if job == "values":
            values[...] = np.linalg.svd(a, compute_uv=False)
        else:
            left[...], values[...], right[...] = np.linalg.svd(a, full_matrices=job == "full")
    except np.linalg.LinAlgError:
        values[...], status[...] = np.nan, 1
    a[...] = 0
