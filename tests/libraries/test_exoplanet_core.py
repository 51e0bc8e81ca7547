"""exoplanet-core: Kepler's equation and a light curve, with gradients, in operations that are written in C++."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

ops = pytest.importorskip("exoplanet_core.pymc4.ops", exc_type=ImportError)

pytestmark = pytest.mark.filterwarnings("ignore:.*gcc__cxxflags")


def test_keplers_equation():
    mean, eccentricity = at.vectors("mean", "eccentricity")
    sine, cosine = ops.kepler(mean, eccentricity)
    f = aesara.function([mean, eccentricity], [sine, cosine, *aesara.grad(sine.sum(), [mean, eccentricity])])
    anomaly, e = np.linspace(-3, 3, 21), np.linspace(0.05, 0.9, 21)
    true = 2 * np.arctan(np.sqrt((1 + e) / (1 - e)) * np.tan(anomaly / 2))
    value = anomaly - e * np.sin(anomaly)
    found = f(value, e)
    np.testing.assert_allclose(found[:2], [np.sin(true), np.cos(true)], rtol=0, atol=1e-12)
    step = 1e-6
    steps = [(f(value + step, e), f(value - step, e)), (f(value, e + step), f(value, e - step))]
    for k, (up, down) in enumerate(steps):
        np.testing.assert_allclose(found[2 + k], (up[0] - down[0]) / (2 * step), rtol=1e-4, atol=1e-6)


def test_the_shadow_of_a_small_planet():
    """Without limb darkening, a planet within the disk takes away the share that its own disk has."""
    distance, radius = at.vector("distance"), at.scalar("radius")
    light = ops.quad_solution_vector(distance, radius + at.zeros_like(distance))[:, 0] / np.pi
    f = aesara.function([distance, radius], [light, aesara.grad(light.sum(), radius)])
    found, slope = f(np.array([0.0, 0.3, 0.8, 1.5]), 0.1)
    np.testing.assert_allclose(found, [0.99, 0.99, 0.99, 1.0], rtol=1e-12)
    assert slope == pytest.approx(-3 * 2 * 0.1, rel=1e-9)
