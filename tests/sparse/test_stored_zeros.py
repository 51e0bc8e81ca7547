"""Zeros that a sparse matrix stores are parameters like its other stored values: gradients there are not lost."""

import numpy as np
import pytest
import scipy.sparse

import aesara
import aesara.tensor as at
from aesara import sparse

MODES = ["FAST_RUN", "FAST_COMPILE"]
PLACES_A = ([0, 0, 1, 1, 2], [0, 1, 0, 2, 2])
PLACES_B = ([0, 0, 1, 2, 2], [0, 2, 0, 1, 2])


def _matrix(places, values, kind):
    return kind((np.asarray(values, dtype="float64"), places), shape=(3, 3))


VALUES_A, VALUES_B = [1.0, 0.0, 2.0, -1.0, 0.0], [-1.0, 0.0, -2.0, 3.0, 4.0]
DENSE = np.array([[1.0, -1.0, 0.0], [0.0, 2.0, 1.0], [3.0, 0.0, -2.0]])
RESULT = {
    "A + A": lambda A, B, d: A + A,
    "A - A": lambda A, B, d: A - A,
    "A + B": lambda A, B, d: A + B,
    "A - B": lambda A, B, d: A - B,
    "A + -A": lambda A, B, d: A + sparse.neg(A),
    "A + A + A": lambda A, B, d: A + A + A,
    "A * A": lambda A, B, d: A * A,
    "A * B": lambda A, B, d: A * B,
    "A * (A + B)": lambda A, B, d: A * (A + B),
    "A * 0": lambda A, B, d: A * 0.0 + A,
    "A * dense": lambda A, B, d: A * d,
    "A dot B": lambda A, B, d: sparse.true_dot(A, B),
    "A structured_dot B": lambda A, B, d: sparse.structured_dot(A, B),
    "A true_dot dense": lambda A, B, d: sparse.true_dot(A, d),
    "A dot (A - B)": lambda A, B, d: sparse.true_dot(A, A - B),
    "-A": lambda A, B, d: -A,
    "rows": lambda A, B, d: (A + A)[[0, 2, 0]],
    "rectangle": lambda A, B, d: (A - B)[0:2, 1:3],
    "beside": lambda A, B, d: sparse.hstack([A + A, B]),
    "below": lambda A, B, d: sparse.vstack([A - A, B]),
    "cast": lambda A, B, d: sparse.cast(sparse.cast(A - A, "float32"), "float64"),
    "sorted": lambda A, B, d: sparse.ensure_sorted_indices(A - A),
    "sine": lambda A, B, d: sparse.sin(A - B),
    "expm1": lambda A, B, d: sparse.expm1(A + A),
    "scaled": lambda A, B, d: sparse.row_scale(A - A, d[0]),
    "vector": lambda A, B, d: sparse.mul_s_v(A - A, d[1]),
    "sampled": lambda A, B, d: sparse.sampling_dot(d, d, A - A),
}
SUM = {
    "sum": lambda z: sparse.sp_sum(z, sparse_grad=True),
    "weighted rows": lambda z: (sparse.sp_sum(z, axis=1, sparse_grad=True) * (1.0 + at.arange(z.shape[0]))).sum(),
    "dense": lambda z: (sparse.dense_from_sparse(z) ** 2 + 3 * sparse.dense_from_sparse(z)).sum(),
    "product": lambda z: sparse.structured_dot(z, 1.0 + at.arange(z.shape[1]).dimshuffle(0, "x")).sum(),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("total", SUM)
@pytest.mark.parametrize("name", RESULT)
def test_gradients_for_stored_zeros(name, total, format, mode):
    kind = getattr(scipy.sparse, f"{format}_matrix")
    A, B, d = sparse.matrix(format, "A"), sparse.matrix(format, "B"), at.dmatrix("d")
    cost = SUM[total](RESULT[name](A, B, d))
    gradients = aesara.grad(cost, [A, B], disconnected_inputs="ignore")
    f = aesara.function([A, B, d], [cost, *gradients], mode=mode, on_unused_input="ignore")

    def evaluate(a, b):
        return f(_matrix(PLACES_A, a, kind), _matrix(PLACES_B, b, kind), DENSE)

    step = 1e-5
    _, of_a, of_b = evaluate(VALUES_A, VALUES_B)
    for gradient, places, which in [(of_a, PLACES_A, 0), (of_b, PLACES_B, 1)]:
        found = gradient.toarray() if scipy.sparse.issparse(gradient) else np.asarray(gradient)
        for k, place in enumerate(zip(*places)):
            values = [np.array(VALUES_A), np.array(VALUES_B)]
            costs = []
            for move in (step, -step):
                moved = [v.copy() for v in values]
                moved[which][k] += move
                costs.append(evaluate(*moved)[0])
            np.testing.assert_allclose(found[place], (costs[0] - costs[1]) / (2 * step), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64", "int8"])
def test_what_is_stored_does_not_depend_on_values(format, dtype, mode):
    A, B = sparse.matrix(format, "A", dtype), sparse.matrix(format, "B", dtype)
    results = [A + B, A - B, A - A, A * B, sparse.true_dot(A, B), sparse.structured_dot(A, B)]
    f = aesara.function([A, B], results, mode=mode)
    kind = getattr(scipy.sparse, f"{format}_matrix")
    ones = [_matrix(places, np.ones(5), kind).astype(dtype) for places in (PLACES_A, PLACES_B)]
    values = [_matrix(PLACES_A, VALUES_A, kind).astype(dtype), _matrix(PLACES_B, VALUES_B, kind).astype(dtype)]
    a, b = (value.toarray() for value in values)
    expected = [a + b, a - b, a - a, a * b, a @ b, a @ b]
    for found, of_ones, dense in zip(f(*values), f(*ones), expected, strict=True):
        np.testing.assert_array_equal(found.toarray(), dense)
        found.sort_indices()
        of_ones.sort_indices()
        np.testing.assert_array_equal(found.indices, of_ones.indices)
        np.testing.assert_array_equal(found.indptr, of_ones.indptr)


def test_unsorted_and_repeated_entries():
    A, B = sparse.csr_matrix("A"), sparse.csr_matrix("B")
    f = aesara.function([A, B], [A + B, A - B, A * B, sparse.true_dot(A, B)])
    repeated = scipy.sparse.csr_matrix(([1.0, 2.0, -1.0, 0.0], [2, 0, 2, 1], [0, 3, 3, 4]), shape=(3, 3))
    other = _matrix(PLACES_B, VALUES_B, scipy.sparse.csr_matrix)
    a, b = repeated.toarray(), other.toarray()
    for found, dense in zip(f(repeated, other), [a + b, a - b, a * b, a @ b], strict=True):
        np.testing.assert_array_equal(found.toarray(), dense)
    assert repeated.nnz == 4


@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives(mode):
    A = sparse.csr_matrix("A")
    slope = aesara.grad((sparse.dense_from_sparse(A * A + A) ** 2).sum(), A)
    curvature = aesara.grad(sparse.sp_sum(slope, sparse_grad=True), A)
    found = aesara.function([A], curvature, mode=mode)(_matrix(PLACES_A, VALUES_A, scipy.sparse.csr_matrix)).toarray()
    # The cost is a sum of (a * a + a) ** 2, whose second derivatives are 12 * a * a + 12 * a + 2.
    for value, place in zip(VALUES_A, zip(*PLACES_A)):
        assert found[place] == 12 * value**2 + 12 * value + 2


@pytest.mark.parametrize("mode", MODES)
def test_clean_removes_what_is_zero(mode):
    A = sparse.csr_matrix("A")
    f = aesara.function([A], sparse.clean(A - A), mode=mode)
    assert f(_matrix(PLACES_A, VALUES_A, scipy.sparse.csr_matrix)).nnz == 0
