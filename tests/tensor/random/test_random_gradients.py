"""Derivatives through draws: of what a generator in one state draws, and of inverse distribution functions."""

import numpy as np
import pytest
from scipy import stats

import aesara
import aesara.tensor as at
from aesara.gradient import NullTypeGradError
from aesara.graph.null_type import NullType
from aesara.tensor.random import distributions
from aesara.tensor.random.random_variable import _broadcast_to_draws

MODES = ["FAST_COMPILE", "FAST_RUN"]

# Draws from one state are smooth functions of these parameters.
SMOOTH = {
    "normal": (0.3, 0.7),
    "laplace": (0.3, 0.7),
    "logistic": (0.3, 0.7),
    "gumbel": (0.3, 0.7),
    "cauchy": (0.3, 0.7),
    "halfnormal": (0.3, 0.7),
    "halfcauchy": (0.3, 0.7),
    "lognormal": (0.3, 0.7),
    "uniform": (-0.3, 0.7),
    "exponential": (1.3,),
    "rayleigh": (1.3,),
    "weibull": (1.3,),
    "power": (1.3,),
    "pareto": (1.3, 0.7),
    "invgamma": (2.3, 0.7),
    "triangular": (-0.3, 0.2, 0.9),
    "truncexpon": (1.7, 0.3, 0.7),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_of_what_one_state_draws(name):
    values = SMOOTH[name]
    rng = aesara.shared(np.random.default_rng(5))
    params = [at.dscalar() for _ in values]
    draws = getattr(distributions, name)(*params, size=4, rng=rng)
    weights = np.array([0.5, -1.0, 2.0, 0.25])
    gradients = aesara.grad((draws * weights).sum(), params)
    tangents = aesara.gradient.Rop(draws, params, [at.constant(1.5) for _ in params])
    draw = aesara.function(params, draws)
    step = 1e-6
    for mode in MODES:
        *found, forward = aesara.function(params, [*gradients, tangents], mode=mode)(*values)
        total = 0
        for k in range(len(values)):
            up, down = ([v + s * (j == k) for j, v in enumerate(values)] for s in (step, -step))
            slope = (draw(*up) - draw(*down)) / (2 * step)
            np.testing.assert_allclose(found[k], slope @ weights, rtol=1e-7)
            total = total + 1.5 * slope
        np.testing.assert_allclose(forward, total, rtol=1e-7)


# Others are seen as functions of uniform numbers by the inverse of the distribution function.
INVERSES = {
    "gamma": ((2.3, 0.7), lambda u, shape, rate: stats.gamma.ppf(u, shape, scale=1 / rate)),
    "chisquare": ((3.3,), stats.chi2.ppf),
    "beta": ((1.7, 2.4), stats.beta.ppf),
    "gengamma": ((2.1, 1.7, 0.8), lambda u, a, p, scale: stats.gengamma.ppf(u, a / p, p, scale=scale)),
    "f": ((3.3, 5.7), stats.f.ppf),
    "t": ((3.3, 0.3, 0.7), stats.t.ppf),
    "standard_t": ((2.2,), stats.t.ppf),
}


@pytest.mark.parametrize("name", INVERSES)
def test_derivatives_by_distribution_functions(name):
    values, inverse = INVERSES[name]
    cdf = {
        "gamma": lambda x, a, b: stats.gamma.cdf(x, a, scale=1 / b),
        "chisquare": stats.chi2.cdf,
        "beta": stats.beta.cdf,
        "gengamma": lambda x, a, p, scale: stats.gengamma.cdf(x, a / p, p, scale=scale),
        "f": stats.f.cdf,
        "t": stats.t.cdf,
        "standard_t": stats.t.cdf,
    }
    rng = aesara.shared(np.random.default_rng(6))
    params = [at.dscalar() for _ in values]
    draws = getattr(distributions, name)(*params, size=20, rng=rng)
    weights = np.linspace(-1, 2, 20)
    gradients = aesara.grad((draws * weights).sum(), params)
    step = 1e-5
    for mode in MODES:
        x, *found = aesara.function(params, [draws, *gradients], mode=mode)(*values)
        u = cdf[name](x, *values)
        for k in range(len(values)):
            up, down = ([v + s * (j == k) for j, v in enumerate(values)] for s in (step, -step))
            slope = (inverse(u, *up) - inverse(u, *down)) / (2 * step)
            np.testing.assert_allclose(found[k], slope @ weights, rtol=1e-6)


def test_gradients_have_the_shape_of_parameters():
    loc, scale = at.dmatrix("loc"), at.dvector("scale")
    row = at.tensor("float64", shape=(1, None), name="row")
    rng = aesara.shared(np.random.default_rng(7))
    x = distributions.normal(loc, scale, rng=rng)
    y = distributions.normal(row, scale, size=(5, 2, 3), rng=rng)
    by_loc, by_scale = aesara.grad(x.sum(), [loc, scale])
    by_row = aesara.grad(y.sum(), row)
    f = aesara.function([loc, scale, row], [x, by_loc, by_scale, by_row])
    for shape, length in (((2, 3), 3), ((2, 1), 3), ((1, 3), 3), ((2, 3), 1), ((2, 1), 1), ((0, 3), 3)):
        mean, deviation = np.ones(shape), np.full(length, 2.0)
        drawn, g_loc, g_scale, g_row = f(mean, deviation, np.zeros((1, 3)))
        z = (drawn - 1) / 2
        assert g_loc.shape == shape and g_scale.shape == (length,)
        assert g_loc.sum() == drawn.size
        axes = (0,) if length == drawn.shape[1] else (0, 1)
        np.testing.assert_allclose(g_scale, z.sum(axis=axes).reshape(length), rtol=1e-12)
        assert g_row.tolist() == [[10.0, 10.0, 10.0]]


@pytest.mark.parametrize("size, lengths", [((3,), (1, 0)), ((3,), (0, 1)), ((3,), (1, 1)), ((2, 3), (3, 1)),
                                           (None, (1, 3)), (None, (3, 1)), (None, (1, 0)), (None, (0, 3))])  # fmt: skip
@pytest.mark.parametrize("name", ["normal", "lognormal", "uniform", "pareto", "gamma", "beta"])
def test_gradients_in_parameters_whose_lengths_are_not_known(name, size, lengths):
    """They are those where the lengths are known, whether a parameter is repeated or not; 0 is for no dimension."""
    results = []
    for known in (False, True):
        params = [at.tensor("float64", shape=(n if known else None,) if n else ()) for n in lengths]
        draws = getattr(distributions, name)(*params, size=size, rng=aesara.shared(np.random.default_rng(7)))
        cost = (draws * at.arange(1, draws.shape[-1] + 1)).sum()
        given = [np.full(n, v) if n else v for n, v in zip(lengths, (1.5, 2.0))]
        results.append(aesara.function(params, [draws, *aesara.grad(cost, params)], mode="FAST_COMPILE")(*given))
    for found, expected in zip(*results, strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_gradients_in_the_mean_of_vectors():
    mean, cov = at.dvector("mean"), at.dmatrix("cov")
    x = distributions.multivariate_normal(mean, cov, size=4, rng=aesara.shared(np.random.default_rng(7)))
    weights = np.arange(12.0).reshape(4, 3)
    f = aesara.function([mean, cov], [aesara.grad((x * weights).sum(), mean)])
    assert (f(np.ones(3), np.eye(3))[0] == weights.sum(axis=0)).all()
    for draw, wrt in (
        (distributions.multinomial(5, mean, size=2), mean),
        (distributions.choice(mean, p=mean), mean),
    ):
        with pytest.raises(NullTypeGradError, match="No gradient defined"):
            aesara.grad(draw.sum(), wrt)


COVARIANCES = {
    "apart": np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, 0.5]]),
    "equal eigenvalues": 0.7 * np.eye(3),
}


