"""Rewriting of matrix expressions: the ops left, and values, gradients and errors of the expressions as written."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.assume import Assume
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting import linalg as names
from aesara.tensor.rewriting.matrices.facts import core_op, facts_of
from tests.closeness import assert_close
from tests.tensor.rewriting.passes import rewrite

PYTHON = Mode("py", None)
MODES = ["FAST_RUN", Mode("py", "fast_run")]
A, B = at.dmatrices("A", "B")
b, c = at.dvectors("b", "c")

#: Ops that take the cube of the order of a matrix
COSTLY = (
    linalg.Cholesky, linalg.Solve, linalg.MatrixInverse, linalg.Det, linalg.SLogDet, linalg.LUFactor, linalg.QRFull,
    linalg.Eigh, linalg.SVD,
)  # fmt: skip
SOLVES = (linalg.SolveTriangular, linalg.CholeskySolve)


def ops_of(f, *kinds):
    """The names of the ops of linear algebra in a compiled function, in order."""
    nodes = f.maker.fgraph.toposort()
    return [type(core_op(node)).__name__ for node in nodes if isinstance(core_op(node), kinds or (*COSTLY, *SOLVES))]


def compiled(inputs, outputs, mode="FAST_RUN"):
    return aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore")


def symmetric_part(x):
    return x + x.T


def values_of(rng, n=4):
    x = rng.normal(size=(n, n))
    definite = x @ x.T + n * np.eye(n)
    lower = np.tril(x) + n * np.eye(n)
    orthogonal = np.linalg.qr(x)[0]
    return {
        "any": x + n * np.eye(n),
        "symmetric": x + x.T,
        "positive_definite": definite,
        "lower_triangular": lower,
        "upper_triangular": lower.T.copy(),
        "diagonal": np.diag(rng.uniform(1, 2, n)),
        "orthogonal": orthogonal,
        "permutation": np.eye(n)[rng.permutation(n)],
    }


@pytest.mark.parametrize(
    "fact, left",
    [
        ("any", ["Solve"]),
        ("symmetric", ["Solve"]),
        ("positive_definite", ["Cholesky", "CholeskySolve"]),
        ("lower_triangular", ["SolveTriangular"]),
        ("upper_triangular", ["SolveTriangular"]),
        ("diagonal", []),
        ("orthogonal", []),
        ("permutation", []),
    ],
)
def test_solutions_by_what_is_assumed(fact, left, rng):
    """Values, and gradients that go back through the same structure."""
    matrix = A if fact == "any" else at.assume(A, **{fact: True})
    x = linalg.solve(matrix, b)
    y = (x * c).sum()
    point = [values_of(rng)[fact], *rng.normal(size=(2, 4))]
    outputs = [x, aesara.grad(y, b), aesara.grad(y, A)]
    expected = compiled([A, b, c], outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled([A, b, c], x, mode)
        assert ops_of(f) == left
        assert not any(isinstance(node.op, Assume) for node in f.maker.fgraph.apply_nodes)
        np.testing.assert_allclose(f(*point), expected[0], rtol=1e-12)
        g = compiled([A, b, c], outputs, mode)
        assert not set(ops_of(g)) - {*left, "LUFactor"}
        for value, want in zip(g(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "output, left",
    [
        (linalg.inv(A) @ b, ["Solve"]),
        (b @ linalg.inv(A), ["Solve"]),
        (linalg.inv(at.tril(A)) @ b, ["SolveTriangular"]),
        (linalg.inv(at.assume(A, positive_definite=True)) @ b, ["Cholesky", "CholeskySolve"]),
        (linalg.inv(at.diag(b)) @ b, []),
        (linalg.inv(linalg.inv(A)), []),
        (linalg.inv(A.T).T, ["Inv"]),
        ([linalg.inv(A), linalg.inv(A.T)], ["Inv"]),
        (linalg.solve(linalg.cholesky(A).T, b), ["Cholesky", "SolveTriangular"]),
        (linalg.slogdet(linalg.cholesky(A)), ["Cholesky"]),
        (linalg.det(at.triu(A)), []),
        (linalg.det(A.T), ["Det"]),
        (linalg.slogdet(linalg.cholesky(A) @ linalg.cholesky(A).T), ["Cholesky"]),
        ([linalg.cholesky(A + A.T), *linalg.slogdet(A + A.T)], ["Cholesky"]),
        (linalg.cholesky(linalg.cholesky(A) @ linalg.cholesky(A).T), ["Cholesky"]),
        (at.log(linalg.det(A)), ["SLogDet"]),
        (linalg.slogdet(linalg.inv(A)), ["SLogDet"]),
        (linalg.trace(A @ B), []),
        (linalg.slogdet(at.assume(A, symmetric=True) @ at.tril(B)), ["SLogDet"]),
        (linalg.slogdet(at.triu(B) @ at.assume(A, symmetric=True)), ["SLogDet"]),
        (linalg.slogdet(linalg.kron(at.assume(A, symmetric=True), linalg.inv(B))), ["SLogDet"] * 2),
        (linalg.inv(at.stack([A, B])) @ at.stack([B, A]), ["Solve"]),
        (at.stack([A, B]) @ linalg.inv(at.stack([B, A])).swapaxes(1, 2), ["Solve"]),
        (linalg.inv(A) @ at.stack([B, A]), ["Solve"]),
        (at.stack([B, A]) @ linalg.inv(A), ["Solve"]),
        (linalg.inv(at.stack([A, B])) @ A, ["Solve"]),
        (linalg.inv(at.stack([A, B])) @ b, ["Inv"]),
        (b @ linalg.inv(at.stack([A, B])), ["Inv"]),
    ],
)
def test_remaining_ops(output, left, rng):
    point = [values_of(rng)["positive_definite"], rng.normal(size=(4, 4)), rng.normal(size=4)]
    outputs = list(output) if isinstance(output, list) else [output]
    expected = compiled([A, B, b], outputs, PYTHON)(*point)
    for mode in MODES:
        f = compiled([A, B, b], outputs, mode)
        assert sorted(ops_of(f)) == sorted(left)
        assert not any(isinstance(node.op, (Dot, linalg.MatrixInverse)) for node in f.maker.fgraph.apply_nodes) or (
            "Inv" in left
        )
        for value, want in zip(f(*point), expected):
            np.testing.assert_allclose(value, want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    "output",
    [
        linalg.solve(A * b, b),
        linalg.solve(at.tril(A, 1), b),
        linalg.solve(at.tril(A) + at.triu(A), b),
        linalg.solve(at.diag(b, 1)[1:, 1:] + A, b),
        linalg.solve(A @ B, b),
        linalg.slogdet(A @ B)[1],
        [linalg.cholesky(A), linalg.slogdet(A)[1]],
        [linalg.Cholesky(on_error="nan")(A + A.T), linalg.slogdet(A + A.T)[1]],
        linalg.inv(A - A.T + 5),
        linalg.cholesky(A @ A.T),
    ],
)
def test_near_misses(output):
    """Expressions that only resemble a pattern keep their ops."""
    outputs = output if isinstance(output, list) else [output]
    assert sorted(ops_of(compiled([A, B, b], outputs))) == sorted(ops_of(compiled([A, B, b], outputs, PYTHON)))


def test_symmetry_is_seen_in_kernels():
    x, X, length = at.dvector("x"), at.dmatrix("X"), at.dscalar("length")
    apart = x[:, None] - x[None, :]
    squares = (X**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * at.dot(X, X.T)
    for kernel in (
        at.exp(-0.5 * at.square(apart / length)) + 0.1 * at.eye(x.shape[0]),
        at.exp(-abs(apart) / length),
        at.exp(-at.maximum(distances, 0)),
        X @ (A + A.T) @ X.T,
        at.cos(apart) * at.dot(X, X.T),
        linalg.inv(A + A.T),
    ):
        assert "symmetric" in facts_of(kernel)
    for kernel in (apart, at.exp(apart), at.sin(apart), X @ A @ X.T, A - A.T, x[:, None] + 2 * x[None, :], A * x):
        assert "symmetric" not in facts_of(kernel)


@pytest.mark.parametrize(
    "tag, output, left",
    [
        ("symmetric", lambda x: linalg.inv(x).T, ["Inv"]),
        ("symmetric", lambda x: x.T @ b, []),
        ("psd", lambda x: linalg.solve(x, b), ["Cholesky", "CholeskySolve"]),
        ("psd", linalg.det, ["Cholesky"]),
        ("orthogonal", linalg.inv, []),
    ],
)
def test_tags_of_variables(tag, output, left):
    """As programs for Aesara set them, of inputs and of what is computed."""
    for x in (at.dmatrix("x"), at.exp(at.dmatrix("y"))):
        setattr(x.tag, tag, True)
        f = compiled([x if x.owner is None else x.owner.inputs[0], b], output(x))
        assert ops_of(f) == left
        if x.owner is None and tag == "symmetric":
            assert not any(type(node.op).__name__ == "DimShuffle" for node in f.maker.fgraph.apply_nodes)


def test_names_of_aesara():
    for name in names.__all__:
        rule = getattr(names, name)
        assert hasattr(rule, "transform")


@pytest.mark.parametrize("mode", ["FAST_COMPILE", *MODES])
@pytest.mark.parametrize(
    "output, value",
    [
        (linalg.solve(at.diag(b), b), [0.0, 1.0]),
        (linalg.inv(at.diag(b)), [0.0, 1.0]),
        (linalg.cholesky(at.diag(b)), [-1.0, 1.0]),
        (linalg.solve(at.tril(b[:, None] * b), b), [0.0, 1.0]),
        (linalg.inv(at.tril(b[:, None] * b)), [0.0, 1.0]),
        (linalg.slogdet(linalg.inv(at.outer(b, b))), [1.0, 1.0]),
        (linalg.inv(at.outer(b, b)) @ b, [1.0, 1.0]),
        (linalg.solve(at.assume(at.outer(b, b), positive_definite=True), b), [1.0, 0.0]),
        (linalg.det(at.tril(b[:, None] * at.ones(3))), [1.0, 0.0]),
    ],
)
def test_singular_matrices_still_raise(mode, output, value):
    outputs = output if isinstance(output, list) else [output]
    with pytest.raises(np.linalg.LinAlgError):
        compiled([b], outputs, mode)(value)


@pytest.mark.parametrize("mode", MODES)
def test_a_factor_that_is_not_square_is_an_error(mode):
    x = at.dmatrix()
    f = compiled([A, x], linalg.slogdet(at.assume(A, symmetric=True) @ at.tril(x))[1], mode)
    with pytest.raises(ValueError):
        f(np.eye(3), np.ones((3, 2)))
    with pytest.raises(ValueError):
        f(np.eye(3), np.ones((2, 2)))


@pytest.mark.parametrize("mode", MODES)
def test_the_logarithm_of_a_determinant_by_one_of_the_rank(mode, rng):
    u, d = at.TensorType("float64", (30, 2))(), at.dvector()
    cost = at.log(linalg.det(at.diag(at.exp(d)) + u @ u.T))
    f = compiled([u, d], cost, mode)
    assert ops_of(f) == ["Cholesky", "SolveTriangular", "Cholesky"]
    factors = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, linalg.Cholesky)]
    assert [node.outputs[0].type.shape for node in factors] == [(2, 2)] * 2
    point = rng.normal(size=(30, 2)), rng.normal(size=30)
    expected = np.linalg.slogdet(np.diag(np.exp(point[1])) + point[0] @ point[0].T)[1]
    np.testing.assert_allclose(f(*point), expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", MODES)
def test_empty_batches_and_dtypes(mode, dtype, rng):
    x, y = at.tensor3("x", dtype=dtype), at.tensor3("y", dtype=dtype)
    spd = at.assume(x, positive_definite=True)
    lower = at.tril(x)
    outputs = [
        linalg.solve(spd, y), linalg.slogdet(spd)[1], linalg.inv(spd), linalg.solve(lower, y), linalg.det(lower),
        linalg.inv(lower), linalg.solve(at.assume(x, diagonal=True), y), linalg.slogdet(at.assume(x, diagonal=True))[1],
    ]  # fmt: skip
    f = compiled([x, y], outputs, mode)
    assert not set(ops_of(f)) & {"Solve", "Inv", "SLogDet", "Det"}
    for shape, columns in (((3, 4, 4), 2), ((0, 4, 4), 2), ((3, 0, 0), 2), ((3, 4, 4), 0)):
        d = np.broadcast_to(np.eye(shape[-1]), shape) * 2.0
        point = d.astype(dtype), rng.normal(size=(*shape[:2], columns)).astype(dtype)
        for value, want in zip(f(*point), compiled([x, y], outputs, PYTHON)(*point)):
            assert value.dtype == want.dtype and value.shape == want.shape
            np.testing.assert_allclose(value, want, rtol=1e-6)


class TestAssume:
    def test_assume_checks_its_arguments(self):
        with pytest.raises(ValueError, match="matrices and batches of them"):
            at.assume(b, diagonal=True)
        with pytest.raises(ValueError, match="got round"):
            Assume(["round"])
        assert at.assume(A, diagonal=True, symmetric=True).owner.op == Assume(["symmetric", "diagonal"])

    @pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
    def test_assume_checks_values_if_asked(self, mode, rng):
        values = values_of(rng)
        facts = [fact for fact in values if fact != "any"]
        outputs = {fact: at.assume(A, **{fact: True}, check=True) for fact in facts}
        for fact, output in outputs.items():
            f = compiled([A], output, mode)
            np.testing.assert_array_equal(f(values[fact]), values[fact])
            with pytest.raises(ValueError, match=f"the matrix is not {fact.replace('_', ' ')}"):
                f(values["any"])
            with pytest.raises(ValueError, match="the matrix is not"):
                f(np.full((4, 4), np.nan))
        with pytest.raises(ValueError, match="not positive definite"):
            compiled([A], outputs["positive_definite"], mode)(-values["positive_definite"])

    def test_how_near_facts_must_be(self, rng):
        """Patterns of zeros and permutations hold exactly; equalities as far as they are rounded."""
        values, entry = values_of(rng), np.zeros((4, 4))
        entry[2, 1], entry[1, 3] = 1, -0.5
        for fact in set(values) - {"any"}:
            f = compiled([A], at.assume(A, check=True, **{fact: True}))
            exact = fact.endswith(("triangular", "diagonal")) or fact == "permutation"
            smallest = 1e-300 if exact and fact != "permutation" else 1e-15
            for size in (1e-3, 1e-8, 1e-11, *([smallest] if exact else [])):
                with pytest.raises(ValueError, match="the matrix is not"):
                    f(values[fact] + size * entry)
            if not exact:
                f(values[fact] + 1e-15 * entry)
        with pytest.raises(ValueError, match="not permutation"):
            compiled([A], at.assume(A, check=True, permutation=True))(np.eye(4)[[0, 0, 1, 2]])
        with pytest.raises(ValueError, match="not permutation"):
            compiled([A], at.assume(A, check=True, permutation=True))(2 * np.eye(4))

    def test_checks_stay_with_rules(self, rng):
        f = compiled([A, b], linalg.solve(at.assume(A, lower_triangular=True, check=True), b))
        assert ops_of(f) == ["SolveTriangular"]
        with pytest.raises(ValueError, match="not lower triangular"):
            f(values_of(rng)["any"], np.ones(4))

    def test_assume_check_by_option(self, rng):
        f = compiled([A], at.assume(A, diagonal=True))
        f(np.ones((2, 2)))
        with aesara.config.change_flags(assume__check=True):
            f = compiled([A], at.assume(A, diagonal=True))
        with pytest.raises(ValueError, match="not diagonal"):
            f(np.ones((2, 2)))

    def test_complex(self, rng):
        x = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
        z = at.zmatrix("z")
        assert facts_of(at.assume(z, symmetric=True)) == {"symmetric"}
        assert facts_of(at.assume(z, positive_definite=True)) == {"positive_definite", "hermitian"}
        f = compiled([z], at.assume(z, hermitian=True, check=True))
        f(x + x.conj().T)
        with pytest.raises(ValueError, match="not hermitian"):
            f(x + x.T)
        q = np.linalg.qr(x)[0]
        g = compiled([z], linalg.inv(at.assume(z, orthogonal=True, check=True)))
        assert_close(g(q), q.conj().T)


@pytest.mark.filterwarnings("ignore:.*[Ii]ll-conditioned matrix")
@pytest.mark.parametrize(
    "output",
    [
        linalg.inv(A) @ b,
        linalg.solve(at.assume(A, positive_definite=True), b),
        linalg.inv(at.assume(A, positive_definite=True)) @ b,
        linalg.solve(at.tril(A) + at.zeros_like(A), b),
        linalg.inv(at.tril(A)) @ b,
    ],
)
def test_ill_conditioned(output):
    """Solutions for a Hilbert matrix, and for a triangle of it, are as near to the exact ones as those as written."""
    n = 9
    hilbert = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    exact = (-1.0) ** np.arange(n)
    f, g = compiled([A, b], output), compiled([A, b], output, PYTHON)
    taken = np.tril(hilbert) if "SolveTriangular" in ops_of(f) else hilbert
    error, error_as_written = (abs(h(hilbert, taken @ exact) - exact).max() for h in (f, g))
    unit = np.linalg.cond(taken) * np.finfo(float).eps
    assert ops_of(f) and error <= max(2 * error_as_written, 0.1 * unit)


@pytest.mark.parametrize("entries", [[[1, 0], [1, 0]], [[1, 1], [0, 0]]], ids=["rows", "columns"])
def test_matrices_of_ones_that_are_no_permutations(entries):
    """With one 1 in each row, or each column, they may still be singular."""
    matrix, b = at.constant(np.array(entries, "float64")), at.dvector("b")
    assert "permutation" not in facts_of(matrix)
    for output in (linalg.inv(matrix), linalg.solve(matrix, b)):
        f = aesara.function([b], output, on_unused_input="ignore")
        with pytest.raises(np.linalg.LinAlgError):
            f([1.0, 2.0])


@pytest.mark.parametrize("shapes", [[(2, 3), (3, 2)], [(2, 2), (2, 3), (3, 2)], [(2, 3), (2, 2), (3, 2)]], ids=str)
def test_blocks_that_are_not_square(shapes, rng):
    """Together they are a square matrix, of determinant 0."""
    blocks = [at.tensor("float64", shape=shape) for shape in shapes]
    matrix = linalg.block_diag(*blocks)
    values = [rng.normal(size=shape) for shape in shapes]
    for output in (linalg.det(matrix), linalg.slogdet(matrix)[0] * at.exp(linalg.slogdet(matrix)[1])):
        assert abs(compiled(blocks, output)(*values)) < 1e-14
    for build in (linalg.inv, linalg.cholesky, lambda m: linalg.solve(m, np.ones(m.type.shape[0]))):
        after, _ = rewrite(build(matrix))
        assert after.owner.op == build(matrix).owner.op


@pytest.mark.parametrize("mode", MODES)
def test_the_sign_of_a_determinant_is_no_determinant(mode, rng):
    f = compiled([A], linalg.Cofactors()(A) / at.sgn(linalg.det(A)), mode)
    for value in (values_of(rng)["any"], -2 * np.eye(3)):
        determinant = np.linalg.det(value)
        assert_close(f(value), np.abs(determinant) * np.linalg.inv(value).T, size=10.0)
