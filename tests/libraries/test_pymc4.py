"""Models of PyMC 4.4, which was written for Aesara: log-densities, and draws from posteriors that are known."""

import importlib.metadata
import warnings

import numpy as np
import pytest
from scipy import stats

if not any(d.version.startswith("4.") for d in importlib.metadata.distributions(name="pymc")):
    pytest.skip("needs PyMC 4", allow_module_level=True)  # before NumPy is changed for it

import tests.libraries.removed_numpy_names  # noqa: F401
from tests.libraries.sampling import sampled

pm = pytest.importorskip("pymc", exc_type=ImportError)

DATA = np.array([1.2, 0.3, 2.1, 0.8, 1.6])


def test_density_and_gradient():
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 2.0)
        pm.Normal("y", 1.0, scale, observed=DATA)
    point = {"scale_log__": np.log(1.5)}
    wanted = stats.halfnorm.logpdf(1.5, scale=2.0) + np.log(1.5) + stats.norm.logpdf(DATA, 1.0, 1.5).sum()
    assert model.compile_logp()(point) == pytest.approx(wanted, rel=1e-12)
    slope = (
        model.compile_logp()({"scale_log__": np.log(1.5) + 1e-6})
        - model.compile_logp()({"scale_log__": np.log(1.5) - 1e-6})
    ) / 2e-6
    assert model.compile_dlogp()(point)[0] == pytest.approx(slope, rel=1e-5)


def test_posterior_of_a_mean():
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 1.0)
        pm.Normal("y", mean, 1.0, observed=DATA)
    found = sampled(pm, model).posterior["mean"].values
    assert abs(found.mean() - DATA.sum() / 6) < 0.1 and abs(found.std() - 6**-0.5) < 0.08
    with model:
        ahead = pm.sample_prior_predictive(300, random_seed=1).prior_predictive["y"].values
    assert abs(ahead.std() - 2**0.5) < 0.2


def test_posterior_of_shares():
    with pm.Model() as model:
        shares = pm.Dirichlet("shares", np.ones(3))
        pm.Multinomial("y", 20, shares, observed=[4, 6, 10])
    found = sampled(pm, model).posterior["shares"].values[0]
    np.testing.assert_allclose(found.mean(axis=0), np.array([5, 7, 11]) / 23, rtol=0, atol=0.06)


def build_missing():
    mean = pm.Normal("mean")
    pm.Normal("y", mean, 1.0, observed=np.ma.masked_invalid([1.0, np.nan, 2.0]))


def build_mixture():
    pm.NormalMixture("y", pm.Dirichlet("w", np.ones(2)), mu=[0.0, 3.0], sigma=1.0, observed=DATA)


def build_covariance():
    factor, *_ = pm.LKJCholeskyCov("c", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
    pm.MvNormal("y", np.zeros(2), chol=factor, observed=np.ones((4, 2)))


def build_series():
    pm.AR("a", rho=[0.5], sigma=1.0, init_dist=pm.Normal.dist(0, 1, shape=1), steps=5)
    pm.GaussianRandomWalk("g", sigma=1.0, init_dist=pm.Normal.dist(0, 1), steps=5)


def build_process():
    length = pm.Gamma("length", 2, 1)
    process = pm.gp.Marginal(cov_func=pm.gp.cov.ExpQuad(1, length))
    process.marginal_likelihood("y", X=np.arange(5.0)[:, None], y=DATA, sigma=0.3)


def build_coordinates():
    """Vectors that have fewer coordinates than entries."""
    pm.StickBreakingWeights("w", alpha=2.0, K=3)
    model = pm.modelcontext(None)
    model.add_coords({"row": range(4), "column": range(3)})
    pm.ZeroSumNormal("z", dims=("row", "column"), zerosum_axes=2)


BUILDERS = [build_missing, build_mixture, build_covariance, build_series, build_process, build_coordinates]


@pytest.mark.parametrize("build", BUILDERS)
def test_models_are_sampled(build):
    with warnings.catch_warnings(), pm.Model() as model:
        warnings.simplefilter("ignore")  # that values are missing
        build()
    trace = sampled(pm, model, 30)
    assert all(np.isfinite(trace.posterior[name].values).all() for name in trace.posterior)
    assert trace.posterior.sizes["draw"] == 30


def test_truncated_density_has_the_observed_values():
    """Exponential draws are cut off by rejection, in a loop of the distribution's node."""
    with pm.Model() as model:
        mean = pm.Exponential("mean", 1.0)
        y = pm.Truncated("y", pm.Exponential.dist(lam=1 / mean), lower=0, upper=5, observed=DATA)
    wanted = stats.truncexpon.logpdf(DATA, 5 / 1.5, scale=1.5).sum()
    assert model.compile_logp(y)({"mean_log__": np.log(1.5)}) == pytest.approx(wanted, rel=1e-12)
    draws = pm.draw(y, 50, random_seed=1)
    assert draws.dtype == "float64" and np.all((draws >= 0) & (draws <= 5) & (draws % 1 > 0))


def test_draws_for_parameters_of_length_one():
    for one in (pm.StudentT.dist(nu=3, mu=[[0.0]], sigma=1), pm.SkewNormal.dist(mu=[[0.0, 1.0]], sigma=1, alpha=2)):
        assert pm.draw(one, random_seed=1).shape == one.type.shape
