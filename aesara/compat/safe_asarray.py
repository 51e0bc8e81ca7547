"""`numpy.asarray` under Aesara's path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def _asarray(a: Any, dtype: DTypeLike, order: Any = None) -> np.ndarray:
    """An array of a dtype; the name "floatX" stands for nothing here: give ``config.floatX``."""
    return np.asarray(a, dtype=np.dtype(dtype), order=order)
