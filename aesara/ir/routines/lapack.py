"""Routines of LAPACK and BLAS for linear algebra, through the C functions that `scipy.linalg` exports.

Their matrices are column-major: a row-major matrix is its transpose there.  What is symmetric stays what it is, and
the lower triangle becomes the upper one.  Each function here says what it makes of row-major matrices.

References: E. Anderson et al., LAPACK Users' Guide, 3rd edition, SIAM 1999, and the comments of the routines, which
state the lengths of workspaces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.ir.expr import Expr, const, op
from aesara.ir.routine import (
    CArgument,
    Character,
    ConstantPointer,
    Data,
    Integer,
    Leading,
    Parameter,
    Routine,
    Status,
    size,
)
from aesara.ir.work import Work

__all__ = [
    "LETTERS",
    "cholesky",
    "eigh",
    "inverse_of_lu",
    "lu",
    "orthogonal",
    "qr",
    "solve_banded",
    "solve_definite_banded",
    "solve_lu",
    "solve_triangular",
    "svd",
]

#: the letter of LAPACK's names by dtype
LETTERS = {"float32": "s", "float64": "d"}

#: nanoseconds of a multiply-add in a factorization, and of a call
_MULTIPLY_ADD, _CALL = 0.1, 300.0
#: columns that blocked algorithms take at once, for workspaces
_BLOCK = 64

_M, _N, _K = size("m"), size("n"), size("k")
#: numbers of diagonals: below the main one, above it, and in all
_L, _U, _D = size("l"), size("u"), size("d")
_ONE = const(1)
_STATUS = Parameter("status", "int64", (), is_read=False, is_written=True)


def _add(*terms: Expr) -> Expr:
    return functools.reduce(lambda a, b: a + b, terms)


def _times(factor: int, e: Expr) -> Expr:
    return e * factor


def _inout(name: str, dtype: str, *shape: Expr) -> Parameter:
    return Parameter(name, dtype, shape, is_written=True)


def _out(name: str, dtype: str, *shape: Expr) -> Parameter:
    return Parameter(name, dtype, shape, is_read=False, is_written=True)


def _workspace(name: str, dtype: str, length: Expr) -> Parameter:
    return Parameter(name, dtype, (length,), is_read=False, is_written=True, is_workspace=True)


def _work(order: tuple[Expr, ...], factor: float) -> Work:
    return Work({order: factor * _MULTIPLY_ADD, (): _CALL})


def _routine(
    name: str,
    title: str,
    function: str,
    sizes: tuple[str, ...],
    parameters: tuple[Parameter, ...],
    arguments: tuple[CArgument, ...],
    work: Work,
    reference: Callable[..., Any],
) -> Routine:
    """A routine whose dtype is the last part of its name; the letter of the dtype comes before the function's."""
    library, stem = function.split(".")
    dtype = name.rsplit(".", 1)[1]
    return Routine(
        name=name, title=title, symbol=f"{library}.{LETTERS[dtype]}{stem}", sizes=sizes, parameters=parameters,
        arguments=arguments, work=work, reference=reference,
    )  # fmt: skip


# -- positive definite matrices ----------------------------------------------------------------------------------


@functools.cache
def cholesky(triangle: str, dtype: str) -> Routine:
    """The Cholesky factor of a symmetric matrix, over its "lower" or "upper" triangle, which is all that is read.

    The status is the order of the first leading minor that is not positive, or 0.
    """
    lower = triangle == "lower"
    return _routine(
        f"cholesky.{triangle}.{dtype}", "Cholesky factorization", "lapack.potrf", ("n",),
        (_inout("a", dtype, _N, _N), _STATUS),
        (Character("U" if lower else "L"), Integer(_N), Data("a"), Leading(_N), Status("status")),
        _work((_N, _N, _N), 1 / 6), functools.partial(_factor_cholesky, lower),
    )  # fmt: skip


def _factor_cholesky(lower: bool, values: dict[str, Any], a: np.ndarray, status: np.ndarray) -> None:
    whole = np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
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
        a[triangle] = (factor if lower else factor.T)[triangle]


# -- triangular systems ------------------------------------------------------------------------------------------


