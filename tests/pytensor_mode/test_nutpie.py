"""Models of PyMC in nutpie's threads."""

import warnings

import numpy as np
import pytest

pytest.importorskip("pytensor")
pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import aesara.pytensor
from aesara.export import logp_pointer
from aesara.pytensor.nutpie import compile_pymc_model
from tests.pytensor_mode.pymc_models import MODELS

QUIET = {"draws": 30, "tune": 60, "chains": 4, "seed": 3, "progress_bar": False}


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    with pm.Model(coords={"column": ["a", "b"], "row": np.arange(60)}) as model:
        x = pm.Data("x", X, dims=("row", "column"))
        b, s = pm.Normal("b", 0, 1, dims="column"), pm.HalfNormal("s", 1)
        mu = pm.Deterministic("mu", x @ b, dims="row")
        pm.Normal("y", mu, s, observed=pm.Data("o", X @ [1, 2] + rng.normal(size=60)))
    return model


@pytest.mark.parametrize("name", MODELS)
def test_pointers_of_models(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = aesara.pytensor.compile_logp(MODELS[name]())
    pointer = logp_pointer(f)
    for seed in range(3):
        x = 0.3 * np.random.default_rng(seed).normal(size=f.size)
        for found, expected in zip(pointer(x), f(x), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["eight_schools", "gp_marginal", "stochastic_volatility"])
def test_draws_in_threads_are_those_in_turn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = compile_pymc_model(MODELS[name]())
        one, four = (nutpie.sample(compiled, cores=cores, **QUIET).posterior for cores in (1, 4))
    assert set(one.data_vars)
    for variable in one.data_vars:
        np.testing.assert_array_equal(one[variable].values, four[variable].values)
        assert np.unique(one[variable].values.reshape(4, -1)[:, 0]).size == 4


def test_the_posterior_is_that_of_the_model(regression):
    compiled = compile_pymc_model(regression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nutpie.sample(compiled, **{**QUIET, "draws": 500, "tune": 300}).posterior
    X, y = regression["x"].get_value(), regression["o"].get_value()
    posterior = np.linalg.solve(X.T @ X, X.T @ y)
    np.testing.assert_allclose(found["b"].mean(("chain", "draw")), posterior, rtol=0, atol=0.1)
    np.testing.assert_allclose(found["mu"].values, found["b"].values @ X.T, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found["s"].values, np.exp(found["s_log__"].values), rtol=1e-14)
    assert list(found["column"].values) == ["a", "b"] and found["mu"].dims == ("chain", "draw", "row")


def test_new_data(regression):
    compiled = compile_pymc_model(regression)
    other = compiled.with_data(o=np.zeros(60))
    x = np.zeros(compiled.n_dim)
    assert other.compiled_logp_func(x)[0] != compiled.compiled_logp_func(x)[0]
    old = regression["o"].get_value()
    try:
        with regression:
            pm.set_data({"o": np.zeros(60)})
        assert other.compiled_logp_func(x)[0] == aesara.pytensor.compile_logp(regression)(x)[0]
    finally:
        with regression:
            pm.set_data({"o": old})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = nutpie.sample(other, **QUIET).posterior["b"].values
    assert abs(moved[:, 10:].mean()) < 0.3
    with pytest.raises(KeyError, match="no data container z; it has"):
        compiled.with_data(z=1)


def test_what_is_stored_can_be_chosen(regression):
    compiled = compile_pymc_model(regression, var_names=["s"], initial_points={"s": 2.0})
    assert list(compiled.shapes) == ["b", "s_log__", "s"]
    assert compiled.n_expanded == 4


class Slow(Op):
    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]

    def grad(self, inputs, gradients):
        return [2 * gradients[0]]

    def pullback(self, inputs, outputs, gradients):
        return self.grad(inputs, gradients)


def test_models_that_need_python_are_refused():
    with pm.Model() as model:
        b = pm.Normal("b")
        pm.Potential("p", Slow()(b))
    with pytest.raises(NotImplementedError, match=r"Slow.*test_nutpie\.py"):
        compile_pymc_model(model)


def test_a_density_that_is_not_finite_is_survived():
    with pm.Model() as model:
        b = pm.Normal("b")
        pm.Potential("p", pt.log(b))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nutpie.sample(compile_pymc_model(model), **QUIET).posterior["b"].values
    assert (found > 0).all()
    assert pytensor.config.floatX == "float64"
