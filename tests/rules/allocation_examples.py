"""Examples of rules about what is repeated: allocations, broadcasting, different entries."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.shape import Unbroadcast
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.repeating import Repeat
from aesara.tensor.sort import topk_and_argtopk
from tests.rules.framework import example

ORDERED = ("float64", "float32", "int8", "uint8")


def counts(*values):
    return at.constant(np.array(values, dtype="int64"))


def row(v):
    return v.dimshuffle("x", 0)


def part_with_length_one(m):
    return at.specify_shape(m, (4, 5))[1:2, 2:].dimshuffle(1)


EXAMPLES = {
    "local_alloc_sink_dimshuffle": [
        lambda s, n: at.alloc(s, 1, n),
        lambda v: at.alloc(v, 1, 1, 5),
        lambda s: at.alloc(s, 1),
        lambda v, n: at.alloc(row(v), 1, n, 5),
    ],
    "local_useless_topk": [
        example(lambda m: topk_and_argtopk(m, 2)[0], dtypes=ORDERED),
        example(lambda m: topk_and_argtopk(m, -2, axis=0)[1], dtypes=ORDERED),
    ],
    "local_unbroadcast_before_function": [lambda v: Unbroadcast(0)(at.exp(row(v)))],
    "local_unbroadcast_twice": [lambda s: Unbroadcast(0)(Unbroadcast(1)(s.dimshuffle("x", "x")))],
    # different entries
    "local_Unique_scalar": [lambda s: Unique()(s), lambda s: Unique(True, True, True)(s)],
    "local_Unique_Alloc_lift": [
        lambda s, n: Unique()(at.alloc(s, n, 2)),
        lambda s, k: Unique()(at.alloc(s, k)),
        lambda v, k: Unique()(at.alloc(v, k, 5)),
        lambda v: Unique()(at.alloc(at.specify_shape(v, 5), 3, 5)),
        lambda v, n: Unique()(at.alloc(v.dimshuffle(0, "x"), 5, n)),
    ],
    "local_Unique_BroadcastTo_lift": [
        lambda s, k: Unique()(at.broadcast_to(s, (k, 2))),
        lambda v, k: Unique()(at.broadcast_to(v, (k, 5))),
        lambda v: Unique()(at.broadcast_to(at.specify_shape(v, 5), (3, 5))),
    ],
    "local_Unique_Repeat_lift": [
        lambda m, i: Unique()(Repeat(0)(m, i)),
        lambda m, k: Unique()(Repeat(1)(m, k)),
        lambda m: Unique()(Repeat(0)(m, counts(2, 0, 1, 3))),
        lambda m: Unique()(Repeat(0)(m, counts(2))),
        lambda m: Unique()(Repeat(None)(at.specify_shape(m, (4, 5))[:2, :2], counts(2, 2, 1, 3))),
    ],
    "local_Unique_second": [
        lambda m, s: Unique()(at.second(m, s)),
        example(lambda m, v: Unique()(at.second(m, v)), drops_checks="lengths that are not needed are not compared"),
    ],
    "local_Unique_Reshape_lift": [
        lambda m: Unique()(m.reshape((-1,))),
        lambda m: Unique(True, True, True)(m.reshape((5, 4))),
    ],
    "local_remove_scalar_BroadcastTo": [lambda s: BroadcastTo()(s)],
    # forms for the end
    "local_alloc_dimshuffle": [
        lambda v, n: at.alloc(row(v), n, 5),
        lambda s, n: at.alloc(s.dimshuffle("x", "x"), n, 2),
    ],
    "local_dimshuffle_subtensor": [
        part_with_length_one,
        lambda t: at.specify_shape(t, (3, 4, 5))[-1:, 1, ::9].dimshuffle(),
        lambda v: row(v)[:, 1:].dimshuffle(1),
    ],
    "local_reshape_dimshuffle": [lambda m: m.dimshuffle("x", 0, "x", 1).reshape((5, 4))],
}
