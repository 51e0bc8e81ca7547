"""The functions of NumPy and of SciPy whose numbers each distribution draws, as `docs/random.md` lists them."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.stats as stats

import aesara
import aesara.tensor as at

N = 200
COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])

#: what `numpy.random.Generator` has: the arguments here, and those of the method, if they differ
BY_NUMPY = {
    "normal": (1.0, 2.0),
    "standard_normal": (),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "lognormal": (1.0, 0.5),
    "uniform": (1.0, 2.0),
    "random": (),
    "triangular": (1.0, 2.0, 4.0),
    "beta": (2.0, 3.0),
    "power": (2.0,),
    "vonmises": (1.0, 2.0),
    "standard_gamma": (3.0,),
    "exponential": (2.0,),
    "standard_exponential": (),
    "chisquare": (3.0,),
    "noncentral_chisquare": (3.0, 2.0),
    "f": (3.0, 4.0),
    "noncentral_f": (3.0, 4.0, 2.0),
    "weibull": (3.0,),
    "rayleigh": (3.0,),
    "wald": (3.0, 2.0),
    "standard_t": (4.0,),
    "binomial": (9, 0.3),
    "negative_binomial": (3, 0.3),
    "poisson": (4.0,),
    "geometric": (0.3,),
    "hypergeometric": (5, 6, 4),
    "logseries": (0.3,),
    "zipf": (3.0,),
    "integers": (0, 100),
    "multivariate_normal": (np.zeros(2), COVARIANCE),
    "dirichlet": (np.array([1.0, 2.0, 3.0]),),
    "multinomial": (9, np.array([0.2, 0.3, 0.5])),
    "multivariate_hypergeometric": (np.array([5, 6, 7]), 4),
}
#: those under another name, or with other parameters, than in NumPy
BY_NUMPY_OTHERWISE = {
    "gamma": ((3.0, 2.0), lambda rng: rng.gamma(3.0, 0.5, N)),
    "t": ((4.0, 1.0, 2.0), lambda rng: rng.standard_t(4.0, N) * 2.0 + 1.0),
    "halfnormal": ((1.0, 2.0), lambda rng: abs(rng.standard_normal(N)) * 2.0 + 1.0),
    "bernoulli": ((0.3,), lambda rng: rng.binomial(1, 0.3, N)),
    "nbinom": ((3, 0.3), lambda rng: rng.negative_binomial(3, 0.3, N)),
}
#: what SciPy draws: the arguments here, and the function
BY_SCIPY = {
    "gumbel": ((1.0, 2.0), lambda rng: stats.gumbel_r.rvs(1.0, 2.0, size=N, random_state=rng)),
    "cauchy": ((1.0, 2.0), lambda rng: stats.cauchy.rvs(1.0, 2.0, size=N, random_state=rng)),
    "standard_cauchy": ((), lambda rng: stats.cauchy.rvs(size=N, random_state=rng)),
    "halfcauchy": ((1.0, 2.0), lambda rng: stats.halfcauchy.rvs(1.0, 2.0, size=N, random_state=rng)),
    "invgamma": ((3.0, 2.0), lambda rng: stats.invgamma.rvs(3.0, scale=2.0, size=N, random_state=rng)),
    "gengamma": ((3.0, 2.0, 1.5), lambda rng: stats.gengamma.rvs(1.5, 2.0, scale=1.5, size=N, random_state=rng)),
    "pareto": ((3.0, 2.0), lambda rng: stats.pareto.rvs(3.0, scale=2.0, size=N, random_state=rng)),
    "truncexpon": ((3.0, 1.0, 2.0), lambda rng: stats.truncexpon.rvs(3.0, 1.0, 2.0, size=N, random_state=rng)),
    "betabinom": ((9, 2.0, 3.0), lambda rng: stats.betabinom.rvs(9, 2.0, 3.0, size=N, random_state=rng)),
}
#: names of NumPy's methods for what is drawn as SciPy does, with the parameters above
DIFFERENT_IN_NUMPY = {
    "gumbel": lambda rng: rng.gumbel(1.0, 2.0, N),
    "standard_cauchy": lambda rng: rng.standard_cauchy(N),
    "pareto": lambda rng: (rng.pareto(3.0, N) + 1.0) * 2.0,
}


def draws(name, arguments, mode):
    """Numbers that are drawn from a state, and what the next state gives."""
    rng = aesara.shared(np.random.default_rng(3))
    z = getattr(at.random, name)(*arguments, size=N, rng=rng)
    f = aesara.function([], z, updates=[(rng, z.owner.outputs[0])], mode=mode)
    return f(), rng.get_value().random(3)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("name", [*BY_NUMPY, *BY_NUMPY_OTHERWISE])
def test_numbers_of_numpy(name, mode):
    rng = np.random.default_rng(3)
    if name in BY_NUMPY:
        arguments = BY_NUMPY[name]
        expected = getattr(rng, name)(*arguments, size=N)
    else:
        arguments, function = BY_NUMPY_OTHERWISE[name]
        expected = function(rng)
    found, following = draws(name, arguments, mode)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(following, rng.random(3))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("name", BY_SCIPY)
def test_numbers_of_scipy(name, mode):
    arguments, function = BY_SCIPY[name]
    rng = np.random.default_rng(3)
    expected = function(rng)
    found, following = draws(name, arguments, mode)
    # SciPy may compute a number by another formula, which differs in the last bits, from the same bits of the source.
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(following, rng.random(3))
    if name in DIFFERENT_IN_NUMPY:
        of_numpy = DIFFERENT_IN_NUMPY[name](np.random.default_rng(3))
        assert np.mean(np.isclose(found, of_numpy, rtol=1e-6)) < 0.1


def test_the_documentation_names_these():
    text = " ".join(Path("docs/random.md").read_text(encoding="utf-8").split())
    listed = re.search(r"These draw the numbers of `scipy.stats`, as Aesara 2.9.4 does: (.*?)\.", text).group(1)
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(BY_SCIPY)
    table = re.search(r"## Distributions (.*?) ## ", text).group(1)
    names = set(re.findall(r"`(\w+)`", table))
    without_such = {"Generator", "RandomState", "randint", "categorical", "choice", "permutation", "permuted"}
    assert names - without_such - {"negative_binomial"} == {*BY_NUMPY, *BY_NUMPY_OTHERWISE, *BY_SCIPY} - {
        "negative_binomial"
    }
