"""Sequences that are views of what is in memory, such as those of gradients, are read where they are."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Allocate
from aesara.scan import scan

x, m, c = at.dvector("x"), at.dmatrix("m"), at.dtensor3("c")
z = at.zmatrix("z")
k = at.lscalar("k")

#: a sequence, and whether its rows are read in place
VIEWS = {
    "backwards": (x[::-1], True),
    "every other": (x[1::2], True),
    "from the end, every third": (x[::-3], True),
    "from a variable on": (x[k:], True),
    "a column": (m[:, 1], True),
    "rows": (m[::-2], True),
    "rows of planes": (c[::-1, 1], True),
    "rows in another order": (m[::-1].dimshuffle(0, 1)[1:], True),
    "columns": (m.T, False),
    "parts of rows": (m[::-1, 1:], True),
    "every other column": (m[:, ::2], False),
    "rows of a number": (m[:, 1:2], True),
    "planes across": (c.dimshuffle(1, 0, 2), False),
    "what is computed": (at.exp(x)[::-1], False),
}


def total(sequence):
    states, _ = scan(lambda e, s: at.tanh(s * 0.5 + e), sequence, at.zeros_like(sequence[0]))
    return states


def memory_of(f):
    """The shapes of what a function computes in memory."""
    return [s.buffer for s in f._native.report.lowering.program.all_steps() if isinstance(s, Allocate)]


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_read_in_place(name):
    sequence, in_place = VIEWS[name]
    rng = np.random.default_rng(3)
    values = {x: rng.normal(size=7), m: rng.normal(size=(5, 4)), c: rng.normal(size=(4, 3, 2)), k: 2}
    inputs = [v for v in values if v in set(aesara.graph.traversal.graph_inputs([sequence]))]
    given = [values[v] for v in inputs]
    out = total(sequence)
    f, reference = (aesara.function(inputs, out, mode=mode) for mode in ("FAST_RUN", "FAST_COMPILE"))
    np.testing.assert_allclose(f(*given), reference(*given), rtol=1e-13)
    assert len(memory_of(f)) == len(memory_of(aesara.function([m], total(m)))) + (not in_place)


def test_results_of_other_loops_are_read_from_their_end():
    """In a gradient: states, cosines, and cotangents of all states are all that takes memory."""
    n = at.lscalar("n")
    states, _ = scan(lambda s: at.sin(s), None, x, n_steps=n)
    f = aesara.function([x, n], aesara.grad((states**2).sum(), x))
    rows = [buffer for buffer in memory_of(f) if len(buffer.shape) == 2 and not buffer.shape[0].is_const]
    assert len(rows) == 3
    point = np.linspace(-1.0, 1.0, 5)
    for steps in (0, 1, 6):
        want, derivative = point, np.ones(5)
        slope = np.zeros(5)
        for _ in range(steps):
            derivative, want = derivative * np.cos(want), np.sin(want)
            slope += 2 * want * derivative
        np.testing.assert_allclose(f(point, steps), slope, rtol=1e-12)


def test_complex_rows_from_the_end():
    out = scan(lambda e, s: s * 0.5 + e, z[::-1], at.zeros_like(z[0]))[0]
    value = np.random.default_rng(0).normal(size=(4, 3)) + 1j
    results = [aesara.function([z], out, mode=mode)(value) for mode in ("FAST_RUN", "FAST_COMPILE")]
    np.testing.assert_allclose(*results, rtol=1e-14)


def test_a_sequence_that_its_reader_writes_over():
    """The old value of a shared variable is read to its end before the new one is there."""
    state = aesara.shared(np.arange(1.0, 6.0))
    out = scan(lambda e, s: s + e, state[::-1], at.zeros(()))[0]
    f = aesara.function([], out[-1], updates={state: out})
    assert f() == 15.0
    np.testing.assert_array_equal(state.get_value(), [5.0, 9.0, 12.0, 14.0, 15.0])


def test_too_few_rows_are_found_before_the_loop():
    out = scan(lambda e, s: s + e, x[::-2], at.zeros(()), n_steps=k)[0]
    f = aesara.function([x, k], out)
    with pytest.raises(ValueError, match="sequence 0 has 2 entries, but there are 3 steps"):
        f([1.0, 2.0, 3.0], 3)
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], 2), [3.0, 4.0])
