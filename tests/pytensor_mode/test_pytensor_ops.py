"""Every Op of PyTensor, computed here and by PyTensor itself."""

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
from pytensor.compile.mode import Mode

import aesara.pytensor  # noqa: F401
from tests.pytensor_mode.pytensor_cases import CASES

PYTHON = Mode(linker="py", optimizer=None)


def inputs_of(case, static):
    return [
        pt.tensor(f"x{i}", dtype=value.dtype, shape=value.shape if static else (None,) * value.ndim)
        for i, value in enumerate(case.values)
    ]


def as_list(made):
    return list(made) if isinstance(made, list | tuple) else [made]


def assert_same(case, inputs, outputs):
    theirs = pytensor.function(inputs, outputs, mode=PYTHON, on_unused_input="ignore")
    ours = pytensor.function(inputs, outputs, mode="AESARA", on_unused_input="ignore")
    for expected, result in zip(theirs(*case.values), ours(*case.values), strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        rounding = 64 * np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
        with np.errstate(invalid="ignore"):
            size = np.nanmax(np.abs(np.where(np.isfinite(expected), expected, 0)), initial=0) if rounding else 0
        np.testing.assert_allclose(result, expected, rtol=rounding, atol=rounding * size)


@pytest.mark.parametrize("static", [False, True], ids=["run-time", "static"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values(case, static):
    inputs = inputs_of(case, static)
    assert_same(case, inputs, as_list(case.build(*inputs)))


@pytest.mark.parametrize("case", [case for case in CASES if case.differentiable], ids=lambda case: case.name)
def test_gradients(case):
    inputs = inputs_of(case, False)
    outputs = as_list(case.build(*inputs))
    cost = sum((output * pt.cos(pt.arange(output.size)).reshape(output.shape)).sum() for output in outputs)
    assert_same(case, inputs, pytensor.grad(cost, [x for x in inputs if x.type.dtype.startswith("float")]))
