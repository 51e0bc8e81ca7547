"""Zeros of which two terms write both parts: gradients of `roll` are joins, as `roll` is."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.subtensor import IncSubtensor

m, k = at.dmatrix("m"), at.lscalar("k")
VALUE = np.random.default_rng(3).normal(size=(4, 5))


def writes(f):
    return sum(isinstance(node.op, IncSubtensor) for node in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("shift", [1, -2, 7, k])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("beside", [False, True])
def test_gradients_of_roll(shift, axis, beside):
    rolled = at.roll(m, shift, axis) + (3 * m if beside else 0)
    weights = at.constant(np.arange(20.0).reshape(4, 5))
    f = aesara.function([m, k], aesara.grad((rolled * weights).sum(), m), on_unused_input="ignore")
    assert writes(f) == 0
    by = 3 if shift is k else shift
    wanted = np.roll(weights.data, -by, axis) + (3 * weights.data if beside else 0)
    np.testing.assert_array_equal(f(VALUE, 3), wanted)


def test_gradient_of_a_stencil():
    """Each of four shifts is a pair among the terms of one sum."""
    total = sum(at.roll(m, by, axis) for by in (1, -1) for axis in (0, 1)) - 4 * m
    f, g = (aesara.function([m], aesara.grad((total**2).sum(), m), mode=mode) for mode in ("FAST_RUN", "FAST_COMPILE"))
    assert writes(f) == 0
    np.testing.assert_allclose(f(VALUE), g(VALUE), rtol=1e-13)


ZERO = at.zeros((4, 5))


@pytest.mark.parametrize(
    "expression",
    [
        at.set_subtensor(ZERO[:2], m[:2]) + at.set_subtensor(ZERO[1:], m[1:]),
        at.set_subtensor(ZERO[:2], m[:2]) + at.set_subtensor(ZERO[:2], m[2:]),
        at.set_subtensor(ZERO[:2], m[:2]) + at.set_subtensor(ZERO[:, 2:], m[:, 2:]),
        at.set_subtensor(ZERO[:2], m[:1]) + at.set_subtensor(ZERO[2:], m[2:]),
        at.set_subtensor(ZERO[:k], m[:1]) + at.set_subtensor(ZERO[k:], m[2:3]),
        at.set_subtensor((m + 0)[:2], m[:2]) + at.set_subtensor(ZERO[2:], m[2:]),
        at.set_subtensor(ZERO[:2:-1], m[:1]) + at.set_subtensor(ZERO[2:], m[2:]),
        at.set_subtensor((m + at.set_subtensor(ZERO[:2], m[:2]))[2:], m[2:]),
    ],
)
def test_parts_that_are_not_both(expression):
    """Those that overlap or that something else is below stay what they are; rows may be repeated."""
    f, g = (
        aesara.function([m, k], expression, mode=mode, on_unused_input="ignore")
        for mode in ("FAST_RUN", "FAST_COMPILE")
    )
    np.testing.assert_array_equal(f(VALUE, 2), g(VALUE, 2))
