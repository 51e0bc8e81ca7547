"""Derivatives of an oracle by central differences of fourth order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEP = 2e-4


def slopes(cost: Callable[[Sequence[np.ndarray]], float], values: Sequence[np.ndarray], k: int) -> np.ndarray:
    """The derivatives of a cost by the elements of its k-th input.

    A step of 2e-4 makes the truncation error about 1e-15 of the fifth derivative, and the rounding error about 1e-12
    of the cost. The gradient by a complex number is the one by its real part plus i times the one by the imaginary.
    """
    result = np.zeros(values[k].shape, values[k].dtype)
    for unit in (1.0, 1j) if result.dtype.kind == "c" else (1.0,):
        for at in np.ndindex(result.shape):
            total = 0.0
            for weight, distance in ((8.0, 1), (-8.0, -1), (-1.0, 2), (1.0, -2)):
                moved = values[k].copy()
                moved[at] += unit * distance * STEP
                total += weight * cost([*values[:k], moved, *values[k + 1 :]])
            result[at] += unit * total / (12 * STEP)
    return result


def real_parts(results: Sequence[Any]) -> list[Any]:
    """The floating-point results (arrays or variables), complex ones as real and imaginary part."""
    parts = []
    for result in results:
        kind = np.dtype(result.dtype).kind
        parts += [result.real, result.imag] if kind == "c" else [result] if kind == "f" else []
    return parts


def weighted(results: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> float:
    """The weighted sum of all elements of the floating-point results."""
    return float(sum((r * w).sum() for r, w in zip(real_parts(results), weights, strict=True)))
