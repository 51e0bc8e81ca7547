"""Gradients through Cholesky factors: what rules leave of them, and that values are those of what is written."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.gradient import Rop, verify_grad
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky
from aesara.tensor.linear_algebra.cholesky import CholeskyPullback
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import Dot22
from tests.closeness import assert_close
from tests.tensor.rewriting.test_matrix_structure import MODES, PYTHON, compiled, ops_of

N = 5
K, Y = at.dmatrices("K", "Y")
y, w = at.dvectors("y", "w")
#: what takes the cube of the order of the matrix
CUBIC = (linalg.Cholesky, linalg.SolveTriangular, linalg.CholeskySolve, InverseByCholesky, CholeskyPullback, Dot, Dot22)


def log_det(factor):
    return at.log(at.diag(factor)).sum()


def of_lower(right):
    factor = linalg.cholesky(K)
    return (linalg.solve_triangular(factor, right, lower=True) ** 2).sum() + 2 * log_det(factor)


def of_upper(right):
    factor = linalg.Cholesky(lower=False)(K)
    return -0.3 * (linalg.solve_triangular(factor, right, trans=1) ** 2).sum() - log_det(factor)


def of_solution(right):
    factor = linalg.cholesky(K)
    return (right * linalg.cho_solve((factor, True), right)).sum() / 7 + y[0] * log_det(factor)


def values(rng, n=N, dtype="float64"):
    x = rng.normal(size=(n, n))
    given = x @ x.T + n * np.eye(n), rng.normal(size=(n, 3)), rng.normal(size=n), rng.normal(size=n)
    return [value.astype(dtype) for value in given]


@pytest.mark.parametrize("form", [of_lower, of_upper, of_solution])
@pytest.mark.parametrize("right", [y, y[:, None], Y, 2.5 * Y, -Y])
@pytest.mark.parametrize("static", [False, True])
def test_likelihoods_need_the_inverse_and_no_product_of_the_order(form, right, static, rng):
    cost = form(right)
    if static:
        cost = aesara.clone_replace(cost, {K: at.specify_shape(K, (N, N))})
    outputs = [cost, aesara.grad(cost, K)]
    point = values(rng)
    expected = compiled([K, Y, y, w], outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled([K, Y, y, w], outputs, mode)
        for value, want in zip(f(*point), expected, strict=True):
            assert_close(value, want, units=2000, size=1.0)
        names = ops_of(f, *CUBIC)
        assert names.count("InverseByCholesky") == names.count("Cholesky") == 1
        assert "CholeskyPullback" not in names
        wide = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, linalg.SolveTriangular)]
        # one solution with each triangle, and at most the product of the weights with themselves
        assert len(wide) <= 2 and names.count("Dot") + names.count("Dot22") <= 1


@pytest.mark.parametrize(
    "cost",
    [
        lambda f: (f * at.outer(w, y)).sum(),
        lambda f: at.log(at.diag(f)).dot(w),
        lambda f: at.diag(f).prod() + at.diag(f, 1).sum(),
        lambda f: (linalg.solve_triangular(f, y, lower=True) * w).sum() + log_det(f),
        lambda f: (linalg.solve_triangular(f, y, lower=True, trans=1) ** 2).sum(),
        lambda f: (linalg.solve_triangular(f, y, lower=True, unit_diagonal=True) ** 2).sum() + log_det(f),
        lambda f: (linalg.solve_triangular(at.tril(f, -1) + at.eye(N), y, lower=True) ** 2).sum(),
        lambda f: (linalg.cho_solve((f, True), w) * y).sum() - log_det(f),
        lambda f: (linalg.cho_solve((f, True), Y) ** 2).sum(),
        lambda f: at.sqrt(at.diag(f)).sum() - (at.tril(f, -1) ** 2).sum() + at.triu(f).sum(),
        lambda f: (f.T @ f).sum() + 1 / at.diag(f).sum(),
        lambda f: (0.5 / at.diag(f)).sum() * y[0] - log_det(f) / y[1],
    ],
)
@pytest.mark.parametrize("lower", [True, False])
def test_values_of_other_functions_of_a_factor(cost, lower, rng):
    factor = linalg.Cholesky(lower=lower)(K)
    value = cost(factor if lower else factor.T)
    gradient = aesara.grad(value, K)
    point = values(rng)
    expected = compiled([K, Y, y, w], gradient, PYTHON)(*point)
    assert (np.triu(expected, 1) if lower else np.tril(expected, -1)).any() == 0
    for mode in [*MODES, "FAST_COMPILE"]:
        assert_close(compiled([K, Y, y, w], gradient, mode)(*point), expected, units=2000, size=1.0)


@pytest.mark.parametrize("form", [of_lower, of_upper, of_solution])
def test_second_derivatives(form, rng):
    point = values(rng)

    def symmetric(x):
        return aesara.clone_replace(form(y), {K: x @ x.T + at.eye(N), y: at.constant(point[2])})

    verify_grad(lambda x: aesara.grad(symmetric(x), x), [point[0] / N], rng=rng, eps=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_pullback_and_inverse_as_ops(dtype, lower, n, rng):
    x, g = rng.normal(size=(2, n, n)), rng.normal(size=(n, n))
    made = (x[0] + (1j * x[1] if dtype.startswith("c") else 0)).astype(dtype)
    matrix = made @ made.conj().T + n * np.eye(n, dtype=dtype)
    factor = np.linalg.cholesky(matrix)
    factor = factor if lower else factor.conj().T
    filled = factor + (np.triu(np.ones((n, n)), 1) if lower else np.tril(np.ones((n, n)), -1)).astype(dtype)
    a, b = at.matrix("a", dtype=dtype), at.matrix("b", dtype=dtype)
    ops = {
        "pullback": CholeskyPullback(lower)(a, b),
        "expression": CholeskyPullback(lower).expression(a, b),
        "inverse": InverseByCholesky(lower)(a),
        "triangle": InverseByCholesky(lower, whole=False)(a),
    }
    for mode in ("FAST_COMPILE", "FAST_RUN", Mode("py", None)):
        found = {k: compiled([a, b], v, mode)(filled, g.astype(dtype)) for k, v in ops.items()}
        assert_close(found["pullback"], found["expression"], units=500, size=1.0)
        assert_close(found["inverse"], np.linalg.inv(matrix), units=500, size=1.0)
        triangle = np.tril(found["inverse"]) if lower else np.triu(found["inverse"])
        assert_close(found["triangle"], triangle, units=500, size=1.0)
        if n > 1:
            with pytest.raises(ValueError):
                compiled([a, b], ops["pullback"], mode)(filled, g[:, 1:].astype(dtype))
            with pytest.raises(ValueError):
                compiled([a, b], ops["inverse"], mode)(filled[1:], g.astype(dtype))
            with pytest.raises(np.linalg.LinAlgError):
                compiled([a, b], ops["inverse"], mode)(filled - np.diag(np.diag(filled)), g.astype(dtype))


def test_forward_mode_and_batches_of_the_pullback(rng):
    matrix = values(rng)[0]
    factor, g = np.linalg.cholesky(matrix), rng.normal(size=(N, N))
    a, d = at.dmatrices("a", "d")
    along = Rop(CholeskyPullback()(a, d), [a, d], [K, K])
    eps = 1e-6
    low = np.tril(g)
    f = compiled([a, d], CholeskyPullback()(a, d))
    wanted = (f(factor + eps * low, g + eps * low) - f(factor - eps * low, g - eps * low)) / (2 * eps)
    np.testing.assert_allclose(compiled([a, d, K], along)(factor, g, low), wanted, rtol=1e-6, atol=1e-6)
    many = at.dtensor3("many")
    cost = at.log(at.diagonal(linalg.cholesky(many), 0, -2, -1)).sum()
    gradients = compiled([many], aesara.grad(cost, many))(np.stack([matrix, 2 * matrix]))
    one = compiled([K], aesara.grad(log_det(linalg.cholesky(K)), K))
    assert_close(gradients, np.stack([one(matrix), one(2 * matrix)]), units=2000, size=1.0)


def test_factors_that_are_nan_have_gradients_that_are_nan():
    factor = linalg.Cholesky(on_error="nan")(K)
    cost = (linalg.solve_triangular(factor, y, lower=True, check_finite=False) ** 2).sum() + log_det(factor)
    for mode in MODES:
        gradient = compiled([K, y], aesara.grad(cost, K), mode)(-np.eye(2), np.ones(2))
        assert np.isnan(np.tril(gradient)[np.tril_indices(2)]).all()


def test_the_identity_as_right_hand_side_of_a_factor(rng):
    matrix = values(rng)[0]
    inverse = linalg.cho_solve((linalg.cholesky(K), True), at.eye(K.shape[0]))
    f = compiled([K], inverse)
    assert ops_of(f, *CUBIC) == ["Cholesky", "InverseByCholesky"]
    assert_close(f(matrix), np.linalg.inv(matrix), units=2000, size=1.0)
    # a factor that is given may be singular, which is no error of `cho_solve`
    assert ops_of(compiled([K], linalg.cho_solve((K, True), at.eye(K.shape[0]))), *CUBIC) == ["CholeskySolve"]


def outer(lower, left, right):
    """A column times a row: of the transposes for a factor above the diagonal."""
    left, right = (left, right) if lower else (right, left)
    return left[:, None] * right[None, :]


#: gradients that a program states itself, for a factor, what solves ``factor.T x = b``, and whether it is the lower one
STATED = {
    "difference": (lambda f, solved, lower: outer(lower, solved(y), y) - outer(lower, solved(w), 2 * w), True),
    "column times row times number": (lambda f, solved, lower: outer(lower, solved(y), y) * K[0, 0], True),
    "reciprocals": (lambda f, solved, lower: at.diag(1 / at.diag(f)) - 3 * at.diag(at.reciprocal(at.diag(f))), True),
    "negated": (lambda f, solved, lower: -(outer(lower, solved(-y), y) - at.diag(2 / at.diag(f))), True),
    "another diagonal": (lambda f, solved, lower: outer(lower, solved(y), y) - at.diag(w), False),
    "unit diagonal": (
        lambda f, solved, lower: outer(
            lower, linalg.solve_triangular(f, y, lower=lower, trans=int(lower), unit_diagonal=True), y
        ),
        False,
    ),
}


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("name", STATED)
def test_stated_gradients(name, lower, rng):
    state, is_replaced = STATED[name]
    factor = linalg.Cholesky(lower=lower)(K)
    stated = state(factor, lambda b: linalg.solve_triangular(factor, b, lower=lower, trans=int(lower)), lower)
    gradient = aesara.grad(None, K, known_grads={factor: stated})
    given, _, *vectors = values(rng)
    # What is of another kind takes equations with as many right-hand sides as the matrix has rows.
    nodes = compiled([K, y, w], gradient).maker.fgraph.apply_nodes
    solved = [node.inputs[1].type.ndim for node in nodes if isinstance(node.op, linalg.SolveTriangular)]
    assert (2 not in solved) == is_replaced
    expected = compiled([K, y, w], gradient, Mode("py", None))(given, *vectors)
    for mode in MODES:
        assert_close(compiled([K, y, w], gradient, mode)(given, *vectors), expected, units=2000, size=1.0)


@pytest.mark.parametrize(
    ("above", "is_number"),
    [(1, True), (2.5, True), (y[0], True), (at.specify_shape(y[:1], 1), True), (y, False), (y + 1, False)],
)
@pytest.mark.parametrize("lower", [True, False])
def test_the_inverse_for_numbers_divided_by_the_diagonal(above, is_number, lower, rng):
    """A vector divided by the diagonal is no multiple of its reciprocal, and solutions on both sides are needed."""
    factor = linalg.Cholesky(lower=lower)(K)
    output = CholeskyPullback(lower)(factor, at.diag(above / at.diag(factor)))
    point = values(rng)
    expected = compiled([K, y], output, PYTHON)(point[0], point[2])
    for mode in MODES:
        f = compiled([K, y], output, mode)
        assert_close(f(point[0], point[2]), expected, units=2000, size=1.0)
        names = ops_of(f, *CUBIC)
        assert ("InverseByCholesky" in names) == is_number and ("SolveTriangular" in names) != is_number
