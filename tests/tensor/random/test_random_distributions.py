"""Draws have the distributions that their documentation names."""

import numpy as np
import pytest
import scipy.stats as stats

import aesara.tensor.random as at_random

N = 20_000

CONTINUOUS = [
    (at_random.normal, (1.0, 2.0), stats.norm(1, 2)),
    (at_random.halfnormal, (1.0, 2.0), stats.halfnorm(1, 2)),
    (at_random.lognormal, (0.3, 0.7), stats.lognorm(0.7, scale=np.exp(0.3))),
    (at_random.uniform, (-1.0, 2.0), stats.uniform(-1, 3)),
    (at_random.triangular, (-1.0, 0.5, 2.0), stats.triang(0.5, -1, 3)),
    (at_random.beta, (2.0, 3.0), stats.beta(2, 3)),
    (at_random.gamma, (2.0, 3.0), stats.gamma(2, scale=1 / 3)),
    (at_random.invgamma, (2.0, 3.0), stats.invgamma(2, scale=3)),
    (at_random.gengamma, (2.0, 3.0, 1.5), stats.gengamma(2 / 3, 3, scale=1.5)),
    (at_random.chisquare, (3.0,), stats.chi2(3)),
    (at_random.noncentral_chisquare, (3.0, 2.0), stats.ncx2(3, 2)),
    (at_random.f, (3.0, 5.0), stats.f(3, 5)),
    (at_random.noncentral_f, (3.0, 5.0, 2.0), stats.ncf(3, 5, 2)),
    (at_random.exponential, (2.0,), stats.expon(scale=2)),
    (at_random.truncexpon, (2.0, 1.0, 3.0), stats.truncexpon(2, 1, 3)),
    (at_random.laplace, (1.0, 2.0), stats.laplace(1, 2)),
    (at_random.logistic, (1.0, 2.0), stats.logistic(1, 2)),
    (at_random.gumbel, (1.0, 2.0), stats.gumbel_r(1, 2)),
    (at_random.cauchy, (1.0, 2.0), stats.cauchy(1, 2)),
    (at_random.halfcauchy, (1.0, 2.0), stats.halfcauchy(1, 2)),
    (at_random.t, (3.0, 1.0, 2.0), stats.t(3, 1, 2)),
    (at_random.pareto, (2.0, 3.0), stats.pareto(2, scale=3)),
    (at_random.power, (2.0,), stats.powerlaw(2)),
    (at_random.rayleigh, (2.0,), stats.rayleigh(scale=2)),
    (at_random.vonmises, (0.5, 2.0), stats.vonmises(2, 0.5)),
    (at_random.wald, (2.0, 3.0), stats.invgauss(2 / 3, scale=3)),
    (at_random.weibull, (2.0,), stats.weibull_min(2)),
]

DISCRETE = [
    (at_random.bernoulli, (0.3,), stats.bernoulli(0.3)),
    (at_random.binomial, (7, 0.3), stats.binom(7, 0.3)),
    (at_random.nbinom, (5, 0.4), stats.nbinom(5, 0.4)),
    (at_random.betabinom, (7, 2.0, 3.0), stats.betabinom(7, 2, 3)),
    (at_random.poisson, (4.0,), stats.poisson(4)),
    (at_random.geometric, (0.3,), stats.geom(0.3)),
    (at_random.hypergeometric, (5, 6, 7), stats.hypergeom(11, 5, 7)),
    (at_random.logseries, (0.6,), stats.logser(0.6)),
    (at_random.zipf, (3.0,), stats.zipf(3)),
    (at_random.integers, (2, 9), stats.randint(2, 9)),
    (at_random.categorical, (np.array([0.1, 0.2, 0.7]),), stats.rv_discrete(values=([0, 1, 2], [0.1, 0.2, 0.7]))),
]


def draws(distribution, parameters):
    return distribution(*parameters, size=N, rng=at_random.default_rng(2024)).eval()


@pytest.mark.parametrize("distribution, parameters, expected", CONTINUOUS)
def test_continuous(distribution, parameters, expected):
    assert stats.kstest(draws(distribution, parameters), expected.cdf).pvalue > 1e-3


@pytest.mark.parametrize("distribution, parameters, expected", DISCRETE)
def test_discrete(distribution, parameters, expected):
    drawn = draws(distribution, parameters)
    values = np.arange(drawn.min(), drawn.max() + 1)
    probabilities = expected.pmf(values)
    likely = probabilities * N > 10
    counts = np.array([(drawn == value).sum() for value in values])
    rest = 1 - probabilities[likely].sum()
    observed = np.append(counts[likely], N - counts[likely].sum())
    wanted = np.append(probabilities[likely], rest) * N
    if wanted[-1] < 5:
        observed, wanted = observed[:-1], wanted[:-1] * (observed[:-1].sum() / wanted[:-1].sum())
    assert stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 1e-3


def test_vectors():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = draws(at_random.multivariate_normal, (np.array([1.0, -1.0]), cov))
    np.testing.assert_allclose(x.mean(axis=0), [1, -1], rtol=0, atol=0.04)
    np.testing.assert_allclose(np.cov(x.T), cov, rtol=0, atol=0.06)
    p = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(draws(at_random.dirichlet, (10 * p,)).mean(axis=0), p, rtol=0, atol=0.005)
    counts = draws(at_random.multinomial, (10, p))
    assert (counts.sum(axis=1) == 10).all()
    np.testing.assert_allclose(counts.mean(axis=0), 10 * p, rtol=0, atol=0.05)
    colors = draws(at_random.multivariate_hypergeometric, (np.array([3, 4, 5]), 6))
    assert (colors.sum(axis=1) == 6).all()
    np.testing.assert_allclose(colors.mean(axis=0), np.array([3, 4, 5]) / 2, rtol=0, atol=0.03)
