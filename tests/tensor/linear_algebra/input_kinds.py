"""Kinds of inputs that the tables of functions of matrices share."""

from __future__ import annotations

import numpy as np

from aesara.compile.mode import Mode

LINKERS = ["FAST_RUN", Mode("py", None)]
#: not of floating-point numbers in double precision
DTYPES = ["float32", "complex64", "complex128", "int8", "int64", "uint16", "bool"]


def layouts(a: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers, in other orders of memory."""
    spread = np.zeros([3 * n for n in a.shape], a.dtype)
    spread[tuple(slice(None, None, 3) for _ in a.shape)] = a
    turned = np.ascontiguousarray(np.flip(a))
    return {
        "fortran": np.asfortranarray(a),
        "strided": spread[tuple(slice(None, None, 3) for _ in a.shape)],
        "negative strides": np.flip(turned),
        "big-endian": a.astype(a.dtype.newbyteorder(">")),
        "read only": np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    }


def assert_tells_where(error: BaseException, file: str) -> None:
    """That the message names the node, and a line of this file as the one that made it."""
    assert "Apply node that caused the error" in str(error)
    assert file in str(error)
