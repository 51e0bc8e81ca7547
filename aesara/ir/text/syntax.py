"""Operators, keywords and names of the text form."""

from __future__ import annotations

import json
import re

from aesara.ir.verify import IRError
from aesara.primitives import PRIMITIVES

__all__ = ["BITWISE", "DTYPES", "INFIX", "KEYWORDS", "RESERVED", "SIGNS", "IRSyntaxError", "format_name"]

DTYPES = frozenset(
    {"bool", "float16", "float32", "float64"}
    | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)  # fmt: skip

#: infix operator -> (primitive, precedence)
INFIX = {
    "|": ("or", 1),
    "^": ("xor", 2),
    "&": ("and", 3),
    "==": ("eq", 4),
    "!=": ("ne", 4),
    "<": ("lt", 5),
    "<=": ("le", 5),
    ">": ("gt", 5),
    ">=": ("ge", 5),
    "+": ("add", 6),
    "-": ("sub", 6),
    "*": ("mul", 7),
    "/": ("div", 7),
    "//": ("intdiv", 7),
}
SIGNS = {name: (sign, level) for sign, (name, level) in INFIX.items()}
BITWISE = frozenset({"or", "xor", "and"})

#: Words of the text form, those of steps in the second part.
KEYWORDS = frozenset(
    """
    kernel program function for parallel independent distinct interleave lanes if while let reassociate true false inf
    nan input shared generator static constant slot late output update return unpacked written aliased

    allocate in as or holding call with on check else error define hand launch loop count until nest python view at
    """.split()
)
RESERVED = KEYWORDS | DTYPES | frozenset(PRIMITIVES)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")


class IRSyntaxError(IRError):
    """Text that is not a kernel or program; the message names the line and the expected token."""


def format_name(name: object) -> str:
    text = str(name)
    plain = _PLAIN.match(text) and text not in RESERVED and not text.startswith(("inf.", "nan."))
    return text if plain else "'" + json.dumps(text)[1:-1].replace("'", "\\u0027") + "'"
