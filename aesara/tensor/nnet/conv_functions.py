"""Convolutions of images with filters, and their gradients, as functions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.conversion import as_tensor_variable
from aesara.tensor.make_vector import vector_of
from aesara.tensor.nnet.conv_ops import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
    BaseAbstractConv,
)
from aesara.tensor.nnet.conv_shapes import get_conv_output_shape


def conv2d(
    input: Any,
    filters: Any,
    input_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    image_shape: Sequence[int | None] | None = None,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
    **kwargs: Any,
) -> Variable:
    """Convolve images with filters.

    Parameters
    ----------
    input
        The images: ``(batch, channels, rows, columns)``.
    filters
        ``(outputs, channels of a group, rows, columns)``, or ``(outputs, output rows, output columns, channels of a
        group, rows, columns)`` if `unshared`.
    input_shape, filter_shape
        What is known about both shapes: tuples with integers, or None for what is not. They are checked with
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
        warnings.warn(f"conv2d ignores the arguments {', '.join(kwargs)}.", stacklevel=2)
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
    input: Any,
    filters: Any,
    input_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
    """Convolve images with filters; see `conv2d`."""
    op = AbstractConv2d(
        input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
    )
    return op(input, filters)


def conv3d(
    input: Any,
    filters: Any,
    input_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> Variable:
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


# -- gradients -----------------------------------------------------------------------------------------------------


def _result_sizes(name: str, shape: Any, lead: int, convdim: int) -> tuple[tuple, Variable]:
    """What is known of the shape of a result, and its last sizes as a vector.

    The first `lead` entries are integers or None, the sizes integers or symbolic integers.
    """
    if shape is None or not isinstance(shape, (tuple, list)) or len(shape) != lead + convdim:
        raise ValueError(f"{name} must be a tuple of {lead + convdim} entries; got {shape}.")
    known = []
    for k, n in enumerate(shape):
        constant = isinstance(n, (int, np.integer, Constant))
        if k < lead and not (n is None or constant):
            raise ValueError(f"{name}[{k}] must be a constant or None.")
        if k >= lead and not (constant or isinstance(n, Variable)):
            raise ValueError(f"{name}[{k}] must be a symbolic variable or a constant.")
        known.append(n if constant else None)
    sizes = [n.data if isinstance(n, Constant) else n for n in shape[lead:]]
    if all(isinstance(n, (int, np.integer, np.ndarray)) for n in sizes):
        return tuple(known), as_tensor_variable(np.array([int(n) for n in sizes], dtype="int64"))
    return tuple(known), vector_of([as_tensor_variable(n).astype("int64") for n in sizes])


def _grad_wrt_inputs(
    cls: type[BaseAbstractConv], convdim: int, output_grad: Any, filters: Any, input_shape: Any, filter_shape: Any,
    *settings: Any,
) -> Variable:  # fmt: skip
    known, sizes = _result_sizes("input_shape", input_shape, 2, convdim)
    return cls(known, filter_shape, *settings)(filters, output_grad, sizes)


def _grad_wrt_weights(
    cls: type[BaseAbstractConv], convdim: int, input: Any, output_grad: Any, filter_shape: Any, input_shape: Any,
    *settings: Any, unshared: bool = False,
) -> Variable:  # fmt: skip
    known, sizes = _result_sizes("filter_shape", filter_shape, 2 + convdim if unshared else 2, convdim)
    settings = (*settings, unshared) if unshared else settings
    return cls(input_shape, known, *settings)(input, output_grad, sizes)


def conv2d_grad_wrt_inputs(
    output_grad: Any,
    filters: Any,
    input_shape: Sequence[Any],
    filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
    """The gradient of `conv2d` for its images, from that of its output.

    Parameters
    ----------
    output_grad
        The gradient of the output: ``(batch, outputs, output rows, output columns)``.
    filters
        The filters.
    input_shape
        The shape of the images: integers or None for batch and channels; integers or symbolic ones for rows and
        columns.
    filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
        As for `conv2d`.

    Examples
    --------
    >>> import numpy as np
    >>> conv2d_grad_wrt_inputs(np.ones((1, 1, 2, 2)), np.ones((1, 1, 2, 2)), (1, 1, 3, 3)).eval()
    array([[[[1., 2., 1.],
             [2., 4., 2.],
             [1., 2., 1.]]]])
    """
    settings = (border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared)
    return _grad_wrt_inputs(AbstractConv2d_gradInputs, 2, output_grad, filters, input_shape, filter_shape, *settings)


def conv3d_grad_wrt_inputs(
    output_grad: Any,
    filters: Any,
    input_shape: Sequence[Any],
    filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> Variable:
    """The gradient of `conv3d` for its images; see `conv2d_grad_wrt_inputs`."""
    settings = (border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return _grad_wrt_inputs(AbstractConv3d_gradInputs, 3, output_grad, filters, input_shape, filter_shape, *settings)


def conv2d_grad_wrt_weights(
    input: Any,
    output_grad: Any,
    filter_shape: Sequence[Any],
    input_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
    """The gradient of `conv2d` for its filters, from that of its output.

    Parameters
    ----------
    input
        The images.
    output_grad
        The gradient of the output: ``(batch, outputs, output rows, output columns)``.
    filter_shape
        The shape of the filters: integers or None, but for rows and columns integers or symbolic ones.
    input_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
        As for `conv2d`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> conv2d_grad_wrt_weights(image, np.ones((1, 1, 2, 2)), (1, 1, 2, 2), filter_flip=False).eval()
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    settings = (border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return _grad_wrt_weights(
        AbstractConv2d_gradWeights, 2, input, output_grad, filter_shape, input_shape, *settings, unshared=unshared
    )


def conv3d_grad_wrt_weights(
    input: Any,
    output_grad: Any,
    filter_shape: Sequence[Any],
    input_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> Variable:
    """The gradient of `conv3d` for its filters; see `conv2d_grad_wrt_weights`."""
    settings = (border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return _grad_wrt_weights(AbstractConv3d_gradWeights, 3, input, output_grad, filter_shape, input_shape, *settings)


# -- made of convolutions ------------------------------------------------------------------------------------------


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Sequence[Any],
    filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    input_dilation: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
    """Spread each element of the input over a window of the output: the transpose of `conv2d`.

    Parameters
    ----------
    input
        ``(batch, channels, rows, columns)``.
    filters
        ``(channels, output channels of a group, rows, columns)``: those of the convolution whose transpose this is.
    output_shape
        The shape of the output, of which batch and channels may be None, and the sizes symbolic.
    filter_shape
        What is known about the shape of `filters`.
    border_mode
        How many rows and columns at the border are left out; as for `conv2d`.
    input_dilation
        How far apart neighbouring elements of the input come to lie: the `subsample` of the convolution.
    filter_flip, filter_dilation, num_groups, unshared
        As for `conv2d`.

    Examples
    --------
    >>> import numpy as np
    >>> conv2d_transpose([[[[1.0, 2.0]]]], np.ones((1, 1, 1, 2)), (1, 1, 1, 4), input_dilation=(1, 2)).eval()
    array([[[[1., 1., 2., 2.]]]])
    """
    return conv2d_grad_wrt_inputs(
        input,
        filters,
        output_shape,
        filter_shape,
        border_mode,
        input_dilation,
        filter_flip,
        filter_dilation,
        num_groups,
        unshared,
    )


def causal_conv1d(
    input: Any,
    filters: Any,
    filter_shape: Sequence[int | None],
    input_shape: Sequence[int | None] | None = None,
    subsample: int = 1,
    filter_flip: bool = True,
    filter_dilation: int = 1,
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
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
        What is known about the shape of `input`.
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
    conv: Any, input: Any, depthwise_filters: Any, pointwise_filters: Any, num_channels: int, input_shape: Any,
    depthwise_filter_shape: Any, pointwise_filter_shape: Any, border_mode: Any, subsample: Any, filter_flip: bool,
    filter_dilation: Any,
) -> Variable:  # fmt: skip
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
    input: Any,
    depthwise_filters: Any,
    pointwise_filters: Any,
    num_channels: int,
    input_shape: Sequence[int | None] | None = None,
    depthwise_filter_shape: Sequence[int | None] | None = None,
    pointwise_filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
) -> Variable:
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
        What is known about the three shapes.
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
    input: Any,
    depthwise_filters: Any,
    pointwise_filters: Any,
    num_channels: int,
    input_shape: Sequence[int | None] | None = None,
    depthwise_filter_shape: Sequence[int | None] | None = None,
    pointwise_filter_shape: Sequence[int | None] | None = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
) -> Variable:
    """`separable_conv2d` in three dimensions."""
    return _separable(
        conv3d, input, depthwise_filters, pointwise_filters, num_channels, input_shape, depthwise_filter_shape,
        pointwise_filter_shape, border_mode, subsample, filter_flip, filter_dilation,
    )  # fmt: skip
