"""Functions of LLVM modules.

A `FunctionDefinition` has the lines that an `InstructionWriter` has written. Functions that are written by hand are
read by `definitions_in`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from aesara.records import dataclass

__all__ = ["INLINED", "Definition", "FunctionDefinition", "FunctionParameter", "definitions_in"]

#: the attribute of functions that are inlined
INLINED = "alwaysinline"

_LINKAGES = frozenset(("internal", "hidden", "private", "weak_odr", "linkonce_odr"))
_PARAMETER_ATTRIBUTES = frozenset(("readonly", "noalias"))


@dataclass(frozen=True)
class FunctionParameter:
    """Parameter of a function: its type, its name with ``%``, and its attributes."""

    kind: str
    name: str
    attributes: tuple[str, ...] = ()

    def text(self) -> str:
        return " ".join((self.kind, *self.attributes, self.name))


@dataclass(frozen=True)
class FunctionDefinition:
    """A function with a body.

    Attributes
    ----------
    name
        The name with ``@``.
    result
        The type of the result.
    parameters
        The parameters.
    attributes
        The attributes as text.
    lines
        Instructions and labels, of which the first may be missing.
    linkage
        Linkage and visibility; empty if other modules may call it.

    Examples
    --------
    >>> lines = ["%b = add i64 %a, %a", "ret i64 %b"]
    >>> twice = FunctionDefinition("@twice", "i64", [FunctionParameter("i64", "%a")], "nounwind", lines)
    >>> print(twice.text())
    define internal i64 @twice(i64 %a) nounwind {
    %b = add i64 %a, %a
    ret i64 %b
    }
    >>> twice.declaration()
    'declare i64 @twice(i64)'
    """

    name: str
    result: str
    parameters: Sequence[FunctionParameter]
    attributes: str
    lines: Sequence[str]
    linkage: str = "internal"

    def text(self, linkage: str | None = None) -> str:
        """Return the definition, with another linkage if one is given."""
        parameters = ", ".join([parameter.text() for parameter in self.parameters])
        signature = f"{self.result} {self.name}({parameters})"
        words = ("define", self.linkage if linkage is None else linkage, signature, self.attributes, "{")
        return "\n".join([" ".join(filter(None, words)), *self.lines, "}"])

    def declaration(self) -> str:
        """Return the declaration for another module."""
        return f"declare {self.result} {self.name}({', '.join([one.kind for one in self.parameters])})"

    @property
    def is_inlined(self) -> bool:
        return INLINED in self.attributes


#: a function, or the text of a constant, declaration or comment
Definition: TypeAlias = "FunctionDefinition | str"


def definitions_in(text: str) -> list[Definition]:
    """Read the functions of a module; other lines are returned as they are.

    Each head is one line, and so is the brace at the end.

    Examples
    --------
    >>> definitions_in('''@one = private constant i8 1
    ... define i64 @same(i64 %a) {
    ...   ret i64 %a
    ... }''')[1].lines
    ['  ret i64 %a']
    """
    rows = iter(text.splitlines())
    return [_function(row, rows) if row.startswith("define ") else row for row in rows]


def _function(head: str, rows: Iterator[str]) -> FunctionDefinition:
    """Return the function of a head, after which come its body and the closing brace."""
    before, _, after = head.removeprefix("define ").removesuffix("{").partition("@")
    words = before.split()
    linkage = list(itertools.takewhile(_LINKAGES.__contains__, words))
    name, _, rest = after.partition("(")
    parameters, _, attributes = rest.partition(")")
    return FunctionDefinition(
        f"@{name}",
        " ".join(words[len(linkage) :]),
        [_parameter(one) for one in parameters.split(", ") if one],
        attributes.strip(),
        list(itertools.takewhile(lambda row: row != "}", rows)),
        " ".join(linkage),
    )


def _parameter(text: str) -> FunctionParameter:
    *words, name = text.split()
    kind = [word for word in words if word not in _PARAMETER_ATTRIBUTES]
    return FunctionParameter(" ".join(kind), name, tuple(word for word in words if word in _PARAMETER_ATTRIBUTES))
