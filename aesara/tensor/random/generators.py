"""States of NumPy's generators: reading, comparing, copying and restoring."""

from __future__ import annotations

import copy
from typing import Any, TypeAlias

import numpy as np
from numpy.random import BitGenerator, Generator, RandomState, SeedSequence

__all__ = [
    "bit_generator_of",
    "copy_generator",
    "generator_from_state",
    "same_state",
    "seeds_of",
    "set_state",
    "state_of",
    "words_of_state",
]

#: a source of random numbers
NumPyGenerator: TypeAlias = Generator | RandomState
#: the state of one, as NumPy gives it
GeneratorState: TypeAlias = dict[str, object]

#: the bit generators whose names states may have
_BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.MT19937,
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
    )
}


def bit_generator_of(generator: Any) -> BitGenerator:
    """Return the bit generator of a generator; generators with the same one draw from the same stream."""
    return generator._bit_generator


def state_of(generator: NumPyGenerator) -> GeneratorState:
    """Return the state of a generator as a dictionary without shared memory.

    Examples
    --------
    >>> state_of(np.random.default_rng(1))["bit_generator"]
    'PCG64'
    """
    # Other threads hold this lock while they draw without the GIL.
    with bit_generator_of(generator).lock:
        if isinstance(generator, RandomState):
            state: Any = generator.get_state(legacy=False)
        else:
            state = generator.bit_generator.state
    return state


def set_state(generator: NumPyGenerator, state: GeneratorState) -> None:
    """Set the state of a generator to a result of `state_of`."""
    with bit_generator_of(generator).lock:
        if isinstance(generator, RandomState):
            generator.set_state(state)
        else:
            generator.bit_generator.state = state


def generator_from_state(kind: type[Generator] | type[RandomState], state: GeneratorState) -> NumPyGenerator:
    """Return a new generator with the given state.

    Raises
    ------
    ValueError
        If it is not the state of one of NumPy's bit generators.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> generator_from_state(np.random.Generator, state_of(rng)).normal() == rng.normal()
    True
    """
    name = state.get("bit_generator")
    if name not in _BIT_GENERATORS:
        raise ValueError(f"A state of one of NumPy's bit generators ({', '.join(_BIT_GENERATORS)}), not of {name!r}")
    result = kind(_BIT_GENERATORS[name](0))
    try:
        set_state(result, state)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"The state of a bit generator {name} is not complete: {error}") from None
    return result


def copy_generator(generator: NumPyGenerator) -> NumPyGenerator:
    """Return an independent generator that draws the same numbers.

    `copy.copy` of NumPy 2 returns a generator with the same bit generator, and `copy.deepcopy` of NumPy 1 one that
    spawns other generators.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> copy_generator(rng).normal() == rng.normal()
    True
    """
    bits = bit_generator_of(generator)
    kind = type(bits)
    if _BIT_GENERATORS.get(kind.__name__) is not kind or type(generator) not in (Generator, RandomState):
        with bits.lock:
            return copy.deepcopy(generator)
    twin = type(generator)(kind(seeds_of(generator)))
    set_state(twin, state_of(generator))
    return twin


def seeds_of(generator: NumPyGenerator) -> np.random.SeedSequence | None:
    """Return a copy of the seed sequence of a generator, or None if it has none.

    Examples
    --------
    >>> seeds_of(np.random.default_rng(3)).entropy
    3
    """
    seeds = getattr(bit_generator_of(generator), "_seed_seq", None)
    if type(seeds) is not SeedSequence:
        return copy.deepcopy(seeds)
    return SeedSequence(
        entropy=seeds.entropy,
        spawn_key=seeds.spawn_key,
        pool_size=seeds.pool_size,
        n_children_spawned=seeds.n_children_spawned,
    )


def words_of_state(state: object) -> object:
    """Return a state as a hashable object; objects are equal only for equal states."""
    if isinstance(state, dict):
        return tuple((key, words_of_state(state[key])) for key in sorted(state))
    return state.tobytes() if isinstance(state, np.ndarray) else state


def same_state(a: NumPyGenerator, b: NumPyGenerator) -> bool:
    """Return whether two generators will draw the same numbers.

    Examples
    --------
    >>> same_state(np.random.default_rng(3), np.random.default_rng(3))
    True
    """
    return a is b or words_of_state(state_of(a)) == words_of_state(state_of(b))
