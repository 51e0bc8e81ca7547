"""Neighbourhoods of the pixels of images as rows of a matrix, and back."""

from __future__ import annotations

from typing import Any

from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import ceil_intdiv, eq, ge
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.indexing.selection import where
from aesara.tensor.joining.join_split import stack
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.reshape import reshape

__all__ = ["Images2Neibs", "images2neibs", "neibs2images"]

_MODES = ("valid", "ignore_borders", "half", "full", "wrap_centered")


def _pair(name: str, value: TensorLike) -> list[TensorVariable]:
    """Convert two integers, possibly symbolic, to int64 scalars."""
    value = as_tensor_variable(value)
    if value.type.ndim != 1 or value.type.dtype not in integer_dtypes:
        raise TypeError(f"images2neibs: `{name}` must be two integers, for rows and columns; got {value.type}.")
    return [value[0].astype("int64"), value[1].astype("int64")]


_WITHIN_IMAGE = CheckAndRaise(
    TypeError, "images2neibs: with mode='wrap_centered' the neighbourhood must not be larger than the image."
)
_ODD = CheckAndRaise(TypeError, "images2neibs: with mode='wrap_centered' the lengths of the neighbourhood must be odd.")
_REACHES_END = CheckAndRaise(
    TypeError,
    "images2neibs: with mode='valid' the length of the image minus that of the neighbourhood must be a multiple of the "
    "step. Use mode='ignore_borders' to leave out what is left over.",
)


