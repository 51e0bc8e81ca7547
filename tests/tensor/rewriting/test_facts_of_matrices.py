"""Inferred properties of matrices hold for their values, and are inferred for each op that makes matrices."""

import numpy as np
import pytest

import aesara.tensor as at
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.rewriting.matrices.facts import facts_of, is_square, kronecker_factors, triangle_in
from tests.tensor.evaluate import evaluate

N = 4
A, B, P = at.dmatrices("A", "B", "P")
v, s, r = at.dvector("v"), at.dscalar("s"), at.dscalar("r")
wide = at.tensor("float64", shape=(3, N), name="wide")
sized, free = at.tensor("float64", shape=(N, N), name="sized"), at.dmatrix("free")
definite = at.assume(P, positive_definite=True)


def values(rng):
    a, b, c, d = rng.normal(size=(4, N, N))
    return {A: a, B: b, P: c @ c.T + np.eye(N), v: rng.normal(size=N), s: np.float64(0.7), r: np.float64(-1.3),
            wide: rng.normal(size=(3, N)), sized: d, free: rng.normal(size=(3, 5))}  # fmt: skip


def near(x, y):
    return np.allclose(x, y, rtol=1e-7, atol=1e-7 * np.max(np.abs(y), initial=1))


def eigenvalues(m):
    return np.linalg.eigvalsh(m) / max(1, np.abs(m).max())


TRUE = {
    "lower_triangular": lambda m: near(np.triu(m, 1), 0 * m),
    "upper_triangular": lambda m: near(np.tril(m, -1), 0 * m),
    "diagonal": lambda m: near(m - m * np.eye(*m.shape), 0 * m),
    "identity": lambda m: m.shape[0] == m.shape[1] and near(m, np.eye(len(m))),
    "permutation": lambda m: near(m @ m.T, np.eye(len(m))) and near(m * (m - 1), 0 * m),
    "orthogonal": lambda m: m.shape[0] == m.shape[1] and near(m @ m.T, np.eye(len(m))),
    "symmetric": lambda m: m.shape[0] == m.shape[1] and near(m, m.T),
    "hermitian": lambda m: m.shape[0] == m.shape[1] and near(m, m.conj().T),
    "positive_definite": lambda m: near(m, m.T) and (eigenvalues(m) > -1e-9).all(),
    "positive_semidefinite": lambda m: near(m, m.T) and (eigenvalues(m) > -1e-9).all(),
    "positive_diagonal": lambda m: (np.diagonal(m) > 0).all(),
}


def check(matrix, given):
    """The facts that are known of a matrix, all of which are true of its value."""
    facts, value = facts_of(matrix), evaluate(matrix, given)
    if np.isfinite(value).all():
        for fact in facts:
            assert TRUE[fact](value), (fact, value)
        assert value.shape[0] == value.shape[1] or not is_square(matrix)
    return facts


def mask(k, n=N):
    return at.constant(np.tri(n, n, k, dtype=bool))


