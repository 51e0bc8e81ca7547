"""Random numbers, compiled by JAX: distributions, states of generators, shapes, dtypes and errors."""

import pickle

import numpy as np
import pytest
import scipy.linalg
from scipy import stats

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.sandbox.rng_mrg import MRG_RandomStream
from aesara.tensor.random import RandomStream, threefry
from aesara.tensor.random.op import RandomVariable
from tests.own_distributions import SumOfDiceRV

jax = pytest.importorskip("jax")
jnp = jax.numpy

from aesara.link.jax.compiled import enable_x64
from aesara.link.jax.dispatch import jax_funcify, jax_typify
from aesara.link.jax.dispatch.random import jax_sample_fn

MANY = 10_000
FEW = 1e-3  # p-values below it are failures; seeds are fixed
RV = at.random


def generator(seed=29, kind=np.random.default_rng):
    return aesara.shared(kind(seed))


def compiled(inputs, outputs, **kwargs):
    return aesara.function(inputs, outputs, mode="JAX", **kwargs)


def drawn(op, *params, seed=29, kind=np.random.default_rng, **kwargs):
    return np.asarray(compiled([], op(*params, rng=generator(seed, kind), **kwargs))())


CONTINUOUS = [
    (RV.normal, (2.0, 3.0), stats.norm(2, 3)),
    (RV.laplace, (2.0, 3.0), stats.laplace(2, 3)),
    (RV.logistic, (2.0, 3.0), stats.logistic(2, 3)),
    (RV.gumbel, (2.0, 3.0), stats.gumbel_r(2, 3)),
    (RV.cauchy, (2.0, 3.0), stats.cauchy(2, 3)),
    (RV.t, (3.0, 2.0, 3.0), stats.t(3, 2, 3)),
    (RV.t, (0.5,), stats.t(0.5)),
    (RV.uniform, (2.0, 5.0), stats.uniform(2, 3)),
    (RV.triangular, (1.0, 2.0, 5.0), stats.triang(0.25, 1, 4)),
    (RV.beta, (2.0, 0.5), stats.beta(2, 0.5)),
    (RV.power, (3.0,), stats.powerlaw(3)),
    (RV.power, (0.4,), stats.powerlaw(0.4)),
    (RV.vonmises, (0.0, 0.5), stats.vonmises(0.5)),
    (RV.vonmises, (0.0, 1e-6), stats.uniform(-np.pi, 2 * np.pi)),
    (RV.vonmises, (0.0, 30.0), stats.vonmises(30)),
    (RV.vonmises, (0.0, 1e7), stats.norm(0, 1e7**-0.5)),
    (RV.truncexpon, (2.0, 1.0, 3.0), stats.truncexpon(2, 1, 3)),
    (RV.halfnormal, (2.0, 3.0), stats.halfnorm(2, 3)),
    (RV.halfcauchy, (2.0, 3.0), stats.halfcauchy(2, 3)),
    (RV.lognormal, (0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    (RV.gamma, (2.5, 2.0), stats.gamma(2.5, scale=0.5)),
    (RV.gamma, (0.2, 2.0), stats.gamma(0.2, scale=0.5)),
    (RV.chisquare, (3.0,), stats.chi2(3)),
    (RV.noncentral_chisquare, (3.0, 2.0), stats.ncx2(3, 2)),
    (RV.noncentral_chisquare, (0.5, 40.0), stats.ncx2(0.5, 40)),
    (RV.f, (3.0, 5.0), stats.f(3, 5)),
    (RV.noncentral_f, (3.0, 5.0, 2.0), stats.ncf(3, 5, 2)),
    (RV.invgamma, (2.0, 3.0), stats.invgamma(2, scale=3)),
    (RV.gengamma, (4.0, 2.0, 3.0), stats.gengamma(2, 2, scale=3)),
    (RV.gengamma, (-4.0, -2.0, 3.0), stats.gengamma(2, -2, scale=3)),
    (RV.pareto, (3.0, 2.0), stats.pareto(3, scale=2)),
    (RV.exponential, (2.0,), stats.expon(scale=2)),
    (RV.weibull, (1.7,), stats.weibull_min(1.7)),
    (RV.rayleigh, (2.0,), stats.rayleigh(scale=2)),
    (RV.wald, (1.0, 2.0), stats.invgauss(0.5, scale=2)),
    (RV.wald, (100.0, 20.0), stats.invgauss(5, scale=20)),
]

DISCRETE = [
    (RV.bernoulli, (0.3,), stats.bernoulli(0.3)),
    (RV.binomial, (10, 0.3), stats.binom(10, 0.3)),
    (RV.binomial, (1000, 0.97), stats.binom(1000, 0.97)),
    (RV.nbinom, (2.5, 0.3), stats.nbinom(2.5, 0.3)),
    (RV.betabinom, (20, 2.0, 3.0), stats.betabinom(20, 2, 3)),
    (RV.poisson, (0.5,), stats.poisson(0.5)),
    (RV.poisson, (9.5,), stats.poisson(9.5)),
    (RV.poisson, (10.5,), stats.poisson(10.5)),
    (RV.poisson, (1e3,), stats.poisson(1e3)),
    (RV.poisson, (1e9,), stats.poisson(1e9)),
    (RV.geometric, (0.3,), stats.geom(0.3)),
    (RV.geometric, (1e-3,), stats.geom(1e-3)),
    (RV.hypergeometric, (10, 7, 5), stats.hypergeom(17, 10, 5)),
    (RV.hypergeometric, (50, 70, 55), stats.hypergeom(120, 50, 55)),
    (RV.hypergeometric, (70, 50, 105), stats.hypergeom(120, 70, 105)),
    (RV.hypergeometric, (50, 70, 115), stats.hypergeom(120, 50, 115)),
    (RV.hypergeometric, (12, 300_000, 200_000), stats.hypergeom(300_012, 12, 200_000)),
    (RV.logseries, (0.7,), stats.logser(0.7)),
    (RV.logseries, (0.99,), stats.logser(0.99)),
    (RV.zipf, (2.5,), stats.zipf(2.5)),
    (RV.integers, (2, 9), stats.randint(2, 9)),
    (RV.integers, (-(10**12), 10**12), stats.randint(-(10**12), 10**12)),
    (RV.categorical, ([0.2, 0.5, 0.3],), stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3]))),
]


