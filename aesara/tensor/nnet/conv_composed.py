"""Causal and separable convolutions, in terms of other convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import PartialShape, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.nnet.conv_functions import conv2d, conv3d
from aesara.tensor.nnet.conv_shapes import BorderMode, get_conv_output_shape

__all__ = ["separable_conv2d"]


def causal_conv1d(
    input: TensorLike,
    filters: TensorLike,
    filter_shape: Sequence[int | None],
    input_shape: Sequence[int | None] | None = None,
    subsample: int = 1,
    filter_flip: bool = True,
    filter_dilation: int = 1,
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Convolve sequences with filters, so that no entry of the output depends on later entries of the input.

    Parameters
    ----------
    input
        Sequences: ``(batch, channels, length)``.
    filters
        ``(outputs, channels of a group, length)``, or ``(outputs, output length, channels of a group, length)`` if
        `unshared`.
    filter_shape
        The shape ``(outputs, channels of a group, length)``; the length must be given.
    input_shape
        The known lengths of `input`.
    subsample, filter_dilation
        How far apart windows are, and entries of the input that meet neighbouring entries of a filter.
    filter_flip, num_groups, unshared
        As for `conv2d`.

    Returns
    -------
    TensorVariable
        ``(batch, outputs, output length)``; without `subsample` as long as the input.

    Examples
    --------
    >>> import numpy as np
    >>> causal_conv1d(np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, 10.0]]]), (1, 1, 2)).eval()
    array([[[ 0.,  1., 12., 23.]]])
    """
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    if input.type.ndim != 3:
        raise ValueError(f"Input should be 3D for causal convolution; got {input.type.ndim} dimensions.")
    if filters.type.ndim != (4 if unshared else 3):
        raise ValueError(f"Filters should be {4 if unshared else 3}D; got {filters.type.ndim} dimensions.")
    if filter_shape is None or len(filter_shape) != 3 or filter_shape[-1] is None:
        raise ValueError(f"filter_shape must be a tuple of 3 entries, with the length of filters; got {filter_shape}.")
    in_front = int(filter_dilation) * (int(filter_shape[-1]) - 1)
    order = (0, 1, "x", 2, 3, "x") if unshared else (0, 1, 2, "x")
    result = conv2d(
        input.dimshuffle(0, 1, 2, "x"),
        filters.dimshuffle(*order),
        None if input_shape is None else (*input_shape, 1),
        None if unshared else (*filter_shape, 1),
        border_mode=((in_front, 0), 0),
        subsample=(subsample, 1),
        filter_flip=filter_flip,
        filter_dilation=(filter_dilation, 1),
        num_groups=num_groups,
        unshared=unshared,
    )
    return result[:, :, :, 0]


def _separable(
    conv: Any, input: TensorLike, depthwise_filters: TensorLike,
    pointwise_filters: TensorLike, num_channels: int,
    input_shape: PartialShape | None, depthwise_filter_shape: PartialShape | None,
    pointwise_filter_shape: PartialShape | None, border_mode: BorderMode, subsample: Sequence[int], filter_flip: bool,
    filter_dilation: Sequence[int],
) -> TensorVariable:  # fmt: skip
    by_channel = conv(
        input,
        depthwise_filters,
        input_shape,
        depthwise_filter_shape,
        border_mode,
        subsample,
        filter_flip,
        filter_dilation=filter_dilation,
        num_groups=num_channels,
    )
    between = None
    if input_shape is not None and depthwise_filter_shape is not None:
        between = get_conv_output_shape(
            tuple(input_shape), tuple(depthwise_filter_shape), border_mode, tuple(subsample), tuple(filter_dilation)
        )
    return conv(by_channel, pointwise_filters, between, pointwise_filter_shape, filter_flip=filter_flip)


def separable_conv2d(
    input: TensorLike,
    depthwise_filters: TensorLike,
    pointwise_filters: TensorLike,
    num_channels: int,
    input_shape: Sequence[int | None] | None = None,
    depthwise_filter_shape: Sequence[int | None] | None = None,
    pointwise_filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
) -> TensorVariable:
    """Convolve each channel with filters of its own, then mix channels by filters of a single entry.

    Parameters
    ----------
    input
        The images: ``(batch, channels, rows, columns)``.
    depthwise_filters
        ``(channels * multiplier, 1, rows, columns)``.
    pointwise_filters
        ``(outputs, channels * multiplier, 1, 1)``.
    num_channels
        The number of channels of the images.
    input_shape, depthwise_filter_shape, pointwise_filter_shape
        The known lengths of the three tensors.
    border_mode, subsample, filter_flip, filter_dilation
        As for `conv2d`, of the first convolution.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.ones((1, 2, 4, 4))
    >>> separable_conv2d(image, np.ones((2, 1, 3, 3)), np.ones((1, 2, 1, 1)), 2).eval()
    array([[[[18., 18.],
             [18., 18.]]]])
    """
    return _separable(
        conv2d, input, depthwise_filters, pointwise_filters, num_channels, input_shape, depthwise_filter_shape,
        pointwise_filter_shape, border_mode, subsample, filter_flip, filter_dilation,
    )  # fmt: skip


def separable_conv3d(
    input: TensorLike,
    depthwise_filters: TensorLike,
    pointwise_filters: TensorLike,
    num_channels: int,
    input_shape: Sequence[int | None] | None = None,
    depthwise_filter_shape: Sequence[int | None] | None = None,
    pointwise_filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
) -> TensorVariable:
    """Convolve as `separable_conv2d` does, in three dimensions."""
    return _separable(
        conv3d, input, depthwise_filters, pointwise_filters, num_channels, input_shape, depthwise_filter_shape,
        pointwise_filter_shape, border_mode, subsample, filter_flip, filter_dilation,
    )  # fmt: skip
