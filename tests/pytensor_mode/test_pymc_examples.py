"""The examples with PyMC run, and their gradients are right."""

import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pytensor")
pytest.importorskip("pymc")

import aesara.pytensor

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "pymc"
NAMES = ["radon", "eight_schools", "gaussian_process", "ordered_mixture", "time_series", "lotka_volterra"]


def load(name):
    """An example, under a name of its own: other examples have the same."""
    sys.path.append(str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location(f"pymc_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def test_all_are_here():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*NAMES, "sampling", "compare"}


@pytest.mark.parametrize("name", NAMES)
def test_example(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load(name).build()
        f = aesara.pytensor.compile_logp(model)
        x = f.ravel(model.initial_point()) + 0.1 * np.random.default_rng(0).normal(size=f.size)
        direction = np.random.default_rng(1).normal(size=f.size)
        slope = (f(x + 1e-5 * direction)[0] - f(x - 1e-5 * direction)[0]) / 2e-5
        assert f(x)[1] @ direction == pytest.approx(slope, rel=1e-5)
        trace, (compiling, sampling) = load("sampling").sample(model, draws=5, tune=10, chains=2)
    assert compiling > 0 and sampling > 0
    assert set(trace.posterior.sizes) >= {"chain", "draw"} and trace.posterior.sizes["draw"] == 5
    assert all(np.isfinite(values).all() for values in trace.posterior.data_vars.values())


def test_examples_print_what_they_have_found(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["eight_schools.py", "--draws", "30"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load("sampling").main(load("eight_schools").build, ["mu", "tau"])
    text = capsys.readouterr().out
    assert "10 parameters" in text and "tau" in text and "r_hat" in text


def test_modes_are_compared(tmp_path, monkeypatch):
    compare = load("compare")
    monkeypatch.setitem(sys.modules, "eight_schools", load("eight_schools"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare.measure("eight_schools", "AESARA", 20)
    assert set(found) == set(compare.MEASURES) and all(value > 0 for value in found.values())
    pytest.importorskip("matplotlib")
    compare.draw({"eight_schools": {"AESARA": found, "NUMBA": None, "CVM": found}}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
