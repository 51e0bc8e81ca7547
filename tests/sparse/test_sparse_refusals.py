"""Errors of operations on sparse matrices: for operands when a graph is built, for values when it runs."""

import numpy as np
import pytest
import scipy.sparse

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
from aesara.sparse import slicing
from aesara.sparse.conversion import SparseFromDense

A, B, C, F = sparse.csr_matrix("A"), sparse.bsr_matrix("B"), sparse.csc_matrix("C"), sparse.csr_fmatrix("F")
m, v, c, i, t = at.dmatrix("m"), at.dvector("v"), at.dscalar("c"), at.lvector("i"), at.dtensor3("t")
row = at.tensor("float64", (1, None), name="row")


@pytest.mark.parametrize("build, error, message", [
    (lambda: sparse.add_s_s_data(A, C), TypeError, "one format"),
    (lambda: sparse.add(A, v), TypeError, "structured_add_s_v a vector"),
    (lambda: sparse.add_s_d(A, C), TypeError, "dense tensor here.*toarray"),
    (lambda: sparse.add(m, m), TypeError, "sparse.add takes at least one sparse"),
    (lambda: sparse.sub(m, m), TypeError, "sparse.sub takes at least one sparse"),
    (lambda: sparse.mul(m, m), TypeError, "sparse.mul takes at least one sparse"),
    (lambda: sparse.mul(A, v), TypeError, "mul_s_v multiplies its columns"),
    (lambda: sparse.mul(A, t), TypeError, "a number or a dense matrix"),
    (lambda: sparse.mul_s_v(F, v), NotImplementedError, "one dtype; they have float32 and float64"),
    (lambda: sparse.mul_s_v(A, m), TypeError, "1 dimension"),
    (lambda: sparse.structured_add_s_v(A, c), TypeError, "1 dimension"),
    (lambda: sparse.ColScaleCSC()(A, v), ValueError, "not a csc matrix"),
    (lambda: sparse.row_scale(A, m), TypeError, "1 dimension"),
    (lambda: sparse.mul(B, c), NotImplementedError, "formats csr and csc"),
    (lambda: sparse.structured_exp(B), NotImplementedError, "formats csr and csc"),
    (lambda: sparse.csm_properties(B), NotImplementedError, "formats csr and csc"),
    (lambda: sparse.eq(m, m), TypeError, "sparse.eq takes at least one sparse"),
    (lambda: sparse.gt(A, v), TypeError, "compared with a matrix"),
    (lambda: sparse.sp_sum(A, axis=2), ValueError, "axis 0, 1 or None; got 2"),
    (lambda: sparse.square_diagonal(m), TypeError, "must be a vector"),
    (lambda: sparse.CSM("coo"), ValueError, "csr, csc"),
    (lambda: sparse.CSM("csr", kmap=[0]), ValueError, "kmap"),
    (lambda: sparse.CSMProperties(kmap=[0]), ValueError, "kmap"),
    (lambda: sparse.CSR(m, i, i, i), TypeError, "data argument must be a vector"),
    (lambda: sparse.CSR(v, v, i, i), TypeError, "indices must be a vector of integers"),
    (lambda: sparse.CSR(v, i, at.lmatrix(), i), TypeError, "indptr must be a vector of integers"),
    (lambda: sparse.CSR(v, i, i, c), TypeError, "shape must be a vector of integers"),
    (lambda: sparse.CSR(v, i, at.tensor("uint32", (None,)), i), TypeError, "indptr must be"),
    (lambda: SparseFromDense("coo"), ValueError, "format must be one of"),
    (lambda: sparse.csr_from_dense(t), TypeError, "higher dimension than 2"),
    (lambda: sparse.csr_from_dense(A), TypeError, "dense tensor here"),
    (lambda: sparse.structured_dot(A, v), NotImplementedError, "non-matrix b.*Use aesara.sparse.dot"),
    (lambda: sparse.structured_dot(v, A), NotImplementedError, "non-matrix x.*Use aesara.sparse.dot"),
    (lambda: sparse.structured_dot(m, m), TypeError, "structured_dot takes at least one sparse"),
    (lambda: sparse.true_dot(m, m), TypeError, "true_dot takes at least one sparse"),
    (lambda: sparse.true_dot(A, v), TypeError, "2 dimension"),
    (lambda: sparse.dot(m, m), TypeError, "sparse.dot takes at least one sparse"),
    (lambda: sparse.dot(A, c), TypeError, "vectors and matrices"),
    (lambda: sparse.dot(t, A), TypeError, "vectors and matrices"),
    (lambda: sparse.sampling_dot(m, v, A), TypeError, "2 dimension"),
    (lambda: sparse.sampling_dot(m, m, m), TypeError, "must be a SparseTensorType"),
    (lambda: sparse.usmm(c, m, m, m), TypeError, "usmm takes at least one sparse"),
    (lambda: sparse.usmm(v, A, m, m), TypeError, "the factor is one number"),
    (lambda: sparse.usmm(row, A, m, m), TypeError, "the factor is one number"),
    (lambda: sparse.usmm(c, A, v, m), TypeError, "takes two matrices"),
    (lambda: sparse.usmm(c, A, m, v), TypeError, "2 dimension"),
    (lambda: sparse.hstack([]), ValueError, "empty list"),
    (lambda: sparse.VStack("csr", "float64")(), ValueError, "empty list"),
    (lambda: sparse.HStack("csr"), ValueError, "dtype must be specified"),
    (lambda: A[1], NotImplementedError, "no sparse vector"),
    (lambda: A[1, 2:], NotImplementedError, "no sparse vector"),
    (lambda: A[1:, 2:, 3:], ValueError, "two indices"),
    (lambda: A[: at.lvector()], ValueError, "0 dimensions"),
    (lambda: A[1.5:], TypeError, "must be integers"),
    (lambda: slicing.get_item_list(A, v), IndexError, "vectors of integers"),
    (lambda: slicing.get_item_list(A, at.lscalar()), IndexError, "vectors of integers"),
    (lambda: slicing.get_item_2lists(A, i, v), IndexError, "vectors of integers"),
    (lambda: slicing.get_item_scalar(A, [1, 2, 3]), ValueError, "two indices"),
    (lambda: slicing.get_item_scalar(A, [1, c]), NotImplementedError, "integers as indices"),
    (lambda: sparse.construct_sparse_from_list(m, m, v), TypeError, "must be integers"),
    (lambda: sparse.construct_sparse_from_list(m, m, at.lmatrix()), TypeError, "must be vector"),
    (lambda: sparse.construct_sparse_from_list(m, v, i), TypeError, "matrices are needed"),
    (lambda: sparse.construct_sparse_from_list(t, m, i), TypeError, "matrices are needed"),
    (lambda: sparse.sparse_grad(m[i, i]), TypeError, "vector of row numbers"),
    (lambda: sparse.sparse_grad(m[at.vector(dtype="bool")]), TypeError, "vector of row numbers"),
    (lambda: sparse.sparse_grad(m), TypeError, "vector of row numbers"),
    (lambda: sparse.constant(np.eye(2)), TypeError, "a matrix of scipy.sparse"),
    (lambda: sparse.as_sparse_variable(sparse.csm_properties(A).copy()[0].owner), ValueError, "ambiguous"),
])  # fmt: skip
def test_operands(build, error, message):
    with pytest.raises(error, match=message):
        build()


