"""Linear algebra at the edges: wrong input, failures, equal eigenvalues, batches, memory and dtypes."""

import numpy as np
import pytest
import scipy.linalg

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor import linalg, nlinalg, slinalg
from aesara.tensor.linear_algebra import least_squares
from aesara.tensor.vectorization.blockwise import Blockwise
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", "FAST_RUN"]
SINGULAR = np.ones((2, 2))
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])


def values(rng, *shape):
    return rng.normal(size=shape)


def positive(rng, *batch, n=3):
    x = rng.normal(size=(*batch, n, n))
    return x @ x.swapaxes(-1, -2) + n * np.eye(n)


class TestWrongInput:
    @pytest.mark.parametrize(
        "function",
        [
            linalg.cholesky,
            linalg.matrix_inverse,
            linalg.det,
            linalg.slogdet,
            linalg.eig,
            linalg.eigh,
            linalg.expm,
            linalg.logm,
            linalg.sqrtm,
            linalg.schur,
            linalg.lu_factor,
            lambda x: linalg.solve(x, np.ones(2)),
            lambda x: linalg.pinv(x, hermitian=True),
        ],
    )
    def test_not_square(self, function):
        with pytest.raises(ValueError, match="must be a square matrix; .* has 2 rows and 3 columns"):
            function(at.tensor("float64", shape=(2, 3), name="x"))
        x = at.dmatrix("x")
        result = function(x)
        result = list(result) if isinstance(result, (list, tuple)) else result
        for mode in MODES:
            with pytest.raises((ValueError, np.linalg.LinAlgError)):
                aesara.function([x], result, mode=mode)(np.ones((2, 3)))

    @pytest.mark.parametrize("function", [linalg.cholesky, linalg.det, linalg.svd, linalg.qr, linalg.pinv, linalg.expm])
    def test_vectors(self, function):
        with pytest.raises(ValueError, match="must be a matrix; got .* of type .*float64"):
            function(at.dvector("v"))

    def test_shapes_that_disagree(self):
        a = at.tensor("float64", shape=(3, 3))
        with pytest.raises(ValueError, match="2, 3 must be the same"):
            linalg.solve(a, at.tensor("float64", shape=(2, 1)))
        with pytest.raises(ValueError, match="numbers of rows 2, 3 must be the same"):
            linalg.lstsq(a, at.tensor("float64", shape=(2,)))
        with pytest.raises(ValueError, match="must be the same"):
            linalg.solve_sylvester(a, a, at.tensor("float64", shape=(2, 3)))
        x, b = at.dmatrix("x"), at.dvector("b")
        for function in (linalg.solve, linalg.solve_triangular, lambda x, b: linalg.cho_solve((x, True), b)):
            with pytest.raises(ValueError, match="do not fit"):
                aesara.function([x, b], function(x, b))(np.eye(3), np.ones(2))

    def test_parameters(self):
        x = at.dmatrix("x")
        with pytest.raises(ValueError, match="on_error must be one of 'raise', 'nan'; got 'other'"):
            linalg.Cholesky(on_error="other")
        with pytest.raises(ValueError, match="foo is not a recognized matrix structure"):
            linalg.solve(x, x, assume_a="foo")
        with pytest.raises(ValueError, match="trans must be one of"):
            linalg.solve_triangular(x, x, trans="X")
        with pytest.raises(ValueError, match="mode must be one of"):
            linalg.qr(x, "other")
        with pytest.raises(ValueError, match="UPLO must be one of 'L', 'U'"):
            linalg.eigh(x, UPLO="X")
        with pytest.raises(ValueError, match="direct"):
            linalg.solve_discrete_lyapunov(x, x, method="other")
        with pytest.raises(TypeError, match="no linear algebra in float16.*float32"):
            linalg.det(at.tensor("float16", shape=(2, 2)))
        with pytest.raises(TypeError, match="whole number"):
            linalg.matrix_power(x, 0.5)


