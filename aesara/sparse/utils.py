"""Hashes of sparse matrices that are the same in every process."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

__all__ = ["hash_from_sparse"]


def hash_from_sparse(data: Any) -> str:
    """Return a hash of the format, shape, dtypes and contents of a sparse matrix.

    Parameters
    ----------
    data
        A matrix of `scipy.sparse` in compressed form.

    Examples
    --------
    >>> import scipy.sparse
    >>> from aesara.sparse.utils import hash_from_sparse
    >>> one = scipy.sparse.eye(2, format="csr")
    >>> hash_from_sparse(one) == hash_from_sparse(one.copy()), hash_from_sparse(one) == hash_from_sparse(2 * one)
    (True, False)
    """
    parts = [np.ascontiguousarray(part) for part in (data.data, data.indices, data.indptr)]
    facts = (data.format, tuple(map(int, data.shape)), [(part.dtype.str, part.shape) for part in parts])
    digest = hashlib.sha256(repr(facts).encode())
    for part in parts:
        digest.update(part.tobytes())
    return "s" + digest.hexdigest()
