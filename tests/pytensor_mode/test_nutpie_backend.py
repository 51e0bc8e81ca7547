"""nutpie from `pymc.sample`, and as a backend of nutpie's own function."""

import subprocess
import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("pytensor")
pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor

import aesara.pytensor
from aesara.pytensor.nutpie import NutpieModel, compile_pymc_model
from aesara.pytensor.nutpie_backend import add_backend

QUIET = {"draws": 30, "tune": 60, "chains": 2, "random_seed": 3, "progressbar": False}
WAYS = {
    "mode": {"compile_kwargs": {"mode": "AESARA"}},
    "mode itself": {"compile_kwargs": {"mode": aesara.pytensor.AESARA}},
    "backend": {"nuts_sampler_kwargs": {"backend": "aesara"}},
    "backend and mode": {"nuts_sampler_kwargs": {"backend": "aesara"}, "compile_kwargs": {"mode": "FAST_COMPILE"}},
}


@pytest.fixture
def model():
    with pm.Model() as made:
        b = pm.Normal("b", 0, 1, shape=2)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", pm.Deterministic("mu", b.sum()), s, observed=np.array([0.5, 1.0, 1.5]))
    return made


@pytest.fixture
def sampled(monkeypatch):
    """The compiled models that nutpie samples."""
    found, original = [], nutpie.sample

    def sample(compiled, *args, **options):
        found.append(compiled)
        return original(compiled, *args, **options)

    monkeypatch.setattr(nutpie, "sample", sample)
    return found


def sample(model, **options):
    with model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pm.sample(nuts_sampler="nutpie", **QUIET, **options)


@pytest.mark.parametrize("way", WAYS)
def test_sampling_from_pymc(model, sampled, way):
    found = sample(model, **WAYS[way]).posterior
    assert [type(compiled) for compiled in sampled] == [NutpieModel]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = nutpie.sample(
            compile_pymc_model(model), draws=30, tune=60, chains=2, seed=3, target_accept=0.8, progress_bar=False
        ).posterior
    for name in ("b", "s", "mu"):
        np.testing.assert_array_equal(found[name].values, wanted[name].values)


def test_the_default_mode_of_pytensor_counts(model, sampled):
    with pytensor.config.change_flags(mode="AESARA"):
        sample(model)
    assert [type(compiled) for compiled in sampled] == [NutpieModel]


def test_variables_to_store(model, sampled):
    posterior = sample(model, var_names=["s"], **WAYS["mode"]).posterior
    assert "s" in posterior and "mu" not in posterior
    assert type(sampled[0]) is NutpieModel


class Original(ModuleType):
    """Stands for nutpie, whose own backends take long to compile."""

    def __init__(self):
        super().__init__("nutpie")
        self.given = []

    def compile_pymc_model(self, model, **options):
        self.given.append(options)


def test_other_backends_are_those_of_nutpie(model):
    theirs = Original()
    add_backend(theirs)
    add_backend(theirs)  # once is enough
    for options in ({}, {"backend": "numba"}, {"backend": "jax", "gradient_backend": "pytensor"}, {"var_names": ["s"]}):
        theirs.compile_pymc_model(model, **options)
        assert theirs.given.pop() == options
    assert type(theirs.compile_pymc_model(model, backend="Aesara", var_names=["s"])) is NutpieModel
    assert not theirs.given


def test_other_modes_are_left_to_nutpie(model, monkeypatch):
    theirs = Original()
    add_backend(theirs)
    monkeypatch.setattr(nutpie, "compile_pymc_model", theirs.compile_pymc_model)

    class Stopped(Exception):
        pass

    def stop(*args, **options):
        raise Stopped

    monkeypatch.setattr(nutpie, "sample", stop)
    for options, given in (
        ({}, {}),
        ({"compile_kwargs": {"mode": "FAST_COMPILE"}}, {}),
        ({"compile_kwargs": {"mode": "AESARA"}, "nuts_sampler_kwargs": {"backend": "numba"}}, {"backend": "numba"}),
    ):
        with pytest.raises(Stopped):
            sample(model, **options)
        (got,) = theirs.given
        theirs.given.clear()
        assert {name: value for name, value in got.items() if name == "backend"} == given


def test_a_nutpie_without_the_function_is_left_alone():
    theirs = ModuleType("nutpie")
    add_backend(theirs)
    assert not hasattr(theirs, "compile_pymc_model")


def test_models_that_need_python_are_refused_with_what_to_call():
    class Slow(pytensor.graph.op.Op):
        __props__ = ()

        def make_node(self, x):
            return pytensor.graph.basic.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = 2 * inputs[0]

        def grad(self, inputs, gradients):
            return [2 * gradients[0]]

        def pullback(self, inputs, outputs, gradients):
            return self.grad(inputs, gradients)

    with pm.Model() as model:
        pm.Potential("p", Slow()(pm.Normal("b")))
    with pytest.raises(NotImplementedError, match=r"Slow.*test_nutpie_backend\.py") as caught:
        sample(model, **WAYS["mode"])
    assert 'nuts_sampler="pymc"' in caught.value.__notes__[0]


def run(*lines):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", "\n".join(lines)], capture_output=True, text=True)


@pytest.mark.parametrize("first", ["aesara.pytensor", "nutpie"])
def test_the_order_of_imports_makes_no_difference(first):
    second = {"aesara.pytensor": "nutpie", "nutpie": "aesara.pytensor"}[first]
    done = run(
        f"import {first}, sys, importlib.util",
        f"assert {first == 'nutpie'} == ('nutpie' in sys.modules)",
        "assert importlib.util.find_spec('nutpie').name == 'nutpie'",
        f"import {second}, nutpie",
        "assert nutpie.compile_pymc_model.takes_aesara",
        "assert nutpie.compile_pymc_model.__name__ == 'compile_pymc_model'",
        "assert nutpie.__spec__.name == 'nutpie'",
    )
    assert done.returncode == 0, done.stderr


def test_without_nutpie_nothing_changes():
    done = run(
        "import sys, importlib.abc",
        "class Hidden(importlib.abc.MetaPathFinder):",
        "    def find_spec(self, name, path=None, target=None):",
        "        if name == 'nutpie': raise ModuleNotFoundError(name, name=name)",
        "sys.meta_path.insert(0, Hidden())",
        "import aesara.pytensor",
        "try: import nutpie",
        "except ModuleNotFoundError as error: assert error.name == 'nutpie'",
        "else: raise AssertionError",
    )
    assert done.returncode == 0, done.stderr
