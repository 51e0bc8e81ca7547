"""Convolutions of batches of images, of filters and of gradients."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import jacobian
from aesara.graph.vectorization import vectorize_graph
from aesara.tensor.nnet.abstract_conv import conv2d, conv2d_grad_wrt_inputs, conv2d_grad_wrt_weights
from tests.closeness import assert_close

SETTINGS = {"subsample": (2, 1), "border_mode": ((1, 0), 0)}
SHAPES = {"x": (2, 4, 5, 4), "w": (6, 4, 2, 3), "y": (2, 6, 3, 2)}
#: batches that are more images
ANY_GROUPS = [("forward", (0,)), ("inputs", (1,))]


def build(direction, a, b, groups):
    if direction == "forward":
        return conv2d(a, b, num_groups=groups, **SETTINGS)
    if direction == "inputs":
        return conv2d_grad_wrt_inputs(b, a, (None, None, 5, 4), num_groups=groups, **SETTINGS)
    return conv2d_grad_wrt_weights(a, b, (None, None, 2, 3), num_groups=groups, **SETTINGS)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("batched", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("direction, operands", [("forward", "xw"), ("inputs", "wy"), ("weights", "xy")])
def test_batches_agree_with_each_member(direction, operands, batched, groups, rng):
    shapes = [SHAPES[name] for name in operands]
    shapes = [(s[0], s[1] // groups, *s[2:]) if name == "w" else s for name, s in zip(operands, shapes)]
    cores = [at.dtensor4(), at.dtensor4()]
    result = build(direction, *cores, groups)
    lead = (2, 3) if len(batched) == 1 else (3,)
    values = [rng.normal(size=(*lead, *s) if k in batched else s) for k, s in enumerate(shapes)]
    variables = [at.tensor(dtype="float64", shape=(None,) * v.ndim) for v in values]
    whole = vectorize_graph(result, dict(zip(cores, variables)))
    single = aesara.function(cores, result, mode="FAST_COMPILE")
    want = np.stack([single(*(v[i] if k in batched else v for k, v in enumerate(values))) for i in np.ndindex(*lead)])
    want = want.reshape(*lead, *want.shape[1:])
    for mode in (None, "FAST_COMPILE"):
        f = aesara.function(variables, whole, mode=mode)
        assert_close(f(*values), want, size=abs(want).max())
    one_by_one = any("Blockwise" in str(node.op) for node in f.maker.fgraph.apply_nodes)
    if not one_by_one:
        assert f(*(v[:0] if k in batched else v for k, v in enumerate(values))).shape == (0, *want.shape[1:])
    assert one_by_one == (len(batched) == 2 or (groups == 2 and (direction, batched) not in ANY_GROUPS))


def test_jacobian_is_native(rng):
    x, w = at.dtensor4("x"), at.dtensor4("w")
    y = conv2d(x, w, border_mode="half")
    f = aesara.function([x, w], jacobian(y.flatten(), w))
    assert "nothing in Python" in str(aesara.explain(f))
    a, b = rng.normal(size=(1, 2, 4, 4)), rng.normal(size=(2, 2, 3, 3))
    got = f(a, b)
    forward = aesara.function([x, w], y.flatten())
    for at_w in np.ndindex(*b.shape):
        unit = np.zeros_like(b)
        unit[at_w] = 1
        assert_close(got[(slice(None), *at_w)], forward(a, unit), size=1.0)
