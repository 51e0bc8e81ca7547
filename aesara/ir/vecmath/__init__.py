"""Branch-free elementary functions as LLVM IR text.

Each function is a single basic block of plain arithmetic, so LLVM's loop vectoriser widens it to whatever
the target offers; the same text serves SIMD bodies, scalar remainders and every platform. No libm, no tables
in memory, no fast-math flags inside: results do not depend on flags of the surrounding code. With and without
FMA in the target they may differ in the last place.

The formulas are long chains: asking for two or four interleaved copies of a loop
(``llvm.loop.interleave.count``) makes them 10 to 30 % faster.

Examples
--------
>>> text = definition("exp", "float64")
>>> text.startswith("define internal double @ae.exp.float64(double %x)")
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from . import error_function, exponential, inverse_trigonometric, logarithm, power, trigonometric
from .builder import FORMATS, Value, build

_FORMULAS: dict[str, Callable[..., Value]] = {
    **exponential.FORMULAS,
    **logarithm.FORMULAS,
    **trigonometric.FORMULAS,
    **inverse_trigonometric.FORMULAS,
    **error_function.FORMULAS,
    **power.FORMULAS,
}
_PARAMETERS = {"pow": ("x", "y"), "atan2": ("y", "x")}


def symbol(name: str, dtype: str) -> str:
    """The name of the LLVM function, for instance ``ae.exp.float64``."""
    return f"ae.{name}.{dtype}"


def available() -> set[tuple[str, str]]:
    """All (name, dtype) for which `definition` has a text."""
    return {(name, dtype) for name in _FORMULAS for dtype in FORMATS}


@cache
def definition(name: str, dtype: str) -> str | None:
    """LLVM IR text of the function, or None if there is none for this name and dtype."""
    if name not in _FORMULAS or dtype not in FORMATS:
        return None
    return build(symbol(name, dtype), FORMATS[dtype], _PARAMETERS.get(name, ("x",)), _FORMULAS[name])


def dependencies(name: str, dtype: str) -> tuple[str, ...]:
    """Names of the vecmath functions that the text calls: none, everything is written out."""
    return ()


def accurate_range(name: str, dtype: str) -> tuple[float, float]:
    """Arguments (low, high) between which the function is accurate to 4 units in the last place.

    All functions but sin, cos and tan are accurate everywhere. Outside their range those three lose
    all accuracy, so that a caller must take another way there.
    """
    limit = trigonometric.LARGEST[dtype] if name in trigonometric.FORMULAS else math.inf
    return -limit, limit
