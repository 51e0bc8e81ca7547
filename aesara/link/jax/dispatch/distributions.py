"""Draws from the distributions of `aesara.tensor.random` by functions of JAX.

Locations and scales transform numbers that depend on the key alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara.link.jax.dispatch.basic import is_known, require_known
from aesara.link.jax.dispatch.drawing import KeyedDraw, without_derivative
from aesara.link.jax.dispatch.products import product
from aesara.records import dataclass
from aesara.tensor.random import distributions as of
from aesara.tensor.random.random_variable import RandomVariable

__all__ = ["draws_of"]

Draws = Callable[[KeyedDraw], Any]

LARGEST = float(2**63 - 1024)
#: largest mean of counts, as in NumPy: ten standard deviations below the largest int64
LARGEST_MEAN = 2.0**63 - 10 * (2.0**63) ** 0.5


def draws_of(op: RandomVariable) -> Draws | None:
    """Return the function that draws from a distribution; None if it has none, or a subclass overrides `rng_fn`."""
    for cls in type(op).__mro__:
        if cls in _DISTRIBUTIONS:
            return _DISTRIBUTIONS[cls]
        if "rng_fn" in vars(cls) or "rng_fn_scipy" in vars(cls):
            break
    return None


# -- parameters ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Requirement:
    """A test for invalid values of a parameter, and the error message, as in NumPy."""

    is_wrong: Callable[[Any], Any]
    message: str


def _negative(x: jax.Array) -> Any:
    """Test the sign bit, which -0.0 has; false for NaN."""
    nan, signbit = (np.isnan, np.signbit) if is_known(x) else (jnp.isnan, jnp.signbit)
    return signbit(x) & ~nan(x) if x.dtype.kind == "f" else x < 0


ANY = Requirement(lambda x: np.False_, "")
NON_NEGATIVE = Requirement(_negative, "{name} < 0")
POSITIVE = Requirement(lambda x: x <= 0, "{name} <= 0")
PROBABILITY = Requirement(lambda x: ~((x >= 0) & (x <= 1)), "{name} < 0, {name} > 1 or {name} {nan}")
POSITIVE_PROBABILITY = Requirement(lambda x: ~((x > 0) & (x <= 1)), "{name} <= 0, {name} > 1 or {name} contains NaNs")
BELOW_ONE = Requirement(lambda x: ~((x >= 0) & (x < 1)), "{name} < 0, {name} >= 1 or {name} {nan}")
ABOVE_ONE = Requirement(lambda x: ~(x > 1), "{name} <= 1 or {name} {nan}")
#: for distributions that are drawn by formulas of `aesara.tensor.random`
AT_LEAST_ZERO = Requirement(lambda x: ~(x >= 0), "{name} < 0")
ABOVE_ZERO = Requirement(lambda x: ~(x > 0), "{name} <= 0")


def _check(drawing: KeyedDraw, constraint: Requirement, name: str, value: Any) -> None:
    nan = "contains NaNs" if drawing.has_arrays else "is NaN"
    drawing.refuse(constraint.is_wrong(value), constraint.message.format(name=name, nan=nan))


def _numbers(compute: Callable[..., Any], **constraints: Requirement) -> Draws:
    """Return a function that checks parameters by name, and draws floating-point numbers by `compute`."""

    def draws(drawing: KeyedDraw) -> Any:
        for value, (name, constraint) in zip(drawing.params, constraints.items(), strict=True):
            _check(drawing, constraint, name, value)
        return compute(drawing, *(jnp.asarray(value, drawing.dtype) for value in drawing.params))

    return draws


def _counts(compute: Callable[..., Any], **constraints: Requirement) -> Draws:
    """Return a function that draws counts, which are computed as floating-point numbers."""
    numbers = _numbers(compute, **constraints)

    def draws(drawing: KeyedDraw) -> Any:
        drawing.dtype = "float64"
        found = numbers(drawing)
        return jnp.where(found >= LARGEST, np.int64(2**63 - 1), found.astype("int64"))

    return draws


# -- numbers -------------------------------------------------------------------------------------------------------


def _uniform(d: KeyedDraw) -> Any:
    low, high = (value.astype("float64") for value in d.params)
    length = high - low
    text = "Range exceeds valid bounds" if d.has_arrays or d.is_legacy else "high - low range exceeds valid bounds"
    d.refuse(~(abs(length) < np.inf), text, OverflowError)
    if not d.is_legacy:
        _check(d, NON_NEGATIVE, "high - low", length)
    return (low + length * d.uniform()).astype(d.dtype)


def _triangular(d: KeyedDraw, left: Any, mode: Any, right: Any) -> Any:
    given = d.params
    d.refuse(given[0] > given[1], "left > mode")
    d.refuse(given[1] > given[2], "mode > right")
    d.refuse(given[0] == given[2], "left == right")
    u, length = d.uniform(), right - left
    rising = u * length <= mode - left
    # The unused branch must not have an infinite derivative.
    up, down = jnp.where(rising, u, 0.5), jnp.where(rising, 0.5, 1 - u)
    return jnp.where(
        rising, left + jnp.sqrt(up * length * (mode - left)), right - jnp.sqrt(down * length * (right - mode))
    )


def _student_t(d: KeyedDraw, df: Any) -> Any:
    return d.normal() / jnp.sqrt(d.gamma(df / 2) / (df / 2))


def _noncentral_chisquare(d: KeyedDraw, df: Any, nonc: Any) -> Any:
    """Draw from a mixture of chi-square distributions."""
    return 2 * d.gamma(df / 2 + d.poisson(without_derivative(nonc) / 2))


def _generalized_gamma(d: KeyedDraw, alpha: Any, p: Any, lambd: Any) -> Any:
    given = d.params
    d.refuse(given[1] == 0, "p == 0")
    d.refuse(~(given[0] / given[1] > 0), "alpha / p <= 0")
    return jnp.exp(d.log_gamma(alpha / p) / p) * lambd


def _wald(d: KeyedDraw, mean: Any, scale: Any) -> Any:
    """Draw by a transformation with two roots.

    J. Michael, W. Schucany and R. Haas, "Generating random variates using transformations with multiple roots".
    """
    mean, scale = without_derivative(mean), without_derivative(scale)
    square = mean * d.normal() ** 2
    # the smaller one of two roots, whose product is the square of the mean
    x = mean * 4 * scale / (jnp.sqrt(square) + jnp.sqrt(square + 4 * scale)) ** 2
    return jnp.where(d.uniform() * (mean + x) <= mean, x, mean * (mean / x))


def _von_mises(d: KeyedDraw, mu: Any, kappa: Any) -> Any:
    """Draw by the method of D. Best and N. Fisher, "Efficient simulation of the von Mises distribution" (1979)."""
    kappa = jnp.broadcast_to(without_derivative(kappa), d.shape)
    usual = (kappa >= 1e-5) & (kappa <= 1e6)
    k = jnp.where(usual, kappa, 1)
    rho = (1 + jnp.sqrt(1 + 4 * k**2)) - jnp.sqrt(2 * (1 + jnp.sqrt(1 + 4 * k**2)))
    rho = rho / (2 * k)
    r = (1 + rho**2) / (2 * rho)

    def propose(key: Any) -> tuple[Any, Any]:
        u, v = d.pair(key)
        z = jnp.cos(jnp.pi * u)
        w = (1 + r * z) / (r + z)
        y = k * (r - w)
        return jnp.clip(w, -1, 1), (y * (2 - y) - v >= 0) | (jnp.log(y / v) + 1 - y >= 0)

    side, around = jnp.where(d.uniform() < 0.5, -1, 1), jnp.pi * (2 * d.uniform() - 1)
    angle = jnp.where(usual, side * jnp.arccos(d.until(propose)), around)
    # For large kappa the distribution is normal.
    angle = jnp.where(kappa > 1e6, d.normal() / jnp.sqrt(jnp.where(kappa > 1e6, kappa, 1)), angle)
    shifted = angle + mu
    wrapped = jnp.remainder(shifted + jnp.pi, 2 * jnp.pi) - jnp.pi
    found = jnp.where(abs(shifted) <= jnp.pi, shifted, wrapped)
    return jnp.where(jnp.isnan(kappa), jnp.nan, found).astype(d.dtype)


# -- counts --------------------------------------------------------------------------------------------------------


def _poisson(d: KeyedDraw, lam: Any) -> Any:
    (given,) = d.params
    d.refuse(~(given >= 0), f"lam < 0 or lam {'contains NaNs' if d.has_arrays else 'is NaN'}")
    d.refuse(given > LARGEST_MEAN, "lam value too large")
    return d.poisson(lam)


def _negative_binomial(d: KeyedDraw, n: Any, p: Any) -> Any:
    """Draw from the Poisson distribution with a gamma-distributed mean."""
    count, chance = d.params
    d.refuse(count != count, "n must not be NaN")
    d.refuse(
        (1 - chance) / chance * (count + 10 * count**0.5) > LARGEST_MEAN,
        "n too large or p too small, see Generator.negative_binomial Notes",
    )
    return d.poisson(d.gamma(n) * ((1 - p) / p))


def _hypergeometric(d: KeyedDraw, good: Any, bad: Any, sample: Any) -> Any:
    given = d.params
    for value in given[:2]:
        d.refuse(value >= 10**9, "both ngood and nbad must be less than 1000000000")
    d.refuse(given[0] + given[1] < given[2], "ngood + nbad < nsample")
    return d.hypergeometric(jnp.floor(good), jnp.floor(bad), jnp.floor(sample))


def _log_series(d: KeyedDraw, p: Any) -> Any:
    """Draw by algorithm LK.

    A. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables" (1981).
    """
    v, u = 1 - d.uniform(), d.uniform()
    q = -jnp.expm1(jnp.log1p(-p) * u)
    many = jnp.floor(1 + jnp.log(v) / jnp.log(q))
    return jnp.where((v >= p) | (v >= q), 1, jnp.where(v <= q**2, many, 2))


def _zipf(d: KeyedDraw, a: jax.Array) -> Any:
    """Draw by the method of L. Devroye, "Non-uniform random variate generation" (1986), page 551."""
    a = jnp.broadcast_to(a, d.shape)
    less = jnp.where((a > 1) & (a < 1025), a, 2) - 1
    b = 2.0**less

    # Skip the part of the uniform numbers that gives numbers above the limit, which are rejected.
    smallest = LARGEST**-less

    def propose(key: Any) -> tuple[Any, Any]:
        u, v = d.pair(key)
        x = jnp.floor((u * smallest + (1 - u)) ** (-1 / less))
        t = (1 + 1 / x) ** less
        return x, (v * x * (t - 1) / (b - 1) <= t / b) & (x <= LARGEST)

    return jnp.where(a >= 1025, 1, d.until(propose))


# -- choosing ------------------------------------------------------------------------------------------------------


def _integers(d: KeyedDraw) -> Any:
    for name, value in zip(("low", "high"), d.params):
        d.refuse(value.dtype == "uint64" and value > np.uint64(2**63 - 1), f"{name} is out of bounds for int64")
    low, high = (value.astype("int64") for value in d.params)
    d.refuse(low >= high, "low >= high")
    return jax.random.randint(d.key(), d.shape, low, high, "int64")


def _categorical(d: KeyedDraw) -> Any:
    """Draw categories: the number of cumulative probabilities below a uniform number."""
    (p,) = d.params
    kind = p.dtype if p.dtype.kind == "f" else np.dtype("float64")
    d.refuse(~(p >= 0), "Probabilities are not non-negative")
    total = p.sum(axis=-1, dtype="float64")
    d.refuse(~(abs(total - 1) <= np.sqrt(np.finfo(kind).eps)), "Probabilities do not sum to 1")
    d.dtype = "float64"
    sums, u = jnp.cumsum(jnp.asarray(p, kind), axis=-1), d.uniform()
    below = jnp.searchsorted(sums, u) if p.ndim == 1 else (sums < u[..., None]).sum(-1)
    return jnp.minimum(below, p.shape[-1] - 1).astype("int64")


def _choice(d: KeyedDraw) -> Any:
    """Draw elements along the first axis; without replacement, by a permutation or by ranks of Gumbel numbers."""
    a, p, replace = d.params
    count, wanted = a.shape[0], math.prod(d.size)
    is_distinct = not require_known(replace, "Whether a choice is with replacement")
    d.refuse(any(n < 0 for n in d.size), "negative dimensions are not allowed")
    d.refuse(count == 0 and wanted > 0, "a cannot be empty unless no samples are taken")
    d.refuse(is_distinct and wanted > count, "Cannot take a larger sample than population when replace is False")
    if p is not None:
        _check_weights(d, p, count)
        d.refuse(is_distinct and (p > 0).sum() < wanted, "Fewer non-zero entries in p than size")
        p = jnp.asarray(p, "float64")
    if wanted == 0:
        return jnp.zeros((*d.size, *a.shape[1:]), a.dtype)
    if is_distinct and p is None:
        positions = jax.random.permutation(d.key(), count)[:wanted].reshape(d.size)
    elif is_distinct:
        ranks = jax.random.gumbel(d.key(), (count,), "float64") + jnp.log(p)
        positions = jnp.argsort(-ranks)[:wanted].reshape(d.size)
    elif p is None:
        positions = jax.random.randint(d.key(), d.size, 0, count, "int64")
    else:
        sums = jnp.cumsum(p)
        u = jax.random.uniform(d.key(), d.size, "float64")
        # Elements of probability 0 are skipped, also at the ends.
        positions = jnp.searchsorted(sums, u * sums[-1], side="right")
        positions = jnp.minimum(positions, jnp.max(jnp.where(p > 0, jnp.arange(count), 0)))
    return jnp.asarray(a)[positions]


def _check_weights(d: KeyedDraw, p: Any, count: int) -> None:
    d.refuse(p.ndim != 1, "p must be 1-dimensional")
    d.refuse(p.size != count, "a and p must have same size")
    tolerance = np.sqrt(max(np.finfo(p.dtype if p.dtype.kind == "f" else "float64").eps, np.finfo("float64").eps))
    notes = "" if d.is_legacy else ". See Notes section of docstring for more information."
    for wrong, message in (
        (p != p, "Probabilities contain NaN"),
        (p < 0, "Probabilities are not non-negative"),
        (abs(p.sum(dtype="float64") - 1) > tolerance, f"Probabilities do not sum to 1{notes}"),
    ):
        d.refuse(wrong, message[0].lower() + message[1:] if d.is_legacy else message)


def _permutation(d: KeyedDraw) -> Any:
    (x,) = d.params
    if x.ndim == 0:
        x = jnp.arange(int(require_known(x, "The length of a permutation")), dtype=x.dtype)
    return jax.random.permutation(d.key(), jnp.asarray(x))


def _permute(d: KeyedDraw) -> Any:
    (x,), axis = d.params, d.op.axis
    x = jnp.asarray(x)
    if axis is None:
        return jax.random.permutation(d.key(), x.ravel()).reshape(x.shape)
    if not -x.ndim <= axis < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim)
    return jax.random.permutation(d.key(), x, axis, independent=True)


# -- vectors -------------------------------------------------------------------------------------------------------


def _multivariate_normal(d: KeyedDraw) -> Any:
    """Draw a mean plus the square root of the covariance times standard normal numbers."""
    mean, cov = d.params
    length = mean.shape[-1]
    d.refuse(cov.shape[-2] != cov.shape[-1], "cov must be 2 dimensional and square")
    d.refuse(length != cov.shape[-1], "mean and cov must have same length")
    d.refuse(length == 0, "cannot reshape array of size 0 into shape (0)")
    d.refuse(~(abs(cov) < np.inf), "SVD did not converge", np.linalg.LinAlgError)
    cov = cov.astype(d.dtype)
    root, square = _root_and_square_by(np, cov) if is_known(cov) else _root_and_square(cov)
    distance = abs(square - cov)
    largest = abs(cov).max(axis=(-1, -2), keepdims=True)
    tolerance = 1e-8 if d.dtype == "float64" else 1e-5
    d.refuse(~(distance <= tolerance * (1 + largest)), "covariance is not symmetric positive-semidefinite.")
    return mean.astype(d.dtype) + product(root, d.normal(length)[..., None], d.dtype)[..., 0]


def _root_and_square_by(module: Any, cov: Any) -> Any:
    """Return the symmetric square root of the covariance, which may be singular, and its square.

    They do not depend on the choice of eigenvectors, which differs between devices.
    """
    multiply = np.matmul if module is np else functools.partial(product, dtype=cov.dtype)
    values, vectors = module.linalg.eigh(cov)
    values = module.maximum(values, 0)[..., None, :]
    return tuple(multiply(vectors * v, vectors.swapaxes(-1, -2)) for v in (module.sqrt(values), values))


def _root_jvp(primals: Any, tangents: Any) -> Any:
    """Return the derivative that does not rotate the root: see `MvNormalRV.L_op`."""
    (slope,) = tangents
    root, square = _root_and_square(*primals)
    return (root, square), (product(slope, jnp.linalg.inv(root), slope.dtype) / 2, slope)


_root_and_square: Any = jax.custom_jvp(functools.partial(_root_and_square_by, jnp))
_root_and_square.defjvp(_root_jvp)


def _dirichlet(d: KeyedDraw) -> Any:
    """Draw gamma numbers, divided by their sum."""
    alpha = jnp.asarray(d.params[0], d.dtype)
    d.refuse(d.params[0] < 0, "alpha < 0")
    if not alpha.shape[-1]:
        return jnp.zeros((*d.shape, 0), d.dtype)
    logs = d.log_gamma(jnp.where(alpha == 0, 1, alpha), alpha.shape[-1])
    found = jax.nn.softmax(jnp.where(alpha == 0, -jnp.inf, logs), axis=-1)
    return jnp.where(alpha == 0, 0, found).astype(d.dtype)


def _multinomial(d: KeyedDraw) -> Any:
    """Draw the count of each outcome in turn: a binomial number of the remaining trials."""
    n, p = d.params
    d.refuse(
        p.shape[-1] == 0, "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0."
    )
    d.refuse(PROBABILITY.is_wrong(p), "pvals < 0, pvals > 1 or pvals contains NaNs")
    d.refuse(p[..., :-1].sum(axis=-1) > 1 + 1e-12, "sum(pvals[:-1]) > 1.0")
    _check(d, NON_NEGATIVE, "n", n)
    d.dtype = "float64"

    def draw_count(left: Any, part: Any) -> tuple[Any, Any]:
        trials, rest = left
        found = d.binomial(trials, jnp.where(rest > 0, jnp.clip(part / rest, 0, 1), 0))
        return (trials - found, rest - part), found

    return _draw_in_turn(d, draw_count, (n, jnp.ones(())), p)


def _multivariate_hypergeometric(d: KeyedDraw) -> Any:
    """Draw the number of each colour in turn: a hypergeometric number of the remaining sample."""
    colors, sample = d.params
    text = "colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807."
    d.refuse(sample < 0, "nsample must be nonnegative.")
    d.refuse(np.True_ if colors.dtype.kind not in "iu" else colors < 0, text)
    total = colors.sum(axis=-1)
    d.refuse(total >= 10**9, 'When method is "marginals", sum(colors) must be less than 1000000000.')
    d.refuse(sample > total, "nsample > sum(colors)")
    d.dtype = "float64"

    def draw_count(left: Any, part: Any) -> tuple[Any, Any]:
        wanted, rest = left
        found = d.hypergeometric(part, rest - part, wanted)
        return (wanted - found, rest - part), found

    return _draw_in_turn(d, draw_count, (sample, total), colors)


def _draw_in_turn(d: KeyedDraw, step: Callable[..., Any], first: Any, parts: Any) -> Any:
    """Draw counts for all parts but the last one, which gets the remainder."""
    wide = jnp.moveaxis(jnp.broadcast_to(jnp.asarray(parts, d.dtype), (*d.shape, parts.shape[-1])), -1, 0)
    left = tuple(jnp.broadcast_to(jnp.asarray(value, d.dtype), d.shape) for value in first)
    if not len(wide):
        return jnp.zeros((*d.shape, 0), "int64")

    def one(state: Any, part: Any) -> Any:
        d.start_from(state[0])
        left, found = step(state[1], part)
        return (d.key(), left), found

    (_, (rest, _)), found = jax.lax.scan(one, (d.key(), left), wide[:-1])
    return jnp.moveaxis(jnp.concatenate([found, rest[None]]), 0, -1).astype("int64")


_DISTRIBUTIONS: dict[type, Draws] = {
    of.NormalRV: _numbers(lambda d, loc, scale: loc + scale * d.normal(), loc=ANY, scale=NON_NEGATIVE),
    of.LaplaceRV: _numbers(
        lambda d, loc, scale: loc + scale * jax.random.laplace(d.key(), d.shape, d.dtype), loc=ANY, scale=NON_NEGATIVE
    ),
    of.LogisticRV: _numbers(
        lambda d, loc, scale: loc + scale * jax.random.logistic(d.key(), d.shape, d.dtype), loc=ANY, scale=NON_NEGATIVE
    ),
    of.GumbelRV: _numbers(
        lambda d, loc, scale: loc + scale * jax.random.gumbel(d.key(), d.shape, d.dtype), loc=ANY, scale=AT_LEAST_ZERO
    ),
    of.CauchyRV: _numbers(
        lambda d, loc, scale: loc + scale * jax.random.cauchy(d.key(), d.shape, d.dtype), loc=ANY, scale=AT_LEAST_ZERO
    ),
    of.StudentTRV: _numbers(
        lambda d, df, loc, scale: loc + scale * _student_t(d, df), df=POSITIVE, loc=ANY, scale=AT_LEAST_ZERO
    ),
    of.UniformRV: _uniform,
    of.TriangularRV: _numbers(_triangular, left=ANY, mode=ANY, right=ANY),
    of.BetaRV: _numbers(lambda d, a, b: jax.random.beta(d.key(), a, b, d.shape, d.dtype), a=POSITIVE, b=POSITIVE),
    of.PowerRV: _numbers(lambda d, a: jnp.exp(-d.exponential() / a), a=POSITIVE),
    of.VonMisesRV: _numbers(_von_mises, mu=ANY, kappa=NON_NEGATIVE),
    of.TruncExponentialRV: _numbers(
        lambda d, b, loc, scale: loc - scale * jnp.log1p(d.uniform() * jnp.expm1(-b)),
        b=ABOVE_ZERO,
        loc=ANY,
        scale=AT_LEAST_ZERO,
    ),
    of.HalfNormalRV: _numbers(lambda d, loc, scale: loc + scale * abs(d.normal()), loc=ANY, scale=AT_LEAST_ZERO),
    of.HalfCauchyRV: _numbers(
        lambda d, loc, scale: loc + scale * jnp.tan(jnp.pi / 2 * d.uniform()), loc=ANY, scale=AT_LEAST_ZERO
    ),
    of.LogNormalRV: _numbers(lambda d, mean, sigma: jnp.exp(mean + sigma * d.normal()), mean=ANY, sigma=NON_NEGATIVE),
    of.GammaRV: _numbers(lambda d, shape, scale: scale * d.gamma(shape), shape=NON_NEGATIVE, scale=NON_NEGATIVE),
    of.ChiSquareRV: _numbers(lambda d, df: 2 * d.gamma(df / 2), df=POSITIVE),
    of.NoncentralChiSquareRV: _numbers(_noncentral_chisquare, df=POSITIVE, nonc=NON_NEGATIVE),
    of.FRV: _numbers(lambda d, m, n: (d.gamma(m / 2) / m) / (d.gamma(n / 2) / n), dfnum=POSITIVE, dfden=POSITIVE),
    of.NoncentralFRV: _numbers(
        lambda d, m, n, nonc: (_noncentral_chisquare(d, m, nonc) / m) / (2 * d.gamma(n / 2) / n),
        dfnum=POSITIVE,
        dfden=POSITIVE,
        nonc=NON_NEGATIVE,
    ),
    of.InvGammaRV: _numbers(lambda d, shape, scale: scale / d.gamma(shape), shape=ABOVE_ZERO, scale=AT_LEAST_ZERO),
    of.GenGammaRV: _numbers(_generalized_gamma, alpha=ANY, p=ANY, lambd=AT_LEAST_ZERO),
    of.ParetoRV: _numbers(lambda d, b, scale: scale * jnp.exp(d.exponential() / b), b=ABOVE_ZERO, scale=AT_LEAST_ZERO),
    of.ExponentialRV: _numbers(lambda d, scale: scale * d.exponential(), scale=NON_NEGATIVE),
    of.WeibullRV: _numbers(lambda d, a: jnp.where(a == 0, 0, d.exponential() ** (1 / a)), a=NON_NEGATIVE),
    of.RayleighRV: _numbers(lambda d, scale: scale * jnp.sqrt(2 * d.exponential()), scale=NON_NEGATIVE),
    of.WaldRV: _numbers(_wald, mean=POSITIVE, scale=POSITIVE),
    of.BernoulliRV: _counts(lambda d, p: d.uniform() < p, p=PROBABILITY),
    of.BinomialRV: _counts(lambda d, n, p: d.binomial(jnp.floor(n), p), n=NON_NEGATIVE, p=PROBABILITY),
    of.NegBinomialRV: _counts(_negative_binomial, n=POSITIVE, p=POSITIVE_PROBABILITY),
    of.BetaBinomialRV: _counts(
        lambda d, n, a, b: d.binomial(jnp.floor(n), jax.random.beta(d.key(), a, b, d.shape, d.dtype)),
        n=NON_NEGATIVE,
        a=POSITIVE,
        b=POSITIVE,
    ),
    of.PoissonRV: _counts(_poisson, lam=ANY),
    of.GeometricRV: _counts(
        lambda d, p: jnp.maximum(jnp.ceil(-d.exponential() / jnp.log1p(-p)), 1), p=POSITIVE_PROBABILITY
    ),
    of.HyperGeometricRV: _counts(_hypergeometric, ngood=NON_NEGATIVE, nbad=NON_NEGATIVE, nsample=NON_NEGATIVE),
    of.LogSeriesRV: _counts(_log_series, p=BELOW_ONE),
    of.ZipfRV: _counts(_zipf, a=ABOVE_ONE),
    of.RandIntRV: _integers,
    of.IntegersRV: _integers,
    of.CategoricalRV: _categorical,
    of.ChoiceRV: _choice,
    of.PermutationRV: _permutation,
    of.PermutedRV: _permute,
    of.MvNormalRV: _multivariate_normal,
    of.DirichletRV: _dirichlet,
    of.MultinomialRV: _multinomial,
    of.MultivariateHypergeometricRV: _multivariate_hypergeometric,
}
