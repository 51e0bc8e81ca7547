"""Small functions of a module written out where they are called, in its text.

LLVM would do the same.  But in a module without loops to make vectors of nothing else is left for its passes, and the
first use of them in a process takes as long as a quarter of the code generation.
"""

from __future__ import annotations

import re

__all__ = ["INLINED", "with_small_functions_inlined"]

#: the attribute of functions that are inlined: here, or by LLVM
INLINED = "alwaysinline"
#: by how many lines a text may grow for one function
_MOST = 100

#: a function of one block
_SMALL = re.compile(
    rf"(?m)^define internal (?P<kind>[^\n@]+) @(?P<name>[\w.]+)\((?P<parameters>[^\n]*?)\) {INLINED}[^\n]*\{{\n"
    r"(?:entry:\n)?(?P<body>(?:(?!br |switch |ret |[\w.]+:\n)[^\n]*\n)*)ret (?P<result>[^\n]+)\n\}\n*"
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
    tried: set[str] = set()
    while True:
        function = next((one for one in _SMALL.finditer(text) if one["name"] not in tried), None)
        if function is None:
            return text
        tried.add(function["name"])
        text = _inlined(text, function) or text


def _inlined(text: str, function: re.Match[str]) -> str | None:
    """The text with a function inlined, or None if it would get long or the calls are not all plain."""
    name, kind, body = function["name"], function["kind"], function["body"]
    count = text.count(f"@{name}(") - 1
    defined = _DEFINED.findall(body)
    result = function["result"].removeprefix(f"{kind} ")
    if body.count("\n") * (count - 1) > _MOST or "alloca" in body or (kind != "void" and result not in defined):
        return None
    parameters = [_DESCRIPTION.sub("", one).rpartition(" ") for one in function["parameters"].split(", ") if one]
    calls = re.compile(rf"(?m)^(?:(%[\w.]+) = )?call {re.escape(kind)} @{re.escape(name)}\(([^\n]*)\)$")
    made = 0

    def written_out(call: re.Match[str]) -> str:
        nonlocal made
        arguments = call[2].split(", ") if call[2] else []
        names = {}
        for argument, (kind_of_parameter, _, parameter) in zip(arguments, parameters, strict=True):
            kind_of_argument, _, value = argument.rpartition(" ")
            if kind_of_argument != kind_of_parameter:
                return call[0]
            names[parameter] = value
        prefix = call[1] or f"%{name}.{made}"
        names |= {one: f"{prefix}.{one[1:]}" for one in defined}
        if call[1]:
            names[result] = call[1]
        made += 1
        return _NAME.sub(lambda one: names[one[0]], body).removesuffix("\n")

    without = calls.sub(written_out, text[: function.start()] + text[function.end() :])
    return without if made == count else None
