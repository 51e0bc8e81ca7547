"""Log-densities, gradients and Hessians of models, here and by PyTensor itself."""

import warnings

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")
pm = pytest.importorskip("pymc")

import pytensor.tensor as pt
from pytensor.compile.mode import Mode

import aesara.pytensor  # noqa: F401
from tests.pytensor_mode.pymc_models import MODELS, ONCE, REWRITTEN


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name]()
        values = model.value_vars
        logp = model.logp()
        gradient = [g.ravel() for g in pytensor.grad(logp, values, disconnected_inputs="ignore")]
        outputs = [logp, pt.concatenate(gradient)]
        direction = [pt.cos(pt.arange(v.size)).reshape(v.shape) for v in values]
        along = sum((g * d.ravel()).sum() for g, d in zip(gradient, direction))
        if name not in ONCE:
            product = pytensor.grad(along, values, disconnected_inputs="ignore")
            outputs.append(pt.concatenate([p.ravel() for p in product]))
        python = Mode(linker="py", optimizer="fast_compile" if name in REWRITTEN else None)
        theirs = pytensor.function(values, outputs, mode=python, on_unused_input="ignore")
        ours = pytensor.function(values, outputs, mode="AESARA", on_unused_input="ignore")
        start = model.initial_point()
        for seed in range(3):
            rng = np.random.default_rng(seed)
            point = [np.asarray(start[v.name] + 0.3 * rng.normal(size=np.shape(start[v.name]))) for v in values]
            for result, expected in zip(ours(*point), theirs(*point), strict=True):
                size = np.max(np.abs(expected), initial=1)
                np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-12 * size)
