"""Library routines as functions of a module, with the conventions of C and Fortran behind them.

``@routine.<name>(sizes, pointers)`` takes the sizes as 64-bit integers and a pointer for each array, in the order of
the record, and returns nothing: a status goes to its array.
"""

from __future__ import annotations

from aesara.ir.expr import Expr, const, op
from aesara.ir.routine import Argument, Character, Constant, Data, Integer, Leading, Length, Null, Routine, Status
from aesara.link.llvm.primitives import LLVM_TYPES, Module, instructions, literal

__all__ = ["declare_routine"]


def declare_routine(routine: Routine, module: Module) -> str:
    """The symbol of the function for a routine, which is put into the module."""
    symbol = f"@routine.{routine.name}"
    if symbol not in module.helpers:
        module.helper(symbol, _Wrapper(routine, module).text(symbol))
    return symbol


class _Wrapper:
    def __init__(self, routine: Routine, module: Module) -> None:
        self.routine, self.module = routine, module
        self.lines: list[str] = []
        self.after: list[str] = []
        self.count = 0

    def text(self, symbol: str) -> str:
        routine = self.routine
        given = [f"i64 %size.{name}" for name in routine.sizes] + [f"ptr %at.{p.name}" for p in routine.parameters]
        taken = [self._argument(argument) for argument in routine.arguments]
        kind = "void" if routine.returns is None else "i32"
        function = f"@{routine.symbol}"
        types = ", ".join(argument.split()[0] for argument in taken)
        self.module.declare(function, f"declare {kind} {function}({types})")
        self.module.externals.add(routine.symbol)
        called = f"call {kind} {function}({', '.join(taken)})"
        if routine.returns is None:
            self.lines.append(called)
        else:
            self.lines.append(f"%returned = {called}")
            self._keep_status("%returned", routine.returns)
        body = "\n  ".join([*self.lines, *self.after, "ret void"])
        return f"define internal void {symbol}({', '.join(given)}) noinline optnone nounwind {{\nentry:\n  {body}\n}}"

    def _fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def _argument(self, argument: Argument) -> str:
        """The argument as text, after the lines that it needs."""
        if isinstance(argument, Character):
            name = f"@character.{argument.value}"
            return f"ptr {self.module.helper(name, f'{name} = private constant i8 {ord(argument.value)}')}"
        if isinstance(argument, (Integer, Leading)):
            place, narrow = self._fresh(), self._fresh()
            given = argument.value
            value = self._value(given if isinstance(argument, Integer) else op("maximum", given, const(1)))
            self.lines += [
                f"{place} = alloca i32", f"{narrow} = trunc i64 {value} to i32", f"store i32 {narrow}, ptr {place}"
            ]  # fmt: skip
            return f"ptr {place}"
        if isinstance(argument, Constant):
            kind, value = LLVM_TYPES[argument.value.dtype], literal(argument.value.attr, argument.value.dtype)
            name = f"@constant.{kind}.{argument.value.attr}"
            return f"ptr {self.module.helper(name, f'{name} = private constant {kind} {value}')}"
        if isinstance(argument, Length):
            return f"i64 {self._value(argument.value)}"
        if isinstance(argument, Data):
            return f"ptr %at.{argument.value}"
        if isinstance(argument, Status):
            place, value = self._fresh(), self._fresh()
            self.lines += [f"{place} = alloca i32", f"store i32 0, ptr {place}"]
            self.after.append(f"{value} = load i32, ptr {place}")
            self._keep_status(value, argument.value)
            return f"ptr {place}"
        assert isinstance(argument, Null)
        return "ptr null"

    def _keep_status(self, value: str, operand: str) -> None:
        wide = self._fresh()
        self.after += [f"{wide} = sext i32 {value} to i64", f"store i64 {wide}, ptr %at.{operand}"]

    def _value(self, e: Expr) -> str:
        if e.op == "var":
            return f"%size.{e.attr}"
        if e.is_const:
            return literal(e.attr, e.dtype)
        out = self._fresh()
        operands = [self._value(a) for a in e.args]
        self.lines += instructions(e.op, e.dtype, operands, out, self.module, lambda stem: self._fresh())
        return out
