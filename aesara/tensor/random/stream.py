"""Streams of draws, which construct, seed and update generators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.shared import SharedVariable, shared
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.random import distributions
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.random_variable import RandomVariable

__all__ = ["RandomStream"]


class RandomStream:
    """Draws that are new with each call of a function.

    Each draw has a generator of its own, in a shared variable whose ``default_update`` is the generator's next state.

    Parameters
    ----------
    seed
        Seeds all generators; None for a seed from the operating system.
    namespace
        A module whose distributions are attributes, too.
    rng_ctor
        Makes a generator of a seed: `numpy.random.default_rng` or `numpy.random.RandomState`.

    Attributes
    ----------
    state_updates
        Pairs of a generator's shared variable and its next state, one for each draw.
    default_instance_seed
        The seed.

    Notes
    -----
    The distributions of `aesara.tensor.random` are attributes.

    Examples
    --------
    >>> srng = RandomStream(seed=234)
    >>> f = aesara.function([], srng.normal(0, 1, size=2))
    >>> first, second = f(), f()
    >>> bool((first == second).any())
    False
    >>> srng.seed(234)
    >>> bool((f() == first).all())
    True
    """

    def __init__(
        self,
        seed: int | None = None,
        namespace: ModuleType | None = None,
        rng_ctor: Callable[..., np.random.Generator | np.random.RandomState] = np.random.default_rng,
    ) -> None:
        self.namespaces: list[object] = [distributions] if namespace is None else [namespace, distributions]
        self.default_instance_seed = seed
        self.state_updates: list[tuple[SharedVariable, Variable]] = []
        self.gen_seedgen = np.random.SeedSequence(seed)
        if rng_ctor is np.random.RandomState:
            # `Generator` takes no sequence of seeds, but a bit generator does.
            self.rng_ctor: Callable[..., NumPyGenerator] = _random_state
        else:
            self.rng_ctor = rng_ctor

    def __getattr__(self, name: str) -> Callable[..., Variable]:
        for namespace in self.__dict__.get("namespaces", ()):
            attribute = getattr(namespace, name, None)
            if attribute is not None and _draws(attribute):
                return wraps(attribute)(partial(self.gen, attribute))
        raise AttributeError(f"No attribute {name}: there is no distribution with this name.")

    def updates(self) -> list[tuple[SharedVariable, Variable]]:
        """Return pairs of the shared variable of each generator and its state after all draws.

        For draws in the step of a loop it is the state after the loop.
        """
        return [(state, getattr(state, "default_update", None) or following) for state, following in self.state_updates]

    def seed(self, seed: int | None = None) -> None:
        """Seed all generators again.

        Parameters
        ----------
        seed
            The seed; None for the one that the stream was made with.
        """
        self.gen_seedgen = np.random.SeedSequence(self.default_instance_seed if seed is None else seed)
        for (state, _), new in zip(self.state_updates, self.gen_seedgen.spawn(len(self.state_updates))):
            state.set_value(self.rng_ctor(new), borrow=True)

    def gen(self, op: Callable[..., Variable], *args: TensorLike, **kwargs: Any) -> Variable:
        """Draw with a new generator.

        Parameters
        ----------
        op
            A distribution.
        *args, **kwargs
            Its arguments; ``rng`` is the stream's affair.

        Returns
        -------
        TensorVariable
            The draws.
        """
        if "rng" in kwargs:
            raise ValueError("The `rng` option cannot be used with a variate in a `RandomStream`")
        (seed,) = self.gen_seedgen.spawn(1)
        state = shared(self.rng_ctor(seed), borrow=True)
        drawn: Any = op(*args, **kwargs, rng=state)
        following = drawn.owner.outputs[0]
        self.state_updates.append((state, following))
        state.default_update = following
        return drawn


def _random_state(seed: np.random.SeedSequence) -> np.random.RandomState:
    return np.random.RandomState(np.random.MT19937(seed))


def _draws(value: object) -> bool:
    """Return whether an object is a distribution, possibly with some arguments fixed."""
    return isinstance(getattr(value, "func", value), RandomVariable)