def names(case):
    return case.name if isinstance(case, RandomVariable) else str(case) if isinstance(case, tuple) else ""


def chi_square(numbers, distribution):
    """The p-value of counts in intervals that hold the middle of the distribution, and of the rest."""
    low, high = (int(distribution.ppf(q)) for q in (0.0005, 0.9995))
    ends = np.unique(np.linspace(low, high, min(high - low + 1, 30)).round().astype("int64"))
    shares = np.diff([0, *distribution.cdf(ends), 1])
    counts = np.diff([0, *((numbers <= end).sum() for end in ends), len(numbers)])
    often = shares * len(numbers) > 5
    rest = 1 - shares[often].sum()
    assert abs(counts[~often].sum() - rest * len(numbers)) < 6 * np.sqrt(rest * len(numbers) + 1)
    expected = shares[often] / shares[often].sum() * counts[often].sum()
    return stats.chisquare(counts[often], expected).pvalue


@pytest.mark.parametrize("op, params, distribution", CONTINUOUS, ids=names)
def test_distribution_of_numbers(op, params, distribution):
    rng = generator()
    f = compiled([], [op(*params, size=MANY, rng=rng, dtype=dtype) for dtype in ("float64", "float32")])
    for numbers, dtype in zip(f(), ("float64", "float32")):
        assert numbers.shape == (MANY,) and numbers.dtype == dtype
        assert stats.kstest(np.asarray(numbers), distribution.cdf).pvalue > FEW
        assert len(np.unique(numbers)) > MANY * 0.9
    assert "callback" not in jaxpr(f)


@pytest.mark.parametrize("op, params, distribution", DISCRETE, ids=names)
def test_distribution_of_counts(op, params, distribution):
    f = compiled([], op(*params, size=MANY, rng=generator()))
    numbers = np.asarray(f())
    assert numbers.shape == (MANY,) and numbers.dtype == "int64"
    assert chi_square(numbers, distribution) > FEW
    assert "callback" not in jaxpr(f)


def jaxpr(function):
    """Return the jaxpr of a function without arguments."""
    fgraph = function.maker.fgraph
    values = [jax_typify(c.value) for c in function.input_storage]
    with enable_x64(True):
        return str(jax.make_jaxpr(jax_funcify(fgraph))(*values))


def test_extreme_parameters():
    assert (drawn(RV.gamma, 0.0, 1.0, size=3) == 0).all()
    assert (drawn(RV.weibull, 0.0, size=3) == 0).all()
    assert np.isin(drawn(RV.beta, 1e-5, 1e-5, size=20), (0, 1)).all()
    assert (drawn(RV.poisson, 0.0, size=3) == 0).all()
    assert (drawn(RV.binomial, [0, 5, 5], [0.5, 0.0, 1.0]) == [0, 0, 5]).all()
    assert (drawn(RV.geometric, [1.0, 1e-300]) == [1, 2**63 - 1]).all()
    assert (drawn(RV.nbinom, 2.5, 1.0, size=3) == 0).all()
    assert (drawn(RV.logseries, 0.0, size=3) == 1).all()
    assert (drawn(RV.zipf, 2000.0, size=3) == 1).all()
    assert (drawn(RV.zipf, 1.3, size=1000) > 0).all()
    assert (drawn(RV.hypergeometric, 5, 2, [0, 7]) == [0, 5]).all()
    assert (drawn(RV.bernoulli, [0.0, 1.0], size=(9, 2)) == [0, 1]).all()
    assert (drawn(RV.dirichlet, [0.0, 1.0]) == [0, 1]).all() and (drawn(RV.dirichlet, [0.0, 0.0]) == 0).all()
    large = drawn(RV.poisson, 9e18, size=100)
    assert abs(large / 9e18 - 1).max() < 1e-8
    for op, params in (
        (RV.normal, (0.0, np.nan)),
        (RV.vonmises, (0.0, np.nan)),
        (RV.noncentral_chisquare, (1.0, np.nan)),
    ):
        assert np.isnan(drawn(op, *params, size=2)).all()


