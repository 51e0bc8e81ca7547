"""Gradients of convolutions, and the transposed convolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import PartialShape, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.make_vector import vector_of
from aesara.tensor.nnet.conv_ops import (
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
    BaseAbstractConv,
)
from aesara.tensor.nnet.conv_shapes import BorderMode

__all__ = ["conv2d_grad_wrt_inputs", "conv2d_transpose"]


def _result_sizes(name: str, shape: PartialShape | None, lead: int, convdim: int) -> tuple[tuple, TensorVariable]:
    """Return the static shape of a result, and its last `convdim` sizes as a vector.

    The first `lead` entries are integers or None, the sizes integers or symbolic integers.
    """
    if not isinstance(shape, (tuple, list)) or len(shape) != lead + convdim:
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
    cls: Callable[..., BaseAbstractConv], convdim: int,
    output_grad: TensorLike, filters: TensorLike,
    input_shape: PartialShape | None, filter_shape: PartialShape | None,
    *settings: Any,
) -> TensorVariable:  # fmt: skip
    known, sizes = _result_sizes("input_shape", input_shape, 2, convdim)
    return cls(known, filter_shape, *settings)(filters, output_grad, sizes)


def _grad_wrt_weights(
    cls: Callable[..., BaseAbstractConv], convdim: int,
    input: TensorLike, output_grad: TensorLike,
    filter_shape: PartialShape | None, input_shape: PartialShape | None,
    *settings: Any, unshared: bool = False,
) -> TensorVariable:  # fmt: skip
    known, sizes = _result_sizes("filter_shape", filter_shape, 2 + convdim if unshared else 2, convdim)
    settings = (*settings, unshared) if unshared else settings
    return cls(input_shape, known, *settings)(input, output_grad, sizes)


def conv2d_grad_wrt_inputs(
    output_grad: TensorLike,
    filters: TensorLike,
    input_shape: PartialShape,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
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
    output_grad: TensorLike,
    filters: TensorLike,
    input_shape: PartialShape,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """The gradient of `conv3d` for its images; see `conv2d_grad_wrt_inputs`."""
    settings = (border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return _grad_wrt_inputs(AbstractConv3d_gradInputs, 3, output_grad, filters, input_shape, filter_shape, *settings)


def conv2d_grad_wrt_weights(
    input: TensorLike,
    output_grad: TensorLike,
    filter_shape: PartialShape,
    input_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
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
    input: TensorLike,
    output_grad: TensorLike,
    filter_shape: PartialShape,
    input_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """The gradient of `conv3d` for its filters; see `conv2d_grad_wrt_weights`."""
    settings = (border_mode, subsample, filter_flip, filter_dilation, num_groups)
    return _grad_wrt_weights(AbstractConv3d_gradWeights, 3, input, output_grad, filter_shape, input_shape, *settings)


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: PartialShape,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
    input_dilation: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
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
        The known lengths of `filters`.
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
