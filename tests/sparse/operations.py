"""Table of operations on sparse matrices and their dense equivalents.

Each row has a name, a function of variables, a function of dense arrays, the names of the operands, and whether it has
a gradient. `A`, `B`, `C` and `S` are sparse, the last one square, and `A2` has the pattern of `A`; others are dense.
"""

import numpy as np
from sparse_data import some_matrix

import aesara.sparse as sparse
import aesara.tensor as at

ROWS = 6, 5


def operands(rng, format, **kwargs):
    """The values of the operands."""
    rows, columns = ROWS
    a = some_matrix(rng, rows, columns, format, stored_zero=True, unsorted=True, **kwargs)
    a2 = a.copy()
    a2.data = rng.uniform(0.5, 1.5, size=a.nnz).astype(a.dtype)
    return {
        "A": a,
        "A2": a2,
        "B": some_matrix(rng, rows, columns, format, **kwargs) * np.array(1.25, dtype=a.dtype),
        "C": some_matrix(rng, columns, 3, format, **kwargs),
        "S": some_matrix(rng, rows, rows, format, **kwargs),
        "y": rng.normal(size=(rows, columns)).astype(a.dtype),
        "row": rng.normal(size=(1, columns)).astype(a.dtype),
        "column": rng.normal(size=(rows, 1)).astype(a.dtype),
        "m": rng.normal(size=(columns, 3)).astype(a.dtype),
        "l": rng.normal(size=(3, rows)).astype(a.dtype),
        "k": rng.normal(size=(rows, 3)).astype(a.dtype),
        "v": rng.normal(size=columns).astype(a.dtype),
        "w": rng.normal(size=rows).astype(a.dtype),
        "c": np.array(1.5, dtype=a.dtype),
        "i": np.array([4, 0, -2], dtype="int64"),  # one row twice: from its end, too
        "j": np.array([1, -3, 1], dtype="int64"),
    }


def pattern(a):
    """1 where a value is stored, 0 elsewhere."""
    ones = a.copy()
    ones.data = np.ones_like(a.data)
    return ones.toarray()


def added(rows, numbers):
    """Rows added to those of a matrix of zeros that have these numbers."""
    made = np.zeros(ROWS)
    np.add.at(made, numbers, rows)
    return made


def on_pattern(function):
    """A function of the elements that are not zero; `B` stores no other ones."""
    return lambda matrix: np.where(matrix != 0, function(matrix), 0)


def _row(name, build, expected, *names, grad=True):
    return name, build, expected, names, grad


def _elementwise(name, numpy_name=None):
    of_numpy = getattr(np, numpy_name or name)
    return _row(name, getattr(sparse, name), of_numpy, "U")


#: functions that are 0 at 0, of values between -0.9 and 0.9
SMOOTH = [_elementwise(name) for name in "sin arcsin tan arctan sinh arcsinh tanh arctanh log1p expm1 square".split()]
SMOOTH += [_elementwise("deg2rad"), _elementwise("rad2deg")]
STEPS = [
    (name, getattr(sparse, name), of_numpy, ("U",), False)
    for name, of_numpy in (
        ("rint", np.rint),
        ("ceil", np.ceil),
        ("floor", np.floor),
        ("sgn", np.sign),
        ("trunc", np.trunc),
    )
]

#: of stored values only
STRUCTURED = [
    ("exp", sparse.structured_exp, np.exp),
    ("sigmoid", sparse.structured_sigmoid, lambda B: 1 / (1 + np.exp(-B))),
    ("pow", lambda B: sparse.structured_pow(B, 3), lambda B: B**3),
    ("minimum", lambda B: sparse.structured_minimum(B, 1.0), lambda B: np.minimum(B, 1)),
    ("maximum", lambda B: sparse.structured_maximum(B, 1.0), lambda B: np.maximum(B, 1)),
    ("add", lambda B: sparse.structured_add(B, 1.0), lambda B: B + 1),
]

