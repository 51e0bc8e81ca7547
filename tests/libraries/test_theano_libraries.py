"""Libraries that were written for Theano: PyMC 3, Lasagne, theanets, downhill and theano_lstm, by `theano_compat`."""

import importlib.metadata
import logging
import sys
import types

import numpy as np
import pytest
from scipy import stats

if not any(d.version.startswith("3.") for d in importlib.metadata.distributions(name="pymc3")):
    pytest.skip("needs PyMC 3", allow_module_level=True)

import tests.libraries.theano_time  # noqa: F401
from tests.libraries.sampling import sampled

sys.modules.setdefault("climate", types.SimpleNamespace(get_logger=logging.getLogger))  # for the logs of theanets

import theano  # isort: skip
import theano.tensor as tt  # isort: skip

pm = pytest.importorskip("pymc3", exc_type=ImportError)
lasagne = pytest.importorskip("lasagne", exc_type=ImportError)

DATA = np.array([1.2, 0.3, 2.1, 0.8, 1.6])
IMAGES = np.random.default_rng(5).normal(size=(60, 64))
LABELS = (IMAGES[:, 0] > 0).astype("int32")


def trace_of(model, draws=400):
    return sampled(pm, model, draws, return_inferencedata=False)


def test_density_and_gradient():
    with pm.Model() as model:
        scale = pm.HalfNormal("scale", 2.0)
        pm.Normal("y", 1.0, scale, observed=DATA)
    point = {"scale_log__": np.log(1.5)}
    wanted = stats.halfnorm.logpdf(1.5, scale=2.0) + np.log(1.5) + stats.norm.logpdf(DATA, 1.0, 1.5).sum()
    assert model.logp(point) == pytest.approx(wanted, rel=1e-12)
    step = 1e-6
    slope = (model.logp({"scale_log__": np.log(1.5) + step}) - model.logp({"scale_log__": np.log(1.5) - step})) / (
        2 * step
    )
    assert model.dlogp()(point)[0] == pytest.approx(slope, rel=1e-5)


def test_posterior_and_predictions():
    with pm.Model() as model:
        shift = pm.Data("shift", np.zeros(5))
        mean = pm.Normal("mean", 0.0, 1.0)
        pm.Normal("y", mean + shift, 1.0, observed=DATA)
    trace = trace_of(model)
    assert abs(trace["mean"].mean() - DATA.sum() / 6) < 0.1 and abs(trace["mean"].std() - 6**-0.5) < 0.08
    with model:
        pm.set_data({"shift": np.full(5, 10.0)})
        ahead = pm.sample_posterior_predictive(trace, random_seed=1, progressbar=False)["y"]
    assert abs(ahead.mean() - 10 - DATA.sum() / 6) < 0.15


def test_discrete_variables():
    with pm.Model() as model:
        coin = pm.Bernoulli("coin", 0.5)
        pm.Normal("y", 2.0 * coin, 1.0, observed=DATA)
    weights = [stats.norm.logpdf(DATA, 2.0 * value, 1.0).sum() for value in (0, 1)]
    share = trace_of(model, 1500)["coin"].mean()
    assert abs(share - 1 / (1 + np.exp(weights[0] - weights[1]))) < 0.05


def test_mixture_with_ordered_components():
    values = np.concatenate([np.linspace(-3, -1, 40), np.linspace(2, 4, 60)])
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.ones(2))
        means = pm.Normal(
            "means", 0.0, 5.0, shape=2, transform=pm.distributions.transforms.ordered, testval=[-1.0, 1.0]
        )
        pm.NormalMixture("y", weights, means, 0.7, observed=values)
    trace = trace_of(model)
    np.testing.assert_allclose(trace["means"].mean(axis=0), [-2, 3], rtol=0, atol=0.2)
    np.testing.assert_allclose(trace["weights"].mean(axis=0), [0.4, 0.6], rtol=0, atol=0.08)


def test_gaussian_process():
    x, y = np.linspace(0, 5, 12)[:, None], np.sin(np.linspace(0, 5, 12))
    with pm.Model() as model:
        process = pm.gp.Marginal(cov_func=1.5**2 * pm.gp.cov.ExpQuad(1, 1.2))
        process.marginal_likelihood("y", X=x, y=y, noise=0.3)
    covariance = 1.5**2 * np.exp(-0.5 * ((x - x.T) / 1.2) ** 2) + 0.3**2 * np.eye(12)
    wanted = stats.multivariate_normal.logpdf(y, np.zeros(12), covariance)
    assert model.logp({}) == pytest.approx(wanted, rel=1e-9)