# -- vectors, and choosing ---------------------------------------------------------------------------


def test_multivariate_normal():
    mean, cov = np.array([1.0, -2.0, 0.5]), np.array([[2.0, 0.6, 0.2], [0.6, 1.0, -0.3], [0.2, -0.3, 0.5]])
    m, c = at.dvector(), at.dmatrix()
    f = compiled([m, c], [RV.multivariate_normal(x, y, size=MANY, rng=generator()) for x, y in ((m, c), (mean, cov))])
    given, known = map(np.asarray, f(mean, cov))
    np.testing.assert_allclose(given, known, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(given.mean(0), mean, atol=0.05, rtol=0)
    np.testing.assert_allclose(np.cov(given.T), cov, atol=0.05, rtol=0)
    singular = drawn(RV.multivariate_normal, np.zeros(2), np.ones((2, 2)), size=5)
    np.testing.assert_allclose(singular[:, 0], singular[:, 1], rtol=1e-7)
    batch = drawn(RV.multivariate_normal, np.arange(6.0).reshape(2, 1, 3) * 100, np.stack([np.eye(3)] * 4), size=(2, 4))
    assert batch.shape == (2, 4, 3)
    np.testing.assert_allclose(batch, np.broadcast_to(np.arange(6.0).reshape(2, 1, 3) * 100, (2, 4, 3)), atol=6, rtol=0)


def test_draws_of_a_covariance_do_not_depend_on_what_eigenvectors_a_device_finds():
    """They are a mean and the symmetric root of the covariance times what the key gives for a unit covariance."""
    mean, cov, rng = at.dvector(), at.dmatrix(), generator()
    f = compiled([mean, cov], RV.multivariate_normal(mean, cov, size=100, rng=rng))
    value = np.array([[2.0, 0.6, 0.2], [0.6, 1.0, -0.3], [0.2, -0.3, 0.5]])
    numbers = np.asarray(f(np.zeros(3), np.eye(3)))
    np.testing.assert_allclose(f(np.ones(3), value), 1 + numbers @ scipy.linalg.sqrtm(value), rtol=1e-9, atol=1e-12)
    equal = np.full((3, 3), 0.5) + np.eye(3)
    np.testing.assert_allclose(f(np.ones(3), equal), 1 + numbers @ scipy.linalg.sqrtm(equal), rtol=1e-9, atol=1e-12)


def test_derivative_in_a_covariance():
    """Of second moments, also where eigenvalues are equal."""
    cov, rng = at.dmatrix(), generator()
    graph = FunctionGraph([cov, rng], [RV.multivariate_normal(np.zeros(2), cov, size=MANY, rng=rng)], clone=False)
    convert = jax_funcify(graph)
    with enable_x64(True):
        slope = jax.grad(lambda value: (convert(value, rng.get_value())[0][:, 0] ** 2).mean())(np.eye(2))
    np.testing.assert_allclose(slope, [[1, 0], [0, 0]], atol=0.05, rtol=0)


def test_dirichlet():
    alphas = np.array([1.0, 2.0, 5.0])
    numbers = drawn(RV.dirichlet, alphas, size=MANY)
    np.testing.assert_allclose(numbers.sum(-1), 1, rtol=1e-7)
    for k in range(3):
        assert stats.kstest(numbers[:, k], stats.beta(alphas[k], alphas.sum() - alphas[k]).cdf).pvalue > FEW
    assert drawn(RV.dirichlet, np.ones((4, 3)), size=(5, 4)).shape == (5, 4, 3)
    assert drawn(RV.dirichlet, np.zeros(0)).shape == (0,)


def test_multinomial():
    p = np.array([0.2, 0.5, 0.3])
    numbers = drawn(RV.multinomial, 7, p, size=MANY)
    assert (numbers.sum(-1) == 7).all()
    for k in range(3):
        assert chi_square(numbers[:, k], stats.binom(7, p[k])) > FEW
    batch = drawn(RV.multinomial, [[5], [1000]], np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]))
    assert batch.shape == (2, 3, 2) and (batch[:, 0, 1] == [5, 1000]).all() and (batch[:, 1, 0] == [5, 1000]).all()
    assert (drawn(RV.multinomial, 3, [1.0]) == [3]).all()


