"""Errors of results: within ten units in the last place, times the condition number, of SciPy's, and of exact ones."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.linalg

import aesara
import aesara.tensor as at
from aesara.tensor import linalg

ULPS = 10


def matrices(n, count, condition, symmetric):
    """Matrices with singular values between 1 and one over the condition number."""
    rng = np.random.default_rng(n)
    turns = np.linalg.qr(rng.normal(size=(2, count, n, n)))[0]
    values = np.geomspace(1, 1 / condition, n) if n > 1 else np.ones(1)
    left, right = turns[0], turns[0] if symmetric else turns[1]
    found = (left * values) @ right.swapaxes(1, 2)
    return (found + found.swapaxes(1, 2)) / 2 if symmetric else found


def solve_lower(a, b):
    return scipy.linalg.solve_triangular(a, b, lower=True)


#: what is compared, what SciPy has for a member, and whether the matrix is to be positive definite
FUNCTIONS = {
    "cholesky": (lambda a, b: linalg.cholesky(a), lambda a, b: scipy.linalg.cholesky(a, lower=True), True),
    "inverse": (lambda a, b: linalg.inv(a), lambda a, b: scipy.linalg.inv(a), False),
    "solve": (lambda a, b: linalg.solve(a, b), scipy.linalg.solve, False),
    "solve pos": (
        lambda a, b: linalg.solve(a, b, assume_a="pos"), lambda a, b: scipy.linalg.solve(a, b, assume_a="pos"), True
    ),
    "solve triangular": (lambda a, b: linalg.solve_triangular(a, b, lower=True), solve_lower, True),
}  # fmt: skip


def condition_of(name, a):
    return np.linalg.cond(np.tril(a) if name == "solve triangular" else a)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distance_to_scipy(name, dtype):
    """Loops for small matrices and routines of LAPACK: errors of float32 are those to exact results."""
    build, oracle, symmetric = FUNCTIONS[name]
    a, b = at.tensor(dtype, (None, None, None)), at.tensor(dtype, (None, None, None))
    f = aesara.function([a, b], build(a, b), on_unused_input="ignore")
    for n in (1, 2, 4, 7, 8, 9, 20):
        for condition in (1.0, 1e3):
            given = matrices(n, 5, condition, symmetric).astype(dtype)
            right = np.random.default_rng(0).normal(size=(5, n, 2)).astype(dtype)
            for k, found in enumerate(f(given, right)):
                wanted = oracle(given[k].astype("float64"), right[k].astype("float64"))
                bound = ULPS * np.finfo(dtype).eps * condition_of(name, given[k].astype("float64"))
                assert np.abs(found - wanted).max() <= bound * np.abs(wanted).max()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [65, 200, 600])
def test_large_orders(name, n):
    """Errors grow with the order: they are at most twice those of SciPy in the same precision."""
    build, oracle, symmetric = FUNCTIONS[name]
    a, b = at.fmatrix(), at.fmatrix()
    f = aesara.function([a, b], build(a, b), on_unused_input="ignore")
    for condition in (1.0, 1e3):
        (given,) = matrices(n, 1, condition, symmetric).astype("float32")
        right = np.random.default_rng(0).normal(size=(n, 2)).astype("float32")
        exact = oracle(given.astype("float64"), right.astype("float64"))
        theirs = np.abs(oracle(given, right) - exact).max()
        bound = ULPS * np.finfo("float32").eps * condition_of(name, given.astype("float64")) * np.abs(exact).max()
        assert np.abs(f(given, right) - exact).max() <= 2 * theirs + bound


@pytest.mark.parametrize("n", [3, 12])
def test_distance_to_exact_results(n):
    a = at.dtensor3("a")
    f = aesara.function([a], [linalg.inv(a), linalg.slogdet(a)[1], linalg.det(a)])
    given = matrices(n, 4, 1e6, False)
    inverses, logarithms, determinants = f(given)
    for k in range(4):
        with mpmath.workdps(50):
            m = mpmath.matrix(given[k].tolist())
            inverse = np.array((m**-1).tolist(), dtype="float64")
            determinant = mpmath.det(m)
            logarithm = float(mpmath.log(abs(determinant)))
        bound = ULPS * np.finfo("float64").eps * np.linalg.cond(given[k])
        assert np.abs(inverses[k] - inverse).max() <= bound * np.abs(inverse).max()
        assert abs(logarithms[k] - logarithm) <= bound
        assert abs(determinants[k] - float(determinant)) <= bound * abs(float(determinant))
