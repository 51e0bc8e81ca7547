"""Examples of rules about products of matrices."""

import aesara.tensor as at
from aesara.tensor.products.gemm import Dot22, gemm_no_inplace
from aesara.tensor.products.gemv import gemv_no_inplace, ger
from tests.rules.framework import example

ORDER = {
    "regroups": "sums of products are taken in another order",
    "moderate": "a part may overflow where the whole does not",
    "assumes_finite": "what is infinite, or NaN, meets other numbers first",
    "zeros": "a zero of a sum has no sign",
    "dtypes": ("float64", "float32", "complex128"),
}
DOUBLE = {"dtypes": ("float64",), "regroups": "BLAS adds in another order", "moderate": ORDER["moderate"]}
dot22 = Dot22()


def dot(a, b, *others):
    return dot(at.dot(a, b), *others) if others else at.dot(a, b)


ROWS = {
    "local_gemm_to_gemv": {"not_made": "it is about shapes that multiply to fewer operations"},
    "local_gemm_to_ger": {"not_made": "it is about shapes that multiply to fewer operations"},
}
EXAMPLES = {
    "local_dot_chain": [
        example(lambda m, m2, v: dot(m.T, m2, v), **ORDER),
        example(lambda m, m2, v: at.dot(v, at.dot(m.T, at.dot(m2, m.T))), **ORDER),
        example(lambda m, m2, m3, v: dot(m, m2.T, m3, v), **ORDER),
        example(lambda m, m2, m3, v: at.dot(dot(m, m2.T, m3, v), m), **ORDER),
    ],
    "local_scalar_out_of_dot": [
        example(lambda m, m2, s: at.dot(s * m, m2.T), **ORDER),
        example(lambda m, v, s: at.dot(-m, s * v), **ORDER),
        example(lambda m, m2: at.dot(m, -m2.T), **ORDER),
    ],
    "local_add_of_dots": [
        example(lambda m, m2, m3: at.dot(m, m2.T) + at.dot(m, m3.T), **ORDER),
        example(lambda m, m2, m3: at.dot(m2, m.T) - at.dot(m3, m.T), **ORDER),
        example(lambda m, v, v2: at.dot(m, v) + at.dot(m, v2) + 1, **ORDER),
    ],
    "local_dot_of_diagonal_and_other": [
        example(lambda m, v: at.dot(at.diag(v), m.T), **ORDER),
        example(lambda v, v2: at.dot(at.diag(v), v2), **ORDER),
    ],
    "local_dot_of_other_and_diagonal": [example(lambda m, v: at.dot(m, at.diag(v)), **ORDER)],
    "local_sum_of_dot": [
        example(lambda m, m2: at.dot(m, m2.T).sum(), **ORDER),
        example(lambda m, m2: at.dot(m.T, m2).sum(axis=0), **ORDER),
        example(lambda m, m2: at.dot(m.T, m2).sum(axis=1), **ORDER),
        example(lambda v, v2: at.outer(v, v2).sum(axis=0), **ORDER),
    ],
    "local_diagonal_of_dot": [
        example(lambda m, m2: at.trace(at.dot(m, m2.T)), **ORDER),
        example(lambda m, m2: at.diagonal(at.dot(m, m2[:2].T)), **ORDER),
    ],
    "local_sum_of_outer": [
        example(lambda v, v2: (v[:, None] * v2).sum(), **ORDER),
        example(lambda v, v2: (v[:, None] * v2).sum(axis=0), **ORDER),
        example(lambda v, v2, s: at.mul(v[:, None], v2, s).sum(axis=1), **ORDER),
    ],
    "local_dot_to_dot22": [example(lambda m, m2: at.dot(m, m2.T), dtypes=("float64", "complex64", "int8"))],
    "local_dot22_to_dot22scalar": [
        example(lambda m, m2, s: s * dot22(m, m2.T), **DOUBLE),
        example(lambda m, m2, s: at.mul(s, dot22(m.T, m2), m2.T[:, :1]), **DOUBLE),
    ],
    "local_inplace_gemm": [example(lambda m, m2, s: gemm_no_inplace(m + m2, s, m2[:, :4], m, 1.0), **DOUBLE)],
    "local_inplace_gemv": [example(lambda m, v, v2, s: gemv_no_inplace(m[0] + v, s, m.T, m[:, 0], 1.0), **DOUBLE)],
    "local_inplace_ger": [example(lambda m, v, s: ger(m + s, s, m[:, 0], v), **DOUBLE)],
    "local_gemm_to_gemv": [
        example(lambda m, m2, v, s: gemm_no_inplace(m[:, :1] + s, s, m2, v.dimshuffle(0, "x"), 2.0), **DOUBLE),
        example(lambda m, m2, v, s: gemm_no_inplace(m2[:1, :4] + s, s, v.dimshuffle("x", 0), m.T, s), **DOUBLE),
    ],
    "local_gemm_to_ger": [
        example(lambda m, v, s: gemm_no_inplace(m, s, m[:, :1], v.dimshuffle("x", 0), 1.0), **DOUBLE),
        example(lambda m, v, s: gemm_no_inplace(m, s, m[:, :1], v.dimshuffle("x", 0), 0.0), **DOUBLE),
    ],
    "local_dot22_to_ger_or_gemv": [
        example(lambda v, v2: dot22(v.dimshuffle(0, "x"), v2.dimshuffle("x", 0)), **DOUBLE),
        example(lambda m, v: dot22(m, v.dimshuffle(0, "x")), **DOUBLE),
        example(lambda m, v: dot22(v.dimshuffle("x", 0), m.T), **DOUBLE),
    ],
}