class TestFailures:
    @pytest.mark.parametrize("mode", MODES)
    def test_singular_matrices(self, mode):
        x = at.dmatrix("x")
        for function in (linalg.matrix_inverse, lambda x: linalg.solve(x, x), lambda x: linalg.solve_triangular(x, x)):
            given = np.zeros((2, 2)) if function is not linalg.matrix_inverse else SINGULAR
            with pytest.raises(np.linalg.LinAlgError, match="(?s)[Ss]ingular.*Apply node"):
                aesara.function([x], function(x), mode=mode)(given)

    @pytest.mark.parametrize("mode", MODES)
    def test_not_positive_definite(self, mode):
        x = at.dmatrix("x")
        with pytest.raises(np.linalg.LinAlgError, match="(?s)not positive definite.*Apply node"):
            aesara.function([x], linalg.cholesky(x), mode=mode)(INDEFINITE)
        factor = linalg.Cholesky(on_error="nan")(x)
        f = aesara.function([x], [factor, aesara.grad(factor.sum(), x)], mode=mode)
        factor, gradient = f(INDEFINITE)
        assert np.isnan(factor).all() and np.isnan(gradient[np.tril_indices(2)]).all()
        assert_close(f(2 * np.eye(2))[0], np.sqrt(2) * np.eye(2))

    def test_nan(self):
        x = at.dmatrix("x")
        given = np.array([[np.nan, 0.0], [0.0, 1.0]])
        for function in (linalg.cholesky, lambda x: linalg.solve(x, x), lambda x: linalg.solve_triangular(x, x)):
            with pytest.raises(ValueError, match="infs or NaNs"):
                aesara.function([x], function(x))(given)
        assert np.isnan(linalg.Cholesky(on_error="nan")(x).eval({x: given})).all()

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("where", ["matrix", "gradient", "nowhere"])
    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
    def test_exponentials_of_what_is_not_finite_have_no_slope(self, dtype, wrong, where, mode):
        x, g = (at.tensor(dtype, shape=(None, None)) for _ in range(2))
        given = {"matrix": np.eye(2, dtype=dtype), "gradient": np.ones((2, 2), dtype)}
        if where in given:
            given[where][0, 1] = wrong
        slope = aesara.function([x, g], linalg.ExpmGrad()(x, g), mode=mode)(*given.values())
        assert slope.dtype == dtype
        if where in given:
            assert np.isnan(slope).all()
        else:
            assert_close(slope, np.full((2, 2), np.e, dtype))

    @pytest.mark.parametrize("function", [linalg.eig, linalg.logm, linalg.sqrtm])
    def test_complex_results_of_real_matrices(self, function):
        x, z = at.dmatrix("x"), at.zmatrix("z")
        given = np.array([[0.0, 1.0], [-1.0, 0.0]]) if function is linalg.eig else np.diag([-1.0, 2.0])
        one = function(x)[0] if function is linalg.eig else function(x)
        with pytest.raises(np.linalg.LinAlgError, match="complex.*astype"):
            one.eval({x: given})
        other = function(z)[0] if function is linalg.eig else function(z)
        assert np.abs(other.eval({z: given.astype(complex)}).imag).max() >= 1

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("place", range(6))
    @pytest.mark.parametrize("pair", [[[1.0, 2.0], [-3.0, 1.0]], [[-1.0, 2.0], [-3.0, -1.0]]], ids=["right", "left"])
    @pytest.mark.parametrize("name", ["logm", "sqrtm"])
    def test_a_negative_eigenvalue_is_seen_in_every_place(self, name, pair, place, mode):
        """Beside positive ones and pairs of conjugates, on whichever side of the imaginary axis these are."""
        blocks = [np.array(pair), np.array([[3.0]]), np.array(pair) + 0.5, np.array([[2.0]]), np.array(pair) + 0.25]
        x = at.dmatrix("x")
        f = aesara.function([x], getattr(linalg, name)(x), mode=mode)
        for value in (4.0, -4.0):
            matrix = scipy.linalg.block_diag(*blocks[:place], value, *blocks[place:])
            matrix += np.triu(np.full(matrix.shape, 0.1), 2)
            if value > 0:
                assert_close(f(matrix), getattr(scipy.linalg, name)(matrix).real, units=200, size=1.0)
            else:
                with pytest.raises(np.linalg.LinAlgError, match="complex.*astype"):
                    f(matrix)


