"""murefi and calibr8, on PyMC 4.4: a process of which the rate is found from its curve."""

import importlib.metadata

import numpy as np
import pytest

if not any(d.version.startswith("4.") for d in importlib.metadata.distributions(name="pymc")):
    pytest.skip("needs PyMC 4", allow_module_level=True)  # before NumPy is changed for it

import tests.libraries.removed_numpy_names  # noqa: F401

murefi = pytest.importorskip("murefi", exc_type=ImportError)
calibr8 = pytest.importorskip("calibr8", exc_type=ImportError)
pm = pytest.importorskip("pymc", exc_type=ImportError)
pandas = pytest.importorskip("pandas")

import aesara
import aesara.tensor as at

TIMES = np.linspace(0, 3, 9)


class Decay(murefi.BaseODEModel):
    def __init__(self):
        super().__init__(parameter_names=("S0", "rate"), independent_keys=("S",))

    def dydt(self, y, t, theta):
        return [-theta[0] * y[0]]


def dataset(values):
    found = murefi.Dataset()
    found["run"] = murefi.Replicate("run")
    found["run"]["S"] = murefi.Timeseries(TIMES, values, independent_key="S", dependent_key="S")
    return found


def test_a_curve_of_symbolic_parameters():
    start, rate = at.scalars("start", "rate")
    predicted = Decay().predict_replicate([start, rate], dataset(TIMES)["run"])
    f = aesara.function([start, rate], predicted["S"].y)
    np.testing.assert_allclose(f(2.0, 0.7), 2 * np.exp(-0.7 * TIMES), rtol=1e-6)


def test_the_rate_of_a_process_is_found():
    observed = 2 * np.exp(-0.7 * TIMES) + 0.02 * np.random.default_rng(1).normal(size=9)
    mapping = pandas.DataFrame({"S0": ["start"], "rate": ["rate"]}, index=pandas.Index(["run"], name="rid"))
    parameters = murefi.ParameterMapping(mapping, bounds={}, guesses={})
    with pm.Model() as model:
        theta = {"start": pm.Normal("start", 1.0, 2.0), "rate": pm.HalfNormal("rate", 2.0)}
        predicted = Decay().predict_dataset(dataset(observed), parameters, theta)
        pm.Normal("y", predicted["run"]["S"].y, 0.02, observed=observed)
        trace = pm.sample(
            600, tune=600, step=pm.Slice(), chains=1, cores=1, progressbar=False, random_seed=1,
            compute_convergence_checks=False,
        )  # fmt: skip
    found = trace.posterior
    assert abs(found["rate"].mean() - 0.7) < 0.05 and abs(found["start"].mean() - 2) < 0.05
    assert model["y"].eval().shape == (9,)


class Line(calibr8.BasePolynomialModelN):
    def __init__(self):
        super().__init__(independent_key="x", dependent_key="y", mu_degree=1, sigma_degree=0)


def test_a_calibration_of_symbolic_values():
    x = at.vector("x")
    mean, scale = Line().predict_dependent(x, theta=[1.0, 3.0, 0.2])
    found = aesara.function([x], [mean, *aesara.grad(mean.sum(), [x])])(TIMES)
    np.testing.assert_allclose(found, [1 + 3 * TIMES, np.full(9, 3.0)], rtol=1e-14)
    assert float(scale) == 0.2
