"""Whether two values may share memory, under Aesara's path."""

from __future__ import annotations

from typing import Any

import numpy as np


def may_share_memory(a: Any, b: Any, raise_other_type: bool = True) -> bool:
    """Whether changing one of two arrays may change the other; see `numpy.may_share_memory`.

    Raises
    ------
    TypeError
        If one is no array, and `raise_other_type` is true; otherwise the answer is False.
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    if raise_other_type:
        raise TypeError(f"may_share_memory needs arrays; got {type(a).__name__} and {type(b).__name__}.")
    return False
