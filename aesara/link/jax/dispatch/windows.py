"""Windows on the last dimensions of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.records import dataclass


@dataclass(frozen=True)
class Places:
    """Where the entries of windows lie.

    Attributes
    ----------
    output
        The numbers of positions in each dimension.
    sizes
        The sizes of windows.
    strides, dilations
        How far apart windows are, and entries of them.
    """

    output: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]

    def _along(self) -> Iterator[np.ndarray]:
        for m, w, stride, dilation in zip(self.output, self.sizes, self.strides, self.dilations, strict=True):
            yield np.arange(m)[:, None] * stride + np.arange(w) * dilation

    def unfolded(self, x: Any) -> Any:
        """What stands at each entry of the windows on images that hold them all: ``[..., *position, *entry]``."""
        lead = x.ndim - len(self.output)
        for axis, places in enumerate(self._along(), lead):
            # Positions take the place of the dimension, entries go to the end.
            x = jnp.moveaxis(jnp.take(x, places, axis=axis, mode="clip"), axis + 1, -1)
        return x

    def folded(self, x: Any, image: Sequence[int]) -> Any:
        """Images of such sizes in which each entry of the windows is added up where it lies."""
        lead = x.ndim - 2 * len(self.output)
        for axis, places in reversed(list(enumerate(self._along(), lead))):
            x = jnp.moveaxis(x, -1, axis + 1)
            total = jnp.zeros((*x.shape[:axis], image[axis - lead], *x.shape[axis + 2 :]), x.dtype)
            x = total.at[(*[slice(None)] * axis, places)].add(x)
        return x
