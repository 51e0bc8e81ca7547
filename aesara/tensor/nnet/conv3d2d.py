"""Convolution in three dimensions with time as the second dimension, as in Aesara."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.nnet.conv_functions import conv3d as conv3d_of_volumes
from aesara.tensor.nnet.conv_shapes import BorderMode
from aesara.tensor.shapes.dimshuffle import dimshuffle

__all__ = ["conv3d"]

_PERMUTATION = (0, 2, 1, 3, 4)


def _permute(shape: Sequence[int | None] | None) -> Sequence[int | None] | None:
    return None if shape is None else [shape[axis] for axis in _PERMUTATION]


def conv3d(
    signals: TensorLike,
    filters: TensorLike,
    signals_shape: Sequence[int | None] | None = None,
    filters_shape: Sequence[int | None] | None = None,
    border_mode: BorderMode = "valid",
) -> TensorVariable:
    """Convolve sequences of images, ``(batch, time, channels, rows, columns)``, with filters.

    Parameters
    ----------
    signals
        The sequences.
    filters
        The filters, of shape ``(filters, time, channels, rows, columns)``.
    signals_shape, filters_shape
        The known lengths of both.
    border_mode
        "valid", "full" or "half", or one of them for time, rows and columns each.

    Returns
    -------
    TensorVariable
        The sequences, with a channel for each filter.

    Examples
    --------
    >>> import numpy as np
    >>> conv3d(np.ones((1, 5, 2, 4, 4)), np.ones((3, 2, 2, 3, 3))).eval().shape
    (1, 4, 3, 2, 2)
    """
    signals, filters = as_tensor_variable(signals), as_tensor_variable(filters)
    for name, t in (("signals", signals), ("filters", filters)):
        if t.type.ndim != 5:
            raise TypeError(f"conv3d needs `{name}` of five dimensions; got {t} of type {t.type}.")
    if isinstance(border_mode, (tuple, list)) and len(set(border_mode)) == 1:
        border_mode = border_mode[0]
    result = conv3d_of_volumes(
        dimshuffle(signals, _PERMUTATION),
        dimshuffle(filters, _PERMUTATION),
        _permute(signals_shape),
        _permute(filters_shape),
        _paddings(border_mode, filters, filters_shape),
    )
    return dimshuffle(result, _PERMUTATION)


def _paddings(border_mode: Any, filters: TensorVariable, filters_shape: Sequence[int | None] | None) -> Any:
    """Convert border modes that differ between dimensions to numbers of zeros, which requires static lengths."""
    if not isinstance(border_mode, (tuple, list)):
        return border_mode
    paddings = []
    for axis, mode in zip((1, 3, 4), border_mode):
        length = filters.type.shape[axis] if filters_shape is None else filters_shape[axis]
        if mode == "valid":
            paddings.append(0)
        elif length is None:
            raise ValueError(f"conv3d: border_mode {border_mode} needs filters of known lengths: give `filters_shape`.")
        else:
            paddings.append({"full": length - 1, "half": length // 2}[mode])
    return tuple(paddings)
