"""Small functions of a module written out where they are called, in its text.

LLVM would do the same.  But in a module without loops to make vectors of nothing else is left for its passes, and the
first use of them in a process takes as long as a quarter of the code generation.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

__all__ = ["INLINED", "with_small_functions_inlined"]

#: the attribute of functions that are inlined: here, or by LLVM
INLINED = "alwaysinline"
#: by how many lines a text may grow for one function
_MOST = 100

#: a function of one block
_SMALL = re.compile(
    rf"(?m)^define internal (?P<kind>[^\n@]+) @(?P<name>[\w.]+)\((?P<parameters>[^\n]*?)\) {INLINED}[^\n]*\{{\n"
    r"(?:entry:\n)?(?P<body>(?:(?:%[\w.]+ = |store |call )[^\n]*\n)*)ret (?P<result>[^\n]+)\n\}\n*"
)
#: a call of which nothing is said but its arguments
_CALL = re.compile(
    r"(?m)^(?:(?P<result>%[\w.]+) = )?call (?P<kind>[^\n@%]+) @(?P<name>[\w.]+)\((?P<arguments>[^\n]*)\)$"
)
_NAME = re.compile(r"%[\w.]+")
_DEFINED = re.compile(r"(?m)^(%[\w.]+) = ")
#: what a parameter has beside its type and its name
_DESCRIPTION = re.compile(r" (?:readonly|noalias)\b")


def with_small_functions_inlined(text: str) -> str:
    """The text without those functions of one block that are called rarely; LLVM has to inline the others.

    Examples
    --------
    >>> print(with_small_functions_inlined('''\\
    ... define internal i64 @twice(i64 %a) alwaysinline nounwind {
    ... %t.1 = add i64 %a, 0
    ... %t.2 = add i64 %t.1, %a
    ... ret i64 %t.2
    ... }
    ... define i64 @f(i64 %n) {
    ... %x.1 = call i64 @twice(i64 %n)
    ... ret i64 %x.1
    ... }'''))
    define i64 @f(i64 %n) {
    %x.1.t.1 = add i64 %n, 0
    %x.1 = add i64 %x.1.t.1, %n
    ret i64 %x.1
    }
    """
    serial = itertools.count()
    some = True
    while some:
        text, some = _without_some(text, serial)
    return text


def _without_some(text: str, serial: Iterator[int]) -> tuple[str, bool]:
    """The text with calls of small functions written out, and whether it needs fewer functions now."""
    found = [_Function(match) for match in _SMALL.finditer(text)]
    small = {function.name: function for function in found if function.is_small(text)}
    if not small:
        return text, False
    text = _CALL.sub(lambda call: _written_out(call, small, serial), text)
    # What another one has called is in the text once more, and what is not called plainly stays.
    unused = {name for name in small if text.count(f"@{name}(") == 1}
    return _SMALL.sub(lambda match: "" if match["name"] in unused else match[0], text), bool(unused)


class _Function:
    def __init__(self, match: re.Match[str]) -> None:
        self.name, self.kind, self.body = match["name"], match["kind"], match["body"]
        self.result = match["result"].removeprefix(f"{self.kind} ")
        self.defined = _DEFINED.findall(self.body)
        described = _DESCRIPTION.sub("", match["parameters"])
        #: each parameter: its type and its name
        self.parameters = [one.rpartition(" ")[::2] for one in described.split(", ") if one]

    def is_small(self, text: str) -> bool:
        """Return whether it can be inlined without making the text long."""
        growth = self.body.count("\n") * (text.count(f"@{self.name}(") - 2)
        gives_its_own = self.kind == "void" or self.result in self.defined
        return growth <= _MOST and gives_its_own and "alloca" not in self.body


def _written_out(call: re.Match[str], functions: dict[str, _Function], serial: Iterator[int]) -> str:
    """The body of the function that is called, with names of its own, or the call as it is."""
    function = functions.get(call["name"])
    if function is None or call["kind"] != function.kind:
        return call[0]
    arguments = [one.rpartition(" ")[::2] for one in call["arguments"].split(", ") if one]
    if [kind for kind, _ in arguments] != [kind for kind, _ in function.parameters]:
        return call[0]
    prefix = call["result"] or f"%inlined.{next(serial)}"
    names = {one: f"{prefix}.{one[1:]}" for one in function.defined}
    names |= {name: value for (_, name), (_, value) in zip(function.parameters, arguments)}
    if call["result"]:
        names[function.result] = call["result"]
    return _NAME.sub(lambda one: names[one[0]], function.body).removesuffix("\n")
