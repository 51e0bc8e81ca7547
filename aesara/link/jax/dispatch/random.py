"""Conversions of random variables, with generators as keys of JAX.

In a function of JAX the value of a generator is a *key* for Threefry-2x32, a vector of two uint32.  The key of a
generator of NumPy is a hash of its state, and a key that leaves a function seeds a generator of NumPy.  So equal states
draw equal numbers.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import (
    NEVER_FOLDED,
    jax_funcify,
    jax_typify,
    numpy_value,
    output_shapes,
    perform_node,
    record_errors,
    record_host_call,
    require,
    require_known,
)
from aesara.link.jax.dispatch.distributions import draws_of
from aesara.link.jax.dispatch.drawing import KeyedDraw, cast_draws
from aesara.scalar.mrg31k3p import advance
from aesara.tensor.random.constructors import AbstractRNGConstructor
from aesara.tensor.random.generators import bit_generator_of, state_of, words_of_state
from aesara.tensor.random.mrg_uniform import SCALES, mrg_uniform
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.random.type import RandomStateType, RandomType

__all__ = ["jax_sample_fn"]

NEVER_FOLDED.update({RandomVariable, AbstractRNGConstructor})

#: the generator of JAX, whose keys have two words
ALGORITHM = "threefry2x32"


@jax_typify.register(np.random.Generator)
@jax_typify.register(np.random.RandomState)
def _key_of(data: Any, dtype: Any = None, **kwargs: Any) -> Any:
    return jnp.asarray(words_of(data))


def words_of(generator: Any) -> np.ndarray:
    """Return the key of a generator: 64 bits of a hash of its state."""
    state = type(generator).__name__, type(bit_generator_of(generator)).__name__, words_of_state(state_of(generator))
    digest = hashlib.blake2b(repr(state).encode(), digest_size=8).digest()
    return np.frombuffer(digest, dtype="<u4").astype("uint32")


@numpy_value.register(RandomType)
def _generator_of(kind: RandomType, value: Any) -> Any:
    """Return a generator that is seeded with the key."""
    words = [int(word) for word in np.asarray(value)]
    if isinstance(kind, RandomStateType):
        return np.random.RandomState(np.random.MT19937(words))
    return np.random.default_rng(words)


@functools.singledispatch
def jax_sample_fn(op: Any) -> Callable[..., tuple[Any, Any]]:
    """Return the function that draws from a user-defined distribution.

    Functions are registered by the class of the distribution.  They take the key, the size (a tuple or None), the dtype
    and the parameters, and return the next key and the draws.  Distributions without such a function that are not in
    `aesara.tensor.random` draw on the host by `rng_fn`, with a generator of NumPy that is seeded with the key.

    Examples
    --------
    >>> class ArcsineRV(RandomVariable):
    ...     name = "arcsine"
    ...     ndim_supp = 0
    ...     ndims_params = ()
    ...     dtype = "floatX"
    >>> @jax_sample_fn.register(ArcsineRV)
    ... def _(op):
    ...     def sample(key, size, dtype):
    ...         key, now = jax.random.split(key)
    ...         return key, jnp.sin(jnp.pi / 2 * jax.random.uniform(now, size or (), dtype)) ** 2
    ...     return sample
    """
    raise NotImplementedError(f"No JAX draws from {op}")


@jax_funcify.register(RandomVariable)
def jax_funcify_RandomVariable(op: RandomVariable, node: Apply, checks: Any = None, **kwargs: Any) -> Any:
    """Return the next key and the draws, by JAX or by `rng_fn` on the host."""
    dtype = node.outputs[1].type.dtype
    if jax_sample_fn.dispatch(type(op)) is not jax_sample_fn.dispatch(object):
        sample = jax_sample_fn(op)

        def draw_by_sample_fn(rng: Any, size: Any, _: Any, *params: Any) -> tuple[Any, Any]:
            sizes = _sizes(op, size)
            next_key, drawn = sample(rng, sizes or None, dtype, *params)
            return next_key, jnp.asarray(drawn, dtype=dtype)

        return draw_by_sample_fn
    draws = draws_of(op)
    if draws is None:
        return _draw_on_host(op, node, checks=checks, **kwargs)

    def draw(rng: Any, size: Any, _: Any, *params: Any) -> tuple[Any, Any]:
        next_key, now = _split(rng)
        drawing = KeyedDraw(node, checks, now, _sizes(op, size), params)
        return next_key, cast_draws(drawing, draws(drawing), dtype)

    return draw


def _sizes(op: Any, size: Any) -> tuple[int, ...]:
    """Return the elements of a size."""
    return tuple(int(n) for n in require_known(size, f"The size of the draws of {op}"))


def _split(key: Any) -> tuple[Any, Any]:
    """Return the words of the next key, and a key to draw with."""
    next_key, now = jax.random.split(jax.random.wrap_key_data(key, impl=ALGORITHM))
    return jax.random.key_data(next_key), now


def _draw_on_host(op: RandomVariable, node: Apply, checks: Any, **kwargs: Any) -> Callable[..., tuple[Any, Any]]:
    """Draw by the `perform` of the Op, with a generator of NumPy that is seeded with the key."""
    shapes = output_shapes(op, node, checks=checks, **kwargs)
    record_host_call(op, checks)
    dtype = node.outputs[1].type.dtype

    def perform(*values: Any) -> np.ndarray:
        with record_errors(node, checks):
            return perform_node(node, values)[1].astype(dtype)

    def draw(key: Any, size: Any, *values: Any) -> tuple[Any, Any]:
        next_key, now = _split(key)
        values = np.array(_sizes(op, size), dtype="int64"), *values
        wanted = jax.ShapeDtypeStruct(shapes(key, *values)[1], dtype)
        words = jax.random.key_data(now)
        return next_key, jax.pure_callback(perform, wanted, words, *values, vmap_method="sequential")

    return draw


@jax_funcify.register(AbstractRNGConstructor)
def jax_funcify_AbstractRNGConstructor(op: Any, node: Apply, checks: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the key of the generator of NumPy with the given seed, as for a generator that is an argument.

    Without a seed, each call gets one from the operating system.
    """
    record_host_call(op, checks)
    legacy = isinstance(op.random_type, RandomStateType)
    wanted = jax.ShapeDtypeStruct((2,), "uint32")

    def make_key(seed: Any) -> np.ndarray:
        cells: list[list[Any]] = [[None]]
        op.perform(node, [None if seed is None else np.asarray(seed)], cells)
        return words_of(cells[0][0])

    def key(seed: Any) -> Any:
        if seed is None:
            return io_callback(make_key, wanted, seed)
        negative, large = seed < 0, seed.astype("uint64") >= np.uint64(2**32) if legacy else np.False_
        require(checks, ~negative, ValueError, "expected non-negative integer", node)
        require(checks, ~large, ValueError, "Seed must be between 0 and 2**32 - 1", node)
        # NumPy would raise its own error during the computation.
        seed = jnp.where(negative | large, jnp.zeros((), seed.dtype), seed)
        return jax.pure_callback(make_key, wanted, seed, vmap_method="sequential")

    return key