class TestEqualEigenvalues:
    """Functions that all vectors of an eigenvalue enter in the same way have gradients; others have none."""

    @pytest.mark.parametrize("matrix", [np.eye(3), np.diag([2.0, 2.0, 5.0]), np.zeros((3, 3))])
    def test_functions_of_values(self, matrix):
        x = at.dmatrix("x")
        cost = at.exp(linalg.eigh(x)[0]).sum()
        gradient = aesara.function([x], aesara.grad(cost, x))(matrix)
        assert_close(gradient, np.tril(scipy.linalg.expm(matrix)), size=1.0)

    @pytest.mark.parametrize("matrix", [np.eye(3), np.diag([2.0, 2.0, 5.0])])
    def test_trace_of_a_function(self, matrix):
        x = at.dmatrix("x")
        w, v = linalg.eigh(x)
        cost = at.dot(v * at.exp(w), v.T).trace()
        gradient = aesara.function([x], aesara.grad(cost, x))(matrix)
        assert_close(gradient, np.tril(scipy.linalg.expm(matrix)), size=1.0)

    def test_what_has_no_derivative_is_nan(self):
        x = at.dmatrix("x")
        w, v = linalg.eigh(x)
        gradient = aesara.function([x], aesara.grad(at.dot(v * at.exp(w), v.T)[0, 1], x))
        assert np.isnan(gradient(np.eye(3))).any()
        assert np.isfinite(gradient(np.diag([1.0, 2.0, 4.0]))).all()

    @pytest.mark.parametrize("matrix", [np.eye(3), np.diag([2.0, 2.0, -2.0]), np.zeros((3, 3))])
    def test_singular_values(self, matrix):
        x = at.dmatrix("x")
        u, s, vh = linalg.svd(x, full_matrices=False)
        gradient = aesara.function([x], aesara.grad((s**2).sum(), x))(matrix)
        assert_close(gradient, 2 * matrix, size=1.0)
        cost = at.dot(at.dot(u * s, vh), at.constant(matrix).T).trace() if matrix.any() else (s**3).sum()
        assert np.isfinite(aesara.function([x], aesara.grad((s**2).sum() + 0 * cost, x))(matrix)).all()

    @pytest.mark.parametrize("full", [False, True])
    @pytest.mark.parametrize("dtype", ["float64", "complex64"])
    def test_singular_vectors_have_the_signs_that_scipy_gives_them(self, dtype, full, rng):
        x = at.matrix("x", dtype=dtype)
        f = aesara.function([x], linalg.svd(x, full_matrices=full))
        for shape in ((4, 4), (5, 2), (2, 5)):
            given = np.asarray(values(rng, *shape) * (1 if dtype == "float64" else 1 - 2j), dtype)
            for ours, theirs in zip(f(given), scipy.linalg.svd(given, full_matrices=full)):
                assert_close(ours, theirs, size=10.0)

    @pytest.mark.parametrize("lower", [True, False])
    @pytest.mark.parametrize("dtype", ["float64", "complex128"])
    def test_eigenvectors_have_the_signs_that_scipy_gives_them(self, dtype, lower, rng):
        x, b = at.matrix("x", dtype=dtype), at.matrix("b", dtype=dtype)
        one = aesara.function([x], linalg.eigh(x, UPLO="L" if lower else "U")[1])
        two = aesara.function([x, b], linalg.eigh(x, b, UPLO="L" if lower else "U")[1])
        for _ in range(10):
            given = np.asarray(values(rng, 4, 4) * (1 if dtype == "float64" else 1 - 2j), dtype)
            given += given.conj().T
            scale = np.asarray(positive(rng, n=4), dtype)
            assert_close(one(given), scipy.linalg.eigh(given, lower=lower, driver="evd")[1], size=10.0)
            assert_close(two(given, scale), scipy.linalg.eigh(given, scale, lower=lower, driver="gvd")[1], size=10.0)

    def test_functions_that_do_not_go_through_vectors(self, rng):
        x = at.dmatrix("x")
        weights = values(rng, 3, 3)
        for function, slope in ((linalg.sqrtm, 0.25), (linalg.logm, 0.25), (linalg.expm, np.exp(4))):
            gradient = aesara.function([x], aesara.grad((function(x) * weights).sum(), x))(4 * np.eye(3))
            np.testing.assert_allclose(gradient, slope * weights, rtol=1e-12)


