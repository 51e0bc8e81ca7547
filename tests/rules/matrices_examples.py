"""Examples of rules about matrices of which something is known."""

import numpy as np

import aesara.tensor as at
from aesara.graph.view import ViewOp
from aesara.tensor import linalg
from aesara.tensor.linear_algebra.cholesky import CholeskyPullback
from tests.rules.framework import example

ROUNDED = {
    "regroups": "rounding errors are in proportion to the condition of the matrix",
    "moderate": "what overflows is no solution",
    "assumes_finite": "NaN and infinity spread in other ways",
    "zeros": "a zero of a sum has no sign",
    "dtypes": ("float64", "float32"),
}
REALS_TOO = ROUNDED | {"dtypes": ("float64", "float32", "complex128")}


def square(m):
    return m[:4, :4]


def definite(m):
    return at.dot(m, m.T) + at.eye(m.shape[0])


def det_of(m):
    return linalg.det(definite(m))


def factor(m):
    return linalg.cholesky(definite(m))


def solved_back(m, v):
    return linalg.solve_triangular(factor(m), v, lower=True, trans=1)


def triangle(m):
    return at.tril(square(m))


def narrow(m):
    """A product of rank 2."""
    u = at.specify_shape(m.T[:5, :2], (5, 2))
    return at.dot(u, u.T)


def middle(m, v):
    """A product of rank 2 with a diagonal in the middle."""
    u = at.specify_shape(m.T[:5, :2], (5, 2))
    return at.dot(u * at.exp(v[:2]), u.T)


def correction(m):
    """An identity and a product of rank 1 that is not symmetric."""
    u = at.specify_shape(at.concatenate([m[:3, 0], m[:3, 1], m[:3, 0]]), (9,))
    return at.eye(9) + at.dot(u[:, None], u[::-1][None, :])


def low_rank(m, v):
    return at.diag(at.exp(v)) + narrow(m)


class Definite(ViewOp):
    """Matrices that are symmetric and positive definite; an error where they are not."""

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        if not np.allclose(x, x.swapaxes(-1, -2), rtol=1e-12, atol=1e-12) or np.linalg.eigvalsh(x).min(initial=1) <= 0:
            raise ValueError("not positive definite")
        output_storage[0][0] = x


def checked(m):
    """Positive definite; an error where that is wrong."""
    turned = m.transpose(*range(m.ndim - 2), m.ndim - 1, m.ndim - 2)
    return at.assume(Definite()(m + turned), positive_definite=True)


