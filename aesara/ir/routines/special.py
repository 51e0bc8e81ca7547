"""Functions of numbers that SciPy exports as C functions of doubles, to be called in expressions."""

from __future__ import annotations

import functools
from typing import Any

from aesara.ir.function import ExternalFunction

__all__ = ["special", "special_named"]


@functools.cache
def special(name: str, arity: int) -> ExternalFunction:
    """The function of `scipy.special.cython_special` of this name that takes so many doubles.

    Examples
    --------
    >>> special("gammaln", 1).symbol
    'special.gammaln.1'
    """

    def reference(*values: Any) -> Any:
        from scipy.special import cython_special  # heavy, and rarely needed

        return getattr(cython_special, name)(*map(float, values))

    # Cython adds a flag to the parameters: whether to skip overrides, which there are none of.
    symbol = f"special.{name}.{arity}"
    return ExternalFunction(symbol, ("float64",) * arity, "float64", zeros=1, reference=reference)


def special_named(symbol: str) -> ExternalFunction | None:
    """The function of a symbol; None if it is no symbol of such a function."""
    source, *rest = symbol.split(".")
    return special(rest[0], int(rest[1])) if source == "special" and len(rest) == 2 and rest[1].isdigit() else None
