"""A shorthand for LLVM IR text that loads and stores at offsets of `layout`.

=============================================  ======================================================
``%x = field ptr %object, ARRAY_DATA``         load at an offset: a name of `layout`, number or value
``set i64 %x, %frame, FRAME_TIME``             store at an offset
``%x = item ptr %list, %k``                    load an element of an array
``%x = at %frame, FRAME_ERROR``                compute the address of an offset
``%x = word Py_None``                          load a word of ``%table``
``%x = ask ptr PyList_New(i64 %n)``            call the function in a word of ``%table``
``ask void Py_IncRef(ptr %x)``                 the same without a result
=============================================  ======================================================

Other lines are LLVM IR; in them ``{NAME}`` is a number of `layout`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from aesara.link.llvm import layout

__all__ = ["expand"]

_SHORTHAND = re.compile(r"^ *(?:(%\S+) = )?(field|set|item|at|word|ask) (.+)", re.MULTILINE)
_NUMBER = re.compile(r"\{([A-Z_]+)\}")


def expand(text: str) -> str:
    """Return the text in plain LLVM IR.

    Examples
    --------
    >>> print(expand("%x = field i64 %frame, FRAME_TIME"))
    %.1 = getelementptr i8, ptr %frame, i64 16
    %x = load i64, ptr %.1
    """
    numbers = map("%.{}".format, itertools.count(1))
    text = _NUMBER.sub(lambda name: str(getattr(layout, name[1])), text)
    return _SHORTHAND.sub(lambda row: "\n".join(_lines(row[1], row[2], row[3], numbers)), text)


def _lines(result: str | None, word: str, rest: str, numbers: Iterator[str]) -> list[str]:
    if word == "ask":
        kind, _, call = rest.partition(" ")
        name, _, arguments = call.partition("(")
        pointer = next(numbers)
        assign = "" if result is None else f"{result} = "
        return [
            *_read("ptr", "%table", _word_offset(name), pointer, numbers),
            f"{assign}call {kind} {pointer}({arguments}",
        ]
    if word == "word":
        return _read("ptr", "%table", _word_offset(rest), result, numbers)
    if word == "set":
        value, pointer, offset = rest.split(", ")
        address = next(numbers)
        return [_address(address, pointer, offset), f"store {value}, ptr {address}"]
    first, second = rest.split(", ")
    if word == "at":
        return [_address(result, first, second)]
    kind, pointer = first.split(" ")
    if word == "field":
        return _read(kind, pointer, second, result, numbers)
    address = next(numbers)
    return [f"{address} = getelementptr {kind}, ptr {pointer}, i64 {second}", f"{result} = load {kind}, ptr {address}"]


def _word_offset(name: str) -> str:
    """Return the offset of a word in the table."""
    return str(8 * layout.WORD[name])


def _address(result: str | None, pointer: str, offset: str) -> str:
    number = getattr(layout, offset) if offset[0].isalpha() else offset
    return f"{result} = getelementptr i8, ptr {pointer}, i64 {number}"


def _read(kind: str, pointer: str, offset: str, result: str | None, numbers: Iterator[str]) -> list[str]:
    address = next(numbers)
    return [_address(address, pointer, offset), f"{result} = load {kind}, ptr {address}"]
