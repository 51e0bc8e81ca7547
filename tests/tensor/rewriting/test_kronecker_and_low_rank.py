"""Equations and determinants of Kronecker products, of blocks, and of diagonals plus products of low rank."""

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.traversal import ancestors
from aesara.tensor import linalg
from tests.tensor.rewriting.test_matrix_structure import MODES, PYTHON, compiled, ops_of

A, B, C = at.dmatrices("A", "B", "C")
b, v = at.dvectors("b", "v")
s = at.dscalar("s")
U = at.tensor("float64", shape=(12, 3), name="U")
D = at.diag(at.exp(v))
K = at.kron(A, B)
known = [at.assume(x, positive_definite=True) for x in (A, B)]


def definite(rng, n):
    x = rng.normal(size=(n, n))
    return x @ x.T + n * np.eye(n)


def orders(f):
    """The static shapes of the matrices that are factored."""
    return [node.inputs[0].type.shape for node in f.maker.fgraph.toposort() if isinstance(node.op, linalg.Cholesky)]


@pytest.mark.parametrize(
    "output, left",
    [
        (linalg.solve(K, b), ["Solve", "Solve"]),
        (linalg.solve(K, C), ["Solve", "Solve"]),
        (linalg.inv(K) @ b, ["Solve", "Solve"]),
        (linalg.inv(K), ["Inv", "Inv"]),
        (linalg.slogdet(at.kron(linalg.cholesky(A), linalg.inv(B))), ["Cholesky", "SLogDet"]),
        (linalg.solve(at.kron(*known), b), ["Cholesky", "Cholesky", "CholeskySolve", "CholeskySolve"]),
        (linalg.cholesky(at.kron(*known)), ["Cholesky", "Cholesky"]),
        (linalg.det(at.kron(linalg.cholesky(A), linalg.cholesky(B))), ["Cholesky", "Cholesky"]),
        (linalg.det(at.kron(A + A.T, B + B.T)), ["SLogDet", "SLogDet"]),
        (at.log(linalg.det(at.kron(A + A.T, B + B.T))), ["SLogDet", "SLogDet"]),
        # whose factors are made of numbers, and multiplied with some
        (linalg.solve(2 * at.kron(at.exp(-(A**2)), B), b), ["Solve", "Solve"]),
        (linalg.slogdet(at.kron(at.exp(-((b[:2, None] - b[None, :2]) ** 2)), B + B.T)), ["SLogDet", "SLogDet"]),
        # what is one matrix
        (linalg.cholesky(K), ["Cholesky"]),
        (linalg.slogdet(K), ["SLogDet"]),
        (linalg.solve(K + at.eye(6), b), ["Solve"]),
        (linalg.solve((A[:, None, :, None] * B[None, :, None, :]).transpose(1, 0, 2, 3).reshape((6, 6)), b), ["Solve"]),
    ],
)
def test_kronecker_products(output, left, rng):
    outputs = output if isinstance(output, list) else [output]
    point = [definite(rng, 2), definite(rng, 3), rng.normal(size=(6, 2)), rng.normal(size=6)]
    expected = compiled([A, B, C, b], outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled([A, B, C, b], outputs, mode)
        assert sorted(ops_of(f)) == left
        for value, want in zip(f(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_and_errors_of_kronecker_products(mode, rng):
    loss = (linalg.solve(K, b) * v).sum() + linalg.slogdet(at.kron(*known))[1]
    outputs = [loss, *aesara.grad(loss, [A, B, b])]
    point = [definite(rng, 2), definite(rng, 3), *rng.normal(size=(2, 6))]
    expected = compiled([A, B, b, v], outputs, PYTHON)(*point)
    for value, want in zip(compiled([A, B, b, v], outputs, mode)(*point), expected):
        np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-12)
    f = compiled([A, B, b], linalg.solve(K, b), mode)
    for wrong in ((np.zeros((2, 2)), point[1]), (np.ones((2, 2)), point[1]), (point[0], np.ones((3, 3)))):
        with pytest.raises(np.linalg.LinAlgError):
            f(*wrong, point[2])
    for sizes in ((np.eye(2), np.eye(3), np.ones(5)), (np.ones((2, 3)), np.ones((3, 2)), np.ones(6))):
        with pytest.raises(ValueError):
            f(*sizes)
    assert f(np.ones((0, 0)), np.eye(3), np.ones(0)).shape == (0,)


BLOCKS = linalg.block_diag(A, B)
OF_SYMMETRIC = linalg.block_diag(A + A.T, B + B.T)


@pytest.mark.parametrize(
    "output, left",
    [
        (linalg.solve(BLOCKS, b), ["Solve", "Solve"]),
        (linalg.solve(BLOCKS, C), ["Solve", "Solve"]),
        (linalg.solve(BLOCKS.T, b), ["Solve", "Solve"]),
        (linalg.solve(BLOCKS, b, assume_a="pos"), ["Solve", "Solve"]),
        (linalg.inv(BLOCKS) @ b, ["Solve", "Solve"]),
        (linalg.inv(BLOCKS), ["MatrixInverse", "MatrixInverse"]),
        (linalg.cholesky(BLOCKS), ["Cholesky", "Cholesky"]),
        (linalg.slogdet(OF_SYMMETRIC), ["SLogDet", "SLogDet"]),
        (at.log(linalg.det(OF_SYMMETRIC)), ["SLogDet", "SLogDet"]),
        (linalg.solve(linalg.block_diag(A, [[2.0]], B)[:5, :5], b[:5]), ["Solve"]),
        # what is one matrix, or what may have blocks that are not square
        (linalg.slogdet(BLOCKS), ["SLogDet"]),
        (linalg.Cholesky(on_error="nan")(BLOCKS), ["Cholesky"]),
        (
            linalg.solve(at.concatenate([at.concatenate([A, A @ C[:2, :2]], 1), BLOCKS[2:, :4]])[:4, :4], b[:4]),
            ["Solve"],
        ),
    ],
)
def test_block_diagonal_matrices(output, left, rng):
    outputs = output if isinstance(output, list) else [output]
    point = [definite(rng, 2), definite(rng, 3), rng.normal(size=(5, 2)), rng.normal(size=5)]
    expected = compiled([A, B, C, b], outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled([A, B, C, b], outputs, mode)
        assert sorted(op.replace("Inv", "MatrixInverse") if op == "Inv" else op for op in ops_of(f)) == left
        for value, want in zip(f(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_and_errors_of_blocks(mode, rng):
    """With gradients there is one factorization of each block."""
    loss = (linalg.solve(OF_SYMMETRIC, b) * v).sum() + at.log(abs(linalg.det(OF_SYMMETRIC)))
    outputs = [loss, *aesara.grad(loss, [A, B, b])]
    point = [definite(rng, 2), definite(rng, 3), *rng.normal(size=(2, 5))]
    expected = compiled([A, B, b, v], outputs, PYTHON)(*point)
    f = compiled([A, B, b, v], outputs, mode)
    assert [type(node.op).__name__ for node in f.maker.fgraph.toposort()].count("LUFactor") == 2
    for value, want in zip(f(*point), expected):
        np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-12)
    f = compiled([A, B, b], linalg.solve(BLOCKS, b), mode)
    with pytest.raises(np.linalg.LinAlgError):
        f(np.ones((2, 2)), point[1], point[2])
    for sizes in ((np.eye(2), np.eye(3), np.ones(6)), (np.ones((2, 3)), np.ones((3, 2)), np.ones(5))):
        with pytest.raises(ValueError):
            f(*sizes)
    assert f(np.ones((0, 0)), np.eye(3), np.ones(3)).shape == (3,)


@pytest.mark.parametrize(
    "matrix",
    [
        D + U @ U.T,
        s**2 * at.eye(12) + U @ U.T,
        U @ U.T + at.diag(at.softplus(v)) * at.exp(s),
        D + (U * at.exp(b[:3])) @ U.T,
        D + U @ at.diag(at.exp(b[:3])) @ U.T,
        D + U @ (at.exp(b[:3])[:, None] * U.T),
    ],
)
def test_low_rank(matrix, rng):
    """One factorization of the order of the rank, with gradients; two where the diagonal has different numbers."""
    loss = b @ linalg.solve(matrix, b) + linalg.slogdet(matrix)[1] + linalg.inv(matrix).sum()
    inputs = [U, v, b, s]
    outputs = [loss, *aesara.grad(loss, inputs, disconnected_inputs="ignore")]
    point = [rng.normal(size=(12, 3)), rng.normal(size=12), rng.normal(size=12), 0.7]
    expected = compiled(inputs, outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled(inputs, outputs, mode)
        if ops_of(f).count("Cholesky") == 1:
            assert set(ops_of(f)) == {"Cholesky", "CholeskySolve"}
            assert v not in ancestors([matrix])
        else:
            assert set(ops_of(f)) == {"Cholesky", "CholeskySolve", "SolveTriangular"}
        assert set(orders(f)) == {(3, 3)} and len(orders(f)) <= 2
        for value, want in zip(f(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("middle", [U @ known[0] @ U.T, U @ (known[0] @ U.T)])
def test_a_definite_matrix_in_the_middle(middle, rng):
    loss = b @ linalg.solve(D + middle, b) + linalg.slogdet(D + middle)[1]
    inputs = [U, A, v, b]
    outputs = [loss, *aesara.grad(loss, inputs)]
    point = [rng.normal(size=(12, 3)), definite(rng, 3), rng.normal(size=12), rng.normal(size=12)]
    expected = compiled(inputs, outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled(inputs, outputs, mode)
        assert set(ops_of(f)) <= {"Cholesky", "CholeskySolve", "SolveTriangular"}
        for value, want in zip(f(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-10)


WIDE = at.tensor("float64", shape=(12, 6))


NEAR_MISSES = [
    at.diag(v) + U @ U.T,  # may be negative, or zero in places
    at.diag(v**2) + U @ U.T,
    D + WIDE @ WIDE.T,
    D + A @ A.T,
    D + U @ U.T + B,
    at.diag(at.exp(v), 1)[1:, 1:] + U @ U.T,
]
#: which are not known to be definite: see test_corrections.py
CORRECTIONS = [
    s * at.eye(12) + U @ U.T,
    s * at.eye(12) - U @ U.T,
    at.eye(12) + U @ (2 * U).T,
    s * at.eye(12) + (U * v[:3]) @ U.T,
    s * at.eye(12) + U @ A @ U.T,
    at.eye(12) + U @ known[0] @ (2 * U).T,
]
#: which neither rule takes, since the diagonal has different numbers
OF_NEITHER = [D - U @ U.T, D + U @ (2 * U).T, D + (U * v[:3]) @ U.T, D + U @ A @ U.T, D + U @ known[0] @ (2 * U).T]
DEFINITE_ONLY = Mode("llvm", "fast_run").excluding(
    "local_solve_of_correction", "local_inverse_of_correction", "local_det_of_correction"
)


@pytest.mark.parametrize(
    "matrix, mode", [(m, "FAST_RUN") for m in NEAR_MISSES + OF_NEITHER] + [(m, DEFINITE_ONLY) for m in CORRECTIONS]
)
def test_near_misses(matrix, mode):
    inputs = [U, WIDE, A, B, v, b, s]
    assert ops_of(compiled(inputs, linalg.solve(matrix, b), mode)) == ["Solve"]
    assert ops_of(compiled(inputs, linalg.slogdet(matrix)[1], mode)) == ["SLogDet"]


@pytest.mark.filterwarnings("ignore:An ill-conditioned matrix")
@pytest.mark.parametrize("size", [1e-2, 1e-5, 1e-7])
@pytest.mark.parametrize("product", [U @ U.T, (U * at.exp(at.zeros(3))) @ U.T])
def test_ill_conditioned(product, size, rng):
    """Nearly as good as factors of the whole matrix, in proportion to its condition."""
    matrix = s**2 * at.eye(12) + product
    outputs = [linalg.solve(matrix, b), linalg.slogdet(matrix)[1], linalg.inv(matrix)]
    f = compiled([U, b, s], outputs)
    assert set(ops_of(f)) == {"Cholesky", "CholeskySolve"}
    u, right = rng.normal(size=(12, 3)), rng.normal(size=12)
    with mpmath.workdps(60):
        x = mpmath.matrix(u.tolist())
        exact_matrix = mpmath.mpf(size) ** 2 * mpmath.eye(12) + x * x.T
        solved = np.array([float(e) for e in mpmath.lu_solve(exact_matrix, mpmath.matrix(right.tolist()))])
        inverse = np.array((exact_matrix**-1).tolist(), dtype=float)
        logarithm = float(mpmath.log(mpmath.det(exact_matrix)))
    bound = 10 * np.finfo(float).eps * np.linalg.norm(u, 2) ** 2 / size**2
    for value, exact in zip(f(u, right, size), (solved, logarithm, inverse)):
        assert np.linalg.norm(value - exact) <= bound * np.linalg.norm(exact)
    written = compiled([U, b, s], outputs, PYTHON)(u, right, size)
    for value, other, exact in zip(f(u, right, size), written, (solved, logarithm, inverse)):
        unit = np.finfo(float).eps * np.linalg.norm(exact)
        assert np.linalg.norm(value - exact) <= 4 * np.linalg.norm(other - exact) + 16 * unit


#: logarithms of numbers on the diagonal: a few that are very small, or large, are no trouble to factors of the whole
SPREADS = {
    "one small": [-28.0, *[0.0] * 11],
    "as many small ones as the rank": [-28.0, -20.0, -35.0, *[0.0] * 9],
    "more": [-28.0, -20.0, -30.0, -25.0, *[0.0] * 8],
    "one large": [28.0, *[0.0] * 11],
    "all sizes": list(np.linspace(-18, 18, 12)),
    "small ones and large ones": [-28.0, 28.0, -14.0, 14.0, *[0.0] * 8],
}


@pytest.mark.parametrize("spread", SPREADS)
def test_a_diagonal_of_many_orders_of_magnitude(spread, rng):
    """Errors are no larger than by a Cholesky factor, or LU factors, of the whole matrix."""
    outputs = [linalg.solve(D + U @ U.T, b), linalg.slogdet(D + U @ U.T)[1], linalg.inv(D + U @ U.T)]
    f = compiled([U, b, v], outputs)
    assert set(orders(f)) == {(3, 3)}
    d, right = np.array(SPREADS[spread]), rng.normal(size=12)
    for sizes in (np.ones(12), np.geomspace(1e-3, 1e3, 12)):
        u = rng.normal(size=(12, 3)) * sizes[:, None]
        with mpmath.workdps(80):
            x = mpmath.matrix(u.tolist())
            whole = x * x.T + mpmath.diag([mpmath.exp(mpmath.mpf(float(e))) for e in d])
            solved = np.array([float(e) for e in mpmath.lu_solve(whole, mpmath.matrix(right.tolist()))])
            inverse = np.array((whole**-1).tolist(), dtype=float)
            logarithm = float(mpmath.log(mpmath.det(whole)))
        matrix = u @ u.T + np.diag(np.exp(d))
        size = np.sqrt(np.diag(matrix))
        condition = np.linalg.cond(matrix / size / size[:, None])  # that an error of a Cholesky factor depends on
        found = f(u, right, d)
        for value, exact, scale in zip(found, (solved, logarithm, inverse), (size, 1.0, np.outer(size, size))):
            bound = 10 * np.finfo(float).eps * condition * np.abs(exact * scale).max()
            assert np.abs((value - exact) * scale).max() <= max(bound, 1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_errors_of_low_rank(mode):
    f = compiled([U, b, s], linalg.solve(s**2 * at.eye(12) + U @ U.T, b), mode)
    with pytest.raises(np.linalg.LinAlgError):
        f(np.ones((12, 3)), np.ones(12), 0.0)
    with pytest.raises(ValueError):
        f(np.ones((12, 3)), np.ones(11), 1.0)
