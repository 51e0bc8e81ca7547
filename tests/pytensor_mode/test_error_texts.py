"""Errors of compiled functions name one node, by the names and the line of the user's program."""

import linecache
import re
import warnings
from inspect import signature

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
from pytensor.compile.ops import wrap_py
from pytensor.raise_op import Assert

import aesara.pytensor

ONES = np.ones(3)


def check_text(text, *formulas):
    """One node, at most 14 lines, and a line of this file with the comment `wrong`."""
    assert len(text.splitlines()) <= 14
    assert text.count("Apply node that caused the error") == 1
    assert "Toposort index" not in text and "joined_inputs" not in text
    for formula in formulas:
        assert formula in text.partition("The node was created by")[0]
    ((file, line),) = re.findall(r'File "(.*)", line (\d+)', text)
    assert file == __file__
    assert "# wrong" in linecache.getline(file, int(line))


# -- PyTensor --------------------------------------------------------------------------------------------------
def test_functions_of_pytensor():
    x, y = pt.vectors("x", "y")
    z = x + y  # wrong
    f = pytensor.function([x, y], pt.exp(z).sum(), mode="AESARA")
    for call in (lambda: f(np.ones(2), ONES), lambda: f(x=np.ones(2), y=ONES)):
        with pytest.raises(ValueError, match="size 2.*size 3") as caught:
            call()
        check_text(str(caught.value), "x + y")


def test_gradients_of_pytensor():
    """A node of the gradient has the line of what is differentiated, not the one that asks for the gradient."""
    x, y = pt.vectors("x", "y")
    z = x * y  # wrong
    cost = pt.sin(z).sum()
    f = pytensor.function([x, y], pytensor.grad(cost, x), mode="AESARA")
    with pytest.raises(ValueError, match="size 2.*size 3") as caught:
        f(np.ones(2), ONES)
    check_text(str(caught.value))


def test_what_is_built_in_the_call_that_compiles():
    x, y = pt.vectors("x", "y")
    z = pt.exp(x)
    f = pytensor.function([x, y], z * y, mode="AESARA")  # wrong
    with pytest.raises(ValueError, match="size 2.*size 3") as caught:
        f(np.ones(2), ONES)
    check_text(str(caught.value), "exp(x) * y")


def test_errors_that_cannot_be_extended_are_raised_as_they_are():
    class Refused(Exception):
        def __init__(self, code, reason):
            super().__init__(code, reason)

    x = pt.vector("x")

    class Refusing(pytensor.graph.op.Op):
        __props__ = ()

        def make_node(self, x):
            return pytensor.graph.basic.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            raise Refused(3, "no")

    f = pytensor.function([x], Refusing()(x), mode="AESARA")
    with pytest.raises(Refused) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTensor's, about the same
        f(ONES)
    assert caught.value.args == (3, "no")


# -- PyMC ------------------------------------------------------------------------------------------------------
WRONG = {}


def wrong(*formulas):
    def register(build):
        WRONG[build.__name__] = build, formulas
        return build

    return register


@wrong("x * b")
def data_and_parameter(pm):
    x = pm.Data("x", np.ones(5))
    b = pm.Normal("b", shape=3)
    mu = x * b  # wrong
    pm.Normal("y", mu, 1.0, observed=np.zeros(3))


@wrong("x * b")
def one_of_several_parameters(pm):
    x = pm.Data("x", np.ones(5))
    a = pm.Normal("a", shape=(2, 3))
    b = pm.Normal("b", shape=3)
    s = pm.HalfNormal("s")
    mu = x * b + a.sum(0)  # wrong
    pm.Normal("y", mu, s, observed=np.zeros(3))


@wrong("X @ b")
def product(pm):
    X = pm.Data("X", np.ones((6, 4)))
    b = pm.Normal("b", shape=3)
    s = pm.HalfNormal("s")
    pm.Normal("y", X @ b, s, observed=np.zeros(6))  # wrong


@wrong("o", "x")
def observations(pm):
    x = pm.Data("x", np.ones(5))
    o = pm.Data("o", np.zeros(4))
    a, b = pm.Normal("a"), pm.Normal("b")
    mu = a + b * x
    pm.Normal("y", mu, 1.0, observed=o)  # wrong


@wrong("b[g]")
def index(pm):
    g = pm.Data("g", np.array([0, 1, 3]))
    b = pm.Normal("b", shape=3)
    mu = b[g]  # wrong
    pm.Normal("y", mu, pm.HalfNormal("s"), observed=np.zeros(3))


def indefinite(pm):
    c = pm.Normal("c", initval=2.0)
    K = pt.eye(3) - c * pt.ones((3, 3))
    L = pt.linalg.cholesky(K, on_error="raise")  # wrong
    pm.Potential("p", L.sum())


if "on_error" in signature(pt.linalg.cholesky).parameters:  # else a wrong matrix gives NaN
    wrong("not positive definite", "olesky")(indefinite)


@wrong("s is too large")
def check(pm):
    s = pm.Normal("s", initval=2.0)
    pm.Potential("p", Assert("s is too large")(s, s < 1))  # wrong


@wrong("b", "x.shape[0]")
def reshape(pm):
    x = pm.Data("x", np.ones(5))
    b = pm.Normal("b", shape=6)
    rows = b.reshape((x.shape[0], 2))  # wrong
    pm.Potential("p", (rows**2).sum())


def sample(pm, model):
    with model:
        pm.sample(5, tune=5, chains=1, cores=1, progressbar=False, init="adapt_diag", compile_kwargs={"mode": "AESARA"})


def vector_function(pm, model):
    f = aesara.pytensor.compile_logp(model)
    f(f.ravel(model.initial_point()))


WAYS = {
    "sample": sample,
    "model given": lambda pm, model: pm.sample(
        5, tune=5, chains=1, cores=1, progressbar=False, init="adapt_diag", compile_kwargs={"mode": "AESARA"},
        model=model,
    ),
    "density": lambda pm, model: model.compile_logp(mode="AESARA")(model.initial_point()),
    "compile_logp": vector_function,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_models(name, way):
    pm = pytest.importorskip("pymc")
    build, formulas = WRONG[name]
    with warnings.catch_warnings(), pm.Model() as model:
        warnings.simplefilter("ignore")
        build(pm)
    with pytest.raises(Exception) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        WAYS[way](pm, model)
    check_text(str(caught.value), *formulas)


@pytest.mark.parametrize("step", ["Metropolis", "DEMetropolisZ", "Slice"])
def test_steps_without_gradients(step):
    pm = pytest.importorskip("pymc")

    @wrap_py([pt.dvector, pt.dscalar], [pt.dvector])
    def simulate(b, s):
        if (b != 0).any():
            raise RuntimeError("no convergence")
        return b

    with pm.Model() as model:
        s, b = pm.HalfNormal("s"), pm.Normal("b", shape=3)
        pm.Potential("p", simulate(2 * b, s).sum())  # wrong
    with pytest.raises(RuntimeError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"compile_kwargs": {"mode": "AESARA"}}
        with model:
            chosen = getattr(pm, step)(**options)
            pm.sample(5, tune=5, chains=1, cores=1, progressbar=False, random_seed=1, step=chosen, **options)
    check_text(str(caught.value), "2.0 * b")
    assert "inarray" not in str(caught.value)


def test_gradients_of_models():
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        data_and_parameter(pm)
    with pytest.raises(ValueError) as caught:
        model.compile_dlogp(mode="AESARA")(model.initial_point())
    check_text(str(caught.value), "x * b")
