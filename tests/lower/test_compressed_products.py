"""Products with sparse matrices, given by their vectors: native code and the interpreter, which checks every access."""

import numpy as np
import pytest
import scipy.sparse
from agreement import assert_native

import aesara.sparse as sparse


@pytest.mark.parametrize("columns", [0, 1, 3, 7, 8, 13])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_accesses(rng, format, columns):
    dense = rng.normal(size=(5, 4)) * (rng.uniform(size=(5, 4)) < 0.5)
    matrix = getattr(scipy.sparse, f"{format}_matrix")(dense)

    def products(data, indices, indptr, shape, x, v, g):
        A = sparse.CSM(format)(data, indices, indptr, shape)
        return [sparse.dot(A, x), sparse.dot(A, v), sparse.csm_data(sparse.structured_dot_grad(A, x, g))]

    shape = np.array(matrix.shape, dtype="int32")
    x, v, g = (rng.normal(size=size) for size in ((4, columns), 4, (5, columns)))
    assert_native(products, matrix.data, matrix.indices, matrix.indptr, shape, x, v, g, ulps=4, static=[False])
