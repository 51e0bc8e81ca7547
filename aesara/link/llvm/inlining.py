"""Inlining of small functions of a module.

LLVM would do the same. But in a module without loops to vectorize its passes have nothing else to do, and their first
use in a process takes as long as a quarter of the code generation.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from aesara.ir.definitions import FunctionDefinition
from aesara.ir.instructions import CallInstruction, rename_values
from aesara.link.llvm.module import Module

__all__ = ["inline_small_functions"]

#: maximum number of lines by which a module may grow for one function
_MAX_GROWTH = 100


def inline_small_functions(module: Module) -> None:
    """Inline functions of one block that are called rarely; LLVM has to inline the others.

    Examples
    --------
    >>> from aesara.ir.definitions import FunctionParameter
    >>> n, m, module = FunctionParameter("i64", "%n"), FunctionParameter("i64", "%m"), Module()
    >>> double = ["%t.1 = add i64 %n, 0", "%t.2 = add i64 %t.1, %n", "ret i64 %t.2"]
    >>> module.add(FunctionDefinition("@double", "i64", [n], "alwaysinline nounwind", double))
    >>> call = CallInstruction("%x.1", "i64", "@double", ["i64 %m"])
    >>> module.add(FunctionDefinition("@f", "i64", [m], "nounwind", [call, "ret i64 %x.1"]))
    >>> inline_small_functions(module)
    >>> print(module.text())
    define internal i64 @f(i64 %m) nounwind {
    %x.1.t.1 = add i64 %m, 0
    %x.1 = add i64 %x.1.t.1, %m
    ret i64 %x.1
    }
    <BLANKLINE>
    <BLANKLINE>
    """
    serial = itertools.count()
    while _inline_some(module, serial):
        pass


def _inline_some(module: Module, serial: Iterator[int]) -> bool:
    """Inline calls of small functions, and return whether some functions have been removed."""
    inlined = [one for one in module.function_definitions() if one.is_inlined and _is_one_block(one)]
    if not inlined:
        return False
    calls = _count_calls(module, inlined)
    bodies = {function.name: _Body(function) for function in inlined}
    small = {name: body for name, body in bodies.items() if body.is_small(calls[name])}
    if not small:
        return False
    module.rewrite(lambda function: _inline_calls(function, small, serial))
    # Functions that others called are in these now, and functions with other calls stay.
    calls = _count_calls(module, inlined)
    unused = {name for name in small if not calls[name]}
    module.rewrite(lambda function: None if function.name in unused else function)
    return bool(unused)


def _is_one_block(function: FunctionDefinition) -> bool:
    """Return whether an internal function is one block of instructions."""
    lines = function.lines[function.lines[0] == "entry:" : -1]
    return function.linkage == "internal" and all(line.startswith(("%", "store ", "call ")) for line in lines)


def _count_calls(module: Module, functions: list[FunctionDefinition]) -> Counter[str]:
    """Return the numbers of calls of functions, by name."""
    calls: Counter[str] = Counter()
    others = []
    for function in module.function_definitions():
        for line in function.lines:
            if type(line) is CallInstruction:
                calls[line.function] += 1
            elif "@" in line:
                others.append(line)
    text = "\n".join(others)
    for function in functions:
        calls[function.name] += text.count(f"{function.name}(")
    return calls


class _Body:
    """The body of a function of one block."""

    def __init__(self, function: FunctionDefinition) -> None:
        self.kind = function.result
        self.parameters = function.parameters
        *self.lines, last = function.lines[function.lines[0] == "entry:" :]
        self.result = last.removeprefix(f"ret {self.kind} ")
        self.defined = [line.partition(" = ")[0] for line in self.lines if line[0] == "%"]

    def is_small(self, calls: int) -> bool:
        """Return whether so many calls can be inlined without making the module long."""
        growth = len(self.lines) * (calls - 1)
        returns_own_value = self.kind == "void" or self.result in self.defined
        return growth <= _MAX_GROWTH and returns_own_value and not any("alloca" in line for line in self.lines)

    def expand(self, call: CallInstruction, serial: Iterator[int]) -> list[str]:
        """Return the body with the arguments of a call and names of its own; the call itself if the types differ."""
        arguments = [argument.rpartition(" ")[::2] for argument in call.arguments]
        if call.kind != self.kind or [kind for kind, _ in arguments] != [one.kind for one in self.parameters]:
            return [call]
        prefix = call.result or f"%inlined.{next(serial)}"
        names = {name: f"{prefix}.{name[1:]}" for name in self.defined}
        names |= {parameter.name: value for parameter, (_, value) in zip(self.parameters, arguments)}
        if call.result:
            names[self.result] = call.result
        return [
            line.with_names(names) if isinstance(line, CallInstruction) else rename_values(line, names)
            for line in self.lines
        ]


def _inline_calls(
    function: FunctionDefinition, bodies: Mapping[str, _Body], serial: Iterator[int]
) -> FunctionDefinition:
    """Return a function with some calls replaced by the bodies of what they call."""
    if not any(type(line) is CallInstruction and line.function in bodies for line in function.lines):
        return function
    lines: list[str] = []
    for line in function.lines:
        if type(line) is CallInstruction and line.function in bodies:
            lines += bodies[line.function].expand(line, serial)
        else:
            lines.append(line)
    return replace(function, lines=lines)
