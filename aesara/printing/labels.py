"""Names of functions, inputs, ops and sizes in reports on compiled functions."""

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
    """Return the name of a function, or "a function"."""
    return f.name if f.name is not None else "a function"


def input_name(variable: Variable, position: int) -> str:
    """Return the name of a variable, or its position."""
    return variable.name if variable.name is not None else f"input {position}"


def shorten(text: str) -> str:
    """Truncate a text to 60 characters."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def size_text(size: Expr, names: Sequence[str]) -> str:
    """Return a size as an expression in shapes of inputs, with a question mark for computed and loaded values."""
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
    result = text[size]
    return result if len(result) <= 2 * _LONGEST else "?"