@pytest.mark.parametrize("cov", COVARIANCES.values(), ids=COVARIANCES)
def test_gradients_in_a_covariance_are_those_of_a_factor(cov):
    """Of one that a common seed gives, stretched without a turn where the covariance changes."""
    mean, sigma, direction = at.dvector(), at.dmatrix(), np.array([[0.5, 1.0, 0.2], [1.0, -0.3, 0.4], [0.2, 0.4, 0.9]])
    rng, weights = aesara.shared(np.random.default_rng(7)), np.arange(12.0).reshape(4, 3)
    x = distributions.multivariate_normal(mean, sigma, size=4, rng=rng)
    cost = (x**2 * weights).sum()
    by_cov = aesara.grad(cost, sigma)
    middle = np.array([1.0, -1.0, 2.0])
    factor = np.linalg.cholesky(cov)
    stretching = np.linalg.solve(factor, np.linalg.solve(factor, direction).T)
    values, vectors = np.linalg.eigh(stretching)
    for mode in MODES:
        drawn, found = aesara.function([mean, sigma], [x, by_cov], mode=mode)(middle, cov)
        z = np.linalg.solve(factor, (drawn - middle).T)

        def at_step(h, z=z):
            stretched = factor @ (vectors * np.sqrt(1 + h * values)) @ vectors.T
            np.testing.assert_allclose(stretched @ stretched.T, cov + h * direction, rtol=0, atol=1e-12)
            return ((middle + (stretched @ z).T) ** 2 * weights).sum()

        slope = (at_step(1e-5) - at_step(-1e-5)) / 2e-5
        np.testing.assert_allclose((found * direction).sum(), slope, rtol=1e-8)
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("cov", COVARIANCES.values(), ids=COVARIANCES)
def test_gradients_in_a_covariance_are_those_of_means(cov):
    """Of the mean of a product of three coordinates, and of a square, which are known."""
    mean, sigma = at.dvector(), at.dmatrix()
    x = distributions.multivariate_normal(mean, sigma, size=60_000, rng=aesara.shared(np.random.default_rng(7)))
    estimated = (x[:, 0] * x[:, 1] * x[:, 2] + 2 * x[:, 1] ** 2).mean()
    found = aesara.function([mean, sigma], aesara.grad(estimated, sigma))(middle := np.array([1.0, -1.0, 2.0]), cov)
    # E xyz = abc + a S_yz + b S_xz + c S_xy; a gradient of symmetric matrices has a half at each of two places.
    a, b, c = middle / 2
    wanted = np.array([[0, c, b], [c, 2, a], [b, a, 0]])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=0.06)


