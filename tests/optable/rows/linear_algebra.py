"""Rows of linear algebra: factors, solutions, spectra and functions of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from aesara.tensor import linalg
from tests.optable.inputs import Arg, real
from tests.optable.table import case, row


def bound(*_: Any, **__: Any) -> tuple[float, ...]:
    """Return the scale of rounding errors: the size of the numbers below, times their condition."""
    return (100.0,) * 4


def matrix(values: Any, **options: Any) -> Arg:
    """This matrix, in any dtype."""
    values = np.asarray(values)
    dtype = "complex128" if values.dtype.kind == "c" else "float64"
    return Arg(values.shape, dtype=dtype, values=values, **options)


def lapack(name: str, oracle: Any, cases: Any, function: Any = None, **facts: Any) -> None:
    """Add a row of what LAPACK computes."""
    facts = {"error": "sum", "magnitude": bound, "fuzzed": False, **facts}
    row(name, oracle, cases, function or getattr(linalg, name), **facts)


SPD = matrix([[6, 2, 1], [2, 5, -1], [1, -1, 4]])
HERMITIAN = matrix([[6, 2 - 1j, 1j], [2 + 1j, 5, -1], [-1j, -1, 4]])
GENERAL = matrix([[4, 1, -2], [0, 3, 1], [2, -1, 5]])
COMPLEX = matrix([[4 + 1j, 1, -2], [0, 3 - 2j, 1j], [2, -1 + 1j, 5]])
# Without zeros beside the diagonal, where a small change may turn the sign of a vector
SYMMETRIC = matrix([[1, 2, -1], [2, -3, 1], [-1, 1, 5]])
OTHER_HERMITIAN = matrix([[1, 2 + 1j, -1], [2 - 1j, -3, 1j], [-1, -1j, 5]])
TALL = matrix([[1, 2], [0, 3], [-1, 1], [2, 2]])
WIDE = matrix([[1, 0, -1, 2], [2, 3, 1, 2]])
COMPLEX_TALL = matrix([[1, 2j], [1j, 3], [-1, 1], [2 + 1j, 2]])
LOWER = matrix([[2, 9, 8], [1, 3, 7], [-1, 1, 2]])
VECTOR = matrix([1, -2, 3])
RIGHT = matrix([[1, 0], [-2, 2], [3, 1]])
COMPLEX_RIGHT = matrix([[1, 1j], [-2, 2], [3j, 1]])
EMPTY = real(0, 0)
ONE = matrix([[3]])


def _cholesky(x: np.ndarray, lower: bool) -> np.ndarray:
    return scipy.linalg.cholesky(x, lower=lower)


for name, lower in (("cholesky", True), ("cholesky of the upper triangle", False)):
    lapack(
        name,
        lambda x, lower=lower: _cholesky(x, lower),
        [case(SPD), case(EMPTY, smooth=False), case(ONE)],
        linalg.Cholesky(lower=lower),
        dtypes=("int32", "float32"),
        complex_cases=[case(HERMITIAN)],
    )
for assume_a, given, complexes in (
    ("gen", GENERAL, COMPLEX),
    ("sym", SYMMETRIC, HERMITIAN),
    ("her", SYMMETRIC, HERMITIAN),
    ("pos", SPD, HERMITIAN),
):
    lapack(
        "solve" if assume_a == "gen" else f"solve {assume_a}",
        lambda a, b, assume_a=assume_a: scipy.linalg.solve(a, b, assume_a=assume_a),
        [case(given, RIGHT), case(given, VECTOR), case(ONE, matrix([6]))],
        lambda a, b, assume_a=assume_a: linalg.solve(a, b, assume_a=assume_a),
        dtypes=("int32", "float32"),
        complex_cases=[case(complexes, COMPLEX_RIGHT)],
    )
lapack(
    "solve_triangular",
    lambda a, b, **options: scipy.linalg.solve_triangular(a, b, **options),
    [
        case(LOWER, RIGHT, lower=True),
        case(LOWER, VECTOR, trans="T"),
        case(LOWER, VECTOR, trans=2, unit_diagonal=True),
        case(LOWER, RIGHT, trans=1, lower=True),
    ],
    dtypes=("int32", "float32"),
    complex_cases=[case(COMPLEX, COMPLEX_RIGHT, trans=t) for t in (0, 1, 2)],
    covers=("solvetriangular",),
)
lapack(
    "cho_solve",
    lambda c, b: scipy.linalg.cho_solve((c, True), b),
    [case(LOWER, RIGHT), case(LOWER, VECTOR)],
    lambda c, b: linalg.cho_solve((c, True), b),
    dtypes=("int32", "float32"),
    complex_cases=[case(matrix(np.linalg.cholesky(HERMITIAN.values)), COMPLEX_RIGHT)],
)
SQUARE = {
    "dtypes": ("int32", "float32"),
    "complex_cases": [case(COMPLEX)],
}
row("assume", lambda x, **facts: x, [case(SPD, positive_definite=True), case(LOWER)], linalg.assume, fuzzed=False)
lapack("matrix_inverse", np.linalg.inv, [case(GENERAL), case(EMPTY, smooth=False), case(ONE)], **SQUARE)
lapack("inv", np.linalg.inv, [case(GENERAL), case(EMPTY, smooth=False)], **SQUARE)
lapack(
    "pinv",
    np.linalg.pinv,
    [case(TALL), case(WIDE), case(GENERAL), case(SYMMETRIC, hermitian=True)],
    dtypes=("int32", "float32"),
    complex_cases=[case(COMPLEX_TALL)],
)
lapack(
    "tensorinv",
    np.linalg.tensorinv,
    [case(matrix(np.eye(6).reshape(6, 2, 3) + 0.1), ind=1), case(matrix((np.eye(4) * 2 + 1).reshape(2, 2, 2, 2)))],
    dtypes=("float32",),
)
lapack(
    "tensorsolve",
    np.linalg.tensorsolve,
    [
        case(matrix((np.eye(6) + 0.1).reshape(2, 3, 6)), real(2, 3)),
        case(matrix((np.eye(6) + 0.1).reshape(6, 2, 3)), real(2, 3), axes=(0,)),
    ],
)
SINGULAR = matrix([[1, 2, 3], [2, 4, 6], [1, 0, 1]])
lapack(
    "solve or NaN",
    lambda a, b: np.linalg.solve(a, b) if np.linalg.matrix_rank(a) == 3 else np.full(b.shape, np.nan),
    [case(GENERAL, RIGHT), case(SINGULAR, RIGHT, smooth=False)],
    linalg.NanOnError(linalg.Solve()),
    covers=("NanOnError",),
    dtypes=("float32",),
    complex_cases=[case(COMPLEX, COMPLEX_RIGHT)],
)
lapack("det", np.linalg.det, [case(GENERAL), case(SINGULAR), case(ONE), case(EMPTY, smooth=False)], **SQUARE)
lapack("slogdet", lambda x: tuple(np.linalg.slogdet(x)), [case(GENERAL), case(SYMMETRIC)], **SQUARE)


def _without_signs(parts: Any) -> list[Any]:
    w, v = parts
    return [w, abs(v), (v * w) @ v.T]


lapack(
    "eigh",
    lambda a: _without_signs(np.linalg.eigh(a)),
    [case(SYMMETRIC), case(ONE)],
    lambda a: _without_signs(linalg.eigh(a)),
    dtypes=("int32", "float32"),
)
lapack(
    "eigh of Hermitian matrices",
    lambda a: (np.linalg.eigh(a)[0], np.abs(np.linalg.eigh(a)[1])),
    [case(SYMMETRIC)],
    lambda a: [linalg.eigh(a)[0], abs(linalg.eigh(a)[1])],
    complex_cases=[case(HERMITIAN)],
)
lapack(
    "generalised eigh",
    lambda a, b: (scipy.linalg.eigh(a, b)[0], np.abs(scipy.linalg.eigh(a, b)[1])),
    [case(SYMMETRIC, SPD)],
    lambda a, b: [linalg.eigh(a, b)[0], abs(linalg.eigh(a, b)[1])],
    dtypes=("float32",),
    complex_cases=[case(OTHER_HERMITIAN, HERMITIAN)],
)
lapack(
    "eigvalsh",
    lambda a, *b: scipy.linalg.eigvalsh(a, *b),
    [case(SYMMETRIC), case(SYMMETRIC, SPD)],
    dtypes=("int32", "float32"),
    complex_cases=[case(HERMITIAN)],
)
REAL_SPECTRUM = matrix([[2, 1, 0.5], [0.5, 3, 1], [0.25, 0.25, -1]])


def _eig(a: np.ndarray) -> tuple[np.ndarray, ...]:
    """NumPy gives complex numbers for real matrices too, since 2.5."""
    found = np.linalg.eig(a)
    return tuple(found) if a.dtype.kind == "c" else tuple(one.real for one in found)


lapack("eig", _eig, [case(REAL_SPECTRUM)], dtypes=("float32",), complex_cases=[case(COMPLEX)])
lapack("eigvals", lambda a: _eig(a)[0], [case(REAL_SPECTRUM)], dtypes=("float32",), complex_cases=[case(COMPLEX)])


def _svd(a: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.linalg.svd(a, full_matrices=False))


def _without_phases(parts: Any) -> list[Any]:
    u, s, vh = parts
    return [abs(u), s, abs(vh), ((u * s) @ vh)]


lapack(
    "svd",
    lambda a: _without_phases(_svd(a)),
    [case(TALL), case(WIDE), case(GENERAL)],
    lambda a: _without_phases(linalg.svd(a, full_matrices=False)),
    dtypes=("int32", "float32"),
)
lapack(
    "svd of complex matrices",
    lambda a: _without_phases(_svd(a)),
    [case(TALL)],
    lambda a: _without_phases(linalg.svd(a, full_matrices=False)),
    complex_cases=[case(COMPLEX_TALL), case(COMPLEX)],
)
lapack(
    "full svd",
    lambda a: [abs(part) for part in np.linalg.svd(a)],
    [case(TALL, smooth=False), case(GENERAL)],
    lambda a: [abs(part) for part in linalg.svd(a)],
)
lapack(
    "svdvals",
    lambda a: np.linalg.svd(a, compute_uv=False),
    [case(TALL), case(WIDE)],
    dtypes=("int32", "float32"),
    complex_cases=[case(COMPLEX_TALL)],
)
for mode in ("reduced", "r"):
    lapack(
        "qr" if mode == "reduced" else "qr without Q",
        lambda a, mode=mode: np.linalg.qr(a, mode) if mode == "r" else tuple(np.linalg.qr(a, mode)),
        [case(TALL), case(WIDE), case(GENERAL)],
        lambda a, mode=mode: linalg.qr(a, mode),
        dtypes=("int32", "float32"),
        complex_cases=[case(COMPLEX_TALL), case(COMPLEX)],
    )
lapack(
    "complete qr",
    lambda a: tuple(np.linalg.qr(a, "complete")),
    [case(TALL, smooth=False), case(WIDE)],
    lambda a: linalg.qr(a, "complete"),
)
lapack("raw qr", lambda a: tuple(np.linalg.qr(a, "raw")), [case(TALL, smooth=False)], lambda a: linalg.qr(a, "raw"))
lapack("R of qr", lambda a: np.linalg.qr(a, "r"), [case(TALL)], linalg.QRIncomplete())
lapack(
    "pivoted qr",
    lambda a: scipy.linalg.qr(a, mode="economic", pivoting=True),
    [case(TALL), case(matrix([[1, 0.5, -1, 2], [2, 3, 1, 2]]))],
    lambda a: linalg.qr(a, pivoting=True),
    dtype=lambda dtype: [dtype, dtype, "int64"],
)
lapack(
    "lu",
    lambda a, **options: scipy.linalg.lu(a, **options),
    [case(TALL), case(WIDE), case(GENERAL), case(GENERAL, permute_l=True)],
    dtypes=("float32",),
    complex_cases=[case(COMPLEX_TALL)],
)
lapack("lu_factor", lambda a: scipy.linalg.lu_factor(a), [case(GENERAL)], dtype=lambda d: [d, "int32"])
lapack(
    "lu_solve",
    lambda a, b, **options: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, **options),
    [case(GENERAL, RIGHT), case(GENERAL, VECTOR, trans=1)],
    lambda a, b, **options: linalg.lu_solve(linalg.lu_factor(a), b, **options),
    complex_cases=[case(COMPLEX, COMPLEX_RIGHT, trans=2)],
)


def _lstsq(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    solution, errors, rank, values = np.linalg.lstsq(a, b, rcond=None)
    return [solution, errors, np.asarray(rank, "int64"), values]


lapack(
    "lstsq",
    _lstsq,
    [case(TALL, real(4, 2)), case(TALL, real(4)), case(WIDE, real(2))],
    dtypes=("float32",),
    complex_cases=[case(COMPLEX_TALL, real(4))],
    needs_values="the sums of squares of errors may be none",
)
SMALL = matrix([[0.5, 0.2, -0.1], [0.0, 0.3, 0.4], [0.1, -0.2, 0.6]])
lapack(
    "expm",
    scipy.linalg.expm,
    [case(SMALL), case(GENERAL, smooth=False)],
    dtypes=("int32", "float32"),
    dtype_cases=[case(SPD)],
    magnitude=lambda *_: 1e6,  # SciPy's results are that far from exact ones
    complex_cases=[case(matrix(SMALL.values * (1 + 1j)))],
)
lapack("logm", scipy.linalg.logm, [case(SPD), case(GENERAL)])


def _sqrtm(a: np.ndarray) -> np.ndarray:
    """In the dtype of the matrix: older versions of SciPy give roots that are real as complex numbers too."""
    root = scipy.linalg.sqrtm(a)
    return (root if np.iscomplexobj(a) else root.real).astype(a.dtype)


lapack("sqrtm", _sqrtm, [case(SPD), case(GENERAL), case(matrix(4 * np.eye(3)))])
lapack(
    "matrix_power",
    np.linalg.matrix_power,
    [case(GENERAL, n=n) for n in (0, 1, 5)],
    lambda a, n: linalg.matrix_power(a, n),
    python={},
    dtypes=("int32",),
    magnitude=lambda *_, **__: 1e5,
)
lapack(
    "power of the inverse",
    lambda a: np.linalg.matrix_power(a, -2),
    [case(GENERAL)],
    lambda a: linalg.matrix_power(a, -2),
)
lapack("matrix_dot", lambda *m: np.linalg.multi_dot(m), [case(WIDE, TALL, real(2, 3))], python={})
lapack("matrix_trace", np.trace, [case(GENERAL)], linalg.trace, python={})
lapack(
    "polar",
    lambda a, **options: scipy.linalg.polar(a, **options),
    [case(TALL), case(GENERAL), case(matrix(2 * np.eye(3))), case(WIDE, side="left")],
    dtypes=("float32",),
    complex_cases=[case(COMPLEX_TALL)],
)
lapack(
    "solve_sylvester",
    scipy.linalg.solve_sylvester,
    [case(GENERAL, matrix([[1, 2], [0, 3]]), RIGHT)],
    dtypes=("float32",),
    complex_cases=[case(COMPLEX, matrix([[1, 2j], [0, 3]]), COMPLEX_RIGHT)],
)
lapack(
    "solve_continuous_lyapunov",
    scipy.linalg.solve_continuous_lyapunov,
    [case(GENERAL, SYMMETRIC)],
    dtypes=("float32",),
    complex_cases=[case(COMPLEX, HERMITIAN)],
)
lapack(
    "solve_discrete_lyapunov",
    scipy.linalg.solve_discrete_lyapunov,
    [case(SMALL, SYMMETRIC), case(SMALL, SYMMETRIC, method="bilinear")],
    complex_cases=[case(matrix(SMALL.values * (1 + 0.5j)), COMPLEX)],
)


def _symmetric(x: Any) -> Any:
    return (x + x.T) / 2


for kind in ("continuous", "discrete"):
    lapack(
        f"solve_{kind}_are",
        lambda a, b, q, r, kind=kind: getattr(scipy.linalg, f"solve_{kind}_are")(a, b, _symmetric(q), _symmetric(r)),
        [case(GENERAL, RIGHT, SPD, matrix([[2, 0.5], [0.5, 1]]))],
        lambda a, b, q, r, kind=kind: getattr(linalg, f"solve_{kind}_are")(a, b, _symmetric(q), _symmetric(r)),
        magnitude=lambda *_: 1e4,
    )
for output in ("real", "complex"):
    lapack(
        "schur" if output == "real" else "complex schur",
        lambda a, output=output: scipy.linalg.schur(a, output=output),
        [case(GENERAL)],
        lambda a, output=output: linalg.schur(a, output=output),
        gradient=False,
    )
    lapack(
        "qz" if output == "real" else "complex qz",
        lambda a, b, output=output: scipy.linalg.qz(a, b, output=output),
        [case(GENERAL, SPD)],
        lambda a, b, output=output: linalg.qz(a, b, output=output),
        gradient=False,
    )
BANDS = matrix([[0, 1, 2, -1], [6, 5, 7, 6], [1, -1, 2, 0], [2, 1, 0, 0]])
lapack(
    "solve_banded",
    lambda ab, b: scipy.linalg.solve_banded((2, 1), ab, b),
    [case(BANDS, real(4, 2)), case(BANDS, real(4))],
    lambda ab, b: linalg.solve_banded((2, 1), ab, b),
    dtypes=("float32",),
    complex_cases=[case(matrix(BANDS.values * (1 + 1j)), real(4, 2))],
)
UPPER_BANDS = matrix([[0, 1, 2, -1], [6, 5, 7, 6]], static=(2, None))
lapack(
    "solveh_banded",
    lambda ab, b: scipy.linalg.solveh_banded(ab, b),
    [case(UPPER_BANDS, real(4, 2))],
    dtypes=("float32",),
)
lapack(
    "solve_tridiagonal",
    lambda dl, d, du, b: np.linalg.solve(np.diag(dl, -1) + np.diag(d) + np.diag(du, 1), b),
    [case(real(3), matrix([6, 7, -8, 9]), real(3), real(4))],
)
lapack(
    "matrix_rank",
    lambda a, tol=None: np.linalg.matrix_rank(a, tol) if a.size else np.int64(0),  # of which NumPy 1 has none
    [case(SINGULAR), case(TALL), case(TALL, tol=3.0), case(EMPTY)],
    gradient=False,
    dtypes=("int32", "float32", "complex64"),
)
lapack(
    "cond",
    np.linalg.cond,
    [case(GENERAL), case(TALL), *[case(GENERAL, p=p) for p in (-2, 1, -1, np.inf, "fro")]],
    dtypes=("float32",),
    complex_cases=[case(COMPLEX)],
)
lapack(
    "null_space",
    lambda a: np.abs(scipy.linalg.null_space(a)),
    [case(SINGULAR)],
    lambda a: abs(linalg.null_space(a)),
    gradient=False,
    needs_values="the rank decides",
)
lapack(
    "orth",
    lambda a: np.abs(scipy.linalg.orth(a)),
    [case(SINGULAR)],
    lambda a: abs(linalg.orth(a)),
    gradient=False,
    needs_values="the rank decides",
)
for order in ("fro", "nuc", 2, -2, 1, np.inf):
    lapack(
        "matrix_norm" if order == "fro" else f"matrix_norm {order}",
        lambda x, order=order: np.linalg.norm(x, order, axis=(0, 2), keepdims=True),
        [case(real(3, 2, 4))],
        lambda x, order=order: linalg.matrix_norm(x, order, (0, 2), keepdims=True),
        dtypes=("float32", "complex64"),
        python={},
        complex_cases=[case(real(2, 2, 3, dtype="complex128"))],
    )
lapack("vector_norm", lambda x, ord: np.linalg.norm(x, ord), [case(real(4), ord=p) for p in (1, 2, 3)], python={})
NATIVE = {"error": "exact", "python": {}, "dtypes": ("int32", "float32", "complex64")}


def of_members(function: Any, *core: int) -> Any:
    """The function for each member of a batch, of as many dimensions as `core` says for each argument."""

    def of_batch(*arrays: np.ndarray, **options: Any) -> Any:
        lead = [x.shape[: x.ndim - n] for x, n in zip(arrays, core)]
        batch = np.broadcast_shapes(*lead)
        given = [np.broadcast_to(x, batch + x.shape[x.ndim - n :]) if x.ndim > n else x for x, n in zip(arrays, core)]
        if not batch:
            return function(*given, **options)
        members = [
            function(*[x[index] if x.ndim > n else x for x, n in zip(given, core)], **options)
            for index in np.ndindex(batch)
        ]
        return np.reshape(members, batch + np.shape(members[0]))

    return of_batch


lapack(
    "block_diag",
    of_members(scipy.linalg.block_diag, 2, 2, 2),
    [case(real(2, 3), real(2), real(1, 2)), case(real(2, 2)), case(real(4, 2, 3), real(2), real(4, 2, 1))],
    **NATIVE,
)
VECTORS = [case(real(3)), case(real(3), real(4)), case(real(2, 3), real(4)), case(real(2, 3), real(2, 2))]
lapack("toeplitz", of_members(scipy.linalg.toeplitz, 1, 1), VECTORS, **NATIVE)
lapack("hankel", of_members(scipy.linalg.hankel, 1, 1), VECTORS, **NATIVE)
lapack("circulant", of_members(scipy.linalg.circulant, 1), [case(real(3)), case(real(2, 2, 3))], **NATIVE)
lapack(
    "gradients in one step",
    lambda x, y: scipy.linalg.expm_frechet(x.T, y, compute_expm=False),
    [case(SMALL, GENERAL)],
    linalg.ExpmGrad(),
)
