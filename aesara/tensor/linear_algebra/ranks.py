"""Ranks, condition numbers and bases, from singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.numpy_ops import isfinite
from aesara.tensor.linear_algebra.eigen import eigh
from aesara.tensor.linear_algebra.inverse import matrix_inverse
from aesara.tensor.linear_algebra.svd import svd, svdvals
from aesara.tensor.products.norms import matrix_norm
from aesara.tensor.reductions.all_any import all as all_true
from aesara.tensor.reductions.all_any import any as any_true
from aesara.tensor.reductions.sum_prod_max import max as largest
from aesara.tensor.reductions.sum_prod_max import sum as sum_of

__all__ = ["cond", "matrix_rank", "null_space", "orth"]


def matrix_rank(
    A: TensorLike, tol: TensorLike | None = None, hermitian: bool = False, *, rtol: TensorLike | None = None
) -> TensorVariable:
    """The number of singular values that are not zero within rounding; see `numpy.linalg.matrix_rank`.

    Parameters
    ----------
    A
        A matrix, or a batch of them. A vector has rank 1, unless it is zero.
    tol
        The smallest singular value that counts.
    hermitian
        Whether the matrix is Hermitian: singular values are found from the lower triangle.
    rtol
        The smallest singular value that counts, relative to the largest: by default the precision times the larger
        dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).eval()
    array(1)
    """
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = as_tensor_variable(A)
    if A.type.ndim < 2:
        return any_true(ops.neq(A, 0)).astype("int64")
    s = _have_rank(ops.abs(eigh(A)[0])) if hermitian else svdvals(A)
    if tol is None:
        relative = _precision(A, s) if rtol is None else as_tensor_variable(rtol)
        bound = largest(s, axis=-1, keepdims=True, initial=0) * (
            _add_dimension(relative) if rtol is not None else relative
        )
    else:
        bound = _add_dimension(as_tensor_variable(tol))
    return sum_of(ops.gt(s, bound), axis=-1, dtype="int64")


def _have_rank(s: TensorVariable) -> TensorVariable:
    """Return absolute eigenvalues, with NaN for matrices that contain infinities."""
    check = CheckAndRaise(np.linalg.LinAlgError, "A matrix with infinities has no rank.")
    return check(s, all_true(isfinite(s)))


def _add_dimension(x: TensorVariable) -> TensorVariable:
    """Add a dimension to numbers for members of a batch, to broadcast with singular values."""
    return x if x.type.ndim == 0 else x.dimshuffle([*range(x.type.ndim), "x"])


def _precision(A: TensorVariable, s: TensorVariable) -> TensorVariable:
    """Return the relative precision of the singular values of a matrix."""
    eps = np.asarray(np.finfo(s.type.dtype).eps, s.type.dtype)
    return ops.maximum(A.shape[-2], A.shape[-1]).astype(s.type.dtype) * eps


def cond(x: TensorLike, p: float | str | None = None) -> TensorVariable:
    """The condition number of a matrix: its norm times that of its inverse; see `numpy.linalg.cond`.

    Parameters
    ----------
    x
        A matrix, or a batch of them.
    p
        The order of the norm, as for `norm`; by default 2, the ratio of singular values.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.cond([[4.0, 0.0], [0.0, 2.0]]).eval()
    array(2.)
    """
    x = as_tensor_variable(x)
    if x.type.ndim < 2:
        raise ValueError(f"cond needs a matrix; got {x.type}.")
    check = CheckAndRaise(np.linalg.LinAlgError, "cond: there is no condition of a matrix without elements.")
    x = check(x, ops.neq(x.shape[-2] * x.shape[-1], 0))
    if p in (None, 2, -2):
        s = svdvals(x)
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        result = matrix_norm(x, p) * matrix_norm(matrix_inverse(x), p)
    undefined = ops.and_(ops.isnan(result), ops.invert(any_true(ops.isnan(ops.abs(x)), axis=(-2, -1))))
    return ops.switch(undefined, np.asarray(np.inf, result.type.dtype), result)


def null_space(A: Any, rcond: Any = None) -> TensorVariable:
    """Return an orthonormal basis (columns) of the null space of a matrix; see `scipy.linalg.null_space`.

    Parameters
    ----------
    A
        The matrix.
    rcond
        Singular values up to this times the largest are taken for zero; by default the precision times the larger
        dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> abs(at.linalg.null_space([[1.0, 0.0], [2.0, 0.0]])).eval()
    array([[0.],
           [1.]])
    """
    A = _one_matrix("null_space", A)
    _, s, vh = svd(A, full_matrices=True)
    return ops.conj(vh[_count(A, s, rcond) :]).T


def orth(A: Any, rcond: Any = None) -> TensorVariable:
    """Return an orthonormal basis (columns) of the range of a matrix; see `scipy.linalg.orth` and `null_space`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> abs(at.linalg.orth([[0.0, 0.0], [2.0, 3.0]])).eval().round(12)
    array([[0.],
           [1.]])
    """
    A = _one_matrix("orth", A)
    u, s, _ = svd(A, full_matrices=False)
    return u[:, : _count(A, s, rcond)]


def _one_matrix(name: str, A: TensorLike) -> TensorVariable:
    A = as_tensor_variable(A)
    if A.type.ndim != 2:
        raise ValueError(f"{name} needs one matrix, since the shape of the result depends on its values; got {A.type}.")
    return A


def _count(A: TensorVariable, s: TensorVariable, rcond: TensorLike) -> TensorVariable:
    relative = _precision(A, s) if rcond is None else as_tensor_variable(rcond)
    return sum_of(ops.gt(s, largest(s, initial=0) * relative), dtype="int64")
