"""Models of PyMC, a function each that builds one; the table is `MODELS`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

R = np.random.default_rng(8)
N = 40
X = R.normal(size=(N, 3))
Y = R.normal(size=N)
POSITIVE = np.abs(Y) + 0.1
UNIT = R.uniform(0.05, 0.95, size=N)
COUNTS = R.poisson(3.0, size=N)
BINARY = R.integers(0, 2, size=N)
GROUP = R.integers(0, 5, size=N)
CATEGORIES = R.integers(0, 4, size=N)

MODELS: dict[str, Callable[[], pm.Model]] = {}
#: models whose densities PyTensor differentiates once only
ONCE = {"prior_rice", "prior_interpolated"}
#: a model that sums a scalar along axis 0, which PyTensor computes after its rewrites only
REWRITTEN = {"prior_car"}


def model(build: Callable[[], None]) -> Callable[[], None]:
    def made() -> pm.Model:
        with pm.Model() as built:
            build()
        return built

    MODELS[build.__name__] = made
    return build


# -- one distribution each: as a prior, with its transform, and as a likelihood ------------------------------------
PRIORS = {
    "normal": lambda: pm.Normal("x", 1.0, 2.0, shape=3),
    "half_normal": lambda: pm.HalfNormal("x", 2.0, shape=3),
    "truncated_normal": lambda: pm.TruncatedNormal("x", 0.5, 2.0, lower=-1.0, upper=3.0),
    "uniform": lambda: pm.Uniform("x", -1.0, 4.0, shape=2),
    "beta": lambda: pm.Beta("x", 2.0, 3.0, shape=2),
    "kumaraswamy": lambda: pm.Kumaraswamy("x", 2.0, 3.0),
    "exponential": lambda: pm.Exponential("x", 2.0, shape=2),
    "laplace": lambda: pm.Laplace("x", 0.0, 2.0),
    "asymmetric_laplace": lambda: pm.AsymmetricLaplace("x", b=1.0, kappa=2.0, mu=0.5),
    "student_t": lambda: pm.StudentT("x", nu=4.0, mu=0.5, sigma=2.0, shape=2),
    "half_student_t": lambda: pm.HalfStudentT("x", nu=4.0, sigma=2.0),
    "cauchy": lambda: pm.Cauchy("x", 0.0, 2.0),
    "half_cauchy": lambda: pm.HalfCauchy("x", 2.0),
    "gamma": lambda: pm.Gamma("x", 2.0, 3.0, shape=2),
    "inverse_gamma": lambda: pm.InverseGamma("x", 2.0, 3.0),
    "weibull": lambda: pm.Weibull("x", 2.0, 3.0),
    "log_normal": lambda: pm.LogNormal("x", 0.0, 1.0),
    "chi_squared": lambda: pm.ChiSquared("x", 3.0),
    "wald": lambda: pm.Wald("x", 2.0, 3.0),
    "pareto": lambda: pm.Pareto("x", 2.0, 1.0),
    "ex_gaussian": lambda: pm.ExGaussian("x", mu=0.0, sigma=1.0, nu=2.0),
    "von_mises": lambda: pm.VonMises("x", 0.0, 2.0),
    "skew_normal": lambda: pm.SkewNormal("x", mu=0.0, sigma=1.0, alpha=2.0),
    "triangular": lambda: pm.Triangular("x", lower=-1.0, c=0.5, upper=2.0),
    "gumbel": lambda: pm.Gumbel("x", 0.0, 2.0),
    "logistic": lambda: pm.Logistic("x", 0.0, 2.0),
    "logit_normal": lambda: pm.LogitNormal("x", 0.0, 1.0),
    "rice": lambda: pm.Rice("x", nu=1.0, sigma=2.0),
    "moyal": lambda: pm.Moyal("x", 0.0, 2.0),
    "dirichlet": lambda: pm.Dirichlet("x", np.array([1.0, 2.0, 3.0])),
    "mv_normal": lambda: pm.MvNormal("x", np.zeros(3), np.eye(3) + 0.3),
    "mv_student_t": lambda: pm.MvStudentT("x", nu=4.0, mu=np.zeros(3), scale=np.eye(3) + 0.3),
    "lkj": lambda: pm.LKJCholeskyCov("x", n=3, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0)),
    "gaussian_random_walk": lambda: pm.GaussianRandomWalk("x", sigma=1.0, init_dist=pm.Normal.dist(0, 1), steps=6),
    "ar": lambda: pm.AR("x", rho=[0.5, 0.3], sigma=1.0, init_dist=pm.Normal.dist(0, 1, shape=2), steps=6),
    "zero_sum": lambda: pm.ZeroSumNormal("x", sigma=1.0, shape=4),
    "flat": lambda: (pm.Flat("x"), pm.Potential("p", -((pt.sqrt(1 + 0.0 * pt.ones(())) - 2) ** 2))),
    "interpolated": lambda: pm.Interpolated("x", np.linspace(0, 3, 7), np.array([0.0, 1, 2, 4, 2, 1, 0])),
    "car": lambda: pm.CAR("x", np.zeros(3), W=np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), alpha=0.5, tau=1.0),
    "icar": lambda: pm.ICAR("x", W=np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])),
}
for _name, _build in PRIORS.items():
    _build.__name__ = f"prior_{_name}"
    model(_build)


@model
def poisson_regression():
    b = pm.Normal("b", 0, 1, shape=3)
    pm.Poisson("y", pt.exp(X @ b), observed=COUNTS)


@model
def negative_binomial():
    mu = pm.Exponential("mu", 1.0)
    alpha = pm.Exponential("alpha", 1.0)
    pm.NegativeBinomial("y", mu=mu, alpha=alpha, observed=COUNTS)


@model
def zero_inflated():
    pm.ZeroInflatedPoisson("y", psi=pm.Beta("psi", 2, 2), mu=pm.Exponential("mu", 1.0), observed=COUNTS)


@model
def logistic_regression():
    b = pm.StudentT("b", nu=3, mu=0, sigma=2.5, shape=3)
    pm.Bernoulli("y", logit_p=X @ b, observed=BINARY)


@model
def binomial():
    pm.Binomial("y", n=10, p=pm.Beta("p", 2, 2), observed=np.minimum(COUNTS, 10))


@model
def beta_binomial():
    pm.BetaBinomial("y", alpha=pm.Exponential("a", 1.0), beta=pm.Exponential("b", 1.0), n=12, observed=COUNTS)


@model
def categorical():
    b = pm.Normal("b", 0, 1, shape=(3, 4))
    pm.Categorical("y", logit_p=X @ b, observed=CATEGORIES)


@model
def multinomial():
    p = pm.Dirichlet("p", np.ones(4))
    pm.Multinomial("y", n=10, p=p, observed=np.array([[1, 2, 3, 4], [4, 4, 1, 1]]))


@model
def ordered_logistic():
    cut = pm.Normal("cut", [-1, 0, 1], 1.0, transform=pm.distributions.transforms.ordered, shape=3)
    pm.OrderedLogistic("y", eta=X @ pm.Normal("b", 0, 1, shape=3), cutpoints=cut, observed=CATEGORIES)


@model
def hierarchical():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=5)
    pm.Normal("y", theta[GROUP], pm.HalfNormal("s", 1.0), observed=Y)


@model
def eight_schools():
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    z = pm.Normal("z", 0, 1, shape=8)
    effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    pm.Normal("y", mu + tau * z, np.array([15.0, 10, 16, 11, 9, 11, 10, 18]), observed=effects)


@model
def normal_mixture():
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", [-1.0, 0.0, 1.0], 2.0, transform=pm.distributions.transforms.ordered, shape=3)
    pm.NormalMixture("y", w=w, mu=mu, sigma=pm.HalfNormal("s", 1.0, shape=3), observed=Y)


@model
def mixture_of_kinds():
    w = pm.Dirichlet("w", np.ones(2))
    pm.Mixture("y", w=w, comp_dists=[pm.Normal.dist(pm.Normal("m", 0, 1), 1.0), pm.StudentT.dist(4.0)], observed=Y)


@model
def gp_marginal():
    cov = pm.HalfNormal("eta", 1.0) ** 2 * pm.gp.cov.ExpQuad(1, ls=pm.Gamma("ls", 2, 1))
    pm.gp.Marginal(cov_func=cov).marginal_likelihood("y", X=X[:, :1], y=Y, sigma=pm.HalfNormal("s", 1.0))


@model
def gp_latent():
    cov = pm.gp.cov.Matern52(1, ls=pm.Gamma("ls", 2, 1))
    f = pm.gp.Latent(cov_func=cov).prior("f", X=X[:12, :1])
    pm.Normal("y", f, 0.5, observed=Y[:12])


@model
def hsgp():
    gp = pm.gp.HSGP(m=[8], L=[4.0], cov_func=pm.gp.cov.ExpQuad(1, ls=pm.Gamma("ls", 2, 1)))
    pm.Normal("y", gp.prior("f", X=X[:, :1]), 0.5, observed=Y)


@model
def censored():
    whole = pm.Normal.dist(pm.Normal("m", 0, 1), pm.HalfNormal("s", 1.0))
    pm.Censored("y", whole, lower=-1.0, upper=1.0, observed=np.clip(Y, -1, 1))


@model
def truncated():
    part = pm.Gamma.dist(2.0, pm.HalfNormal("b", 1.0))
    pm.Truncated("y", part, lower=0.05, upper=4.0, observed=np.clip(POSITIVE, 0.1, 3))


@model
def multivariate_regression():
    chol, *_ = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0), compute_corr=True)
    pm.MvNormal("y", pm.Normal("mu", 0, 1, shape=3), chol=chol, observed=X)


@model
def stochastic_volatility():
    step = pm.Exponential("step", 10.0)
    volatility = pm.GaussianRandomWalk("v", sigma=step, init_dist=pm.Normal.dist(0, 1), steps=N - 1)
    pm.StudentT("y", nu=pm.Exponential("nu", 0.1), lam=pt.exp(-2 * volatility), observed=Y)


@model
def recursion():
    phi, sigma = pm.Normal("phi", 0, 0.5), pm.HalfNormal("sigma", 1.0)
    level = pytensor.scan(lambda y, last, phi: phi * last + y, [Y], [pt.zeros(())], [phi], return_updates=False)
    pm.Normal("y", level, sigma, observed=Y)


@model
def hidden_markov():
    p = pm.Dirichlet("p", np.ones((2, 2)))
    mu = pm.Normal("mu", [-1.0, 1.0], 1.0, shape=2)
    emission = pm.logp(pm.Normal.dist(mu, 1.0), Y[:, None])

    def step(e, alpha, logp):
        return e + pt.logsumexp(alpha[:, None] + logp, axis=0)

    alphas = pytensor.scan(step, [emission[1:]], [emission[0] - np.log(2)], [pt.log(p)], return_updates=False)
    pm.Potential("likelihood", pt.logsumexp(alphas[-1]))


@model
def oscillator():
    k, start = pm.HalfNormal("k", 1.0), pm.Normal("start", 1.0, 0.5)

    def step(x, v, k):
        return x + 0.1 * v, v - 0.1 * k * x

    xs, _ = pytensor.scan(step, outputs_info=[start, pt.zeros(())], non_sequences=[k], n_steps=20, return_updates=False)
    pm.Normal("y", xs, 0.5, observed=Y[:20])


@model
def custom_distribution():
    def logp(value, mu):
        return -((value - mu) ** 2).sum() - pt.log(pt.cosh(value)).sum()

    pm.CustomDist("y", pm.Normal("mu", 0, 1), logp=logp, observed=Y)


@model
def data_containers():
    x = pm.Data("x", X)
    pm.Normal("y", x @ pm.Normal("b", 0, 1, shape=3), 1.0, observed=pm.Data("obs", Y))


@model
def switch_point():
    when = pm.Uniform("when", 0, N)
    early, late = pm.Exponential("early", 1.0), pm.Exponential("late", 1.0)
    pm.Poisson("y", pm.math.switch(when >= np.arange(N), early, late), observed=COUNTS)


@model
def imputed():
    y = np.ma.masked_invalid(np.where(np.arange(N) % 7 == 0, np.nan, Y))
    pm.Normal("y", pm.Normal("m", 0, 1), pm.HalfNormal("s", 1.0), observed=y)


@model
def deterministic_and_potential():
    b = pm.Normal("b", 0, 1, shape=3)
    mu = pm.Deterministic("mu", pm.math.invlogit(X @ b))
    pm.Potential("penalty", -pt.abs(b).sum())
    pm.Normal("y", mu, 1.0, observed=Y)


@model
def robust_spline():
    basis = np.vander(np.linspace(-1, 1, N), 6)
    w = pm.GaussianRandomWalk("w", sigma=pm.HalfNormal("s", 1.0), init_dist=pm.Normal.dist(0, 1), shape=6)
    pm.StudentT("y", nu=4, mu=basis @ w, sigma=1.0, observed=Y)


@model
def survival():
    b = pm.Normal("b", 0, 1, shape=3)
    alpha = pm.HalfNormal("alpha", 2.0)
    scale = pt.exp(X @ b)
    pm.Potential("censored", -((POSITIVE / scale) ** alpha)[BINARY == 0].sum())
    pm.Weibull("t", alpha, scale[BINARY == 1], observed=POSITIVE[BINARY == 1])


@model
def dirichlet_multinomial():
    counts = np.array([[1, 2, 3, 4], [4, 4, 1, 1]])
    pm.DirichletMultinomial("y", n=10, a=pm.Exponential("a", 1.0, shape=4), observed=counts)
