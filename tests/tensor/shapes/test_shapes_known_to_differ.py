"""Sizes that contradict each other are reported when the graph is built: what was expected, and what came."""

import re

import numpy as np
import pytest

import aesara.tensor as at
from aesara.tensor import nnet
from aesara.tensor.subtensor import inc_subtensor, set_subtensor


def t(*shape):
    return at.TensorType("float64", shape=shape)()


def n(*shape):
    return at.TensorType("int64", shape=shape)()


#: what cannot be built, and the sizes that its error has to name
CONTRADICTIONS = {
    "elementwise": (lambda: t(2) + t(3), (2, 3)),
    "elementwise, inner dimension": (lambda: t(2, 3) * t(2, 1, 4), (3, 4)),
    "switch": (lambda: at.switch(t(2) > 0, t(3), 1.0), (2, 3)),
    "clip": (lambda: at.clip(t(2), t(3), 1.0), (2, 3)),
    "fill": (lambda: at.fill(t(2), t(3)), (2, 3)),
    "dot": (lambda: at.dot(t(2, 3), t(4, 5)), (3, 4)),
    "dot of vectors": (lambda: at.dot(t(3), t(4)), (3, 4)),
    "dot of matrix and vector": (lambda: at.dot(t(2, 3), t(4)), (3, 4)),
    "dot of tensors": (lambda: at.dot(t(2, 3, 4), t(5, 6)), (4, 5)),
    "matmul": (lambda: at.matmul(t(2, 3, 4), t(5, 6)), (4, 5)),
    "matmul, batches": (lambda: at.matmul(t(2, 3, 4), t(3, 4, 5)), (2, 3)),
    "batched_dot": (lambda: at.batched_dot(t(2, 3, 4), t(2, 5, 5)), (4, 5)),
    "tensordot": (lambda: at.tensordot(t(2, 3, 4), t(4, 5, 2), axes=[[1, 2], [1, 0]]), (3, 5)),
    "join": (lambda: at.join(0, t(2, 3), t(2, 4)), (3, 4)),
    "concatenate": (lambda: at.concatenate([t(2, 3), t(3, 3)], axis=1), (2, 3)),
    "stack": (lambda: at.stack([t(2), t(3)]), (2, 3)),
    "split": (lambda: at.split(t(5), [2, 2], 2), (4, 5)),
    "split, pieces": (lambda: at.split(t(5), [2, 3], 3), (2, 3)),
    "reshape": (lambda: at.reshape(t(2, 3), (4, 2)), (6, 8)),
    "reshape, one left out": (lambda: at.reshape(t(2, 3), (-1, 4)), (6, 4)),
    "reshape by sizes": (lambda: (lambda x: at.reshape(x, (x.shape[0] + 1, 3)))(t(2, 3)), (6, 9)),
    "specify_shape": (lambda: at.specify_shape(t(2, 3), (3, 3)), (2, 3)),
    "specify_shape, dimensions": (lambda: at.specify_shape(t(2, 3), (3,)), (2, 1)),
    "specify_broadcastable": (lambda: at.specify_broadcastable(t(2, 3), 0), (2, 1)),
    "broadcast_to": (lambda: at.broadcast_to(t(2, 3), (4, 3)), (2, 4)),
    "broadcast_to, dimensions": (lambda: at.broadcast_to(t(2, 3), (3,)), (2, 1)),
    "broadcast_arrays": (lambda: at.broadcast_arrays(t(2), t(3)), (2, 3)),
    "broadcast_shape": (lambda: at.broadcast_shape(t(2), t(3)), (2, 3)),
    "alloc": (lambda: at.alloc(t(2, 3), 2, 4), (3, 4)),
    "zeros": (lambda: at.zeros((2, -1)), (-1,)),
    "repeat": (lambda: at.repeat(t(3), [1, 2], axis=0), (3, 2)),
    "choose": (lambda: at.choose(n(3), t(2, 4)), (3, 4)),
    "set_subtensor": (lambda: set_subtensor(t(4, 3)[1:], t(2)), (3, 2)),
    "set_subtensor of an integer array": (lambda: set_subtensor(t(4, 3)[[0, 1, 1]], t(2, 3)), (3, 2)),
    "inc_subtensor of a mask": (lambda: inc_subtensor(t(3)[np.array([True, True, False])], t(3)), (2, 3)),
    "inc_subtensor of an integer": (lambda: inc_subtensor(t(4, 3)[0], t(2)), (3, 2)),
    "squeeze": (lambda: at.squeeze(t(2, 1), axis=0), (0,)),
    "ravel_multi_index": (lambda: at.ravel_multi_index((n(2), n(3)), (3, 3)), (2, 3)),
    "fill_diagonal": (lambda: at.fill_diagonal(t(2, 3, 4), 1.0), (2, 3, 4)),
    "cov": (lambda: at.cov(t(2, 3), t(2, 4)), (3, 4)),
    "softmax_with_bias": (lambda: nnet.softmax_with_bias(t(2, 3), t(4)), (3, 4)),
    "maximum of nothing": (lambda: at.max(t(2, 0), axis=1), (0,)),
    "topk": (lambda: at.topk(t(3), 5), (3, 5)),
    "searchsorted": (lambda: at.searchsorted(t(3), t(2), sorter=n(4)), (3, 4)),
    "index": (lambda: t(3)[3], (3,)),
    "index from a size": (lambda: (lambda x: x[x.shape[0]])(t(5)), (5,)),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_reported(name):
    build, sizes = CONTRADICTIONS[name]
    with pytest.raises((ValueError, IndexError)) as caught:
        build()
    named = re.findall(r"-?\d+", str(caught.value))
    assert all(str(size) in named for size in sizes), caught.value
