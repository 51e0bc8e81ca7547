"""Rows of sorting, searching and counting."""

from __future__ import annotations

from typing import Any

import numpy as np

import aesara.tensor as at
from tests.optable.inputs import REAL, exactly, integer, positive, real, spaced
from tests.optable.table import case, row

INT64 = {"dtype": lambda *_, **p: "int64"}
row(
    "sort",
    np.sort,
    [
        case(spaced(7)),
        case(spaced(3, 4)),
        case(spaced(3, 4), axis=0),
        case(spaced(3, 4), axis=None),
        case(spaced(0, 3), axis=0),
    ],
    dtypes=REAL,
)
row(
    "argsort",
    lambda x, **p: np.argsort(x, kind="stable", **p),
    [
        case(spaced(7)),
        case(spaced(3, 4)),
        case(spaced(3, 4), axis=0),
        case(spaced(3, 4), axis=None),
        case(integer(9, low=0, high=2)),
    ],
    lambda x, **p: at.argsort(x, kind="stable", **p),
    gradient=False,
    dtypes=REAL,
    **INT64,
)


def _topk(x: np.ndarray, kth: int, axis: int = -1) -> np.ndarray:
    ordered = np.sort(x, axis=axis)
    n = x.shape[axis]
    return np.flip(np.take(ordered, range(n - kth, n), axis), axis) if kth > 0 else np.take(ordered, range(-kth), axis)


def _argtopk(x: np.ndarray, kth: int, axis: int = -1) -> np.ndarray:
    order = np.argsort(x, axis=axis)
    n = x.shape[axis]
    return np.flip(np.take(order, range(n - kth, n), axis), axis) if kth > 0 else np.take(order, range(-kth), axis)


TOP = [
    case(spaced(7), kth=3),
    case(spaced(3, 5), kth=2, axis=0),
    case(spaced(3, 5), kth=-2),
    case(spaced(7), kth=1),
    case(spaced(7), kth=7),
    case(spaced(3, 5), kth=-3, axis=0),
]
row("topk", _topk, TOP)
row("argtopk", _argtopk, TOP, gradient=False, **INT64)
row("topk_and_argtopk", lambda x, **p: [_topk(x, **p), _argtopk(x, **p)], TOP[:2])
row(
    "searchsorted",
    np.searchsorted,
    [
        case(exactly([0.0, 1.0, 1.0, 2.5]), real(4, low=-1, high=3)),
        case(exactly([0, 1, 1, 2]), integer(3), side="right"),
        case(exactly([0.0, 1.0]), real(2, 3)),
        case(exactly([1.0, 2.0]), real()),
    ],
    gradient=False,
    **INT64,
)


def _unique(x: np.ndarray, **params: Any) -> Any:
    results = np.unique(x, **params)
    if params.get("return_inverse") and params.get("axis") is None:
        results = list(results)
        position = 1 + bool(params.get("return_index"))
        results[position] = results[position].reshape(-1)
    return list(results) if isinstance(results, tuple) else results


row(
    "unique",
    _unique,
    [
        case(integer(9, low=0, high=4)),
        case(integer(3, 4, low=0, high=2)),
        case(integer(9, low=0, high=4), return_index=True, return_inverse=True, return_counts=True),
        case(integer(4, 2, low=0, high=1), axis=0),
    ],
    gradient=False,
    needs_values="the number of different elements",
    python={"Unique": "NumPy finds what is unique by hashing"},
)
row(
    "bincount",
    lambda x, minlength=0: np.bincount(x, minlength=minlength),
    [case(integer(9, low=0, high=5)), case(integer(4, low=0, high=3), minlength=7)],
    gradient=False,
    needs_values="the largest element",
)
row(
    "weighted bincount",
    lambda x, w: np.bincount(x, w),
    [case(exactly([0, 3, 3, 1]), positive(4))],
    at.bincount,
    covers=("bincount",),
    needs_values="the largest element",
    error=2.0,
)
