"""Equations for matrices, Schur forms of two, and gradients in one step: native code against `perform`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.determinant import CofactorsGrad
from aesara.tensor.linear_algebra.eigen import EighGrad, EigvalshGrad
from aesara.tensor.linear_algebra.inverse import TensorInv, TensorSolve
from aesara.tensor.linear_algebra.matrix_equations import (
    BilinearSolveDiscreteLyapunov,
    SolveContinuousLyapunov,
    SolveContinuousRiccati,
    SolveDiscreteRiccati,
    SolveSylvester,
)
from aesara.tensor.linear_algebra.schur import QZ

sys.path.insert(0, str(Path(__file__).parent))
from agreement import REFERENCE, assert_both_raise, assert_native

COMPLEX = ["complex64", "complex128"]
#: relative to the largest value; matrices here have small condition numbers
ULPS = 500


def any_matrix(*shape, dtype="float64"):
    rng = np.random.default_rng(sum(shape))
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if dtype in COMPLEX else a).astype(dtype)


def stable(*shape, dtype="float64"):
    """Matrices whose eigenvalues have positive real parts, some of them complex."""
    return any_matrix(*shape, dtype=dtype) + np.asarray(3 * np.eye(shape[-1]), dtype)


def adjoint(a):
    return np.swapaxes(a, -1, -2).conj()


@pytest.fixture(params=["float32", "float64", *COMPLEX])
def dtype(request):
    return request.param


def agrees(build, *values):
    assert_native(build, *values, ulps=ULPS, static=[False])


@pytest.mark.parametrize("lead", [(), (3,), (0,)])
def test_sylvester_equations(lead, dtype):
    for n, m in ((4, 3), (1, 1), (0, 2), (2, 0)):
        a, b = stable(*lead, n, n, dtype=dtype), stable(*lead, m, m, dtype=dtype)
        agrees(SolveSylvester(), a, b, any_matrix(*lead, n, m, dtype=dtype))


def test_one_matrix_for_a_batch_of_equations(dtype):
    agrees(SolveSylvester(), stable(3, 3, dtype=dtype), stable(2, 2, 2, dtype=dtype), any_matrix(2, 3, 2, dtype=dtype))


@pytest.mark.parametrize("lead", [(), (3,), (0,)])
def test_lyapunov_equations(lead, dtype):
    for n in (5, 1, 0):
        a, q = stable(*lead, n, n, dtype=dtype), any_matrix(*lead, n, n, dtype=dtype)
        agrees(SolveContinuousLyapunov(), a, q)
        agrees(BilinearSolveDiscreteLyapunov(), a / 6, q)


@pytest.mark.parametrize("output", ["real", "complex"])
def test_schur_forms_of_two(output, dtype):
    for shape in ((4, 4), (3, 2, 2), (0, 0), (0, 2, 2)):
        a, b = any_matrix(*shape, dtype=dtype), stable(*shape, dtype=dtype)
        agrees(lambda a, b: list(QZ(output)(a, b)), a, b)


def test_equations_with_any_eigenvalues_have_small_residuals():
    """Complex eigenvalues in pairs, and orders for which LAPACK works by blocks."""
    a, b, q = at.dmatrix("a"), at.dmatrix("b"), at.dmatrix("q")
    f = aesara.function([a, b, q], [linalg.solve_sylvester(a, b, q), linalg.solve_continuous_lyapunov(a, q @ q.T)])
    for n, m in ((2, 7), (30, 12), (100, 60)):
        values = stable(n, n) - 3 * np.eye(n), stable(m, m) + 4 * np.sqrt(m) * np.eye(m), any_matrix(n, m)
        x, y = f(*values)
        wanted = values[2], values[2] @ values[2].T
        for found, right in ((values[0] @ x + x @ values[1], wanted[0]), (values[0] @ y + y @ values[0].T, wanted[1])):
            size = np.abs(x).max() if right is wanted[0] else np.abs(y).max()
            assert np.abs(found - right).max() <= 1e-12 * n * (np.abs(right).max() + size * np.sqrt(n))


@pytest.mark.parametrize(
    ("op", "values", "kind"),
    [
        (SolveSylvester(), [np.eye(2), np.eye(3), np.ones((3, 3))], ValueError),
        (SolveSylvester(), [np.eye(3), np.eye(2), np.ones((3, 3))], ValueError),
        (SolveSylvester(), [np.ones((2, 3)), np.eye(2), np.ones((2, 2))], ValueError),
        (SolveSylvester(), [np.full((2, 2), np.nan), np.eye(2), np.ones((2, 2))], ValueError),
        (SolveSylvester(), [np.eye(2), np.full((2, 2), np.inf), np.ones((2, 2))], ValueError),
        (SolveContinuousLyapunov(), [np.eye(2), np.ones((3, 3))], ValueError),
        (SolveContinuousLyapunov(), [np.full((2, 2), np.nan), np.eye(2)], ValueError),
        (BilinearSolveDiscreteLyapunov(), [-np.eye(2), np.eye(2)], np.linalg.LinAlgError),
        (BilinearSolveDiscreteLyapunov(), [np.ones((2, 3)), np.eye(2)], ValueError),
        (lambda a, b: list(QZ()(a, b)), [np.eye(2), np.eye(3)], ValueError),
        (lambda a, b: list(QZ()(a, b)), [np.eye(2), np.full((2, 2), np.nan)], ValueError),
        (CofactorsGrad(), [np.ones((2, 3)), np.ones((2, 3))], (ValueError, np.linalg.LinAlgError)),
    ],
)
def test_what_does_not_fit_or_is_not_finite(op, values, kind):
    assert_both_raise(op, *values, kind=kind)


def test_a_loop_of_equations_runs_natively():
    """The covariances of a system, one after another."""
    a, q = at.dmatrix("a"), at.dtensor3("q")
    found, _ = aesara.scan(lambda q, a: linalg.solve_continuous_lyapunov(a, q), sequences=q, non_sequences=a)
    f = aesara.function([a, q], found)
    assert f._native.report.python_nodes == {}
    system, right = stable(3, 3), any_matrix(4, 3, 3)
    for x, wanted in zip(f(system, right), right, strict=True):
        np.testing.assert_allclose(system @ x + x @ system.T, wanted, rtol=0, atol=1e-13)


def test_gradients_in_one_step(dtype):
    for lead in ((), (2,)):
        a, direction = any_matrix(*lead, 4, 4, dtype=dtype), stable(*lead, 4, 4, dtype=dtype)
        agrees(CofactorsGrad(), a, direction)
        agrees(CofactorsGrad(), np.zeros_like(a), direction)
        values, of_values = (
            np.sort(any_matrix(*lead, 4).real).astype(a.real.dtype),
            any_matrix(*lead, 4).astype(a.real.dtype),
        )
        for side in "LU":
            agrees(EighGrad(side), a, values, a, of_values, direction)
        definite = (a @ adjoint(a) + np.eye(4)).astype(dtype)
        agrees(lambda *x: list(EigvalshGrad(False)(*x)), a + adjoint(a), definite, of_values)
    for n in (0, 1):
        agrees(CofactorsGrad(), any_matrix(n, n, dtype=dtype), any_matrix(n, n, dtype=dtype))


def test_gradients_of_equal_eigenvalues_in_one_step():
    """Zero where all vectors of one eigenvalue enter in the same way, NaN where they do not."""
    values, weights = np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    vectors = np.linalg.qr(any_matrix(3, 3))[0]
    agrees(EighGrad(), np.eye(3), values, vectors, weights, vectors * [2.0, 2.0, 1.0])
    with np.errstate(all="ignore"):
        agrees(EighGrad(), np.eye(3), values, vectors, weights, any_matrix(3, 3))


def test_tensors_as_matrices(dtype):
    a = any_matrix(2, 3, 6, dtype=dtype) + np.eye(6, dtype=dtype).reshape(2, 3, 6)
    agrees(TensorInv(2), a)
    agrees(TensorInv(1), stable(3, 3, dtype=dtype))
    agrees(TensorSolve(), a, any_matrix(2, 3, dtype=dtype))
    agrees(TensorSolve((0,)), np.moveaxis(a, -1, 0), any_matrix(2, 3, dtype=dtype))
    agrees(TensorSolve((-1, 0)), stable(6, 6, dtype=dtype).reshape(2, 6, 3), any_matrix(6, dtype=dtype))
    assert_both_raise(TensorInv(1), np.ones((2, 3)), kind=np.linalg.LinAlgError)
    assert_both_raise(TensorInv(1), np.ones((2, 2)), kind=np.linalg.LinAlgError)
    assert_both_raise(TensorSolve(), np.ones((2, 3)), np.ones(2), kind=(ValueError, np.linalg.LinAlgError))


def test_derivatives_of_tensors_as_matrices_forwards():
    a, b = at.dtensor3("a"), at.dmatrix("b")
    of_a, of_b = at.dtensor3("of_a"), at.dmatrix("of_b")
    x = linalg.tensorsolve(a, b)
    f = aesara.function([a, b, of_a, of_b], [x, aesara.gradient.Rop(x, [a, b], [of_a, of_b])])
    given = any_matrix(2, 3, 6) + np.eye(6).reshape(2, 3, 6), any_matrix(2, 3)
    along = any_matrix(2, 3, 6)[::-1], any_matrix(2, 3)[:, ::-1]
    solution, change = f(*given, *along)
    left = np.tensordot(given[0], change, 1) + np.tensordot(along[0], solution, 1)
    np.testing.assert_allclose(left, along[1], rtol=0, atol=1e-12)


RICCATI = [SolveContinuousRiccati(), SolveDiscreteRiccati()]


def costs(*shape, dtype="float64"):
    a = any_matrix(*shape, dtype=dtype)
    return (a + adjoint(a) + 6 * shape[-1] * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("op", RICCATI, ids=str)
@pytest.mark.parametrize("lead", [(), (3,), (0,)])
def test_riccati_equations(op, lead, dtype):
    for n, m in ((4, 2), (1, 1), (2, 3)):
        a, b = any_matrix(*lead, n, n, dtype=dtype), any_matrix(*lead, n, m, dtype=dtype)
        given = a, b, costs(*lead, n, n, dtype=dtype), costs(*lead, m, m, dtype=dtype)
        assert_native(op, *given, ulps=10000, static=[False])
    if lead == ():
        assert_native(op, *(np.zeros((0, 0), dtype),) * 4, static=[False])
        one = any_matrix(2, 2, dtype=dtype)  # for all members of a batch
        assert_native(op, one, one, costs(3, 2, 2, dtype=dtype), costs(2, 2, dtype=dtype), ulps=10000, static=[False])


@pytest.mark.parametrize("op", RICCATI, ids=str)
def test_riccati_equations_with_numbers_of_very_different_sizes(op):
    """They are balanced, as SciPy does: errors are as small."""
    size = np.array([1e-6, 1.0, 1e6])
    a = any_matrix(3, 3) * size[:, None] / size
    assert_native(op, a, size[:, None] * any_matrix(3, 1), costs(3, 3) / size / size[:, None], np.eye(1), ulps=10000)


@pytest.mark.parametrize("op", RICCATI, ids=str)
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"b": np.zeros((2, 2))}, np.linalg.LinAlgError),
        ({"q": np.array([[1.0, 2.0], [0.0, 1.0]])}, ValueError),
        ({"r": np.array([[1.0, 2.0], [0.0, 1.0]])}, ValueError),
        ({"a": np.full((2, 2), np.nan)}, ValueError),
        ({"b": np.ones((3, 2))}, ValueError),
        ({"r": np.eye(3)}, ValueError),
        ({"q": np.eye(3)}, ValueError),
    ],
)
def test_riccati_equations_without_solution(op, change, kind):
    given = {"a": np.eye(2), "b": np.eye(2), "q": np.eye(2), "r": np.eye(2)} | change
    assert_both_raise(op, *given.values(), kind=kind)
    if kind is ValueError and op == RICCATI[0]:
        assert_both_raise(op, np.eye(2), np.eye(2), np.eye(2), np.zeros((2, 2)), kind=ValueError)


def test_riccati_equations_whose_pencil_has_imaginary_eigenvalues():
    """SciPy returns a matrix that solves nothing."""
    a = np.array([[3.1, -0.1, 0.6, 0.1], [-0.5, 3.4, 1.3, 0.9], [-0.7, -1.3, 2.4, 0.0], [-2.3, -0.2, -1.2, 2.3]])
    b = np.array([[-0.5, -0.3], [0.4, 1.0], [-0.1, 1.4], [-0.7, 0.4]])
    r = np.array([[2, 0.5], [0.5, 1]])
    assert_both_raise(SolveContinuousRiccati(), a, b, -a @ a.T, r, kind=np.linalg.LinAlgError)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_singular_equations(dtype):
    """Without a solution they are an error; else the result is a solution, with zeros where anything would do."""
    a = np.diag(np.array([0, 1, 2], dtype))
    q = np.diag(np.array([0, 2, 4], dtype))
    without = q + np.eye(3, dtype=dtype)
    wanted = np.diag(np.array([0, 1, 1], dtype))
    (found,) = assert_native(SolveContinuousLyapunov(), a, q, static=[False], interpret=False)
    np.testing.assert_array_equal(found, wanted)
    (found,) = assert_native(SolveSylvester(), a, a, q, static=[False], interpret=False)
    np.testing.assert_array_equal(found, wanted)
    stack = np.stack([q, without])
    for op, *given in (
        (SolveContinuousLyapunov(), a, without),
        (SolveSylvester(), a, a, without),
        (SolveSylvester(), a, a, stack),
        (BilinearSolveDiscreteLyapunov(), np.diag(np.array([1, 0.5, 0.25], dtype)), without),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="the equation is singular"):
            aesara.function([], op(*given), mode="FAST_RUN")()
        with pytest.raises(np.linalg.LinAlgError, match="the equation is singular"):
            aesara.function([], op(*given), mode=REFERENCE)()


@pytest.mark.parametrize("mode", ["FAST_RUN", REFERENCE], ids=["native", "reference"])
def test_functions_say_what_does_not_fit(mode):
    a, v = at.dmatrix("a"), at.dvector("v")
    lyapunov = aesara.function([a], linalg.solve_discrete_lyapunov(a, np.eye(3)), mode=mode)
    for given in (np.eye(2), np.ones((3, 2)), np.ones((2, 3))):
        with pytest.raises(ValueError, match="solve_discrete_lyapunov: the matrices A and Q must be square"):
            lyapunov(given)
    diagonals = aesara.function([v], linalg.solve_tridiagonal(v, np.ones(3) * 4, np.ones(2), np.ones(3)), mode=mode)
    with pytest.raises(ValueError, match="solve_tridiagonal: the diagonals below and above"):
        diagonals(np.ones(3))
    tensors = aesara.function([a], linalg.tensorsolve(a, np.ones(3)), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="tensorsolve: the first dimensions of `a`"):
        tensors(np.ones((3, 2)))
    for hermitian, why in ((False, "no singular values"), (True, "has no rank|did not converge")):
        rank = aesara.function([a], linalg.matrix_rank(a, hermitian=hermitian), mode=mode)
        with pytest.raises(np.linalg.LinAlgError, match=why):
            rank(np.array([[np.inf, 1.0], [0.0, 1.0]]))
