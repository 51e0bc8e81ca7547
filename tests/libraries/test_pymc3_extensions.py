"""celerite2 and pymc3-hmm, which add Gaussian processes of series and hidden states to PyMC 3."""

import importlib.metadata

import numpy as np
import pytest
from scipy import stats

if not any(d.version.startswith("3.") for d in importlib.metadata.distributions(name="pymc3")):
    pytest.skip("needs PyMC 3", allow_module_level=True)

import tests.libraries.theano_time  # noqa: F401
from tests.libraries.sampling import sampled

import theano.tensor as tt  # isort: skip

pm = pytest.importorskip("pymc3", exc_type=ImportError)


def test_a_celerite_process():
    celerite = pytest.importorskip("celerite2.pymc3", exc_type=ImportError)
    generator = np.random.default_rng(2)
    times = np.sort(generator.uniform(0, 10, 25))
    values = np.sin(times) + 0.1 * generator.normal(size=25)
    with pm.Model() as model:
        log_rate = pm.Normal("log_rate", 0.0, 1.0)
        kernel = celerite.terms.RealTerm(a=0.8, c=tt.exp(log_rate))
        process = celerite.GaussianProcess(kernel, t=times, diag=np.full(25, 0.01))
        process.marginal("y", observed=values)
        pm.Deterministic("ahead", process.predict(values, t=np.array([2.5, 11.0])))

    def wanted(rate):
        covariance = 0.8 * np.exp(-np.exp(rate) * abs(times[:, None] - times)) + 0.01 * np.eye(25)
        density = stats.multivariate_normal.logpdf(values, np.zeros(25), covariance)
        return density + stats.norm.logpdf(rate), covariance

    density, covariance = wanted(0.3)
    assert model.logp({"log_rate": 0.3}) == pytest.approx(density, rel=1e-9)
    slope = (wanted(0.3 + 1e-5)[0] - wanted(0.3 - 1e-5)[0]) / 2e-5
    assert model.dlogp()({"log_rate": np.array(0.3)})[0] == pytest.approx(slope, rel=1e-5)
    across = 0.8 * np.exp(-np.exp(0.3) * abs(np.array([2.5, 11.0])[:, None] - times))
    found = model.fn(model["ahead"])({"log_rate": np.array(0.3)})
    np.testing.assert_allclose(found, across @ np.linalg.solve(covariance, values), rtol=1e-8)
    assert np.isfinite(sampled(pm, model, 50, return_inferencedata=False)["log_rate"]).all()


def test_hidden_states():
    """The chain of states is found from counts of which the rates are far from each other, and its transitions."""
    hmm = pytest.importorskip("pymc3_hmm.distributions", exc_type=ImportError)
    steps = pytest.importorskip("pymc3_hmm.step_methods", exc_type=ImportError)
    states = np.repeat([0, 1, 0, 1, 0], 12)
    counts = np.random.default_rng(2).poisson(np.where(states == 1, 30.0, 3.0))
    with pm.Model():
        rows = [pm.Dirichlet(f"row_{k}", np.ones(2)) for k in range(2)]
        transitions = tt.shape_padleft(tt.stack(rows))
        chain = hmm.DiscreteMarkovChain("states", transitions, np.array([0.5, 0.5]), shape=60)
        low, high = pm.Gamma("low", 2.0, 0.5), pm.Gamma("high", 20.0, 0.7)
        hmm.SwitchingProcess("y", [pm.Poisson.dist(low), pm.Poisson.dist(high)], chain, observed=counts)
        trace = pm.sample(
            100, tune=200, chains=1, cores=1, progressbar=False, random_seed=3, return_inferencedata=False,
            compute_convergence_checks=False, step=[steps.FFBSStep([chain])],
        )  # fmt: skip
    assert (np.round(trace["states"].mean(axis=0)) == states).mean() > 0.95
    assert abs(trace["high"].mean() - counts[states == 1].mean()) < 2
    assert abs(trace["row_0"].mean(axis=0)[0] - 35 / 38) < 0.05
