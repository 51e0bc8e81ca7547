"""Special functions of scalars that SciPy exports as C functions."""

from __future__ import annotations

import functools
from typing import Any

from aesara.ir.function import ExternalFunction

__all__ = ["special", "special_named"]


@functools.cache
def special(name: str, arity: int) -> ExternalFunction:
    """Return the function `name` of `scipy.special.cython_special` with `arity` float64 operands.

    Examples
    --------
    >>> special("gammaln", 1).symbol
    'special.gammaln.1'
    """

    def reference(*values: Any) -> Any:
        from scipy.special import cython_special  # heavy, and rarely needed

        return getattr(cython_special, name)(*map(float, values))

    # Cython adds a parameter that skips overrides in subclasses; it is 0.
    symbol = f"special.{name}.{arity}"
    return ExternalFunction(symbol, ("float64",) * arity, "float64", zeros=1, reference=reference)


def special_named(symbol: str) -> ExternalFunction | None:
    """Return the function of a symbol; None if the symbol is not of this form."""
    source, *rest = symbol.split(".")
    return special(rest[0], int(rest[1])) if source == "special" and len(rest) == 2 and rest[1].isdigit() else None
