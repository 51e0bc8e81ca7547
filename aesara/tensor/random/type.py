"""Types of NumPy's random generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Constant
from aesara.graph.type import Type
from aesara.tensor.random.generators import (
    GeneratorState,
    NumPyGenerator,
    bit_generator_of,
    copy_generator,
    generator_from_state,
    same_state,
    seeds_of,
    set_state,
    state_of,
    words_of_state,
)

__all__ = [
    "RandomGeneratorType",
    "RandomStateType",
    "RandomType",
    "random_generator_type",
    "random_state_type",
]


class GeneratorConstant(Constant):
    """A generator in a graph, whose state never changes: two are the same if they will draw the same numbers."""

    def signature(self) -> tuple:
        return self.type, words_of_state(state_of(self._data))


class RandomType(Type):
    """Base class of the types of random generators, which have a state."""

    constant_type = GeneratorConstant
    restorable = True

    #: NumPy's class.
    kind: type

    def filter(
        self, data: NumPyGenerator | GeneratorState, strict: bool = False, allow_downcast: bool | None = None
    ) -> Any:
        """Return `data`, which must be a generator of this type, or a new generator if it is the state of one.

        Parameters
        ----------
        data
            A generator; unless `strict`, also the dictionary with the state of its bit generator.
        """
        if isinstance(data, self.kind):
            return data
        if isinstance(data, dict) and not strict:
            try:
                return generator_from_state(self.kind, data)
            except ValueError as error:
                raise TypeError(
                    f"{self} expected a state that numpy.random.{self.kind.__name__} has. {error}"
                ) from None
        raise TypeError(
            f"{self} expected a numpy.random.{self.kind.__name__}, got {data!r} of type {type(data).__name__}."
        )

    @staticmethod
    def values_eq(a: NumPyGenerator, b: NumPyGenerator) -> bool:
        """Return whether two generators will draw the same numbers."""
        return type(a) is type(b) and same_state(a, b)

    @classmethod
    def values_eq_approx(cls, a: NumPyGenerator, b: NumPyGenerator, **tolerances: Any) -> bool:
        return cls.values_eq(a, b)

    @staticmethod
    def may_share_memory(a: NumPyGenerator, b: NumPyGenerator) -> bool:
        """Return whether draws from one generator change the state of the other."""
        generators = (np.random.Generator, np.random.RandomState)
        both = isinstance(a, generators) and isinstance(b, generators)
        return both and bit_generator_of(a) is bit_generator_of(b)

    def copy_value(self, value: NumPyGenerator) -> NumPyGenerator:
        return copy_generator(value)

    def state_of_value(self, value: NumPyGenerator) -> GeneratorState:
        return state_of(value)

    def restore_value(self, value: NumPyGenerator, state: GeneratorState) -> None:
        set_state(value, state)

    def clone(self, **kwargs: Any) -> RandomType:
        return type(self)()

    def digest_facts(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return type(self).__name__


class RandomStateType(RandomType):
    """The type of values of the class `numpy.random.RandomState`."""

    kind = np.random.RandomState


class RandomGeneratorType(RandomType):
    """The type of values of the class `numpy.random.Generator`."""

    kind = np.random.Generator
    in_words = True

    def seeds_of_value(self, value: NumPyGenerator) -> np.random.SeedSequence | None:
        return seeds_of(value)


random_state_type = RandomStateType()
random_generator_type = RandomGeneratorType()
