"""Linear algebra, compiled by JAX: errors, NaN and empty matrices like those of the reference; batches; gradients."""

import jax
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky, InverseByLU, SolveByLU
from aesara.tensor.linear_algebra.determinant import Cofactors, CofactorsGrad
from aesara.tensor.linear_algebra.lu import PivotsToPermutation
from aesara.tensor.linear_algebra.matrix_functions import ExpmGrad
from tests.link.jax_mode.matching import fail_alike, function_of, on_both

LinAlgError = np.linalg.LinAlgError
X, Y = at.dmatrices("X", "Y")
Z = at.zmatrix("Z")
B = at.dvector("b")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def complex_numbers(*shape, seed=0):
    return numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 1)


def positive(n, seed=0):
    a = numbers(n, n, seed=seed)
    return a @ a.T + n * np.eye(n)


def reconstructed_svd(x, full):
    u, s, vh = linalg.svd(x, full_matrices=full)
    k = at.minimum(x.shape[0], x.shape[1])
    return [s, (u[:, :k] * s) @ vh[:k], at.conj(u).T @ u, vh @ at.conj(vh).T]


def reconstructed_eigh(x, *rest):
    w, v = linalg.eigh(x, *rest)
    return [w, (v * w.dimshuffle("x", 0)) @ at.conj(v).T]


NAN, INF = np.array([[np.nan, 1.0], [1.0, 2.0]]), np.array([[np.inf, 1.0], [1.0, 2.0]])
SINGULAR, ZERO, NEGATIVE = np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros((2, 2)), -np.eye(2)
WIDE, EMPTY = np.ones((2, 3)), np.zeros((0, 0))

#: graphs of the matrix X
OF_ONE = {
    "det": linalg.det(X),
    "slogdet": linalg.slogdet(X),
    "inv": linalg.inv(X),
    "inv or nan": linalg.matrix_inverse(X, on_error="nan"),
    "pinv": linalg.pinv(X),
    "pinv of Hermitian": linalg.pinv(X, hermitian=True),
    "svdvals": linalg.svdvals(X),
    "eigvalsh": linalg.eigvalsh(X),
    "eigvalsh of two": linalg.eigvalsh(X, X),
    "cholesky": linalg.cholesky(X),
    "upper cholesky": linalg.Cholesky(lower=False)(X),
    "cholesky or nan": linalg.Cholesky(on_error="nan")(X),
    "lu": linalg.lu(X),
    "lu_factor": linalg.lu_factor(X),
    "expm": linalg.expm(X),
    "gradient of expm": ExpmGrad()(X, X),
    "cofactors": Cofactors()(X),
    "gradient of cofactors": CofactorsGrad()(X, X),
    "solve": linalg.solve(X, X),
    "solve sym": linalg.solve(X, X, assume_a="sym"),
    "solve pos": linalg.solve(X, X, assume_a="pos", lower=True),
    "solve or nan": linalg.solve(X, X, on_error="nan"),
    "solve pos or nan": linalg.solve(X, X, assume_a="pos", on_error="nan"),
    "solve_triangular": linalg.solve_triangular(X, X, lower=True),
    "solve_triangular or nan": linalg.solve_triangular(X, X, trans=1, on_error="nan"),
    "solve_triangular with ones": linalg.solve_triangular(X, X, trans="T", unit_diagonal=True),
    "cho_solve": linalg.cho_solve((X, False), X),
    "lstsq": linalg.lstsq(X, X),
    "polar": linalg.polar(X),
    "qr": linalg.qr(X),
    "complete qr": linalg.qr(X, mode="complete"),
    "raw qr": linalg.qr(X, mode="raw"),
    "pivoted qr": linalg.qr(X, pivoting=True),
    "inverse by a factor": InverseByCholesky()(X),
    "lower triangle of the inverse": InverseByCholesky(whole=False)(X),
}
#: what a LAPACK routine makes of infinities or NaN, of which JAX makes NaN elsewhere
DIFFERENT = {
    ("slogdet", "nan"),
    ("cholesky or nan", "inf"),
    ("lu", "nan"),
    ("lu", "inf"),
    ("lu_factor", "nan"),
    ("lu_factor", "inf"),
    ("pinv of Hermitian", "inf"),
    ("polar", "singular"),
    ("qr", "inf"),
    ("qr", "nan"),
    ("complete qr", "inf"),
    ("complete qr", "nan"),
    ("raw qr", "nan"),
    ("raw qr", "inf"),
    ("inverse by a factor", "nan"),
    ("lower triangle of the inverse", "nan"),
}
MATRICES = {
    "regular": positive(4),
    "not symmetric": numbers(4, 4),
    "singular": SINGULAR,
    "zero": ZERO,
    "negative": NEGATIVE,
    "nan": NAN,
    "inf": INF,
    "wide": WIDE,
    "empty": EMPTY,
    "one zero": np.zeros((1, 1)),
    "one": np.full((1, 1), -3.0),
}


