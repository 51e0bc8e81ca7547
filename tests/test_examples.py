"""Compare the functions that the examples compile with NumPy. (`.ci/run` checks that the examples run to the end.)"""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from tests.closeness import assert_close

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

autoencoder = pytest.importorskip("autoencoder", exc_type=ImportError)
digits = pytest.importorskip("digits", exc_type=ImportError)
eight_schools = pytest.importorskip("eight_schools", exc_type=ImportError)
gaussian_process = pytest.importorskip("gaussian_process", exc_type=ImportError)
kalman_smoother = pytest.importorskip("kalman_smoother", exc_type=ImportError)
particle_filter = pytest.importorskip("particle_filter", exc_type=ImportError)
radon = pytest.importorskip("radon", exc_type=ImportError)
theano_networks = pytest.importorskip("theano_networks", exc_type=ImportError)


NEW_DIGITS = {  # what part of new digits each network must know after few epochs; one in ten is no knowledge
    "logistic regression": (3, 0.9),
    "perceptron": (3, 0.9),
    "convolutional network": (2, 0.7),
    "denoising autoencoder": (3, 0.9),
    "stacked autoencoders": (4, 0.9),
    "restricted Boltzmann machine": (4, 0.7),
    "LSTM": (4, 0.7),
}


@pytest.mark.parametrize("name", NEW_DIGITS)
def test_networks_of_theano_learn(name):
    assert set(NEW_DIGITS) == set(theano_networks.NETWORKS)
    epochs, share = NEW_DIGITS[name]
    assert theano_networks.NETWORKS[name](theano_networks.Digits(), epochs) > share


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
    assert_close(probabilities.sum(axis=1), 1.0)


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
        np.testing.assert_allclose(estimated, means, rtol=0, atol=20)
        np.testing.assert_allclose(spread, deviations, rtol=0.2)


def test_the_gaussian_process_has_the_likelihood_and_predictions_of_numpy(rng):
    objective, predict = gaussian_process.compile_model()
    x, new, y = rng.normal(size=(20, 3)), rng.normal(size=(5, 3)), rng.normal(size=20)
    parameters = np.log([1.0, 2.0, 0.5, 1.5, 0.3])

    def covariances(a, b, values):
        apart = (a[:, None] - b[None, :]) / np.exp(values[:-2])
        return np.exp(2 * values[-2]) * np.exp(-0.5 * (apart**2).sum(axis=-1))

    def minus_likelihood(values):
        matrix = covariances(x, x, values) + np.exp(2 * values[-1]) * np.eye(20)
        return 0.5 * (y @ np.linalg.solve(matrix, y) + np.linalg.slogdet(matrix)[1] + 20 * np.log(2 * np.pi))

    value, gradient = objective(parameters, x, y)
    assert value == pytest.approx(minus_likelihood(parameters), rel=1e-10)
    for k in range(5):
        step = 1e-5 * np.eye(5)[k]
        slope = (minus_likelihood(parameters + step) - minus_likelihood(parameters - step)) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-7)
    matrix = covariances(x, x, parameters) + 0.09 * np.eye(20)
    across = covariances(x, new, parameters)
    mean, variance = predict(parameters, x, y, new)
    np.testing.assert_allclose(mean, across.T @ np.linalg.solve(matrix, y), rtol=1e-9)
    expected = 1.5**2 + 0.09 - np.diag(across.T @ np.linalg.solve(matrix, across))
    np.testing.assert_allclose(variance, expected, rtol=1e-9)


def test_the_smoother_conditions_on_all_years(rng):
    """The same from the joint normal distribution of all levels and measurements."""
    objective, smooth = kalman_smoother.compile_level()
    flow, logarithms = kalman_smoother.FLOW[:12], np.log([40.0, 120.0])
    early = np.minimum.outer(np.arange(12), np.arange(12)) + 1.0
    levels = kalman_smoother.SPREAD**2 + 40.0**2 * early
    measured = levels + 120.0**2 * np.eye(12)
    error = flow - kalman_smoother.START
    expected = kalman_smoother.START + levels @ np.linalg.solve(measured, error)
    variances = np.diag(levels - levels @ np.linalg.solve(measured, levels))
    level, variance, _ = smooth(logarithms, flow)
    np.testing.assert_allclose(level, expected, rtol=1e-9)
    np.testing.assert_allclose(variance, variances, rtol=1e-6)

    def minus_likelihood(values):
        matrix = levels + (np.exp(2 * values[0]) - 1600) * early + (np.exp(2 * values[1])) * np.eye(12)
        return 0.5 * (error @ np.linalg.solve(matrix, error) + np.linalg.slogdet(matrix)[1] + 12 * np.log(2 * np.pi))

    value, gradient = objective(logarithms, flow)
    assert value == pytest.approx(minus_likelihood(logarithms), rel=1e-8)
    for k in range(2):
        step = 1e-4 * np.eye(2)[k]
        slope = (minus_likelihood(logarithms + step) - minus_likelihood(logarithms - step)) / 2e-4
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-5)


