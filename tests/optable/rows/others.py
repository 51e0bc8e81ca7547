"""Rows of functions that are made of elementwise ones."""

from __future__ import annotations

import numpy as np
import scipy.special as sps

import aesara.tensor as at
from aesara import gradient
from aesara import scalar as aes
from aesara.raise_op import Assert, CheckAndRaise
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.extra_ops import cpu_contiguous
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.sum_prod_max import NonZeroCAReduce
from aesara.tensor.shapes.shape import Shape_i
from aesara.tensor.special import factorial, logit, poch
from tests.optable.inputs import ALL, FLOATS, exactly, integer, positive, real
from tests.optable.table import case, row

row("power", np.power, [case(positive(3, 4), real(3, 4)), case(positive(3, 4), real(4))], error=2.0)
row(
    "operator **",
    lambda x, n: x**n,
    [case(real(5), n=n) for n in (0, 1, 2, 3, 5, -1, -2, -5)]
    + [case(real(5, low=-1.2, high=1.2), n=17)]
    + [case(positive(5), n=n) for n in (0.5, -0.5, 1.5)],
    lambda x, n: x**n,
    error="sum",
    covers=(),
)
row(
    "conj",
    lambda z: z if z.dtype.kind != "c" else np.conj(z),
    [case(real(3)), case(real(3, 4, dtype="complex128"))],
    dtypes=ALL,
    covers=("conjugate",),
)
row(
    "divmod",
    lambda x, y: list(np.divmod(x, y)),
    [
        case(real(9, low=-9, high=9), positive(9)),
        case(integer(9, low=-9, high=9), exactly([1, 2, 3, -1, -2, -3, 4, 5, 6])),
    ],
)
row(
    "operators // and %",
    lambda x, y: [x // y, x % y],
    [case(real(9, low=-9, high=9), positive(9))],
    lambda x, y: [x // y, x % y],
)
row(
    "ceil_intdiv",
    lambda a, b: -(-a // b),
    [case(integer(9, low=-9, high=9), exactly([1, 2, 3, 1, 2, 3, 4, 5, 6]))],
    gradient=False,
)
row("round", np.round, [case(real(9)), case(exactly([0.5, 1.5, 2.5, -0.5, -1.5]), smooth=False)], dtypes=FLOATS)
row(
    "iround",
    lambda x: np.round(x).astype("int64"),
    [case(real(9)), case(exactly([0.5, 1.5, 2.5, -0.5]))],
    gradient=False,
)
row(
    "cast",
    lambda x, dtype: x.astype(dtype),
    [case(real(7), dtype=d, smooth=d == "float64") for d in (*FLOATS, "int32", "int8", "bool", "complex64")],
    dtypes=[d for d in ALL if d[0] != "c"],
)
row(
    "astype",
    lambda x, dtype: x.astype(dtype),
    [case(real(7), dtype="float32", smooth=False)],
    lambda x, dtype: x.astype(dtype),
)
CLOSE = [1.0, 1.0 + 1e-6, 1.1, np.inf, -np.inf, np.nan, 0.0, 1e-9]
row(
    "isclose",
    np.isclose,
    [case(exactly(CLOSE), exactly([1.0, 1, 1, np.inf, np.inf, np.nan, 1e-9, 0]), equal_nan=e) for e in (False, True)]
    + [case(integer(9), integer(9)), case(exactly(CLOSE[:3]), exactly([1.0, 1, 1]), rtol=1e-7)],
    gradient=False,
)
row(
    "allclose",
    np.allclose,
    [case(exactly(CLOSE[:2]), exactly([1.0, 1])), case(exactly(CLOSE[:3]), exactly([1.0, 1, 1]))],
    gradient=False,
)
row("smallest", lambda *xs: np.minimum.reduce(xs), [case(real(7), real(7)), case(real(7), real(7), real(7))])
row("clip method", lambda x: np.clip(x, -1, 1), [case(real(9))], lambda x: x.clip(-1, 1))
row(
    "logit",
    sps.logit,
    [case(real(9, low=0.05, high=0.95))],
    logit,
    error="sum",
    magnitude=lambda x: 2 + 1 / (1 - x),
    dtype=lambda d: d,
    dtypes=FLOATS,
)
row("poch", sps.poch, [case(positive(9), positive(9))], poch, error="sum", magnitude=lambda z, m: 16 * sps.poch(z, m))
row("factorial", sps.factorial, [case(positive(9))], factorial, error=4.0)

row(
    "gradient operators",
    lambda x: [x, x, x],
    [case(real(3), smooth=False)],
    lambda x: [gradient.zero_grad(x), gradient.disconnected_grad(x), gradient.undefined_grad(x)],
    covers=("zero_grad", "disconnected_grad", "undefined_grad"),
)
row(
    "grad_clip and grad_scale",
    lambda x: [x, x],
    [case(real(3), smooth=False)],
    lambda x: [gradient.grad_clip(x, -1, 1), gradient.grad_scale(x, 2.0)],
    covers=("grad_clip", "grad_scale"),
)
row("largest", lambda *xs: np.maximum.reduce(xs), [case(real(7), real(7)), case(real(7), real(7), real(7))])


# Ops that no function of `aesara.tensor` applies, or only with another default
row("default", lambda x, y: x, [case(real(3), real(3), smooth=False)], needs_values="which of the two there is")
row(
    "Assert", lambda x, c: x, [case(real(3), exactly(True))], lambda x, c: Assert("not so")(x, c), covers=("assert_op",)
)
row("CheckAndRaise", lambda x, c: x, [case(real(3), exactly(True))], lambda x, c: CheckAndRaise(ValueError, "no")(x, c))
row("cpu_contiguous", lambda x: x, [case(real(3, 4))], cpu_contiguous)
row("shape_i", lambda x: np.int64(x.shape[1]), [case(real(3, 4))], lambda x: Shape_i(1)(x), gradient=False)
row(
    "Mean",
    lambda x, axis: np.mean(x, axis),
    [case(real(3, 4), axis=1)],
    lambda x, axis: at.mean(x, axis, op=True),
    error="sum",
)
row(
    "CAReduce",
    lambda x: np.add.reduce(x, 1),
    [case(real(3, 4))],
    lambda x: CAReduce(aes.add, 1)(x),
    error="sum",
    gradient=False,
)
row(
    "NonZeroCAReduce",
    lambda x: x.any(1),
    [case(integer(3, 4, low=0, high=1))],
    lambda x: NonZeroCAReduce(aes.or_, 1)(at.neq(x, 0)),
    gradient=False,
)
row(
    "InRange",
    lambda x, a, b: ((x >= a) & (x < b)).astype("int8"),
    [case(real(7), real(), real())],
    lambda x, a, b: Elemwise(aes.InRange(openlow=False, openhi=True))(x, a, b),
    gradient=False,
)
SIGNED = exactly([2**63 - 1, -1, 0, 5, -(2**63), 2**63 - 1, 7], "int64")
UNSIGNED = exactly([2**63, 2**64 - 1, 0, 5, 2**63, 2**63 - 1, 6], "uint64")
row(
    "comparisons that no common dtype holds",
    lambda x, y: [f(x, y) for f in (np.less, np.greater, np.less_equal, np.greater_equal, np.equal, np.not_equal)],
    [case(SIGNED, UNSIGNED), case(UNSIGNED, SIGNED), case(integer(7, dtype="int8"), UNSIGNED)],
    lambda x, y: [f(x, y) for f in (at.lt, at.gt, at.le, at.ge, at.eq, at.neq)],
    gradient=False,
)
