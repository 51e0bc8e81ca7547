"""Routines of LAPACK for generalized Schur forms, and for equations with matrices in Schur form.

Matrices are stored by columns, as those of `spectra.schur`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.ir.expr import const, op
from aesara.ir.routine import CArgument, Character, Data, Integer, Leading, Null, Parameter, Routine, Status, family
from aesara.ir.routines.lapack_records import (
    ONE,
    STATUS,
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

__all__ = ["qz", "qz_reordered", "scales", "sylvester"]

# -- equations ---------------------------------------------------------------------------------------------------


@family("sylvester")
def sylvester(dtype: str) -> Routine:
    """Solution of ``A X + X B^H = scale C`` for A and B in Schur form, in place of C.

    The scale is less than 1 only if the solution would overflow. The status is 1 if eigenvalues of A and -B^H were
    perturbed because they are close.
    """
    return record(
        f"sylvester.{dtype}", "Sylvester equation", "lapack.trsyl", ("m", "n"),
        (
            readonly("a", dtype, M, M), readonly("b", dtype, N, N), inout("c", dtype, N, M),
            out("scale", part_of(dtype), ONE), STATUS,
        ),
        (
            Character("N"), Character("C"), Integer(ONE), Integer(M), Integer(N), Data("a"), Leading(M), Data("b"),
            Leading(N), Data("c"), Leading(M), Data("scale"), Status("status"),
        ),
        work_of((M, N, op("maximum", M, N)), 1.0), _solve_sylvester,
    )  # fmt: skip


def _solve_sylvester(
    sizes: dict[str, Any], a: np.ndarray, b: np.ndarray, c: np.ndarray, scale: np.ndarray, status: np.ndarray
) -> None:
    scale[...], status[...] = 1, 0
    if not c.size:
        return
    m, n = len(a), len(b)
    # The system for vec(X): a row of c is a column of the right-hand side.
    system = np.kron(np.eye(n), a.T) + np.kron(b.conj().T, np.eye(m))
    try:
        c[...] = np.linalg.solve(system, c.ravel()).reshape(n, m)
    except np.linalg.LinAlgError:
        c[...], status[...] = np.nan, 1


# -- Schur forms of two matrices ---------------------------------------------------------------------------------


def _eigenvalues(dtype: str) -> list[Parameter]:
    """Return the parameters of numerators (with imaginary parts for real matrices) and denominators."""
    imaginary = [] if is_complex(dtype) else [out("imaginary", dtype, N)]
    return [out("above", dtype, N), *imaginary, out("below", dtype, N)]


@family("qz")
def qz(dtype: str) -> Routine:
    """Generalized Schur decomposition of two matrices, in place, with the left and right unitary matrices.

    Eigenvalues are quotients of `above`, with `imaginary` parts for real matrices, and `below`.
    """
    values = _eigenvalues(dtype)
    length = 2 * N + 1 if is_complex(dtype) else 8 * N + 16
    workspaces, arguments = [workspace("workspace", dtype, length)], [Data("workspace"), Integer(length)]
    if is_complex(dtype):
        workspaces.append(workspace("more", part_of(dtype), 8 * N + 1))
        arguments.append(Data("more"))
    return record(
        f"qz.{dtype}", "Schur decomposition of two matrices", "lapack.gges", ("n",),
        (
            inout("a", dtype, N, N), inout("b", dtype, N, N), *values, out("left", dtype, N, N),
            out("right", dtype, N, N), workspace("sorted", "int32", ONE), *workspaces, STATUS,
        ),
        (
            Character("V"), Character("V"), Character("N"), Null(), Integer(N), Data("a"), Leading(N), Data("b"),
            Leading(N), Data("sorted"), *(Data(v.name) for v in values), Data("left"), Leading(N), Data("right"),
            Leading(N), *arguments, Null(), Status("status"),
        ),
        work_of((N, N, N), 60.0), _schur_forms,
    )  # fmt: skip


def _schur_forms(sizes: dict[str, Any], a: np.ndarray, b: np.ndarray, *others: np.ndarray) -> None:
    for array in others:
        array[...] = 0
    if not a.size:
        return
    import scipy.linalg  # slow to import

    (gges,) = scipy.linalg.get_lapack_funcs(("gges",), (a, b))
    first, second, _, *values, left, right, _, status = gges(lambda *_: None, a.T, b.T, sort_t=0)
    a[...], b[...] = first.T, second.T
    for array, value in zip(others, values, strict=False):
        array[...] = value
    others[len(values)][...], others[len(values) + 1][...], others[-1][...] = left.T, right.T, status


@family("qz_reordered")
def qz_reordered(dtype: str) -> Routine:
    """Reorder the Schur forms of `qz` so that the eigenvalues for which `chosen` is not zero come first.

    All four matrices are overwritten. The status is 1 if eigenvalues are too close to be swapped.
    """
    values = _eigenvalues(dtype)
    length = ONE if is_complex(dtype) else 4 * N + 16
    empty: list[CArgument] = [Data("workspace"), Integer(length), Data("whole"), Integer(ONE)]
    return record(
        f"qz_reordered.{dtype}", "order of eigenvalues in Schur forms", "lapack.tgsen", ("n",),
        (
            readonly("chosen", "int32", N), inout("a", dtype, N, N), inout("b", dtype, N, N),
            inout("left", dtype, N, N), inout("right", dtype, N, N), *values, workspace("count", "int32", ONE),
            workspace("distances", part_of(dtype), const(4)), workspace("workspace", dtype, length),
            workspace("whole", "int32", ONE), STATUS,
        ),
        (
            Integer(const(0)), Integer(ONE), Integer(ONE), Data("chosen"), Integer(N), Data("a"), Leading(N), Data("b"),
            Leading(N), *(Data(v.name) for v in values), Data("left"), Leading(N), Data("right"), Leading(N),
            Data("count"), Data("distances"), Data("distances"), Data("distances"), *empty, Status("status"),
        ),
        work_of((N, N, N), 20.0), _reorder,
    )  # fmt: skip


def _reorder(
    sizes: dict[str, Any], chosen: np.ndarray, a: np.ndarray, b: np.ndarray, left: np.ndarray, right: np.ndarray,
    *others: np.ndarray,
) -> None:  # fmt: skip
    for array in others:
        array[...] = 0
    if not a.size:
        return
    import scipy.linalg

    (tgsen,) = scipy.linalg.get_lapack_funcs(("tgsen",), (a, b))
    first, second, *values, new_left, new_right, _, _, _, _, status = tgsen(chosen, a.T, b.T, left.T, right.T, ijob=0)
    a[...], b[...], left[...], right[...] = first.T, second.T, new_left.T, new_right.T
    for array, value in zip(others, values, strict=False):
        array[...] = value
    others[-1][...] = status


@family("scales")
def scales(dtype: str) -> Routine:
    """Powers of 2 that balance a matrix: divisors of its rows and factors of its columns.

    The matrix is overwritten.
    """
    return record(
        f"scales.{dtype}", "balance of a matrix", "lapack.gebal", ("n",),
        (
            inout("a", dtype, N, N), out("scales", part_of(dtype), N), workspace("first", "int32", ONE),
            workspace("last", "int32", ONE), STATUS,
        ),
        (
            Character("S"), Integer(N), Data("a"), Leading(N), Data("first"), Data("last"), Data("scales"),
            Status("status"),
        ),
        work_of((N, N), 20.0), _balance,
    )  # fmt: skip


def _balance(
    sizes: dict[str, Any], a: np.ndarray, scales: np.ndarray, first: np.ndarray, last: np.ndarray, status: np.ndarray
) -> None:
    first[...], last[...], status[...] = 0, 0, 0
    if not a.size:
        return
    import scipy.linalg

    (gebal,) = scipy.linalg.get_lapack_funcs(("gebal",), (a,))
    balanced, _, _, scales[...], _ = gebal(a.T, scale=1, permute=0)
    a[...] = balanced.T
