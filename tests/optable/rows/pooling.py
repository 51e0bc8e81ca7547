"""Rows of pooling, and of the ops that its derivatives are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.tensor.signal.pool import DownsampleFactorMaxGradGrad, MaxPoolRop, max_pool_2d_same_size, pool_2d, pool_3d
from tests.optable.inputs import FLOATS, exactly, real, spaced
from tests.optable.table import case, row
from tests.tensor.signal.pooling_loops import pooled, windows_of


def _pool(x: Any, ws: Any, mode: str = "max", ignore_border: bool = True, stride: Any = None, pad: Any = None) -> Any:
    return pooled(x, ws, ignore_border, stride, pad, mode)


def _along(x: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The sum of the last array over each window of (2, 2), where the first has its maximum."""
    shape = (*x.shape[:-2], x.shape[-2] // 2, x.shape[-1] // 2)
    found = np.zeros(shape)
    for position, window in windows_of(x.shape, (2, 2), (2, 2), (0, 0), shape):
        found[position] = others[-1][window][x[window] == x[window].max()].sum()
    return found


row(
    "pool_2d",
    _pool,
    [
        case(spaced(2, 4, 6), ws=(2, 2)),
        case(spaced(5, 4), ws=(2, 3), ignore_border=False),
        case(spaced(2, 1, 5, 4), ws=(3, 3), stride=(2, 1), pad=(1, 1)),
        case(real(4, 5), ws=(2, 2), mode="sum"),
        case(real(5, 5), ws=(3, 2), stride=(1, 2), pad=(1, 0), mode="average_inc_pad"),
        case(real(2, 5, 5), ws=(3, 2), stride=(2, 2), pad=(2, 1), mode="average_exc_pad"),
        case(real(7, 6), ws=(7, 6), mode="average_exc_pad"),
        case(spaced(4, 9), ws=(1, 2), stride=(3, 4)),
    ],
    lambda x, ignore_border=True, **windows: pool_2d(x, ignore_border=ignore_border, **windows),
    error="sum",
    dtypes=(*FLOATS, "int32"),
    dtype_cases=[case(spaced(4, 6), ws=(2, 2)), case(spaced(5, 6), ws=(3, 3), stride=(2, 2), mode="sum")],
    dtype=lambda dtype, **_: dtype,
)
row(
    "pool_3d",
    _pool,
    [
        case(spaced(4, 3, 5), ws=(2, 2, 2)),
        case(real(2, 3, 3, 3), ws=(2, 3, 2), stride=(1, 1, 2), pad=(0, 1, 1), mode="average_inc_pad"),
    ],
    lambda x, **windows: pool_3d(x, ignore_border=True, **windows),
    error="sum",
)
row(
    "max_pool_2d_same_size",
    lambda x, patch_size: np.where(np.kron(pooled(x, patch_size, True), np.ones(patch_size)) == x, x, 0),
    [case(spaced(2, 1, 4, 6), patch_size=(2, 3))],
    max_pool_2d_same_size,
)
row(
    "max_pool_derivative",
    _along,
    [case(exactly(np.arange(24.0).reshape(4, 6) % 7), real(4, 6), smooth=False)],
    lambda x, point: MaxPoolRop(ignore_border=True)(x, point, (2, 2)),
    error="sum",
)
row(
    "max_pool_second_derivative",
    _along,
    [case(exactly([[1.0, 1, 2, 0], [1, 0, 3, 3]]), exactly([[1.0, 3]]), real(2, 4), smooth=False)],
    lambda x, largest, point: DownsampleFactorMaxGradGrad(ignore_border=True)(x, largest, point, (2, 2)),
    error="sum",
)