@jax_funcify.register(mrg_uniform)
def jax_funcify_mrg_uniform(op: mrg_uniform, node: Apply, checks: Any = None, **kwargs: Any) -> Any:
    """Draw a number from each stream in turn, as the other back ends; return the next states and the numbers."""
    dtype = op.output_type.dtype
    mask, offset, factor = SCALES[dtype]

    def step(states: Any, _: Any = None) -> tuple[Any, Any]:
        following, numbers = advance(tuple(states.T), jnp.where)
        return jnp.stack(following, axis=-1), numbers

    def draw(states: Any, size: Any) -> tuple[Any, Any]:
        sizes = _sizes(op, size)
        ndim, count, streams = op.output_type.ndim, math.prod(sizes), len(states)
        for holds, message in (
            (len(sizes) == ndim, f"`size` must have length {ndim}, it has length {len(sizes)}: {np.array(sizes)}."),
            (all(n >= 0 for n in sizes), f"lengths must not be negative: {np.array(sizes)}."),
            (states.shape[1] == 6, f"states have shape (streams, 6), not {states.shape}."),
            (streams or not count, f"{count} numbers cannot be drawn from a state without streams."),
        ):
            require(checks, np.bool_(holds), ValueError, f"{op}: {message}", node)
        # The last round may be partial.
        rounds, rest = divmod(count, max(streams, 1))
        full, drawn = jax.lax.scan(step, jnp.asarray(states, "int64"), length=rounds)
        after, last = step(full[:rest])
        numbers = jnp.concatenate([drawn.ravel(), last])
        numbers = (numbers if mask is None else numbers & mask) + offset
        drawn = (numbers * factor).astype(dtype).reshape(sizes)
        return jnp.concatenate([after, full[rest:]]).astype("int32"), drawn

    return draw