class TestBatches:
    @pytest.mark.parametrize("mode", MODES)
    def test_results_and_gradients_of_members(self, mode, rng):
        x, b = at.dtensor3("x"), at.dmatrix("b")
        given, right = positive(rng, 4), values(rng, 4, 3)
        solution = linalg.solve(x, b, assume_a="pos", b_ndim=1)
        cost = linalg.slogdet(x)[1].sum() + (linalg.cholesky(x) ** 3).sum() + (solution * b).sum()
        gradient = aesara.function([x, b], aesara.grad(cost, x), mode=mode)(given, right)
        y, c = at.dmatrix("y"), at.dvector("c")
        member = linalg.slogdet(y)[1] + (linalg.cholesky(y) ** 3).sum()
        member += (linalg.solve(y, c, assume_a="pos") * c).sum()
        one = aesara.function([y, c], aesara.grad(member, y))
        np.testing.assert_allclose(gradient, [one(*pair) for pair in zip(given, right)], rtol=1e-11, atol=1e-12)

    def test_matrices_and_vectors(self, rng):
        matrices, vector = at.dtensor3("x"), at.dvector("b")
        given, right = positive(rng, 4), values(rng, 3)
        assert_close(
            linalg.solve(matrices, vector).eval({matrices: given, vector: right}),
            [np.linalg.solve(member, right) for member in given],
        )
        assert isinstance(linalg.cholesky(matrices).owner.op, Blockwise)
        assert isinstance(linalg.cholesky(at.dmatrix()).owner.op, linalg.Cholesky)

    @pytest.mark.parametrize("trans", [0, 1])
    def test_solutions_by_lu(self, trans, rng):
        x, b, c = at.dtensor3("x"), at.dmatrix("b"), at.dtensor3("c")
        given, vectors, matrices = values(rng, 4, 3, 3), values(rng, 4, 3), values(rng, 4, 3, 2)
        factors = linalg.lu_factor(x)
        outputs = [linalg.lu_solve(factors, b, trans, b_ndim=1), linalg.lu_solve(factors, c, trans)]
        slope = aesara.grad((outputs[0] ** 2).sum(), b)
        *found, slope = aesara.function([x, b, c], [*outputs, slope])(given, vectors, matrices)
        turned = given.swapaxes(1, 2) if trans else given
        np.testing.assert_allclose(found[0], np.linalg.solve(turned, vectors[..., None])[..., 0], rtol=1e-11)
        np.testing.assert_allclose(found[1], np.linalg.solve(turned, matrices), rtol=1e-11)
        back = np.linalg.solve(turned.swapaxes(1, 2), 2 * found[0][..., None])[..., 0]
        np.testing.assert_allclose(slope, back, rtol=1e-11)
        with pytest.raises(ValueError, match=r"lu_solve: .* has 1 dimension\(s\), but the signature \(n,n\)"):
            linalg.lu_solve((at.dvector("v"), at.lvector("p")), at.dvector("b"))

    def test_three_diagonals(self, rng):
        low, diagonal, up, b = at.dmatrix("low"), at.dmatrix("diagonal"), at.dvector("up"), at.dmatrix("b")
        given = values(rng, 4, 2), 5 + values(rng, 4, 3), values(rng, 2), values(rng, 4, 3)
        x = linalg.solve_tridiagonal(low, diagonal, up, b, b_ndim=1)
        found = aesara.function([low, diagonal, up, b], x)(*given)
        for k, member in enumerate(found):
            matrix = np.diag(given[0][k], -1) + np.diag(given[1][k]) + np.diag(given[2], 1)
            np.testing.assert_allclose(matrix @ member, given[3][k], rtol=1e-12)

    def test_static_shapes(self):
        x = at.tensor("float64", shape=(5, 4, 2))
        assert linalg.svd(x, full_matrices=False)[0].type.shape == (5, 4, 2)
        assert linalg.qr(x)[1].type.shape == (5, 2, 2)
        assert linalg.pinv(x).type.shape == (5, 2, 4)
        assert linalg.det(at.tensor("float64", shape=(5, None, 4))).type.shape == (5,)
        assert linalg.cholesky(at.tensor("float64", shape=(None, 4))).type.shape == (4, 4)


@pytest.mark.parametrize("mode", MODES)
def test_memory_and_empty_matrices(mode, rng):
    x = at.dmatrix("x")
    given = positive(rng, n=4)
    outputs = [
        linalg.cholesky(x),
        linalg.matrix_inverse(x),
        linalg.det(x),
        linalg.solve(x, x),
        linalg.solve_triangular(x, x),
        linalg.expm(x / 10),
        linalg.cho_solve((x, True), x),
        *linalg.lu(x),
        *linalg.qr(x, pivoting=True),
    ]
    f = aesara.function([x], outputs, mode=mode)
    plain = f(given)
    for other in (np.asfortranarray(given), np.repeat(given, 2, 1)[:, ::2], given[::-1].copy()[::-1]):
        for one, two in zip(plain, f(other)):
            np.testing.assert_array_equal(one, two)
    empty = f(np.zeros((0, 0)))
    assert empty[2] == 1 and all(value.size == 0 for k, value in enumerate(empty) if k != 2)