OPERATIONS = [
    _row("toarray", lambda A: A.toarray(), lambda A: A, "A"),
    _row("toarray, gradient of all", sparse.DenseFromSparse(structured=False), lambda A: A, "A"),
    _row("cast", lambda A: sparse.cast(A, "float64"), lambda A: A, "A"),
    _row("transpose", lambda A: A.T, lambda A: A.T, "A"),
    _row("neg", lambda A: -A, lambda A: -A, "A"),
    _row("remove0", sparse.remove0, lambda A: A, "A"),
    _row("clean", sparse.clean, lambda A: A, "A"),
    _row("add two", lambda A, B: A + B, lambda A, B: A + B, "A", "B"),
    _row("add transposed", lambda S, T: S + T.T, lambda S, T: S + T.T, "S", "S"),
    _row("add same pattern", sparse.add_s_s_data, lambda A, B: A + B, "A", "A2"),
    _row("add dense", lambda A, y: A + y, lambda A, y: A + y, "A", "y"),
    _row("dense minus", lambda A, y: y - A, lambda A, y: y - A, "A", "y"),
    _row("subtract", lambda A, B: A - B, lambda A, B: A - B, "A", "B"),
    _row("multiply two", lambda A, B: A * B, lambda A, B: A * B, "A", "B"),
    _row("multiply dense", lambda A, y: A * y, lambda A, y: A * y, "A", "y"),
    _row("multiply row", lambda A, row: A * at.specify_broadcastable(row, 0), lambda A, row: A * row, "A", "row"),
    _row("multiply column", lambda A, c: A * at.specify_broadcastable(c, 1), lambda A, c: A * c, "A", "column"),
    _row("multiply number", lambda A, c: c * A, lambda A, c: c * A, "A", "c"),
    _row("mul_s_v", sparse.mul_s_v, lambda A, v: A * v, "A", "v"),
    _row("row_scale", sparse.row_scale, lambda A, w: A * w[:, None], "A", "w"),
    _row("col_scale", sparse.col_scale, lambda A, v: A * v, "A", "v"),
    _row("sum", lambda A: A.sum(), lambda A: A.sum(), "A"),
    _row("sum, sparse gradient", lambda A: A.sum(sparse_grad=True), lambda A: A.sum(), "A"),
    _row("sum 0", lambda A: A.sum(0), lambda A: A.sum(0), "A"),
    _row("sum 1", lambda A: A.sum(axis=1, sparse_grad=True), lambda A: A.sum(1), "A"),
    _row("diag", sparse.diag, np.diag, "S"),
    _row("square_diagonal", sparse.square_diagonal, np.diag, "v"),
    _row("hstack", lambda A, B: sparse.hstack([A, B]), lambda A, B: np.hstack([A, B]), "A", "B"),
    _row("vstack", lambda A, B: sparse.vstack([A, B], format="csr"), lambda A, B: np.vstack([A, B]), "A", "B"),
    _row("element", lambda A: A[1, 2], lambda A: A[1, 2], "A"),
    _row("element from the end", lambda A: A[-1, -5], lambda A: A[-1, -5], "A"),
    _row("rows", lambda A, i: A[i], lambda A, i: A[i], "A", "i"),
    _row("elements", lambda A, i, j: A[i, j], lambda A, i, j: A[i, j], "A", "i", "j"),
    _row("rectangle", lambda A: A[1:4, 1:], lambda A: A[1:4, 1:], "A"),
    _row(
        "added rows",
        lambda m, i: sparse.construct_sparse_from_list(at.zeros(ROWS), m.T, i),
        lambda m, i: added(m.T, i),
        *"mi",
    ),
    _row("dot vector", lambda A, v: sparse.dot(A, v), lambda A, v: A @ v, "A", "v"),
    _row("vector dot", lambda w, A: sparse.dot(w, A), lambda w, A: w @ A, "w", "A"),
    _row("dot matrix", lambda A, m: sparse.dot(A, m), lambda A, m: A @ m, "A", "m"),
    _row("matrix dot", lambda l, A: sparse.dot(l, A), lambda l, A: l @ A, "l", "A"),
    _row("dot sparse", lambda A, C: sparse.dot(A, C), lambda A, C: A @ C, "A", "C"),
    _row("structured_dot", sparse.structured_dot, lambda A, m: A @ m, "A", "m"),
    _row("structured_dot left", lambda l, A: l @ A, lambda l, A: l @ A, "l", "A"),
    _row("structured_dot sparse", lambda A, C: A.dot(C), lambda A, C: A @ C, "A", "C"),
    _row("at.dot", at.dot, lambda A, m: A @ m, "A", "m"),
    _row("true_dot", sparse.true_dot, lambda A, m: A @ m, "A", "m"),
    _row("true_dot, sparse gradient", lambda A, m: sparse.true_dot(A, m, False), lambda A, m: A @ m, "A", "m"),
    _row("true_dot left", sparse.true_dot, lambda l, A: l @ A, "l", "A"),
    _row("true_dot sparse", sparse.true_dot, lambda A, C: A @ C, "A", "C"),
    _row("usmm", sparse.usmm, lambda c, A, m, k: c * (A @ m) + k, "c", "A", "m", "k"),
    _row("usmm left", lambda c, l, A, m: sparse.usmm(c, l, A, m.T), lambda c, l, A, m: c * (l @ A) + m.T, *"clAm"),
    _row("sampling_dot", sparse.sampling_dot, lambda k, m, A: (k @ m.T) * A, "k", "m", "A"),
    _row("eq", sparse.eq, lambda A, B: (A == B).astype("uint8"), "A", "B", grad=False),
    _row("neq dense", sparse.neq, lambda A, y: (A != y).astype("uint8"), "A", "y", grad=False),
    _row("lt", lambda A, B: A < B, lambda A, B: (A < B).astype("uint8"), "A", "B", grad=False),
    _row("le", lambda A, B: A <= B, lambda A, B: (A <= B).astype("uint8"), "A", "B", grad=False),
    _row("gt dense", lambda A, y: A > y, lambda A, y: (A > y).astype("uint8"), "A", "y", grad=False),
    _row("dense ge", lambda A, y: sparse.ge(y, A), lambda A, y: (y >= A).astype("uint8"), "A", "y", grad=False),
    *(_row(f"structured_{name}", build, on_pattern(of_numpy), "B") for name, build, of_numpy in STRUCTURED),
    _row("structured_add_s_v", sparse.structured_add_s_v, lambda B, v: on_pattern(lambda B: B + v)(B), "B", "v"),
    *SMOOTH,
    *STEPS,
]
