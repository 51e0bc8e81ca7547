"""Errors of all solvers and factors: within ten units in the last place, times the condition number, of exact results.

Matrices are random, ill-conditioned (Hilbert's and Vandermonde's), and graded: their rows and columns are of very
different sizes. Exact results are those for the rounded matrices, with fifty digits.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.linalg

import aesara
import aesara.tensor as at
from aesara.tensor import linalg

ULPS = 10
N = 4


def _points(definite):
    general = np.random.default_rng(11).normal(size=(N, N))
    hilbert = scipy.linalg.hilbert(N)
    vandermonde = np.vander(np.linspace(0.3, 1.2, N))
    grades = np.diag(np.geomspace(1, 1e-3, N))
    if definite:
        made = general @ general.T + np.eye(N)
        return {"random": made, "hilbert": hilbert, "vandermonde": vandermonde @ vandermonde.T,
                "graded": grades @ made @ grades}  # fmt: skip
    return {"random": general, "hilbert": hilbert, "vandermonde": vandermonde, "graded": grades @ general}


POINTS = {True: _points(True), False: _points(False)}
RIGHT = np.random.default_rng(12).normal(size=N)
#: for functions of two matrices: positive definite, and exact in every format
SECOND = 2 * np.eye(N) + 0.5 * (np.eye(N, k=1) + np.eye(N, k=-1))


def adjoint(m):
    return m.transpose_conj()


def triangular(a, b):
    lower = mpmath.matrix(N, N)
    for i in range(N):
        for j in range(i + 1):
            lower[i, j] = a[i, j]
    return mpmath.lu_solve(lower, b)


def hermitian_values(a):
    return mpmath.matrix(sorted(mpmath.eighe(a, eigvals_only=True)))


def kron(a, b):
    made = mpmath.matrix(N * N, N * N)
    for i in range(N):
        for j in range(N):
            for k in range(N):
                for m in range(N):
                    made[i * N + k, j * N + m] = a[i, j] * b[k, m]
    return made


def sylvester(a, right):
    """Of ``A X + X A^H = Q`` for a Q of ones, by rows of X."""
    one = mpmath.eye(N)
    solved = mpmath.lu_solve(kron(a, one) + kron(one, a.conjugate()), mpmath.ones(N * N, 1))
    return mpmath.matrix(N, N) + mpmath.matrix([[solved[i * N + j] for j in range(N)] for i in range(N)])


def condition_of_sylvester(a):
    return np.linalg.cond(np.kron(a, np.eye(N)) + np.kron(np.eye(N), a.conj()))


def least_squares(a, b):
    tall = mpmath.matrix(2 * N, N)
    for i in range(2 * N):
        for j in range(N):
            tall[i, j] = a[i % N, j]
    return mpmath.lu_solve(adjoint(tall) * tall, adjoint(tall) * mpmath.matrix([*b, *b]))


cond = np.linalg.cond


def diagonals(a, made):
    """Copy the three diagonals in the middle of a matrix to another one."""
    for i in range(N):
        for j in range(max(i - 1, 0), min(i + 2, N)):
            made[i, j] = a[i, j]
    return made


def tridiagonal(a, b):
    return mpmath.lu_solve(diagonals(a, mpmath.matrix(N, N)), b)


def heavier(a):
    """Four times the diagonal: so the three in the middle of a positive definite matrix are one, too."""
    made = a.copy()
    for k in range(N):
        made[k, k] = 4 * made[k, k]
    return made


def condition_of_diagonals(a):
    return cond(diagonals(a, np.zeros_like(a)))


def generalised_values(a):
    half = mpmath.cholesky(mpmath.matrix(SECOND.tolist())) ** -1
    return hermitian_values(half * a * adjoint(half))


def condition_of_logarithm(a):
    """Of a Hermitian matrix: the largest slope of the logarithm is at the least eigenvalue."""
    values = np.linalg.eigvalsh(a)
    return values.max() / values.min() / np.abs(np.log(values)).max()


def condition_of_exponential(a):
    """Of a Hermitian matrix: the logarithm of the result has a relative error, and is as large as the matrix."""
    return max(1.0, np.linalg.norm(a, 2))


def second_sylvester(a):
    """Of ``A X + X B = Q`` with ones for Q, by rows of X."""
    one = mpmath.eye(N)
    solved = mpmath.lu_solve(kron(a, one) + kron(one, mpmath.matrix(SECOND.tolist()).T), mpmath.ones(N * N, 1))
    return mpmath.matrix([[solved[i * N + j] for j in range(N)] for i in range(N)])


def condition_of_second_sylvester(a):
    return cond(np.kron(a, np.eye(N)) + np.kron(np.eye(N), SECOND.T))


def discrete_lyapunov(a):
    """Of ``X - A X A^H = Q`` with ones for Q, by rows of X."""
    solved = mpmath.lu_solve(mpmath.eye(N * N) - kron(a, a.conjugate()), mpmath.ones(N * N, 1))
    return mpmath.matrix([[solved[i * N + j] for j in range(N)] for i in range(N)])


def condition_of_discrete_lyapunov(a):
    return cond(np.eye(N * N) - np.kron(a, a.conj()))


def condition_of_riccati(a):
    """Bound the norm of the equation's terms, relative to its Q, the identity."""
    solved = np.linalg.norm(scipy.linalg.solve_continuous_are(a, *[np.eye(N)] * 3), 2)
    return N * (2 * np.linalg.norm(a, 2) * solved + solved**2 + 1)


