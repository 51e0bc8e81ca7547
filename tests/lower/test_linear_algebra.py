"""Linear algebra natively: one matrix and batches, real and complex, loops, failures, against `perform` and NumPy.

Each graph runs as native code and on the interpreter, which computes a routine by its reference: so the records of the
routines are tested as well.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir import routines
from aesara.ir.expr import const, walk
from aesara.ir.routine import family
from aesara.ir.routines import FAMILIES, routine_named, spectra
from aesara.ir.routines.lapack import factor_cholesky
from aesara.ir.steps import Call, Check
from aesara.tensor.linear_algebra.banded import SolveBanded, SolveHermitianBanded
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky, InverseByLU
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.determinant import Det, SLogDet
from aesara.tensor.linear_algebra.eigen import Eigh, Eigvalsh
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.inverse import MatrixInverse, MatrixPinv, TensorInv
from aesara.tensor.linear_algebra.lu import LUFactor, PivotsToPermutation
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.linear_algebra.svd import SVD
from aesara.tensor.vectorization.blockwise import Blockwise

sys.path.insert(0, str(Path(__file__).parent))
from agreement import REFERENCE, assert_both_raise, assert_native

DTYPES = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
#: relative to the largest value; matrices here have small condition numbers
ULPS = 100


def any_matrix(*shape, dtype="float64"):
    rng = np.random.default_rng(sum(shape))
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if dtype in COMPLEX else a).astype(dtype)


def adjoint(a):
    return np.swapaxes(a, -1, -2).conj()


def definite(*shape, dtype="float64"):
    a = any_matrix(*shape, dtype="complex128" if dtype in COMPLEX else "float64")
    return (a @ adjoint(a) + shape[-1] * np.eye(shape[-1])).astype(dtype)


@pytest.fixture(params=DTYPES + COMPLEX)
def dtype(request):
    return request.param


def agrees(build, *values):
    assert_native(build, *values, ulps=ULPS, static=[False])


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(lower, dtype):
    for shape in ((5, 5), (1, 1), (0, 0), (3, 2, 4, 4), (0, 3, 3)):
        agrees(Cholesky(lower), definite(*shape, dtype=dtype))


def test_cholesky_reads_one_triangle(dtype):
    a = definite(4, 4, dtype=dtype)
    wrong = np.where(np.tri(4, dtype=bool), a, 7).astype(dtype)
    agrees(Cholesky(True), wrong)
    agrees(Cholesky(False), wrong.T)
    if dtype in COMPLEX:
        agrees(Cholesky(True), wrong + (3j * np.eye(4)).astype(dtype))


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_may_give_nan(lower, dtype):
    good = definite(3, 3, dtype=dtype)
    infinite = good.copy()
    infinite[0, 0] = np.inf
    unknown = good.copy()
    unknown[2, 2] = np.nan
    stack = np.stack([good, -good, np.full_like(good, np.nan), infinite, unknown])
    agrees(Cholesky(lower, on_error="nan"), stack)
    agrees(Cholesky(lower, on_error="nan"), -good)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("trans", [0, 1, "C"])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems(lower, trans, unit, dtype):
    op = SolveTriangular(lower=lower, trans=trans, unit_diagonal=unit)
    a = (definite(4, 4, dtype=dtype) / 8).astype(dtype)
    for b in ((4, 3), (4,), (4, 1), (4, 0)):
        agrees(op, a, any_matrix(*b, dtype=dtype))
    agrees(op, np.stack([a, a.T + 1]), any_matrix(2, 4, 3, dtype=dtype))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("assume", ["gen", "sym", "her", "pos"])
def test_systems(assume, lower, dtype):
    op = Solve(assume_a=assume, lower=lower)
    a = definite(4, 4, dtype=dtype)
    for b in ((4, 3), (4,), (4, 0)):
        agrees(op, a, any_matrix(*b, dtype=dtype))
    if dtype in COMPLEX and assume == "sym":
        agrees(op, np.triu(any_matrix(4, 4, dtype=dtype)) if not lower else a.T + 1j, any_matrix(4, 2, dtype=dtype))
    if dtype in COMPLEX and assume == "her":  # of the diagonal only the real part counts
        agrees(op, (a + 2j * np.eye(4)).astype(dtype), any_matrix(4, 2, dtype=dtype))
    agrees(op, definite(2, 3, 3, dtype=dtype), any_matrix(2, 3, 2, dtype=dtype))
    agrees(CholeskySolve(lower), a, any_matrix(4, 2, dtype=dtype))


@pytest.mark.parametrize("assume", ["gen", "sym", "her", "pos"])
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_one_equation_is_solved_whatever_the_sign(assume, mode):
    a, b = at.tensor("float64", shape=(1, 1)), at.dmatrix("b")
    x = Solve(assume_a=assume)(a, b)
    # what else asks for a factor of the matrix does not change that
    outputs = [x, at.nlinalg.det(a), aesara.grad(x.sum(), a)]
    f = aesara.function([a, b], outputs, mode=mode)
    found, determinant, slope = f([[-0.5]], [[1.0, 3.0]])
    assert found.tolist() == [[-2.0, -6.0]] and determinant == -0.5 and slope == [[-16.0]]
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f([[0.0]], [[1.0, 3.0]])
    members = at.tensor("float64", shape=(None, 1, 1))
    each = aesara.function([members, b], at.slinalg.solve(members, b, assume_a=assume, on_error="nan"), mode=mode)
    assert each([[[-2.0]], [[4.0]]], [[1.0, 2.0]]).tolist() == [[[-0.5, -1.0]], [[0.25, 0.5]]]
    assert np.isnan(each([[[0.0]]], [[1.0, 2.0]])).all()


def test_systems_without_structure(dtype):
    agrees(Solve(), any_matrix(5, 5, dtype=dtype), any_matrix(5, 2, dtype=dtype))
    agrees(Solve(), any_matrix(5, 5, dtype=dtype)[::-1], any_matrix(5, dtype=dtype))


def test_a_member_is_used_for_all_of_a_batch(dtype):
    op = Solve()
    a, b = any_matrix(3, 3, dtype=dtype), any_matrix(4, 3, 2, dtype=dtype)
    agrees(op, a, b)
    x, y = at.tensor(dtype, (1, None, None)), at.tensor(dtype, (None, None, None))
    f = aesara.function([x, y], op(x, y))
    factors, _ = [step for step in f._native.program.steps if isinstance(step, Call)]
    assert factors.batch is None or factors.batch.is_const
    np.testing.assert_allclose(f(a[None], b), np.linalg.solve(a, b), rtol=100 * np.finfo(dtype).eps)


@pytest.mark.slow
def test_a_right_hand_side_is_used_for_all_of_a_batch(dtype):
    x, y, z = (at.tensor(dtype, (n, None, None)) for n in (None, 1, None))
    f = aesara.function([x, y], Solve()(x, y))
    assert f._native.report.python_nodes == {}
    a, b = any_matrix(4, 3, 3, dtype=dtype), any_matrix(1, 3, 2, dtype=dtype)
    np.testing.assert_allclose(f(a, b), np.linalg.solve(a, b), rtol=1000 * np.finfo(dtype).eps)
    with pytest.raises(ValueError, match="in dimension 0 of the batch"):
        aesara.function([x, z], Solve()(x, z))(a, np.concatenate([b, b]))


def test_inverse(dtype):
    for shape in ((5, 5), (1, 1), (0, 0), (2, 3, 3)):
        agrees(MatrixInverse(), any_matrix(*shape, dtype=dtype) + 3 * np.eye(shape[-1], dtype=dtype))


def with_nan(a, *index):
    a = a.copy()
    a[index] = np.nan
    return a


@pytest.mark.filterwarnings("ignore:invalid value")
def test_the_inverse_of_nan_is_nan(dtype):
    """Throughout, wherever the NaN stands: LAPACK leaves finite numbers. So it is where zeros are pivots."""
    a = any_matrix(3, 3, dtype=dtype)
    for index in np.ndindex(3, 3):
        (found,) = assert_native(MatrixInverse(), with_nan(a, *index), static=[False])
        assert np.isnan(found).all()
        assert_native(lambda x: InverseByLU()(*LUFactor()(x)), with_nan(a, *index), static=[False])
    singular = with_nan(np.zeros((2, 2), dtype), 0, 1)
    for build in (MatrixInverse(), lambda x: InverseByLU()(*LUFactor()(x))):
        (found,) = assert_native(build, singular, static=[False])
        assert np.isnan(found).all()


@pytest.mark.filterwarnings("ignore:invalid value")
def test_of_a_batch_only_members_with_nan_are_nan(dtype):
    stack = any_matrix(9, 3, 3, dtype=dtype)
    (found,) = assert_native(MatrixInverse(), with_nan(stack, 4, 0, 0), ulps=ULPS, static=[False])
    np.testing.assert_array_equal(np.isnan(found).all(axis=(1, 2)), np.arange(9) == 4)
    np.testing.assert_array_equal(np.isnan(found).any(axis=(1, 2)), np.arange(9) == 4)
    assert_both_raise(MatrixInverse(), with_nan(np.zeros((5, 2, 2), dtype), 4, 0, 0), kind=np.linalg.LinAlgError)
    (tensors,) = assert_native(TensorInv(1), with_nan(stack[0], 0, 0).reshape(3, 3, 1), static=[False])
    assert np.isnan(tensors).all()


@pytest.mark.parametrize("hermitian", [False, True])
def test_pseudoinverses_of_matrices_without_full_rank(hermitian, dtype):
    """Rounding errors of singular values that are zero are not taken for numbers, in any precision."""
    columns = any_matrix(40, 3, dtype=dtype).astype("complex128" if dtype in COMPLEX else "float64")
    a = columns @ adjoint(columns if hermitian else any_matrix(30, 3))
    (found,) = assert_native(MatrixPinv(hermitian), a.astype(dtype), ulps=1000, static=[False], interpret=False)
    wanted = np.linalg.pinv(a, rcond=1e-6)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1000 * np.finfo(dtype).eps * abs(wanted).max())


@pytest.mark.parametrize("lower", [True, False])
def test_inverse_by_a_cholesky_factor(lower, dtype):
    for shape in ((4, 4), (1, 1), (0, 0), (2, 3, 3)):
        factor = np.linalg.cholesky(definite(*shape, dtype=dtype))
        for whole in (True, False):
            agrees(InverseByCholesky(lower, whole), factor if lower else adjoint(factor))
    assert_both_raise(InverseByCholesky(lower), np.zeros((2, 2), dtype), kind=np.linalg.LinAlgError)


def test_determinants(dtype):
    singular = np.array([[1.0, 2.0], [2.0, 4.0]], dtype)
    numbers = [any_matrix(5, 5, dtype=dtype), any_matrix(3, 4, 4, dtype=dtype)]
    for a in (*numbers, np.zeros((0, 0)), np.zeros((3, 3)), singular, -np.eye(3)):
        agrees(Det(), a.astype(dtype))
        agrees(lambda x: list(SLogDet()(x)), a.astype(dtype))


def test_a_determinant_that_leaves_the_range_on_the_way():
    a = np.diag([1e200, 1e200, 1e-300, 1e-250])
    x = at.dmatrix()
    np.testing.assert_allclose(aesara.function([x], Det()(x))(a), 1e-150, rtol=1e-12)


@pytest.mark.parametrize("side", ["L", "U"])
def test_symmetric_spectra(side, dtype):
    def rebuilt(a):
        values, vectors = Eigh(side)(a)
        turned = at.conj(vectors).T
        return [values, at.dot(vectors * values, turned), at.dot(turned, vectors)]

    for n in (5, 1, 0):
        agrees(rebuilt, definite(n, n, dtype=dtype))
    agrees(Eigvalsh(side == "L"), definite(4, 4, dtype=dtype))
    agrees(lambda a: Eigh(side)(a)[0], definite(3, 4, 4, dtype=dtype))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (1, 1)])
def test_singular_values_and_orthogonal_factors(shape, dtype):
    a = any_matrix(*shape, dtype=dtype)

    def reduced(a):
        u, s, vh = SVD(False, True)(a)
        return [s, at.dot(u * s, vh)]

    def full(a):
        u, s, vh = SVD(True, True)(a)
        return [s, at.dot(u, at.conj(u).T), at.dot(vh, at.conj(vh).T)]

    agrees(reduced, a)
    agrees(full, a)
    agrees(SVD(False, False), a)
    agrees(SVD(False, False), np.stack([a, -a, a * 2]))
    agrees(lambda x: list(QRFull("reduced")(x)), a)
    agrees(lambda x: list(QRFull("reduced")(x)), np.stack([a, a + 1]))
    agrees(QRFull("r"), a)


@pytest.mark.parametrize(
    ("build", "values", "kind", "message"),
    [
        (Cholesky(), [-np.eye(3)], np.linalg.LinAlgError, "leading minor of order 1"),
        (Cholesky(), [np.diag([1.0, 1.0, -1.0])], np.linalg.LinAlgError, "leading minor of order 3"),
        (Cholesky(), [np.stack([np.eye(2), -np.eye(2)])], np.linalg.LinAlgError, "a matrix of the batch is not"),
        (Cholesky(), [np.ones((2, 3))], ValueError, "2 rows and 3 columns"),
        (Cholesky(), [np.full((2, 2), np.nan)], ValueError, "infs or NaNs"),
        (Solve(), [np.zeros((2, 2)), np.ones(2)], np.linalg.LinAlgError, "singular"),
        (Solve(), [np.eye(2), np.ones(3)], ValueError, "order 2 and a right-hand side of length 3"),
        (Solve(), [np.eye(2), np.array([1.0, np.inf])], ValueError, "infs or NaNs"),
        (SolveTriangular(), [np.diag([1.0, 0.0]), np.ones(2)], np.linalg.LinAlgError, "diagonal has a zero"),
        (MatrixInverse(), [np.ones((2, 2))], np.linalg.LinAlgError, "place 2"),
        (MatrixInverse(), [np.ones((2, 3))], np.linalg.LinAlgError, "2 rows and 3 columns"),
        (SVD(False, False), [np.full((2, 2), np.nan)], np.linalg.LinAlgError, "did not converge"),
    ],
)
def test_failures_say_what_is_wrong(build, values, kind, message):
    inputs = [at.tensor("float64", (None,) * v.ndim) for v in values]
    f = aesara.function(inputs, build(*inputs))
    assert f._native.report.python_nodes == {}
    with pytest.raises(kind, match=message) as error:
        f(*values)
    assert "test_linear_algebra.py" in str(error.value)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 2, 3)])
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors_of_empty_matrices(full, shape, dtype):
    a = any_matrix(*shape, dtype=dtype)
    x = at.TensorType(dtype, (None,) * a.ndim)()
    found = aesara.function([x], at.linalg.svd(x, full_matrices=full))(a)
    for ours, expected in zip(found, np.linalg.svd(a, full_matrices=full), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_the_sign_of_a_determinant_that_is_not_a_number(dtype):
    a = any_matrix(3, 3, dtype=dtype)
    with np.errstate(invalid="ignore"):
        agrees(SLogDet(), np.stack([a, np.full_like(a, np.nan), np.zeros_like(a), -a]))


def test_lengths_that_must_fit_into_32_bits():
    """Lengths of workspaces count too: 2 n**2 is too large for n that are not."""
    narrow = spectra.eigh("vectors", "lower", "float64").narrow({"n": const(33000)})
    assert [e.attr for e in narrow] == [33000, 2 * 33000**2 + 6 * 33000 + 1, 5 * 33000 + 3]
    x = at.dmatrix("x")
    program = aesara.function([x], at.linalg.eigh(x))._native.program
    limits = [e.attr for step in program.steps if isinstance(step, Check) for e in walk([step.condition]) if e.is_const]
    assert [2**31 - n for n in limits if 0 <= 2**31 - n < 9] == [0, 0, 3]


@pytest.mark.parametrize(("below", "above"), [(1, 1), (0, 2), (2, 0), (0, 0)])
def test_banded_systems(below, above, dtype):
    bands = any_matrix(below + above + 1, 5, dtype=dtype)
    bands[above] += 4
    for b in ((5, 2), (5,)) if below == 1 else ((5, 3),):
        agrees(SolveBanded(below, above), bands, any_matrix(*b, dtype=dtype))
    if below == 1:
        agrees(SolveBanded(1, 1), np.stack([bands, bands + 1]), any_matrix(2, 5, 3, dtype=dtype))
        agrees(SolveBanded(1, 1), bands[:, :0], any_matrix(0, 3, dtype=dtype))


@pytest.mark.parametrize("lower", [True, False])
def test_definite_banded_systems(lower):
    bands = np.array([[6.0, 5.0, 7.0, 4.0], [1.0, -1.0, 2.0, 9.0], [0.5, 1.0, 9.0, 9.0]])
    bands = bands if lower else bands[::-1, ::-1]
    for dtype in DTYPES + COMPLEX:
        b, turned = any_matrix(4, 2, dtype=dtype), bands.astype(dtype)
        if dtype in COMPLEX:
            turned += 1j * np.array([[3], [1], [-0.5]], dtype)[:: 1 if lower else -1]
        assert_native(SolveHermitianBanded(lower), turned, b, ulps=ULPS, static=[True])
    x, y = at.tensor("float64", (3, None)), at.dvector()
    f = aesara.function([x, y], SolveHermitianBanded(lower)(x, y))
    with pytest.raises(np.linalg.LinAlgError, match="is not positive definite: see its leading minor of order 1"):
        f(-bands, np.ones(4))

    def solution(ab, b):
        return SolveHermitianBanded(lower)(at.specify_shape(ab, (3, None)), b)

    for column in range(4):
        indefinite = bands.copy()
        indefinite[0 if lower else 2, column] = -4
        assert_both_raise(solution, indefinite, np.ones(4), kind=np.linalg.LinAlgError)
    with pytest.raises(ValueError, match="diagonals of length 4 and a right-hand side of length 3 do not fit"):
        f(bands, np.ones(3))
    z = at.dmatrix()
    g = aesara.function([z, y], SolveBanded(1, 1)(z, y))
    with pytest.raises(np.linalg.LinAlgError, match="the matrix is singular"):
        g(np.zeros((3, 4)), np.ones(4))
    with pytest.raises(ValueError, match="must have 3 rows, one for each diagonal; it has 2"):
        g(np.zeros((2, 4)), np.ones(4))


@pytest.mark.slow
def test_solutions_by_lu_run_natively(dtype):
    a, b = any_matrix(2, 4, 4, dtype=dtype), any_matrix(2, 4, 2, dtype=dtype)
    for trans in (0, 1, 2):
        agrees(lambda x, y, trans=trans: at.linalg.lu_solve(at.linalg.lu_factor(x), y, trans), a, b)
    pivots = np.array([2, 2, 3, 3], "int32")
    assert_native(PivotsToPermutation(), pivots)
    assert_native(Blockwise(PivotsToPermutation()), np.stack([pivots, pivots[::-1]]), static=[False])
    for wrong in (4, -1):
        assert_both_raise(PivotsToPermutation(), np.array([0, 1, wrong, 3], "int32"), kind=IndexError)


def failing(shape, dtype):
    """Matrices of which most are such that some op has no results for them."""
    good = definite(*shape, dtype=dtype)
    stack = np.stack([good, good, good, -good, good, good, good])
    stack[1, :, 0] = stack[1, 0] = 0
    stack[2, 1, 0] = np.nan
    stack[4, 0, 1] = np.inf
    stack[5] = np.rint(good) * 4 * np.finfo(dtype).smallest_subnormal
    return stack


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "regular"),
    [
        (Solve(), "036"),
        (Solve(assume_a="pos"), "026"),
        (Solve(assume_a="sym", lower=True), "0346"),
        (SolveTriangular(lower=True), "0346"),
        (SolveTriangular(unit_diagonal=True, check_finite=True), "012356"),
        (MatrixInverse(), "036"),
        (Eigh("L"), "013456"),
        (SVD(False, False), "01356"),
    ],
)
@pytest.mark.parametrize("is_complex", [False, True])
def test_nan_where_there_are_no_results(op, regular, is_complex):
    dtype = "float32" if isinstance(op, MatrixInverse) else "float64"
    dtype = COMPLEX[DTYPES.index(dtype)] if is_complex else dtype
    a, b = failing((3, 3), dtype), any_matrix(7, 3, 2, dtype=dtype)
    values = (a, b) if isinstance(op, (Solve, SolveTriangular)) else (a,)
    first = (lambda *x: NanOnError(op)(*x)[0]) if isinstance(op, Eigh) else NanOnError(op)
    agrees(first, *values)
    x = [at.TensorType(dtype, (None,) * v.ndim)() for v in values]
    result = first(*x)
    found, slope = aesara.function(x, [result, aesara.grad(result.sum(), x[0])])(*values)
    fine = [str(k) in regular for k in range(7)]
    axes = tuple(range(1, found.ndim))
    np.testing.assert_array_equal(np.isfinite(found).all(axis=axes), fine)
    np.testing.assert_array_equal(np.isnan(found).all(axis=axes), np.invert(fine))
    np.testing.assert_array_equal(np.isnan(slope).all(axis=(1, 2)), np.invert(fine))
    if isinstance(op, (Eigh, SVD)):
        agrees(first, a[2])


@pytest.mark.slow
@pytest.mark.parametrize("linker", ["native", "reference"])
def test_functions_may_give_nan(linker):
    a, b = at.dtensor3("a"), at.dtensor3("b")
    stack = np.stack([np.eye(2), np.ones((2, 2)), 2 * np.eye(2), np.full((2, 2), np.nan)])
    solve, solve_triangular, inv = at.linalg.solve, at.linalg.solve_triangular, at.linalg.inv
    results = [solve(a, b, on_error="nan"), inv(a, on_error="nan"), solve_triangular(a, b, on_error="nan")]
    slopes = [aesara.grad(result.sum(), a) for result in results]
    f = aesara.function([a, b], results + slopes, mode=None if linker == "native" else REFERENCE)
    found = f(stack, stack)
    for values, failed in zip(found, [[1, 3], [1, 3], [3]] * 2, strict=True):
        np.testing.assert_array_equal(np.isnan(values).all(axis=(1, 2)), [k in failed for k in range(4)])
        np.testing.assert_array_equal(np.isnan(values).any(axis=(1, 2)), [k in failed for k in range(4)])
    np.testing.assert_array_equal(found[1][2], 0.5 * np.eye(2))
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'nan'; got 'ignore'"):
        solve(a, b, on_error="ignore")
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'nan'; got 'ignore'"):
        inv(a, on_error="ignore")
    with pytest.raises(np.linalg.LinAlgError):
        aesara.function([a], inv(a, on_error="raise"))(stack)


def test_ops_without_nan_on_error():
    with pytest.raises(TypeError, match="not Det"):
        NanOnError(Det())
    x, b = at.dmatrix("x"), at.dmatrix("b")
    with pytest.raises(ValueError, match="do not fit|of length 2"):
        NanOnError(Solve())(x, b).eval({x: np.eye(3), b: np.ones((2, 2))})


def test_a_failure_changes_no_shared_variable():
    s = aesara.shared(np.eye(2))
    x = at.dmatrix()
    f = aesara.function([x], Cholesky()(x), updates={s: s + x})
    with pytest.raises(np.linalg.LinAlgError):
        f(-np.eye(2))
    np.testing.assert_array_equal(s.get_value(), np.eye(2))
    f(np.eye(2))
    np.testing.assert_array_equal(s.get_value(), 2 * np.eye(2))


def test_factors_in_the_steps_of_a_loop():
    def step(a, state):
        factor = Cholesky()(a + 0.1 * state)
        return at.dot(factor, factor.T) * 0.5 + at.diag(SolveTriangular(lower=True)(factor, at.ones(3)))

    xs = at.dtensor3()
    rows, _ = aesara.scan(step, sequences=xs, outputs_info=at.eye(3))
    f, reference = aesara.function([xs], rows[-1]), aesara.function([xs], rows[-1], mode="FAST_COMPILE")
    assert f._native.report.python_nodes == {}
    values = definite(6, 3, 3)
    np.testing.assert_allclose(f(values), reference(values), rtol=1e-13)
    values[3] = -values[3]
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        f(values)


def test_what_is_factored_is_computed_where_it_is_overwritten():
    a = at.dmatrix("a")
    f = aesara.function([a], MatrixInverse()(a))
    calls = [step for step in f._native.program.steps if isinstance(step, Call)]
    assert len({call.operands[0].buffer for call in calls}) == 1
    kept = any_matrix(4, 4)
    before = kept.copy()
    f(kept)
    np.testing.assert_array_equal(kept, before)


def test_gradients_run_natively(dtype):
    a, b = at.matrix("a", dtype=dtype), at.vector("b", dtype=dtype)
    cost = (Solve(assume_a="pos", lower=True)(a, b) * b).sum() + SLogDet()(a)[1]
    f = aesara.function([a, b], aesara.grad(cost, [a, b]))
    assert f._native.report.python_nodes == {}
    reference = aesara.function([a, b], aesara.grad(cost, [a, b]), mode="FAST_COMPILE")
    values = definite(4, 4, dtype=dtype), any_matrix(4, dtype=dtype)
    for got, wanted in zip(f(*values), reference(*values)):
        np.testing.assert_allclose(got, wanted, rtol=100 * np.finfo(dtype).eps, atol=10 * np.finfo(dtype).eps)


def test_names_of_routines():
    for name in ("cholesky.upper.float32", "svd.full.float64", "solve_triangular.lower.transposed.unit.float32"):
        assert routine_named(name).name == name
    assert routine_named("svd.half.float64") is None and routine_named("lu.int8") is None
    assert set(FAMILIES) >= {"lu", "qr", "eigh", "sort", "matmul"}


def test_the_package_registers_the_families_of_each_module():
    registered = set(FAMILIES)
    for path in Path(routines.__file__).parent.glob("[a-z]*.py"):
        importlib.import_module(f"aesara.ir.routines.{path.stem}")
    assert set(FAMILIES) == registered


def test_no_two_families_have_one_name():
    with pytest.raises(ValueError, match="two families of routines with the name 'qr'"):
        family("qr")(lambda dtype: None)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_what_the_interpreter_says_of_the_first_minor_that_is_not_positive(order, lower):
    for wrong in (np.nan, -1.0, 0.0):
        a, status = np.eye(4), np.array(7)
        a[order - 1, order - 1] = wrong
        factor_cholesky(lower, {"n": 4}, a, status)
        assert status == order