def test_correlations():
    with pm.Model() as model:
        factor, _, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0), compute_corr=True)
        pm.MvNormal("y", np.zeros(2), chol=factor, observed=np.array([[1.0, 0.9], [-1.0, -0.8], [0.5, 0.6]] * 20))
    assert trace_of(model, 200)["factor_corr"].mean(axis=0)[0, 1] > 0.9


def test_variational_inference():
    with pm.Model():
        mean = pm.Normal("mean", 0.0, 1.0)
        pm.Normal("y", mean, 1.0, observed=DATA)
        found = pm.fit(8000, method="advi", progressbar=False, random_seed=1).sample(2000)["mean"]
    assert abs(found.mean() - DATA.sum() / 6) < 0.15 and abs(found.std() - 6**-0.5) < 0.12


def test_a_network_of_lasagne():
    x, y = tt.matrix("x"), tt.ivector("y")
    layer = lasagne.layers.InputLayer((None, 64), x)
    layer = lasagne.layers.DropoutLayer(lasagne.layers.DenseLayer(layer, 20), 0.1)
    layer = lasagne.layers.DenseLayer(layer, 2, nonlinearity=lasagne.nonlinearities.softmax)
    loss = lasagne.objectives.categorical_crossentropy(lasagne.layers.get_output(layer), y).mean()
    parameters = lasagne.layers.get_all_params(layer, trainable=True)
    train = theano.function([x, y], loss, updates=lasagne.updates.adam(loss, parameters, 0.01))
    for _ in range(60):
        train(IMAGES, LABELS)
    guess = theano.function([x], lasagne.layers.get_output(layer, deterministic=True).argmax(axis=1))
    assert (guess(IMAGES) == LABELS).mean() > 0.95


def test_a_convolutional_network_of_lasagne():
    x, y = tt.tensor4("x"), tt.ivector("y")
    layer = lasagne.layers.Conv2DLayer(lasagne.layers.InputLayer((None, 1, 8, 8), x), 4, (3, 3))
    layer = lasagne.layers.MaxPool2DLayer(layer, (2, 2))
    layer = lasagne.layers.DenseLayer(layer, 2, nonlinearity=lasagne.nonlinearities.softmax)
    loss = lasagne.objectives.categorical_crossentropy(lasagne.layers.get_output(layer), y).mean()
    parameters = lasagne.layers.get_all_params(layer, trainable=True)
    train = theano.function([x, y], loss, updates=lasagne.updates.nesterov_momentum(loss, parameters, 0.05))
    losses = [float(train(IMAGES.reshape(-1, 1, 8, 8), LABELS)) for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]


def test_theanets_and_downhill():
    theanets = pytest.importorskip("theanets", exc_type=ImportError)
    network = theanets.Classifier([64, 20, 2])
    images = IMAGES.astype(network.params[0].dtype)
    network.train([images, LABELS], algo="adam", learning_rate=0.01, max_updates=60)
    assert (network.predict(images) == LABELS).mean() > 0.9


def test_cells_of_theano_lstm():
    cells = pytest.importorskip("theano_lstm", exc_type=ImportError)
    network = cells.StackedCells(4, layers=[8], activation=tt.tanh, celltype=cells.LSTM)
    network.layers.append(cells.Layer(8, 1, lambda z: z))
    rows = tt.matrix("rows")
    first = [{"initial": network.layers[0].initial_hidden_state, "taps": [-1]}, None]
    results, _ = theano.scan(lambda row, *state: network.forward(row, list(state)), rows, first)
    cost = ((results[-1] - rows[:, :1]) ** 2).mean()
    updates = cells.create_optimization_updates(cost, network.params, method="adadelta")[0]
    train = theano.function([rows], cost, updates=updates)
    values = np.random.default_rng(1).normal(size=(20, 4))
    costs = [float(train(values)) for _ in range(30)]
    assert costs[-1] < 0.5 * costs[0]
