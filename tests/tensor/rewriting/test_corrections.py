"""Equations and determinants of a diagonal plus any product of low rank: of the order of the rank, and as accurate."""

import mpmath
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor import linalg
from tests.closeness import assert_close
from tests.tensor.rewriting.test_matrix_structure import MODES, PYTHON, compiled, ops_of

ROWS, RANK = 16, 2
FACTORING = (linalg.Solve, linalg.MatrixInverse, linalg.SLogDet, linalg.LUFactor, linalg.Cholesky, linalg.Det)
RULES = ("local_solve_of_correction", "local_inverse_of_correction", "local_det_of_correction")
U, V = (at.tensor("float64", (ROWS, RANK), name=name) for name in "UV")
C = at.tensor("float64", (RANK, RANK), name="C")
v = at.tensor("float64", (ROWS,), name="v")
s = at.dscalar("s")
b, B = at.dvector("b"), at.dmatrix("B")
INPUTS = [U, V, C, v, s, b, B]
one = at.eye(ROWS)

MULTIPLES = {
    "difference": one - U @ U.T,
    "middle": s * one + U @ C @ U.T,
    "two sides": s * one + U @ V.T,
    "two sides and middle": one - 2 * (U @ C @ V.T),
    "identity behind": U @ C @ V.T - s * one,
    "diagonal in the middle": s * one + (U * v[:RANK]) @ U.T,
    "negated": one + -(U @ C @ U.T) / s,
}


def values(rng):
    return [
        rng.normal(size=(ROWS, RANK)), rng.normal(size=(ROWS, RANK)), rng.normal(size=(RANK, RANK)),
        rng.normal(size=ROWS), -0.7, rng.normal(size=ROWS), rng.normal(size=(ROWS, 3)),
    ]  # fmt: skip


@pytest.mark.parametrize("name", MULTIPLES)
def test_values_and_orders(name, rng):
    matrix = MULTIPLES[name]
    outputs = [linalg.solve(matrix, b), linalg.solve(matrix, B), linalg.inv(matrix) @ b, *linalg.slogdet(matrix)]
    outputs += [linalg.inv(matrix)]
    point = values(rng)
    expected = compiled(INPUTS, outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled(INPUTS, outputs, mode)
        for value, want in zip(f(*point), expected, strict=True):
            assert_close(value, want, units=2000, size=1.0)
        factored = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, FACTORING)]
        assert factored and all(max(n.inputs[0].type.shape) <= 2 * RANK for n in factored)
    f = compiled(INPUTS, outputs[:5])  # all but the whole inverse share one factorization
    assert [n for n in ops_of(f, *FACTORING) if n != "SolveByLU"] == ["LUFactor"]


@pytest.mark.parametrize("name", ["middle", "two sides"])
def test_gradients(name, rng):
    matrix = MULTIPLES[name]
    cost = linalg.solve(matrix, b).sum() + linalg.slogdet(matrix)[1]
    wrt = [U, C, b] if name != "two sides" else [U, V, s]
    point = values(rng)
    expected = compiled(INPUTS, aesara.grad(cost, wrt), PYTHON)(*point)
    f = compiled(INPUTS, aesara.grad(cost, wrt))
    assert "QRFull" in ops_of(f, linalg.QRFull)
    for value, want in zip(f(*point), expected, strict=True):
        assert_close(value, want, units=20000, size=1.0)


def exact(matrix, right):
    with mpmath.workdps(80):
        a = mpmath.matrix(matrix.shape[0])
        for i, j in np.ndindex(matrix.shape):
            a[i, j] = matrix[i, j]
        solved = mpmath.lu_solve(a, mpmath.matrix([mpmath.mpf(float(x)) for x in right]))
        return np.array([float(x) for x in solved])


def wide(matrix_of, *arrays):
    """A matrix in numbers of 80 digits."""
    with mpmath.workdps(80):
        lifted = [np.array([[mpmath.mpf(float(x)) for x in row] for row in np.atleast_2d(a)]) for a in arrays]
        return matrix_of(*lifted)


