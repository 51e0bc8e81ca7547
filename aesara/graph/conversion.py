"""Conversion of Python values to variables: the place where types register theirs."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from aesara.graph.nodes import Variable


def as_symbolic(x: Any, name: str | None = None, **kwargs: Any) -> Variable:
    """Return a variable that stands for `x`.

    Parameters
    ----------
    x
        A variable, or a value of a registered kind (numbers, arrays, slices, ...).
    name
        Name of a new variable.
    **kwargs
        Passed on to the conversion.
    """
    if isinstance(x, Variable):
        return x
    return _as_symbolic(x, **({} if name is None else {"name": name}), **kwargs)


@singledispatch
def _as_symbolic(x: Any, **kwargs: Any) -> Variable:
    """Convert a value; register conversions by ``_as_symbolic.register(kind)``."""
    raise NotImplementedError(
        f"A value of type {type(x).__name__} cannot be made a variable: {x!r}. Pass a variable, or register a "
        "conversion with `_as_symbolic.register`."
    )
