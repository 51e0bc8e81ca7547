"""Gradients of linear algebra against differences of 60 digits, at random, ill-conditioned and degenerate points."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import Rop
from aesara.tensor import linalg

RNG = np.random.default_rng(7)
WEIGHTS = RNG.normal(size=(3, 3))
VECTOR = RNG.normal(size=3)
GENERAL = RNG.normal(size=(3, 3))
POSITIVE = GENERAL @ GENERAL.T + np.eye(3)
HILBERT = np.array([[1.0 / (i + j + 1) for j in range(3)] for i in range(3)])
SCALED = np.diag([1.0, 1e-4, 1e4]) @ POSITIVE @ np.diag([1.0, 1e-4, 1e4])
#: eigenvalues 2, 2 and 5, with no zeros in the matrix
_TURN = np.linalg.qr(GENERAL)[0]
REPEATED = (_TURN * np.array([2.0, 2.0, 5.0])) @ _TURN.T
REPEATED = (REPEATED + REPEATED.T) / 2
SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
TWICE = 2 * np.eye(3)


def weighted(m):
    return sum(float(WEIGHTS[i, j]) * m[i, j] for i in range(3) for j in range(3))


def by_lower(function):
    """The function of the symmetric matrix that has this lower triangle."""
    return lambda m: function(mpmath.matrix([[m[max(i, j), min(i, j)] for j in range(3)] for i in range(3)]))


def power(m, exponent):
    """A power of a symmetric positive definite matrix."""
    values, vectors = mpmath.eigsy(m)
    return vectors * mpmath.diag([v**exponent for v in values]) * vectors.T


def derivatives(function, point):
    """Central differences by elements of a matrix, with an error that float64 does not see."""
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        found = np.empty(point.shape)
        for at_ in np.ndindex(*point.shape):
            m = mpmath.matrix(point.tolist())
            m[at_] += step
            above = function(m)
            m[at_] -= 2 * step
            found[at_] = (above - function(m)) / (2 * step)
    return found


def trace_of_power(a, exponent):
    w, v = linalg.eigh(a)
    return at.dot(v * w**exponent, v.T).trace()


def nuclear(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return (s**3).sum() + 0 * u.sum() * vh.sum()


CASES = {
    "cholesky": (
        lambda a: (linalg.cholesky(a) * np.tril(WEIGHTS)).sum(),
        by_lower(lambda m: sum(float(WEIGHTS[i, j]) * x for (i, j), x in _lower(mpmath.cholesky(m)))),
        [POSITIVE, HILBERT, SCALED, TWICE],
    ),
    "logarithm of the determinant": (
        lambda a: linalg.slogdet(a)[1],
        lambda m: mpmath.log(abs(mpmath.det(m))),
        [GENERAL, HILBERT, SCALED, REPEATED],
    ),
    "determinant": (linalg.det, mpmath.det, [GENERAL, HILBERT, SINGULAR, np.ones((3, 3)), np.zeros((3, 3))]),
    "inverse": (lambda a: (linalg.inv(a) * WEIGHTS).sum(), lambda m: weighted(m**-1), [GENERAL, HILBERT, SCALED]),
    "solve": (
        lambda a: at.dot(linalg.solve(a, VECTOR), WEIGHTS[0]),
        lambda m: _dot(mpmath.lu_solve(m, mpmath.matrix(VECTOR.tolist()))),
        [GENERAL, HILBERT, SCALED],
    ),
    "solve pos": (
        lambda a: at.dot(linalg.solve(a, VECTOR, assume_a="pos", lower=True), WEIGHTS[0]),
        by_lower(lambda m: _dot(mpmath.lu_solve(m, mpmath.matrix(VECTOR.tolist())))),
        [POSITIVE, HILBERT, SCALED],
    ),
    "trace of a root": (
        lambda a: trace_of_power(a, 0.5),
        by_lower(lambda m: sum(mpmath.sqrt(v) for v in mpmath.eigsy(m, eigvals_only=True))),
        [POSITIVE, HILBERT, REPEATED, TWICE],
    ),
    "trace of a cube": (
        lambda a: trace_of_power(a, 3),
        by_lower(lambda m: sum((m * m * m)[i, i] for i in range(3))),
        [POSITIVE, HILBERT, REPEATED, TWICE],
    ),
    "eigenvalues": (
        lambda a: at.exp(linalg.eigvalsh(a)).sum(),
        by_lower(lambda m: sum(mpmath.exp(v) for v in mpmath.eigsy(m, eigvals_only=True))),
        [POSITIVE, HILBERT, REPEATED, TWICE],
    ),
    "cubes of singular values": (
        nuclear,
        lambda m: sum(s**3 for s in mpmath.svd_r(m, compute_uv=False)),
        [GENERAL, HILBERT, REPEATED, TWICE],
    ),
    "exponential": (
        lambda a: (linalg.expm(a) * WEIGHTS).sum(),
        lambda m: weighted(mpmath.expm(m, method="taylor")),
        [GENERAL, HILBERT, REPEATED, SINGULAR],
    ),
    "square root": (
        lambda a: (linalg.sqrtm((a + a.T) / 2) * WEIGHTS).sum(),
        lambda m: weighted(power((m + m.T) / 2, mpmath.mpf(0.5))),
        [POSITIVE, HILBERT, REPEATED, TWICE],
    ),
    "pseudoinverse": (
        lambda a: (linalg.pinv(a) * WEIGHTS).sum(),
        lambda m: weighted((m.T * m) ** -1 * m.T),
        [GENERAL, HILBERT, REPEATED],
    ),
}


def _lower(m):
    return (((i, j), m[i, j]) for i in range(3) for j in range(i + 1))


def _dot(x):
    return sum(float(w) * x[i] for i, w in enumerate(WEIGHTS[0]))


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    build, exact, points = CASES[name]
    x = at.dmatrix("x")
    gradient = aesara.function([x], aesara.grad(build(x), x))
    for point in points:
        wanted = derivatives(exact, point)
        condition = condition_of(name, point)
        # products of two elements cancel in cofactors
        size = max(np.abs(wanted).max(), np.abs(point).max() ** 2 if name == "determinant" else 0.0)
        bound = 30 * np.finfo("float64").eps * condition * size
        np.testing.assert_allclose(gradient(point), wanted, rtol=0, atol=bound, err_msg=str(point))


def condition_of(name, point):
    """That of the matrix, scaled where its diagonal is positive: what errors are in proportion to."""
    if name in ("determinant", "exponential"):
        return 1.0
    diagonal = np.diag(point)
    size = np.sqrt(diagonal) if (diagonal > 0).all() else np.ones(len(point))
    return min(np.linalg.cond(point), np.linalg.cond(point / size / size[:, None]))


DIRECTIONS = RNG.normal(size=(3, 2, 3, 3))


def along(function, point, u, w):
    """The derivative along a direction, and how it changes along another one."""
    with mpmath.workdps(80):
        step = mpmath.mpf(10) ** -20

        def at_(a, b):
            return function(
                mpmath.matrix(point.tolist())
                + mpmath.matrix(u.tolist()) * (a * step)
                + mpmath.matrix(w.tolist()) * (b * step)
            )

        first = (at_(1, 0) - at_(-1, 0)) / (2 * step)
        second = (at_(1, 1) - at_(1, -1) - at_(-1, 1) + at_(-1, -1)) / (4 * step**2)
        return float(first), float(second)


#: of which vectors are equally good for equal values
BY_VECTORS = ("trace of a root", "trace of a cube", "eigenvalues", "cubes of singular values")


@pytest.mark.parametrize("name", CASES)
def test_forward_mode_and_second_derivatives(name):
    """Those of equal eigenvalues are not known, and never a number: what they are depends on how the vectors turn."""
    build, exact, points = CASES[name]
    x, u, w = at.dmatrices("x", "u", "w")
    y = build(x)
    slope = aesara.grad(y, x)
    outputs = [Rop(y, x, u), (Rop(slope, x, u) * w).sum(), (aesara.grad((slope * u).sum(), x) * w).sum()]
    f = aesara.function([x, u, w], outputs)
    for point in points:
        eps, condition = np.finfo("float64").eps, condition_of(name, point)
        found = np.array([f(point, *pair) for pair in DIRECTIONS])
        wanted = np.array([along(exact, point, *pair) for pair in DIRECTIONS])
        size = np.maximum(np.abs(wanted).max(axis=0), np.abs(point).max() ** 2 if name == "determinant" else 0.0)
        size = np.maximum(size, 1e-20)  # of derivatives that are zero, differences are not
        assert (np.abs(found[:, 0] - wanted[:, 0]) <= 200 * eps * condition * size[0]).all(), point
        for second in (found[:, 1], found[:, 2]):
            if name in BY_VECTORS and (point is REPEATED or point is TWICE):
                assert not np.isfinite(second).any()
            else:
                assert (np.abs(second - wanted[:, 1]) <= 500 * eps * condition**2 * size[1]).all(), point