PERMUTATION = np.eye(N)[[2, 0, 3, 1]]
LOWER, UPPER, DIAGONAL = "lower_triangular", "upper_triangular", "diagonal"
#: Matrices, and what is known of them.
KNOWN = {
    "general": (A, ()),
    "Cholesky": (linalg.cholesky(P), (LOWER, "positive_diagonal")),
    "Cholesky, upper": (Cholesky(lower=False)(P), (UPPER, "positive_diagonal")),
    "Cholesky or NaN": (Cholesky(on_error="nan")(P), ()),
    "inverse": (linalg.inv(A), ()),
    "inverse of a triangle": (linalg.inv(at.tril(A)), (LOWER,)),
    "inverse of a definite one": (linalg.inv(definite), ("positive_definite", "symmetric", "hermitian")),
    "Q": (linalg.qr(sized)[0], ("orthogonal",)),
    "R": (linalg.qr(sized)[1], (UPPER,)),
    "R alone": (linalg.qr(A, mode="r"), (UPPER,)),
    "Q of unknown size": (linalg.qr(A)[0], ()),
    "Q, complete": (linalg.qr(wide, mode="complete")[0], ("orthogonal",)),
    "R, complete": (linalg.qr(wide, mode="complete")[1], (UPPER,)),
    "Q of raw": (linalg.qr(sized, mode="raw")[0], ()),
    "eigenvectors": (linalg.eigh(definite)[1], ("orthogonal",)),
    "U": (linalg.svd(A)[0], ("orthogonal",)),
    "V": (linalg.svd(A)[2], ("orthogonal",)),
    "U, not full": (linalg.svd(wide, full_matrices=False)[0], ("orthogonal",)),
    "V, not full": (linalg.svd(wide, full_matrices=False)[2], ()),
    "eye": (at.eye(N), ("identity",)),
    "eye above": (at.eye(N, k=1), ()),
    "eye of other lengths": (at.eye(3, 5), ()),
    "eye of a length": (at.eye(A.shape[0]), ("identity",)),
    "tri": (at.tri(N), (LOWER,)),
    "tri below": (at.tri(N, k=-1), (LOWER,)),
    "tri above": (at.tri(N, k=1), ()),
    "diag": (at.diag(v), (DIAGONAL,)),
    "diag above": (at.diag(v, 1), ()),
    "tril": (at.tril(A), (LOWER,)),
    "tril below": (at.tril(A, -1), (LOWER,)),
    "tril above": (at.tril(A, 1), ()),
    "triu": (at.triu(A), (UPPER,)),
    "triu above": (at.triu(A, 1), (UPPER,)),
    "triu below": (at.triu(A, -1), ()),
    "triangle by a constant mask": (at.switch(mask(0), A, 0.0), (LOWER,)),
    "upper one by a constant mask": (at.switch(mask(-1), 0.0, A), (UPPER,)),
    "by another mask": (at.switch(mask(1), A, 0.0), ()),
    "by a mask that is given": (at.switch(at.tensor("bool", shape=(None, None)), A, 0.0), ()),
    "with ones elsewhere": (at.switch(mask(0), A, 1.0), ()),
    "product of triangles": (at.tril(A) @ at.tril(B), (LOWER,)),
    "product of different triangles": (at.tril(A) @ at.triu(B), ()),
    "product with its transpose": (A @ A.T, ("symmetric", "positive_semidefinite")),
    "product with its transpose times another number": ((s * A) @ (r * A.T), ()),
    "product with its transpose times one number": ((s * A) @ (s * A.T), ("symmetric", "positive_semidefinite")),
    "of three": (A @ definite @ A.T, ("symmetric",)),
    "difference with its transpose": (A - A.T, ()),
    "square of an antisymmetric one": ((A - A.T) ** 2, ("symmetric",)),
    "transposed": (at.tril(A).T, (UPPER,)),
    "scaled": (at.tril(A) * s, (LOWER,)),
    "rows scaled": (at.tril(A) * v, (LOWER,)),
    "divided by a number": (at.tril(A) / s, (LOWER,)),
    "divided by numbers": (at.tril(A) / v, ()),
    "sum of triangles": (at.tril(A) + at.tril(B, -1), (LOWER,)),
    "sum with a number": (at.tril(A) + s, ()),
    "odd function": (at.sin(at.triu(A)), (UPPER,)),
    "cosine": (at.cos(at.triu(A)), ()),
    "sum of definite ones": (definite + A @ A.T, ("positive_definite",)),
    "sum with a multiple of the identity": (A @ A.T + at.eye(N), ("positive_semidefinite",)),
    "Kronecker": (linalg.kron(at.tril(sized), at.eye(3)), (LOWER,)),
    "Kronecker with one that is wide": (linalg.kron(at.tril(sized), at.tril(at.ones((3, 5)))), ()),
    "Kronecker with one that turns out to be wide": (linalg.kron(at.tril(sized), at.tril(free)), ()),
    "Kronecker with one that turns out to be tall": (linalg.kron(at.triu(sized), at.triu(free.T)), ()),
    "Kronecker of triangles": (linalg.kron(at.tril(sized), at.tril(at.ones((3, 3)))), (LOWER,)),
    "constant triangle": (at.constant(np.tril(np.ones((N, N)))), (LOWER,)),
    "constant diagonal": (at.constant(np.diag([1.0, 2, 3, 4])), (DIAGONAL,)),
    "constant permutation": (at.constant(PERMUTATION), ("permutation",)),
    "mask by numbers": (at.assume(A, permutation=True) @ at.constant(PERMUTATION), ("permutation", "orthogonal")),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_facts(name, rng):
    matrix, expected = KNOWN[name]
    given = values(rng)
    if name == "mask by numbers":
        given[A] = PERMUTATION.T
    known = facts_of(matrix)
    if name != "by a mask that is given":
        check(matrix, given)
    assert set(expected) <= known
    assert expected or not known
    assert ("positive_definite" in known) == ("definite" in name or "identity" in known), known


UNARY = [
    lambda x: x.T, lambda x: -x, abs, at.square, at.sin, at.cos, at.exp, at.expm1, lambda x: at.tril(x),
    lambda x: at.triu(x), lambda x: at.tril(x, -1), lambda x: at.triu(x, 1), lambda x: at.tril(x, 1), lambda x: x + x.T,
    lambda x: x - x.T, lambda x: x @ x.T, lambda x: x.T @ x, lambda x: x * 2.0, lambda x: x * s, lambda x: x / s,
    lambda x: x * v, lambda x: x + s, lambda x: x**2, lambda x: x**3, lambda x: x * x.T, lambda x: x @ P @ x.T,
    lambda x: at.maximum(x, x.T), lambda x: at.tanh(x - x.T) ** 2, lambda x: x / 3 + at.eye(N), lambda x: linalg.inv(x),
    lambda x: x[::-1], lambda x: x.astype("float32").astype("float64"),
]  # fmt: skip
BINARY = [
    at.add, at.sub, at.mul, at.dot, at.true_divide, lambda x, y: x @ y @ x.T, lambda x, y: x @ y - y.T @ x.T,
    lambda x, y: at.switch(mask(0), x, y), lambda x, y: at.add(x, y, x.T), lambda x, y: x.T @ y + y.T @ x,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_facts_of_random_expressions_are_true(seed):
    rng = np.random.default_rng([seed, 11])
    given = values(rng)
    constants = [at.constant(c) for c in (PERMUTATION, np.tril(np.ones((N, N))), np.zeros((N, N)))]
    pool = [A, B, at.tril(A), at.triu(B), at.diag(v), at.eye(N), A + A.T, A - A.T, definite, linalg.cholesky(P)]
    pool += [*constants, linalg.eigh(P)[1], linalg.qr(sized)[0]]
    start = len(pool)
    for _ in range(10):
        if rng.random() < 0.5:
            made = UNARY[rng.integers(len(UNARY))](pool[rng.integers(len(pool))])
        else:
            made = BINARY[rng.integers(len(BINARY))](*(pool[k] for k in rng.integers(len(pool), size=2)))
        try:
            value = evaluate(made, given)
        except np.linalg.LinAlgError:
            continue
        if np.isfinite(value).all() and np.abs(value).max() < 1e6:
            pool.append(made)
    for matrix in pool[start:]:
        check(matrix, given)


def test_triangles_of_matrices():
    """The matrix of which something is one triangle with the diagonal."""
    assert triangle_in(at.tril(A)) == (A, True) and triangle_in(at.triu(A)) == (A, False)
    assert triangle_in(at.switch(mask(0), sized, 0.0)) == (sized, True)
    others = [at.switch(mask(0), A, 1.0), at.switch(A > 0, A, 0.0)]
    for other in (A, at.tril(A, -1), at.tril(A, 1), at.triu(A, 1), *others):
        assert triangle_in(other) is None


def test_kronecker_products():
    one = at.tensor("float64", shape=(1, 1))
    for x, y in ((A, B), (sized, at.eye(3)), (A, one), (one, A)):
        first, second = kronecker_factors(linalg.kron(x, y))
        rng = np.random.default_rng(3)
        given = values(rng) | {one: np.array([[2.5]])}
        wanted = evaluate(linalg.kron(x, y), given)
        np.testing.assert_allclose(np.kron(evaluate(first, given), evaluate(second, given)), wanted, rtol=1e-14)
        first, second = kronecker_factors(linalg.kron(x, y) * s)
        found = np.kron(evaluate(first, given), evaluate(second, given))
        np.testing.assert_allclose(found, given[s] * wanted, rtol=1e-13)
    for matrix in (linalg.kron(wide, A), A, A.reshape((2, 8)), (A * B).reshape((N, N))):
        assert kronecker_factors(matrix) is None


def test_which_products_are_square():
    wide, square = at.dmatrix("wide"), [linalg.inv(A), linalg.inv(B)]
    assert is_square(square[0] @ square[1]) and is_square(wide @ wide.T)
    assert not any(map(is_square, [wide, square[0] @ wide, wide @ square[1], wide @ wide, wide @ square[0] @ wide.T]))
