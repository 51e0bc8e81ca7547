"""Matrices that consist of blocks or are defined by vectors."""

from __future__ import annotations

from typing import Any

from aesara import scalar as aes
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import conj
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import for_batches

__all__ = ["block_diag", "circulant", "hankel", "toeplitz"]


def block_diag(*arrays: TensorLike) -> TensorVariable:
    """Return the block diagonal matrix with the given blocks; see `scipy.linalg.block_diag`.

    Parameters
    ----------
    *arrays
        Matrices, or batches of them. A vector stands for a matrix with one row, a number for one of one by one.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.block_diag([[1, 2]], [[3]]).eval()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    if not arrays:
        return zeros((1, 0))
    blocks = [as_tensor_variable(array) for array in arrays]
    blocks = [x.dimshuffle(["x"] * (2 - x.type.ndim) + list(range(x.type.ndim))) for x in blocks]
    signature = ",".join(f"(r{k},c{k})" for k in range(len(blocks))) + "->(r,c)"
    return for_batches("block_diag", _along_diagonal, signature, *blocks)


def _along_diagonal(*blocks: TensorVariable) -> TensorVariable:
    dtype = aes.upcast(*[x.type.dtype for x in blocks])
    rows = []
    for k, block in enumerate(blocks):
        parts = [
            block.astype(dtype) if j == k else zeros((block.shape[0], other.shape[1]), dtype=dtype)
            for j, other in enumerate(blocks)
        ]
        rows.append(concatenate(parts, axis=1))
    return concatenate(rows, axis=0)


def _vector(value: Any) -> TensorVariable:
    x = as_tensor_variable(value)
    return x.dimshuffle("x") if x.type.ndim == 0 else x


def toeplitz(c: TensorLike, r: TensorLike | None = None) -> TensorVariable:
    """Return a Toeplitz matrix, whose diagonals are constant; see `scipy.linalg.toeplitz`.

    Parameters
    ----------
    c
        The first column, or a batch of them.
    r
        The first row, of which the first element is not used, or a batch of them; by default the conjugate of `c`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.toeplitz([1, 2, 3], [1, 4]).eval()
    array([[1, 4],
           [2, 1],
           [3, 2]])
    """
    c = _vector(c)
    return for_batches("toeplitz", _toeplitz, "(n),(m)->(n,m)", c, conj(c) if r is None else _vector(r))


def _toeplitz(c: TensorVariable, r: TensorVariable) -> TensorVariable:
    values = concatenate([c[::-1], r[1:]])
    n = c.shape[0]
    return values[arange(r.shape[0]).dimshuffle("x", 0) - arange(n).dimshuffle(0, "x") + (n - 1)]


def circulant(c: TensorLike) -> TensorVariable:
    """Return a circulant matrix, whose columns are rotations of a vector; see `scipy.linalg.circulant`.

    Parameters
    ----------
    c
        The vector, or a batch of them.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.circulant([1, 2, 3]).eval()
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    return for_batches("circulant", _circulant, "(n)->(n,n)", _vector(c))


def _circulant(c: TensorVariable) -> TensorVariable:
    n = c.shape[0]
    return c[(arange(n).dimshuffle(0, "x") - arange(n).dimshuffle("x", 0)) % n]


def hankel(c: TensorLike, r: TensorLike | None = None) -> TensorVariable:
    """Return a Hankel matrix, whose antidiagonals are constant; see `scipy.linalg.hankel`.

    Parameters
    ----------
    c
        The first column, or a batch of them.
    r
        The last row, of which the first element is not used, or a batch of them; by default zeros.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.hankel([1, 2, 3], [3, 4]).eval()
    array([[1, 2],
           [2, 3],
           [3, 4]])
    """
    c = _vector(c)
    return for_batches("hankel", _hankel, "(n),(m)->(n,m)", c, c.zeros_like() if r is None else _vector(r))


def _hankel(c: TensorVariable, r: TensorVariable) -> TensorVariable:
    values = concatenate([c, r[1:]])
    return values[arange(c.shape[0]).dimshuffle(0, "x") + arange(r.shape[0]).dimshuffle("x", 0)]
