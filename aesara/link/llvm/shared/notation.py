"""A shorthand for LLVM IR text that reads and writes memory at places of `layout`.

=============================================  ======================================================
``%x = field ptr %object, ARRAY_DATA``         what is at an offset: a name of `layout`, number or value
``set i64 %x, %frame, FRAME_TIME``             write to an offset
``%x = item ptr %list, %k``                    an element of an array
``%x = at %frame, FRAME_ERROR``                the address of an offset
``%x = word Py_None``                          a word of ``%table``
``%x = ask ptr PyList_New(i64 %n)``            call what is in a word of ``%table``
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

_FIELD = re.compile(r"(%\S+) = field (\S+) (\S+), (\S+)")
_SET = re.compile(r"set (\S+) (\S+), (\S+), (\S+)")
_ITEM = re.compile(r"(%\S+) = item (\S+) (\S+), (\S+)")
_AT = re.compile(r"(%\S+) = at (\S+), (\S+)")
_WORD = re.compile(r"(%\S+) = word (\S+)")
_ASK = re.compile(r"(%\S+ = )?ask (\S+) ([\w.]+)\((.*)\)")
_NUMBER = re.compile(r"\{([A-Z_]+)\}")


def expand(text: str) -> str:
    """The text in plain LLVM IR.

    Examples
    --------
    >>> print(expand("%x = field i64 %frame, FRAME_TIME"))
    %.1 = getelementptr i8, ptr %frame, i64 16
    %x = load i64, ptr %.1
    """
    numbers = itertools.count(1)
    text = _NUMBER.sub(lambda name: str(getattr(layout, name[1])), text)
    return "\n".join(line for row in text.splitlines() for line in _lines(row.strip(), numbers))


def _offset(name: str) -> str:
    return str(getattr(layout, name)) if name[0].isalpha() else name


def _lines(row: str, numbers: Iterator[int]) -> list[str]:
    if found := _ASK.fullmatch(row):
        result, kind, name, arguments = found.groups()
        pointer = f"%.{next(numbers)}"
        return [*_lines(f"{pointer} = word {name}", numbers), f"{result or ''}call {kind} {pointer}({arguments})"]
    if found := _WORD.fullmatch(row):
        result, name = found.groups()
        return _lines(f"{result} = field ptr %table, {8 * layout.WORD[name]}", numbers)
    if found := _FIELD.fullmatch(row):
        result, kind, pointer, offset = found.groups()
        address = f"%.{next(numbers)}"
        return [*_lines(f"{address} = at {pointer}, {offset}", numbers), f"{result} = load {kind}, ptr {address}"]
    if found := _SET.fullmatch(row):
        kind, value, pointer, offset = found.groups()
        address = f"%.{next(numbers)}"
        return [*_lines(f"{address} = at {pointer}, {offset}", numbers), f"store {kind} {value}, ptr {address}"]
    if found := _ITEM.fullmatch(row):
        result, kind, pointer, index = found.groups()
        address = f"%.{next(numbers)}"
        return [
            f"{address} = getelementptr {kind}, ptr {pointer}, i64 {index}", f"{result} = load {kind}, ptr {address}"
        ]  # fmt: skip
    if found := _AT.fullmatch(row):
        result, pointer, offset = found.groups()
        return [f"{result} = getelementptr i8, ptr {pointer}, i64 {_offset(offset)}"]
    return [row]