def error_of(function, value):
    """The class of the error that a call raises, None if it raises none."""
    try:
        function(value)
    except (LinAlgError, ValueError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", OF_ONE)
def test_like_the_reference(name, matrix):
    graph, value = OF_ONE[name], MATRICES[matrix]
    error = error_of(aesara.function([X], graph, mode="FAST_COMPILE"), value)
    if error is not None:
        fail_alike(error, [X], graph, value)
    elif (name, matrix) == ("pinv of Hermitian", "nan"):
        with pytest.raises(LinAlgError, match="SVD"):  # from singular values, not from eigenvalues
            aesara.function([X], graph, mode="JAX")(value)
    else:
        on_both([X], graph, value, same_values=(name, matrix) not in DIFFERENT)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (0, 2), (2, 0)])
def test_factors_make_the_matrix(shape):
    """Vectors may have other signs or phases than those of the reference."""
    for x, value in ((X, numbers(*shape)), (Z, complex_numbers(*shape))):
        results = [*reconstructed_svd(x, True), *reconstructed_svd(x, False)]
        for mode in ("reduced", "complete"):
            q, r = linalg.qr(x, mode=mode)
            results += [q @ r, at.conj(q).T @ q, abs(r)]
            q, r, p = linalg.qr(x, mode=mode, pivoting=True)
            results += [q @ r, p, abs(r)]
        results += [abs(linalg.qr(x, mode="r")), *linalg.lu(x), *linalg.lu(x, permute_l=True)]
        results += [*linalg.lu(x, p_indices=True), linalg.pinv(x)]
        on_both([x], results, value)