def of_products(a):
    """Of a matrix that factors are multiplied to again: each element is a sum of N products."""
    return float(N)


#: what is compared, what it is exactly, whether the matrix is to be positive definite, and its condition
FUNCTIONS = {
    "cholesky": (lambda a, b: linalg.cholesky(a), lambda a, b: mpmath.cholesky(a), True, cond),
    "inv": (lambda a, b: linalg.inv(a), lambda a, b: a**-1, False, cond),
    "pinv": (lambda a, b: linalg.pinv(a), lambda a, b: a**-1, False, cond),
    "solve": (linalg.solve, mpmath.lu_solve, False, cond),
    "solve sym": (lambda a, b: linalg.solve(a, b, assume_a="her"), mpmath.lu_solve, True, cond),
    "solve pos": (lambda a, b: linalg.solve(a, b, assume_a="pos"), mpmath.lu_solve, True, cond),
    "cho_solve": (lambda a, b: linalg.cho_solve((linalg.cholesky(a), True), b), mpmath.lu_solve, True, cond),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), mpmath.lu_solve, False, cond),
    "solve_triangular": (
        lambda a, b: linalg.solve_triangular(a, b, lower=True), triangular, True, lambda a: cond(np.tril(a)),
    ),
    "lstsq": (
        lambda a, b: linalg.lstsq(at.concatenate([a, a]), at.concatenate([b, b]), 0.0)[0], least_squares, False, cond,
    ),
    "det": (lambda a, b: linalg.det(a), lambda a, b: mpmath.matrix([mpmath.det(a)]), False, cond),
    "slogdet": (
        lambda a, b: at.exp(linalg.slogdet(a)[1]), lambda a, b: mpmath.matrix([abs(mpmath.det(a))]), False, cond,
    ),
    "eigvalsh": (lambda a, b: linalg.eigvalsh(a), lambda a, b: hermitian_values(a), True, lambda a: 1.0),
    "svdvals": (
        lambda a, b: linalg.svdvals(a), lambda a, b: mpmath.svd_c(a, compute_uv=False), False, lambda a: 1.0,
    ),
    "singular vectors": (
        lambda a, b: _by_svd(a), lambda a, b: a, False, of_products,
    ),
    "qr": (lambda a, b: _by_qr(a), lambda a, b: a, False, of_products),
    "R of qr": (
        lambda a, b: abs(linalg.qr(a)[1]), lambda a, b: mpmath.qr(a)[1].apply(abs), False, cond,
    ),
    "lu": (lambda a, b: _by_lu(a), lambda a, b: a, False, of_products),
    "schur": (lambda a, b: _by_schur(a), lambda a, b: a, False, of_products),
    "eigh": (lambda a, b: _by_eigh(a), lambda a, b: a, True, of_products),
    "sqrtm squared": (
        lambda a, b: at.dot(linalg.sqrtm(a), linalg.sqrtm(a)), lambda a, b: a, True, lambda a: 2 * of_products(a),
    ),
    "lyapunov": (
        lambda a, b: linalg.solve_continuous_lyapunov(a, at.ones_like(a)), sylvester, True, condition_of_sylvester,
    ),
    "discrete lyapunov": (
        lambda a, b: linalg.solve_discrete_lyapunov(a, at.ones_like(a)), lambda a, b: discrete_lyapunov(a), True,
        condition_of_discrete_lyapunov,
    ),
    "sylvester": (
        lambda a, b: linalg.solve_sylvester(a, other(a), at.ones_like(a)), lambda a, b: second_sylvester(a), True,
        condition_of_second_sylvester,
    ),
    "riccati": (lambda a, b: _by_riccati(a), lambda a, b: mpmath.eye(N), True, condition_of_riccati),
    "solve_banded": (
        lambda a, b: linalg.solve_banded((1, 1), banded(a), b), tridiagonal, False, condition_of_diagonals,
    ),
    "solveh_banded": (
        lambda a, b: linalg.solveh_banded(at.stack([4 * banded(a)[1], banded(a)[2]]), b, lower=True),
        lambda a, b: tridiagonal(heavier(a), b), True, lambda a: condition_of_diagonals(heavier(a)),
    ),
    "solve_tridiagonal": (
        lambda a, b: linalg.solve_tridiagonal(a.diagonal(-1), a.diagonal(), a.diagonal(1), b), tridiagonal, False,
        condition_of_diagonals,
    ),
    "qz": (lambda a, b: _by_qz(a), lambda a, b: a, False, of_products),
    "polar": (lambda a, b: at.dot(*linalg.polar(a)), lambda a, b: a, False, of_products),
    "generalised eigh": (
        lambda a, b: linalg.eigh(a, other(a))[0], lambda a, b: generalised_values(a), True, lambda a: cond(SECOND),
    ),
    "logm": (lambda a, b: linalg.logm(a), lambda a, b: mpmath.logm(a), True, condition_of_logarithm),
    "expm": (lambda a, b: linalg.expm(a), lambda a, b: mpmath.expm(a), True, condition_of_exponential),
}  # fmt: skip


