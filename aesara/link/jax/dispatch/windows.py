"""Sliding windows over the last dimensions of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.records import dataclass


@dataclass(frozen=True)
class WindowGrid:
    """A grid of windows.

    Attributes
    ----------
    output
        Numbers of windows in each dimension.
    sizes
        Sizes of windows.
    strides, dilations
        Distances of windows, and of their entries.
    """

    output: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]

    def _indices(self) -> Iterator[np.ndarray]:
        for m, w, stride, dilation in zip(self.output, self.sizes, self.strides, self.dilations, strict=True):
            yield np.arange(m)[:, None] * stride + np.arange(w) * dilation

    def unfold(self, x: Any) -> Any:
        """Return all entries of windows as an array of shape ``[..., *position, *entry]`` (im2col)."""
        lead = x.ndim - len(self.output)
        for axis, indices in enumerate(self._indices(), lead):
            # Positions replace the dimension, entries go to the end.
            x = jnp.moveaxis(jnp.take(x, indices, axis=axis, mode="clip"), axis + 1, -1)
        return x

    def fold(self, x: Any, image: Sequence[int]) -> Any:
        """Return images of the given sizes that sum the entries of windows (col2im)."""
        lead = x.ndim - 2 * len(self.output)
        for axis, indices in reversed(list(enumerate(self._indices(), lead))):
            x = jnp.moveaxis(x, -1, axis + 1)
            total = jnp.zeros((*x.shape[:axis], image[axis - lead], *x.shape[axis + 2 :]), x.dtype)
            x = total.at[(*[slice(None)] * axis, indices)].add(x)
        return x
