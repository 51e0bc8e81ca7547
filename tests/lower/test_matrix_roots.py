"""Square roots and logarithms of matrices, natively: against `perform`, and against exact results."""

from __future__ import annotations

import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.linalg

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.matrix_functions import LogMatrix, SqrtMatrix

sys.path.insert(0, str(Path(__file__).parent))
from agreement import REFERENCE, assert_both_raise, assert_native

#: relative to the largest value; matrices here have small condition numbers
ULPS = 500


def any_matrix(*shape, dtype="float64"):
    rng = np.random.default_rng(sum(shape))
    a = rng.normal(size=shape) + 4 * np.eye(shape[-1])
    return (a + 1j * rng.normal(size=shape) if dtype.startswith("complex") else a).astype(dtype)


@pytest.mark.parametrize("op", [SqrtMatrix(), LogMatrix()], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_one_matrix_and_batches(op, dtype):
    for shape in ((4, 4), (1, 1), (0, 0), (2, 3, 3), (0, 2, 2)):
        assert_native(op, any_matrix(*shape, dtype=dtype), ulps=ULPS, static=[False])


@pytest.mark.filterwarnings("ignore")  # of `perform`, which calls SciPy
@pytest.mark.parametrize("op", [SqrtMatrix(), LogMatrix()], ids=str)
def test_members_of_a_batch_that_take_different_numbers_of_roots(op):
    stack = np.stack([np.eye(3), np.diag([1e-200, 1.0, 1e200]), np.triu(np.full((3, 3), 50.0)), any_matrix(3, 3)])
    assert_native(op, stack, ulps=ULPS, static=[False])


def test_eigenvalues_in_pairs():
    """A turn has a real root and a real logarithm, though its eigenvalues are complex."""
    turn = np.array([[np.cos(2.0), -np.sin(2.0)], [np.sin(2.0), np.cos(2.0)]])
    x = at.dmatrix("x")
    f = aesara.function([x], [linalg.sqrtm(x), linalg.logm(x)])
    assert f._native.report.python_nodes == {}
    root, logarithm = f(turn)
    wanted = [[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]]
    np.testing.assert_allclose(root, wanted, rtol=0, atol=1e-15)
    np.testing.assert_allclose(logarithm, [[0, -2], [2, 0]], rtol=0, atol=4e-15)


@pytest.mark.parametrize(
    ("op", "value", "kind"),
    [
        (SqrtMatrix(), np.diag([1.0, -1.0]), np.linalg.LinAlgError),
        (LogMatrix(), np.diag([1.0, -1.0]), np.linalg.LinAlgError),
        (SqrtMatrix(), np.array([[0.0, 1.0], [0.0, 0.0]]), np.linalg.LinAlgError),
        (SqrtMatrix(), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.linalg.LinAlgError),
        (SqrtMatrix(), np.diag([1.0, -1e-14]), np.linalg.LinAlgError),
        (LogMatrix(), np.diag([1.0, 0.0]), np.linalg.LinAlgError),
        (SqrtMatrix(), np.array([[1.0, np.nan], [0.0, 1.0]]), ValueError),
        (LogMatrix(), np.array([[1.0, np.inf], [0.0, 1.0]]), ValueError),
        (SqrtMatrix(), np.ones((2, 3)), np.linalg.LinAlgError),
    ],
)
def test_matrices_without_root_or_logarithm(op, value, kind):
    assert_both_raise(op, value, kind=kind)


def test_roots_of_singular_matrices_that_have_one():
    assert_native(SqrtMatrix(), np.zeros((3, 3)), static=[False])
    assert_native(SqrtMatrix(), np.diag([0.0, 4.0, 0.0]), static=[False])


def singular_matrices():
    """Of each rank, with as many eigenvectors of zero as its multiplicity: some symmetric, some of whole numbers."""
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 8):
        yield np.ones((n, n))
    for n, rank in [(n, rank) for n in (2, 3, 5, 8, 12) for rank in range(1, n)] * 4:
        columns = rng.normal(size=(n, rank))
        yield columns @ columns.T
        yield np.round(3 * columns) @ np.round(3 * columns).T
        turn = np.linalg.qr(rng.normal(size=(n, n)))[0] @ (np.eye(n) + 0.1 * np.triu(np.ones((n, n)), 1))
        values = np.append(rng.uniform(0.5, 3, rank), np.zeros(n - rank))
        yield (turn * values) @ np.linalg.inv(turn)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("mode", ["FAST_RUN", REFERENCE], ids=["native", "reference"])
