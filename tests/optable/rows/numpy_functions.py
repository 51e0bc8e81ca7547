"""Rows of functions of NumPy's that are made of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sps

import aesara.tensor as at
from aesara.tensor.special import log_expit, multigammaln
from tests.optable.inputs import boolean, exactly, integer, positive, real, spaced
from tests.optable.table import case, row

INT64: dict[str, Any] = {"dtype": lambda *_, **p: "int64", "gradient": False}
UNIQUE = {"Unique": "NumPy finds what is unique by hashing"}
COUNTED: dict[str, Any] = {"gradient": False, "needs_values": "how many elements there are", "python": UNIQUE}
X, Y = real(3, 4), real(3, 4)
K = real(3, 4, static=(3, 4))


# Stacking and cutting
row("append", np.append, [case(X, real(2, 4), axis=0), case(X, real(3))])
row(
    "array_split",
    lambda x, n, axis=0: [y.copy() for y in np.array_split(x, n, axis)],
    [case(real(7), n=3), case(X, n=2, axis=1)],
    lambda x, n, axis=0: at.array_split(x, n, axis),
)
row("hsplit", lambda x: [y.copy() for y in np.hsplit(x, 2)], [case(X)], lambda x: at.hsplit(x, 2))
row("vsplit", lambda x: [y.copy() for y in np.vsplit(x, 3)], [case(X)], lambda x: at.vsplit(x, 3))
row("dsplit", lambda x: [y.copy() for y in np.dsplit(x, 2)], [case(real(2, 3, 4))], lambda x: at.dsplit(x, 2))
row(
    "block",
    lambda a, b, c, d: np.block([[a, b], [c, d]]),
    [case(real(2, 3), real(2, 1), real(1, 3), real(1, 1))],
    lambda a, b, c, d: at.block([[a, b], [c, d]]),
)
row("column_stack", lambda *xs: np.column_stack(xs), [case(real(3), real(3, 2))], lambda *xs: at.column_stack(xs))
row(
    "concat",
    lambda *xs, axis=0: np.concatenate(xs, axis),
    [case(real(3), real(2)), case(X, real(3, 1), axis=1)],
    lambda *xs, axis=0: at.concat(xs, axis),
)
row(
    "concat_with_broadcast",
    lambda *xs: np.concatenate([np.broadcast_to(x, (3, x.shape[1])) for x in xs], axis=1),
    [case(real(3, 4), real(3, 2))],
    lambda *xs: at.concat_with_broadcast(xs, axis=1),
)
row("dstack", lambda *xs: np.dstack(xs), [case(X, Y), case(real(3), real(3))], lambda *xs: at.dstack(xs))
row("hstack", lambda *xs: np.hstack(xs), [case(X, real(3, 1)), case(real(3), real(2))], lambda *xs: at.hstack(xs))
row(
    "vstack",
    lambda *xs: np.vstack(xs),
    [case(X, real(1, 4)), case(real(3), real(3))],
    lambda *xs: at.vstack(xs),
    covers=("row_stack",),
)
row(
    "unstack",
    lambda x, axis=0: [y.copy() for y in np.moveaxis(x, axis, 0)],
    [case(real(3, 4, static=(3, None))), case(real(2, 3, static=(None, 3)), axis=1)],
    at.unstack,
)
row(
    "delete",
    np.delete,
    [
        case(K, obj=1, axis=0),
        case(K, obj=(0, -1), axis=1),
        case(real(7, static=(7,)), obj=slice(1, 6, 2)),
        case(K, obj=5),
    ],
)
row("insert", np.insert, [case(X, obj=1, values=2.5, axis=0), case(real(5), obj=2, values=1.5)])
row(
    "insert values",
    lambda x, y: np.insert(x, 2, y, axis=1),
    [case(X, real(3))],
    lambda x, y: at.insert(x, 2, y, axis=1),
    covers=("insert",),
)

# Moving elements
row("flip", np.flip, [case(X), case(X, axis=0), case(real(2, 3, 4), axis=(0, 2))])
row("fliplr", np.fliplr, [case(X)])
row("flipud", np.flipud, [case(X)])
row("rot90", np.rot90, [case(X), case(X, k=2), case(X, k=-1), case(real(2, 3, 4), axes=(1, 2))])
row("rollaxis", np.rollaxis, [case(real(2, 3, 4), axis=2), case(real(2, 3, 4), axis=0, start=2)])
row("matrix_transpose", lambda x: np.swapaxes(x, -1, -2), [case(X), case(real(2, 3, 4))])
row("permute_dims", np.transpose, [case(real(2, 3, 4), axes=(2, 0, 1))])
row(
    "join_dims",
    lambda x, start_axis=0, n_axes=None: x.reshape(
        *x.shape[:start_axis], -1, *(x.shape[start_axis + n_axes :] if n_axes else ())
    ),
    [case(real(2, 3, 4)), case(real(2, 3, 4), start_axis=1, n_axes=2), case(real(2, 3, 4), start_axis=0, n_axes=2)],
)
row(
    "split_dims",
    lambda x, shape, axis=0: x.reshape(*x.shape[:axis], *shape, *x.shape[axis + 1 :]),
    [case(real(6), shape=(2, 3)), case(real(2, 6), shape=(3, 2), axis=1)],
)
row(
    "pack and unpack",
    lambda x, y: [x, y],
    [case(X, real(5))],
    lambda x, y: (lambda packed, shapes: at.unpack(packed, shapes))(*at.pack(x, y)),
    covers=("pack", "unpack"),
)
row(
    "meshgrid",
    lambda *xs, **p: [y.copy() for y in np.meshgrid(*xs, **p)],
    [case(real(3), real(4)), case(real(3), real(2), indexing="ij"), case(real(3), real(2), sparse=True)],
)
row(
    "pad",
    lambda x, pad_width, mode="constant", **p: np.pad(x, pad_width, mode, **p),
    [case(X, pad_width=2), case(X, pad_width=((1, 2), (0, 3)), constant_values=1.5)]
    + [case(real(5), pad_width=(2, 3), mode=m) for m in ("edge", "wrap", "reflect", "symmetric")]
    + [case(spaced(5), pad_width=(2, 3), mode=m) for m in ("maximum", "minimum")]
    + [case(X, pad_width=7, mode="reflect"), case(X, pad_width=9, mode="wrap")],
    error=2.0,
)
row(
    "pad with means",
    lambda x: np.pad(x, 2, "mean"),
    [case(X)],
    lambda x: at.pad(x, 2, mode="mean"),
    error="sum",
    covers=("pad",),
)
row("trace", np.trace, [case(X), case(X, offset=1), case(real(2, 3, 4), axis1=1, axis2=2)], error="sum")
row("vander", np.vander, [case(real(4, static=(4,))), case(real(4), N=3, increasing=True)], error=4.0)
row(
    "pad with ramps",
    np.pad,
    [case(real(5), pad_width=(2, 3), mode="linear_ramp"), case(X, pad_width=1, mode="linear_ramp", end_values=2.0)],
    at.pad,
    error="sum",
    magnitude=lambda x, **p: 8 + 0 * np.pad(x, **p),
    covers=("pad",),
)
row("kron", np.kron, [case(real(2, 3), real(3, 2)), case(real(3), real(2))])

# Elementwise
row("fabs", np.fabs, [case(X)])
row("fix", np.fix, [case(real(9))])
row("rint", np.rint, [case(real(9)), case(exactly([0.5, 1.5, -0.5]), smooth=False)])
row(
    "around",
    np.around,
    [
        case(real(9)),
        case(real(9), decimals=2, smooth=False),
        case(real(9, low=-300, high=300), decimals=-1, smooth=False),
    ],
    error=1.0,  # a division by 100 may become a multiplication by 0.01
)
row("positive", np.positive, [case(X)])
row("float_power", np.float_power, [case(positive(3, 4), Y)], error=2.0)
row(
    "modf",
    lambda x: list(np.modf(x)),
    [case(real(9)), case(exactly([np.inf, -np.inf, np.nan, -0.0, 2.0]), smooth=False)],
)
row(
    "nan_to_num",
    np.nan_to_num,
    [
        case(real(5)),
        case(exactly([np.nan, np.inf, -np.inf, 1.0]), smooth=False),
        case(exactly([np.nan, np.inf, -np.inf, 1.0]), nan=1.0, posinf=2.0, neginf=3.0, smooth=False),
    ],
)
for name in ("isneginf", "isposinf"):
    row(name, getattr(np, name), [case(exactly([np.nan, np.inf, -np.inf, 1.0, 0.0]))], gradient=False)
for name in ("isreal", "iscomplex"):
    row(name, getattr(np, name), [case(X), case(exactly([1j, 1 + 0j, 2.0]))], gradient=False)
for name in ("logical_and", "logical_or", "logical_xor"):
    row(
        name,
        getattr(np, name),
        [case(integer(3, 4, low=0, high=1), integer(3, 4, low=0, high=1)), case(boolean(4), boolean(4)), case(X, Y)],
        gradient=False,
    )
row("logical_not", np.logical_not, [case(integer(3, 4, low=0, high=1)), case(X)], gradient=False)
row("logaddexp2", np.logaddexp2, [case(X, Y)], error="sum", magnitude=lambda x, y: 2 + np.maximum(x, y))
row(
    "select",
    lambda a, b, x, y: np.select([a, b], [x, y], -1.0),
    [case(boolean(5), boolean(5), real(5), real(5))],
    lambda a, b, x, y: at.select([a, b], [x, y], -1.0),
)
row(
    "piecewise",
    lambda x: np.where(x < 0, -x, np.where(x > 1, x**2, 0.5)),
    [case(real(9))],
    lambda x: at.piecewise(x, [x < 0, x > 1], [lambda v: -v, lambda v: v**2, 0.5]),
)
row(
    "polyval",
    np.polyval,
    [case(real(4, static=(4,)), real(5)), case(real(3, static=(3,)), real())],
    error="sum",
    magnitude=lambda p, x: 4 * np.polyval(p, x),
)
row(
    "unwrap",
    np.unwrap,
    [case(real(9, low=-20, high=20)), case(real(3, 5, low=-20, high=20), axis=0)],
    error="sum",
    magnitude=lambda x, **p: 64 + x,
)
row("log_expit", sps.log_expit, [case(X)], log_expit, error=4.0)
row(
    "multigammaln",
    sps.multigammaln,
    [case(positive(4, low=2.5, high=9), d=3)],
    lambda x, d: multigammaln(x, d),
    error="sum",
    magnitude=lambda x, d: 64 + x,
)
row(
    "array_equal",
    np.array_equal,
    [
        case(integer(3, low=0, high=0), integer(3, low=0, high=0)),
        case(X, Y),
        case(exactly([np.nan]), exactly([np.nan]), equal_nan=True),
    ],
    gradient=False,
)

# Reductions
WITH_NAN = exactly([[1.0, np.nan, 3.0, -2.5], [np.nan, 4.0, 0.5, 1.5], [2.0, 7.0, np.nan, -1.0]])
NANS = [
    case(WITH_NAN, smooth=False),
    case(WITH_NAN, axis=0, smooth=False),
    case(WITH_NAN, axis=1, smooth=False),
    case(spaced(3, 4), axis=1),
]
for name in ("nansum", "nanprod", "nanmean", "nanmax", "nanmin"):
    row(name, getattr(np, name), NANS, error="sum")
for name in ("nanstd", "nanvar"):
    row(name, getattr(np, name), NANS, error="sum", magnitude=lambda x, f=getattr(np, name), **p: 64 + 0 * f(x, **p))
for name in ("nancumsum", "nancumprod"):
    row(name, getattr(np, name), [*NANS, case(X, axis=0)], error="sum")
for name in ("nanargmax", "nanargmin"):
    row(name, getattr(np, name), NANS, **INT64)
for name in ("median", "nanmedian"):
    row(
        name,
        getattr(np, name),
        [case(spaced(7)), case(spaced(3, 4), axis=0), case(spaced(3, 4), axis=1), case(spaced(3, 4))]
        + (NANS[:3] if name[0] == "n" else []),
        error=2.0,
    )
for name in ("quantile", "nanquantile"):
    row(
        name,
        getattr(np, name),
        [
            case(spaced(7), q=0.3),
            case(spaced(3, 4), q=0.75, axis=0),
            case(spaced(3, 4), q=(0.1, 0.9), axis=1),
            case(spaced(7), q=1.0),
            *[case(spaced(7), q=0.4, method=m) for m in ("lower", "higher", "nearest", "midpoint")],
        ],
        error="sum",
    )
for name in ("percentile", "nanpercentile"):
    row(name, getattr(np, name), [case(spaced(7), q=30), case(spaced(3, 4), q=75, axis=0)], error="sum")
row(
    "average",
    lambda x, w, **p: np.average(x, weights=w, **p),
    [case(X, positive(3, 4)), case(X, positive(4), axis=1), case(X, positive(3, 4), axis=0)],
    lambda x, w, **p: at.average(x, weights=w, **p),
    error="sum",
    magnitude=lambda x, w, **p: 16 + 0 * np.average(x, weights=w, **p),
)
row(
    "count_nonzero",
    np.count_nonzero,
    [case(integer(3, 4, low=0, high=1)), case(integer(3, 4, low=0, high=1), axis=1)],
    **INT64,
)
row(
    "trapezoid",
    lambda y, x=None, **p: (
        0.5 * np.sum((y[1:] + y[:-1]) * (1.0 if x is None else np.diff(x)), axis=0) * p.get("dx", 1.0)
    ),
    [case(real(7)), case(real(7), dx=0.5), case(real(7), spaced(7))],
    error="sum",
    magnitude=lambda y, x=None, **p: np.sum(y) * 24,
)
row(
    "gradient",
    lambda f, **p: np.gradient(f, **p),
    [case(real(7)), case(real(7), edge_order=2), case(real(4, 5), axis=1)],
    error=4.0,
)
row("ediff1d", np.ediff1d, [case(real(7)), case(X)], error=1.0)
row("corrcoef", np.corrcoef, [case(real(3, 7))], error="sum", magnitude=lambda x, **p: 64 * np.ones((3, 3)))
row(
    "sum where",
    lambda x, m, **p: np.sum(x, where=m, **p),
    [case(X, boolean(3, 4)), case(X, boolean(3, 4), axis=0, initial=2.5)],
    lambda x, m, **p: at.sum(x, where=m, **p),
    error="sum",
    covers=(),
)
row(
    "max where",
    lambda x, m: np.max(x, axis=1, where=m, initial=-9),
    [case(spaced(3, 4), boolean(3, 4))],
    lambda x, m: at.max(x, axis=1, where=m, initial=-9),
    covers=(),
)

# Products
row("inner", np.inner, [case(real(4), real(4)), case(X, real(2, 4)), case(X, real(4))], error="sum")
row(
    "vdot",
    np.vdot,
    [case(real(4), real(4)), case(X, Y), case(real(3, dtype="complex128"), real(3, dtype="complex128"), smooth=False)],
    error="sum",
)
row(
    "vecdot",
    lambda x, y, axis=-1: np.sum(x * y, axis),
    [case(X, Y), case(X, Y, axis=0), case(real(2, 3, 4), real(4))],
    error="sum",
)
row(
    "matvec",
    lambda x, y: np.einsum("...ij,...j->...i", x, y),
    [case(X, real(4)), case(real(2, 3, 4), real(2, 4)), case(real(2, 3, 4), real(4))],
    error="sum",
)
row(
    "vecmat",
    lambda x, y: np.einsum("...i,...ij->...j", x, y),
    [case(real(3), X), case(real(2, 3), real(2, 3, 4))],
    error="sum",
)
row(
    "cross",
    np.cross,
    [
        case(real(3, static=(3,)), real(3, static=(3,))),
        case(real(5, 3, static=(None, 3)), real(5, 3, static=(None, 3))),
        case(real(3, 5, static=(3, None)), real(3, 5, static=(3, None)), axis=0),
    ],
    error="sum",
    magnitude=lambda x, y, **p: 2 * np.abs(x) * np.max(y) + 18,
)
EINSUM = [
    ("ij,jk->ik", (3, 4), (4, 2)),
    ("ij->ji", (3, 4)),
    ("ij->", (3, 4)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("i,j->ij", (3,), (4,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 2)),
    ("ij,ij->i", (3, 4), (3, 4)),
    ("ijk,jl,kl->il", (2, 3, 4), (3, 2), (4, 2)),
    ("ij,j", (3, 4), (4,)),
]
row(
    "einsum",
    lambda *xs, subscripts: np.einsum(subscripts, *xs),
    [case(*[real(*s) for s in shapes], subscripts=text) for text, *shapes in EINSUM],
    lambda *xs, subscripts: at.einsum(subscripts, *xs),
    error="sum",
)
row(
    "correlate",
    np.correlate,
    [case(real(7), real(3)), case(real(7), real(3), mode="full"), case(real(5), real(3), mode="same")],
    error="sum",
)

# Windows
for name in ("hamming", "hanning", "blackman"):
    row(
        name,
        getattr(np, name),
        [case(exactly(7)), case(exactly(1)), case(exactly(12))],
        error="sum",
        gradient=False,
        magnitude=lambda n: 4 + np.zeros(n),
        dtype=lambda *_: "float64",
    )
row(
    "kaiser",
    lambda n, beta: np.kaiser(n, beta),
    [case(exactly(7), real(low=1, high=8))],
    error="sum",
    gradient=False,
    magnitude=lambda n, beta: 8 + np.zeros(n),
)

# Searching, sets and counting
row("argwhere", np.argwhere, [case(integer(3, 4, low=0, high=1))], **{**INT64, "needs_values": "how many there are"})
row("extract", lambda c, x: np.extract(c, x), [case(boolean(3, 4), X)], at.extract, needs_values="how many there are")
row(
    "digitize",
    np.digitize,
    [case(real(9), exactly([-1.0, 0.0, 2.0])), case(real(9), exactly([-1.0, 0.0, 2.0]), right=True)],
    **INT64,
)
row(
    "isin",
    np.isin,
    [case(integer(3, 4), integer(3)), case(integer(5), integer(2), invert=True)],
    gradient=False,
)
A, B = integer(6, low=0, high=5), integer(5, low=0, high=5)
for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d"):
    row(name, getattr(np, name), [case(A, B)], **COUNTED)
row("unique_values", np.unique, [case(A)], **COUNTED)
row(
    "histogram",
    lambda x, **p: list(np.histogram(x, **p)),
    [case(real(19), bins=5), case(real(19), bins=4, range=(-2.0, 2.0))],
    gradient=False,
    error="sum",
    magnitude=lambda x, bins, **p: [np.zeros(bins), 16 + np.zeros(bins + 1)],
)
row(
    "put_along_axis",
    lambda x, i, y, axis: (lambda z: (np.put_along_axis(z, i, y, axis), z)[1])(x.copy()),
    [case(X, exactly([[0, 1], [3, 2], [1, -1]]), real(3, 2), axis=1)],
    lambda x, i, y, axis: at.put_along_axis(x, i, y, axis),
)
row(
    "interp",
    np.interp,
    [
        case(real(9), exactly([-2.0, 0.0, 1.0, 2.5]), real(4)),
        case(real(9, low=-5, high=5), exactly([-2.0, 0.0, 1.0]), real(3), left=-1.0, right=7.0),
    ],
    error="sum",
    magnitude=lambda x, xp, fp, **p: 32 + 0 * x,
)

# Other names, and functions that differ from others in a parameter
row("amax", np.max, [case(spaced(3, 4), axis=0), case(spaced(3, 4), axis=1, keepdims=True)])
row("amin", np.min, [case(spaced(3, 4), axis=0), case(spaced(3, 4), axis=1, keepdims=True)])


def running(function: Any, start: float) -> Any:
    def oracle(x: np.ndarray, axis: int = 0, include_initial: bool = False) -> np.ndarray:
        y = function(x, axis=axis)
        first = np.full_like(np.take(y, [0], axis), start)
        return np.concatenate([first, y], axis) if include_initial else y

    return oracle


RUNNING = [case(real(7)), case(X, axis=1), case(X, axis=0, include_initial=True)]
row("cumulative_sum", running(np.cumsum, 0.0), RUNNING, error="sum")
row("cumulative_prod", running(np.cumprod, 1.0), RUNNING, error="sum")
row(
    "broadcast_shapes",
    lambda x, y: [np.int64(n) for n in np.broadcast_shapes(x.shape, y.shape)],
    [case(real(3, 1, static=(None, 1)), real(4))],
    lambda x, y: at.broadcast_shapes(x.shape, y.shape),
    gradient=False,
)
row(
    "diag_indices",
    lambda n: list(np.diag_indices(n)),
    [case(exactly(4))],
    lambda n: list(at.diag_indices(n)),
    gradient=False,
)
row("diagflat", np.diagflat, [case(real(3)), case(real(2, 2), k=1), case(real(3), k=-2)])
row("ix_", lambda *xs: list(np.ix_(*xs)), [case(integer(3), integer(2))], gradient=False)
row(
    "ldexp",
    np.ldexp,
    [case(X, integer(3, 4)), case(exactly([np.inf, np.nan, 1.0, -0.0]), exactly([3, 3, 2000, 5]), smooth=False)],
)
row(
    "lexsort",
    lambda a, b: np.lexsort((a, b)),
    [case(integer(9, low=0, high=3), integer(9, low=0, high=3))],
    lambda a, b: at.lexsort((a, b)),
    **INT64,
)
row(
    "partition",
    lambda x, kth, axis=-1: np.sort(np.partition(x, kth, axis), axis),
    [case(spaced(7), kth=2), case(spaced(3, 4), kth=1, axis=0)],
    lambda x, kth, axis=-1: at.sort(at.partition(x, kth, axis), axis),
)
row(
    "argpartition",
    lambda x, kth: np.argpartition(x, kth)[kth],
    [case(spaced(7), kth=2)],
    lambda x, kth: at.argpartition(x, kth)[kth],
    **INT64,
)
row("unique_counts", lambda x: list(np.unique(x, return_counts=True)), [case(A)], **COUNTED)
row("unique_inverse", lambda x: list(np.unique(x, return_inverse=True)), [case(A)], **COUNTED)