@functools.cache
def solve_triangular(triangle: str, transposed: str, diagonal: str, dtype: str) -> Routine:
    """The solution of ``a x = b``, or ``a.T x = b`` if it is "transposed" (else "plain"), in the place of b.

    Of `a` the "lower" or "upper" triangle is read, with its diagonal, or as if that were 1: "general" or "unit".
    """
    lower, turned, unit = triangle == "lower", transposed == "transposed", diagonal == "unit"
    # Row by row, a x = b is x' a' = b' for what LAPACK sees: the factor stands on the right.
    return _routine(
        f"solve_triangular.{triangle}.{transposed}.{diagonal}.{dtype}", "triangular solve", "blas.trsm", ("m", "n"),
        (Parameter("a", dtype, (_M, _M)), _inout("b", dtype, _M, _N)),
        (
            Character("R"), Character("U" if lower else "L"), Character("T" if turned else "N"),
            Character("U" if unit else "N"), Integer(_N), Integer(_M), ConstantPointer(const(1, dtype)), Data("a"),
            Leading(_M), Data("b"), Leading(_N),
        ),
        _work((_M, _M, _N), 0.5), functools.partial(_solve_triangular, lower, turned, unit),
    )  # fmt: skip


def _solve_triangular(
    lower: bool, turned: bool, unit: bool, values: dict[str, Any], a: np.ndarray, b: np.ndarray
) -> None:
    matrix = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(matrix, 1)
    if turned:
        matrix, lower = matrix.T, not lower
    rows = range(len(b)) if lower else reversed(range(len(b)))
    with np.errstate(all="ignore"):
        for k in rows:
            done = slice(0, k) if lower else slice(k + 1, None)
            b[k] = (b[k] - matrix[k, done] @ b[done]) / matrix[k, k]


# -- general square matrices -------------------------------------------------------------------------------------


@functools.cache
def lu(dtype: str) -> Routine:
    """The factors of the transpose: ``a.T = P L U``, with L below the diagonal of ``a.T``; rows `pivots` are swapped.

    The status is the number of the first zero on the diagonal of U, or 0.
    """
    return _routine(
        f"lu.{dtype}", "LU factorization", "lapack.getrf", ("n",),
        (_inout("a", dtype, _N, _N), _out("pivots", "int32", _N), _STATUS),
        (Integer(_N), Integer(_N), Data("a"), Leading(_N), Data("pivots"), Status("status")),
        _work((_N, _N, _N), 1 / 3), _factor_lu,
    )  # fmt: skip


def _factor_lu(values: dict[str, Any], a: np.ndarray, pivots: np.ndarray, status: np.ndarray) -> None:
    t, n = a.T, values["n"]
    status[...] = 0
    with np.errstate(all="ignore"):
        for k in range(n):
            at = k + int(np.argmax(np.abs(t[k:, k])))
            pivots[k] = at + 1
            t[[k, at]] = t[[at, k]]
            if t[k, k] == 0:
                status[...] = status or k + 1
                continue
            t[k + 1 :, k] /= t[k, k]
            t[k + 1 :, k + 1 :] -= np.outer(t[k + 1 :, k], t[k, k + 1 :])


@functools.cache
def solve_lu(transposed: str, dtype: str) -> Routine:
    """The solutions of ``a x = b``, or ``a.T x = b`` if it is "transposed", from `lu`; each is a row, in place of b."""
    turned = transposed == "transposed"
    return _routine(
        f"solve_lu.{transposed}.{dtype}", "solution by LU factors", "lapack.getrs", ("n", "k"),
        (
            Parameter("a", dtype, (_N, _N)), Parameter("pivots", "int32", (_N,)), _inout("b", dtype, _K, _N), _STATUS,
        ),
        (
            Character("N" if turned else "T"), Integer(_N), Integer(_K), Data("a"), Leading(_N), Data("pivots"),
            Data("b"), Leading(_N), Status("status"),
        ),
        _work((_K, _N, _N), 1.0), functools.partial(_solve_lu, turned),
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
    turned: bool, values: dict[str, Any], a: np.ndarray, pivots: np.ndarray, b: np.ndarray, status: np.ndarray
) -> None:
    matrix = _matrix_of_lu(a, pivots)
    status[...] = 0
    try:
        b[...] = np.linalg.solve(matrix.T if turned else matrix, b.T).T if b.size else b
    except np.linalg.LinAlgError:
        b[...] = np.nan


