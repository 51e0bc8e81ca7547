"""Native code for sparse matrices that are malformed, unusual or shared, and its explanation."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from sparse_data import some_matrix

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
from aesara.ifelse import ifelse
from tests.closeness import assert_close


@pytest.fixture(scope="module")
def product():
    """Products of a matrix with a dense one and with a vector, and the gradients of their squares."""
    A, y, v = sparse.csr_matrix("A"), at.dmatrix("y"), at.dvector("v")
    cost = (sparse.structured_dot(A, y) ** 2).sum() + (sparse.dot(A, v) ** 2).sum()
    results = [sparse.structured_dot(A, y), sparse.dot(A, v), *aesara.grad(cost, [y, v])]
    return aesara.function([A, y, v], [*results, sparse.structured_dot_grad(A, y, sparse.structured_dot(A, y))])


@pytest.mark.parametrize("columns", [0, 1, 2, 3, 7, 8, 9, 23])
def test_any_number_of_columns(rng, product, columns):
    a, y, v = some_matrix(rng, 9, 6), rng.normal(size=(6, columns)), rng.normal(size=6)
    dense = a.toarray()
    along_y, along_v, of_y, of_v, of_a = product(a, y, v)
    np.testing.assert_allclose(along_y, dense @ y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(along_v, dense @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(of_y, 2 * dense.T @ (dense @ y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(of_v, 2 * dense.T @ (dense @ v), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(of_a.toarray(), (dense != 0) * (dense @ y @ y.T), rtol=1e-12, atol=1e-12)
    assert aesara.explain(product).python == []


@pytest.mark.parametrize("shape", [(0, 6), (9, 0), (0, 0), (9, 6)])
def test_empty_matrices(product, shape):
    rows, columns = shape
    results = product(scipy.sparse.csr_matrix(shape), np.ones((columns, 2)), np.ones(columns))
    assert [result.shape for result in results] == [(rows, 2), (rows,), (columns, 2), (columns,), shape]
    assert all(abs(result).sum() == 0 for result in results)


def test_shapes_that_do_not_fit(rng, product):
    a = some_matrix(rng, 9, 6)
    with pytest.raises(ValueError, match="shape mismatch: the matrix has 6 columns, .* 5 rows"):
        product(a, np.ones((5, 2)), np.ones(6))
    with pytest.raises(ValueError, match="shape mismatch"):
        product(a, np.ones((6, 2)), np.ones(7))


@pytest.mark.parametrize(
    "part, value, message",
    [
        ("indices", 6, "indices of a sparse matrix are 0 to 6 - 1; there is 6"),
        ("indices", -1, "there is -1"),
        ("indptr", 1000, "number of its stored values; there is 1000"),
        ("indptr", -3, "there is -3"),
    ],
)
def test_matrices_that_are_broken(rng, product, part, value, message):
    a = some_matrix(rng, 9, 6)
    getattr(a, part)[3] = value
    with pytest.raises(ValueError, match=message):
        product(a, np.ones((6, 2)), np.ones(6))


def test_pointers_out_of_order_read_nothing_else(rng, product):
    a = some_matrix(rng, 9, 6)
    a.indptr[3] = a.nnz
    along_y, *_ = product(a, np.ones((6, 2)), np.ones(6))
    assert np.isfinite(along_y).all() and (along_y[3] == 0).all()


def test_vectors_of_different_lengths():
    d, i, p = at.dvector("d"), at.ivector("i"), at.ivector("p")
    f = aesara.function([d, i, p], sparse.dot(sparse.CSR(d, i, p, [2, 2]), np.ones(2)))
    indices, pointers = np.array([0, 1], dtype="int32"), np.array([0, 1, 2], dtype="int32")
    np.testing.assert_array_equal(f([1.0, 2.0], indices, pointers), [1, 2])
    with pytest.raises(ValueError, match="2 indices, but 3 values"):
        f([1.0, 2.0, 3.0], indices, pointers)
    with pytest.raises(ValueError, match="lines, but pointers"):
        f([1.0, 2.0], indices, pointers[:2])


def test_arguments_of_other_kinds(rng, product):
    a, y, v = some_matrix(rng, 9, 6), rng.normal(size=(6, 2)), rng.normal(size=6)
    expected = product(a, y, v)
    for other in (a.tocsc(), a.toarray(), scipy.sparse.csr_array(a)):
        for got, one in zip(product(other, y=y, v=list(v)), expected, strict=True):
            assert_close(*(x.toarray() if scipy.sparse.issparse(x) else x for x in (got, one)))
    with pytest.raises(TypeError, match="complex128"):
        product(a * 1j, y, v)
    with pytest.raises(TypeError, match="Missing required input"):
        product(a, y)


def test_results_share_no_memory(rng):
    a, A = some_matrix(rng, 5, 4), sparse.csr_matrix("A")
    f = aesara.function([A], [A, sparse.sqrt(A), A.T])
    for result in f(abs(a)):
        for part in ("data", "indices", "indptr"):
            assert not np.may_share_memory(getattr(result, part), getattr(a, part))


def test_shared_matrices(rng):
    a, x = some_matrix(rng, 5, 4), rng.normal(size=4)
    A, w = aesara.shared(a, name="A"), aesara.shared(x, name="w")
    cost = (sparse.dot(A, w) ** 2).sum()
    f = aesara.function([], cost, updates={w: w - 0.1 * aesara.grad(cost, w)})
    assert f._native is not None
    assert_close(f(), ((a @ x) ** 2).sum())
    assert_close(w.get_value(), x - 0.2 * a.T @ (a @ x))
    A.set_value(2 * a)
    assert_close(f(), 4 * ((a @ (x - 0.2 * a.T @ (a @ x))) ** 2).sum())
    g = aesara.function([], A.sum(), updates={A: A * 2.0})
    assert "an update of a value of type Sparse" in g._declined
    assert_close([g(), g()], [2 * a.sum(), 4 * a.sum()])


def test_copies_and_pickles(rng, product):
    a, y, v = some_matrix(rng, 9, 6), rng.normal(size=(6, 2)), rng.normal(size=6)
    for other in (copy.copy(product), copy.deepcopy(product), pickle.loads(pickle.dumps(product))):
        np.testing.assert_array_equal(other(a, y, v)[0], product(a, y, v)[0])


def test_what_is_explained(rng):
    A, y = sparse.csr_matrix("A"), at.dmatrix("y")
    f = aesara.function([A, y], sparse.structured_dot(A[1:], y), name="f")
    text = str(aesara.explain(f))
    assert "GetItem2d: no native lowering for GetItem2d" in text and "A[0]: float64[?]" in text
    plan = aesara.memory_plan(f, some_matrix(rng, 5, 4), np.ones((4, 2)))
    assert any(buffer.kind == "result" for buffer in plan.buffers)


def test_profiles(rng):
    A, y = sparse.csr_matrix("A"), at.dmatrix("y")
    f = aesara.function([A, y], sparse.structured_dot(A, y), profile=True)
    f(some_matrix(rng, 5, 4), np.ones((4, 2)))
    assert any("CompressedDot" in str(node) or "StructuredDot" in str(node) for node in f.profile.apply_time)


@pytest.mark.parametrize("mode", ["DebugMode", "NanGuardMode", "NanWhere", "FAST_COMPILE"])
def test_modes(rng, mode):
    a, y = some_matrix(rng, 5, 4), rng.normal(size=(4, 2))
    A, Y = sparse.csr_matrix("A"), at.dmatrix("Y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = aesara.function([A, Y], [sparse.structured_dot(A * 2.0, Y), sparse.sqrt(A * A)], mode=mode)
        product, root = f(a, y)
    assert_close(product, 2 * a @ y)
    assert_close(root.toarray(), abs(a).toarray())


def test_inside_of_loops_and_choices(rng):
    a, x = some_matrix(rng, 4, 4), rng.normal(size=4)
    A, v, n = sparse.csr_matrix("A"), at.dvector("v"), at.lscalar("n")
    power, _ = aesara.scan(lambda w: sparse.dot(A, w), outputs_info=v, n_steps=n)
    chosen = ifelse(n > 2, sparse.dot(A, v), v)
    f = aesara.function([A, v, n], [power[-1], chosen])
    assert aesara.explain(f).python == []
    assert_close(f(a, x, 3)[0], a @ (a @ (a @ x)))
    assert_close(f(a, x, 3)[1], a @ x)
    assert_close(f(a, x, 2)[1], x)


def test_gradients_of_loops(rng):
    """A matrix that is the same in each step: the gradients are those of the steps one by one."""
    a, x = some_matrix(rng, 4, 4), rng.normal(size=(4, 2))
    A, Y = sparse.csr_matrix("A"), at.dmatrix("Y")
    rows, _ = aesara.scan(lambda w: at.tanh(sparse.dot(A, w)), outputs_info=Y, n_steps=3)
    unrolled = Y
    for _ in range(3):
        unrolled = at.tanh(sparse.dot(A, unrolled))
    f, g = (
        aesara.function([A, Y], aesara.grad((last**2).sum(), [Y, A]), mode=mode)
        for last, mode in ((rows[-1], "FAST_RUN"), (unrolled, "FAST_COMPILE"))
    )
    assert aesara.explain(f).python == []
    for one, two in zip(f(a, x), g(a, x), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    structured, _ = aesara.scan(lambda w: sparse.structured_dot(A, w), outputs_info=Y, n_steps=3)
    aesara.grad(structured.sum(), Y)
    with pytest.raises(aesara.gradient.NullTypeGradError, match="A sparse matrix, of whose gradient each step gives"):
        aesara.grad(structured.sum(), A)