def test_multivariate_hypergeometric():
    colors = np.array([8, 5, 12])
    numbers = drawn(RV.multivariate_hypergeometric, colors, 9, size=MANY)
    assert (numbers.sum(-1) == 9).all() and (numbers <= colors).all()
    for k in range(3):
        assert chi_square(numbers[:, k], stats.hypergeom(25, colors[k], 9)) > FEW


@pytest.mark.parametrize("p", [None, [0.1, 0.0, 0.6, 0.3]])
def test_choice(p):
    shares = np.full(4, 0.25) if p is None else np.array(p)
    numbers = drawn(RV.choice, np.array([10, 20, 30, 40]), size=MANY, p=p)
    counts = np.array([(numbers == x).sum() for x in (10, 20, 30, 40)])
    assert counts.sum() == MANY and (counts[shares == 0] == 0).all()
    assert stats.chisquare(counts[shares > 0], shares[shares > 0] * MANY).pvalue > FEW
    rows = drawn(RV.choice, np.arange(8).reshape(4, 2), size=(3, 2), p=p)
    assert rows.shape == (3, 2, 2) and (rows[..., 1] == rows[..., 0] + 1).all()
    apart = drawn(RV.choice, 4, size=3, replace=False, p=p)
    assert len(set(apart.tolist())) == 3 and (shares[apart] > 0).all()
    assert drawn(RV.choice, np.arange(3.0)).shape == () and drawn(RV.choice, np.zeros(0), size=(0, 2)).shape == (0, 2)


def test_choice_apart_by_weight():
    """The first of them has the probabilities that are given."""
    p = np.array([0.5, 0.2, 0.3])
    rng, f = generator(), None
    state, first = RV.choice(3, size=2, replace=False, p=p, rng=rng).owner.outputs
    f = compiled([], first, updates={rng: state})
    counts = np.bincount([int(f()[0]) for _ in range(500)], minlength=3)
    assert stats.chisquare(counts, p * 500).pvalue > FEW


def test_whether_a_choice_is_with_replacement_may_be_an_argument():
    replace = at.bscalar()
    f = compiled([replace], RV.choice(np.arange(9), size=9, replace=replace, rng=generator()))
    assert len(set(f(0).tolist())) == 9 and len(set(f(1).tolist())) < 9


def test_permutations():
    assert sorted(drawn(RV.permutation, 20)) == list(range(20)) != list(drawn(RV.permutation, 20))
    rows = drawn(RV.permutation, np.arange(20).reshape(10, 2))
    assert (rows[:, 1] == rows[:, 0] + 1).all() and (rows[:, 0] != np.arange(0, 20, 2)).any()
    x = np.arange(40.0).reshape(4, 10)
    one, each = drawn(RV.permuted, x), drawn(RV.permuted, x, axis=1)
    assert (np.sort(one, None) == x.ravel()).all() and (np.sort(each, 1) == x).all()
    assert len({tuple(row) for row in each % 10}) == 4
    n = at.lscalar()
    f = compiled([n], RV.permutation(n, rng=generator()))
    assert sorted(f(5).tolist()) == list(range(5)) and f(0).shape == (0,)


# -- shapes and dtypes -------------------------------------------------------------------------------


def test_shapes():
    mu, n = at.dmatrix("mu"), at.lscalar("n")
    outputs = [
        RV.normal(mu, [1.0, 2.0], rng=generator()),
        RV.normal(mu, 1.0, size=(n, *mu.shape), rng=generator()),
        RV.normal(size=mu.shape[0], rng=generator()),
        RV.poisson(mu[0], size=(2, mu.shape[1]), rng=generator()),
        RV.normal(size=(), rng=generator()),
        RV.categorical(np.full((2, 3), 1 / 3), size=(n, 2), rng=generator()),
        RV.uniform(0, 1, size=(0, n), rng=generator()),
    ]
    f = compiled([mu, n], outputs)
    for rows, times in ((3, 4), (5, 0)):
        shapes = [value.shape for value in f(np.zeros((rows, 2)), times)]
        assert shapes == [(rows, 2), (times, rows, 2), (rows,), (2, 2), (), (times, 2), (0, times)]


def test_parameters_are_those_of_their_places():
    mu = np.array([[0.0], [1e6]])
    numbers = drawn(RV.normal, mu, [1.0, 1e-3], size=(50, 2, 2))
    assert abs(numbers[:, :, 0] - mu[:, 0]).max() < 6 and 0 < abs(numbers[:, :, 1] - mu[:, 0]).max() < 6e-3
    counts = drawn(RV.poisson, [1.0, 1e6], size=(50, 2))
    assert counts[:, 0].max() < 20 and counts[:, 1].min() > 9e5


