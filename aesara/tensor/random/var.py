"""Shared variables of random generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.shared import SharedVariable, shared_constructor
from aesara.tensor.random.generators import NumPyGenerator, copy_generator
from aesara.tensor.random.type import RandomGeneratorType, RandomStateType, random_generator_type, random_state_type

__all__ = [
    "RandomGeneratorSharedVariable",
    "RandomStateSharedVariable",
    "RandomTypeSharedVariable",
    "random_generator_type",
    "random_state_type",
    "randomgen_constructor",
]


class RandomTypeSharedVariable(SharedVariable):
    """A shared variable whose value is a random generator."""

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> NumPyGenerator:
        """Return the generator.

        Parameters
        ----------
        borrow
            True may return the generator itself: what is drawn from it, functions do not draw, and the other way
            round.  False returns another one that will draw the same numbers.
        """
        value = self.container.value
        return value if borrow else copy_generator(value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Replace the generator, for all functions that use this variable.

        Parameters
        ----------
        new_value
            A generator, or the state of its bit generator.
        borrow
            True may keep `new_value` itself; False keeps another generator that will draw the same numbers.
        """
        value = self.container.filter(new_value)
        self.container.value = value if borrow or value is not new_value else copy_generator(value)

    @property
    def default_update(self) -> Variable:
        """The state after each call of a function that draws; the attribute is missing until it is set.

        Programs that update generators themselves test this by `hasattr`.
        """
        if self._default_update is None:
            raise AttributeError(
                f"{describe(self)} has no default_update: functions leave this generator as it is. Give it an update, "
                "or let a RandomStream make it."
            )
        return self._default_update

    @default_update.setter
    def default_update(self, expression: Variable) -> None:
        self._set_default_update(expression)

    @default_update.deleter
    def default_update(self) -> None:
        self._set_default_update(None)

    def __str__(self) -> str:
        return self.name if self.name is not None else f"{type(self).__name__}({self.container!r})"

    __repr__ = __str__


class RandomStateSharedVariable(RandomTypeSharedVariable):
    """A shared variable whose value is a `numpy.random.RandomState`."""


class RandomGeneratorSharedVariable(RandomTypeSharedVariable):
    """A shared variable whose value is a `numpy.random.Generator`."""


@shared_constructor.register(np.random.RandomState)
@shared_constructor.register(np.random.Generator)
def randomgen_constructor(
    value: np.random.RandomState | np.random.Generator,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
) -> RandomTypeSharedVariable:
    """Make the shared variable for a random generator.

    Parameters
    ----------
    value
        The generator.
    borrow
        Use `value` itself, instead of a copy that draws the same numbers.
    """
    of_state = isinstance(value, np.random.RandomState)
    kind = RandomStateSharedVariable if of_state else RandomGeneratorSharedVariable
    return kind(
        type=RandomStateType() if of_state else RandomGeneratorType(),
        value=value if borrow else copy_generator(value),
        strict=strict,
        allow_downcast=allow_downcast,
        name=name,
    )
