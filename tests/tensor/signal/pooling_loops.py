"""Pooling by plain loops, as the meaning that tests compare with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def output_sizes(sizes: Sequence[int], ws: Any, ignore_border: bool, stride: Any, pad: Any) -> list[int]:
    """Count the windows in each dimension by trying one position after another."""
    found = []
    for n, w, s, p in zip(sizes, ws, stride, pad, strict=True):
        count = 0
        while True:
            start = count * s
            if ignore_border:
                fits = start + w <= n + 2 * p
            else:
                covered = (count - 1) * s + w if count else 0
                fits = start < n and covered < n
            if not fits:
                break
            count += 1
        found.append(count)
    return found


def windows_of(
    shape: Sequence[int], ws: Any, stride: Any, pad: Any, result: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """For each element of the result where it is, and where its window is."""
    lead = len(shape) - len(ws)
    for position in np.ndindex(*result):
        parts = zip(shape[lead:], position[lead:], ws, stride, pad, strict=True)
        bounds = (slice(max(k * s - p, 0), min(k * s - p + w, n)) for n, k, w, s, p in parts)
        yield position, (*position[:lead], *bounds)


def pooled(
    x: np.ndarray, ws: Any, ignore_border: bool, stride: Any = None, pad: Any = None, mode: str = "max"
) -> np.ndarray:
    """The maximum, the sum or the mean over each window."""
    stride, pad = ws if stride is None else stride, (0,) * len(ws) if pad is None else pad
    lead = x.ndim - len(ws)
    sizes = output_sizes(x.shape[lead:], ws, ignore_border, stride, pad)
    shape = (*x.shape[:lead], *sizes)
    result = np.zeros(shape, dtype=x.dtype)
    for position, window in windows_of(x.shape, ws, stride, pad, shape):
        values = x[window]
        if mode == "max":
            result[position] = values.max()
            continue
        count = values.size if mode == "average_exc_pad" else 1
        if mode == "average_inc_pad":
            parts = zip(x.shape[lead:], position[lead:], ws, stride, pad, strict=True)
            for n, k, w, s, p in parts:
                count *= min(k * s + w, n + 2 * p) - k * s
        result[position] = values.sum() / count if count != 1 else values.sum()
    return result


def chosen_windows(sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Windows, strides and paddings on images of these sizes, with and without a rest."""
    rank = len(sizes)
    for w, s, p, ignore in itertools.product((1, 2, 3), (1, 2, 4), (0, 1, 2), (True, False)):
        if p < w and (ignore or not p):
            yield {"ws": (w,) * rank, "stride": (s,) * rank, "pad": (p,) * rank, "ignore_border": ignore}
