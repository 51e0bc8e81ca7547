"""Examples of rules about parts of tensors, read and written."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.shape import Shape, Shape_i
from aesara.tensor.subtensor import (
    advanced_inc_subtensor1,
    advanced_set_subtensor1,
    advanced_subtensor1,
    inc_subtensor,
    set_subtensor,
)
from tests.rules.framework import example

ONE_ZERO = "zero with a negative zero added is zero, but the negative zero is taken"
NUMBERS = ("float64", "float32", "int8", "uint8")


def fixed(x, *shape):
    """A tensor with a known shape."""
    return at.specify_shape(x, shape)


def positions(*values):
    return at.constant(np.array(values, dtype="int64"))


def within(m, axis, index):
    """Return a mask, which broadcasts to `m`, of the entries that an index along an axis names."""
    found = at.set_subtensor(at.zeros(m.shape[axis], dtype="bool")[index], np.array(True))
    return found.dimshuffle(*(0 if k == axis else "x" for k in range(m.type.ndim)))


ROWS = {
    "local_choice_of_part": {"not_made": "its mask says in which part of the tensor an element lies"},
}
EXAMPLES = {
    # reading
    "local_useless_subtensor": [lambda m: m[:, 0:], lambda m: fixed(m, 4, 5)[:4, :7], lambda m: m[: Shape_i(0)(m)]],
    "local_useless_slice": [
        lambda m: m[0:, 1],
        lambda m: m[1, :],
        lambda t: t[:, 1, ::1],
        lambda m: m[1:2][::-1],
        lambda m: m[:, 1:2][:, -1::-3],
    ],
    "local_subtensor_remove_broadcastable_index": [
        lambda m: fixed(m[:1], 1, 5)[0],
        lambda m: fixed(m[:, 1:2], 4, 1)[:, -1],
        lambda v: v.dimshuffle("x", 0, "x")[0, :, 0],
    ],
    "local_subtensor_merge": [
        lambda m: m[1:][2],
        lambda m: m[1:, 2][:2],
        lambda m: m[:, ::-1][:, 1],
        lambda m: m[::-1][::-1],
        lambda m: fixed(m, 4, 5)[::-2][-1],
        lambda m: fixed(m, 4, 5)[:3, 1:-1][1:, ::-1],
    ],
    "local_entries_of_make_vector": [
        lambda s: at.stack([s, s + 1, s * 2])[1],
        lambda s: at.stack([s, s + 1, s * 2])[::-2],
    ],
    "local_positions_of_make_vector": [
        lambda s: at.stack([s, s + 1, s * 2])[positions(2, 0, -1)],
        lambda s: advanced_subtensor1(MakeVector(s.dtype)(s, s), positions(1)),
    ],
    "local_subtensor_shape_constant": [
        lambda m: at.shape(m)[1],
        lambda m: at.shape(m)[-2],
        lambda m: Shape()(fixed(m, 4, 5))[1:],
    ],
    "local_subtensor_of_unbroadcast": [
        lambda m: at.unbroadcast(m[:1], 0)[:2, :3],
        lambda m: at.unbroadcast(m[:, :1], 1)[1, ::-1],
    ],
    "local_uint_constant_indices": [
        lambda m: m[2],
        lambda m: m[1, 3:],
        lambda m: m[positions(2, 0)],
        lambda m: m[:, positions(2, 0)],
        lambda m, s: set_subtensor(m[1], s),
        lambda m, s: inc_subtensor(m[positions(2, 0, 2)], s),
        lambda m: advanced_subtensor1(m, positions(3)),
    ],
    # parts of results
    "local_subtensor_of_alloc": [
        lambda s, n: at.alloc(s, n, 3)[1:],
        lambda v, n: at.alloc(fixed(v, 5), n, 5)[1, 2:],
        lambda v, n: at.alloc(fixed(v, 5).dimshuffle(0, "x"), 2, 5, n)[:, ::2, 1],
        lambda v, n: at.alloc(v, n, 5)[1:],
    ],
    "local_subtensor_of_join": [
        lambda m: at.join(0, fixed(m, 4, 5), m)[3, 1:],
        lambda m, v: at.join(1, fixed(v, 5)[:4].dimshuffle(0, "x"), fixed(m, 4, 5))[:, 1:4],
    ],
    "local_join_subtensors": [
        lambda m: at.join(0, m[:2], m[2:]),
        lambda m: at.join(0, m[:1], m[1:2], m[2:9]),
        lambda m, k: at.join(0, m[:k], m[k:]),
        lambda m: at.join(1, m[:, :-2], m[:, -2:], m[:, 1:3]),
        lambda t: at.join(0, t[0, 1:2], t[0, 2:]),
    ],
    "local_subtensor_lift": [lambda m: at.exp(m)[1], lambda m, v: (m + v)[1:, 2], lambda m, s: (m * s)[::-1]],
    "local_subtensor_SpecifyShape_lift": [lambda m: at.specify_shape(m, (4, 5))[1, 2]],
    "local_subtensor_of_dot": [
        example(lambda m: at.dot(m, m.T)[1], regroups="sums of products in another order"),
        example(lambda m: at.dot(m.T, m)[1:, ::2], regroups="sums of products in another order"),
        example(lambda m, v: at.dot(m, v)[2], regroups="sums of products in another order"),
        example(lambda m, v: at.dot(v, m.T)[:2], regroups="sums of products in another order"),
    ],
    # writing
    "local_choice_of_part": [
        lambda m: at.switch(within(m, 0, 1), m, 0),
        lambda m: at.switch(within(m, 1, slice(1, None)), m, 0),
        lambda m, k: at.switch(within(m, 0, slice(None, k)) & within(m, 1, -1), m, 0),
    ],
    "local_subtensor_inc_subtensor": [
        lambda m, s: set_subtensor(m[1], s)[1],
        lambda m: set_subtensor(m[:2, 1], fixed(m, 4, 5)[:2, 0])[:2, 1],
    ],
    "local_subtensor_beside_written": [
        lambda m, s: set_subtensor(fixed(m, 4, 5)[0], s)[1:],
        lambda m, s: inc_subtensor(m[2:], s)[0],
        lambda m, s: set_subtensor(m[:1], s)[1:, 2],
        lambda m, s: inc_subtensor(fixed(m, 4, 5)[::2, 1], s)[1::2],
        lambda m, s: set_subtensor(fixed(m, 4, 5)[:, -1], s)[:, :4],
    ],
    "local_useless_inc_subtensor": [
        lambda m, s: set_subtensor(m[:], s),
        lambda m: set_subtensor(m[:, :], m * 2),
        example(lambda m: inc_subtensor(at.zeros_like(m)[:], m), zeros=ONE_ZERO),
    ],
    "local_incsubtensor_of_zeros": [
        lambda m: inc_subtensor(m[1], 0),
        lambda m, i: inc_subtensor(m[i], np.zeros(5, "int8")),
        lambda m, i: advanced_inc_subtensor1(m, 0, i),
    ],
    "local_incsubtensor_of_zeros_to_setsubtensor": [
        example(lambda m: inc_subtensor(at.zeros_like(m)[1:], m[1:]), zeros=ONE_ZERO)
    ],
    "local_setsubtensor_of_constants": [lambda n: set_subtensor(at.zeros((n, 2))[1:], 0.0)],
    "local_inplace_setsubtensor": [lambda m, s: set_subtensor((m + m)[1:], s), lambda m: inc_subtensor((m * m)[0], 1)],
    "local_inplace_AdvancedIncSubtensor": [lambda m, s, i: inc_subtensor((m + m)[i, 1:], s)],
    "local_inplace_AdvancedIncSubtensor1": [lambda m, s, i: advanced_inc_subtensor1(m + m, s, i)],
    "local_useless_inc_subtensor_alloc": [
        example(lambda m, s: set_subtensor(m[1:2], at.alloc(s, 5).dimshuffle("x", 0)), dtypes=NUMBERS),
        example(lambda m, s: set_subtensor(m[1:], at.alloc(s, 3, 5)), dtypes=NUMBERS),
        example(lambda m, s, n: inc_subtensor(m[:n], at.alloc(s, n, 5)), dtypes=NUMBERS),
        example(lambda m, v, k: set_subtensor(m[k:], at.alloc(v, 1, 5)), dtypes=NUMBERS),
        example(lambda m, s, i: inc_subtensor(m[i], at.alloc(s, i.shape[0], m.shape[1])), dtypes=NUMBERS),
        example(lambda m, s, i: advanced_set_subtensor1(m, at.alloc(s, 4, 5), i), dtypes=NUMBERS),
    ],
    "local_write_over_same_place": [
        lambda m, s: set_subtensor(set_subtensor(m[1], s)[1], s * 2),
        lambda m, s: set_subtensor(inc_subtensor(m[1:, 2], s)[1:, 2], 1),
        lambda m, s, i: set_subtensor(inc_subtensor(m[i], s)[i], s),
    ],
    "local_add_to_same_place": [
        lambda m, s: inc_subtensor(set_subtensor(m[:2], s)[:2], s * 2),
        example(lambda m, s, i: inc_subtensor(inc_subtensor(m[i], s)[i], s * 2), dtypes=("int8", "int64", "uint8")),
        lambda m, s: inc_subtensor(inc_subtensor(at.zeros_like(m)[1], s)[1], s * 2),
    ],
    # positions
    "local_useless_AdvancedSubtensor1": [
        lambda m: advanced_subtensor1(fixed(m, 4, 5), positions(0, 1, 2, 3)),
        lambda m: advanced_subtensor1(fixed(m, 4, 5), positions(0, 1, -2, -1)),
        lambda m: advanced_subtensor1(m, at.arange(Shape_i(0)(m))),
    ],
    "local_positions_to_slice": [
        lambda m: fixed(m, 4, 5)[positions(1, 3)],
        lambda m: fixed(m, 4, 5)[:, positions(-1, 3, 2)],
        lambda m: advanced_subtensor1(fixed(m, 4, 5), positions(3, 2, 1, 0)),
        lambda m: fixed(m, 4, 5)[positions()],
        lambda m, s: set_subtensor(fixed(m, 4, 5)[positions(2)], s),
        lambda m, v: inc_subtensor(fixed(m, 4, 5)[positions(1, 2)], v),
    ],
    "local_rows_at_positions": [lambda m, i: m[i], lambda t, i: t[i, :]],
    "local_replace_AdvancedSubtensor": [lambda m, i: m[i], lambda t, i: t[:, i], lambda t, i: t[:, at.stack([i, i])]],
    "local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1": [
        lambda m, i, v: inc_subtensor(m[i], v),
        lambda m, i, s: set_subtensor(m[i, :], s),
    ],
    "local_adv_sub1_adv_inc_sub1": [
        lambda m, i, s: set_subtensor(m[i], s)[i],
        lambda m, i, v: advanced_subtensor1(advanced_set_subtensor1(m, v, i), i),
        lambda m: set_subtensor(m[:, positions(2, 0)], m[:, :2])[:, positions(2, 0)],
        lambda m, k: set_subtensor(m[at.arange(k)], m[1 : k + 1])[at.arange(k)],
    ],
    "local_rows_written_once": [
        lambda m, v: set_subtensor(m.T[at.argsort(v)], 2 * m.T)[at.argsort(v)],
        lambda m, k: set_subtensor(m[at.arange(k)], m[1 : k + 1])[at.arange(k)],
        lambda m, v: set_subtensor(m[:, at.argsort(v) - 5], m)[:, at.argsort(v) - 5],
    ],
    "local_set_to_inc_subtensor": [
        lambda m, v: set_subtensor(m[1], m[1] + v),
        lambda m, v: set_subtensor(m[positions(2, 0)], v + m[positions(2, 0)]),
        lambda m, k, s: advanced_set_subtensor1(m, at.add(advanced_subtensor1(m, at.arange(k)), s), at.arange(k)),
    ],
}
