"""Bambi 0.9.2, which builds models of PyMC 4 from formulas: regressions, against closed forms and proportions."""

import importlib.metadata

import numpy as np
import pytest

if not any(d.version.startswith("4.") for d in importlib.metadata.distributions(name="pymc")):
    pytest.skip("needs PyMC 4", allow_module_level=True)  # before NumPy is changed for it

import tests.libraries.removed_numpy_names  # noqa: F401

bambi = pytest.importorskip("bambi")
pandas = pytest.importorskip("pandas")


def posterior(model):
    fitted = model.fit(
        draws=400, tune=300, chains=1, cores=1, random_seed=3, progressbar=False, compute_convergence_checks=False
    )
    return fitted.posterior


def test_regression():
    generator = np.random.default_rng(5)
    x = generator.normal(size=60)
    data = pandas.DataFrame({"x": x, "y": 1.0 + 2.0 * x + 0.5 * generator.normal(size=60)})
    found = posterior(bambi.Model("y ~ x", data))
    slope, intercept = np.polyfit(data.x, data.y, 1)
    np.testing.assert_allclose(found["x"].mean(), slope, rtol=0, atol=0.05)
    np.testing.assert_allclose(found["Intercept"].mean(), intercept, rtol=0, atol=0.05)


def test_groups():
    generator = np.random.default_rng(6)
    group = np.repeat(list("abc"), 30)
    level = np.repeat([0.0, 2.0, -2.0], 30)
    data = pandas.DataFrame({"g": group, "y": level + 0.3 * generator.normal(size=90)})
    found = posterior(bambi.Model("y ~ 1 + (1|g)", data))
    levels = found["Intercept"] + found["1|g"]
    means = data.groupby("g").y.mean().to_numpy()
    np.testing.assert_allclose(levels.mean(("chain", "draw")), means, rtol=0, atol=0.1)


def test_logistic_regression_of_a_constant_is_a_proportion():
    data = pandas.DataFrame({"z": [1] * 24 + [0] * 16})
    found = posterior(bambi.Model("z ~ 1", data, family="bernoulli"))
    np.testing.assert_allclose((1 / (1 + np.exp(-found["Intercept"]))).mean(), 0.6, rtol=0, atol=0.03)