def test_columns_that_are_zero():
    value = np.array([[0.0, 3.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    on_both([X], [abs(r) for r in linalg.qr(X, pivoting=True)], value)


def test_hermitian_matrices_and_their_triangles():
    value = complex_numbers(4, 4)
    results = [linalg.solve(Z, Z[:, 0], assume_a=kind, lower=low) for kind in ("sym", "her") for low in (True, False)]
    results += [*reconstructed_eigh(Z), *reconstructed_eigh(Z, None, "U"), linalg.eigvalsh(Z, lower=False)]
    on_both([Z], results, value)
    other = value @ value.conj().T + np.eye(4) * (1 + 3j)
    W = at.zmatrix("W")
    w, v = linalg.eigh(Z, W)
    results = [w, abs(v), linalg.eigvalsh(Z, W, lower=False), linalg.solve(W, Z, assume_a="pos")]
    results += [linalg.cholesky(W), linalg.Cholesky(lower=False)(W), linalg.matrix_inverse(W), *linalg.slogdet(W)]
    results += [linalg.det(W), linalg.expm(W / 10), linalg.pinv(W, hermitian=True)]
    on_both([Z, W], results, value, other)


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems(trans, lower):
    a, b = complex_numbers(5, 5), complex_numbers(5, 2, seed=3)
    W = at.zmatrix("W")
    results = [
        linalg.solve_triangular(Z, right, trans=trans, lower=lower, unit_diagonal=unit)
        for unit in (False, True)
        for right in (W, W[:, 0])
    ]
    results.append(linalg.cho_solve((Z, lower), W))
    on_both([Z, W], results, a, b)


def test_what_is_not_read_may_be_nan():
    value = np.where(np.tri(4, k=-1) > 0, np.nan, positive(4))
    results = [
        linalg.Cholesky(lower=False, on_error="nan")(X),
        linalg.solve(X, B, assume_a="pos", check_finite=False),
        linalg.solve(X, B, assume_a="sym", check_finite=False),
        linalg.solve(X, B, assume_a="pos", on_error="nan"),
        linalg.solve_triangular(X, B, check_finite=False),
        linalg.eigh(X, None, "U")[0],
    ]
    on_both([X, B], results, value, numbers(4))


def test_lu_factors():
    value, right = numbers(4, 4), numbers(4, 2)
    factors, pivots = linalg.lu_factor(X)
    results = [factors, pivots, PivotsToPermutation()(pivots), InverseByLU()(factors, pivots)]
    results += [linalg.lu_solve((factors, pivots), Y, trans) for trans in (0, 1)]
    results += [SolveByLU(transposed)(factors, pivots, Y[:, 0]) for transposed in (False, True)]
    on_both([X, Y], results, value, right)
    fail_alike(LinAlgError, [X, Y], results[3], SINGULAR, SINGULAR, match="singular")
    fail_alike(LinAlgError, [X, Y], SolveByLU()(factors, pivots, Y), SINGULAR, SINGULAR, match="singular")
    rows = at.lvector("rows")
    on_both([rows], PivotsToPermutation()(rows), np.array([2, 0, 2, 3]))
    for bad in ([0, 5], [-1, 0]):
        fail_alike(IndexError, [rows], PivotsToPermutation()(rows), np.array(bad), match="no row")


@pytest.mark.parametrize("bands", [(0, 0), (1, 1), (2, 0), (0, 2), (2, 1), (1, 3)])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_banded_systems(bands, n):
    ab, b = complex_numbers(sum(bands) + 1, n), complex_numbers(n, 2)
    W = at.zmatrix("W")
    x = linalg.solve_banded(bands, Z, W)
    on_both([Z, W], [x, linalg.solve_banded(bands, Z, W[:, 0])], ab, b)
    on_both([Z, W], x, ab, b[:, :0])


def test_rows_of_banded_systems_are_exchanged():
    on_both([X, B], linalg.solve_banded((1, 1), X, B), [[0, 1.0, 2.0], [0.0, 0.0, 3.0], [4.0, 5.0, 0.0]], np.ones(3))
    fail_alike(LinAlgError, [X, B], linalg.solve_banded((1, 0), X, B), np.zeros((2, 3)), np.ones(3), match="singular")


@pytest.mark.parametrize("lower", [True, False])
def test_hermitian_banded_systems(lower):
    for count in (1, 2, 3):
        bands = at.tensor(dtype="complex128", shape=(count, None))
        ab = complex_numbers(count, 5)
        ab[0 if lower else -1] = 10 + 1j
        x = linalg.solveh_banded(bands, B, lower=lower)
        on_both([bands, B], x, ab, numbers(5))
        fail_alike(LinAlgError, [bands, B], x, -ab, numbers(5))


def test_least_squares():
    tall, wide = numbers(5, 3), numbers(3, 5)
    results = [*linalg.lstsq(X, Y), *linalg.lstsq(X, Y[:, 0]), *linalg.lstsq(X, Y, 0.9)[::2]]
    for value in (tall, wide, np.zeros((2, 3))):
        on_both([X, Y], results, value, numbers(len(value), 2))
    deficient = np.ones((3, 2))
    found = aesara.function([X, B], linalg.lstsq(X, B), mode="JAX")(deficient, np.arange(3.0))
    np.testing.assert_allclose(found[0], [0.5, 0.5], rtol=1e-9)
    assert np.isnan(found[1]).all()  # of a number that has to be known: NumPy gives none
    assert found[2] == 1
    fail_alike(LinAlgError, [X, B], linalg.lstsq(X, B), NAN, np.ones(2), match="converge")


@pytest.mark.parametrize("norm", [0.0, 1e-6, 1.0, 5.0, 10.0, 300.0])
def test_exponentials_of_any_norm(norm):
    x = numbers(5, 5)
    x = norm * (x - x.T) / np.linalg.norm(x, 1)
    on_both([X, Y], [linalg.expm(X), ExpmGrad()(X, Y)], x, numbers(5, 5), rtol=1e-8)
    stiff = np.array([[-1e9, 1.0], [0.0, -1.0]])
    on_both([X], linalg.expm(X), stiff, rtol=1e-7)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_matrices_that_are_not_finite_have_no_exponential(value):
    """Nor has it a derivative there, whichever entry it is, and though the gradient for the result is finite."""
    f = aesara.function([X, Y], [linalg.expm(X), ExpmGrad()(X, Y)], mode="JAX")
    for place in np.ndindex(2, 2):
        x = np.eye(2)
        x[place] = value
        assert np.isnan(f(x, np.ones((2, 2)))).all(), place


def test_batches():
    x3, y3, b2 = at.dtensor3("x3"), at.dtensor3("y3"), at.dmatrix("b2")
    one = at.tensor(dtype="float64", shape=(1, None, None))
    value = np.stack([positive(3, seed) for seed in range(4)])
    results = [
        linalg.cholesky(x3),
        linalg.inv(x3),
        linalg.det(x3),
        *linalg.slogdet(x3),
        linalg.solve(x3, b2, b_ndim=1),
        linalg.solve(one, y3),
        linalg.solve_triangular(x3, one),
        linalg.svdvals(x3),
        linalg.eigh(x3)[0],
        linalg.expm(x3),
        *linalg.lu(x3),
        linalg.pinv(x3),
        linalg.matrix_rank(x3),
        *at.grad(linalg.cholesky(x3).sum() + linalg.det(x3).sum(), [x3]),
    ]
    inputs = [x3, y3, b2, one]
    on_both(inputs, results, value, value[:, :, :2], value[:, 0], value[:1])
    on_both(inputs, results, value[:0], value[:0, :, :2], value[:0, 0], value[:1])
    singular = value.copy()
    singular[2] = 0
    fail_alike(LinAlgError, [x3], linalg.inv(x3), singular)
    fail_alike(LinAlgError, [x3], linalg.cholesky(x3), singular, match="positive definite")
    fail_alike(ValueError, [x3, y3], linalg.solve(x3, y3), value, value[:2])
    found = linalg.solve(x3, y3, on_error="nan")
    want = on_both([x3, y3], found, singular, value)[0]
    assert np.isnan(want).any(axis=(1, 2)).tolist() == [False, False, True, False]
    x4 = at.tensor4("x4")
    on_both([x4, x3], linalg.solve(x4, x3), np.stack([value, value]), value)


def test_gradients():
    value = positive(4)
    costs = [
        linalg.cholesky(X).sum(),
        linalg.det(X) / 100,
        linalg.slogdet(X)[1],
        linalg.inv(X).sum(),
        linalg.pinv(X).sum(),
        linalg.solve(X, B).sum(),
        linalg.expm(X / 10)[0].sum(),
        linalg.eigh(X)[0][1],
        linalg.svdvals(X)[2],
        abs(linalg.qr(X)[1]).sum(),
        linalg.solve_banded((1, 2), X, B).sum(),
        linalg.eigvalsh(X, at.as_tensor(positive(4, 5)))[1],
    ]
    on_both([X, B], [at.grad(cost, X) for cost in costs], value, numbers(4), rtol=1e-8)


def test_transformations_by_jax():
    """The gradients that JAX finds of functions that read one triangle are gradients for it, too."""
    graphs = [
        linalg.cholesky(X),
        linalg.solve(X, B, assume_a="pos", lower=True),
        linalg.eigh(X)[0],
        linalg.inv(X),
        linalg.solve_triangular(X, B),
        linalg.expm(X / 10),
    ]
    value, right = positive(4), numbers(4)
    for graph in graphs:
        weights = numbers(*graph.eval({X: value, B: right}, on_unused_input="ignore").shape)
        cost = at.dot(graph.flatten(), weights.ravel())
        function = function_of([X, B], [cost, at.grad(cost, X)])
        found = jax.jit(jax.grad(lambda x, b: function(x, b)[0]))(value, right)
        np.testing.assert_allclose(found, function(value, right)[1], rtol=1e-8, atol=1e-10)
        both = jax.vmap(function, (0, None))(np.stack([value, value]), right)
        np.testing.assert_allclose(both[0][1], function(value, right)[0], rtol=1e-9)


def test_constants_are_checked_when_the_function_is_made():
    singular = at.as_tensor(SINGULAR)
    function = aesara.function([B], linalg.solve(singular, B), mode="JAX")
    with pytest.raises(LinAlgError, match="singular"):
        function(np.ones(2))


def test_errors_on_the_host():
    """Ops that run on the host raise the same errors as elsewhere, in each call."""
    function = aesara.function([X], linalg.sqrtm(X), mode="JAX")
    for _ in range(2):
        with pytest.raises(LinAlgError, match="negative eigenvalue"):
            function(NEGATIVE)
        np.testing.assert_allclose(function(-NEGATIVE), -NEGATIVE, rtol=1e-12)


WITHOUT_ROWS = {
    "lu_factor": lambda x: linalg.lu_factor(x),
    "lu_factor, gradient": lambda x: aesara.grad(linalg.lu_factor(x)[0].sum(), x),
    "lu": lambda x: linalg.lu(x),
    "lu_solve": lambda x: linalg.lu_solve(linalg.lu_factor(x), x),
    "lu_solve, gradient": lambda x: aesara.grad(linalg.lu_solve(linalg.lu_factor(x), x).sum(), x),
    "cholesky": lambda x: linalg.cholesky(x),
    "qr": lambda x: linalg.qr(x),
    "svd": lambda x: linalg.svd(x),
    "eigh": lambda x: linalg.eigh(x),
    "inv": lambda x: linalg.inv(x),
    "inv, gradient": lambda x: aesara.grad(linalg.inv(x).sum(), x),
    "det": lambda x: linalg.det(x),
    "det, gradient": lambda x: aesara.grad(linalg.det(x), x),
    "slogdet": lambda x: linalg.slogdet(x),
    "solve": lambda x: linalg.solve(x, x),
}


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_matrices_without_rows(name):
    on_both([X], WITHOUT_ROWS[name](X), np.zeros((0, 0)))
