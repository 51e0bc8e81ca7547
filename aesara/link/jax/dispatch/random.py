"""Random numbers: generators as keys of JAX, and the Ops that draw from them.

In a function of JAX the value of a generator is a *key*, a vector of two numbers of dtype uint32, for Threefry-2x32.  A
generator of NumPy becomes the key that its state says, and a key that leaves a function becomes a generator of NumPy
whose state the key says.  So equal states draw equal numbers, whatever has drawn before.
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
    errors_kept,
    jax_funcify,
    jax_typify,
    known,
    note_host,
    numpy_value,
    output_shapes,
    performed,
    require,
)
from aesara.link.jax.dispatch.distributions import draws_of
from aesara.link.jax.dispatch.drawing import KeyedDraw, fitted
from aesara.sandbox.mrg31k3p import advance
from aesara.sandbox.rng_mrg import SCALES, mrg_uniform
from aesara.tensor.random.constructors import AbstractRNGConstructor
from aesara.tensor.random.generators import bit_generator_of, state_of, words_of_state
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.random.type import RandomStateType, RandomType

__all__ = ["jax_sample_fn"]

NEVER_FOLDED.update({RandomVariable, AbstractRNGConstructor})

#: of JAX's generators, the one whose keys have two words
ALGORITHM = "threefry2x32"


@jax_typify.register(np.random.Generator)
@jax_typify.register(np.random.RandomState)
def _key_of(data: Any, dtype: Any = None, **kwargs: Any) -> Any:
    return jnp.asarray(words_of(data))


def words_of(generator: Any) -> np.ndarray:
    """The key of a generator: 64 bits of a hash of all that its state consists of."""
    state = type(generator).__name__, type(bit_generator_of(generator)).__name__, words_of_state(state_of(generator))
    digest = hashlib.blake2b(repr(state).encode(), digest_size=8).digest()
    return np.frombuffer(digest, dtype="<u4").astype("uint32")


@numpy_value.register(RandomType)
def _generator_of(kind: RandomType, value: Any) -> Any:
    """A generator whose seed is the key."""
    words = [int(word) for word in np.asarray(value)]
    if isinstance(kind, RandomStateType):
        return np.random.RandomState(np.random.MT19937(words))
    return np.random.default_rng(words)


@functools.singledispatch
def jax_sample_fn(op: Any) -> Callable[..., tuple[Any, Any]]:
    """Return the function that draws from a distribution of your own.

    It is registered by the class of the distribution, takes the key of the generator, the size (a tuple, or None), the
    dtype and the parameters, and returns the generator's next key and what was drawn.  What has none, and is no
    distribution of `aesara.tensor.random`, is drawn on the host by its `rng_fn`, with a generator of NumPy that is made
    of the key.

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
    """The next state of the generator, and what is drawn: by JAX, or by `rng_fn` on the host."""
    dtype = node.outputs[1].type.dtype
    if jax_sample_fn.dispatch(type(op)) is not jax_sample_fn.dispatch(object):
        sample = jax_sample_fn(op)

        def draw_otherwise(rng: Any, size: Any, _: Any, *params: Any) -> tuple[Any, Any]:
            sizes = _sizes(op, size)
            following, drawn = sample(rng, sizes or None, dtype, *params)
            return following, jnp.asarray(drawn, dtype=dtype)

        return draw_otherwise
    draws = draws_of(op)
    if draws is None:
        return _drawn_on_host(op, node, checks=checks, **kwargs)

    def draw(rng: Any, size: Any, _: Any, *params: Any) -> tuple[Any, Any]:
        following, now = _split(rng)
        drawing = KeyedDraw(node, checks, now, _sizes(op, size), params)
        return following, fitted(drawing, draws(drawing), dtype)

    return draw


def _sizes(op: Any, size: Any) -> tuple[int, ...]:
    """The elements of a size."""
    return tuple(int(n) for n in known(size, f"The size of the draws of {op}"))


def _split(key: Any) -> tuple[Any, Any]:
    """The words of the next key, and a key to draw with."""
    following, now = jax.random.split(jax.random.wrap_key_data(key, impl=ALGORITHM))
    return jax.random.key_data(following), now


def _drawn_on_host(op: RandomVariable, node: Apply, checks: Any, **kwargs: Any) -> Callable[..., tuple[Any, Any]]:
    """What only the Op itself can draw: NumPy's generator is made of the key, and used once."""
    shapes = output_shapes(op, node, checks=checks, **kwargs)
    note_host(op, checks)
    dtype = node.outputs[1].type.dtype

    def perform(*values: Any) -> np.ndarray:
        with errors_kept(node, checks):
            return performed(node, values)[1].astype(dtype)

    def draw(key: Any, size: Any, *values: Any) -> tuple[Any, Any]:
        following, now = _split(key)
        values = np.array(_sizes(op, size), dtype="int64"), *values
        wanted = jax.ShapeDtypeStruct(shapes(key, *values)[1], dtype)
        words = jax.random.key_data(now)
        return following, jax.pure_callback(perform, wanted, words, *values, vmap_method="sequential")

    return draw


@jax_funcify.register(AbstractRNGConstructor)
def jax_funcify_AbstractRNGConstructor(op: Any, node: Apply, checks: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """The key of the generator that NumPy makes of a seed, so that one which is an argument gives the same numbers.

    Without a seed, each call asks the operating system for one.
    """
    note_host(op, checks)
    legacy = isinstance(op.random_type, RandomStateType)
    wanted = jax.ShapeDtypeStruct((2,), "uint32")

    def made(seed: Any) -> np.ndarray:
        cells: list[list[Any]] = [[None]]
        op.perform(node, [None if seed is None else np.asarray(seed)], cells)
        return words_of(cells[0][0])

    def key(seed: Any) -> Any:
        if seed is None:
            return io_callback(made, wanted, seed)
        negative, large = seed < 0, seed.astype("uint64") >= np.uint64(2**32) if legacy else np.False_
        require(checks, ~negative, ValueError, "expected non-negative integer", node)
        require(checks, ~large, ValueError, "Seed must be between 0 and 2**32 - 1", node)
        # NumPy would raise an error of its own, in the midst of the computation.
        seed = jnp.where(negative | large, jnp.zeros((), seed.dtype), seed)
        return jax.pure_callback(made, wanted, seed, vmap_method="sequential")

    return key


@jax_funcify.register(mrg_uniform)
def jax_funcify_mrg_uniform(op: mrg_uniform, node: Apply, checks: Any = None, **kwargs: Any) -> Any:
    """Numbers of all streams in turn, round by round, and the streams' next states: the same as everywhere."""
    dtype = op.output_type.dtype
    taken, added, factor = SCALES[dtype]

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
            (streams or not count, f"there is no stream to draw {count} numbers from."),
        ):
            require(checks, np.bool_(holds), ValueError, f"{op}: {message}", node)
        # The last round may not reach all streams.
        rounds, rest = divmod(count, max(streams, 1))
        full, drawn = jax.lax.scan(step, jnp.asarray(states, "int64"), length=rounds)
        after, last = step(full[:rest])
        numbers = jnp.concatenate([drawn.ravel(), last])
        numbers = (numbers if taken is None else numbers & taken) + added
        drawn = (numbers * factor).astype(dtype).reshape(sizes)
        return jnp.concatenate([after, full[rest:]]).astype("int32"), drawn

    return draw
