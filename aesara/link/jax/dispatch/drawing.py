"""One draw: its parameters, their checks, and draws from basic distributions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import is_known, require
from aesara.tensor.random.distributions.formulas import shape_of_draws
from aesara.tensor.random.type import RandomStateType

__all__ = ["KeyedDraw", "cast_draws", "without_derivative"]


class KeyedDraw:
    """A draw from a distribution.

    Parameters
    ----------
    node
        The node that draws.
    checks
        The run-time checks.
    key
        The key of JAX.
    size
        The size; empty if the parameters determine the shape.
    params
        The parameters.

    Attributes
    ----------
    dtype
        The floating-point dtype in which numbers are drawn.
    """

    def __init__(self, node: Apply, checks: Any, key: Any, size: tuple[int, ...], params: Sequence[Any]) -> None:
        self.node, self.op, self.checks = node, node.op, checks
        self.size, self.params = size, params
        self._key = key
        out = node.outputs[1].type.dtype
        self.dtype = "float32" if out in ("float16", "float32") else "float64"

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        """The batch shape, to which parameters broadcast."""
        self.refuse(any(n < 0 for n in self.size), "negative dimensions are not allowed")
        shapes = [np.shape(p) for p in self.params]
        batches = [shape[: len(shape) - n] for shape, n in zip(shapes, self.op.ndims_params)]
        return shape_of_draws(self.size or None, *(np.broadcast_to(0, batch) for batch in batches))

    @property
    def has_arrays(self) -> bool:
        """True if a parameter is an array, for which NumPy has other error messages."""
        return any(np.ndim(p) for p in self.params)

    @property
    def is_legacy(self) -> bool:
        """True if the generator is a `numpy.random.RandomState`."""
        return isinstance(self.node.inputs[0].type, RandomStateType)

    def refuse(self, wrong: Any, message: str, kind: type[Exception] = ValueError) -> None:
        """Raise an error if `wrong` is true anywhere."""
        holds = np.logical_not(wrong) if is_known(wrong) else jnp.logical_not(wrong)
        require(self.checks, holds, kind, message, self.node)

    def key(self) -> Any:
        """Return a new key."""
        self._key, now = jax.random.split(self._key)
        return now

    def start_from(self, key: Any) -> None:
        """Derive further keys from this one."""
        self._key = key

    # -- draws of shape `self.shape + support` ---------------------------------------------------------

    def uniform(self, *support: int) -> Any:
        """Draw uniform numbers from [0, 1)."""
        return jax.random.uniform(self.key(), self.shape + support, self.dtype)

    def normal(self, *support: int) -> Any:
        """Draw standard normal numbers."""
        return jax.random.normal(self.key(), self.shape + support, self.dtype)

    def exponential(self) -> Any:
        """Draw exponential numbers with mean 1."""
        return jax.random.exponential(self.key(), self.shape, self.dtype)

    def gamma(self, a: jax.Array) -> Any:
        """Draw gamma numbers with scale 1."""
        return jax.random.gamma(self.key(), a, self.shape, self.dtype)

    def log_gamma(self, a: jax.Array, *support: int) -> Any:
        """Draw logarithms of gamma numbers, which do not underflow for small shapes."""
        return jax.random.loggamma(self.key(), a, self.shape + support, self.dtype)

    def until(self, propose: Callable[[Any], tuple[Any, Any]]) -> Any:
        """Draw by rejection: `propose` maps a key to numbers and whether each is accepted."""

        def redraw(state: Any) -> Any:
            key, found, accepted = state
            key, now = jax.random.split(key)
            proposed, fits = propose(now)
            return key, jnp.where(accepted, found, proposed), accepted | fits

        first = self.key(), jnp.zeros(self.shape, self.dtype), jnp.zeros(self.shape, bool)
        return jax.lax.while_loop(lambda state: ~state[2].all(), redraw, first)[1]

    def pair(self, key: Any) -> Any:
        """Draw two uniform numbers for each element of the shape."""
        return jax.random.uniform(key, (2, *self.shape), self.dtype)

    def binomial(self, n: Any, p: Any) -> Any:
        """Draw binomial counts, as floating-point numbers."""
        n, p = jnp.asarray(n, self.dtype), jnp.asarray(p, self.dtype)
        return jax.random.binomial(self.key(), n, p, self.shape, self.dtype)

    def poisson(self, lam: Any) -> Any:
        """Draw Poisson counts, as floating-point numbers; NaN if the mean is.

        Small means use inversion of the distribution function, others transformed rejection: W. Hörmann, "The
        transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS.
        """
        lam = jnp.broadcast_to(jnp.asarray(lam, self.dtype), self.shape)
        few = self._few_events(jnp.where(lam < 10, lam, 0))
        many = self._many_events(jnp.where(lam >= 10, lam, 10))
        return jnp.where(lam < 10, few, jnp.where(lam >= 10, many, jnp.nan))

    def _few_events(self, lam: Any) -> Any:
        u = self.uniform()

        def one_more(state: Any) -> Any:
            k, mass, below, found = state
            mass = mass * lam / (k + 1)
            return k + 1, mass, below + mass, found + (u > below)

        first = jnp.zeros((), self.dtype), jnp.exp(-lam), jnp.exp(-lam), jnp.zeros_like(lam)
        return jax.lax.while_loop(lambda state: ((u > state[2]) & (state[1] > 0)).any(), one_more, first)[3]

    def _many_events(self, lam: Any) -> Any:
        b = 0.931 + 2.53 * jnp.sqrt(lam)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        quick_bound = 0.9277 - 3.6224 / (b - 2)

        def propose(key: Any) -> tuple[Any, Any]:
            u, v = self.pair(key)
            u = u - 0.5
            rest = 0.5 - abs(u)
            k = jnp.floor((2 * a / rest + b) * u + lam + 0.43)
            density = k * jnp.log(lam) - lam - jax.lax.lgamma(k + 1)
            under = jnp.log(v) + jnp.log(inverse_alpha) - jnp.log(a / rest**2 + b) <= density
            at_once = (rest >= 0.07) & (v <= quick_bound)
            return k, at_once | ((k >= 0) & ((rest >= 0.013) | (v <= rest)) & under)

        return self.until(propose)

    def hypergeometric(self, good: Any, bad: Any, sample: Any) -> Any:
        """Draw hypergeometric counts, as floating-point numbers.

        Small samples, or remainders, are drawn one by one, others by the ratio of uniforms: E. Stadlober, "The ratio of
        uniforms approach for generating discrete random variates" (1990), algorithm HRUA.
        """
        good, bad, sample = (jnp.broadcast_to(jnp.asarray(x, self.dtype), self.shape) for x in (good, bad, sample))
        total = good + bad
        sample_size = jnp.minimum(sample, total - sample)
        # Loops must end for invalid parameters too: errors are raised after the computation.
        many = (sample_size >= 10) & (good >= 0) & (bad >= 0)
        some = jnp.where(sample_size < 10, sample_size, 0)
        one_by_one = self._draw_one_by_one(good, total, some)
        usual = [jnp.where(many, x, 20) for x in (good, bad)]
        at_once = self._draw_by_ratio_of_uniforms(usual[0], usual[1], jnp.where(many, sample_size, 10))
        found = jnp.where(many, at_once, one_by_one)
        return jnp.where(sample > sample_size, good - found, found)

    def _draw_one_by_one(self, good: Any, total: Any, count: Any) -> Any:
        def take(k: Any, state: Any) -> Any:
            left, key = state
            key, now = jax.random.split(key)
            u = jax.random.uniform(now, self.shape, self.dtype)
            is_good = (k < count) & (u * (total - k) < left)
            return left - is_good, key

        return good - jax.lax.fori_loop(0, 10, take, (good, self.key()))[0]

    def _draw_by_ratio_of_uniforms(self, good: Any, bad: Any, count: Any) -> Any:
        fewer, more, total = jnp.minimum(good, bad), jnp.maximum(good, bad), good + bad
        p = fewer / total
        middle = count * p + 0.5
        deviation = jnp.sqrt((total - count) * count * p * (1 - p) / (total - 1) + 0.5)
        width = 2 * np.sqrt(2 / np.e) * deviation + 3 - 2 * np.sqrt(3 / np.e)
        end = jnp.minimum(jnp.minimum(count, fewer) + 1, jnp.floor(middle + 16 * deviation))

        def log_ways(k: Any) -> Any:
            counts = k, fewer - k, count - k, more - count + k
            return -functools.reduce(jnp.add, (jax.lax.lgamma(n + 1) for n in counts))

        most = log_ways(jnp.floor((count + 1) * (fewer + 1) / (total + 2)))

        def propose(key: Any) -> tuple[Any, Any]:
            x, y = self.pair(key)
            place = middle + width * (y - 0.5) / x
            k = jnp.floor(place)
            inside = (place >= 0) & (place < end)
            return k, inside & (2 * jnp.log(x) <= log_ways(jnp.where(inside, k, 0)) - most)

        found = self.until(propose)
        return jnp.where(good > bad, count - found, found)


def cast_draws(drawing: KeyedDraw, drawn: Any, dtype: str) -> Any:
    """Cast draws to the dtype of the result, with a check that integers fit."""
    kind = np.dtype(dtype).kind
    converted = drawn.astype(dtype)
    if drawn.dtype != dtype and kind in "iub" and drawn.dtype.kind in "iuf":
        message = f"Draws of dtype {drawn.dtype} do not fit into {dtype}."
        drawing.refuse(converted.astype(drawn.dtype) != drawn, message)
    return converted


def without_derivative(parameter: Any) -> Any:
    """Return a parameter whose derivative raises an error; that of JAX would be wrong.

    Examples
    --------
    >>> jax.grad(without_derivative)(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotImplementedError: No gradient defined for random variables of this distribution in this parameter.
    """
    return _same(parameter)


def _no_derivative(primals: Any, tangents: Any) -> Any:
    raise NotImplementedError("No gradient defined for random variables of this distribution in this parameter.")


_same: Any = jax.custom_jvp(lambda parameter: parameter)
_same.defjvp(_no_derivative)