def test_gradients_in_covariances_of_batches():
    """Of each member as of it alone."""
    covs = np.array(list(COVARIANCES.values()))
    weights, means = np.arange(24.0).reshape(4, 2, 3), np.arange(6.0).reshape(2, 3)
    sigma, one, mean = at.dtensor3(), at.dmatrix(), at.dmatrix()
    x = distributions.multivariate_normal(mean, sigma, size=(4, 2), rng=aesara.shared(np.random.default_rng(3)))
    rng = aesara.shared(np.random.default_rng(3))
    y = distributions.multivariate_normal(mean, one, size=(4, 2), rng=rng)
    for mode in MODES:
        drawn, by_sigma, by_mean = aesara.function(
            [mean, sigma], [x, *aesara.grad((x**2 * weights).sum(), [sigma, mean])], mode=mode
        )(means, covs)
        assert by_sigma.shape == covs.shape
        np.testing.assert_allclose(by_mean, (2 * drawn * weights).sum(axis=0), rtol=1e-12)
        for k in range(2):
            slopes, centred = 2 * drawn[:, k] * weights[:, k], drawn[:, k] - means[k]
            outer = slopes.T @ np.linalg.solve(covs[k], centred.T).T
            np.testing.assert_allclose(by_sigma[k], (outer + outer.T) / 4, rtol=1e-9)
        # one covariance for all is that of a batch of equal ones
        by_one = aesara.function([mean, one], aesara.grad((y**2 * weights).sum(), one), mode=mode)(means, covs[0])
        alike = aesara.function([mean, sigma], aesara.grad((x**2 * weights).sum(), sigma), mode=mode)(
            means, np.stack([covs[0]] * 2)
        )
        np.testing.assert_allclose(by_one, alike.sum(axis=0), rtol=1e-9)


