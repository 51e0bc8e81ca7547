"""Examples of rules of elementary arithmetic and comparison."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.shape import Shape_i
from tests.rules.framework import example

ABSORBED = "zero times or over infinity or NaN is taken for zero"
SIGN = "a zero of a rule has no sign"
UNUSED = "what is not computed is not checked"
FLOATS = ("float64", "float32", "float16")
REGROUPED = "factors and terms are put together in another order"
ORDERED = {
    "regroups": REGROUPED,
    "zeros": SIGN,
    "moderate": "a part may overflow where the whole does not",
}
SOFTMAX = {"dtypes": FLOATS, "regroups": REGROUPED}
ROUNDED = "a product may overflow, or be zero, before it is divided by its factor"
CANCELLED = {
    "regroups": REGROUPED,
    "zeros": SIGN,
    "assumes_finite": "infinity minus infinity is zero, and infinity over infinity one",
    "drops_checks": "what has cancelled is not checked",
}

ROWS = {
    "local_zero_div": {"assumes_finite": ABSORBED, "zeros": SIGN},
    "local_elemwise_sub_zeros": {"assumes_finite": "infinity less itself is taken for zero"},
}

EXAMPLES = {
    "local_mul_zero": [
        example(lambda x: x * 0, assumes_finite=ABSORBED, zeros=SIGN),
        example(lambda x, y: x * np.float64(0) * y, assumes_finite=ABSORBED, zeros=SIGN, drops_checks=UNUSED),
        example(lambda x: at.alloc(0, 1) * x, assumes_finite=ABSORBED, zeros=SIGN),
    ],
    "local_zero_div": [
        example(lambda x: 0 / x, assumes_finite=ABSORBED, zeros=SIGN),
        example(lambda x: np.int8(0) // x, assumes_finite=ABSORBED, zeros=SIGN),
        example(lambda x, y: at.zeros((1,)) / (x + y), assumes_finite=ABSORBED, zeros=SIGN, drops_checks=UNUSED),
    ],
    "local_intdiv_by_one": [lambda x: x // np.float32(1), lambda x: x // at.ones((1,), "int8")],
    "local_mul_switch_sink_first": [
        example(lambda x, b: at.switch(b, 0, x) * -3, zeros=SIGN),
        example(lambda x, b: at.switch(b, at.zeros((1,)), x) * np.int8(5), zeros=SIGN),
    ],
    "local_mul_switch_sink_second": [
        example(lambda x, y, b: at.switch(b, x, np.float64(0)) * (y > 1), zeros=SIGN),
        example(lambda x, y, b: (y > 1) * at.switch(b, x, 0) * np.float32(2), zeros=SIGN, regroups=REGROUPED),
        example(lambda x, y, b: at.mul(y > 1, at.switch(b, x, 0), 2), zeros=SIGN, regroups=REGROUPED),
    ],
    "local_div_switch_sink_first": [example(lambda x, b: at.switch(b, 0, x) / np.float32(np.inf), zeros=SIGN)],
    "local_div_switch_sink_second": [
        example(lambda x, b: at.switch(b, x, np.float32(0)) / 7, zeros=SIGN),
        example(lambda x, b: at.switch(b, x, 0.0) // -2, zeros=SIGN),
    ],
    "local_different_from_itself": [example(lambda x: at.neq(x, x), dtypes=("int8", "uint8", "int64"))],
    "local_equal_to_itself": [
        example(lambda x, op=op: op(x, x), dtypes=("int8", "uint8", "int64")) for op in (at.le, at.ge, at.eq)
    ],
    "local_length_below_zero": [
        lambda m: Shape_i(0)(m) < 0,
        lambda m: Shape_i(1)(m) < -1,
        lambda m: Shape_i(0)(m) + Shape_i(1)(m) < 0,
    ],
    "local_length_is_negative": [
        lambda m: Shape_i(1)(m) <= -1,
        lambda m: at.eq(Shape_i(1)(m), -1),
        lambda m: at.eq(np.float32(-0.5), Shape_i(1)(m)),
    ],
    "local_length_from_zero": [
        lambda m: Shape_i(0)(m) >= 0,
        lambda m: Shape_i(1)(m) >= -1,
        lambda m: Shape_i(0)(m) + Shape_i(1)(m) >= 0,
    ],
    "local_length_not_negative": [lambda m: Shape_i(1)(m) > -1, lambda m: at.neq(Shape_i(1)(m), -1)],
    "local_zero_above_length": [lambda m, c=c: at.gt(c, Shape_i(1)(m)) for c in (0, np.float32(-0.5))],
    "local_negative_above_length": [lambda m: at.ge(np.float32(-0.5), Shape_i(1)(m))],
    "local_zero_up_to_length": [lambda m: at.le(0, Shape_i(0)(m))],
    "local_negative_below_length": [lambda m: at.lt(np.float32(-0.5), Shape_i(1)(m))],
    "local_length_or_zero": [
        lambda m: at.maximum(Shape_i(0)(m), 0),
        lambda m: at.maximum(0, Shape_i(0)(m)),
        lambda m: at.maximum(np.float32(-0.5), Shape_i(1)(m)),
        lambda m: at.maximum(Shape_i(0)(m) + Shape_i(1)(m), 0),
    ],
    "local_zero_or_length": [lambda m: at.minimum(Shape_i(0)(m), 0), lambda m: at.minimum(0, Shape_i(0)(m))],
    "local_add_canonizer": [
        example(lambda x, y: x + (y - x), **CANCELLED),
        example(lambda x, y, z: (x + y) + (z + 1), regroups=REGROUPED),
        example(lambda x: 1 + x + np.float32(2), regroups=REGROUPED),
        lambda x: x - np.int8(2),
        example(lambda x, y, z: x - (y - z), regroups=REGROUPED, zeros=SIGN),
        example(lambda x, y: x - (-y), zeros=SIGN),
        example(lambda x: x + 0, zeros=SIGN),
        example(lambda x, y: (x - y) + (y - x), **CANCELLED),
    ],
    "local_mul_canonizer": [
        example(lambda x, y: x * y / x, **CANCELLED),
        example(
            lambda x, y, z: x * (y / z),
            zeros=SIGN,
            regroups=REGROUPED,
            moderate="a product may overflow before a quotient",
        ),
        example(
            lambda x, y, z: x / y / z,
            zeros=SIGN,
            regroups=REGROUPED,
            moderate="a product may overflow before a quotient",
        ),
        example(lambda x: 2 * x * np.float32(0.5), regroups=REGROUPED),
        lambda x: x * 1,
        lambda x: x * -1,
        lambda x: x / -1,
        lambda x: x / 1,
        lambda x, y: x / (y * -1),
        example(lambda x: x / abs(x), assumes_finite="infinity over infinity has a sign"),
        example(
            lambda x, y, z: (x * y) * (z * 3),
            zeros=SIGN,
            regroups=REGROUPED,
            moderate="a part of a product may overflow",
        ),
        example(
            lambda x, y: 1 / (x / y),
            zeros=SIGN,
            regroups=REGROUPED,
            moderate="a quotient may overflow where its inverse is 0",
        ),
        lambda x, y: (-x) * y,
        lambda x, y: (-x) / (-y),
        lambda x: 1 / (1 + at.exp(-x)),
        example(lambda x: at.exp(x) * at.sigmoid(-x), dtypes=FLOATS, limits="no number is left of infinity times zero"),
        example(lambda m: at.exp(m) / at.exp(m).sum(axis=1, keepdims=True), **SOFTMAX),
    ],
    "local_add_mul_fusion": [
        example(lambda x, y, z: x + (y + z), **ORDERED),
        example(lambda x, y, z: (x * y) * z, **ORDERED),
        example(lambda x, y, z, w: (x + y) + (z + w), **ORDERED),
        example(lambda x, y, z, w: ((x * y) * z) * w, **ORDERED),
    ],
    "local_greedy_distributor": [
        example(lambda x, y, z: (x / y + z / y) * y, dtypes=FLOATS, moderate=ROUNDED, **CANCELLED),
        example(lambda x, y: (x * y + y) / y, dtypes=FLOATS, moderate=ROUNDED, **CANCELLED),
        example(lambda x, y, z: (x / y + z) * y, dtypes=FLOATS, moderate=ROUNDED, **CANCELLED),
    ],
}
