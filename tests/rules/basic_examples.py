"""Examples of rules that remove what does nothing, and of those about fills, allocations, casts and joins."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara.gradient import disconnected_grad, grad_clip, grad_scale, zero_grad
from aesara.raise_op import Assert
from aesara.tensor.creation.allocation import AllocEmpty
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.joining.join_split import Join, Split
from tests.rules.framework import example

UNUSED = "what is not computed is not checked"
TARGETS = ("float64", "float32", "int8", "int64", "bool", "complex128")
WIDER = {"bool": "int8", "int8": "float32", "uint8": "int64", "float16": "float32", "float32": "complex128"}


def _cast_to_wider(x, target):
    return x.astype(WIDER.get(x.type.dtype, x.type.dtype)).astype(target)


EXAMPLES = {
    "constant_folding": [
        lambda x: at.sin(at.constant(np.array([0.5, 2.0]))).sum() + x,
        lambda x: at.exp(at.constant(np.array([0.0, -np.inf, np.nan]))).sum() + x,
        lambda x: x[at.arange(3)[1:]] if x.type.ndim else x,
        lambda m: at.set_subtensor(at.zeros((4, 5))[at.constant(1), 1:], np.float64(3)) + m,
    ],
    "late_constant_folding": [lambda x: at.exp(at.constant(np.array([0.5, 2.0]))).sum() + x],
    "constant_folding_for_scan2": [lambda x: at.exp(at.constant(np.array([0.5, 2.0]))).sum() + x],
    "local_useless_fill": [lambda m1, m2: at.second(m1, m2)],
    "local_fill_to_alloc": [
        lambda m: at.second(m, np.float32(3)),
        lambda m, v: at.second(m, v),
        lambda m, s: at.second(m, s),
    ],
    "local_fill_sink": [
        lambda m, s: at.exp(at.second(m, s)),
        lambda x, y, z: at.second(x, y) + z,
        lambda m, s, v: at.second(m, s) * v,
        lambda m, s1, s2: at.maximum(at.second(m, s1), at.second(m, s2)),
    ],
    "local_useless_alloc": [
        lambda m: at.alloc(m, *m.shape),
        lambda m: at.alloc(m, m.shape[0], 5),
        lambda m: at.alloc(m, 4, 5),
        lambda v: at.alloc(at.specify_shape(v, (5,)), 5),
        lambda s: at.alloc(s),
    ],
    "local_merge_alloc": [
        lambda s, n1, n2: at.alloc(at.alloc(s, n1), n2, n1),
        lambda v, n1, n2: at.alloc(at.alloc(v, n1, 5), n2, n1, 5),
        lambda s, n1, n2: at.alloc(at.alloc(s, 1, n1), n2, n1),
        lambda s: at.alloc(at.alloc(s, 2), 3, 2),
    ],
    "local_elemwise_alloc": [
        lambda m, s: m + at.alloc(s, *m.shape),
        lambda m, s: m * at.alloc(s, 4, 5),
        lambda m, v: at.maximum(m, at.alloc(v, 4, 5)),
        lambda m, s, b: at.switch(m > 0, at.alloc(s, *m.shape), m),
        lambda s, n1: at.alloc(s, n1) + at.alloc(s, n1),
    ],
    "local_alloc_to_broadcast": [
        lambda m, v: m + at.alloc(v, 4, 5),
        lambda m, v: at.alloc(v, 4, 5).T * m,
    ],
    "local_alloc_unary": [
        lambda s, n1: at.exp(at.alloc(s, n1)),
        lambda v: at.sin(at.alloc(v, 4, 5)),
        lambda s, n1: at.alloc(s, n1, 2).astype("float32"),
    ],
    "local_alloc_elementwise": [
        lambda s: at.gammaln(s * np.full(4, 2.0)),
        lambda s: at.gammainc(np.full((3, 2), 2, dtype="int8"), at.exp(s).dimshuffle("x", "x")),
        lambda s1, s2, n1: at.gammainc(at.exp(at.alloc(s1, n1, 2)), at.alloc(s2 * s2, n1, 2)),
    ],
    "local_useless_copy": [
        lambda x: at.tensor_copy(x),
        lambda x: at.add(x),
        lambda x: at.mul(x),
    ],
    "local_useless_logic": [
        lambda b: at.and_(b, np.array(True)),
        lambda b: at.or_(np.array(False), b),
        lambda b: at.xor(b, np.array(False)),
    ],
    "local_useless_logic_of_same": [lambda x: at.and_(x, x), lambda x: at.or_(x, x)],
    "local_logic_with_known_bits": [
        lambda b: at.and_(b, np.array(False)),
        lambda b: at.or_(b, at.constant(np.array([True]))),
        lambda b1, b2: at.and_(at.zeros_like(b1), b2),
    ],
    "local_switch_on_known": [
        example(lambda x, y: at.switch(1, x, y), drops_checks=UNUSED),
        example(lambda x, y: at.switch(np.array([0.0]), x, y), drops_checks=UNUSED),
        example(lambda x, y: at.switch(np.nan, x, y), drops_checks=UNUSED),
    ],
    "local_switch_of_same": [
        lambda x, b: at.switch(b, x, x),
        lambda b: at.switch(b, np.float64(2), np.float64(2)),
        lambda b: at.switch(b, np.float64(0.0), np.float64(-0.0)) + at.switch(b, 1.0, 1.0),
    ],
    "local_merge_switch_same_cond": [
        lambda x, y, z, b: at.switch(b, at.switch(b, x, y), z),
        lambda x, y, z, b: at.switch(b, x, at.switch(b, y, z)),
        lambda x, y, z, w, b: at.switch(b, at.switch(b, x, y), at.switch(b, z, w)),
        lambda x, y, z, w, b: at.switch(b, x, y) + at.switch(b, z, w),
        lambda x, y, z, b: at.maximum(at.switch(b, x, y), at.switch(b, y, z)),
        lambda x, y, z, w, b: at.lt(at.switch(b, x, y), at.switch(b, z, w)),
        lambda x, y, z, b: at.mul(at.switch(b, x, 1.0), at.switch(b, 1.0, y), at.switch(b, z, 2.0)),
    ],
    "local_cast_cast": [
        *(lambda x, target=target: _cast_to_wider(x, target) for target in TARGETS),
        lambda x: x.astype("float64").astype("float32"),
        lambda x: x.astype("int64").astype("int8"),
        lambda x: Elemwise(aesara.scalar.Cast(aesara.scalar.float64))(x),
    ],
    "local_tensor_scalar_tensor": [lambda s: at.tensor_from_scalar(at.scalar_from_tensor(s))],
    "local_scalar_tensor_scalar": [
        lambda s: at.tensor_from_scalar(at.scalar_from_tensor(at.tensor_from_scalar(at.scalar_from_tensor(s))))
    ],
    "local_remove_useless_assert": [
        lambda x: Assert("no")(x, True),
        lambda x, k: Assert("no")(x, at.constant(True), k > 0),
    ],
    "local_remove_all_assert": [
        example(lambda x, k: Assert("no")(x, k > 1), drops_checks="the user asks for it"),
    ],
    "local_join_1": [lambda m: Join()(0, m), lambda m: Join()(-1, m)],
    "local_join_empty": [
        lambda v: at.join(0, v, np.zeros(0)),
        lambda m: at.join(1, np.zeros((4, 0), "int8"), m, m),
        example(lambda v1, v2: at.join(0, v1, at.specify_shape(v2, (5,))[5:], v2), drops_checks=UNUSED),
    ],
    "local_join_make_vector": [
        lambda s1, s2: at.join(0, MakeVector("float64")(s1, s2), MakeVector("float64")(s2)),
        lambda s1, v: at.join(0, v, MakeVector("float64")(s1), MakeVector("float64")(s1, s1)),
    ],
    "local_useless_split": [
        lambda m: Split(1)(m, 0, at.stack([m.shape[0]])),
        example(lambda m, n1: Split(1)(m, 1, at.stack([n1])), drops_checks=UNUSED),
    ],
    "local_view_op": [
        lambda x: zero_grad(x),
        lambda x: disconnected_grad(x),
        lambda x: grad_clip(x, -1, 1),
        lambda x: grad_scale(x, 2),
    ],
    "local_alloc_empty_to_zeros": [lambda n1: AllocEmpty("float64")(n1, 3) * 0],
}

ROWS = {"local_fill_to_alloc": {"drops_checks": UNUSED}}
