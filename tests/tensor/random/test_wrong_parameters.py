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
#: other names of these
OTHERS = {"standard_normal", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_t", "random"}


def test_the_table_is_complete():
    assert {case.name for case in CASES if "Generator" in case.kinds} == WRONG.keys() | OTHERS


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
            inputs = [at.as_tensor_variable(p).type() for p in arrays]
            if name == "gamma":
                x = at_random.gamma(inputs[0], scale=inputs[1], rng=rng)
            else:
                x = getattr(at_random, name)(*inputs, rng=rng)
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
