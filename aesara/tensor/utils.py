"""Small helpers about arrays and lists."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def hash_from_ndarray(data: np.ndarray) -> str:
    """A hash of the values, the dtype, the shape and the strides of an array; the same in every process."""
    data = np.asarray(data)
    described = f"{data.dtype.str} {data.shape} {data.strides}".encode()
    return "m" + hashlib.sha256(described + np.ascontiguousarray(data).tobytes()).hexdigest()


def as_list(x: Any) -> list[Any]:
    """A list or tuple as a list, anything else as the only entry of one."""
    return list(x) if isinstance(x, (list, tuple)) else [x]