def other(a):
    return at.constant(SECOND.astype(a.dtype))


def banded(a):
    """The three diagonals in the middle, above each other."""
    zero = at.zeros((1,), a.dtype)
    return at.stack([at.join(0, zero, a.diagonal(1)), a.diagonal(), at.join(0, a.diagonal(-1), zero)])


def turned(x):
    return at.conj(x.T)


def _by_svd(a):
    u, s, vh = linalg.svd(a)
    return at.dot(u * s, vh)


def _by_qr(a):
    q, r = linalg.qr(a)
    return at.dot(q, r)


def _by_lu(a):
    p, lower, upper = linalg.lu(a)
    return at.dot(p.astype(a.dtype), at.dot(lower, upper))


def _by_schur(a):
    form, unitary = linalg.schur(a)
    return at.dot(at.dot(unitary, form), turned(unitary))


def _by_qz(a):
    form, _, left, right = linalg.qz(a, other(a))
    return at.dot(at.dot(left, form), turned(right))


def _by_riccati(a):
    """The Q of the equation, from its solution."""
    eye = at.eye(N, dtype=a.dtype)
    x = linalg.solve_continuous_are(a, eye, eye, eye)
    return at.dot(x, x) - at.dot(turned(a), x) - at.dot(x, a)


def _by_eigh(a):
    w, v = linalg.eigh(a)
    return at.dot(v * w, turned(v))


def as_complex(a, definite):
    skew = np.triu(np.ones((N, N)), 1)
    turn = scipy.linalg.expm(0.3j * (skew + skew.T))
    return turn @ a @ turn.conj().T if definite else a @ turn


def to_mpmath(x):
    return mpmath.matrix(x.astype("complex128").tolist() if x.dtype.kind == "c" else x.astype("float64").tolist())


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_distance_to_exact_results(name, dtype):
    build, exact, definite, condition = FUNCTIONS[name]
    a, b = at.matrix("a", dtype=dtype), at.vector("b", dtype=dtype)
    f = aesara.function([a, b], build(a, b), on_unused_input="ignore")
    for point, values in POINTS[definite].items():
        wide = as_complex(values, definite) if dtype.startswith("complex") else values
        if definite:
            wide = (wide + wide.conj().T) / 2
        given, right = wide.astype(dtype), RIGHT.astype(dtype)
        with mpmath.workdps(50):
            found = exact(to_mpmath(given), to_mpmath(right))
            wanted = np.array([complex(x) for x in found]).reshape(found.rows, found.cols)
        got = np.asarray(f(given, right)).reshape(wanted.shape)
        bound = ULPS * np.finfo(dtype).eps * condition(given.astype("complex128")) * np.abs(wanted).max()
        assert np.abs(got - wanted).max() <= bound, point
