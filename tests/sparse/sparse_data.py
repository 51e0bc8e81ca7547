"""Sparse matrices for tests, with what comes up in practice: empty rows and columns, stored zeros, unsorted indices."""

import numpy as np
import scipy.sparse

FORMATS = ("csr", "csc")


def some_matrix(rng, rows, columns, format="csr", dtype="float64", density=0.4, unsorted=False, stored_zero=False):
    """A random matrix with an empty row and, if there are enough, an empty column."""
    dense = rng.uniform(-2.0, 2.0, size=(rows, columns)) * (rng.uniform(size=(rows, columns)) < density)
    dense[rows // 2] = 0.0
    dense[:, columns // 3] = 0.0
    dense[0, columns - 1] = 1.5
    dense[rows - 1, 0] = -0.5
    if np.dtype(dtype).kind in "iu":
        dense = np.abs(np.round(3 * dense)) if np.dtype(dtype).kind == "u" else np.round(3 * dense)
    if np.dtype(dtype).kind == "c":
        dense = dense * (1 + 0.5j)
    made = getattr(scipy.sparse, f"{format}_matrix")(dense.astype(dtype))
    if stored_zero:
        made.data[0] = 0
    if unsorted:
        for begin, end in zip(made.indptr[:-1], made.indptr[1:]):
            made.indices[begin:end] = made.indices[begin:end][::-1].copy()
            made.data[begin:end] = made.data[begin:end][::-1].copy()
        made.has_sorted_indices = False
    return made


def as_dense(value):
    return value.toarray() if scipy.sparse.issparse(value) else np.asarray(value)
