"""Test for shared memory, under Aesara's path."""

from __future__ import annotations

from typing import Any

import numpy as np


def _vectors_of(x: object) -> list[np.ndarray]:
    """The array itself, or those that a sparse matrix consists of."""
    if isinstance(x, np.ndarray):
        return [x]
    vectors: list[Any] = [getattr(x, name, None) for name in ("data", "indices", "indptr")]
    return vectors if all(isinstance(v, np.ndarray) for v in vectors) else []


def may_share_memory(a: object, b: object, raise_other_type: bool = True) -> bool:
    """Return whether changing one of two arrays or sparse matrices may change the other; see `numpy.may_share_memory`.

    Raises
    ------
    TypeError
        If one is no array, and `raise_other_type` is true; otherwise the answer is False.
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    vectors = [_vectors_of(a), _vectors_of(b)]
    if all(vectors):
        return any(np.may_share_memory(p, q) for p in vectors[0] for q in vectors[1])
    if raise_other_type:
        raise TypeError(f"may_share_memory needs arrays; got {type(a).__name__} and {type(b).__name__}.")
    return False