@pytest.mark.parametrize(
    "op, params, dtype", [(RV.normal, (), "float16"), (RV.poisson, (5.0,), "int8"), (RV.bernoulli, (0.5,), "bool"),
                          (RV.poisson, (5.0,), "float32"), (RV.integers, (0, 200), "uint8")]
)  # fmt: skip
def test_dtypes(op, params, dtype):
    numbers = drawn(op, *params, size=500, dtype=dtype)
    assert numbers.dtype == dtype and len(np.unique(numbers)) > 1


def test_what_does_not_fit_is_refused():
    f = compiled([], RV.poisson(500.0, size=10, rng=generator(), dtype="int8"))
    with pytest.raises(ValueError, match="Draws of dtype int64 do not fit into int8"):
        f()


def test_parameters_of_other_dtypes():
    i, x = at.bscalar("i"), at.scalar("x", dtype="float16")
    f = compiled([i, x], [RV.normal(i, x, size=50, rng=generator()), RV.uniform(i, x, size=50, rng=generator())])
    normal, uniform = f(-3, np.float16(2.5))
    assert normal.dtype == uniform.dtype == "float64" and uniform.min() < -2 and uniform.max() > 2


# -- errors ------------------------------------------------------------------------------------------

WRONG = [
    (RV.normal, (0.0, -1.0)), (RV.normal, (0.0, -0.0)), (RV.cauchy, (0.0, np.nan)), (RV.gamma, (-1.0, 1.0)),
    (RV.beta, (0.0, 1.0)), (RV.uniform, (2.0, 1.0)), (RV.uniform, (0.0, np.inf)), (RV.uniform, (0.0, -np.inf)),
    (RV.uniform, (np.nan, 1.0)), (RV.triangular, (0.0, -1.0, 1.0)),
    (RV.triangular, (0.0, 0.0, 0.0)), (RV.vonmises, (0.0, -1.0)), (RV.wald, (0.0, 1.0)), (RV.f, (0.0, 1.0)),
    (RV.t, (0.0,)), (RV.truncexpon, (0.0,)), (RV.gengamma, (1.0, 0.0, 1.0)), (RV.gengamma, (1.0, -1.0, 1.0)),
    (RV.bernoulli, (1.5,)), (RV.binomial, (3, np.nan)), (RV.binomial, (-3, 0.5)), (RV.nbinom, (0.0, 0.5)),
    (RV.nbinom, (1.0, 0.0)), (RV.nbinom, (1e18, 1e-3)), (RV.poisson, (-1.0,)), (RV.poisson, (1e20,)),
    (RV.geometric, (0.0,)), (RV.hypergeometric, (-1, 2, 1)), (RV.hypergeometric, (1, 2, 4)), (RV.logseries, (1.0,)),
    (RV.zipf, (1.0,)), (RV.integers, (3, 3)), (RV.multinomial, (3, [0.6, 0.6, 0.1])), (RV.dirichlet, ([-1.0, 1.0],)),
    (RV.multivariate_normal, (np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]]))),
    (RV.multivariate_normal, (np.zeros(2), np.array([[1.0, 0.5], [0.2, 1.0]]))),
    (RV.multivariate_normal, (np.zeros(2), np.array([[1.0, np.inf], [np.inf, 1.0]]))),
    (RV.multivariate_normal, (np.zeros(0), np.zeros((0, 0)))), (RV.multivariate_normal, (np.zeros(3), np.eye(2))),
    (RV.multivariate_normal, (np.zeros(2), np.ones((2, 3)))),
    (RV.multivariate_hypergeometric, ([3, 1], 5)), (RV.categorical, ([0.5, 0.6],)), (RV.categorical, ([-0.5, 1.5],)),
]  # fmt: skip


@pytest.mark.parametrize("op, params", WRONG, ids=names)
def test_wrong_parameters(op, params):
    """The reference's error, whether parameters are known or not."""
    variables = [at.as_tensor(np.asarray(p)).type() for p in params]
    size = {"size": (2,)} if op.ndim_supp == 0 and op is not RV.categorical else {}
    draw = op(*variables, rng=generator(), **size)
    values = [np.asarray(p) for p in params]
    with pytest.raises(Exception) as wanted:
        aesara.function(variables, draw, mode="FAST_COMPILE")(*values)
    first = str(wanted.value).splitlines()[0]
    for f, given in ((compiled(variables, draw), values), (compiled([], op(*params, rng=generator(), **size)), ())):
        with pytest.raises(type(wanted.value)) as raised:
            f(*given)
        assert str(raised.value).splitlines()[0] == first


