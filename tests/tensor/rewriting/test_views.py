"""Operations that hand their input on are gone once gradients are taken."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import gradient
from aesara.compile.ops import OutputGuard, ViewOp, view_op

HANDED_ON = {
    "zero_grad": gradient.zero_grad,
    "disconnected_grad": gradient.disconnected_grad,
    "undefined_grad": gradient.undefined_grad,
    "grad_clip": lambda x: gradient.grad_clip(x, -1, 1),
    "grad_scale": lambda x: gradient.grad_scale(x, 2.0),
    "view_op": view_op,
}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("name", HANDED_ON)
def test_no_node_is_left(name, mode):
    x = at.dvector("x")
    f = aesara.function([x], [HANDED_ON[name](x * 2) + 1, HANDED_ON[name](x)], mode=mode)
    nodes = f.maker.fgraph.toposort()
    assert {type(node.op) for node in nodes if isinstance(node.op, ViewOp)} <= {OutputGuard}
    value = np.arange(3.0)
    computed, same = f(value)
    np.testing.assert_array_equal(computed, value * 2 + 1)
    np.testing.assert_array_equal(same, value)
    assert not np.shares_memory(same, value)


def test_gradients_are_what_the_operations_say():
    x = at.dvector("x")
    for name, factor in (("zero_grad", 0.0), ("grad_scale", 2.0), ("view_op", 1.0)):
        f = aesara.function([x], aesara.grad((HANDED_ON[name](x) * 3).sum(), x))
        np.testing.assert_array_equal(f(np.ones(2)), np.full(2, 3 * factor))


def test_classes_of_users_stay():
    class Watched(gradient.ZeroGrad):
        pass

    x = at.dvector("x")
    f = aesara.function([x], Watched()(x) * 2)
    assert next(type(node.op) for node in f.maker.fgraph.toposort()) is Watched
    assert f._native.report.python_nodes == {}
