"""Attributes that variables do not have, with errors that say what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable


class NoValueError(TypeError, AttributeError):
    """A variable was used as a number or a list; for `hasattr`, it has no method for that."""


class NoMethod:
    """A special method that variables do not have, with the reason.

    Programs distinguish numbers and lists by these methods, so `hasattr` must not find them.
    """

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, variable: Variable | None, owner: type) -> NoMethod:
        if variable is None:
            return self
        name = f"{describe(variable)} of type {variable.type}"
        raise NoValueError(self.message.format(name, type(variable).__name__))


class NoAttributeError(AttributeError):
    """A variable was asked for an attribute of another kind of array."""


class NoAttribute:
    """An attribute that variables do not have, with a replacement.

    Like other missing attributes, it is not found by `hasattr`, nor listed by `dir`.
    """

    def __init__(self, message: Callable[[Variable], str]) -> None:
        self.message = message

    def __get__(self, variable: Variable | None, owner: type) -> NoReturn:
        if variable is None:
            raise NoAttributeError(f"type object {owner.__name__!r} has no such attribute")
        raise NoAttributeError(self.message(variable))