def test_gradients_in_a_covariance_without_an_inverse():
    mean, sigma = at.dvector("mean"), at.dmatrix("sigma")
    x = distributions.multivariate_normal(mean, sigma, rng=aesara.shared(np.random.default_rng(7)))
    f = aesara.function([mean, sigma], aesara.grad(x.sum(), sigma))
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros(2), np.ones((2, 2)))


def test_second_derivatives():
    loc, scale = at.dscalars("loc", "scale")
    x = distributions.lognormal(loc, scale, size=3, rng=aesara.shared(np.random.default_rng(8)))
    by_loc = aesara.grad(x.sum(), loc)
    values, twice, mixed = aesara.function([loc, scale], [x, aesara.grad(by_loc, loc), aesara.grad(by_loc, scale)])(
        0.2, 0.5
    )
    np.testing.assert_allclose(twice, values.sum(), rtol=1e-12)
    np.testing.assert_allclose(mixed, (values * (np.log(values) - 0.2) / 0.5).sum(), rtol=1e-12)


def test_what_a_subclass_draws_otherwise_has_no_derivatives():
    class Shifted(distributions.NormalRV):
        @classmethod
        def rng_fn(cls, rng, loc, scale, size):
            return rng.normal(loc**2, scale, size)

    loc = at.dscalar("loc")
    with pytest.raises(NullTypeGradError, match="No gradient defined"):
        aesara.grad(Shifted()(loc, 1.0), loc)

    class Square(distributions.NormalRV):
        rng_fn = Shifted.rng_fn

        def path_derivatives(self, draw, loc, scale):
            return 2 * loc, None

    x = Square()(loc, 1.0, rng=aesara.shared(np.random.default_rng(9)))
    assert aesara.function([loc], aesara.grad(3 * x, loc))(5.0) == 30.0


def test_no_derivatives():
    p = at.dscalar("p")
    for draw in (distributions.poisson(p), distributions.wald(p, 1.0), distributions.multinomial(5, at.stack([p, p]))):
        text = r"No gradient defined for random variables(.|\n)*disconnected_grad(.|\n)*test_random_gradients.py"
        with pytest.raises(NullTypeGradError, match=text):
            aesara.grad(draw.sum() * p, p)
    with pytest.raises(NullTypeGradError, match="No gradient defined"):
        aesara.gradient.Rop(distributions.wald(p, 1.0), p, at.ones_like(p))
    # Neither does the generator, but a size depends on nothing that has derivatives.
    v = at.dvector("v")
    noise = distributions.normal(size=v.shape, rng=aesara.shared(np.random.default_rng(1)))
    assert aesara.function([v], aesara.grad((v * 2 + noise).sum(), v))([1.0, 2.0]).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "draw_with",
    [
        lambda p, rng: distributions.normal(p, 1.0, rng=rng),
        lambda p, rng: distributions.poisson(p, rng=rng),
        lambda p, rng: distributions.wald(p, 1.0, rng=rng),
        lambda p, rng: distributions.multinomial(5, at.stack([p, p]), rng=rng),
    ],
)
def test_parameters_do_not_reach_what_the_generator_draws_afterwards(draw_with):
    p, rng = at.dscalar("p"), aesara.shared(np.random.default_rng(1))
    later = draw_with(p, rng).owner.outputs[0]
    assert aesara.function([p], aesara.grad(distributions.normal(3 * p, 1.0, rng=later), p))(0.5) == 3.0
    for_state, for_parameter = aesara.grad(
        None, [rng, p], known_grads={later: later.type()}, null_gradients="return", disconnected_inputs="ignore"
    )
    assert isinstance(for_state.type, NullType)
    assert aesara.function([p], for_parameter)(0.5) == 0.0