def test_wrong_sizes():
    for size, params, text in (((2,), (np.zeros(3),), "not compatible"), (None, (np.zeros(2), np.ones(3)), "shape")):
        variables = [at.dvector() for _ in params]
        with pytest.raises(ValueError, match=text):
            compiled(variables, RV.normal(*variables, size=size, rng=generator()))(*params)
    n = at.lscalar()
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled([n], RV.normal(size=(n,), rng=generator()))(-1)


@pytest.mark.parametrize(
    "kwargs, text",
    [
        ({"a": np.zeros(0), "size": 1}, "a cannot be empty"),
        ({"a": 2, "size": 3, "replace": False}, "Cannot take a larger sample"),
        ({"a": 2, "size": 3, "p": [0.5]}, "same size"),
        ({"a": 2, "size": 3, "p": [0.5, 0.6]}, "do not sum to 1"),
        ({"a": 2, "size": 3, "p": [-0.5, 1.5]}, "not non-negative"),
        ({"a": 2, "size": 2, "p": [0.0, 1.0], "replace": False}, "Fewer non-zero"),
    ],
)
def test_wrong_choices(kwargs, text):
    with pytest.raises(ValueError, match=text):
        compiled([], RV.choice(rng=generator(), **kwargs))()


def test_a_failing_call_leaves_generators_alone():
    scale, rng = at.dscalar(), generator()
    state, x = RV.normal(0, scale, rng=rng).owner.outputs
    f = compiled([scale], x, updates={rng: state})
    before = pickle.dumps(rng.get_value())
    with pytest.raises(ValueError, match="scale < 0"):
        f(-1.0)
    assert pickle.dumps(rng.get_value()) == before


# -- states of generators ----------------------------------------------------------------------------

KINDS = [np.random.default_rng, np.random.RandomState]


def updating(rng, size=4):
    state, x = RV.normal(size=size, rng=rng).owner.outputs
    return compiled([], x, updates={rng: state})


def different(*arrays):
    return len({np.asarray(array).tobytes() for array in arrays}) == len(arrays)


@pytest.mark.parametrize("kind", KINDS)
def test_without_update(kind):
    rng = generator(3, kind)
    before = pickle.dumps(rng.get_value())
    f = compiled([], RV.normal(size=4, rng=rng))
    assert not different(f(), f()) and pickle.dumps(rng.get_value()) == before
    rng.set_value(kind(3))
    again = f()
    rng.set_value(kind(4))
    assert different(again, f())


@pytest.mark.parametrize("kind", KINDS)
def test_with_update(kind):
    first, second = (generator(3, kind) for _ in range(2))
    f, g = updating(first), updating(second)
    numbers = [f() for _ in range(3)]
    assert different(*numbers) and not different(numbers[0], g())
    assert isinstance(first.get_value(), type(kind(3)))
    first.set_value(kind(3))
    assert all((f() == x).all() for x in numbers)


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_a_state_counts(kind):
    """Also a number that is kept for the next draw, and half of one; equal states draw equal numbers."""
    rng = generator(3, kind)
    f = compiled([], RV.normal(size=4, rng=rng))
    states = [kind(3), kind(4), kind(3), kind(3)]
    states[2].standard_normal(size=1)
    states[3].bytes(4)
    found = []
    for state in states:
        rng.set_value(state)
        found.append(f())
    assert different(*found)
    if kind is np.random.RandomState:
        rest = kind(5), kind(5)
        rest[0].set_state({**rest[1].get_state(legacy=False), "has_gauss": 1, "gauss": 0.5})
        rng.set_value(rest[0])
        x = f()
        rng.set_value(rest[1])
        assert different(x, f())
    keys = [jax_typify(np.random.Generator(bits(7))) for bits in (np.random.PCG64, np.random.Philox, np.random.MT19937)]
    assert different(*keys, jax_typify(np.random.RandomState(np.random.MT19937(7))))


@pytest.mark.parametrize("kind", KINDS)
def test_functions_that_share_a_generator(kind):
    rng = generator(3, kind)
    f, g = updating(rng), updating(rng)
    state, x = RV.normal(size=4, rng=rng).owner.outputs
    native = aesara.function([], x, updates={rng: state})
    assert different(*[h() for h in (f, g, native, f, native, g)])


def test_pickle_after_a_call():
    rng = generator(3)
    f = updating(rng)
    f()
    twin = pickle.loads(pickle.dumps(f))
    assert (twin() == f()).all()
    assert pickle.loads(pickle.dumps(rng.get_value())).normal() == rng.get_value().normal()
    copied = f.copy()
    copied()
    f()


