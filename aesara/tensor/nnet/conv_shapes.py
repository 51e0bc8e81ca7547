"""Shapes of convolutions: of outputs, images and filters.

Shapes are tuples ``(batch, channels, *sizes)`` of images and outputs and ``(outputs, channels, *sizes)`` of filters, or
``(outputs, *positions, channels, *sizes)`` of unshared filters. Entries are integers or None if unknown;
`get_conv_output_shape` also accepts symbolic integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import PartialShape, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, ge
from aesara.tensor.products.correlation import dilated_size, output_size

Shape = tuple[Any, ...]
#: "valid", "full", "half", or the padding: one number, or a number or a pair for each dimension
BorderMode: TypeAlias = str | int | tuple[int | tuple[int, int], ...]


def checked_border_mode(border_mode: Any, convdim: int) -> Any:
    """Return a border mode in canonical form: "valid", "full", "half", or an integer or pair for each dimension.

    Raises
    ------
    ValueError
        If it is none.
    """
    if border_mode in ("valid", "full", "half"):
        return str(border_mode)
    if _is_integer(border_mode):
        if border_mode < 0:
            raise ValueError(f"invalid border_mode {border_mode}, which must be a non-negative integer")
        return (int(border_mode),) * convdim
    if not isinstance(border_mode, tuple):
        raise ValueError(
            f'invalid border_mode {border_mode}, which must be "valid", "full", "half", an integer or a tuple of '
            f"length {convdim}"
        )
    if len(border_mode) != convdim:
        raise ValueError(f"invalid border_mode {border_mode}, which must be a tuple of length {convdim}")
    return tuple(_checked_pad(border_mode, pad) for pad in border_mode)


def _is_integer(value: TensorLike) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked_pad(border_mode: tuple, pad: Any) -> Any:
    numbers = pad if isinstance(pad, tuple) and len(pad) == 2 else (pad,)
    if not all(_is_integer(number) and number >= 0 for number in numbers):
        raise ValueError(
            f"invalid border mode {border_mode}. The tuple can only contain integers or pairs of integers, not negative"
        )
    return tuple(map(int, pad)) if isinstance(pad, tuple) else int(pad)


def pads_of(border_mode: Any) -> Any:
    """Convert a canonical border mode to the border of a `Windows`: a name, or a pair of integers per dimension."""
    if isinstance(border_mode, str):
        return border_mode
    return tuple(pad if isinstance(pad, tuple) else (pad, pad) for pad in border_mode)


def border_mode_to_pad(mode: BorderMode, convdim: int, kshp: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the numbers of zeros before and after the image, for each dimension.

    Parameters
    ----------
    mode
        "valid", "full", "half", or a tuple with an integer or a pair of integers for each dimension.
    convdim
        The number of dimensions: 2 or 3.
    kshp
        The shape of the filters, of which the last dimensions count; for dilated filters with the sizes
        that they span.

    Examples
    --------
    >>> border_mode_to_pad("half", 2, (3, 5))
    ((1, 1), (2, 2))
    """
    if not isinstance(mode, (str, tuple)):
        raise ValueError(
            f'invalid border_mode {mode}, which must be "valid", "full", "half", or a tuple of length {convdim}'
        )
    mode = checked_border_mode(mode, convdim)
    sizes = tuple(kshp)[-convdim:]
    if mode == "valid":
        return ((0, 0),) * convdim
    if mode == "full":
        return tuple((n - 1, n - 1) for n in sizes)
    if mode == "half":
        return tuple((n // 2, n // 2) for n in sizes)
    return pads_of(mode)


# -- one dimension -------------------------------------------------------------------------------------------------


def get_conv_shape_1axis(
    image_shape: Any, kernel_shape: Any, border_mode: BorderMode, subsample: Any, dilation: Any = 1
) -> Any:
    """Return the size of the output along one dimension, or None if another size is None.

    Parameters
    ----------
    image_shape, kernel_shape
        The sizes of the image and of the filter.
    border_mode
        "valid", "full", "half", an integer, or a pair of integers.
    subsample, dilation
        The strides of windows, and the distances of elements that meet neighbouring filter entries.

    Examples
    --------
    >>> get_conv_shape_1axis(10, 3, "half", 2)
    5
    """
    if any(value is None for value in (image_shape, kernel_shape, border_mode, subsample, dilation)):
        return None
    span = dilated_size(kernel_shape, dilation)
    before, after = _pads_1axis(border_mode, span)
    return output_size(image_shape, span, before, after, subsample)


def _pads_1axis(border_mode: Any, span: Any) -> tuple[Any, Any]:
    if border_mode == "full":
        return span - 1, span - 1
    if border_mode == "half":
        return span // 2, span // 2
    if border_mode == "valid":
        return 0, 0
    before, after = border_mode if isinstance(border_mode, tuple) else (border_mode, border_mode)
    if before < 0 or after < 0:
        raise ValueError(f"border_mode must be >= 0; got {border_mode}.")
    return before, after


def get_conv_gradweights_shape_1axis(
    image_shape: Any, top_shape: Any, border_mode: Any, subsample: Sequence[int], dilation: Any
) -> Any:
    """Return the size of a filter along one dimension, or None if image and output do not determine it.

    With strides, and with the border "half", filters of several sizes have the same output.

    Examples
    --------
    >>> get_conv_gradweights_shape_1axis(10, 8, "valid", 1, 1)
    3
    """
    if any(value is None for value in (image_shape, top_shape, border_mode, subsample, dilation)):
        return None
    if subsample != 1 or border_mode == "half":
        return None
    if border_mode == "full":
        span = top_shape - image_shape + 1
    else:
        before, after = _pads_1axis(border_mode, None)
        span = image_shape + before + after - top_shape + 1
    return span if dilation == 1 else (span - 1) // dilation + 1


def get_conv_gradinputs_shape_1axis(
    kernel_shape: Any, top_shape: Any, border_mode: BorderMode, subsample: Sequence[int], dilation: Any
) -> Any:
    """Return the size of an image along one dimension, or None if filter and output do not determine it.

    With strides, images of several sizes have the same output.

    Examples
    --------
    >>> get_conv_gradinputs_shape_1axis(3, 8, "valid", 1, 1)
    10
    """
    if any(value is None for value in (kernel_shape, top_shape, border_mode, subsample, dilation)):
        return None
    if subsample != 1:
        return None
    span = dilated_size(kernel_shape, dilation)
    before, after = _pads_1axis(border_mode, span)
    return top_shape + span - 1 - before - after


# -- whole shapes --------------------------------------------------------------------------------------------------


def _for_each_axis(
    border_mode: BorderMode, subsample: Sequence[int], filter_dilation: Sequence[int] | None
) -> list[tuple]:
    """Return border mode, stride and dilation of each dimension."""
    n = len(subsample)
    dilations = (1,) * n if filter_dilation is None else filter_dilation
    borders = border_mode if isinstance(border_mode, tuple) else (border_mode,) * n
    return list(zip(borders, subsample, dilations))


def get_conv_output_shape(
    image_shape: PartialShape,
    kernel_shape: PartialShape,
    border_mode: BorderMode,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
) -> Shape:
    """Return the shape of the output of a convolution.

    Parameters
    ----------
    image_shape
        The shape of the images: ``(batch, channels, *sizes)``.
    kernel_shape
        The shape of the filters, shared or not.
    border_mode
        "valid", "full", "half", an integer, or a tuple with an integer or a pair for each dimension.
    subsample, filter_dilation
        Tuples with one entry for each dimension.

    Examples
    --------
    >>> get_conv_output_shape((2, 3, 10, None), (4, 3, 3, 2), "valid", (2, 1))
    (2, 4, 4, None)
    """
    n = len(subsample)
    axes = _for_each_axis(border_mode, subsample, filter_dilation)
    sizes = zip(image_shape[2:], kernel_shape[-n:], axes)
    return (
        image_shape[0],
        kernel_shape[0],
        *(get_conv_shape_1axis(image, kernel, *axis) for image, kernel, axis in sizes),
    )


def get_conv_gradweights_shape(
    image_shape: Sequence[Any],
    top_shape: PartialShape,
    border_mode: BorderMode,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
    num_groups: int = 1,
    unshared: bool = False,
) -> Shape:
    """Return the shape of filters, given those of images and outputs, with None for undetermined sizes.

    Examples
    --------
    >>> get_conv_gradweights_shape((2, 3, 10, 11), (2, 4, 8, 10), "valid", (1, 1))
    (4, 3, 3, 2)
    """
    axes = _for_each_axis(border_mode, subsample, filter_dilation)
    channels = None if image_shape[1] is None else image_shape[1] // num_groups
    sizes = zip(image_shape[2:], top_shape[2:], axes)
    positions = tuple(top_shape[2:]) if unshared else ()
    return (
        top_shape[1],
        *positions,
        channels,
        *(get_conv_gradweights_shape_1axis(image, top, *axis) for image, top, axis in sizes),
    )


def get_conv_gradinputs_shape(
    kernel_shape: Sequence[Any],
    top_shape: PartialShape,
    border_mode: BorderMode,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
    num_groups: int = 1,
) -> Shape:
    """Return the shape of images, given those of filters and outputs, with None for undetermined sizes.

    Examples
    --------
    >>> get_conv_gradinputs_shape((4, 3, 3, 2), (2, 4, 8, 10), "valid", (1, 1))
    (2, 3, 10, 11)
    """
    n = len(subsample)
    axes = _for_each_axis(border_mode, subsample, filter_dilation)
    channels = None if kernel_shape[-n - 1] is None else kernel_shape[-n - 1] * num_groups
    sizes = zip(kernel_shape[-n:], top_shape[2:], axes)
    return (
        top_shape[0],
        channels,
        *(get_conv_gradinputs_shape_1axis(kernel, top, *axis) for kernel, top, axis in sizes),
    )


def check_conv_gradinputs_shape(
    image_shape: PartialShape,
    kernel_shape: PartialShape,
    output_shape: PartialShape,
    border_mode: BorderMode,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
) -> bool:
    """Return whether the output for images and filters has the given shape; None matches any size.

    Examples
    --------
    >>> check_conv_gradinputs_shape((2, 3, 10, 11), (4, 3, 3, 2), (2, 4, 8, None), "valid", (1, 1))
    True
    """
    shapes = [
        tuple(None if n is None else known_integer(n) for n in shape)
        for shape in (image_shape, kernel_shape, output_shape)
    ]
    if len(set(map(len, shapes))) > 1:
        return False
    wanted = get_conv_output_shape(shapes[0], shapes[1], border_mode, subsample, filter_dilation)
    return all(a is None or b is None or a == b for a, b in zip(wanted, shapes[2]))


# -- checks --------------------------------------------------------------------------------------------------------


def assert_conv_shape(shape: PartialShape) -> Shape:
    """Return the shape of an output, with a check that its sizes are valid.

    There may be no images or filters, but filters must fit into the images: sizes are at least 1.

    Raises
    ------
    ValueError
        If a known size is too small.
    """
    checked = []
    for d, n in enumerate(shape):
        least = 0 if d < 2 else 1
        message = f"The convolution would produce an invalid shape (dim[{d}] < {least})."
        known = None if n is None else known_integer(n)
        if known is not None and known < least:
            raise ValueError(f"The convolution would produce an invalid shape (dim[{d}]: {known} < {least}).")
        if isinstance(n, Variable) and not isinstance(n, Constant):
            n = Assert(message)(n, ge(n, least))
        checked.append(n)
    return tuple(checked)


def assert_shape(x: TensorLike, expected_shape: PartialShape, msg: str = "Unexpected shape.") -> TensorVariable:
    """Return a tensor with a check of its shape, except for entries that are None.

    The check is omitted unless ``config.conv__assert_shape`` is set.
    """
    x = as_tensor_variable(x)
    if not config.conv__assert_shape:
        return x
    conditions = [eq(x.shape[d], n) for d, n in enumerate(expected_shape) if n is not None]
    return Assert(msg)(x, *conditions) if conditions else x