@functools.cache
def inverse_of_lu(dtype: str) -> Routine:
    """The inverse from `lu`, in the place of the factors.  The status is as that of `lu`."""
    length = _times(_BLOCK, op("maximum", _N, _ONE))
    return _routine(
        f"inverse_of_lu.{dtype}", "inverse by LU factors", "lapack.getri", ("n",),
        (
            _inout("a", dtype, _N, _N), Parameter("pivots", "int32", (_N,)), _workspace("workspace", dtype, length),
            _STATUS,
        ),
        (
            Integer(_N), Data("a"), Leading(_N), Data("pivots"), Data("workspace"), Integer(length), Status("status"),
        ),
        _work((_N, _N, _N), 2 / 3), _invert_lu,
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


@functools.cache
def solve_banded(dtype: str) -> Routine:
    """The solutions of ``a x = b``, each a row in the place of b, for matrices with l diagonals below the main one.

    u are above it.  Row j of `bands` has what stands in column j of the matrix, after l places for the routine; it is
    overwritten.  The status is the number of the first zero on the diagonal of U, or 0.
    """
    height = _add(_times(2, _L), _U, _ONE)
    return _routine(
        f"solve_banded.{dtype}", "solution of banded equations", "lapack.gbsv", ("n", "k", "l", "u"),
        (
            _inout("bands", dtype, _N, height), _workspace("pivots", "int32", _N), _inout("b", dtype, _K, _N), _STATUS,
        ),
        (
            Integer(_N), Integer(_L), Integer(_U), Integer(_K), Data("bands"), Leading(height), Data("pivots"),
            Data("b"), Leading(_N), Status("status"),
        ),
        _work((_K, _N, height), 2.0), _solve_banded,
    )  # fmt: skip


def _solve_banded(
    values: dict[str, Any], bands: np.ndarray, pivots: np.ndarray, b: np.ndarray, status: np.ndarray
) -> None:
    pivots[...], status[...] = 0, 0
    n, below, above = values["n"], values["l"], values["u"]
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(max(i - below, 0), min(i + above + 1, n)):
            matrix[i, j] = bands[j, below + above + i - j]
    _solve_dense(matrix, b, status)


def _solve_dense(matrix: np.ndarray, b: np.ndarray, status: np.ndarray) -> None:
    try:
        b[...] = np.linalg.solve(matrix, b.T).T if b.size else b
    except np.linalg.LinAlgError:
        b[...], status[...] = np.nan, 1


@functools.cache
def solve_definite_banded(triangle: str, dtype: str) -> Routine:
    """The same for symmetric positive definite matrices with d diagonals, the main one and those at its "lower" side.

    Or at its "upper" side.  The status is the order of the first leading minor that is not positive, or 0.
    """
    lower = triangle == "lower"
    return _routine(
        f"solve_definite_banded.{triangle}.{dtype}", "solution of banded equations", "lapack.pbsv", ("n", "k", "d"),
        (_inout("bands", dtype, _N, _D), _inout("b", dtype, _K, _N), _STATUS),
        (
            Character("L" if lower else "U"), Integer(_N), Integer(_D - _ONE), Integer(_K), Data("bands"),
            Leading(_D), Data("b"), Leading(_N), Status("status"),
        ),
        _work((_K, _N, _D), 1.0), functools.partial(_solve_definite_banded, lower),
    )  # fmt: skip


def _solve_definite_banded(
    lower: bool, values: dict[str, Any], bands: np.ndarray, b: np.ndarray, status: np.ndarray
) -> None:
    status[...] = 0
    n, beside = values["n"], values["d"] - 1
    matrix = np.zeros((n, n))
    for j in range(n):
        for i in range(j, min(j + beside + 1, n)):
            matrix[i, j] = matrix[j, i] = bands[j, i - j] if lower else bands[i, beside + j - i]
    if not (np.linalg.eigvalsh(matrix) > 0).all():
        b[...], status[...] = np.nan, 1
        return
    _solve_dense(matrix, b, status)


# -- orthogonal factors ------------------------------------------------------------------------------------------


@functools.cache
def qr(dtype: str) -> Routine:
    """Of a matrix given by columns, a.T here: R over the diagonal, and below it what `orthogonal` makes Q of."""
    length = _times(_BLOCK, op("maximum", _N, _ONE))
    least = op("minimum", _M, _N)
    return _routine(
        f"qr.{dtype}", "QR factorization", "lapack.geqrf", ("m", "n"),
        (
            _inout("a", dtype, _N, _M), _out("scales", dtype, least), _workspace("workspace", dtype, length), _STATUS,
        ),
        (
            Integer(_M), Integer(_N), Data("a"), Leading(_M), Data("scales"), Data("workspace"), Integer(length),
            Status("status"),
        ),
        _work((_M, _N, _N), 2.0), _factor_qr,
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
    length = _times(_BLOCK, op("maximum", _K, _ONE))
    return _routine(
        f"orthogonal.{dtype}", "orthogonal matrix of a QR factorization", "lapack.orgqr", ("m", "k"),
        (
            _inout("a", dtype, _K, _M), Parameter("scales", dtype, (_K,)), _workspace("workspace", dtype, length),
            _STATUS,
        ),
        (
            Integer(_M), Integer(_K), Integer(_K), Data("a"), Leading(_M), Data("scales"), Data("workspace"),
            Integer(length), Status("status"),
        ),
        _work((_K, _K, _M), 2.0), _make_orthogonal,
    )  # fmt: skip


def _make_orthogonal(
    values: dict[str, Any], a: np.ndarray, scales: np.ndarray, workspace: np.ndarray, status: np.ndarray
) -> None:
    workspace[...], status[...] = 0, 0
    m, k = values["m"], values["k"]
    q = np.eye(m, k)
    for j in reversed(range(k)):
        v = np.concatenate([np.zeros(j), [1.0], a[j, j + 1 :]])
        q -= scales[j] * np.outer(v, v @ q)
    a[...] = q.T


# -- spectra -----------------------------------------------------------------------------------------------------


@functools.cache
def eigh(job: str, triangle: str, dtype: str) -> Routine:
    """Eigenvalues of a symmetric matrix in ascending order, and "vectors" (else "values"), as rows in its place."""
    lower, with_vectors = triangle == "lower", job == "vectors"
    squares = _N * _N
    length = _add(_times(6, _N), _times(2, squares), const(1)) if with_vectors else _add(_times(2, _N), const(1))
    whole = _add(_times(5, _N), const(3)) if with_vectors else const(1)
    return _routine(
        f"eigh.{job}.{triangle}.{dtype}", "eigenvalues of a symmetric matrix", "lapack.syevd", ("n",),
        (
            _inout("a", dtype, _N, _N), _out("values", dtype, _N), _workspace("workspace", dtype, length),
            _workspace("whole", "int32", whole), _STATUS,
        ),
        (
            Character("V" if with_vectors else "N"), Character("U" if lower else "L"), Integer(_N), Data("a"),
            Leading(_N), Data("values"), Data("workspace"), Integer(length), Data("whole"), Integer(whole),
            Status("status"),
        ),
        _work((_N, _N, _N), 4.0 if with_vectors else 2.0), functools.partial(_spectrum, lower, with_vectors),
    )  # fmt: skip


def _spectrum(
    lower: bool, with_vectors: bool, given: dict[str, Any],
    a: np.ndarray, values: np.ndarray, workspace: np.ndarray, whole: np.ndarray, status: np.ndarray,
) -> None:  # fmt: skip
    workspace[...], whole[...], status[...] = 0, 0, 0
    if not a.size:
        return
    try:
        values[...], vectors = np.linalg.eigh(a, UPLO="L" if lower else "U")
        a[...] = vectors.T if with_vectors else 0
    except np.linalg.LinAlgError:
        values[...], a[...], status[...] = np.nan, np.nan, 1


@functools.cache
def svd(job: str, dtype: str) -> Routine:
    """The singular values of a matrix, and "reduced" or "full" singular vectors, or only "values".

    The matrix is overwritten.  Full singular vectors begin as identity matrices: of an empty matrix they stay that.
    """
    least, most = op("minimum", _M, _N), op("maximum", _M, _N)
    squares = least * least
    length = _add(_times(4, squares), _times(7, least), _times(_BLOCK, most), const(1))
    left = {"reduced": (_M, least), "full": (_M, _M), "values": (_ONE, _ONE)}[job]
    right = {"reduced": (least, _N), "full": (_N, _N), "values": (_ONE, _ONE)}[job]
    vectors = _inout if job == "full" else _out
    return _routine(
        f"svd.{job}.{dtype}", "singular values", "lapack.gesdd", ("m", "n"),
        (
            _inout("a", dtype, _M, _N), _out("values", dtype, least), vectors("left", dtype, *left),
            vectors("right", dtype, *right), _workspace("workspace", dtype, length),
            _workspace("whole", "int32", _add(_times(8, least), const(1))), _STATUS,
        ),
        (
            # LAPACK sees the transpose, whose left vectors are our right ones.
            Character({"reduced": "S", "full": "A", "values": "N"}[job]), Integer(_N), Integer(_M), Data("a"),
            Leading(_N), Data("values"), Data("right"), Leading(right[1]), Data("left"), Leading(left[1]),
            Data("workspace"), Integer(length), Data("whole"), Status("status"),
        ),
        _work((_M, _N, least), 8.0), functools.partial(_singular, job),
    )  # fmt: skip


def _singular(
    job: str, given: dict[str, Any], a: np.ndarray, values: np.ndarray, left: np.ndarray, right: np.ndarray,
    workspace: np.ndarray, whole: np.ndarray, status: np.ndarray,
) -> None:  # fmt: skip
    workspace[...], whole[...], status[...], left[...], right[...] = 0, 0, 0, 0, 0
    try:
        if job == "values":
            values[...] = np.linalg.svd(a, compute_uv=False)
        else:
            left[...], values[...], right[...] = np.linalg.svd(a, full_matrices=job == "full")
    except np.linalg.LinAlgError:
        values[...], status[...] = np.nan, 1
    a[...] = 0
