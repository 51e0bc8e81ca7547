"""Forward derivatives of sparse operations, and of their gradients, beside differences and dense graphs."""

import numpy as np
import pytest
import scipy.sparse

import aesara
import aesara.tensor as at
from aesara import sparse
from aesara.graph.traversal import explicit_graph_inputs
from aesara.sparse.type import MATRIX_CLASSES, has_sparse_type

M, N, D, v = sparse.csr_matrix("M"), sparse.csc_matrix("N"), at.dmatrix("D"), at.dvector("v")
rows, columns = np.array([2, -1, 2]), np.array([0, 1, 0])


def rebuilt(values):
    return sparse.CSR(values, sparse.csm_indices(M), sparse.csm_indptr(M), sparse.csm_shape(M))


#: what is differentiated
CASES = {
    "neg": lambda: -M,
    "add": lambda: M + N,
    "add dense": lambda: M + D,
    "sub": lambda: M - N,
    "mul": lambda: M * N,
    "mul dense": lambda: M * D,
    "mul vector": lambda: sparse.mul_s_v(M, v),
    "structured_add_s_v": lambda: sparse.structured_add_s_v(M, v),
    "dot": lambda: sparse.dot(M, D),
    "dot from the right": lambda: sparse.dot(D, N),
    "dot with a vector": lambda: sparse.dot(M, v),
    "structured_dot": lambda: sparse.structured_dot(M, D),
    "structured_dot csc": lambda: sparse.structured_dot(N, D),
    "structured_dot of sparse ones": lambda: sparse.structured_dot(M, N),
    "true_dot": lambda: sparse.true_dot(M, N),
    "usmm": lambda: sparse.usmm(v[0], M, D, D),
    "sampling_dot": lambda: sparse.sampling_dot(D, at.tanh(D), M),
    "dense": lambda: sparse.dense_from_sparse(M),
    "csr_from_dense": lambda: sparse.csr_from_dense(D),
    "transpose": lambda: M.T,
    "row_scale": lambda: sparse.row_scale(M, v),
    "col_scale": lambda: sparse.col_scale(N, v),
    "sp_sum": lambda: sparse.sp_sum(M),
    "sp_sum of columns": lambda: sparse.sp_sum(M, axis=0),
    "sp_sum of rows": lambda: sparse.sp_sum(M, axis=1, sparse_grad=True),
    "diag": lambda: sparse.diag(M),
    "square_diagonal": lambda: sparse.square_diagonal(v),
    "hstack": lambda: sparse.hstack([M, N, M]),
    "vstack": lambda: sparse.vstack([N, M], format="csr"),
    "structured_exp": lambda: sparse.structured_exp(M),
    "structured_pow": lambda: sparse.structured_pow(N, 3.0),
    "sin": lambda: sparse.sin(M),
    "expm1": lambda: sparse.expm1(M),
    "product of functions": lambda: sparse.sin(M) * sparse.structured_sigmoid(M),
    "rectangle": lambda: M[1:3, 0:2],
    "every other, backwards": lambda: N[::2, ::-1],
    "rows": lambda: M[1:],
    "list of rows": lambda: M[rows],
    "elements": lambda: M[rows, columns],
    "element": lambda: N[1, at.constant(2)],
    "cast": lambda: sparse.cast(M, "complex128"),
    "ensure_sorted_indices": lambda: sparse.ensure_sorted_indices(M),
    "clean": lambda: sparse.clean(M),
    "csm_data": lambda: sparse.csm_data(M) ** 2,
    "CSR": lambda: rebuilt(sparse.csm_data(M) ** 2),
    "CSR of values": lambda: rebuilt(at.exp(at.tile(v, 2)[:7])),
    "construct_sparse_from_list": lambda: sparse.construct_sparse_from_list(at.zeros((5, 4)), D[:3], [3, 0, 4]),
}


def matrix(format, seed):
    return scipy.sparse.random(4, 4, 7 / 16, format=format, random_state=seed, dtype="float64")


VALUES = {
    M: matrix("csr", 1),
    N: matrix("csc", 2),
    D: np.random.default_rng(5).normal(size=(4, 4)),
    v: np.array([0.3, -1.2, 0.7, 1.9]),
}


def along(value, rng):
    """A direction of the pattern of a value."""
    if not scipy.sparse.issparse(value):
        return rng.normal(size=value.shape)
    direction = value.copy()
    direction.data = rng.normal(size=value.nnz)
    return direction


def array(value):
    return value.toarray() if scipy.sparse.issparse(value) else np.asarray(value)


