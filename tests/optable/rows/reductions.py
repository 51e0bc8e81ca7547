"""Rows of the functions that combine the elements along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sps

import aesara.tensor as at
from aesara.tensor.special import log_softmax, softmax
from tests.optable.inputs import ALL, FLOATS, INTEGERS, REAL, boolean, integer, positive, real, spaced
from tests.optable.table import Case, case, row

UNSIGNED = [d for d in INTEGERS if d[0] == "u"]


def wide(dtype: str, **_: Any) -> str:
    """Sums and products of integers are as wide as can be."""
    if dtype == "bool" or dtype in INTEGERS:
        return "uint64" if dtype in UNSIGNED else "int64"
    return dtype


def running(dtype: str, **_: Any) -> str:
    """Running sums and products keep the dtype, except that truth values are counted."""
    return "int64" if dtype == "bool" else dtype


def as_float(dtype: str, **_: Any) -> str:
    return "float64" if dtype == "bool" or dtype in INTEGERS else dtype


LONG = ((2051,), (1027, 3), (33, 17))


def over_axes(make: Callable[..., Any] = real, empty: bool = True, keepdims: bool = True, **extra: Any) -> list[Case]:
    """The axes of arrays of zero to three dimensions, with and without `keepdims`."""
    cases = [
        case(make(3, 4), **extra),
        case(make(3, 7), axis=0, **extra),
        case(make(3, 7), axis=-1, **extra),
        case(make(2, 3, 5), axis=(0, 2), **extra),
        case(make(2, 3, 5), axis=1, **extra),
        case(make(19), axis=0, **extra),
        case(make(1, 4), axis=0, **extra),
        case(make(), **extra),
    ]
    # blocks of long sums, and what is left over
    cases += [case(make(*n), axis=0, smooth=False, **extra) for n in LONG]
    cases += [case(make(3, 1030), axis=1, smooth=False, **extra)]
    if empty:
        cases += [case(make(0, 3), axis=0, **extra), case(make(0, 3), axis=1, **extra), case(make(0), **extra)]
    if keepdims:
        cases += [case(make(3, 4), axis=1, keepdims=True, **extra), case(make(2, 3), keepdims=True, **extra)]
    return cases


def one_axis(make: Callable[..., Any] = real, empty: bool = False, **extra: Any) -> list[Case]:
    cases = [
        case(make(3, 4), axis=0, **extra),
        case(make(3, 4), axis=-1, **extra),
        case(make(7), axis=0, **extra),
        case(make(2, 3, 5), axis=1, **extra),
        case(make(3, 4), axis=None, **extra),
    ]
    cases += [case(make(*n), axis=0, smooth=False, **extra) for n in LONG]
    return cases + ([case(make(0, 3), axis=0, **extra), case(make(0, 3), axis=1, **extra)] if empty else [])


def _precise(function: Callable[..., Any]) -> Callable[..., Any]:
    """In float64, of which `dtype` then makes the declared dtype."""

    def oracle(x: np.ndarray, **params: Any) -> Any:
        return function(x.astype("float64") if x.dtype.kind in "fiub" else x.astype("complex128"), **params)

    return oracle


small = lambda *shape: real(*shape, low=0.5, high=2.0)
row("sum", lambda x, **p: np.sum(x, dtype=wide(str(x.dtype)), **p), over_axes(), error="sum", dtypes=ALL, dtype=wide)
row(
    "prod",
    lambda x, **p: np.prod(x, dtype=wide(str(x.dtype)), **p),
    over_axes(small),
    error="sum",
    dtypes=ALL,
    dtype=wide,
)
row("prod of zeros", np.prod, [case(integer(3, 4, low=0, high=1, dtype="float64"), axis=0)], at.prod, covers=("prod",))
row("max", np.max, over_axes(spaced, empty=False), dtypes=REAL)
row("min", np.min, over_axes(spaced, empty=False), dtypes=REAL)
row("mean", _precise(np.mean), over_axes(empty=False), error="sum", dtypes=ALL, dtype=as_float)
row(
    "var",
    _precise(np.var),
    [*over_axes(empty=False), case(real(3, 5), axis=1, ddof=1), case(real(3, 5), axis=(0, 1), ddof=2)],
    error="sum",
    dtypes=REAL,
    dtype=as_float,
    magnitude=lambda x, **p: 8 * np.max(x**2, initial=0) + 0 * np.var(x, **p),
)
row(
    "std",
    _precise(np.std),
    [c for c in over_axes(empty=False) if c.args[0].shape not in ((), (1, 4))],  # no slope where it is zero
    error="sum",
    dtypes=REAL,
    dtype=as_float,
    magnitude=lambda x, **p: 8 * np.max(x, initial=0) + 0 * np.std(x, **p),
)
row(
    "all",
    np.all,
    over_axes(boolean),
    dtypes=REAL,
    gradient=False,
    dtype_cases=[case(integer(3, 4, low=0, high=1, varies=True), axis=1)],
)
row(
    "any",
    np.any,
    over_axes(boolean),
    dtypes=REAL,
    gradient=False,
    dtype_cases=[case(integer(3, 4, low=0, high=1, varies=True), axis=1)],
)

SOME_EXTREMA = [*one_axis(spaced), case(integer(4, 6, low=0, high=2), axis=1), case(integer(4, 6, low=0, high=2))]
row("argmax", np.argmax, SOME_EXTREMA, dtypes=REAL, dtype=lambda *_, **p: "int64", gradient=False)
row("argmin", np.argmin, SOME_EXTREMA, dtypes=REAL, dtype=lambda *_, **p: "int64", gradient=False)


def _max_and_argmax(x: np.ndarray, axis: Any = None) -> Any:
    return np.max(x, axis=axis), np.asarray(np.argmax(x, axis=axis), dtype="int64")


row("max_and_argmax", _max_and_argmax, one_axis(spaced), dtypes=REAL)
row("ptp", np.ptp, one_axis(spaced), dtypes=(*INTEGERS, *FLOATS))


def _logsumexp(x: np.ndarray, axis: Any = None, keepdims: bool = False) -> Any:
    return sps.logsumexp(x.astype("float64"), axis=axis, keepdims=keepdims)


row(
    "logsumexp",
    _logsumexp,
    [*over_axes(empty=False), case(real(3, 4, low=-900, high=900), axis=1, smooth=False)],
    error="sum",
    dtypes=FLOATS,
    dtype=as_float,
    magnitude=lambda x, **p: 2 + np.max(x) + 0 * _logsumexp(x, **p),
)
row(
    "softmax",
    _precise(sps.softmax),
    [*one_axis(), case(real(3, 4, low=-900, high=900), axis=1, smooth=False)],
    function=softmax,
    error="sum",
    dtypes=FLOATS,
    dtype=as_float,
    magnitude=lambda x, axis: 2 + 2 * np.max(x) + 0 * x,
)
row(
    "log_softmax",
    _precise(sps.log_softmax),
    [*one_axis(), case(real(3, 4, low=-900, high=900), axis=1, smooth=False)],
    function=log_softmax,
    error="sum",
    dtypes=FLOATS,
    dtype=as_float,
    magnitude=lambda x, axis: 2 + np.max(x) + 0 * x,
)

row(
    "cumsum",
    lambda x, **p: np.cumsum(x, dtype=running(str(x.dtype)), **p),
    one_axis(empty=True),
    error="sum",
    dtypes=ALL,
    dtype=running,
)
row(
    "cumprod",
    lambda x, **p: np.cumprod(x, dtype=running(str(x.dtype)), **p),
    one_axis(small, empty=True),
    error="sum",
    dtypes=ALL,
    dtype=running,
)
row(
    "diff",
    np.diff,
    [case(real(7)), case(real(3, 5), n=2, axis=0), case(real(3, 5), axis=1), case(real(4), n=5), case(real(4), n=0)],
    error=1.0,
    dtypes=(*INTEGERS, *FLOATS),
)


def _norm(x: np.ndarray, L: Any, axis: Any = None) -> Any:
    return np.max(np.abs(x), axis=axis) if L == np.inf else np.sum(np.abs(x) ** L, axis=axis) ** (1 / L)


row(
    "norm",
    _norm,
    [
        case(positive(3, 4), L=2),
        case(positive(3, 4), L=1, axis=0),
        case(positive(3, 4), L=3, axis=1),
        case(spaced(3, 4), L=np.inf, axis=1),
    ],
    function=lambda x, L, axis=None: x.norm(L, axis=axis),
    error="sum",
)
row(
    "logaddexp",
    lambda *xs: np.logaddexp.reduce(xs),
    [case(real(3, 4), real(3, 4)), case(real(4), real(4), real(4))],
    error="sum",
    dtypes=FLOATS,
    magnitude=lambda *xs: 2 + np.maximum.reduce(xs),
)
