"""Rows of reading and writing by index. An index is given as text, in which `i`, `j`, ... are the other inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

import aesara.tensor as at
from tests.optable.inputs import ALL, boolean, exactly, integer, real, spaced
from tests.optable.table import case, row


class _Any:
    """Gives back the index it is asked for."""

    def __getitem__(self, index: Any) -> Any:
        return index


def index_of(text: str, inputs: Any) -> Any:
    return eval(f"any_[{text}]", {"any_": _Any(), "np": np, **dict(zip("ijkl", inputs))})


def read(x: Any, *inputs: Any, index: str) -> Any:
    result = x[index_of(index, inputs)]
    return np.array(result) if isinstance(x, np.ndarray) else result


def written(x: np.ndarray, y: np.ndarray, *inputs: Any, index: str) -> np.ndarray:
    result = x.copy()
    result[index_of(index, inputs)] = y
    return result


def increased(x: np.ndarray, y: np.ndarray, *inputs: Any, index: str) -> np.ndarray:
    result = x.copy()
    np.add.at(result, index_of(index, inputs), y)
    return result


def set_at(x: Any, y: Any, *inputs: Any, index: str) -> Any:
    return at.set_subtensor(x[index_of(index, inputs)], y)


def add_at(x: Any, y: Any, *inputs: Any, index: str) -> Any:
    return at.inc_subtensor(x[index_of(index, inputs)], y)


X = real(5, 6)
BASIC = [
    "2",
    "-1, 3",
    "1:4",
    ":, 2:5",
    "::-1",
    "::2, ::-3",
    "1:100",
    "4:1:-1",
    "5:2",
    "None, 1",
    "..., 2",
    "..., None, :, 1",
    ":3, ..., 1",
    "-2:, -1",
    "()",
    "np.newaxis, ..., np.newaxis",
    "-100:100:7",
    "::-2, 1",
]
basic = [case(X, index=text) for text in BASIC]
row("basic index", read, basic, read, dtypes=ALL, dtype_cases=basic[2:6])
row(
    "basic index of many dimensions",
    read,
    [case(real(2, 3, 4), index=t) for t in ("1, :, 2", "..., ::2", ":, None, 1:, 0", "::-1, ::-1, ::-1")],
    read,
)
row("index of nothing", read, [case(real(0, 3), index=t) for t in (":", "::-1", ":, 1", "1:5", ":0")], read)
row(
    "symbolic bounds",
    read,
    [
        case(X, exactly(1), exactly(4), index="i:j"),
        case(X, exactly(-1), exactly(-9), index="i:j:-1"),
        case(X, exactly(2), index="i"),
        case(X, exactly(-2), exactly(3), index=":, i:j"),
        case(X, exactly(7), exactly(100), index="i:j"),
        case(X, exactly(-3, "int8"), index="i:"),
        case(X, exactly(2), index="::i"),
        case(X, exactly(-2), index="::i, ::i"),
        case(X, exactly(1), exactly(3), index="i, j"),
        case(X, exactly(200, "uint8"), index=":i"),
    ],
    read,
    needs_values="the bounds",
    covers=(),
)

I3, J3 = integer(3, low=-5, high=4), integer(3, low=-6, high=5)
ADVANCED = [
    case(X, I3, index="i"),
    case(X, J3, index=":, i"),
    case(X, I3, J3, index="i, j"),
    case(X, I3, index="i, 2"),
    case(X, I3, index="i, 1:4"),
    case(X, I3, index="None, i"),
    case(X, I3, J3, index="i[:, None], j"),
    case(X, integer(2, 3, low=-5, high=4), index="i"),
    case(X, integer(0, low=0, high=0), index="i"),
    case(X, integer(3, low=-5, high=4, dtype="int8"), index="i"),
    case(X, integer(3, low=0, high=4, dtype="uint16"), index="i"),
    case(real(3, 4, 5), integer(2, low=-3, high=2), integer(2, low=-5, high=4), index="i, :, j"),
    case(real(3, 4, 5), integer(2, low=-4, high=3), integer(2, low=-5, high=4), index=":, i, j"),
    case(real(3, 4, 5), integer(2, low=-4, high=3), index="0, i"),
    case(real(3, 4, 5), integer(2, low=-4, high=3), index="0, :, i"),
    case(real(3, 4, 5), integer(2, low=-4, high=3), index="::2, i, ::-1"),
    case(X, integer(low=-5, high=4), I3, index="i, j"),
]
row("integer arrays as index", read, ADVANCED, read, dtypes=ALL, dtype_cases=ADVANCED[:3])
MASKS = [
    case(X, boolean(5), index="i"),
    case(X, boolean(5, 6), index="i"),
    case(X, boolean(6), index=":, i"),
    case(X, boolean(5), index="i, 2"),
    case(X, boolean(5), index="i, 1:3"),
]
row("truth values as index", read, MASKS, read, needs_values="the number of truths")

Y = real(low=1, high=2)
WRITES = [
    case(X, real(3, 6), index="1:4"),
    case(X, real(6), index="1:4"),
    case(X, real(), index="::2"),
    case(X, real(5), index=":, 2"),
    case(X, real(), index="1, 2"),
    case(X, real(2, 3), index="1:3, ::2"),
    case(X, real(5, 6), index="::-1"),
    case(X, real(3, 6), exactly(1), index="i:i + 3"),
    case(X, real(6), exactly(-1), index="i"),
]
row("set_subtensor", written, WRITES, set_at, dtypes=ALL, dtype_cases=WRITES[:2])
row("inc_subtensor", increased, WRITES, add_at, dtypes=[d for d in ALL if d != "bool"], dtype_cases=WRITES[:2])
DISTINCT = exactly([0, -1, 2])
SCATTERS = [
    case(X, real(3, 6), DISTINCT, index="i"),
    case(X, real(6), DISTINCT, index="i"),
    case(X, real(), DISTINCT, index="i"),
    case(X, real(5, 3), DISTINCT, index=":, i"),
    case(X, real(3), DISTINCT, exactly([1, 5, 0]), index="i, j"),
    case(X, real(3), DISTINCT, index="i, 2"),
    case(X, real(3, 2), DISTINCT, index="i, 1:3"),
]
row("set at integer arrays", written, SCATTERS, set_at, dtypes=ALL, dtype_cases=SCATTERS[:1], covers=("set_subtensor",))
REPEATED = [
    case(X, real(3, 6), I3, index="i"),
    case(X, real(6), I3, index="i"),
    case(X, real(), I3, index="i"),
    case(X, real(5, 3), J3, index=":, i"),
    case(X, real(3), I3, J3, index="i, j"),
    case(X, real(3), I3, index="i, 2"),
    case(X, real(2, 3, 6), integer(2, 3, low=-5, high=4), index="i"),
    case(X, real(3, 2), I3, index="i, 1:3"),
]
row(
    "add at integer arrays",
    increased,
    REPEATED,
    add_at,
    error=2.0,
    dtypes=[d for d in ALL if d != "bool"],
    dtype_cases=REPEATED[:1],
    covers=("inc_subtensor",),
)
row(
    "set at truth values",
    written,
    [
        case(X, real(), boolean(5), index="i"),
        case(X, real(6), boolean(5), index="i"),
        case(X, real(), boolean(5, 6), index="i"),
    ],
    set_at,
)
row(
    "add at truth values",
    increased,
    [case(X, real(), boolean(5), index="i"), case(X, real(), boolean(5, 6), index="i")],
    add_at,
)
row(
    "add once at integer arrays",
    lambda x, y, i, index: (lambda z: (z.__setitem__(i, z[i] + y), z)[1])(x.copy()),
    [case(X, real(3, 6), DISTINCT, index="i")],
    lambda x, y, i, index: at.inc_subtensor(x[i], y, ignore_duplicates=True),
)

row(
    "take",
    lambda x, i, **p: np.take(x, i, **p),
    [
        case(X, I3, axis=0),
        case(X, J3, axis=1),
        case(X, integer(2, 3, low=-30, high=29)),
        case(X, integer(low=-5, high=4), axis=0),
        case(X, integer(4, low=-20, high=20), axis=1, mode="wrap"),
        case(X, integer(4, low=-20, high=20), axis=0, mode="clip"),
    ],
    dtypes=ALL,
)
row(
    "take_along_axis",
    np.take_along_axis,
    [
        case(X, integer(5, 2, low=-6, high=5), axis=1),
        case(X, integer(3, 6, low=-5, high=4), axis=0),
        case(real(7), integer(3, low=-7, high=6), axis=0),
        case(X, integer(4, low=-30, high=29), axis=None),
    ],
)
row(
    "choose",
    lambda i, a, b, c: np.choose(i, [a, b, c]),
    [
        case(integer(4, low=0, high=2), real(4), real(4), real(4)),
        case(integer(3, 4, low=0, high=2), real(3, 4), real(3, 4), real(3, 4)),
    ],
    lambda i, a, b, c: at.choose(i, [a, b, c]),
)
row(
    "compress",
    lambda x, c, axis=None: np.compress(c, x, axis),
    [case(X, boolean(5), axis=0), case(X, boolean(6), axis=1), case(X, boolean(30))],
    lambda x, c, axis=None: at.compress(c, x, axis),
    needs_values="the number of truths",
)


def one_hot(y: np.ndarray, nb_class: int) -> np.ndarray:
    return np.eye(nb_class)[y]


def _permuted(x: np.ndarray, y: np.ndarray, inverse: int = 0) -> np.ndarray:
    x2, y2 = np.broadcast_arrays(x, y)
    return np.take_along_axis(x2, np.argsort(y2, -1) if inverse else y2, -1)


row("to_one_hot", one_hot, [case(integer(5, low=0, high=3), nb_class=4)], at.extra_ops.to_one_hot, gradient=False)
row("inverse_permutation", np.argsort, [case(exactly([2, 0, 1, 3])), case(exactly([0]))], gradient=False)
row(
    "permute_row_elements",
    _permuted,
    [
        case(real(4), exactly([2, 0, 1, 3])),
        case(real(2, 3), exactly([[2, 0, 1], [0, 2, 1]])),
        case(real(2, 3), exactly([2, 0, 1])),
        case(real(4), exactly([2, 3, 1, 0]), inverse=1),
    ],
)
row(
    "nonzero",
    lambda x: list(np.nonzero(x)),
    [case(integer(7, low=0, high=1)), case(integer(3, 4, low=0, high=1)), case(boolean(5)), case(integer(0))],
    gradient=False,
    needs_values="the number of elements that are not zero",
    dtype=lambda *_, **p: "int64",
)
row(
    "flatnonzero",
    np.flatnonzero,
    [case(integer(3, 4, low=0, high=1))],
    gradient=False,
    needs_values="as nonzero",
    dtype=lambda *_, **p: "int64",
)
row("nonzero_values", lambda x: x[np.nonzero(x)], [case(spaced(3, 4), smooth=False)], needs_values="as nonzero")
row(
    "unravel_index",
    lambda i, dims, order="C": list(np.unravel_index(i, dims, order)),
    [
        case(integer(4, low=0, high=11), dims=(3, 4)),
        case(integer(2, 3, low=0, high=23), dims=(2, 3, 4), order="F"),
        case(integer(low=0, high=11), dims=(12,)),
    ],
    gradient=False,
)
row(
    "ravel_multi_index",
    lambda i, j, **p: np.ravel_multi_index((i, j), **p),
    [
        case(integer(4, low=0, high=2), integer(4, low=0, high=3), dims=(3, 4)),
        case(integer(4, low=0, high=2), integer(4, low=0, high=3), dims=(3, 4), order="F"),
        case(integer(4, low=-9, high=9), integer(4, low=-9, high=9), dims=(3, 4), mode="wrap"),
        case(integer(4, low=-9, high=9), integer(4, low=-9, high=9), dims=(3, 4), mode="clip"),
        case(integer(4, low=-9, high=9), integer(4, low=-9, high=9), dims=(3, 4), mode=("wrap", "clip")),
        case(integer(4, low=-9, high=9), integer(4, low=0, high=3), dims=(3, 4), mode=("clip", "raise"), order="F"),
    ],
    lambda i, j, **p: at.ravel_multi_index((i, j), **p),
    gradient=False,
)