def test_two_draws_of_a_node_chain_and_of_one_state():
    rng = generator(3)
    a = RV.normal(size=4, rng=rng)
    b, c = RV.normal(size=4, rng=a.owner.outputs[0]), RV.normal(size=4, rng=rng)
    one, two, three = compiled([], [a, b, c])()
    assert different(one, two) and not different(one, three)


def test_gradients_see_the_same_numbers():
    mu, sigma = at.dscalars("mu", "sigma")
    x = RV.normal(mu, sigma, size=50, rng=generator())
    f = compiled([mu, sigma], [x, *aesara.grad((x**2).sum(), [mu, sigma])])
    for spread in (0.5, 0.0):
        numbers, by_mu, by_sigma = map(np.asarray, f(1.0, spread))
        np.testing.assert_allclose(by_mu, 2 * numbers.sum(), rtol=1e-7)
        if spread:
            np.testing.assert_allclose(by_sigma, (2 * numbers * (numbers - 1) / spread).sum(), rtol=1e-7)


@pytest.mark.parametrize("op, params", [(RV.gamma, (2.5,)), (RV.invgamma, (3.0,)), (RV.pareto, (3.0,))])
def test_gradients_by_aesara_and_by_jax(op, params):
    """Of one set of numbers."""
    a, rng = at.dscalar("a"), generator()
    x = op(a, scale=1.0, size=20, rng=rng)
    cost = at.log1p(abs(x)).sum()
    f = compiled([a], aesara.grad(cost, a))
    graph = FunctionGraph([a, rng], [x], clone=False)
    with enable_x64(True):
        convert = jax_funcify(graph)
        slope = jax.grad(lambda value: jnp.log1p(abs(convert(value, rng.get_value())[0])).sum())(params[0])
    np.testing.assert_allclose(f(params[0]), slope, rtol=1e-6)


def test_derivatives_that_are_not_known_are_refused():
    mu, kappa, rng = at.dscalar(), at.dscalar(), generator()
    convert = jax_funcify(FunctionGraph([mu, kappa, rng], [RV.vonmises(mu, kappa, rng=rng)], clone=False))
    with enable_x64(True):
        slope = jax.grad(lambda *values: convert(*values, rng.get_value())[0])
        assert slope(0.5, 1.0) == 1
        with pytest.raises(NotImplementedError, match="No gradient defined"):
            jax.grad(lambda value: convert(0.0, value, rng.get_value())[0])(1.0)


def test_stream():
    srng, twin = RandomStream(seed=42), RandomStream(seed=42)
    x = at.dvector()
    f = compiled([x], [x + srng.normal(size=x.shape), srng.poisson(3.0, size=x.shape)])
    g = compiled([x], [x + twin.normal(size=x.shape), twin.poisson(3.0, size=x.shape)])
    first, second = f(np.zeros(5)), f(np.zeros(5))
    assert different(first[0], second[0])
    assert all(not different(a, b) for a, b in zip(first, g(np.zeros(5))))
    srng.seed(42)
    assert all(not different(a, b) for a, b in zip(first, f(np.zeros(5))))
    legacy = RandomStream(seed=42, rng_ctor=np.random.RandomState)
    h = compiled([], legacy.randint(0, 10**6, size=3))
    assert different(h(), h())


def test_loops_with_draws():
    srng = RandomStream(seed=1)
    steps, updates = aesara.scan(lambda x: x + srng.normal(), outputs_info=at.zeros(()), n_steps=100)
    f = compiled([], steps, updates=updates)
    walk, other = np.asarray(f()), np.asarray(f())
    assert len(np.unique(np.diff(walk))) == 99 and different(walk, other)
    assert stats.kstest(np.diff(walk), "norm").pvalue > FEW


def test_generators_as_arguments_and_results():
    g = RV.type.random_generator_type("g")
    z = RV.normal(size=2, rng=g)
    f = compiled([g], [z, z.owner.outputs[0]])
    mine = np.random.default_rng(3)
    numbers, following = f(mine)
    assert mine.normal() == np.random.default_rng(3).normal() and isinstance(following, np.random.Generator)
    assert not different(numbers, f(np.random.default_rng(3))[0]) and different(numbers, f(following)[0])


def test_seeds_in_graphs():
    n = at.lscalar("n")
    f = compiled([n], RV.integers(0, 10**9, size=4, rng=RV.default_rng(n)))
    assert not different(f(7), f(7)) and different(f(7), f(8), f(7 + 2**32))
    assert not different(f(7), compiled([], RV.integers(0, 10**9, size=4, rng=generator(7)))())
    with pytest.raises(ValueError, match="non-negative"):
        f(-1)
    many = at.lvector()
    g = compiled([many], RV.normal(rng=RV.RandomState(many)))
    assert different(g([1, 2]), g([2, 1]), g([1, 2, 0]))
    with pytest.raises(ValueError, match="between 0 and"):
        g([2**32])
    fresh = compiled([], RV.normal(rng=RV.default_rng(None)))
    assert different(*[fresh() for _ in range(3)])


