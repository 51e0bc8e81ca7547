"""Parameters that NumPy refuses: its exception natively and from the reference, with the node and the user's line."""

import numpy as np
import pytest
from distribution_table import CASES

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.tensor.random.generators import same_state

nan, inf = float("nan"), float("inf")

WRONG = {
    "normal": [(0.0, -1.0), (0.0, -0.0)],
    "laplace": [(0.0, -1.0)],
    "logistic": [(0.0, -1.0)],
    "gumbel": [(0.0, -1.0)],
    "cauchy": [(0.0, -1.0)],
    "halfnormal": [(0.0, -1.0)],
    "halfcauchy": [(0.0, -1.0)],
    "lognormal": [(0.0, -1.0)],
    "t": [(3.0, 0.0, -1.0), (-3.0, 0.0, 1.0)],
    "uniform": [(1.0, 0.0), (-1.7e308, 1.7e308), (nan, 1.0), (0.0, inf)],
    "triangular": [(1.0, 0.0, 2.0), (0.0, 2.0, 1.0), (1.0, 1.0, 1.0)],
    "beta": [(0.0, 1.0), (1.0, -1.0)],
    "power": [(0.0,)],
    "vonmises": [(0.0, -1.0)],
    "truncexpon": [(-1.0, 0.0, 1.0), (1.0, 0.0, -1.0)],
    "gamma": [(-1.0, 1.0), (1.0, -1.0)],
    "gengamma": [(1.0, 0.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0)],
    "invgamma": [(-1.0, 1.0), (1.0, -1.0)],
    "pareto": [(-1.0, 1.0), (1.0, -1.0)],
    "exponential": [(-1.0,)],
    "chisquare": [(0.0,)],
    "noncentral_chisquare": [(0.0, 1.0), (1.0, -1.0)],
    "f": [(0.0, 1.0), (1.0, 0.0)],
    "noncentral_f": [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, -1.0)],
    "weibull": [(-1.0,)],
    "rayleigh": [(-1.0,)],
    "wald": [(0.0, 1.0), (1.0, 0.0)],
    "bernoulli": [(1.5,), (-0.1,), (nan,)],
    "binomial": [(5, -0.1), (5, nan), (-1, 0.5)],
    "nbinom": [(5, 0.0), (0, 0.5)],
    "negative_binomial": [(nan, 0.5), (0.0, 0.5), (1.0, 1e-19)],
    "betabinom": [(5, 0.0, 1.0), (5, 1.0, 0.0), (-5, 1.0, 1.0)],
    "poisson": [(nan,), (-1.0,), (1e19,)],
    "geometric": [(0.0,), (1.5,)],
    "hypergeometric": [(3, -1, 1), (1, 1, 3), (10**9, 1, 1)],
    "logseries": [(1.0,)],
    "zipf": [(1.0,)],
    "integers": [(3, 3), (4, 3)],
    "categorical": [([0.5, 0.6],), ([-0.5, 1.5],)],
    "multinomial": [(5, [0.8, 0.8, 0.1]), (-1, [0.5, 0.5]), (5, [-0.1, 1.1])],
    "dirichlet": [([-1.0, 1.0],)],
    "multivariate_normal": [
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]),
        ([0.0, 0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]),
    ],
    "multivariate_hypergeometric": [([1, 2], 9), ([1, -2], 1), ([1, 2], -1)],
}
#: at the bounds of what is right
AT_BOUNDS = {
    "normal": [(0.0, 0.0), (inf, 1.0), (nan, 1.0)],
    "uniform": [(1.0, 1.0), (-0.0, 0.0)],
    "triangular": [(0.0, 0.0, 2.0), (0.0, 2.0, 2.0)],
    "gamma": [(0.0, 1.0), (1.0, 0.0)],
    "exponential": [(0.0,)],
    "noncentral_chisquare": [(1.0, 0.0)],
    "noncentral_f": [(1.0, 1.0, 0.0)],
    "weibull": [(0.0,)],
    "vonmises": [(0.0, 0.0)],
    "bernoulli": [(0.0,), (1.0,)],
    "binomial": [(5, 0.0), (5, 1.0), (0, 0.5)],
    "nbinom": [(1, 1.0)],
    "negative_binomial": [(1.0, 1.0)],
    "betabinom": [(0, 1.0, 1.0)],
    "poisson": [(0.0,), (9.2e18,)],
    "geometric": [(1.0,), (1e-300,)],
    "hypergeometric": [(3, 0, 1), (0, 3, 3), (1, 1, 2), (1, 1, 0), (0, 0, 0), (10**9 - 1, 1, 1)],
    "logseries": [(0.0,)],
    "integers": [(3, 4), (-(2**63), -(2**63) + 1)],
    "categorical": [([0.0, 1.0],), ([1.0],)],
    "multinomial": [(0, [0.5, 0.5]), (5, [0.0, 1.0]), (5, [1.0, 0.0])],
    "dirichlet": [([0.0, 1.0],)],
    "multivariate_normal": [([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]]), ([0.0], [[0.0]])],
    "multivariate_hypergeometric": [([1, 2], 3), ([0, 2], 2), ([1, 2], 0), ([0, 0], 0)],
}
#: other names of these
OTHERS = {"standard_normal", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_t", "random"}


def test_the_table_is_complete():
    assert {case.name for case in CASES if "Generator" in case.kinds} == WRONG.keys() | OTHERS


def drawn_by(name, given, rng):
    inputs = [at.as_tensor_variable(p).type() for p in given]
    if name == "gamma":
        return inputs, at_random.gamma(inputs[0], scale=inputs[1], rng=rng)
    return inputs, getattr(at_random, name)(*inputs, rng=rng)


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("name", AT_BOUNDS)
def test_parameters_at_the_bounds(name, mode):
    """Draws are NumPy's, and take as many of the generator's numbers."""
    for values in AT_BOUNDS[name]:
        given = [np.asarray(p) for p in values]
        rng = aesara.shared(np.random.default_rng(3))
        inputs, x = drawn_by(name, given, rng)
        f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])], mode=mode)
        twin = np.random.default_rng(3)
        with np.errstate(all="ignore"):
            wanted = x.owner.op.rng_fn(twin, *given, None)
            np.testing.assert_allclose(f(*given), wanted, rtol=1e-14, err_msg=str(values))
        assert same_state(rng.get_value(), twin), values


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name, mode):
    for values in WRONG[name]:
        given = [np.asarray(p) for p in values]
        for as_arrays in (False, True):
            if as_arrays and any(p.ndim for p in given):
                continue
            arrays = [np.full(3, p) if as_arrays else p for p in given]
            rng = aesara.shared(np.random.default_rng(3))
            inputs, x = drawn_by(name, arrays, rng)
            f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])], mode=mode)
            with np.errstate(all="ignore"):
                with pytest.raises(Exception) as wanted:
                    x.owner.op.rng_fn(np.random.default_rng(3), *arrays, None)
                with pytest.raises(wanted.type) as caught:
                    f(*arrays)
            text = str(caught.value)
            assert text.splitlines()[0] == str(wanted.value).splitlines()[0], (values, as_arrays)
            assert x.owner.op.name in text and "test_wrong_parameters.py" in text
            assert same_state(rng.get_value(), np.random.default_rng(3))
