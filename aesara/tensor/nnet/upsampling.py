"""Enlarging images by bilinear interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.nnet.conv_gradients import conv2d_grad_wrt_inputs


def bilinear_kernel_1D(ratio: Any, normalize: bool = True) -> TensorVariable:
    """Return the triangular kernel of linear interpolation.

    Parameters
    ----------
    ratio
        Into how many steps the distance of neighbours is divided; an integer, which may be symbolic.
    normalize
        Divide by `ratio`, so that the weight in the middle is 1.

    Examples
    --------
    >>> bilinear_kernel_1D(2).eval()
    array([0.5, 1. , 0.5])
    """
    rising = arange(1, ratio + 1, dtype=config.floatX)
    kernel = concatenate([rising, rising[-2::-1]])
    return kernel / as_tensor_variable(ratio).astype(config.floatX) if normalize else kernel


def bilinear_kernel_2D(ratio: float | Sequence[float], normalize: bool = True) -> TensorVariable:
    """Return the kernel of bilinear interpolation: products of the kernels for rows and columns.

    Parameters
    ----------
    ratio, normalize
        See `bilinear_kernel_1D`.

    Examples
    --------
    >>> bilinear_kernel_2D(2).eval()
    array([[0.25, 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 0.25]])
    """
    kernel = bilinear_kernel_1D(ratio, normalize)
    return kernel.dimshuffle("x", 0) * kernel.dimshuffle(0, "x")


def _fractions(frac_ratio: Any) -> list[tuple[int, int]]:
    if not isinstance(frac_ratio, tuple) or len(frac_ratio) != 2:
        raise ValueError(f"frac_ratio must be a tuple of two integers, or of two such tuples; got {frac_ratio}.")
    pairs = frac_ratio if all(isinstance(part, tuple) for part in frac_ratio) else (frac_ratio, frac_ratio)
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in pair):
            raise ValueError(f"The parts of frac_ratio must be positive integers; got {frac_ratio}.")
    return [(int(n), int(d)) for n, d in pairs]


def _transposed_convolution(
    images: TensorVariable, kernel: TensorVariable, ratios: tuple[int, int], repeated: tuple[int, int]
) -> TensorVariable:
    """Apply a transposed convolution to images whose first and last rows and columns are repeated if
    `repeated` is set.
    """
    sizes, pads = [], []
    for ratio, extra, length in zip(ratios, repeated, (images.shape[2], images.shape[3])):
        # A repeated border gives `ratio` more elements on each side; what lies further out than asked for is cut off.
        sizes.append((length - 2 * extra) * ratio)
        pads.append(2 * ratio - (ratio - 1) // 2 - 1 if extra else 0)
    return conv2d_grad_wrt_inputs(images, kernel, (None, 1, *sizes), (1, 1, None, None), tuple(pads), ratios)


def _with_border(images: TensorVariable, axis: int) -> TensorVariable:
    """Repeat the first and last rows, or columns, of images."""
    first, last = [slice(None)] * 4, [slice(None)] * 4
    first[axis], last[axis] = slice(None, 1), slice(-1, None)
    return concatenate([images[tuple(first)], images, images[tuple(last)]], axis=axis)


def _along(images: TensorVariable, axis: int, ratio: int) -> TensorVariable:
    """Images enlarged along one dimension."""
    kernel = bilinear_kernel_1D(ratio)
    kernel = kernel.dimshuffle("x", "x", 0, "x") if axis == 2 else kernel.dimshuffle("x", "x", "x", 0)
    ratios, repeated = ((ratio, 1), (1, 0)) if axis == 2 else ((1, ratio), (0, 1))
    return _transposed_convolution(_with_border(images, axis), kernel, ratios, repeated)


def bilinear_upsampling(
    input: TensorLike,
    ratio: int | None = None,
    frac_ratio: float | Sequence[float] | None = None,
    batch_size: int | None = None,
    num_input_channels: int | None = None,
    use_1D_kernel: bool = True,
) -> TensorVariable:
    """Enlarge images by bilinear interpolation; beyond the outermost elements they are constant.

    Parameters
    ----------
    input
        Images: ``(batch, channels, rows, columns)``.
    ratio
        By how much, for rows and for columns: an integer.
    frac_ratio
        Instead of `ratio`: a fraction as a tuple of numerator and denominator, or one for rows and one for columns;
        see `frac_bilinear_upsampling`.
    batch_size, num_input_channels
        Accepted for compatibility; have no effect.
    use_1D_kernel
        Interpolate by rows and by columns in turn, which takes less work than both at once.

    Examples
    --------
    >>> import numpy as np
    >>> bilinear_upsampling(np.array([[[[0.0, 2.0]]]]), 2).eval()
    array([[[[0., 1., 2., 2.],
             [0., 1., 2., 2.]]]])
    """
    if ratio is not None and frac_ratio is not None:
        raise ValueError("can't use ratio and frac_ratio together")
    if ratio is None:
        if frac_ratio is None:
            raise ValueError("No ratio (or frac_ratio) provided")
        return frac_bilinear_upsampling(input, frac_ratio)
    if not isinstance(ratio, (int, np.integer)) or ratio < 1:
        raise ValueError(f"ratio must be a positive integer; got {ratio}.")
    ratio = int(ratio)
    input = _images(input)
    flat = input.reshape((-1, 1, input.shape[2], input.shape[3]))
    if use_1D_kernel:
        large = _along(_along(flat, 2, ratio), 3, ratio)
    else:
        kernel = bilinear_kernel_2D(ratio).dimshuffle("x", "x", 0, 1)
        large = _transposed_convolution(_with_border(_with_border(flat, 2), 3), kernel, (ratio, ratio), (1, 1))
    return large.reshape((input.shape[0], input.shape[1], input.shape[2] * ratio, input.shape[3] * ratio))


def _images(input: TensorLike) -> TensorVariable:
    input = as_tensor_variable(input)
    if input.type.ndim != 4:
        raise ValueError(f"Images have 4 dimensions: (batch, channels, rows, columns); got {input.type.ndim}.")
    return input


def frac_bilinear_upsampling(input: TensorLike, frac_ratio: float | Sequence[float]) -> TensorVariable:
    """Enlarge, or reduce, images by a fraction, with bilinear interpolation.

    Parameters
    ----------
    input
        Images: ``(batch, channels, rows, columns)``.
    frac_ratio
        A tuple of numerator and denominator, or a tuple of one such tuple for rows and one for columns: images are
        enlarged by the numerator, and one of so many rows and columns, as the denominator says, is kept.

    Examples
    --------
    >>> import numpy as np
    >>> frac_bilinear_upsampling(np.array([[[[0.0, 3.0, 6.0]]]]), ((1, 1), (3, 2))).eval()
    array([[[[0., 1., 3., 5., 6.]]]])
    """
    fractions = _fractions(frac_ratio)
    input = _images(input)
    large = input.reshape((-1, 1, input.shape[2], input.shape[3]))
    for axis, (numerator, denominator) in zip((2, 3), fractions):
        large = _along(large, axis, numerator)
        large = large[:, :, ::denominator] if axis == 2 else large[:, :, :, ::denominator]
    return large.reshape((input.shape[0], input.shape[1], large.shape[2], large.shape[3]))