def test_roots_of_singular_matrices(dtype, mode):
    """Zeros are rounding errors, of either sign: their roots exist, are real, and are not large."""
    x = at.matrix("x", dtype=dtype)
    f = aesara.function([x], linalg.sqrtm(x), mode=mode)
    for a in singular_matrices():
        given = a.astype(dtype)
        root = f(given)
        unit = len(a) * np.finfo(dtype).eps * np.linalg.norm(given)
        assert np.linalg.norm(root @ root - given) <= 30 * unit
        assert np.linalg.norm(root) <= 3 * len(a) * np.sqrt(np.linalg.norm(given))
        if (a == a.T).all():
            values, vectors = np.linalg.eigh(a)
            wanted = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
            assert np.abs(root - wanted).max() <= 3 * np.sqrt(unit)


def test_a_root_of_rounding_errors_is_small():
    """A rounding error between two zeros of different size is not divided by their roots."""
    a = np.array([[1e-40, 1e-17, 0.0], [0.0, 1e-60, 0.0], [0.0, 0.0, 1.0]])
    expected = assert_native(SqrtMatrix(), a, ulps=ULPS, static=[False])
    np.testing.assert_allclose(expected[0], np.diag([1e-20, 1e-30, 1.0]), rtol=1e-15)
    a[0, 1] = 1e-13  # no rounding error
    (expected,) = assert_native(SqrtMatrix(), a, ulps=ULPS, static=[False])
    np.testing.assert_allclose(expected[0, 1], 1e-13 / 1e-20, rtol=1e-9)


def test_negative_eigenvalues_of_complex_matrices():
    x = at.zmatrix("x")
    f = aesara.function([x], [linalg.sqrtm(x), linalg.logm(x)])
    given = np.array([[-4.0, 1.0], [0.0, 2.0]], "complex128")
    root, logarithm = f(given)
    np.testing.assert_allclose(root @ root, given, rtol=0, atol=2e-14)
    np.testing.assert_allclose(scipy.linalg.expm(logarithm), given, rtol=0, atol=2e-14)


def exact(function, a):
    """The value of a function at a matrix with eigenvalues that are known to be apart, with fifty digits."""
    with mpmath.workdps(60):
        values, vectors = mpmath.eig(mpmath.matrix(a.tolist()))
        whole = vectors * mpmath.diag([function(v) for v in values]) * vectors**-1
        return np.array([[complex(whole[i, j]) for j in range(len(a))] for i in range(len(a))])


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_errors_are_those_of_the_problem(name):
    """They are no larger than SciPy's, within ten units: near the identity and far from it, normal or not."""
    x = at.zmatrix("x")
    f = aesara.function([x], getattr(linalg, name)(x))
    function = mpmath.sqrt if name == "sqrtm" else mpmath.log
    rng = np.random.default_rng(3)
    for n in (2, 6):
        beside = np.triu(rng.normal(size=(n, n)), 1)
        turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
        for values, size in (
            (np.geomspace(1e-6, 1e6, n), 1.0),
            (1 + 1e-5 * np.arange(n), 1e-5),
            (np.arange(1, n + 1), 30.0),
            (np.exp(2j * np.arange(n) / n), 0.5),
        ):
            a = turn @ (np.diag(values) + size * beside) @ turn.T
            given = a.astype("complex128")
            found, wanted = f(given), exact(function, a)
            theirs = np.linalg.norm(getattr(scipy.linalg, name)(given) - wanted)
            units = np.linalg.norm(wanted) * np.finfo("float64").eps
            assert np.linalg.norm(found - wanted) <= 1.5 * theirs + 10 * units
