"""Checksums: digests by which pickled parts of functions notice that they are no longer what they were.

They are for accidents, such as files that were damaged or edited.  Who can write a pickle can write its checksum, too.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from aesara.digests import blake2b

__all__ = ["checksum_of", "confirm"]


def checksum_of(facts: Any, data: bytes = b"", arrays: Iterable[Any] = ()) -> bytes:
    """A digest of facts, bytes and arrays.

    Parameters
    ----------
    facts
        What tells all of itself to `repr`, in the same words in each process.
    data
        Bytes.
    arrays
        Numpy arrays; of others among them, and of arrays of Python objects, only the place counts.

    Examples
    --------
    >>> checksum_of("a", b"b") == checksum_of("a", b"b"), checksum_of("a", b"b") == checksum_of("ab")
    (True, False)
    """
    digest = blake2b(data, digest_size=20)
    for array in arrays:
        if isinstance(array, np.ndarray) and not array.dtype.hasobject:
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        else:
            digest.update(b"?")
    digest.update(repr((facts, len(data))).encode())
    return digest.digest()


def confirm(checksum: object, wanted: bytes, part: str) -> None:
    """Raise an `UnpicklingError` if a checksum is not the one that a part of a function was given."""
    if checksum != wanted:
        raise pickle.UnpicklingError(
            f"The pickled function is damaged: its {part} is not what was pickled. Compile the function again, and "
            "pickle that."
        )