def test_names_of_aesara():
    assert nlinalg.matrix_inverse is linalg.matrix_inverse and slinalg.solve is linalg.solve
    assert str(slinalg.cholesky) == "Cholesky{lower=True, destructive=False, on_error='raise'}"
    assert str(slinalg.solvetriangular) == (
        "SolveTriangular{lower=False, trans=0, unit_diagonal=False, check_finite=True}"
    )
    assert str(slinalg.Solve()) == "Solve{assume_a='gen', lower=False, check_finite=True}"
    x = at.dmatrix("x")
    assert str(nlinalg.eigh(x, "U")[0].owner.op) == "Eigh{UPLO='U'}"
    assert str(nlinalg.qr(x)[0].owner.op) == "QRFull{mode='reduced'}"


def test_gradients_of_batches_without_members():
    """Ops whose signature depends on their inputs have it in derived graphs as well."""
    x = at.dtensor3("x")
    reference = Mode(linker="py", optimizer=None)
    for y in (at.linalg.cholesky(x), at.linalg.solve(x, x), at.linalg.solve_triangular(x, x)):
        f = aesara.function([x], at.grad(y.sum(), x), mode=reference)
        assert f(np.zeros((0, 4, 4))).shape == (0, 4, 4)


a, t, v, s = at.dmatrix("a"), at.dtensor3("t"), at.dvector("v"), at.dscalar("s")
of_three = at.tensor("float64", shape=(3, None))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: linalg.solve_banded((1, 0), of_three, v), ValueError, "must have 2 rows.*it has 3"),
        (lambda: linalg.solve_banded((-1, 0), a, v), ValueError, "must not be negative; got -1 and 0"),
        (lambda: linalg.solveh_banded(a, v), ValueError, "number of diagonals must be known when the graph is built"),
        (lambda: linalg.Solve().make_node(a, t), ValueError, "`b` must be a matrix or a vector; got .*float64"),
        (lambda: linalg.tensorinv(a, ind=0), ValueError, "must be positive; got 0"),
        (lambda: linalg.tensorinv(a, ind=2), ValueError, "a tensor with more than 2 dimensions"),
        (lambda: linalg.tensorsolve(v, a), ValueError, "`a` must have as many dimensions as `b` or more"),
        (lambda: least_squares.Lstsq().make_node(a, v, v), ValueError, "`rcond` must be a scalar"),
        (lambda: linalg.lu(a, permute_l=True, p_indices=True), ValueError, "Only one of permute_l and p_indices"),
        (lambda: linalg.matrix_power(v, 2), ValueError, "matrix_power needs a matrix; got .*float64"),
        (lambda: linalg.matrix_dot(), ValueError, "matrix_dot needs one matrix or more"),
        (lambda: linalg.matrix_rank(a, tol=0.1, rtol=0.1), ValueError, "can't be both set"),
        (lambda: linalg.cond(v), ValueError, "cond needs a matrix"),
        (lambda: linalg.orth(t), ValueError, "orth needs one matrix, since the shape of the result"),
        (lambda: linalg.null_space(v), ValueError, "null_space needs one matrix"),
    ],
)  # fmt: skip
def test_refusals(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("mode", MODES)
def test_what_is_no_matrix(mode):
    for value in (np.zeros(3), np.array([0.0, 2.0])):
        assert aesara.function([v], linalg.matrix_rank(v), mode=mode)(value) == np.linalg.matrix_rank(value)
    assert aesara.function([], linalg.block_diag(), mode=mode)().shape == scipy.linalg.block_diag().shape == (1, 0)
    assert aesara.function([s], linalg.kron(s, s), mode=mode)(3.0) == np.kron(3.0, 3.0)


@pytest.mark.parametrize("b", [(3,), (3, 2), (2, 3, 2), (4, 2, 3, 1)])
@pytest.mark.parametrize("x", [(3, 3), (2, 3, 3), (4, 2, 3, 3)])
@pytest.mark.parametrize("mode", MODES)
def test_solutions_for_orthogonal_matrices_and_their_batches(x, b, mode, rng):
    """Equations of a matrix of eigenvectors are solved by a product with its transpose."""
    ours, right = at.tensor("float64", (None,) * len(x)), at.tensor("float64", (None,) * len(b))
    given, value = rng.normal(size=x), rng.normal(size=b)
    f = aesara.function([ours, right], linalg.solve(linalg.eigh(ours)[1], right), mode=mode)
    expected = np.linalg.solve(np.linalg.eigh(given)[1], value[:, None] if b == (3,) else value)
    assert_close(f(given, value), expected[..., 0] if b == (3,) else expected, size=1.0)
    assert mode == "FAST_COMPILE" or not any("Solve" in str(node.op) for node in f.maker.fgraph.apply_nodes)
