"""Decompositions of any matrix, least squares and functions of matrices natively, against `perform` and SciPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.determinant import Cofactors
from aesara.tensor.linear_algebra.least_squares import PinvWithCutoff

sys.path.insert(0, str(Path(__file__).parent))
from agreement import REFERENCE, assert_native

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(4, 4), (5, 3), (3, 5), (2, 5, 3), (2, 3, 3), (0, 0), (0, 3), (3, 0), (1, 1)]
SQUARE = [*(shape for shape in SHAPES if shape[-1] == shape[-2]), (0, 2, 2)]
ULPS = 300


def any_matrix(*shape, dtype="float64"):
    rng = np.random.default_rng(sum(shape))
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if dtype.startswith("complex") else a).astype(dtype)


def adjoint(a):
    return np.swapaxes(a, -1, -2).conj()


def turned(x):
    return at.conj(x).swapaxes(-1, -2)


def definite(*shape, dtype="float64"):
    a = any_matrix(*shape, dtype=dtype)
    return (a @ adjoint(a) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def agrees(build, *values):
    assert_native(build, *values, ulps=ULPS, static=[False])


def compiled(build, *values):
    x = [at.TensorType(str(v.dtype), (None,) * v.ndim)() for v in values]
    f = aesara.function(x, build(*x))
    assert f._native.report.python_nodes == {}
    return f


@pytest.fixture(params=DTYPES)
def dtype(request):
    return request.param


@pytest.mark.parametrize("options", [{}, {"permute_l": True}, {"p_indices": True}])
def test_lu(options, dtype):
    for shape in SHAPES:
        agrees(lambda a: list(linalg.lu(a, **options)), any_matrix(*shape, dtype=dtype))
    agrees(lambda a: list(linalg.lu(a, **options)), np.zeros((3, 2), dtype))
    # neither contiguous nor in the order of rows
    agrees(lambda a: list(linalg.lu(a, **options)), any_matrix(6, 8, dtype=dtype)[::2, ::-2].T)


@pytest.mark.parametrize("mode", ["complete", "raw"])
def test_forms_of_qr(mode, dtype):
    for shape in SHAPES:
        agrees(lambda a: list(linalg.qr(a, mode)), any_matrix(*shape, dtype=dtype))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_qr_with_pivots(mode, dtype):
    for shape in SHAPES:
        agrees(lambda a: list(linalg.qr(a, mode, pivoting=True)), any_matrix(*shape, dtype=dtype))
    order = compiled(lambda a: linalg.qr(a, "r", pivoting=True)[1], np.eye(3))(np.diag([1.0, 3.0, 2.0]))
    np.testing.assert_array_equal(order, [1, 2, 0])
    with pytest.raises(ValueError, match="infs or NaNs"):
        compiled(lambda a: linalg.qr(a, mode, pivoting=True)[-1], np.eye(2))(np.full((2, 2), np.nan))


@pytest.mark.slow
def test_least_squares(dtype):
    for shape in SHAPES:
        a, b = any_matrix(*shape, dtype=dtype), any_matrix(*shape[:-1], 2, dtype=dtype)
        agrees(lambda a, b: list(linalg.lstsq(a, b)), a, b)
        if a.ndim == 2:
            agrees(lambda a, b: list(linalg.lstsq(a, b)), a, b[:, 0])
            agrees(lambda a, b: list(linalg.lstsq(a, b)), a, b[:, :0])


@pytest.mark.parametrize(("cutoff", "rank"), [(1e-3, 2), (0.5, 1), (-1, 3)])
def test_least_squares_of_a_rank(cutoff, rank):
    u, _, vh = np.linalg.svd(any_matrix(5, 3), full_matrices=False)
    a = (u * [1.0, 0.4, 1e-5]) @ vh
    f = compiled(lambda a, b: list(linalg.lstsq(a, b, cutoff)), a, a[:, 0])
    found, expected = f(a, a[:, 0]), np.linalg.lstsq(a, a[:, 0], rcond=abs(cutoff) if cutoff > 0 else 2.0**-52)
    assert found[2] == expected[2] == rank
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


def test_sums_of_errors_that_not_all_of_a_batch_have():
    a = np.stack([any_matrix(4, 2), np.zeros((4, 2))])
    f = compiled(lambda a, b: linalg.lstsq(a, b)[1], a, a)
    assert f(a[1:], a[1:]).shape == (1, 0)
    assert f(a[:1], a[:1]).shape == (1, 2)
    with pytest.raises(ValueError, match="some matrices of the batch have sums of errors and others have none"):
        f(a, a)
    with pytest.raises(ValueError, match="a matrix of 4 rows and a right-hand side of length 3 do not fit"):
        f(a, a[:, :3])


@pytest.mark.slow
def test_pseudoinverses_and_polar_forms(dtype):
    for shape in SHAPES:
        a = any_matrix(*shape, dtype=dtype)
        agrees(linalg.pinv, a)
        for side in ("right", "left"):
            agrees(lambda a, side=side: list(linalg.polar(a, side)), a)
    for shape in SQUARE:
        a = any_matrix(*shape, dtype=dtype)
        agrees(lambda a: linalg.pinv(a, hermitian=True), a)
    wide = any_matrix(3, 5, dtype=dtype)
    for cutoff in (0.5, 0.0, -1.0):
        agrees(PinvWithCutoff(), wide, np.array(cutoff))
    agrees(linalg.pinv, np.zeros((3, 2), dtype))


def test_spectra_of_two_matrices(dtype):
    for shape in SQUARE:
        if 0 in shape:
            continue
        a, b = any_matrix(*shape, dtype=dtype), definite(*shape, dtype=dtype)
        a = a + adjoint(a)
        for lower in (True, False):
            agrees(lambda a, b, lower=lower: linalg.Eigvalsh(lower)(a, b), a, b)
        whole = a.copy()
        for side in ("L", "U"):
            given, with_it = (np.tril(a), np.tril(b)) if side == "L" else (np.triu(a), np.triu(b))
            w, v = compiled(lambda a, b, side=side: linalg.eigh(a, b, side), a, b)(given, with_it)
            assert w.dtype == a.real.dtype and v.dtype == dtype
            tiny = 300 * np.finfo(dtype).eps * abs(a).max()
            np.testing.assert_allclose(whole @ v, b @ v * w[..., None, :], rtol=0, atol=tiny)
            np.testing.assert_allclose(adjoint(v) @ b @ v, np.broadcast_to(np.eye(shape[-1]), shape), rtol=0, atol=tiny)


def test_any_spectra(dtype):
    for shape in SQUARE:
        a = any_matrix(*shape, dtype=dtype)
        if not dtype.startswith("complex"):
            a = a + adjoint(a) + 0.01 * a
        agrees(lambda a: linalg.eig(a)[0], a)
        w, v = compiled(linalg.eig, a)(a)
        assert w.dtype == v.dtype == dtype
        tiny = 300 * np.finfo(dtype).eps * abs(a).max(initial=0)
        np.testing.assert_allclose(a @ v, v * w[..., None, :], rtol=0, atol=tiny)
        np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=1e-5)


@pytest.mark.parametrize("output", ["real", "complex"])
def test_schur_forms(output, dtype):
    for shape in SQUARE:
        agrees(lambda a: list(linalg.schur(a, output)), any_matrix(*shape, dtype=dtype))


def test_cofactors(dtype):
    for shape in SQUARE:
        agrees(Cofactors(), any_matrix(*shape, dtype=dtype))
    agrees(Cofactors(), np.array([[1, 2], [2, 4]], dtype))
    agrees(Cofactors(), np.zeros((3, 3), dtype))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-3, 1, 5])
def test_exponentials(scale, dtype):
    for shape in SQUARE:
        a = (scale * any_matrix(*shape, dtype=dtype)).astype(dtype)
        agrees(linalg.expm, a)
        agrees(linalg.ExpmGrad(), a, any_matrix(*shape, dtype=dtype)[..., ::-1] * 7)


@pytest.mark.slow
@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 1e6], [0, -1]],
        [[-49, 24], [-64, 31]],
        [[0, 1e-8, 1e8], [0, -20, 1], [0, 0, -1]],
        [[1, 0, 0], [0, -300, 0], [0, 0, 5]],
        [[0, 0], [0, 0]],
    ],
)
def test_exponentials_of_matrices_far_from_normal(matrix):
    a = np.array(matrix, dtype="float64")
    found, expected = compiled(linalg.expm, a)(a), scipy.linalg.expm(a)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=3e-14 * abs(expected).max())
    stack = np.stack([a, a / 1e4, a * np.nan])
    both = compiled(linalg.expm, stack)(stack)
    np.testing.assert_allclose(both[0], found, rtol=1e-13, atol=3e-14 * abs(expected).max())
    np.testing.assert_allclose(both[1], scipy.linalg.expm(stack[1]), rtol=1e-13, atol=1e-15 * abs(both[1]).max())
    assert np.isnan(both[2]).all()


def test_large_powers_do_not_spoil_an_exponential_whose_higher_ones_are_small():
    """A shift and a rotation side by side: the 8th power of the shift is zero, so that nothing need be divided."""
    size, rotation = 1e10, np.array([[0.0, -1.0], [1.0, 0.0]])
    matrix = scipy.linalg.block_diag(size * np.eye(8, k=1), rotation)
    turned_by_one = np.cos(1) * np.eye(2) + np.sin(1) * rotation
    for given in (matrix, np.stack([matrix, matrix.T])):
        for found, expected in zip(
            compiled(linalg.expm, given)(given).reshape(-1, 10, 10), (turned_by_one, turned_by_one.T)
        ):
            np.testing.assert_allclose(found[8:, 8:], expected, rtol=2e-15)
            assert not found[:8, 8:].any() and not found[8:, :8].any()


@pytest.mark.parametrize(
    ("build", "values", "kind", "message"),
    [
        (lambda a: linalg.eig(a)[0], [[[0, 1], [-1, 0]]], np.linalg.LinAlgError, "complex128"),
        (lambda a: linalg.eig(a)[0], [[[np.nan]]], np.linalg.LinAlgError, "infs or NaNs"),
        (lambda a: linalg.eig(a)[0], [[[1, 2]]], np.linalg.LinAlgError, "1 rows and 2 columns"),
        (linalg.eigvalsh, [np.eye(2), -np.eye(2)], np.linalg.LinAlgError, "positive definite"),
        (linalg.eigvalsh, [np.eye(2), np.eye(3)], ValueError, "orders 2 and 3"),
        (lambda a, b: linalg.eigh(a, b)[0], [np.eye(2), np.full((2, 2), np.inf)], ValueError, "infs or NaNs"),
        (lambda a: linalg.schur(a)[0], [[[1, np.nan], [0, 1]]], ValueError, "infs or NaNs"),
        (lambda a: linalg.schur(a)[0], [[[1, 2]]], ValueError, "1 rows and 2 columns"),
        (linalg.pinv, [[[np.nan, 1], [0, 1]]], np.linalg.LinAlgError, "did not converge"),
    ],
)
def test_failures_say_what_is_wrong(build, values, kind, message):
    arrays = [np.array(v, dtype="float64") for v in values]
    with pytest.raises(kind, match=message) as error:
        compiled(build, *arrays)(*arrays)
    assert "test_decompositions.py" in str(error.value)


SQUARE_OPS = {
    "cholesky": linalg.cholesky, "inv": linalg.inv, "det": linalg.det, "slogdet": lambda a: linalg.slogdet(a)[1],
    "eigh": lambda a: linalg.eigh(a)[0], "eigvalsh": linalg.eigvalsh, "eig": lambda a: linalg.eig(a)[0],
    "lu_factor": lambda a: linalg.lu_factor(a)[0], "schur": lambda a: linalg.schur(a)[0], "expm": linalg.expm,
    "gradient of expm": lambda a: linalg.ExpmGrad()(a, a), "cofactors": Cofactors(),
    "solve": lambda a: linalg.solve(a, np.ones((3, 1))), "cho_solve": lambda a: linalg.cho_solve((a, True), np.eye(3)),
    "solve_triangular": lambda a: linalg.solve_triangular(a, np.ones((3, 1))), "pinv": lambda a: linalg.pinv(a, True),
    "eigh of two": lambda a: linalg.eigh(a, a)[0], "inv or NaN": lambda a: linalg.inv(a, on_error="nan"),
}  # fmt: skip


@pytest.mark.parametrize("name", SQUARE_OPS)
@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 2)])
def test_matrices_that_are_not_square_are_the_same_error_everywhere(name, shape):
    a = at.TensorType("float64", (None,) * len(shape))()
    kinds = []
    for mode in (REFERENCE, None):
        with pytest.raises(ValueError) as error:
            aesara.function([a], SQUARE_OPS[name](a), mode=mode)(np.ones(shape))
        kinds.append(error.type)
        assert "square" in str(error.value) or "the core dimension" in str(error.value)
    assert kinds[0] is kinds[1]


@pytest.mark.parametrize("name", SQUARE_OPS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_nan_gives_the_same_everywhere(name, shape):
    a = at.TensorType("float64", (None,) * len(shape))()
    found = []
    for mode in (REFERENCE, None):
        with np.errstate(invalid="ignore"):
            try:
                found.append(aesara.function([a], SQUARE_OPS[name](a), mode=mode)(np.full(shape, np.nan)))
            except ValueError as error:
                found.append(type(error))
    np.testing.assert_array_equal(*found)


OF_SINGULAR_VALUES = {
    "svd": lambda a: linalg.svd(a)[0], "svdvals": linalg.svdvals, "polar": lambda a: linalg.polar(a)[0],
    "pinv": linalg.pinv, "pinv of Hermitian": lambda a: linalg.pinv(a, hermitian=True),
    "pinv with cutoff": lambda a: PinvWithCutoff()(a, 0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SINGULAR_VALUES)
@pytest.mark.parametrize("mode", [REFERENCE, None])
def test_infinities_have_no_singular_values(name, mode):
    """Versions of LAPACK differ: some give NaN, of which pseudoinverses and factors without NaN were made."""
    matrices = at.dtensor3(), np.stack([np.eye(2), [[1, 2], [np.inf, 3]]])
    for x, value in [(at.dmatrix(), matrices[1][1]), matrices]:
        with pytest.raises(np.linalg.LinAlgError, match="infinities|did not converge"):
            aesara.function([x], OF_SINGULAR_VALUES[name](x), mode=mode)(value)


@pytest.mark.parametrize("mode", [REFERENCE, None])
def test_infinities_above_the_diagonal_of_a_hermitian_matrix_are_not_read(mode):
    x = at.dmatrix()
    found = aesara.function([x], linalg.pinv(x, hermitian=True), mode=mode)(np.array([[2, np.inf], [0, 4]]))
    np.testing.assert_array_equal(found, np.diag([0.5, 0.25]))


def test_inside_of_loops():
    a = 0.1 * any_matrix(3, 3)
    x = at.dmatrix()
    steps, _ = aesara.scan(lambda s: linalg.expm(s * 0.1) @ linalg.pinv(s), outputs_info=x, n_steps=3)
    f = aesara.function([x], steps[-1])
    assert f._native.report.python_nodes == {}
    expected = a
    for _ in range(3):
        expected = scipy.linalg.expm(0.1 * expected) @ np.linalg.pinv(expected)
    np.testing.assert_allclose(f(a), expected, rtol=1e-10)
