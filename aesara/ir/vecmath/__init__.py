"""Elementary functions as LLVM IR text, made for vectorised loops.

Each function is a single basic block of plain arithmetic, so LLVM's loop vectoriser widens it to whatever
the target offers; the same text serves SIMD bodies, scalar remainders and every platform. No libm, no
fast-math flags inside: results do not depend on flags of the surrounding code, and are the same to the last bit on
every target, since multiply-adds are fused on all. All are within 4 units in the last place for all arguments; sin,
cos and tan of large ones need a call, see `large_arguments`, and with it the functions of `dependencies`, which may
stand in the same module or be declared (`interface`).

The formulas are long chains: asking for two or four interleaved copies of a loop
(``llvm.loop.interleave.count``) makes them 10 to 30 % faster.

Examples
--------
>>> text = definition("exp", "float64")
>>> text.startswith("define internal double @ae.exp.float64(double %x)")
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from aesara.ir.definitions import FunctionDefinition
from aesara.ir.instructions import Value

from . import (
    cube_root,
    error_function,
    exponential,
    inverse_trigonometric,
    large_arguments,
    logarithm,
    power,
    trigonometric,
)
from .arithmetic import FORMATS, build

_FORMULAS: dict[str, Callable[..., Value]] = {
    **exponential.FORMULAS,
    **logarithm.FORMULAS,
    **trigonometric.FORMULAS,
    **inverse_trigonometric.FORMULAS,
    **error_function.FORMULAS,
    **power.FORMULAS,
    **cube_root.FORMULAS,
}
#: what the functions of `trigonometric` call, for one number and for vectors
_LARGE_ARGUMENTS, _LARGE_LANES = "replace_large", "replace_large_lanes"
_PARAMETERS = {"pow": ("x", "y"), "atan2": ("y", "x")}


def symbol(name: str, dtype: str) -> str:
    """The name of the LLVM function, for instance ``ae.exp.float64``."""
    return f"ae.{name}.{dtype}"


def available() -> set[tuple[str, str]]:
    """All (name, dtype) for which `definition` has a text."""
    return {(name, dtype) for name in _FORMULAS for dtype in FORMATS}


@cache
def function(name: str, dtype: str) -> FunctionDefinition | None:
    """Return one of the functions of `available`; None for others."""
    if name not in _FORMULAS or dtype not in FORMATS:
        return None
    return build(symbol(name, dtype), FORMATS[dtype], _PARAMETERS.get(name, ("x",)), _FORMULAS[name])


@cache
def definition(name: str, dtype: str) -> str | None:
    """Return the LLVM IR text of a function; None if there is none for this name and dtype.

    Besides the functions of `available` this knows the `dependencies` of those.
    """
    if dtype in FORMATS and name == _LARGE_ARGUMENTS:
        return trigonometric.replacements(FORMATS[dtype])
    if dtype in FORMATS and name == _LARGE_LANES:
        return large_arguments.definition_of_vectors(FORMATS[dtype])
    made = function(name, dtype)
    return None if made is None else made.text() + "\n"


def dependencies(name: str, dtype: str) -> tuple[str, ...]:
    """Names, for `definition` or `interface`, of what must stand in the module besides the text of the function."""
    if name == _LARGE_LANES:
        return (_LARGE_ARGUMENTS,)
    return (_LARGE_ARGUMENTS, _LARGE_LANES) if name in trigonometric.FORMULAS and dtype in FORMATS else ()


def apart() -> list[tuple[str, str]]:
    """Return the names and dtypes of the `dependencies`, which modules may declare."""
    return [(name, dtype) for name in (_LARGE_ARGUMENTS, _LARGE_LANES) for dtype in FORMATS]


def has_vectors(name: str) -> bool:
    """Return whether one of `dependencies` is for vectors, as the loop vectoriser calls it."""
    return name == _LARGE_LANES


@cache
def interface(name: str, dtype: str) -> Mapping[str, str]:
    """Return the declarations of the functions of `definition` that others call, by their symbols.

    Examples
    --------
    >>> list(interface("replace_large", "float64"))
    ['ae.replace_large.float64']
    """
    if name == _LARGE_ARGUMENTS:
        return large_arguments.declarations(FORMATS[dtype])
    return large_arguments.declarations_of_vectors(FORMATS[dtype]) if name == _LARGE_LANES else {}


def defining(symbol: str) -> tuple[str, str]:
    """The name and the dtype by which `definition` knows the function of a symbol.

    Examples
    --------
    >>> defining("ae.replace_large_lanes.float32.x4")
    ('replace_large_lanes', 'float32')
    """
    _, name, dtype, *_ = symbol.split(".")
    return name, dtype
