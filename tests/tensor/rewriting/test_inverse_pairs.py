"""Functions of their inverses keep what is not defined undefined; elsewhere nothing changes but what overflows."""

import itertools
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor import special

FUNCTIONS = [
    at.exp, at.log, at.exp2, at.log2, at.expm1, at.log1p, at.log10, at.sinh, at.arcsinh, at.cosh, at.arccosh, at.tanh,
    at.arctanh, at.sin, at.arcsin, at.cos, at.arccos, at.tan, at.arctan, at.sqrt, at.square, at.sigmoid, special.logit,
    at.softplus, special.log1mexp, at.erf, at.erfinv, at.erfc, at.erfcinv, at.reciprocal, at.neg, at.deg2rad,
    at.rad2deg, at.conj, special.ndtr, special.ndtri, at.abs,
]  # fmt: skip
NUMBERS = [0.0, 1e-320, 1e-9, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 20.0, 40.0, 800.0, 1e308, np.inf]
DATA = {
    "float64": np.array([*NUMBERS, *(-v for v in NUMBERS), np.nan]),
    "int64": np.array([-100, -3, -2, -1, 0, 1, 2, 3, 100]),
    "uint8": np.array([0, 1, 2, 3, 100, 255], dtype="uint8"),
    "bool": np.array([True, False]),
    "complex128": np.array([complex(a, b) for a in (-2, -1, -0.5, 0, 0.5, 1, 2) for b in (-4, -1, 0, 0.5, 5)]),
}


@pytest.mark.parametrize("dtype", DATA)
def test_pairs_of_functions_keep_their_values(dtype):
    x = at.vector("x", dtype=dtype)
    pairs = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for f, g in itertools.product(FUNCTIONS, repeat=2):
            try:
                pairs[f"{f}({g}(x))"] = f(g(x))
            except (TypeError, NotImplementedError):  # not of this dtype
                continue
        before, after = (
            aesara.function([x], list(pairs.values()), mode=Mode("py", rules))(DATA[dtype])
            for rules in (None, "fast_run")
        )
    for name, old, new in zip(pairs, before, after, strict=True):
        assert old.dtype == new.dtype, name
        defined = np.isfinite(old)
        np.testing.assert_allclose(new[defined], old[defined], rtol=1e-5, atol=2e-9, err_msg=name)
        if dtype != "complex128":
            np.testing.assert_array_equal(np.isnan(new), np.isnan(old), err_msg=name)
