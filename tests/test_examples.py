"""What the examples compile computes what NumPy computes. (That they run to the end, `.ci/run` checks.)"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

digits = pytest.importorskip("digits", exc_type=ImportError)
particle_filter = pytest.importorskip("particle_filter", exc_type=ImportError)
radon = pytest.importorskip("radon", exc_type=ImportError)


def test_digits_does_the_step_of_numpy():
    rng = np.random.default_rng(0)
    start = digits.initial_parameters(7, rng)
    step, predict, shared = digits.build(start, 1e-3)
    by_hand = [p.copy() for p in start]
    for _ in range(3):
        images, labels = rng.random((12, digits.PIXELS)), rng.integers(0, digits.CLASSES, 12)
        loss = step(images, labels, 0.3)
        np.testing.assert_allclose(loss, digits.numpy_step(by_hand, images, labels, 0.3, 1e-3), rtol=1e-10)
    for variable, value in zip(shared, by_hand):
        np.testing.assert_allclose(variable.get_value(), value, rtol=1e-9, atol=1e-12)
    probabilities = predict(images)
    assert probabilities.shape == (12, digits.CLASSES)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_radon_has_the_gradient_of_finite_differences():
    houses = radon.simulate(np.random.default_rng(0))
    model = radon.compile_model(houses)
    position = 0.3 * np.random.default_rng(1).normal(size=radon.SIZE)
    _, gradient = model(position)
    assert gradient.shape == (radon.SIZE,)
    for k in [*range(5), 5, 40, 5 + radon.COUNTIES, radon.SIZE - 1]:
        step = np.zeros(radon.SIZE)
        step[k] = 1e-6
        slope = (model(position + step)[0] - model(position - step)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-4)


def test_radon_adapts_and_samples_a_known_distribution():
    """The sampler draws from a normal distribution of the model's size as it should."""

    def model(position):
        return -0.5 * float(position @ position), -position

    draws, accepted, calls = radon.sample(model, 300, 200, 8, np.random.default_rng(0), "normal")
    assert draws.shape == (300, radon.SIZE)
    assert 0.6 < accepted <= 1.0
    assert calls > 300
    assert abs(draws.mean()) < 0.05
    assert abs(draws.std() - 1) < 0.05


def test_the_particle_filter_estimates_what_the_kalman_filter_computes():
    run = particle_filter.compile_filter(2000, particle_filter.RandomStream(5))
    exact, means, deviations = particle_filter.kalman_filter(particle_filter.FLOW, 38.3, 122.9)
    first, second = (run(particle_filter.FLOW, 38.3, 122.9) for _ in range(2))
    assert first[0] != second[0]
    for total, estimated, spread in (first, second):
        assert abs(total - exact) < 1
        np.testing.assert_allclose(estimated, means, atol=20)
        np.testing.assert_allclose(spread, deviations, rtol=0.2)
