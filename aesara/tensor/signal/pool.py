"""Pooling of images: maxima, sums and means over windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.scalar.types import bool as bool_t
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.signal.pooling import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolGrad,
)
from aesara.tensor.signal.pooling import one_of as _one_of_both
from aesara.user_code import warn_user

__all__ = [
    "AveragePoolGrad",
    "DownsampleFactorMaxGradGrad",
    "MaxPoolGrad",
    "MaxPoolRop",
    "Pool",
    "PoolGrad",
    "bool_t",
    "max_pool_2d_same_size",
    "pool_2d",
    "pool_3d",
]


def max_pool_2d_same_size(input: TensorLike, patch_size: Sequence[int]) -> TensorVariable:
    """Return images in which all but the largest elements of nonoverlapping patches are set to zero.

    Parameters
    ----------
    input
        Images of shape ``(images, channels, rows, columns)``.
    patch_size
        Rows and columns of a patch. Elements that no whole patch covers are zero.

    Examples
    --------
    >>> import numpy as np
    >>> max_pool_2d_same_size(np.arange(4.0).reshape(1, 1, 2, 2), (2, 2)).eval()
    array([[[[0., 0.],
             [0., 3.]]]])
    """
    images = as_tensor_variable(input)
    largest = Pool(ignore_border=True)(images, patch_size)
    return MaxPoolGrad(ignore_border=True)(images, largest, largest, patch_size)


def pool_2d(
    input: TensorLike,
    ws: Any = None,
    ignore_border: bool | None = None,
    stride: Any = None,
    pad: Any = (0, 0),
    mode: str = "max",
    ds: Any = None,
    st: Any = None,
    padding: Any = None,
) -> TensorVariable:
    """The maximum, the sum or the mean over each window of images.

    Parameters
    ----------
    input
        A tensor with two dimensions at least; windows lie on the last two.
    ws
        Rows and columns of a window: two integers, or a vector of them.
    ignore_border
        Whether to ignore elements at the end that do not fill a whole window. By default it is not, with a
        warning.
    stride
        How far apart windows are, by default their size, so that they do not overlap.
    pad
        How many rows and columns stand around the images, which must be fewer than a window has; with
        ``ignore_border=True`` only. They never count for maxima and sums.
    mode
        "max", "sum", "average_inc_pad" (means that count the padding, as zeros), or "average_exc_pad" (means of what
        is there).
    ds, st, padding
        Older names of `ws`, `stride` and `pad`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> pool_2d(x, (2, 2), ignore_border=True).eval()
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    >>> pool_2d(x, (3, 3), ignore_border=True, stride=(2, 2), pad=(1, 1), mode="average_exc_pad").eval()
    array([[[[ 2.5,  4. ],
             [ 8.5, 10. ]]]])
    """
    return _pool(2, input, ws, ignore_border, stride, pad, mode, ds, st, padding)


def pool_3d(
    input: TensorLike,
    ws: Any = None,
    ignore_border: bool | None = None,
    stride: Any = None,
    pad: Any = (0, 0, 0),
    mode: str = "max",
    ds: Any = None,
    st: Any = None,
    padding: Any = None,
) -> TensorVariable:
    """The maximum, the sum or the mean over each window of volumes: `pool_2d` for the last three dimensions.

    Parameters
    ----------
    input
        A tensor with three dimensions at least.
    ws, ignore_border, stride, pad, mode, ds, st, padding
        As in `pool_2d`, with three entries.
    """
    return _pool(3, input, ws, ignore_border, stride, pad, mode, ds, st, padding)


def _pool(
    ndim: int, input: TensorLike, ws: Any, ignore_border: bool | None, stride: Any, pad: Any, mode: str, ds: Any,
    st: Any, padding: Any,
) -> TensorVariable:  # fmt: skip
    name = f"pool_{ndim}d"
    ws, stride = _one_of("ws", ws, "ds", ds), _one_of("stride", stride, "st", st)
    pad = _one_of("pad", None if _is_zero(pad) else pad, "padding", padding)
    if ws is None:
        raise ValueError("You must provide a tuple value for the window size.")
    images = as_tensor_variable(input)
    if images.type.ndim < ndim:
        raise NotImplementedError(f"{name} requires a dimension >= {ndim}")
    if ignore_border is None:
        warn_user(
            f"{name}: `ignore_border` is not given, and what no whole window covers is pooled as well. Give "
            "ignore_border=False to keep that, or True, which is faster.",
        )
    return Pool(bool(ignore_border), mode, ndim)(images, ws, stride, pad)


def _is_zero(pad: TensorLike) -> bool:
    return pad is None or (isinstance(pad, (tuple, list)) and all(isinstance(n, int) and n == 0 for n in pad))


def _one_of(name: str, value: Any, older: str, older_value: Any) -> Any:
    if older_value is not None:
        warn_user(f"The parameter `{older}` is now `{name}`.", DeprecationWarning)
    return _one_of_both(name, value, older, older_value)
