"""Examples of rules about shapes."""

import numpy as np

import aesara.tensor as at
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape, Unbroadcast
from tests.rules.framework import example

SHAPE = Shape()
LENGTHS = MakeVector("int64")
UNUSED = "a shape that is stated is not looked at, nor one that does not remain"

EXAMPLES = {
    "local_shape_to_shape_i": [
        lambda m: m.shape,
        lambda m: at.shape(at.exp(m)),
        lambda m1, m2: at.shape(at.join(0, m1, m2)),
        lambda m: at.shape(m[1:, ::2]),
        lambda m1, m2: at.shape(at.dot(m1, m2.T)),
        lambda v, m: at.shape(v + m),
    ],
    "local_track_shape_i": [
        lambda m: Shape_i(0)(at.exp(m)),
        lambda m: Shape_i(1)(m.sum(axis=0, keepdims=True)),
        lambda m: Shape_i(0)(m[::-2]),
        lambda m1, m2: Shape_i(0)(at.join(0, m1, m2)),
        lambda n1: Shape_i(0)(at.arange(n1)),
        lambda v: Shape_i(0)(at.specify_shape(v, (5,))),
    ],
    "local_Shape_i_ground": [
        example(lambda m: Shape_i(0)(at.specify_shape(m, (4, None))), drops_checks=UNUSED),
        example(lambda m: Shape_i(1)(at.specify_shape(m, (4, None))), drops_checks=UNUSED),
        example(lambda m, n1: Shape_i(0)(at.specify_shape(m, (n1, None))), drops_checks=UNUSED),
    ],
    "local_Shape_of_SpecifyShape": [
        example(lambda m: SHAPE(at.specify_shape(m, (4, 5))), drops_checks=UNUSED),
        example(lambda m, n1: SHAPE(at.specify_shape(m, (n1, 5))), drops_checks=UNUSED),
    ],
    "local_shape_stated_twice": [
        lambda m: at.specify_shape(at.specify_shape(m, (4, None)), (None, 5)),
        lambda m, n1: at.specify_shape(at.specify_shape(m, (n1, None)), (n1, 5)),
        lambda m, n1: at.specify_shape(at.specify_shape(m, (n1, 5)), (n1, None)),
    ],
    "local_shape_of_type_stated": [
        lambda m: SpecifyShape()(at.specify_shape(m, (4, 5)), 4, None),
        lambda v: SpecifyShape()(v, 5),
    ],
    "local_last_stated_shape": [
        lambda m: at.specify_shape(at.specify_shape(m, (4, None)), (None, 5)),
        example(lambda m, n1, n2: at.specify_shape(at.specify_shape(m, (n1, 5)), (n2, None)), drops_checks=UNUSED),
    ],
    "local_useless_reshape": [
        lambda v: Reshape(1)(v, at.constant(np.array([-1]))),
        lambda m: m.reshape(m.shape),
        lambda m: m.reshape((m.shape[0], -1)),
        lambda m: m.reshape((4, 5)),
        lambda v: Reshape(1)(v, at.constant(np.array([5]))),
    ],
    "local_reshape_of_reshape": [
        lambda m: m.reshape((20,)).reshape((2, 10)),
        lambda m: m.reshape((2, -1)).reshape((5, 4)),
        lambda m: m.reshape((m.shape[1], m.shape[0])).reshape(m.shape),
        example(lambda m, n1: Reshape(1)(m.reshape((n1, 5)), at.constant(np.array([-1]))), drops_checks=UNUSED),
    ],
    "local_reshape_to_dimshuffle": [
        lambda v: at.specify_shape(v, (5,)).reshape((1, 5)),
        lambda m: at.specify_shape(m, (4, 5)).reshape((4, 1, 5)),
        lambda m: m[:1, :1].reshape(()),
        lambda s: s.reshape((1, 1)),
        lambda v: v.reshape((1, -1)),
        lambda m: m.reshape((m.shape[0], 1, m.shape[1])),
    ],
    "local_reshape_lift": [
        lambda m: at.exp(m).reshape((20,)),
        lambda m: at.exp(m).reshape((5, -1)),
        lambda m: (m.astype("float32")).reshape(m.shape[::-1]),
    ],
    "local_useless_dimshuffle_in_reshape": [
        lambda m: m.dimshuffle(0, "x", 1).reshape((20,)),
        lambda m: m[:1].dimshuffle(1).reshape((5, 1)),
        lambda m: m[:, :1].dimshuffle(1, 0).reshape((4,)),
    ],
    "local_reshape_to_checked_shape": [
        lambda v1, v2: Reshape(1)(v1, LENGTHS(Shape_i(0)(v2))) + v1 * v2,
        lambda m1, m2: at.exp(Reshape(2)(m1, LENGTHS(Shape_i(0)(m2), Shape_i(1)(m1)))) / (m1 - m2).sum(),
        lambda m, v: Reshape(1)(v, LENGTHS(Shape_i(1)(m))) + at.dot(m, v).sum(),
    ],
    "local_alloc_of_checked_lengths": [
        lambda v1, v2: at.alloc(v1, Shape_i(0)(v2)) + v1 * v2,
        lambda m1, m2: at.alloc(m1, Shape_i(0)(m1), Shape_i(1)(m2)) * at.join(0, m1, m2).sum(),
    ],
    "local_slice_to_checked_length": [
        lambda v1, v2: v1[: Shape_i(0)(v2)] + (v1 * v2).sum(),
        lambda m1, m2: m1[0 : Shape_i(0)(m2), 1] + at.join(1, m1, m2).sum(),
        lambda m: at.exp(m)[1:, : Shape_i(1)(m)],
    ],
    "local_useless_unbroadcast": [
        lambda m: Unbroadcast(0)(m),
        lambda m: Unbroadcast(0, 1)(m),
    ],
}
