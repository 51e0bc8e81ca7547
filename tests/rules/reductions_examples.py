"""Examples of rules about reductions."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.reductions.sum_prod_max import Max, Min, Sum
from tests.rules.framework import example

SUMS = "sums are taken in another order, or in parts"
SCALED = "a sum is scaled rather than what it is taken of"
SIGN = "a sum of zeros, or of nothing, is 0 whatever their signs"
LARGE = "a sum may overflow before it is scaled, or what is scaled before it is summed"

REDUCTIONS = (at.sum, at.prod, at.max, at.min, at.all, at.any)

EXAMPLES = {
    "local_sum_of_multiple": [
        example(lambda m: (2 * m).sum(), regroups=SCALED, moderate=LARGE),
        example(lambda m, s: (m * s).sum(axis=0), regroups=SCALED, moderate=LARGE),
        example(lambda m, v, s: (m * s * v).sum(axis=1), regroups=SCALED, moderate=LARGE),
        example(lambda m: (m * at.constant(np.array([[0.3]]))).sum(), regroups=SCALED, moderate=LARGE),
    ],
    "local_sum_of_fraction": [
        example(
            lambda m, s: (m / s).sum(axis=0),
            regroups=SCALED,
            moderate=LARGE,
            assumes_finite="nothing is divided by zero",
        ),
    ],
    "local_sum_of_opposite": [
        example(lambda m: (-m).sum(axis=1), zeros=SIGN),
        example(lambda m: (-m).sum(), zeros=SIGN),
    ],
    "local_sum_prod_all_to_none": [
        *(lambda m, f=f: f(m, axis=(0, 1)) for f in REDUCTIONS),
        lambda v: v.sum(axis=0),
        lambda t: Sum(axis=(0, 1, 2), dtype="float64", acc_dtype="float64")(t),
    ],
    "local_op_of_op": [
        *(lambda t, f=f: f(f(t, axis=1), axis=0) for f in (at.max, at.min, at.all, at.any)),
        *(example(lambda t, f=f: f(f(t, axis=1), axis=0), regroups=SUMS, moderate=LARGE) for f in (at.sum, at.prod)),
        *(lambda t, f=f: f(f(t, axis=(0, 2))) for f in (at.max, at.min, at.all, at.any)),
        *(example(lambda t, f=f: f(f(t, axis=(0, 2))), regroups=SUMS, moderate=LARGE) for f in (at.sum, at.prod)),
        example(lambda t: at.sum(at.sum(t, axis=0, dtype="float64"), axis=1, dtype="float64"), regroups=SUMS),
        *(lambda t, f=f: f(f(t, axis=0, dtype="int8"), axis=1, dtype="int8") for f in (at.sum, at.prod)),
    ],
    "local_reduce_broadcastable": [
        *(example(lambda m, f=f: f(m[:1], axis=0), zeros=SIGN) for f in REDUCTIONS),
        *(lambda m, f=f: f(m[:, :1]) for f in REDUCTIONS),
        *(example(lambda s, f=f: f(s), zeros=SIGN) for f in REDUCTIONS),
        *(example(lambda m, f=f: f(m, axis=()), zeros=SIGN) for f in REDUCTIONS),
        example(lambda m: at.sum(m[:1], axis=0, keepdims=True, dtype="float32"), zeros=SIGN),
        lambda m: at.prod(m[:1] > 0, axis=0),
    ],
    "local_opt_alloc": [
        example(lambda s: at.alloc(s, 3, 2).sum(), regroups=SUMS, moderate="a multiple is rounded once"),
        example(lambda s, n1: at.alloc(s, n1, 2).sum(axis=0), regroups=SUMS, moderate="a multiple is rounded once"),
        example(lambda s, k: at.alloc(s, k).sum(), regroups=SUMS),
        lambda n1: at.ones((n1, 3)).sum(axis=1),
        lambda k: at.alloc(np.inf, k).sum(),
        lambda s: at.alloc(s, 3, 2).max(axis=0),
        lambda s: at.alloc(s, 3, 2).min(),
        lambda v: at.alloc(v[:1], 4, 5).max(),
        *(lambda v, f=f: f(at.alloc(v, 4, 5), axis=0) for f in (at.max, at.min)),
        *(lambda v, f=f: f(at.alloc(v, 3, 5)) for f in (at.max, at.min)),
        *(lambda m, f=f: f(at.alloc(m[:, None] > 0, 4, 3, 5), axis=(0, 1)) for f in (at.all, at.any)),
        *(lambda v, k, f=f: f(at.alloc(v > 0, k, 5), axis=0) for f in (at.all, at.any)),
        *(lambda s, k, f=f: f(at.alloc(s > 0, k)) for f in (at.all, at.any)),
        *(
            example(lambda v, k, f=f: f(at.alloc(v, k, 5), axis=0), regroups=SUMS, moderate=LARGE)
            for f in (at.sum, at.prod)
        ),
        example(lambda v, k: at.broadcast_to(v[:, None], (k, 5, 2)).sum(axis=(0, 1)), regroups=SUMS, moderate=LARGE),
        example(lambda s, k: at.alloc(s, 2, k, 2).prod(axis=(0, 1)), regroups=SUMS, moderate=LARGE),
        example(lambda v: at.alloc(v, 3, 5).sum(), regroups=SUMS, moderate=LARGE),
        example(lambda v, k: at.alloc(v, k, 5).sum(), regroups=SUMS, moderate=LARGE),
    ],
    "local_max_to_min": [
        lambda m: -at.max(-m, axis=0),
        lambda m: -Max(None)(-m),
        lambda t: -Max((0, 2))(-t),
    ],
    "local_min_to_max": [
        lambda m: -at.min(-m, axis=0),
        lambda m: -Min(None)(-m),
        lambda t: -Min((0, 2))(-t),
    ],
    "local_max_and_argmax": [
        lambda m: at.max_and_argmax(m, axis=0)[0],
        lambda m: at.max_and_argmax(m, axis=None)[0],
        lambda t: at.max_and_argmax(t, axis=(0, 2))[0],
    ],
    "local_careduce_fusion": [
        lambda x: at.exp(x).sum(),
        lambda m, v: (m * v).max(axis=1),
        lambda t: at.any(at.isnan(t), axis=(0, 2)),
    ],
    "local_dimshuffle_alloc": [
        lambda s, n1: at.alloc(s, n1, 2).dimshuffle("x", 0, 1),
        lambda v: at.alloc(v, 4, 5).dimshuffle("x", "x", 0, 1),
    ],
}
