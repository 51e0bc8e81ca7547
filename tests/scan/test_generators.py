"""Generators as states of loops, and gradients of loops that draw."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan.utils import until
from aesara.tensor.random.generators import same_state

MODES = ["FAST_COMPILE", "FAST_RUN"]


def new(seed=4):
    return np.random.default_rng(seed)


def walk(x, rng, scale):
    """A step of a random walk, which takes and returns the state of a generator."""
    noise = at.random.normal(0.0, scale, rng=rng)
    return x + noise, noise.owner.outputs[0]


def walking(rng, scale, steps, **options):
    (path, last), updates = aesara.scan(
        walk, outputs_info=[at.zeros(()), rng], non_sequences=scale, n_steps=steps, **options
    )  # fmt: skip
    assert not updates and last.type == rng.type
    return path, last


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_generator_as_first_value(mode, steps):
    """Each step draws from the state that the step before has left; the output is the last state."""
    rng, twin, scale = aesara.shared(new()), new(), at.dscalar("scale")
    path, last = walking(rng, scale, steps)
    slope = aesara.grad(path[-1], scale)
    f = aesara.function([scale], [path, slope], updates=[(rng, last)], mode=mode)
    for value in (2.0, 0.0):
        drawn = twin.normal(size=steps)
        found, derivative = f(value)
        np.testing.assert_allclose(found, np.cumsum(value * drawn), rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(derivative, drawn.sum(), rtol=1e-13)
        assert same_state(rng.get_value(), twin)
    if mode == "FAST_RUN":
        assert not aesara.explain(f).python and aesara.explain(f).fallback is None


def test_generator_that_is_no_shared_variable():
    """An input, and the state that a draw before the loop has left."""
    rng, scale = at.random.type.random_generator_type("rng"), at.dscalar("scale")
    first = at.random.normal(rng=rng)
    path, last = walking(first.owner.outputs[0], scale, 3)
    f = aesara.function([rng, scale], [first, path, last])
    given, twin = new(), new()
    one, found, left = f(given, 2.0)
    assert one == twin.normal()
    np.testing.assert_allclose(found, np.cumsum(2.0 * twin.normal(size=3)), rtol=1e-14)
    assert same_state(left, twin) and same_state(given, new())


@pytest.mark.parametrize("mode", MODES)
def test_loops_that_end_early(mode):
    rng = aesara.shared(new())

    def step(x, state):
        noise = at.random.uniform(rng=state)
        return [x + noise, noise.owner.outputs[0]], until(x + noise > 2.0)

    (path, last), _ = aesara.scan(step, outputs_info=[at.zeros(()), rng], n_steps=50)
    f = aesara.function([], path, updates=[(rng, last)], mode=mode)
    twin, wanted = new(), [0.0]
    while wanted[-1] <= 2.0:
        wanted.append(wanted[-1] + twin.uniform())
    np.testing.assert_allclose(f(), wanted[1:], rtol=1e-14)
    assert same_state(rng.get_value(), twin)


def test_reduce_and_checkpoints():
    rng, twin = aesara.shared(new()), new()

    def step(entry, total, state):
        noise = at.random.normal(rng=state)
        return total + entry * noise, noise.owner.outputs[0]

    x = at.dvector("x")
    (total, last), _ = aesara.reduce(step, x, [at.zeros(()), rng])
    f = aesara.function([x], total, updates=[(rng, last)])
    np.testing.assert_allclose(f(np.arange(4.0)), np.arange(4.0) @ twin.normal(size=4), rtol=1e-14)
    assert same_state(rng.get_value(), twin)


def test_what_is_refused():
    rng, other = aesara.shared(new()), aesara.shared(np.random.RandomState(1))

    def draws(state):
        noise = at.random.normal(rng=state)
        return noise.owner.outputs[0]

    with pytest.raises(TypeError, match=r"is no dense tensor, so that a loop keeps its last value only.*\[-2, -1\]"):
        aesara.scan(lambda a, b: draws(b), outputs_info=[{"initial": rng, "taps": [-2, -1]}], n_steps=3)
    with pytest.raises(TypeError, match="is no dense tensor, so that its values cannot be stacked"):
        aesara.scan(lambda: draws(rng), n_steps=3)
    with pytest.raises(TypeError, match="has type RandomStateType, but its first value .* RandomGeneratorType"):
        aesara.scan(lambda state: draws(other), outputs_info=[rng], n_steps=3)


STEPS = {
    "the draw is the state": lambda x, stream, scale: stream.normal(x, scale),
    "the draw is a term": lambda x, stream, scale: x + stream.normal(0.0, scale),
    "the draw is a factor": lambda x, stream, scale: x + scale * stream.normal(),
    "two draws": lambda x, stream, scale: x * stream.uniform() + scale * stream.gamma(2.0 + scale, 1.0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STEPS)
def test_gradients_through_loops_that_draw(name, mode):
    """They are the differences of what the loop gives from the same states of its generators."""
    stream, x0, scale = at.random.RandomStream(4), at.dscalar("x0"), at.dscalar("scale")
    path, _ = aesara.scan(lambda x: STEPS[name](x, stream, scale), outputs_info=[x0], n_steps=5)
    cost = (path * at.arange(1.0, 6.0)).sum()
    f = aesara.function([x0, scale], cost, mode=mode, no_default_updates=True)
    slopes = aesara.grad(cost, [x0, scale])
    g = aesara.function([x0, scale], slopes, mode=mode, no_default_updates=True)
    step = 1e-6
    in_x0 = (f(0.5 + step, 0.7) - f(0.5 - step, 0.7)) / (2 * step)
    if name != "two draws":
        in_scale = (f(0.5, 0.7 + step) - f(0.5, 0.7 - step)) / (2 * step)
        np.testing.assert_allclose(g(0.5, 0.7), [in_x0, in_scale], rtol=1e-7)
    np.testing.assert_allclose(g(0.5, 0.7)[0], in_x0, rtol=1e-7)
    assert g(0.5, 0.7)[1] == g(0.5, 0.7)[1]


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_loops_that_end_early(mode):
    stream, scale = at.random.RandomStream(4), at.dscalar("scale")

    def step(x):
        new = x + scale * stream.uniform()
        return new, until(new > 2.0)

    path, updates = aesara.scan(step, outputs_info=[at.zeros(())], n_steps=50)
    (start,) = (rng.get_value() for rng, _ in stream.state_updates)
    f = aesara.function([scale], [path, aesara.grad(path[-1], scale)], updates=updates, mode=mode)
    found, slope = f(1.0)
    assert 1 < len(found) < 50
    np.testing.assert_allclose(slope, start.uniform(size=len(found)).sum(), rtol=1e-13)