def test_constant_generators():
    constant, mu = RV.type.random_generator_type.make_constant(np.random.default_rng(3)), at.dscalar()
    f = compiled([mu], [RV.normal(mu, size=2, rng=rng) for rng in (constant, generator(3))])
    assert not different(*f(1.0))


def test_vmap_over_keys():
    rng = generator()
    graph = FunctionGraph([rng], [RV.gamma(2.0, 1.0, rng=rng), RV.poisson(20.0, rng=rng)], clone=False)
    gammas, counts = jax.vmap(jax_funcify(graph))(np.arange(20, dtype="uint32").reshape(10, 2))
    assert len(np.unique(gammas)) == 10 and counts.shape == (10,)


# -- other draws -------------------------------------------------------------------------------------


def test_threefry_has_the_bits_of_jax():
    key = threefry.key(42)
    outputs = [
        threefry.bits(key, size=(3, 5)), threefry.uniform(key, size=7), threefry.split(key, 3),
        threefry.randint(key, 0, 1000, size=9), threefry.fold_in(key, 5), threefry.permutation(key, 10),
    ]  # fmt: skip
    native = aesara.function([], outputs)()
    for by_jax, other in zip(compiled([], outputs)(), native):
        np.testing.assert_array_equal(by_jax, other)
    with enable_x64(True):
        np.testing.assert_array_equal(jax.random.bits(jax.random.key(42), (3, 5), "uint32"), native[0])
        np.testing.assert_array_equal(jax.random.uniform(jax.random.key(42), (7,)), native[1])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_mrg(dtype):
    """The numbers of the streams are the same everywhere."""
    stream, n = MRG_RandomStream(seed=5), at.lscalar()
    outputs = [stream.uniform((n, 7), dtype=dtype), stream.uniform((n,), dtype=dtype, nstreams=4)]
    states = [state for state, *_ in stream.updates()]
    start = [state.get_value() for state in states]
    f, g = compiled([n], outputs), aesara.function([n], outputs)
    given = [5, 0, 3]
    by_jax = [f(k) for k in given]
    after = [np.asarray(state.get_value()) for state in states]
    for state, value in zip(states, start):
        state.set_value(value)
    for results, k in zip(by_jax, given):
        for one, other in zip(results, g(k)):
            np.testing.assert_array_equal(one, other)
    for one, state in zip(after, states):
        np.testing.assert_array_equal(one, state.get_value())


class ShiftedRV(type(RV.normal)):
    name = "shifted"

    @classmethod
    def rng_fn(cls, rng, loc, scale, size):
        return rng.normal(loc, scale, size) + 1000


class RenamedRV(type(RV.normal)):
    name = "renamed"


def test_distributions_of_your_own():
    sides, n = at.lvector(), at.lscalar()
    rng = generator()
    state, x = SumOfDiceRV()(sides, size=(n, 2), rng=rng).owner.outputs
    f = compiled([sides, n], [x, SumOfDiceRV()(sides, rng=generator())], updates={rng: state})
    first, vector = map(np.asarray, f([6, 1], 400))
    assert first.shape == (400, 2) and vector.shape == (2,) and first.dtype == "int64"
    assert set(first[:, 0]) == set(range(2, 13)) and (first[:, 1] == 2).all()
    assert different(first, f([6, 1], 400)[0])
    assert (drawn(ShiftedRV(), 0.0, 1.0, size=5) > 900).all()
    assert not different(drawn(RenamedRV(), 0.0, 1.0, size=5), drawn(RV.normal, 0.0, 1.0, size=5))


def test_errors_of_distributions_of_your_own():
    sides = at.lvector()
    rng = generator()
    before = rng.get_value().bit_generator.state
    state, x = SumOfDiceRV()(sides, rng=rng).owner.outputs
    f = compiled([sides], x, updates={rng: state})
    with pytest.raises(ValueError, match="low >= high") as error:
        f([0])
    assert "dice_rv" in str(error.value) and "test_random_by_jax.py" in str(error.value)
    assert rng.get_value().bit_generator.state == before
    assert f([1]) == 2


def test_draws_that_are_registered():
    class FixedRV(SumOfDiceRV):
        pass

    @jax_sample_fn.register(FixedRV)
    def fixed(op):
        def sample(key, size, dtype, sides):
            assert dtype == "int64"
            return jax.random.split(key)[0], jnp.full(size or (), sides)

        return sample

    for size in (None, (), 3, (2, 1), (0, 4)):
        numbers = drawn(FixedRV(), 6, size=size)
        assert numbers.shape == np.zeros(size or ()).shape and (numbers == 6).all()
