"""Rows of the functions that make tensors from sizes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import aesara.tensor as at
from tests.optable.inputs import ALL, exactly, integer, real
from tests.optable.table import case, row

N = exactly(5)
F64 = {"dtype": "float64"}

row(
    "zeros",
    lambda n, dtype="float64": np.zeros((n, 3), dtype),
    [case(N), case(N, dtype="int8"), case(exactly(0))],
    lambda n, dtype=None: at.zeros((n, 3), dtype),
    gradient=False,
)
row(
    "ones",
    lambda n, dtype="float64": np.ones((n, 3), dtype),
    [case(N), case(N, dtype="bool")],
    lambda n, dtype=None: at.ones((n, 3), dtype),
    gradient=False,
)
row(
    "full",
    lambda n, x: np.full((n, 2), x),
    [case(N, real()), case(N, exactly(3, "int8"))],
    lambda n, x: at.full((n, 2), x),
)
row("empty", lambda n: np.zeros((n, 2)), [case(N)], lambda n: at.zeros_like(at.empty((n, 2))), gradient=False)
row("zeros_like", np.zeros_like, [case(real(3, 4)), case(integer(3), dtype="float32")], dtypes=ALL)
row("ones_like", np.ones_like, [case(real(3, 4)), case(integer(3), dtype="float32")], dtypes=ALL)
row(
    "full_like",
    lambda x, fill_value, dtype: np.full_like(x, fill_value, dtype),
    [case(real(3, 4), fill_value=2.5, dtype="float64"), case(integer(3), fill_value=7, dtype="float32")],
)
row(
    "full_like a tensor",
    lambda x, y: np.full(x.shape, y),
    [case(integer(3), real()), case(real(3), integer())],
    at.full_like,
    covers=("full_like",),
)
row("empty_like", np.zeros_like, [case(real(3, 4))], lambda x: at.zeros_like(at.empty_like(x)))
row(
    "alloc",
    lambda x, n: np.broadcast_to(x, (n, 3)).copy(),
    [case(real(), N), case(real(3), N), case(real(1, 3, static=(1, None)), N), case(real(), exactly(0))],
    lambda x, n: at.alloc(x, n, 3),
    dtypes=ALL,
)
row(
    "arange",
    lambda n, **p: np.arange(n, **p),
    [case(N), case(exactly(-2)), case(N, dtype="float32")],
    gradient=False,
)
row(
    "arange of bounds",
    lambda a, b, c, **p: np.arange(a, b, c, **p),
    [
        case(exactly(2), exactly(9), exactly(3)),
        case(exactly(9), exactly(2), exactly(-2)),
        case(exactly(0.0), exactly(1.0), exactly(0.3)),
        case(exactly(3), exactly(3), exactly(1)),
        case(exactly(0, "int8"), exactly(5, "int8"), exactly(2, "int8"), dtype="int8"),
    ],
    lambda a, b, c, **p: at.arange(a, b, c, **p),
    gradient=False,
    covers=("arange",),
    needs_values="the bounds",
    error=1.0,
)
row(
    "eye",
    lambda n, **p: np.eye(n, **p),
    [case(N), case(N, k=1), case(N, k=-2), case(exactly(0)), case(N, dtype="int32")],
    gradient=False,
)
row(
    "eye of sizes",
    lambda n, m, k: np.eye(n, m, k),
    [case(N, exactly(3), exactly(1)), case(exactly(2), exactly(6), exactly(-9)), case(N, N, exactly(4))],
    at.eye,
    gradient=False,
    covers=("eye",),
)
row("identity_like", lambda x: np.eye(*x.shape, dtype=x.dtype), [case(real(3, 4)), case(integer(2, 2))], gradient=False)
row(
    "tri",
    lambda n, k=0: np.tri(n, 4, k),
    [case(N), case(N, k=2), case(N, k=-1)],
    lambda n, k=0: at.tri(n, 4, k),
    gradient=False,
)
INDICES: dict[str, Any] = {
    "gradient": False,
    "needs_values": "numbers of elements",
}
row(
    "tril_indices",
    lambda n, **p: list(np.tril_indices(n, **p)),
    [case(N), case(N, k=1), case(N, m=3)],
    dtype=lambda *_, **p: "int64",
    **INDICES,
)
row(
    "triu_indices",
    lambda n, **p: list(np.triu_indices(n, **p)),
    [case(N), case(N, k=-1), case(N, m=7)],
    dtype=lambda *_, **p: "int64",
    **INDICES,
)
row(
    "tril_indices_from",
    lambda x, k=0: list(np.tril_indices_from(x, k)),
    [case(real(4, 4)), case(real(3, 5), k=1)],
    dtype=lambda *_, **p: "int64",
    **INDICES,
)
row(
    "triu_indices_from",
    lambda x, k=0: list(np.triu_indices_from(x, k)),
    [case(real(4, 4)), case(real(3, 5), k=1)],
    dtype=lambda *_, **p: "int64",
    **INDICES,
)
row("mgrid", lambda n: list(np.mgrid[0:n, 1:4]), [case(N)], lambda n: list(at.mgrid[0:n, 1:4]), gradient=False)
row("ogrid", lambda n: list(np.ogrid[0:n, 1:4]), [case(N)], lambda n: list(at.ogrid[0:n, 1:4]), gradient=False)
row(
    "linspace",
    lambda a, b, steps: np.linspace(a, b, steps),
    [case(real(), real(), steps=5), case(real(), real(), steps=2)],
    error="sum",
    magnitude=lambda a, b, steps: (a + b) * np.ones(steps),
    needs_values="the number of steps",
)
row(
    "logspace",
    lambda a, b, steps, base=10.0: np.logspace(a, b, steps, base=base),
    [case(real(), real(), steps=5), case(real(), real(), steps=4, base=2.0)],
    error="sum",
    magnitude=lambda a, b, steps, base=10.0: 8 * np.full(steps, base ** (a + b)),
    needs_values="steps",
)
row(
    "geomspace",
    lambda a, b, steps: np.geomspace(a, b, steps),
    [case(real(low=1, high=2), real(low=5, high=9), steps=5)],
    error="sum",
    magnitude=lambda a, b, steps: 8 * np.full(steps, a + b),
    needs_values="steps",
)
row(
    "bartlett",
    lambda n: np.bartlett(n),
    [case(N), case(exactly(1)), case(exactly(0)), case(exactly(12))],
    gradient=False,
    error=2.0,
)