def _starts(
    mode: str, size: TensorVariable, width: TensorVariable, step: TensorVariable
) -> tuple[TensorVariable, Any, TensorVariable]:
    """Return the number of neighbourhoods along a dimension, the start of the first one, and the checked size."""
    if mode == "wrap_centered":
        size = _ODD(_WITHIN_IMAGE(size, ge(size, width)), eq(width % 2, 1))
        return ceil_intdiv(size, step), -(width // 2), size
    before = {"half": width // 2, "full": width - 1}.get(mode, 0)
    room = size + 2 * before - width
    if mode == "valid":
        room = _REACHES_END(room, eq(room % step, 0))
    return where(ge(room, 0), room, -step) // step + 1, -before, size


def images2neibs(
    ten4: TensorLike, neib_shape: TensorLike, neib_step: TensorLike | None = None, mode: str = "valid"
) -> TensorVariable:
    """Return the neighbourhoods of images as rows of a matrix.

    Parameters
    ----------
    ten4
        Images: a tensor of shape ``(images, channels, rows, columns)``.
    neib_shape
        Rows and columns of a neighbourhood; may be symbolic.
    neib_step
        How far apart neighbourhoods are, by default their size, so that they
        do not overlap.
    mode
        "valid": only whole neighbourhoods, which must reach the end of the
        image. "ignore_borders": the same, and what is left over is ignored.
        "half", "full": with zeros around the image, half of the
        neighbourhood or all of it but one. "wrap_centered": neighbourhoods
        are centred on the pixels, and go on at the other side of the image.

    Returns
    -------
    TensorVariable
        A matrix with a row for each neighbourhood: by images, channels, rows
        and columns of where it stands.

    Examples
    --------
    >>> import numpy as np
    >>> images2neibs(np.arange(16.0).reshape(1, 1, 4, 4), (2, 2)).eval()
    array([[ 0.,  1.,  4.,  5.],
           [ 2.,  3.,  6.,  7.],
           [ 8.,  9., 12., 13.],
           [10., 11., 14., 15.]])
    """
    if mode == "ignore_border":
        mode = "ignore_borders"
    if mode not in _MODES:
        raise NotImplementedError(f"images2neibs: mode must be one of {', '.join(_MODES)}; got {mode!r}.")
    images = as_tensor_variable(ten4)
    if images.type.ndim != 4:
        raise TypeError(f"images2neibs needs images of four dimensions; got {images} of type {images.type}.")
    widths = _pair("neib_shape", neib_shape)
    steps = widths if neib_step is None else _pair("neib_step", neib_step)
    sizes = [images.shape[2], images.shape[3]]
    counts, positions = [], []
    for k in range(2):
        count, start, sizes[k] = _starts(mode, sizes[k], widths[k], steps[k])
        counts.append(count)
        positions.append(
            start + dimshuffle(arange(count), (0, "x")) * steps[k] + dimshuffle(arange(widths[k]), ("x", 0))
        )
    if mode in ("half", "full"):
        images, positions = _with_zeros(images, sizes, widths, positions, mode)
    elif mode == "wrap_centered":
        positions = [position % size for position, size in zip(positions, sizes)]
    rows, columns = positions
    # (images, channels, rows and columns of neighbourhoods, rows and columns in them)
    chosen = images[:, :, dimshuffle(rows, (0, "x", 1, "x")), dimshuffle(columns, ("x", 0, "x", 1))]
    shape = images.shape[0] * images.shape[1] * counts[0] * counts[1], widths[0] * widths[1]
    return reshape(chosen, stack(shape), ndim=2)


def _with_zeros(
    images: TensorVariable,
    sizes: list[TensorVariable],
    widths: list[TensorVariable],
    positions: list[TensorVariable],
    mode: str,
) -> tuple[TensorVariable, list[TensorVariable]]:
    """Return images padded with zeros, and positions relative to the padded images."""
    around = [width // 2 if mode == "half" else width - 1 for width in widths]
    shape = (images.shape[0], images.shape[1], *[size + 2 * n for size, n in zip(sizes, around)])
    padded = zeros(shape, dtype=images.type.dtype)
    inside = padded[:, :, around[0] : around[0] + sizes[0], around[1] : around[1] + sizes[1]]
    return set_subtensor(inside, images), [position + n for position, n in zip(positions, around)]


def neibs2images(
    neibs: TensorLike, neib_shape: TensorLike, original_shape: TensorLike, mode: str = "valid"
) -> TensorVariable:
    """Return images, given their neighbourhoods as rows of a matrix; the inverse of `images2neibs`.

    Parameters
    ----------
    neibs
        The matrix, of neighbourhoods that do not overlap.
    neib_shape
        Rows and columns of a neighbourhood.
    original_shape
        The four lengths of the images.
    mode
        "valid", or "ignore_borders": what was left over at the end of the
        images is zero.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> bool((neibs2images(images2neibs(images, (2, 2)), (2, 2), images.shape).eval() == images).all())
    True
    """
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError(f"neibs2images: mode must be valid or ignore_borders; got {mode!r}.")
    neibs = as_tensor_variable(neibs)
    height, width = _pair("neib_shape", neib_shape)
    shape = as_tensor_variable(original_shape)
    n, channels, rows, columns = [shape[k].astype("int64") for k in range(4)]
    down, right = rows // height, columns // width
    blocks = reshape(neibs, stack([n, channels, down, right, height, width]), ndim=6)
    whole = reshape(dimshuffle(blocks, (0, 1, 2, 4, 3, 5)), stack([n, channels, down * height, right * width]), ndim=4)
    if mode == "valid":
        return whole
    images = zeros((n, channels, rows, columns), dtype=neibs.type.dtype)
    return set_subtensor(images[:, :, : down * height, : right * width], whole)


class Images2Neibs:
    """`images2neibs` with a mode, as a function of images, shape and step."""

    def __init__(self, mode: str = "valid") -> None:
        if mode not in (*_MODES, "ignore_border"):
            raise NotImplementedError(f"Images2Neibs: mode must be one of {', '.join(_MODES)}; got {mode!r}.")
        self.mode = mode

    def __call__(self, ten4: TensorLike, neib_shape: TensorLike, neib_step: Any = None) -> TensorVariable:
        return images2neibs(ten4, neib_shape, neib_step, self.mode)