def compare_with_differences(outputs, rng):
    """The forward derivatives of outputs by all variables, along directions of the same pattern."""
    used = [one for one in VALUES if one in explicit_graph_inputs(outputs)]
    points = [variable.type(f"along {variable.name}") for variable in used]
    tangents = aesara.Rop(outputs, used, points)
    for output, tangent in zip(outputs, tangents, strict=True):
        assert has_sparse_type(output) == has_sparse_type(tangent) and output.type.dtype == tangent.type.dtype
    f = aesara.function([*used, *points], [*outputs, *tangents], on_unused_input="ignore")
    directions = [along(VALUES[variable], rng) for variable in used]
    step = 1e-5
    before, here, after = (
        f(*[VALUES[one] + times * step * direction for one, direction in zip(used, directions)], *directions)
        for times in (-1, 0, 1)
    )
    for one, tangent, other in zip(before[: len(outputs)], here[len(outputs) :], after, strict=False):
        np.testing.assert_allclose(array(tangent), array(other - one) / (2 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_beside_differences(name, rng):
    compare_with_differences([CASES[name]()], rng)


@pytest.mark.parametrize("name", CASES)
def test_gradients_beside_differences(name, rng):
    """So second derivatives are right, and the gradients of what computes gradients."""
    output = CASES[name]()
    elements = sparse.dense_from_sparse(output) if has_sparse_type(output) else output
    smooth = [one for one in VALUES if one in explicit_graph_inputs([output])]
    cost = (at.abs(elements) ** 2 * (1 + at.arange(elements.size).reshape(elements.shape))).sum()
    gradients = aesara.grad(cost, smooth, disconnected_inputs="ignore", return_disconnected="none")
    compare_with_differences([one for one in gradients if one is not None], rng)


#: what is linear in a sparse matrix of any pattern, with the same for dense ones
LINEAR = {
    "transpose": (lambda m: m.T, lambda m: m.T),
    "rectangle": (lambda m: m[1:3, ::-2], lambda m: m[1:3, ::-2]),
    "list of rows": (lambda m: m[rows], lambda m: m[rows]),
    "elements": (lambda m: m[rows, columns], lambda m: m[rows, columns]),
    "element": (lambda m: m[1, 2], lambda m: m[1, 2]),
    "dot": (lambda m: sparse.dot(m, D), lambda m: at.dot(m, D)),
    "dot from the right": (lambda m: sparse.dot(D, m), lambda m: at.dot(D, m)),
    "add": (lambda m: m + N, lambda m: m + sparse.dense_from_sparse(N)),
    "mul": (lambda m: m * N, lambda m: m * sparse.dense_from_sparse(N)),
    "row_scale": (lambda m: sparse.row_scale(m, v), lambda m: m * v[:, None]),
    "sp_sum": (lambda m: sparse.sp_sum(m, axis=0), lambda m: m.sum(axis=0)),
    "diag": (lambda m: sparse.diag(m), lambda m: at.diagonal(m)),
    "hstack": (lambda m: sparse.hstack([m, N]), lambda m: at.concatenate([m, sparse.dense_from_sparse(N)], axis=1)),
    "vstack": (lambda m: sparse.vstack([N, m]), lambda m: at.concatenate([sparse.dense_from_sparse(N), m])),
    "true_dot": (lambda m: sparse.true_dot(m, N), lambda m: at.dot(m, sparse.dense_from_sparse(N))),
    "to dense": (lambda m: sparse.DenseFromSparse(structured=False)(m), lambda m: m),
}


#: those whose forward derivatives also take dense directions as they are
ALSO_DENSE = ("rectangle", "list of rows", "elements", "vstack")


@pytest.mark.parametrize(
    "name, kind",
    [(name, kind) for name in LINEAR for kind in ("csr", "csc")] + [(name, "dense") for name in ALSO_DENSE],
)
def test_along_other_patterns(name, kind, rng):
    of_sparse, of_dense = LINEAR[name]
    plain, direction = at.dmatrix("m"), rng.normal(size=(4, 4))
    point = at.dmatrix("p") if kind == "dense" else sparse.SparseTensorType(kind, "float64")("p")
    value = direction if kind == "dense" else MATRIX_CLASSES[kind](direction)
    along_dense = point if kind == "dense" else sparse.dense_from_sparse(point)
    tangents = [aesara.Rop(of_sparse(M), M, point), aesara.Rop(of_dense(plain), plain, along_dense)]
    f = aesara.function([M, N, D, v, plain, point], tangents, on_unused_input="ignore")
    found, wanted = f(*VALUES.values(), VALUES[M].toarray(), value)
    np.testing.assert_allclose(array(found), wanted, rtol=1e-12)


def test_complex_products(rng):
    """Forward derivatives of products have no conjugates."""
    z, w = sparse.SparseTensorType("csr", "complex128")("z"), sparse.SparseTensorType("csr", "complex128")("w")
    x = at.zmatrix("x")
    values = [one + 1j * rng.normal() * one for one in (VALUES[M], along(VALUES[M], rng))]
    dense = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    for build in (sparse.structured_dot, sparse.dot, lambda a, b: sparse.sampling_dot(b, at.sin(b), a)):
        f = aesara.function([z, w, x], [aesara.Rop(build(z, x), z, w), build(w, x)], on_unused_input="ignore")
        found, wanted = f(*values, dense)
        np.testing.assert_allclose(array(found), array(wanted), rtol=1e-12)


def test_stacks_along_some_of_their_blocks():
    point = sparse.csr_matrix("p")
    f = aesara.function([M, N, point], aesara.Rop(sparse.vstack([M, N]), M, point), on_unused_input="ignore")
    found = f(VALUES[M], VALUES[N], VALUES[M]).toarray()
    np.testing.assert_array_equal(found, np.vstack([VALUES[M].toarray(), np.zeros((4, 4))]))


def test_gradient_of_the_pattern_of_a_sampled_product():
    """The value at each place is the product of the stored one with an inner product."""
    out = sparse.sampling_dot(D, D, M)
    f = aesara.function([D, M], aesara.grad(sparse.sp_sum(out * out), M))
    given = VALUES[M].toarray()
    wanted = 2 * given * (VALUES[D] @ VALUES[D].T) ** 2
    np.testing.assert_allclose(f(VALUES[D], VALUES[M]).toarray(), wanted, rtol=1e-12)