#: widths of columns, size of the middle, the number on the diagonal, and how near the matrix is to a singular one
HARD = [
    (1, 1, 1, None), (1e6, 1, 1, None), (1, 1e8, 1, None), (1, 1e-8, 1, None), (1, 1, 1e-6, None), (1, 1, 1e6, None),
    (1, 1, 1, 1e-9),
]  # fmt: skip


@pytest.mark.parametrize("spread_of_columns, middle, number, gap", HARD)
def test_solutions_are_as_accurate_as_by_factors_of_the_whole(spread_of_columns, middle, number, gap, rng):
    """At most ten times the error of the whole matrix's factors, but for a few units."""
    many = []
    matrix = MULTIPLES["middle"]
    by_rule = compiled(INPUTS, linalg.solve(matrix, b))
    as_written = compiled(INPUTS, linalg.solve(matrix, b), Mode("llvm", "fast_run").excluding(*RULES))
    assert ops_of(by_rule, linalg.QRFull) and not ops_of(as_written, linalg.QRFull)
    for _ in range(10):
        u, w, c, d, _, right, wide_right = values(rng)
        u, c = u * [1, spread_of_columns], c * middle
        if gap is not None:
            u, c = np.linalg.qr(u)[0], np.diag([-(1 - gap), 1.0])
        point = [u, w, c, d, number, right, wide_right]

        def whole(uu, cc, dd):
            return uu.dot(cc).dot(uu.T) + np.diag([dd[0][0]] * ROWS)

        truth = exact(wide(whole, u, c, np.array(float(number))), right)
        errors = [np.abs(f(*point) - truth).max() / np.abs(truth).max() for f in (by_rule, as_written)]
        many.append(errors)
    ours, theirs = np.median(many, axis=0)
    assert ours <= 10 * theirs + 1e-15


@pytest.mark.parametrize("name", MULTIPLES)
def test_logarithms_of_determinants(name, rng):
    matrix = MULTIPLES[name]
    point = values(rng)
    output = at.log(abs(linalg.det(matrix)))
    f = compiled(INPUTS, output)
    assert_close(f(*point), compiled(INPUTS, output, PYTHON)(*point), units=500, size=1.0)
    (node,) = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, FACTORING)]
    assert max(node.inputs[0].type.shape) <= 2 * RANK


def test_what_is_singular_is_an_error(rng):
    point = values(rng)
    singular = dict(zip(INPUTS, point))
    f = compiled(INPUTS, linalg.solve(MULTIPLES["two sides"], b))
    with pytest.raises(np.linalg.LinAlgError):
        f(*[0.0 if x is s else singular[x] for x in INPUTS])
    unit = np.eye(ROWS)[:, :RANK]
    g = compiled(INPUTS, linalg.solve(MULTIPLES["difference"], b))
    with pytest.raises(np.linalg.LinAlgError):
        g(*[unit if x is U else singular[x] for x in INPUTS])


@pytest.mark.parametrize("ask", [lambda m: linalg.solve(m, b), lambda m: linalg.slogdet(m)[1], linalg.inv])
def test_an_identity_that_does_not_fit_is_an_error(ask, rng):
    count = at.lscalar("count")
    point = values(rng)
    for mode in MODES:
        f = compiled([*INPUTS, count], ask(at.eye(count) - U @ U.T), mode)
        assert np.isfinite(f(*point, ROWS)).all()
        with pytest.raises(ValueError):
            f(*point, ROWS - 1)


def test_what_is_left_as_it_is():
    wide_u = at.tensor("float64", (ROWS, ROWS // 2))
    unknown = at.dmatrix()
    left = {
        "too many columns": one - wide_u @ wide_u.T,
        "columns of unknown number": one - unknown @ unknown.T,
        "a diagonal that may be negative": at.diag(v) + U @ C @ U.T,
        "a diagonal of different numbers": at.diag(at.exp(v)) + U @ C @ U.T,
        "no diagonal": C[0, 0] + U @ C @ U.T,
        "scaled rows": one + v[:, None] * (U @ C @ U.T),
        "divided rows": one + (U @ C @ U.T) / v[:, None],
        "scaled columns": one + (U @ C @ U.T) * v,
    }
    for name, matrix in left.items():
        f = compiled([*INPUTS, wide_u, unknown], linalg.solve(matrix, b))
        assert not ops_of(f, linalg.QRFull), name