EXAMPLES = {
    "local_remove_assume": [lambda m: at.assume(m, symmetric=True), lambda t: at.assume(t, diagonal=True)],
    "no_transpose_symmetric": [
        example(lambda m: (m + m.T).T, **ROUNDED),
        example(lambda m: at.dot(m, m.T).T, **ROUNDED),
        example(lambda v: abs(v[:, None] - v[None, :]).T, **ROUNDED),
    ],
    "transinv_to_invtrans": [example(lambda m: linalg.inv(definite(m).T).T, **REALS_TOO)],
    "local_inverse_of_transpose": [
        example(lambda m: linalg.inv(square(m).T), **REALS_TOO),
        example(lambda t: linalg.inv(t[:, :, :4].transpose(0, 2, 1)), **ROUNDED),
    ],
    "local_transpose_into_solve": [
        example(lambda m, v: linalg.solve_triangular(definite(m).T, v[:4], lower=True), **ROUNDED),
        example(lambda m, m2: linalg.solve_triangular(definite(m).T, m2, trans=1), **ROUNDED),
    ],
    "local_solve_of_diagonal": [
        example(lambda v, v2: linalg.solve(at.diag(v), v2), **REALS_TOO),
        example(lambda v, m: linalg.solve(at.diag(v), m.T), **ROUNDED),
    ],
    "local_solve_of_orthogonal": [
        example(lambda m, v: linalg.solve(linalg.qr(definite(m))[0], v[:4]), **ROUNDED),
        example(lambda m, v: linalg.solve(linalg.eigh(definite(m))[1], v[:4]), **ROUNDED),
    ],
    "tag_solve_triangular": [
        example(lambda m, v: linalg.solve(triangle(m), v[:4]), **REALS_TOO),
        example(lambda m, m2: linalg.solve(linalg.cholesky(definite(m)).T, m2), **ROUNDED),
    ],
    "local_solve_of_kronecker": [
        example(lambda m, m2: linalg.solve(at.kron(m[:2, :2], definite(m2[:2])), at.arange(4) - 2.5), **REALS_TOO),
        example(lambda m, m2: linalg.solve(at.kron(definite(m[:2]), definite(m2[:2])), m), **ROUNDED),
    ],
    "local_inverse_of_kronecker": [example(lambda m, m2: linalg.inv(at.kron(m[:2, :2], m2[:2, :2])), **REALS_TOO)],
    "local_cholesky_of_kronecker": [
        example(lambda m, m2: linalg.cholesky(at.kron(checked(definite(m[:2])), checked(definite(m2)))), **ROUNDED),
    ],
    "local_det_of_kronecker": [example(lambda m: linalg.det(at.kron(factor(m[:2]), factor(m[:2]))), **ROUNDED)],
    "local_slogdet_of_kronecker": [
        example(lambda m, m2: linalg.slogdet(at.kron(factor(m), linalg.inv(definite(m2[:2])))), **ROUNDED),
    ],
    "local_solve_of_blocks": [
        example(lambda m, m2: linalg.solve(linalg.block_diag(m[:2, :2], definite(m2[:2])), at.arange(4)), **REALS_TOO),
        example(lambda m, m2: linalg.solve(linalg.block_diag(definite(m[:2]), definite(m2[:2])).T, m), **ROUNDED),
    ],
    "local_inverse_of_blocks": [
        example(lambda m, m2: linalg.inv(linalg.block_diag(m[:2, :2], definite(m2[:2]))), **REALS_TOO)
    ],
    "local_cholesky_of_blocks": [
        example(lambda m, m2: linalg.cholesky(linalg.block_diag(definite(m[:2]), definite(m2[:2]))), **ROUNDED)
    ],
    "local_det_of_blocks": [
        example(lambda m, m2: linalg.slogdet(linalg.block_diag(definite(m[:2]), factor(m2[:2]))), **ROUNDED)
    ],
    "local_solve_of_low_rank": [
        example(lambda m, v: linalg.solve(low_rank(m, v), v), **ROUNDED),
        example(lambda m: linalg.solve(m[0, 0] ** 2 * at.eye(5) + narrow(m), m.T), **ROUNDED),
    ],
    "local_inverse_of_low_rank": [example(lambda m, v: linalg.inv(low_rank(m, v)), **ROUNDED)],
    "local_det_of_low_rank": [
        example(lambda m, v: linalg.slogdet(low_rank(m, v)), **ROUNDED),
        example(lambda m: linalg.slogdet(at.eye(5) + narrow(m)), **ROUNDED),
        example(lambda m, v: linalg.slogdet(at.eye(5) + middle(m, v)), **ROUNDED),
    ],
    "local_solve_of_multiple": [
        example(lambda m, v: [linalg.solve(definite(m), v[:4]), linalg.solve(definite(m), -v[:4])], **ROUNDED),
        example(lambda m: [linalg.solve(definite(m), m), linalg.solve(definite(m), m[0, 0] * m)], **ROUNDED),
    ],
    "local_solve_of_inverse": [example(lambda m, v: linalg.solve(linalg.inv(definite(m)), v[:4]), **REALS_TOO)],
    "psd_solve_with_chol": [
        example(lambda m, v: linalg.solve(checked(definite(m)), v[:4]), **ROUNDED),
    ],
    "inv_as_solve_on_left": [
        example(lambda m, v: at.dot(linalg.inv(square(m)), v[:4]), **REALS_TOO),
        example(lambda m, m2: at.dot(linalg.inv(square(m)).T, m2), **REALS_TOO),
    ],
    "inv_as_solve_on_right": [
        example(lambda m, v: at.dot(v[:4], linalg.inv(square(m))), **REALS_TOO),
        example(lambda m, m2: at.dot(m2.T, linalg.inv(square(m)).T), **REALS_TOO),
    ],
    "local_inverse_of_inverse": [example(lambda m: linalg.inv(linalg.inv(definite(m))), **REALS_TOO)],
    "local_inverse_of_orthogonal": [
        example(lambda m: linalg.inv(linalg.qr(definite(m))[0]), **ROUNDED),
        example(lambda m: linalg.inv(at.eye(m.shape[0])), **ROUNDED),
    ],
    "local_inverse_of_diagonal": [
        example(lambda m: linalg.inv(at.assume(m * at.eye(m.shape[0], m.shape[1]), diagonal=True)), **REALS_TOO),
        example(lambda v: linalg.inv(at.diag(v)), **REALS_TOO),
    ],
    "local_inverse_of_triangle": [example(lambda m: linalg.inv(triangle(m)), **REALS_TOO)],
    "local_inverse_of_definite": [example(lambda m: linalg.inv(checked(definite(m))), **ROUNDED)],
    "local_inverse_by_cholesky": [
        example(lambda m: linalg.cho_solve((factor(m), True), at.eye(m.shape[0])), **ROUNDED),
    ],
    "local_solve_of_correction": [
        example(lambda m, v: linalg.solve(correction(m), at.concatenate([v, v, v])[:9]), **ROUNDED),
    ],
    "local_inverse_of_correction": [example(lambda m: linalg.inv(correction(m)), **ROUNDED)],
    "local_det_of_correction": [example(lambda m: linalg.slogdet(correction(m)), **ROUNDED)],
    "local_product_without_q": [
        example(lambda m, v: at.dot(linalg.qr(m)[0].T, at.concatenate([v, v])[: m.shape[0]]), **ROUNDED),
        example(lambda m: at.dot(m[:, 0], linalg.qr(m)[0]), **ROUNDED),
    ],
    "local_pullback_of_cholesky": [
        example(lambda m, m2: CholeskyPullback()(factor(m), at.dot(m2, m2.T)), **ROUNDED),
        example(lambda m: CholeskyPullback()(factor(m), at.diag(1 / at.diag(factor(m)))), **ROUNDED),
        example(lambda m, v: CholeskyPullback()(factor(m), at.outer(solved_back(m, v), v)), **ROUNDED),
    ],
    "local_cholesky_of_diagonal": [
        example(lambda v: linalg.cholesky(at.diag(v)), **ROUNDED),
        example(lambda v: linalg.cholesky(at.eye(v.shape[0])), **ROUNDED),
    ],
    "local_cholesky_of_square": [
        example(lambda m: linalg.cholesky(at.dot(factor(m), factor(m).T)), **ROUNDED),
    ],
    "local_det_of_transpose": [
        example(lambda m: linalg.det(square(m).T), **REALS_TOO),
        example(lambda m: linalg.slogdet(square(m).T), **REALS_TOO),
    ],
    "local_det_of_triangle": [
        example(lambda m: linalg.det(triangle(m)), **ROUNDED),
        example(lambda m: linalg.slogdet(linalg.cholesky(definite(m))), **ROUNDED),
        example(lambda v: [linalg.det(at.diag(v)), *linalg.slogdet(at.diag(v))], **ROUNDED),
        example(lambda v: [linalg.det(at.eye(v.shape[0])), *linalg.slogdet(at.eye(v.shape[0]))], **ROUNDED),
    ],
    "local_det_of_product": [
        example(lambda m: linalg.slogdet(at.dot(factor(m), factor(m).T)), **ROUNDED),
        example(lambda m, v: linalg.slogdet(at.dot(linalg.inv(definite(m)), at.diag(v[:4]))), **ROUNDED),
    ],
    "local_det_of_inverse": [example(lambda m: linalg.slogdet(linalg.inv(square(m))), **ROUNDED)],
    "local_det_chol": [
        example(lambda m: [linalg.cholesky(definite(m)), linalg.det(definite(m))], **ROUNDED),
        example(lambda m: linalg.slogdet(checked(definite(m))), **ROUNDED),
    ],
    "local_cofactors_of_definite": [example(lambda m: linalg.Cofactors()(checked(definite(m))), **ROUNDED)],
    "local_cofactors_over_det": [
        example(lambda m: linalg.Cofactors()(definite(m)) / linalg.det(definite(m)), **ROUNDED),
        example(lambda m: at.sgn(det_of(m)) * linalg.Cofactors()(definite(m)) / abs(det_of(m)), **ROUNDED),
    ],
    "local_log_det": [
        example(lambda m: at.log(linalg.det(square(m))), **ROUNDED),
        example(lambda m: at.log(abs(linalg.det(square(m)))), **ROUNDED),
    ],
}
