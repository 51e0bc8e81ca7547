"""Convolutions of single images, or of images without channels, with filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.nnet.conv import convolved_by_conv_op
from aesara.tensor.shapes.dimshuffle import dimshuffle

__all__ = ["conv2d"]


def _with_channels(quantity: str, shape: Any, ndim: int) -> tuple | None:
    """Return a shape as ``(number, 1, rows, columns)``."""
    if shape is None:
        return None
    shape = tuple(shape)
    if len(shape) != ndim:
        raise ValueError(f"conv2d: {quantity} must have {ndim} entries, one for each dimension; got {shape}.")
    return (shape[0] if ndim == 3 else 1, 1, *shape[-2:])


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    image_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: str = "valid",
    subsample: Sequence[int] = (1, 1),
    **kargs: Any,
) -> TensorVariable:
    """Return the convolution of each image with each filter.

    Parameters
    ----------
    input
        An image, or a tensor of images ``(images, rows, columns)``.
    filters
        A filter, or a tensor of filters ``(filters, rows, columns)``.
    image_shape, filter_shape
        The known lengths of both.
    border_mode
        "valid" for complete overlaps, "full" for all; see `scipy.signal.convolve2d`.
    subsample
        How far apart windows are, by rows and by columns.
    **kargs
        Further arguments of `aesara.tensor.nnet.conv.ConvOp`.

    Returns
    -------
    TensorVariable
        The convolved images, with a dimension for images if `input` has one, and then one for filters if `filters` has
        one.

    Examples
    --------
    >>> import numpy as np
    >>> conv2d(np.arange(9.0).reshape(3, 3), np.array([[1.0, 0.0], [0.0, 0.0]])).eval()
    array([[4., 5.],
           [7., 8.]])
    """
    images, kernels = as_tensor_variable(input), as_tensor_variable(filters)
    for name, v in (("input", images), ("filters", kernels)):
        if v.type.ndim not in (2, 3):
            raise TypeError(f"conv2d: `{name}` must have 2 or 3 dimensions; got {v.type.ndim}.")
    result = convolved_by_conv_op(
        dimshuffle(images, (0, "x", 1, 2) if images.type.ndim == 3 else ("x", "x", 0, 1)),
        dimshuffle(kernels, (0, "x", 1, 2) if kernels.type.ndim == 3 else ("x", "x", 0, 1)),
        _with_channels("image_shape", image_shape, images.type.ndim),
        _with_channels("filter_shape", filter_shape, kernels.type.ndim),
        border_mode=border_mode,
        subsample=subsample,
        **kargs,
    )
    # A missing dimension for images or filters has length 1.
    return result[(slice(None) if images.type.ndim == 3 else 0, slice(None) if kernels.type.ndim == 3 else 0)]