def test_eight_schools_has_the_means_of_an_integral():
    chain = eight_schools.compile_chain()
    key = np.array([0, 7], dtype="uint32")
    positions, accepted = chain(key, np.zeros(eight_schools.SIZE), 0.25, 8000)
    assert 0.9 < accepted.mean() < 1
    effects = eight_schools.effects_of(positions[500:])
    # Means of 16 parts of the chain say how far its mean may be off.
    error = effects[: 16 * (len(effects) // 16)].reshape(16, -1, 8).mean(axis=1).std(axis=0) / 4
    np.testing.assert_array_less(abs(effects.mean(axis=0) - eight_schools.exact_means()), 4 * error)
    # A rejected step stays where it was.
    stays = (positions[1:] == positions[:-1]).all(axis=1)
    np.testing.assert_array_equal(stays, ~accepted[1:])
    again, _ = chain(key, np.zeros(eight_schools.SIZE), 0.25, 10)
    np.testing.assert_array_equal(again, positions[:10])


def test_the_autoencoder_has_the_bound_and_the_steps_of_numpy(rng):
    start = [p + 0.1 * rng.normal(size=p.shape) for p in autoencoder.initial_parameters(2, 5, rng)]
    model = autoencoder.compile_model(start, autoencoder.RandomStream(3))
    # Draws of the bound, and of the likelihood.
    first, second = (np.random.default_rng(seed) for seed in np.random.SeedSequence(3).spawn(2))
    images = rng.integers(0, autoencoder.POINTS + 1, (6, autoencoder.PIXELS)).astype("float64")

    def networks(parameters):
        w1, b1, w2, b2, w3, b3, w4, b4 = parameters
        encoded = np.maximum(images / autoencoder.POINTS @ w1 + b1, 0) @ w2 + b2
        mean, deviation = encoded[:, :2], np.exp(encoded[:, 2:])
        return mean, deviation, lambda code: 1 / (1 + np.exp(-(np.maximum(code @ w3 + b3, 0) @ w4 + b4)))

    def log_densities(parameters, noise):
        """Of pixels, of codes in the model, and of codes in the encoder; without constants."""
        mean, deviation, decode = networks(parameters)
        code = mean + deviation * noise
        p = decode(code)
        pixels = (images * np.log(p) + (autoencoder.POINTS - images) * np.log(1 - p)).sum(axis=-1)
        return pixels, -(code**2).sum(axis=-1) / 2, -(noise**2 / 2 + np.log(deviation)).sum(axis=-1)

    def bound(parameters, noise):
        mean, deviation, _ = networks(parameters)
        divergence = ((mean**2 + deviation**2 - 1) / 2 - np.log(deviation)).sum(axis=1)
        return (log_densities(parameters, noise)[0] - divergence).mean()

    noise = first.normal(size=(6, 2))
    assert model.step(images, 0.01) == pytest.approx(bound(start, noise), rel=1e-10)
    # The first step of Adam goes the same way along every parameter, up or down with the gradient.
    for number, parameter in enumerate(start):
        moved = model.parameters[number].get_value() - parameter
        for index in [(0,) * parameter.ndim, tuple(n - 1 for n in parameter.shape)]:
            sides = [[p.copy() for p in start] for _ in range(2)]
            for side, by in zip(sides, (1e-6, -1e-6)):
                side[number][index] += by
            slope = (bound(sides[0], noise) - bound(sides[1], noise)) / 2e-6
            assert moved[index] == pytest.approx(0.01 * np.sign(slope), rel=1e-4, abs=1e-9)

    trained = [p.get_value() for p in model.parameters]
    assert model.bound(images) == pytest.approx(bound(trained, first.normal(size=(6, 2))), rel=1e-10)
    pixels, prior, encoder = log_densities(trained, second.normal(size=(50, 6, 2)))
    ratios = pixels + prior - encoder
    expected = np.log(np.exp(ratios - ratios.max(axis=0)).mean(axis=0)) + ratios.max(axis=0)
    np.testing.assert_allclose(model.likelihood(images, 50), expected, rtol=1e-10)
    mean, deviation, decode = networks(trained)
    np.testing.assert_allclose(model.encode(images), [mean, deviation], rtol=1e-10)
    np.testing.assert_allclose(model.decode(mean), decode(mean), rtol=1e-10)
    # Later steps, whose moments are not zero, go uphill as well.
    many = [model.step(images, 0.01) for _ in range(200)]
    assert np.mean(many[-20:]) > np.mean(many[:20]) + 20


def test_pixels_that_know_nothing_of_one_another():
    train, test = np.array([[4.0, 0.0], [12.0, 0.0]]), np.array([[8.0, 0.0]])
    middle, never = scipy.stats.binom(16, 16.5 / 33), scipy.stats.binom(16, 0.5 / 33)
    expected = middle.logpmf(8) + never.logpmf(0)
    assert autoencoder.independent_pixels(train, test) == pytest.approx(expected, rel=1e-12)