X, Y = sparse.csr_matrix("X"), sparse.csr_matrix("Y")

#: operations, and the shapes that fit
SHAPES = [
    (lambda X, Y: X + Y, (3, 4), (3, 4)),
    (lambda X, Y: X * Y, (3, 4), (3, 4)),
    (sparse.add_s_s_data, (3, 4), (3, 4)),
    (sparse.eq, (3, 4), (3, 4)),
    (lambda X, Y: sparse.lt(X, Y.toarray()), (3, 4), (3, 4)),
    (lambda X, Y: X + Y.toarray(), (3, 4), (3, 4)),
    (lambda X, Y: X * Y.toarray(), (3, 4), (3, 4)),
    (lambda X, Y: sparse.mul_s_v(X, at.ones(Y.shape[1])), (3, 4), (None, 4)),
    (lambda X, Y: sparse.structured_add_s_v(X, at.ones(Y.shape[1])), (3, 4), (None, 4)),
    (lambda X, Y: sparse.col_scale(X, at.ones(Y.shape[1])), (3, 4), (None, 4)),
    (lambda X, Y: sparse.row_scale(X, at.ones(Y.shape[0])), (3, 4), (3, None)),
    (lambda X, Y: sparse.dot(X, Y), (3, 4), (4, None)),
    (lambda X, Y: sparse.dot(X, Y.toarray()), (3, 4), (4, None)),
    (lambda X, Y: sparse.dot(X.toarray(), Y), (3, 4), (4, None)),
    (lambda X, Y: sparse.dot(at.ones(X.shape[1]), Y), (3, 4), (4, None)),
    (sparse.structured_dot, (3, 4), (4, None)),
    (lambda X, Y: sparse.structured_dot(X, Y.toarray()), (3, 4), (4, None)),
    (lambda X, Y: sparse.structured_dot(X.toarray(), Y), (3, 4), (4, None)),
    (sparse.true_dot, (3, 4), (4, None)),
    (lambda X, Y: sparse.true_dot(X, Y.toarray()), (3, 4), (4, None)),
    (lambda X, Y: sparse.usmm(2.0, X, at.ones((X.shape[1], 2)), Y.toarray()), (3, 4), (3, 2)),
    (lambda X, Y: sparse.usmm(2.0, X, Y.toarray(), at.ones((X.shape[0], Y.shape[1]))), (3, 4), (4, None)),
    (lambda X, Y: sparse.sampling_dot(at.ones((Y.shape[0], 2)), at.ones((4, 2)), X), (3, 4), (3, None)),
    (lambda X, Y: sparse.sampling_dot(at.ones((3, 2)), at.ones((Y.shape[0], 2)), X), (3, 4), (4, None)),
    (lambda X, Y: sparse.sampling_dot(at.ones((3, Y.shape[1])), at.ones((4, 2)), X), (3, 4), (None, 2)),
    (lambda X, Y: sparse.hstack([X, Y]), (3, 4), (3, None)),
    (lambda X, Y: sparse.vstack([X, Y]), (3, 4), (None, 4)),
    (lambda X, Y: sparse.diag(X), (4, 4), None),
    (lambda X, Y: X[at.arange(2), at.arange(Y.shape[0])], (3, 4), (2, None)),
    (lambda X, Y: sparse.construct_sparse_from_list(X.toarray(), Y.toarray(), at.arange(2)), (3, 4), (2, 4)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("build, left, right", SHAPES)
def test_shapes(mode, build, left, right):
    """A row or column too many is an error, also for lengths of one; other lengths are free."""
    f = aesara.function([X, Y], build(X, Y), mode=mode, on_unused_input="ignore")

    def call(left, right):
        return f(*(scipy.sparse.csr_matrix(np.ones([n or 2 for n in shape])) for shape in (left, right)))

    free = (None, None) if right is None else right
    call(left, free)
    for k, length in enumerate(free):
        if length is None:
            call(left, (*free[:k], 7, *free[k + 1 :]))
            continue
        for other in (length + 1, length - 1, 1):
            with pytest.raises((ValueError, AssertionError)):
                call(left, (*free[:k], other, *free[k + 1 :]))
    if right is None:
        with pytest.raises(ValueError, match="square"):
            call((left[0] + 1, left[1]), free)
