"""Convolution of images with filters; for related functions see `conv_gradients` and `conv_composed`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.nnet.conv_ops import AbstractConv2d, AbstractConv3d
from aesara.tensor.nnet.conv_shapes import BorderMode
from aesara.user_code import warn_user

__all__ = ["abstract_conv2d", "conv2d", "conv3d"]


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    input_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    image_shape: Sequence[int | None] | None = None,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
    **kwargs: Any,
) -> TensorVariable:
    """Convolve images with filters.

    Parameters
    ----------
    input
        The images: ``(batch, channels, rows, columns)``.
    filters
        ``(outputs, channels of a group, rows, columns)``, or ``(outputs, output rows, output columns, channels of a
        group, rows, columns)`` if `unshared`.
    input_shape, filter_shape
        The known lengths of both: tuples with integers, or None for what is not. They are checked with
        ``config.conv__assert_shape`` only.
    border_mode
        How many zeros stand around the images: "valid" (none), "full" (one less than the size of the filters), "half"
        (half of it), an integer, or a tuple with an integer or a pair of integers for rows and columns.
    subsample
        How far apart windows are, by rows and by columns.
    filter_flip
        True for a convolution, whose filters are mirrored; False for a cross-correlation.
    image_shape
        Another name of `input_shape`.
    filter_dilation
        How far apart the elements of the images are that meet neighbouring entries of a filter.
    num_groups
        Into how many groups channels and outputs are split; each is convolved on its own.
    unshared
        Whether each position of the output has filters of its own.

    Returns
    -------
    TensorVariable
        ``(batch, outputs, output rows, output columns)``.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> conv2d(image, np.ones((1, 1, 2, 2))).eval()
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    if "imshp_logical" in kwargs or "kshp_logical" in kwargs:
        raise ValueError(
            "imshp_logical and kshp_logical are not arguments of conv2d; to spread images or filters, use "
            "conv2d_transpose or filter_dilation."
        )
    if kwargs:
        warn_user(f"conv2d ignores the arguments {', '.join(kwargs)}.")
    if image_shape is not None:
        if input_shape is not None:
            raise ValueError("input_shape and image_shape should not be provided at the same time.")
        input_shape = image_shape
    return abstract_conv2d(
        input,
        filters,
        input_shape,
        filter_shape,
        border_mode,
        subsample,
        filter_flip,
        filter_dilation,
        num_groups,
        unshared,
    )


def abstract_conv2d(
    input: TensorLike,
    filters: TensorLike,
    input_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Convolve images with filters; see `conv2d`."""
    op = AbstractConv2d(
        input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
    )
    return op(input, filters)


def conv3d(
    input: TensorLike,
    filters: TensorLike,
    input_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Convolve images in three dimensions, ``(batch, channels, depth, rows, columns)``, with filters.

    The parameters are those of `conv2d`, with three dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> conv3d(np.ones((1, 2, 4, 4, 4)), np.ones((3, 2, 2, 2, 2))).eval().shape
    (1, 3, 3, 3, 3)
    """
    op = AbstractConv3d(input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return op(input, filters)
