"""Rows of products of vectors and matrices, and of what is computed by them."""

from __future__ import annotations

from typing import Any

import numpy as np

import aesara.tensor as at
from tests.optable.inputs import COMPLEX, FLOATS, INTEGERS, exactly, integer, positive, real
from tests.optable.table import case, row

LARGE = [case(real(2051), real(2051), smooth=False), case(real(40, 71), real(71, 33), smooth=False)]
LARGE += [case(real(19, 1030), real(1030), smooth=False), case(real(1030), real(1030, 5), smooth=False)]
NUMERIC = (*INTEGERS, *FLOATS, *COMPLEX)
PAIRS = [
    case(real(3, 4), real(4, 5)),
    case(real(4), real(4)),
    case(real(3, 4), real(4)),
    case(real(3), real(3, 4)),
    case(real(1, 7), real(7, 1)),
    case(real(0, 3), real(3, 2)),
    case(real(3, 0), real(0, 2)),
    case(real(0), real(0)),
    case(real(9, 17), real(17, 5)),
]
row(
    "dot",
    np.dot,
    [
        *PAIRS,
        *LARGE,
        case(real(), real(3)),
        case(real(2, 3, 4), real(4)),
        case(real(2, 3, 4), real(4, 2)),
        case(real(3, 4), real(2, 4, 3)),
    ],
    error="sum",
    dtypes=NUMERIC,
    dtype_cases=[PAIRS[0], PAIRS[1], PAIRS[2]],
)
row(
    "matmul",
    np.matmul,
    [
        *PAIRS,
        case(real(2, 3, 4), real(4, 5)),
        case(real(2, 3, 4), real(2, 4, 5)),
        case(real(3, 4), real(2, 4, 5)),
        case(real(2, 3, 4), real(4)),
        case(real(1, 3, 4, static=(1, None, None)), real(2, 4, 5)),
    ],
    error="sum",
    dtypes=NUMERIC,
)
row("operator @", np.matmul, PAIRS[:4], lambda x, y: x @ y, error="sum")
row("dense_dot", np.dot, PAIRS[:4], error="sum")
row(
    "outer",
    np.outer,
    [case(real(3), real(4)), case(real(2, 3), real(4))],
    dtypes=NUMERIC,
    error=2.0,
    signed_zeros=False,
)
row(
    "tensordot",
    np.tensordot,
    [
        case(real(2, 3, 4), real(3, 4, 5)),
        case(real(2, 3, 4), real(4, 5), axes=1),
        case(real(3, 4), real(4, 3), axes=((0, 1), (1, 0))),
        case(real(2, 3, 4), real(2, 5, 3), axes=([0, 1], [0, 2])),
        case(real(3), real(4), axes=0),
        case(real(3, 4), real(5, 4), axes=[[-1], [-1]]),
    ],
    error="sum",
)


def _batched(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.stack([np.dot(a, b) for a, b in zip(x, y)]) if len(x) else np.zeros((0, *x.shape[1:-1], *y.shape[2:]))


row(
    "batched_dot",
    _batched,
    [
        case(real(2, 3, 4), real(2, 4, 5)),
        case(real(3, 4), real(3, 4)),
        case(real(3, 4), real(3, 4, 2)),
        case(real(3, 2, 4), real(3, 4)),
    ],
    error="sum",
    dtypes=(*FLOATS, *COMPLEX, "int64"),
)
row(
    "batched_tensordot",
    lambda x, y, axes: np.stack(
        [np.tensordot(a, b, axes=[[k - 1 for k in axis] for axis in axes]) for a, b in zip(x, y)]
    ),
    [case(real(2, 3, 4), real(2, 4, 5), axes=([2], [1])), case(real(2, 3, 4), real(2, 3, 4), axes=([1, 2], [1, 2]))],
    error="sum",
)
row(
    "convolve",
    np.convolve,
    [case(real(5), real(3), mode=mode) for mode in ("full", "same", "valid")]
    + [case(real(3), real(5), mode="full"), case(real(1), real(4), mode="same")],
    error="sum",
)


def _cov_size(m: np.ndarray, y: Any = None, **params: Any) -> Any:
    return 8 * np.max(m**2 if y is None else np.concatenate([m, y]) ** 2) + 0 * np.cov(m, y, **params)


row(
    "cov",
    np.cov,
    [
        case(real(3, 7)),
        case(real(3, 7), real(2, 7)),
        case(real(3, 7), rowvar=False),
        case(real(3, 7), bias=True),
        case(real(3, 7), ddof=0),
    ],
    error="sum",
    magnitude=_cov_size,
)
row(
    "cov with weights",
    lambda m, f, a: np.cov(m, fweights=f, aweights=a),
    [case(real(3, 5), exactly([1, 2, 1, 3, 1]), positive(5, differentiable=False))],
    lambda m, f, a: at.cov(m, fweights=f, aweights=a),
    error="sum",
    magnitude=lambda m, f, a: 16 * np.max(m**2) * np.ones((3, 3)),
    gradient=False,
)
row(
    "dot of integers and floats",
    np.dot,
    [case(integer(3, 4), real(4, 2)), case(real(3, 4, dtype="float32"), real(4, 2))],
    at.dot,
    error="sum",
    covers=("dot",),
)
