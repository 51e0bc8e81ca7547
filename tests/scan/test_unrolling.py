"""Short loops over numbers become their steps; others stay."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.scan import scan, until
from aesara.scan.op import Scan
from tests.closeness import assert_close

a, b, x, v, n = at.dscalar("a"), at.dscalar("b"), at.dvector("x"), at.dvector("v"), at.lscalar("n")


def compiled(inputs, outputs, *excluded, **options):
    """A function, and how many loops it has."""
    mode = get_mode("FAST_RUN").excluding(*excluded)
    f = aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore", **options)
    return f, sum(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes)


def assert_unrolled(inputs, outputs, *values, loops=0):
    """Check that no loop is left, and that results are those of loops."""
    f, count = compiled(inputs, outputs)
    g, kept = compiled(inputs, outputs, "scan_unroll")
    assert count == loops < kept
    for got, want in zip(f(*values), g(*values), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_all_steps_and_the_last():
    states, _ = scan(lambda s, b: at.tanh(s) * b, None, a, b, n_steps=5)
    assert_unrolled([a, b], [states, states[-1], states[1:3]], 0.4, 2.0)


def test_taps_sequences_and_results():
    given = at.TensorType("float64", (6,))("given")

    def step(e, later, old, new, s, b):
        return [new * b - old + e, s + later, s * new]

    sequence = {"input": given, "taps": [0, 2]}
    first = {"initial": at.stack([a, b]), "taps": [-2, -1]}
    (p, q, r), _ = scan(step, sequence, [first, at.constant(0.5, dtype="float64"), None], b)
    assert_unrolled([a, b, given], [p, q, r, r[-1]], 0.4, 2.0, np.arange(6.0))


def test_a_sequence_that_may_be_too_short():
    states, _ = scan(lambda e, s: s * 0.5 + e, x, a, n_steps=3)
    assert_unrolled([a, x], [states], 0.5, np.arange(3.0))
    f, count = compiled([a, x], states)
    assert not count
    with pytest.raises(ValueError, match="fewer entries than the 3 steps"):
        f(0.5, [1.0, 2.0])


def test_gradients():
    states, _ = scan(lambda s, b: at.sin(s) * b, None, a, b, n_steps=2)
    cost = (states**2).sum()
    assert_unrolled([a, b], [cost, *aesara.grad(cost, [a, b])], 0.4, 2.0)
    # Those of more steps are loops, and so are the loops that these read.
    states, _ = scan(lambda s, b: at.sin(s) * b, None, a, b, n_steps=12)
    _, count = compiled([a, b], [states[-1], *aesara.grad(states[-1], [a, b])])
    assert count == 2


@pytest.mark.parametrize("excluded", [(), ("scan_unroll",)])
def test_draws_and_updates_of_shared_variables(excluded):
    stream = at.random.RandomStream(seed=3)
    total = aesara.shared(1.0, name="total")

    def step(s):
        return [s + stream.normal()], {total: total * 2.0 + s}

    states, updates = scan(step, None, a, n_steps=3)
    f, count = compiled([a], states, *excluded, updates=updates)
    assert count == len(excluded)
    first, second = f(0.5), f(0.5)
    assert (first != second).all()
    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
    draws = rng.normal(size=6)
    assert_close(first, 0.5 + np.cumsum(draws[:3]))
    assert_close(second, 0.5 + np.cumsum(draws[3:]))
    want = 1.0
    for rows in (first, second):
        for s in (0.5, *rows[:2]):
            want = want * 2 + s
    assert_close(total.get_value(), want)


def test_a_loop_in_a_loop():
    def step(s, b):
        inner, _ = scan(lambda p, b: p * b + 1.0, None, s, b, n_steps=2)
        return inner[-1]

    states, _ = scan(step, None, a, b, n_steps=n)
    f, count = compiled([a, b, n], states)
    (loop,) = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    assert count == 1 and not any(isinstance(node.op, Scan) for node in loop.op.fgraph.apply_nodes)
    assert_close(f(1.0, 2.0, 3), [7.0, 31.0, 127.0])


def test_errors_name_the_line_of_the_step():
    def step(s, x):
        return s + x[at.cast(s, "int64")]  # the line

    states, _ = scan(step, None, a, x, n_steps=3)
    f, count = compiled([a, x], states[-1])
    assert not count
    assert_close(f(0.0, [1.0, 1.0, 2.0]), 4.0)
    with pytest.raises(IndexError, match="index 3 is out of bounds(.|\n)*the line"):
        f(0.0, [1.0, 2.0, 2.0])


def loops_that_stay():
    yield "many steps", scan(lambda s: s * b, None, a, n_steps=1000)
    yield "an unknown number", scan(lambda s: s * b, None, a, n_steps=n)
    yield "vectors", scan(lambda s: at.tanh(s), None, v, n_steps=3)
    yield "may end early", scan(lambda s: (s * b, until(s > 3)), None, a, n_steps=3)
    yield "a mode of its own", scan(lambda s: s * b, None, a, n_steps=3, mode="FAST_COMPILE")
    yield "long steps", scan(lambda s: sum(at.sin(s * k) for k in range(2, 20)), None, a, n_steps=3)


def test_others_stay():
    for why, (states, _) in loops_that_stay():
        assert compiled([a, b, n, v], states)[1] == 1, why
