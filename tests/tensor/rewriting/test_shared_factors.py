"""Number of factorizations left if several results are computed from one matrix."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.ifelse import ifelse
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.by_factors import InverseByLU, SolveByLU
from tests.tensor.rewriting.test_matrix_structure import MODES, PYTHON, A, B, b, c, compiled, ops_of

FACTORS = (linalg.Cholesky, linalg.Solve, linalg.MatrixInverse, linalg.Det, linalg.SLogDet, linalg.LUFactor)
x, y = at.dvectors("x", "y")
length, scale, noise = at.dscalars("length", "scale", "noise")


def kernel():
    apart = x[:, None] - x[None, :]
    return scale**2 * at.exp(-0.5 * apart**2 / length**2) + noise**2 * at.eye(x.shape[0])


def by_solve(K):
    return y @ linalg.solve(K, y, assume_a="pos") + linalg.slogdet(K)[1]


def by_factor(K):
    factor = linalg.cholesky(K)
    half = linalg.solve_triangular(factor, y, lower=True)
    return (half**2).sum() + 2 * at.log(at.diag(factor)).sum()


def by_inverse(K):
    return y @ linalg.inv(K) @ y + linalg.slogdet(K)[1]


def by_assumption(K):
    K = at.assume(K, positive_definite=True)
    return y @ linalg.inv(K) @ y + at.log(linalg.det(K))


@pytest.mark.parametrize(
    "form, factor",
    [(by_solve, "Cholesky"), (by_factor, "Cholesky"), (by_assumption, "Cholesky"), (by_inverse, "LUFactor")],
)
def test_marginal_likelihood_factors_its_matrix_once(form, factor, rng):
    """With the gradient, in all ways to write it; `explain` shows it too."""
    likelihood = -0.5 * form(kernel()) - 0.5 * x.shape[0] * np.log(2 * np.pi)
    outputs = [likelihood, *aesara.grad(likelihood, [length, scale, noise])]
    inputs = [x, y, length, scale, noise]
    places = np.linspace(0, 3, 12)
    point = [places, np.sin(places) + 0.1 * rng.normal(size=12), 0.7, 1.2, 0.3]
    expected = compiled(inputs, outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled(inputs, outputs, mode)
        assert ops_of(f, *FACTORS) == [factor]
        for value, want in zip(f(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-9)
    text = str(aesara.explain(compiled(inputs, outputs)))
    assert text.count("factorization of size") == 1 and "nothing in Python" in text


@pytest.mark.parametrize(
    "outputs, left",
    [
        ([linalg.solve(A, b), linalg.slogdet(A)[1]], ["LUFactor"]),
        ([linalg.solve(A, b), linalg.solve(A.T, c)], ["LUFactor"]),
        ([linalg.solve(A, B), linalg.inv(A), linalg.inv(A).T, linalg.det(A)], ["LUFactor"]),
        ([linalg.slogdet(A), linalg.det(A)], ["LUFactor"]),
        ([linalg.solve(A + A.T, b), linalg.cholesky(A + A.T)], ["Cholesky"]),
        ([linalg.cholesky(A + A.T), linalg.Cholesky(lower=False)(A + A.T)], ["Cholesky"]),
        ([linalg.cholesky(A), linalg.solve(A, b, assume_a="pos", lower=True)], ["Cholesky"]),
        ([linalg.cholesky(A.T), linalg.solve(A, b, assume_a="pos")], ["Cholesky"]),
        # other triangles, or a matrix that may not be symmetric
        ([linalg.cholesky(A), linalg.solve(A, b, assume_a="pos", lower=False)], ["Cholesky", "Solve"]),
        ([linalg.cholesky(A), linalg.slogdet(A)[1]], ["Cholesky", "SLogDet"]),
        ([linalg.Cholesky(on_error="nan")(A + A.T), linalg.slogdet(A + A.T)[1]], ["Cholesky", "SLogDet"]),
        ([linalg.solve(A, b), linalg.slogdet(B)[1]], ["SLogDet", "Solve"]),
        ([linalg.solve(A, b), linalg.solve(A, b, assume_a="sym")], ["Solve", "Solve"]),
        # what only one branch needs
        ([ifelse(at.lt(b[0], 0), linalg.solve(A, b), c), linalg.slogdet(A)[1]], ["SLogDet", "Solve"]),
    ],
)
def test_remaining_factorizations(outputs, left, rng):
    flat = [v for output in outputs for v in (output if isinstance(output, list) else [output])]
    random = rng.normal(size=(4, 4))
    definite = random @ random.T + np.eye(4)
    is_definite = any(isinstance(v.owner.op, (linalg.Cholesky, linalg.Solve)) for v in flat)
    for matrix in (definite, *([] if is_definite else [random])):
        point = [matrix, rng.normal(size=(4, 4)), *rng.normal(size=(2, 4))]
        expected = compiled([A, B, b, c], flat, PYTHON)(*point)
        for mode in MODES:
            f = compiled([A, B, b, c], flat, mode)
            assert sorted(ops_of(f, *FACTORS)) == left
            for value, want in zip(f(*point), expected):
                np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batches(mode, dtype, rng):
    matrices, vectors = at.tensor3("matrices", dtype=dtype), at.matrix("vectors", dtype=dtype)
    outputs = [
        linalg.solve(matrices, vectors, b_ndim=1), linalg.inv(matrices), *linalg.slogdet(matrices),
        linalg.det(matrices), linalg.solve(matrices.transpose(0, 2, 1), vectors[..., None]),
    ]  # fmt: skip
    f, g = compiled([matrices, vectors], outputs, mode), compiled([matrices, vectors], outputs, PYTHON)
    assert ops_of(f, *FACTORS) == ["LUFactor"]
    for count, order in ((3, 4), (1, 1), (0, 4), (3, 0)):
        point = rng.normal(size=(count, order, order)).astype(dtype), rng.normal(size=(count, order)).astype(dtype)
        for value, want in zip(f(*point), g(*point)):
            assert value.dtype == want.dtype
            np.testing.assert_allclose(value, want, rtol=1e-10 if dtype == "float64" else 1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_ill_conditioned(mode):
    """As near to the exact solution as the formulas as written."""
    n = 8
    hilbert = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    exact = (-1.0) ** np.arange(n)
    f = compiled([A, b], [linalg.solve(A, b), linalg.inv(A), linalg.slogdet(A)[1]], mode)
    assert ops_of(f, *FACTORS) == ["LUFactor"]
    solved, inverse, logarithm = f(hilbert, hilbert @ exact)
    condition = np.linalg.cond(hilbert) * np.finfo(float).eps
    np.testing.assert_allclose(solved, exact, rtol=condition)
    np.testing.assert_allclose(inverse, np.linalg.inv(hilbert), rtol=10 * condition)
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(hilbert)[1], rtol=condition)


@pytest.mark.parametrize("mode", MODES)
def test_errors(mode):
    f = compiled([A, b], [linalg.solve(A, b), linalg.slogdet(A)[1]], mode)
    g = compiled([A], [linalg.inv(A), linalg.det(A)], mode)
    for singular in (np.zeros((2, 2)), np.ones((2, 2))):
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            f(singular, np.ones(2))
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            g(singular)
    with pytest.raises(ValueError):
        f(np.ones((2, 3)), np.ones(2))
    with pytest.raises(ValueError):
        f(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="infs or NaNs"):
        f(np.eye(2), [np.nan, 1.0])
    sizes = compiled([A], [*linalg.slogdet(A), linalg.det(A)], mode)
    for value, want in zip(sizes(np.ones((2, 2))), (0, -np.inf, 0)):
        assert value == want
    h = compiled([A, b], [linalg.cholesky(A), linalg.solve(A, b, assume_a="pos", lower=True)], mode)
    with pytest.raises(np.linalg.LinAlgError):
        h(-np.eye(2), np.ones(2))


def test_fast_compile_leaves_all_as_it_is():
    f = compiled([A, b], [linalg.solve(A, b), linalg.slogdet(A)[1]], "FAST_COMPILE")
    assert ops_of(f, *FACTORS) == ["Solve", "SLogDet"] or ops_of(f, *FACTORS) == ["SLogDet", "Solve"]
    excluded = Mode("py", "fast_run").excluding("share_factorizations")
    assert "LUFactor" not in ops_of(compiled([A, b], [linalg.solve(A, b), linalg.slogdet(A)[1]], excluded))


def test_ops_of_factors(rng):
    matrix = rng.normal(size=(3, 3))
    factors, pivots = linalg.lu_factor(A)
    for transposed in (False, True):
        taken = matrix.T if transposed else matrix
        for given, value in ((b, rng.normal(size=3)), (B, rng.normal(size=(3, 2)))):
            solved = SolveByLU(transposed)(factors, pivots, given)
            for mode in ("FAST_COMPILE", "FAST_RUN"):
                f = compiled([A, given], solved, mode)
                np.testing.assert_allclose(f(matrix, value), np.linalg.solve(taken, value), rtol=1e-10)
                with pytest.raises(ValueError):
                    f(matrix, np.ones((4, 2)[: value.ndim]))
    inverse = InverseByLU()(factors, pivots)
    z = at.zmatrix("z")
    of_complex = compiled([z], InverseByLU()(*linalg.lu_factor(z)))
    np.testing.assert_allclose(compiled([A], inverse)(matrix), np.linalg.inv(matrix), rtol=1e-10)
    np.testing.assert_allclose(of_complex(matrix * 1j), np.linalg.inv(matrix * 1j), rtol=1e-10)
