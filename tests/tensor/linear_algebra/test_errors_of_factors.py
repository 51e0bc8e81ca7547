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
}  # fmt: skip


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
