"""Rows of the functions that rearrange elements without changing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import aesara.tensor as at
from tests.optable.inputs import ALL, exactly, integer, real
from tests.optable.table import case, row

S = slice


def dimshuffled(x: np.ndarray, pattern: Sequence[int | str]) -> np.ndarray:
    kept = [d for d in pattern if d != "x"]
    dropped = tuple(d for d in range(x.ndim) if d not in kept)
    y = np.transpose(x, [*kept, *dropped]).reshape([x.shape[d] for d in kept])
    return y.reshape([1 if d == "x" else x.shape[d] for d in pattern])


row(
    "dimshuffle",
    dimshuffled,
    [
        case(real(3, 4), pattern=(1, 0)),
        case(real(3, 4), pattern=(1, "x", 0)),
        case(real(5), pattern=("x", 0)),
        case(real(), pattern=("x", "x")),
        case(real(2, 0, 3), pattern=(2, 0, 1)),
        case(real(2, 3, 4), pattern=(2, "x", 0, 1)),
        case(real(1, 3, static=(1, None)), pattern=(1,)),
    ],
    function=lambda x, pattern: x.dimshuffle(pattern),
    dtypes=ALL,
)
row(
    "transpose",
    np.transpose,
    [case(real(3, 4)), case(real(2, 3, 4), axes=(1, 2, 0)), case(real(5)), case(real(0, 2))],
    dtypes=ALL,
)
row("matrix method T", lambda x: x.T, [case(real(3, 4)), case(real(2, 3, 4))], lambda x: x.T)
row("swapaxes", np.swapaxes, [case(real(3, 4), axis1=0, axis2=1), case(real(2, 3, 4), axis1=-1, axis2=0)])
row(
    "moveaxis",
    np.moveaxis,
    [case(real(2, 3, 4), source=0, destination=-1), case(real(2, 3, 4), source=(0, 1), destination=(2, 0))],
)
row(
    "reshape",
    lambda x, newshape: np.reshape(x, newshape),
    [
        case(real(3, 4), newshape=(4, 3)),
        case(real(3, 4), newshape=(-1,)),
        case(real(3, 4), newshape=(2, -1, 2)),
        case(real(12), newshape=(3, 4)),
        case(real(1, 1), newshape=()),
        case(real(0, 3), newshape=(3, 0)),
        case(real(), newshape=(1, 1)),
    ],
    dtypes=ALL,
)
row(
    "reshape to sizes",
    lambda x, n: np.reshape(x, n),
    [case(real(3, 4), exactly([2, 6])), case(real(3, 4), exactly([-1, 3])), case(real(12), exactly([3, -1], "int32"))],
    lambda x, n: at.reshape(x, n, ndim=2),
    covers=("reshape",),
    needs_values="a length of -1",
)
row(
    "flatten",
    lambda x, ndim=1: x.reshape((*x.shape[: ndim - 1], -1)),
    [case(real(3, 4)), case(real(2, 3, 4), ndim=2), case(real()), case(real(0, 3)), case(real(5))],
    dtypes=ALL,
)
row("ravel", np.ravel, [case(real(3, 4)), case(real())], lambda x: x.ravel())
row(
    "expand_dims",
    np.expand_dims,
    [case(real(3, 4), axis=0), case(real(3, 4), axis=-1), case(real(3), axis=(0, 2)), case(real(), axis=0)],
)
row(
    "squeeze",
    np.squeeze,
    [
        case(real(1, 3, 1, static=(1, None, 1))),
        case(real(1, 3, static=(1, None)), axis=0),
        case(real(3, 1, 1, static=(None, 1, 1)), axis=(1, 2)),
        case(real(3, 1, static=(None, 1)), axis=-1),
    ],
)


def padded(n: int, left: bool = True) -> Any:
    def oracle(*xs: np.ndarray) -> Any:
        made = [x.reshape((1,) * (n - x.ndim) + x.shape if left else x.shape + (1,) * (n - x.ndim)) for x in xs]
        return made if len(made) > 1 else made[0]

    return oracle


row("atleast_1d", padded(1), [case(real()), case(real(3)), case(real(), real(2, 3))])
row("atleast_2d", padded(2), [case(real()), case(real(3)), case(real(2, 3, 4))])
row("atleast_3d", padded(3), [case(real()), case(real(3)), case(real(2, 3))])
row("atleast_Nd", lambda *xs, n, left=True: padded(n, left)(*xs), [case(real(3), n=3), case(real(3), n=2, left=False)])
row(
    "shape_padleft", lambda x, n_ones=1: x.reshape((1,) * n_ones + x.shape), [case(real(3, 4)), case(real(3), n_ones=2)]
)
row(
    "shape_padright",
    lambda x, n_ones=1: x.reshape(x.shape + (1,) * n_ones),
    [case(real(3, 4)), case(real(3), n_ones=2)],
)
row("shape_padaxis", np.expand_dims, [case(real(3, 4), axis=1), case(real(3), axis=-1)])
row("shape", lambda x: np.array(x.shape, "int64"), [case(real(3, 4)), case(real()), case(real(0, 2))], gradient=False)
row("size", lambda x: np.int64(x.size), [case(real(3, 4)), case(real())], lambda x: x.size, gradient=False)
row(
    "specify_shape",
    lambda x, shape: x,
    [case(real(3, 4), shape=(3, 4)), case(real(3, 4), shape=(None, 4)), case(real(), shape=())],
)
row(
    "unbroadcast",
    lambda x, axis: x,
    [case(real(1, 4, static=(1, None)), axis=0)],
    lambda x, axis: at.unbroadcast(x, axis),
)
row(
    "specify_broadcastable",
    lambda x, axis: x,
    [case(real(1, 4), axis=0)],
    lambda x, axis: at.specify_broadcastable(x, axis),
)
row(
    "broadcast_to",
    lambda x, shape: np.broadcast_to(x, shape).copy(),
    [
        case(real(4), shape=(3, 4)),
        case(real(3, 1, static=(None, 1)), shape=(3, 4)),
        case(real(), shape=(2, 3)),
        case(real(1, static=(1,)), shape=(0,)),
    ],
    dtypes=ALL,
)
row(
    "broadcast_to sizes",
    lambda x, n: np.broadcast_to(x, tuple(n)).copy(),
    [case(real(4), exactly([3, 4]))],
    lambda x, n: at.broadcast_to(x, (n[0], n[1])),
    covers=("broadcast_to",),
)
row(
    "broadcast_arrays",
    lambda *xs: [y.copy() for y in np.broadcast_arrays(*xs)],
    [case(real(3, 1, static=(None, 1)), real(4)), case(real(), real(2, 3))],
)
row(
    "broadcast_shape",
    lambda *xs: [np.int64(n) for n in np.broadcast_shapes(*[x.shape for x in xs])],
    [case(real(3, 1, static=(None, 1)), real(4)), case(real(), real(2, 3))],
    gradient=False,
    covers=("broadcast_shape_iter",),
)
row(
    "tile",
    lambda x, reps: np.tile(x, reps),
    [
        case(real(3), reps=(2,)),
        case(real(3, 4), reps=(2, 1)),
        case(real(3), reps=(2, 2)),
        case(real(2, 3), reps=(2,)),
        case(real(3), reps=(0,)),
    ],
    dtypes=ALL,
)
row(
    "repeat",
    np.repeat,
    [
        case(real(3), repeats=2),
        case(real(3, 4), repeats=2, axis=0),
        case(real(3, 4), repeats=3, axis=1),
        case(real(3, 4), repeats=2),
        case(real(3), repeats=0),
    ],
    dtypes=ALL,
)
row(
    "repeat by counts",
    lambda x, n, axis: np.repeat(x, n, axis),
    [case(real(3), integer(3, low=0, high=3), axis=0), case(real(2, 3), integer(3, low=0, high=3), axis=1)],
    lambda x, n, axis: at.repeat(x, n, axis),
    covers=("repeat",),
    needs_values="the sum of the counts",
)
row(
    "roll",
    np.roll,
    [
        case(real(7), shift=2),
        case(real(3, 4), shift=-1, axis=0),
        case(real(3, 4), shift=5, axis=1),
        case(real(3, 4), shift=1),
        case(real(0), shift=1),
    ],
    dtypes=ALL,
)
row(
    "roll by a variable",
    lambda x, n: np.roll(x, n, 0),
    [case(real(7), integer(low=-9, high=9)), case(real(3, 4), integer())],
    lambda x, n: at.roll(x, n, 0),
    covers=("roll",),
)

row(
    "join",
    lambda *xs, axis: np.concatenate(xs, axis=axis),
    [
        case(real(3, 4), real(2, 4), axis=0),
        case(real(3, 4), real(3, 1), axis=1),
        case(real(3), real(0), real(2), axis=0),
        case(real(2, 3), real(2, 3), axis=-1),
        case(real(1, 3), real(2, 3), axis=0),
    ],
    function=lambda *xs, axis: at.join(axis, *xs),
    dtypes=ALL,
)
row(
    "join of dtypes",
    lambda *xs: np.concatenate(xs),
    [case(real(3, dtype="float32"), integer(2, dtype="int8"), real(2))],
    function=lambda *xs: at.join(0, *xs),
    covers=("join",),
)
row(
    "concatenate",
    lambda *xs, axis=0: np.concatenate(xs, axis),
    [case(real(3), real(2)), case(real(3, 4), real(3, 2), axis=1)],
    lambda *xs, axis=0: at.concatenate(xs, axis),
)
row(
    "stack",
    lambda *xs, axis=0: np.stack(xs, axis),
    [
        case(real(3), real(3)),
        case(real(3, 4), real(3, 4), axis=1),
        case(real(), real(), real()),
        case(real(2, 3), real(2, 3), axis=-1),
    ],
    lambda *xs, axis=0: at.stack(xs, axis),
    dtypes=ALL,
)
row(
    "stacklists",
    lambda a, b, c, d: np.array([[a, b], [c, d]]),
    [case(real(), real(), real(), real()), case(real(3), real(3), real(3), real(3))],
    lambda a, b, c, d: at.stacklists([[a, b], [c, d]]),
)
row("horizontal_stack", lambda *xs: np.hstack(xs), [case(real(3, 2), real(3, 1))])
row("vertical_stack", lambda *xs: np.vstack(xs), [case(real(2, 3), real(1, 3))])
row(
    "make_vector",
    lambda *xs: np.stack(xs),
    [case(real(), real()), case(real(), integer()), case(real(dtype="float32"), real())],
    lambda *xs: at.as_tensor_variable(list(xs)),
    covers=("as_tensor_variable", "as_tensor"),
)


def _split(x: np.ndarray, sizes: Sequence[int], axis: int = 0) -> list[np.ndarray]:
    return [y.copy() for y in np.split(x, np.cumsum(sizes)[:-1], axis=axis)]


row(
    "split",
    _split,
    [
        case(real(5), sizes=(2, 3)),
        case(real(3, 6), sizes=(1, 2, 3), axis=1),
        case(real(4), sizes=(0, 4)),
        case(real(2, 4), sizes=(2, 2), axis=-1),
    ],
    lambda x, sizes, axis=0: at.split(x, list(sizes), len(sizes), axis=axis),
    dtypes=ALL,
)
row(
    "split at sizes",
    lambda x, n: _split(x, n),
    [case(real(5), exactly([2, 3])), case(real(5, 2), exactly([0, 5]))],
    lambda x, n: at.split(x, n, 2),
    covers=("split",),
    needs_values="the sizes",
)

row(
    "diagonal",
    lambda x, **p: np.diagonal(x, **p).copy(),
    [
        case(real(3, 4)),
        case(real(3, 4), offset=1),
        case(real(3, 4), offset=-2),
        case(real(2, 3, 4), axis1=0, axis2=2),
        case(real(2, 3, 4), offset=1, axis1=-1, axis2=1),
        case(real(3, 4), offset=9),
    ],
    dtypes=ALL,
)
row("extract_diag", lambda x: np.diag(x).copy(), [case(real(3, 4))])
row(
    "diag",
    lambda x, k=0: np.diag(x, k).copy(),
    [case(real(3)), case(real(3), k=1), case(real(3), k=-2), case(real(3, 4)), case(real(3, 4), k=1)],
    dtypes=ALL,
)
row("tril", np.tril, [case(real(3, 4)), case(real(3, 4), k=1), case(real(4, 3), k=-1)], dtypes=ALL)
row("triu", np.triu, [case(real(3, 4)), case(real(3, 4), k=1), case(real(4, 3), k=-1)], dtypes=ALL)


def _filled(x: np.ndarray, value: np.ndarray, offset: int = 0) -> np.ndarray:
    y = x.copy()
    rows, columns = y.shape
    for i in range(rows):
        if 0 <= i + offset < columns:
            y[i, i + offset] = value
    return y


row(
    "fill_diagonal",
    _filled,
    [case(real(3, 3), real()), case(real(3, 4), real()), case(real(3, 2), real())],
)
row(
    "fill_diagonal_offset",
    _filled,
    [case(real(3, 4), real(), offset=1), case(real(4, 3), real(), offset=-2), case(real(3, 3), real(), offset=0)],
)
row("tensor_copy", lambda x: x, [case(real(3, 4))], dtypes=ALL)
row(
    "tensor_from_scalar",
    lambda x: x,
    [case(real())],
    lambda x: at.tensor_from_scalar(at.scalar_from_tensor(x)),
    covers=("scalar_from_tensor",),
)
row("consider_constant", lambda x: x, [case(real(3), smooth=False)])
row("transfer", lambda x: x, [case(real(3))], lambda x: at.transfer(x, "cpu"))