@pytest.mark.slow
def test_gradients_of_dirichlet_vectors_are_those_of_their_means():
    """Of means that are known: of the numbers, their squares and their products."""
    alpha = at.dvector("alpha")
    x = distributions.dirichlet(alpha, size=40_000, rng=aesara.shared(np.random.default_rng(11)))
    weights = np.array([0.5, -1.0, 2.0])

    def mean(a):
        total = a.sum()
        return (
            (weights * a).sum() / total
            + a[0] * (a[0] + 1) / (total * (total + 1))
            - 3 * a[1] * a[2] / (total * (total + 1))
        )

    estimated = (x @ weights + x[:, 0] ** 2 - 3 * x[:, 1] * x[:, 2]).mean()
    f = aesara.function([alpha], aesara.grad(estimated, alpha))
    for value in ([0.7, 1.5, 2.5], [4.0, 3.0, 8.0]):
        given = np.array(value)
        step = 1e-6 * np.eye(3)
        slopes = [(mean(given + s) - mean(given - s)) / 2e-6 for s in step]
        np.testing.assert_allclose(f(given), slopes, rtol=0, atol=0.005 * max(map(abs, slopes)) + 0.002)


def test_gradients_of_dirichlet_vectors_are_those_of_the_reference():
    alpha = at.dvector("alpha")
    x = distributions.dirichlet(alpha, size=100, rng=aesara.shared(np.random.default_rng(11)))
    gradient = aesara.grad((x @ np.array([0.5, -1.0, 2.0]) - 3 * x[:, 1] * x[:, 2]).mean(), alpha)
    reference, native = (aesara.function([alpha], gradient, mode=mode) for mode in MODES)
    for value in ([0.7, 1.5, 2.5], [4.0, 3.0, 8.0], [1e-3, 1e-3, 1e-3]):
        assert np.isfinite(reference(value)).all()
        np.testing.assert_allclose(native(value), reference(value), rtol=1e-11, atol=1e-13)


@pytest.mark.slow
def test_gradients_of_batches_of_dirichlet_vectors():
    """Of each member as of it alone; and of an only one, which is always 1."""
    rows, weights = np.array([[0.7, 1.5, 2.5], [4.0, 3.0, 8.0]]), np.arange(12.0).reshape(2, 2, 3)
    alpha, draws = at.tensor("float64", shape=(None, None)), at.tensor("float64", shape=(2, 2, 3))
    x = distributions.dirichlet(alpha, size=(2, 2), rng=aesara.shared(np.random.default_rng(12)))
    g = aesara.grad((x * draws).sum(), alpha)
    drawn, found = aesara.function([alpha, draws], [x, g])(rows, weights)
    one, total = at.dvector("one"), np.zeros_like(rows)
    y = distributions.dirichlet(one, rng=aesara.shared(np.random.default_rng(12)))
    w = at.dvector("w")
    alone = aesara.function([y, one, w], aesara.grad((y * w).sum(), one))
    for k, j in np.ndindex(2, 2):
        total[j] += alone(drawn[k, j], rows[j], weights[k, j])
    np.testing.assert_allclose(found, total, rtol=1e-10)
    common = aesara.function([alpha, draws], g)(rows[:1], weights)
    assert common.shape == (1, 3)
    single = distributions.dirichlet(one, size=2, rng=aesara.shared(np.random.default_rng(13)))
    assert aesara.function([one], aesara.grad(single.sum(), one))([2.0]) == [0.0]


