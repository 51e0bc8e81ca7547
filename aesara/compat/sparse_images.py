"""Convolution and pooling of flat images, as products with selected pixels.

An image is a row of a matrix, pixel by pixel; several feature maps of one image stand one after the other.
`aesara.tensor.nnet` has convolutions and pooling of tensors with a dimension for each of these, which are faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.products.dot import tensordot
from aesara.tensor.reductions.sum_prod_max import max as maximum_over

__all__ = ["convolve", "max_pool"]


def _with_maps(shape: Sequence[int]) -> tuple[int, int, int]:
    """The shape of an image with its number of feature maps."""
    maps = tuple(map(int, shape))
    if len(maps) == 2:
        return 1, *maps
    if len(maps) != 3:
        raise ValueError(f"The shape of images is (rows, columns) or (maps, rows, columns); got {tuple(shape)}.")
    return maps


def _windows(
    shape: tuple[int, int, int], window: Sequence[int], step: Sequence[int], mode: str
) -> tuple[np.ndarray, list[int]]:
    """Return the pixels of each window position for each map, and the number of positions in each direction.

    Pixels outside of the image have the number of pixels as their number.
    """
    maps, rows, columns = shape
    places, inside = [], []
    for length, size, by in zip((rows, columns), window, step):
        first, last = (0, length - size) if mode == "valid" else (1 - size, length - 1)
        pixels = np.arange(first, last + 1, by)[:, None] + np.arange(size)
        places.append(pixels)
        inside.append((pixels >= 0) & (pixels < length))
    counts = [one.shape[0] for one in places]
    numbers = places[0][:, None, :, None] * columns + places[1][None, :, None, :]
    known = inside[0][:, None, :, None] & inside[1][None, :, None, :]
    numbers, known = (one.reshape(counts[0] * counts[1], 1, -1) for one in (numbers, known))
    of_maps = numbers + (np.arange(maps) * rows * columns)[:, None]
    return np.where(known, of_maps, maps * rows * columns), counts


def convolve(
    kerns: Any,
    kshp: Sequence[int],
    nkern: int,
    images: Any,
    imgshp: Sequence[int],
    step: Sequence[int] = (1, 1),
    bias: Any = None,
    mode: str = "valid",
    flatten: bool = True,
) -> tuple[Variable, np.ndarray]:
    """Return the sums of products of kernels with all windows of images.

    Kernels are not turned round.

    Parameters
    ----------
    kerns
        A matrix with a kernel in each row: its elements for the first map, then those for the second, ...
    kshp
        The shape of a kernel on one map.
    nkern
        How many kernels there are.
    images
        A matrix with an image in each row.
    imgshp
        The shape of an image: (rows, columns), or (maps, rows, columns).
    step
        How far a kernel moves at each step.
    bias
        A vector with a number for each kernel, which is added.
    mode
        ``"valid"``: kernels stay on the image; ``"full"``: what touches the image counts, with zeros around it.
    flatten
        Whether results are rows of pixels, kernel after kernel; otherwise they have a dimension for kernels.

    Returns
    -------
    The results, and their shape for one image: (kernels, rows, columns).

    Examples
    --------
    >>> from aesara.sparse.sandbox.sp import convolve
    >>> result, shape = convolve([[1.0, 10.0]], (1, 2), 1, [[1.0, 2.0, 3.0]], (1, 3))
    >>> result.eval(), shape
    (array([[21., 32.]]), array([1, 1, 2]))
    """
    if mode not in ("valid", "full"):
        raise ValueError(f"mode must be 'valid' or 'full'; got {mode!r}.")
    kerns, images = as_tensor_variable(kerns), as_tensor_variable(images)
    pixels, counts = _windows(_with_maps(imgshp), kshp, step, mode)
    around = concatenate([images, images[:, :1] * 0], axis=1) if mode == "full" else images
    parts = around[:, pixels.reshape(pixels.shape[0], -1)]
    result = tensordot(kerns, parts, axes=[[1], [2]]).dimshuffle(1, 0, 2)
    if bias is not None:
        result = result + as_tensor_variable(bias).dimshuffle("x", 0, "x")
    if flatten:
        result = result.flatten(2)
    return result, np.asarray([nkern, *counts])


def max_pool(images: Any, imgshp: Sequence[int], maxpoolshp: Sequence[int]) -> tuple[Variable, np.ndarray]:
    """Return the maxima of adjacent rectangles of images; incomplete ones at the boundary are dropped.

    Parameters
    ----------
    images
        A matrix with an image in each row.
    imgshp
        The shape of an image: (rows, columns), or (maps, rows, columns).
    maxpoolshp
        The shape of the rectangles.

    Returns
    -------
    A matrix with a row for each image, map after map, and the shape of one map.

    Examples
    --------
    >>> from aesara.sparse.sandbox.sp import max_pool
    >>> result, shape = max_pool([[1.0, 4.0, 3.0, 2.0]], (1, 4), (1, 2))
    >>> result.eval(), shape
    (array([[4., 3.]]), array([1, 2]))
    """
    pixels, counts = _windows(_with_maps(imgshp), maxpoolshp, maxpoolshp, "valid")
    parts = as_tensor_variable(images)[:, pixels.swapaxes(0, 1)]
    return maximum_over(parts, axis=3).flatten(2), np.asarray(counts)
