"""Examples of rules about parts of tensors."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.shape import Shape_i
from aesara.tensor.subtensor import AdvancedSubtensor1
from tests.rules.framework import example

UNREAD = "the elements that are not read are not written, and errors are those of what is read"
SCATTERED = "what is added to a part is added to it in another order"

SIGN = "-0 + 0 is 0, but what is added to zero is left as it is"
ZEROS = {"zeros": SIGN, "drops_checks": "where nothing is added may be no place at all"}

INDICES = [
    lambda z, k: z[1:],
    lambda z, k: z[k],
    lambda z, k: z[:, 1],
    lambda z, k: z[k:, ::-1],
    lambda z, k: z[-1, -3:],
    lambda z, k: z[::2, k],
    lambda z, k: z[7:2],
]
SLICES = [
    (slice(None), slice(1, None)),
    (slice(1, 4), 1),
    (slice(1, 4), slice(None, 2)),
    (slice(None, None, -1), 0),
    (slice(None, None, -1), slice(1, 3)),
    (slice(-3, None), slice(-2, None)),
    (slice(3, 0, -1), slice(None, None, -1)),
    (slice(None, 2), -1),
    (slice(1, None, 2), slice(0, 1)),
    (slice(2, 2), slice(0, 5)),
    (slice(0, 100), 3),
    (slice(100, None), slice(1, 3)),
]


def sum_of_parts(m, one, other):
    return at.set_subtensor(at.zeros_like(m)[one], m[one]) + at.set_subtensor(at.zeros_like(m)[other], -m[other])


EXAMPLES = {
    "local_useless_slice": [
        lambda m: m[:],
        lambda m: m[0:, 1],
        lambda m: m[1:, :],
        lambda m: m[: Shape_i(0)(m), 1],
        lambda m: m[0:4, 0:9],
        lambda m, k: m[k, ::1],
        lambda m: m[: Shape_i(0)(m), 2:],
    ],
    "local_subtensor_merge": [
        *(lambda v, a=a, b=b: v[a][b] for a, b in SLICES),
        *(lambda m, a=a, b=b: m[:, a][1:, b] for a, b in SLICES),
        lambda m, k: m[k][1:],
        lambda m, k: m[:, 1:][k],
        lambda m, k: m[1:][:, k],
        lambda m, k: m[k:][:],
        lambda t, k: t[0][k, 1],
        lambda m, k1, k2: m[k1][k2],
    ],
    "merge_parts_of_parts": [
        lambda m, k1, k2: m[k1:][:k2],
        lambda m, k1, k2: m[:, k1:][1:, k2],
        lambda v, k: v[::-1][k],
        lambda v, k: v[1::2][:-1][k:],
        lambda m: m[-2:][1],
    ],
    "local_entries_of_make_vector": [
        lambda s1, s2: at.stack([s1, s2, s1])[1],
        lambda s1, s2: at.stack([s1, s2, s1])[-1],
        lambda s1, s2: at.stack([s1, s2, s1])[::-2],
        lambda s1, s2: at.stack([s1, s2])[2:],
    ],
    "local_subtensor_of_alloc": [
        lambda s, n1: at.alloc(s, n1, 3)[1],
        lambda s, n1, k: at.alloc(s, n1, 3)[k:, 1],
        lambda s, n1: at.alloc(s, n1)[::-2],
        lambda m, s: at.alloc(s, *m.shape)[1:, -1],
        lambda n1: at.zeros((n1, 2))[-3:],
        lambda v: at.alloc(v[:1], 5)[1:3],
    ],
    "local_subtensor_shape_constant": [
        lambda m: at.shape(m)[0],
        lambda m: at.shape(m)[-1],
        lambda t: at.shape(at.exp(t))[1],
    ],
    "local_subtensor_of_join": [
        lambda v, s: at.join(0, at.specify_shape(v, (5,)), at.specify_shape(v, (5,)))[6],
        lambda v: at.join(0, at.specify_shape(v, (5,)), v)[2],
        lambda v: at.join(0, at.specify_shape(v, (5,)), at.specify_shape(v, (5,)))[5:7],
        lambda m: at.join(1, at.specify_shape(m, (4, 5)), at.specify_shape(m, (4, 5)))[1:, 7],
        lambda m1, m2: at.join(0, at.specify_shape(m1, (4, 5)), at.specify_shape(m2, (4, 5)))[1:4:2],
    ],
    "local_subtensor_lift": [
        *(lambda m, k, f=f: f(at.exp(m), k) for f in INDICES),
        *(lambda m, v, k, f=f: f(m + v, k) for f in INDICES),
        *(lambda m, s, k, f=f: f(m * s, k) for f in INDICES),
        lambda m, v, k: (m[:, :1] + v)[k, 1:],
    ],
    "local_subtensor_SpecifyShape_lift": [
        lambda m, k: at.specify_shape(m, (4, None))[k, 1],
        lambda v: at.specify_shape(v, (5,))[-1],
        example(lambda m: at.specify_shape(m, (4, None))[1], drops_checks=UNREAD),
        example(lambda m: at.specify_shape(m.T, (None, 4))[-1], drops_checks=UNREAD),
    ],
    "local_subtensor_inc_subtensor": [
        example(lambda m, v: at.set_subtensor(m[1], v)[1], drops_checks=UNREAD),
        lambda m, s: at.set_subtensor(m[1:], s)[1:],
        example(lambda m, s, k: at.set_subtensor(m[k:, 1], s)[k:, 1], drops_checks=UNREAD),
        example(lambda m, s, k: at.set_subtensor(m[k, 1], s)[k, 1], drops_checks=UNREAD),
        example(lambda m, v: at.set_subtensor(m[1:], v)[1:], drops_checks=UNREAD),
    ],
    "local_useless_inc_subtensor": [
        lambda m1, m2: at.set_subtensor(m1[:], m2),
        lambda m, s: at.set_subtensor(m[:], s),
        lambda m, v: at.set_subtensor(m[:, 0:], v),
        lambda m: at.set_subtensor(m[:, ::-1], abs(m)),
        example(lambda m: at.inc_subtensor(at.zeros((4, 5))[:], m), zeros=SIGN),
        example(lambda m, v: at.inc_subtensor(at.zeros_like(m)[:, :], v), zeros=SIGN),
    ],
    "local_incsubtensor_of_zeros": [
        example(lambda m: at.inc_subtensor(m[1:], 0), **ZEROS),
        example(lambda m, v: at.inc_subtensor(m[1], at.zeros_like(v)), **ZEROS),
        example(lambda m, i: at.inc_subtensor(m[i], np.float32(0)), **ZEROS),
        example(lambda m, i: at.inc_subtensor(m[i, i], 0), **ZEROS),
    ],
    "local_incsubtensor_of_zeros_to_setsubtensor": [
        example(lambda v: at.inc_subtensor(at.zeros((4, 5))[1], v), zeros=SIGN),
        example(lambda m, s: at.inc_subtensor(at.zeros_like(m)[1:, ::2], s), zeros=SIGN),
        example(lambda s, k: at.inc_subtensor(at.zeros((4,))[k], s), zeros=SIGN),
    ],
    "local_add_both_parts_of_zeros": [
        example(lambda m: sum_of_parts(m, slice(None, 1), slice(1, None)), zeros=SIGN, drops_checks=UNREAD),
        example(lambda m: sum_of_parts(m, slice(None, -2), slice(-2, None)), zeros=SIGN, drops_checks=UNREAD),
        example(lambda m, k: sum_of_parts(m, slice(k, None), slice(None, k)), zeros=SIGN, drops_checks=UNREAD),
        example(lambda m, k: sum_of_parts(m.T, slice(None, k), slice(k, None)) + m.T, zeros=SIGN, drops_checks=UNREAD),
    ],
    "local_join_other_part_of_zeros": [
        example(
            lambda m, k: at.set_subtensor(at.set_subtensor(at.zeros_like(m)[:, k:], m[:, k:])[:, :k], -m[:, :k]),
            zeros=SIGN,
            drops_checks=UNREAD,
        ),
    ],
    "local_add_other_part_of_zeros": [
        example(
            lambda m, k: at.inc_subtensor((m + at.set_subtensor(at.zeros_like(m)[:k], m[:k] * 2))[k:], -m[k:]),
            zeros=SIGN,
            drops_checks=UNREAD,
        ),
    ],
    "local_setsubtensor_of_constants": [
        lambda m: at.set_subtensor(at.zeros_like(m)[1:], 0),
        lambda n1: at.set_subtensor(at.ones((n1, 3))[0], 1),
    ],
    "local_useless_AdvancedSubtensor1": [
        lambda m: AdvancedSubtensor1()(at.specify_shape(m, (4, 5)), at.constant(np.arange(4))),
        lambda v: AdvancedSubtensor1()(at.specify_shape(v, (5,)), at.constant(np.arange(5))),
    ],
    "local_IncSubtensor_serialize": [
        example(lambda m, s: m + at.inc_subtensor(at.zeros_like(m)[1:], s), regroups=SCATTERED),
        example(lambda m, v: m - 0.5 * at.set_subtensor(at.zeros_like(m)[1], v), regroups=SCATTERED),
        example(lambda m, s, i: m + at.inc_subtensor(at.zeros_like(m)[i], s), regroups=SCATTERED),
        example(lambda m1, m2, s: m1 + m2 - at.inc_subtensor(at.zeros_like(m1)[:, 1], s), regroups=SCATTERED),
    ],
}
