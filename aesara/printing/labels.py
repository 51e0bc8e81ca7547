"""Short names of functions, inputs, operations and sizes, for reports on compiled functions."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.compile.function.function import Function
from aesara.graph.nodes import Variable
from aesara.ir.expr import Expr, walk
from aesara.ir.symbols import InputSize

__all__ = ["function_name", "input_name", "shorten", "size_text"]

_LONGEST = 60
_SIGNS = {"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "intdiv": "({} // {})"}
_SIGNS |= {"minimum": "min({}, {})", "maximum": "max({}, {})"}


def function_name(f: Function) -> str:
    """The function's name, or words instead."""
    return f.name if f.name is not None else "a function"


def input_name(variable: Variable, position: int) -> str:
    """The variable's name, or its position."""
    return variable.name if variable.name is not None else f"input {position}"


def shorten(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def size_text(size: Expr, names: Sequence[str]) -> str:
    """A size in terms of the inputs; what the program computes or has read from memory is a question mark."""
    text: dict[Expr, str] = {}
    for e in walk([size]):
        if e.op == "const":
            text[e] = str(e.attr)
        elif isinstance(e.attr, InputSize):
            text[e] = f"{names[e.attr.number]}.shape[{e.attr.axis}]"
        elif e.op in _SIGNS and "?" not in (text[e.args[0]], text[e.args[1]]):
            text[e] = _SIGNS[e.op].format(*(text[a] for a in e.args))
        else:
            text[e] = "?"
    found = text[size]
    return found if len(found) <= 2 * _LONGEST else "?"
