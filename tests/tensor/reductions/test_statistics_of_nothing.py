"""Norms, medians and cross-entropies of arrays without elements have NumPy's values."""

import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor import linalg, nnet
from tests.optable.running import MODES, compiled

FUNCTIONS = {
    **{
        f"matrix_norm {order}": (
            lambda x, order=order: linalg.matrix_norm(x, order),
            lambda x, order=order: np.linalg.norm(x, order) if x.size else np.float64(0),  # of which NumPy 1 has none
        )
        for order in ("fro", "nuc", 2, 1, np.inf)
    },
    "norm of order infinity": (lambda x: x.norm(np.inf), lambda x: np.abs(x).max(initial=0)),
    "vector_norm": (lambda x: linalg.vector_norm(x, np.inf, axis=0), lambda x: np.abs(x).max(axis=0, initial=0)),
    "median": (lambda x: at.median(x, axis=0), lambda x: np.median(x, axis=0)),
    "nanmedian": (lambda x: at.nanmedian(x, axis=0), lambda x: np.nanmedian(x, axis=0)),
    "nanquantile": (lambda x: at.nanquantile(x, 0.3, axis=0), lambda x: np.nanquantile(x, 0.3, axis=0)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (3, 2), (1, 1)], ids=str)
def test_values_and_gradients(shape, known, mode):
    x = at.tensor("float64", shape=shape if known else (None, None))
    value = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    results = [function(x) for function, _ in FUNCTIONS.values()]
    gradients = [aesara.grad(y.sum(), x) for y in results]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [oracle(value) for _, oracle in FUNCTIONS.values()]
        got = compiled([x], [*results, *gradients], MODES[mode])(value)
    for name, result, want in zip(FUNCTIONS, got, wanted):
        np.testing.assert_allclose(result, want, rtol=1e-13, err_msg=name)
    assert all(gradient.shape == shape for gradient in got[len(results) :])


@pytest.mark.parametrize("mode", MODES)
def test_cross_entropy_of_no_classes(mode):
    x, labels = at.tensor3("x"), at.lmatrix("labels")
    function = compiled([x, labels], nnet.categorical_crossentropy(x, labels), MODES[mode])
    assert function(np.zeros((0, 12, 0)), np.zeros((0, 12), "int64")).shape == (0, 12)
