"""The loop that the gradient of a loop is: which rows it reads, what it carries, and its test values."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.basic import ancestors
from aesara.scan.op import Scan
from aesara.tensor.random import RandomStream
from tests.closeness import assert_close

x, w = at.dvector("x"), at.dscalar("w")
one, zero = at.constant(1.0, dtype="float64"), at.constant(0, dtype="int64")
pair, ones = at.constant(np.ones(2)), aesara.shared(np.ones(2))


def twice(e, h, g):
    new = at.tanh(h * w + e)
    return [new, new]


#: the step, its first values, and how many sequences are read, states carried and results returned: each loop reads x,
#: the former values of each state, and the gradients that are given; and it carries the gradients of w and the states
LOOPS = {
    "its new value is read": (lambda e, h: at.tanh(h * w + e), [one], (4, 2, 1)),
    "one new value of two states is read once": (twice, [one, one], (6, 3, 1)),
    "what a step is given is no new value": (lambda e, h: [e, e**2 * h * w], [one, None], (4, 2, 1)),
    "a new value of a known shape": (
        lambda e, h: at.exp(h.sum() * w + e * ones), [pair], (4, 3, 1),
    ),
    "a new value that is read with and without its known shape": (
        lambda e, h: [new := at.exp(h.sum() * w + e * ones), at.specify_shape(new, (2,)) ** 2], [pair, None], (5, 3, 1),
    ),
    "a state of integers carries nothing": (lambda e, h, n: [h * w * e, n + 1], [one, zero], (4, 2, 1)),
}  # fmt: skip


def gradients(step, first):
    states, _ = aesara.scan(step, x, first)
    real = [s for s in (states if isinstance(states, list) else [states]) if s.type.dtype == "float64"]
    return aesara.grad(sum(s.sum() for s in real), [x, w])


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_read_and_carried(name):
    step, first, counts = LOOPS[name]
    nodes = {v.owner for v in ancestors(gradients(step, first)) if v.owner is not None and isinstance(v.owner.op, Scan)}
    (loop,) = (node.op for node in nodes if str(node.op.name).startswith("grad_of"))
    info = loop.info
    assert (info.n_seqs, len(info.sit_sot_in_slices), info.n_nit_sot) == counts
    assert not {"tanh", "exp"} & {str(getattr(node.op, "scalar_op", "")) for node in loop.fgraph.apply_nodes}


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("name", [*LOOPS, "draws"])
def test_gradients_have_test_values(name, steps):
    with aesara.config.change_flags(compute_test_value="raise"):
        rows, factor = at.dvector("rows"), at.dscalar("factor")
        rows.tag.test_value, factor.tag.test_value = np.linspace(0.5, 1.0, steps), 0.7
        if name == "draws":
            draws = RandomStream(3)
            states, _ = aesara.scan(lambda e, h, f: at.tanh(h * f * draws.normal() + e), rows, one, factor)
            found = aesara.grad(states.sum(), [rows, factor])
            assert [v.tag.test_value.shape for v in found] == [(steps,), ()]
            return
        step, first, _ = LOOPS[name]
        x.tag.test_value, w.tag.test_value = rows.tag.test_value, factor.tag.test_value
        found = gradients(step, first)
        values = [v.tag.test_value for v in found]
        del x.tag.test_value, w.tag.test_value
    for value, wanted in zip(values, aesara.function([x, w], found)(rows.tag.test_value, 0.7), strict=True):
        assert_close(value, wanted)


def test_steps_have_no_values_that_are_not_in_use():
    rows, factor = at.dvector("rows"), at.dscalar("factor")
    rows.tag.test_value, factor.tag.test_value = np.ones(3), np.array(2.0)
    scaled, _ = aesara.scan(lambda e, f: e * f, rows, non_sequences=factor)
    assert not any(hasattr(v.tag, "test_value") for v in scaled.owner.op.inner_inputs)