# parameters at which all draws are one number, whatever the generator gives, with others at which they differ
DEGENERATE = {
    "normal": ((0.3, 0.0), (0.0, 1.0)),
    "laplace": ((0.3, 0.0), (0.0, 1.0)),
    "logistic": ((0.3, 0.0), (0.0, 1.0)),
    "gumbel": ((0.3, 0.0), (0.0, 1.0)),
    "cauchy": ((0.3, 0.0), (0.0, 1.0)),
    "t": ((3.3, 0.3, 0.0), (3.3, 0.0, 1.0)),
    "halfnormal": ((0.3, 0.0), (0.0, 1.0)),
    "halfcauchy": ((0.3, 0.0), (0.0, 1.0)),
    "lognormal": ((0.3, 0.0), (0.0, 1.0)),
    "exponential": ((0.0,), (1.0,)),
    "rayleigh": ((0.0,), (1.0,)),
    "pareto": ((1.3, 0.0), (1.3, 1.0)),
    "invgamma": ((2.3, 0.0), (2.3, 1.0)),
    "gengamma": ((2.1, 1.7, 0.0), (2.1, 1.7, 1.0)),
    "truncexpon": ((1.7, 0.3, 0.0), (1.7, 0.0, 1.0)),
    "uniform": ((0.3, 0.3), (0.0, 1.0)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_derivatives_where_the_scale_is_zero(name, mode):
    """The derivative in the scale is the number that would be drawn with the scale 1, that in the location 1."""
    values, standard = DEGENERATE[name]
    rng, weights = aesara.shared(np.random.default_rng(5)), np.array([0.5, -1.0, 2.0, 0.25])
    params = [at.dscalar() for _ in values]
    draws = getattr(distributions, name)(*params, size=4, rng=rng)
    x, *found = aesara.function(params, [draws, *aesara.grad((draws * weights).sum(), params)], mode=mode)(*values)
    z = aesara.function(params, draws, mode=mode)(*standard)
    assert len(set(x)) == 1 and len(set(z)) == 4
    if name == "lognormal":
        wanted = [x, x * np.log(z)]
    elif name == "uniform":
        wanted = [1 - z, z]
    else:
        wanted = [*(0 * z for _ in values), 1 + 0 * z, z][-len(values) :]
        if name in ("pareto", "invgamma", "gengamma"):
            wanted[-2] = 0 * z
    np.testing.assert_allclose(found, [weights @ w for w in wanted], rtol=1e-13, atol=1e-16)


def test_gamma_numbers_of_scale_zero():
    """The rate is infinite then: the derivative in the scale is that of the scale's own variable."""
    shape, scale = at.dscalar(), at.dscalar()
    rng = aesara.shared(np.random.default_rng(5))
    node = distributions.gamma.make_node(rng, (4,), None, shape, scale)
    f = aesara.function([shape, scale], [node.outputs[1], *aesara.grad(node.outputs[1].sum(), [shape, scale])])
    _, in_shape, in_scale = f(2.3, 0.0)
    y, _, _ = f(2.3, 1.0)
    assert in_shape == 0
    np.testing.assert_allclose(in_scale, y.sum(), rtol=1e-14)


def test_small_scales_beside_large_locations():
    """The sum has no digits of what was drawn, but derivatives have all."""
    loc, scale = at.dvector(), at.dscalar()
    x = distributions.normal(loc, scale, rng=aesara.shared(np.random.default_rng(5)))
    f = aesara.function([loc, scale], aesara.grad(x.sum(), scale))
    np.testing.assert_allclose(f(np.ones(3), 1e-20), np.random.default_rng(5).normal(size=3).sum(), rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_through_the_draws_of_a_loop_with_scale_zero(mode):
    stream = at.random.RandomStream(4)
    scale = at.dscalar("scale")
    path, updates = aesara.scan(lambda x: x + stream.normal(0.0, scale), outputs_info=[at.zeros(())], n_steps=5)
    f = aesara.function([scale], [path[-1], aesara.grad(path[-1], scale)], updates=updates, mode=mode)
    start = stream.state_updates[0][0].get_value()
    end, slope = f(0.0)
    assert end == 0
    np.testing.assert_allclose(slope, start.normal(size=5).sum(), rtol=1e-14)


def test_parameters_are_repeated_only_where_their_lengths_are_not_known():
    known, open_, s = at.tensor("float64", shape=(3,)), at.dvector(), at.dscalar()
    rng = aesara.shared(np.random.default_rng(7))
    for params, size, repeated in (
        ((known, known), None, False),
        ((known, s), (3,), False),
        ((known, known), (2, 3), False),
        ((open_, s), None, False),
        ((open_, s), (3,), True),
        ((open_, known), None, True),
        ((open_, open_), None, True),
    ):
        draws = distributions.normal(*params, size=size, rng=rng)
        wide = _broadcast_to_draws(draws, draws.owner.inputs[1], params)
        for param, made in zip(params, wide, strict=True):
            assert (made is not param) == (repeated and param is open_), (params, size)
