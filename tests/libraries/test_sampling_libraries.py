"""A model of each of aeppl, aehmc and aemcmc."""

import numpy as np
import pytest

aeppl = pytest.importorskip("aeppl")
aehmc = pytest.importorskip("aehmc")
aemcmc = pytest.importorskip("aemcmc")

from aehmc import nuts
from scipy import stats

import aesara
import aesara.tensor as at


def test_densities_of_transformed_and_mixed_variables():
    srng = at.random.RandomStream(0)
    normal = srng.normal(1.0, 2.0)
    chosen = srng.bernoulli(0.3)
    mixed = at.stack([srng.normal(-1.0, 1.0), srng.normal(2.0, 0.5)])[chosen]
    lognormal = at.exp(normal)
    density, (c, m, y) = aeppl.joint_logprob(chosen, mixed, lognormal)
    f = aesara.function([c, m, y], density)
    wanted = stats.bernoulli.logpmf(1, 0.3) + stats.norm.logpdf(1.5, 2.0, 0.5)
    assert float(f(1, 1.5, 3.0)) == pytest.approx(wanted + stats.lognorm.logpdf(3.0, 2.0, scale=np.e), rel=1e-12)


def test_hamiltonian_monte_carlo_draws_from_a_normal_distribution():
    variable = at.random.normal(1.0, 2.0)

    def density(value):
        return aeppl.joint_logprob(realized={variable: value})[0]

    kernel = nuts.new_kernel(at.random.RandomStream(seed=0), density)
    value = variable.clone()
    state = nuts.new_state(value, density)
    (following, *_), updates = kernel(*state, at.as_tensor(1.0), at.as_tensor(1.0))
    step = aesara.function([value], following[0] if isinstance(following, tuple) else following, updates=updates)
    draws, now = [], 0.0
    for _ in range(2000):
        now = float(step(now))
        draws.append(now)
    assert abs(np.mean(draws) - 1) < 0.3 and abs(np.std(draws) - 2) < 0.3


def test_a_conjugate_posterior_is_found():
    srng = at.random.RandomStream(0)
    p = srng.beta(1.0, 1.0, name="p")
    observed = srng.binomial(10, p, name="Y")
    y = observed.clone()
    sampler, _ = aemcmc.construct_sampler({observed: y}, srng)
    posterior = sampler.sample_steps[p]
    assert isinstance(posterior.owner.op, at.random.basic.BetaRV)
    draw = aesara.function([y], posterior)
    assert np.mean([draw(3) for _ in range(3000)]) == pytest.approx(4 / 12, abs=0.01)


def test_a_gibbs_sampler_of_a_regression_is_found():
    srng = at.random.RandomStream(0)
    X = at.matrix("X")
    tau = srng.halfcauchy(0, 1, name="tau")
    scales = srng.halfcauchy(0, 1, size=X.shape[1], name="lambda")
    beta = srng.normal(0, scales * tau, size=X.shape[1], name="beta")
    h = srng.gamma(at.scalar("a"), at.scalar("b"), name="h")
    counts = srng.nbinom(h, at.sigmoid(-(X @ beta)), name="Y")
    y = counts.clone()
    sampler, initial = aemcmc.construct_sampler({counts: y}, srng)
    names = {type(kernel).__name__: sorted(v.name for v in found) for kernel, found in sampler.stages.items()}
    assert names == {
        "HorseshoeGibbsKernel": ["lambda", "tau"],
        "NBRegressionGibbsKernel": ["beta"],
        "DispersionGibbsKernel": ["h"],
    }
    rvs = [tau, scales, beta, h]
    a, b = (v for v in aesara.graph.basic.graph_inputs([h]) if v.name in ("a", "b"))
    inputs = [a, b, X, y, *(initial[v] for v in rvs)]
    step = aesara.function(inputs, [sampler.sample_steps[v] for v in rvs], updates=sampler.updates)
    rng = np.random.default_rng(0)
    data = rng.normal(size=(150, 2))
    numbers = rng.negative_binomial(4, 1 / (1 + np.exp(data @ [1.0, -1.0])))
    state, draws = [1.0, np.ones(2), np.zeros(2), 1.0], []
    for _ in range(60):
        state = step(1.0, 1.0, data, numbers, *state)
        draws.append(state[2])
    np.testing.assert_allclose(np.mean(draws[20:], axis=0), [1.0, -1.0], rtol=0, atol=0.35)
