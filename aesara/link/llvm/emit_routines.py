"""Wrappers of library routines, which follow the conventions of C and Fortran.

``@routine.<name>(sizes, pointers)`` takes the sizes as 64-bit integers and a pointer for each array, in the order of
the record; a status is stored in its array. A routine for many elements takes the index of the first one and of the end
in addition.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from aesara.ir.expr import Expr, const, op
from aesara.ir.generators import HEADER, PARTS
from aesara.ir.instructions import InstructionWriter, Value
from aesara.ir.routine import (
    Bits,
    CArgument,
    Character,
    Column,
    ConstantPointer,
    Data,
    Element,
    ElementCount,
    Int64,
    Int64Array,
    Integer,
    Leading,
    Null,
    Number,
    Place,
    Pointers,
    Routine,
    RowPointer,
    Scratch,
    Status,
)
from aesara.link.llvm.module import Module
from aesara.link.llvm.primitives import convert_dtype, primitive
from aesara.link.llvm.typed_functions import add_function
from aesara.link.llvm.types import LLVM_TYPES, literal

__all__ = ["declare_routine"]

#: module of the typed functions that draw, which is imported on first use
DRAWS = "aesara.link.llvm.draws"


def declare_routine(routine: Routine, module: Module) -> str:
    """Return the symbol of the function for a routine, which is added to the module."""
    symbol = f"@routine.{routine.name}"
    if symbol not in module.helpers:
        wrapper = _Wrapper(routine, module)
        module.helper(symbol, wrapper.text_of_loop(symbol) if routine.each else wrapper.text(symbol))
    return symbol


class _Wrapper:
    def __init__(self, routine: Routine, module: Module) -> None:
        self.routine, self.module = routine, module
        self.writer = InstructionWriter()
        #: code before and after the call
        self.lines = self.writer.lines
        self.after: list[str] = []

    def text(self, symbol: str) -> str:
        routine = self.routine
        given = [f"i64 %size.{name}" for name in routine.sizes] + [f"ptr %at.{p.name}" for p in routine.parameters]
        arguments = [self._argument(argument) for argument in routine.arguments]
        kind = "void" if routine.returns is None else "i32"
        types = ", ".join(argument.split()[0] for argument in arguments)
        function = self._function(routine.symbol, kind, types)
        if routine.other is not None:
            condition, instead = routine.other
            other = self._function(instead, kind, types)
            pointers = (self.writer.value("ptr", name) for name in (other, function))
            function = self._value(condition).differs(0).select(*pointers).name
        called = f"call {kind} {function}({', '.join(arguments)})"
        if routine.one_thread is not None:
            self._keep_to_one_thread(routine, *routine.one_thread)
        if routine.returns is None:
            self.lines.append(called)
        else:
            self.lines.append(f"%returned = {called}")
            self._keep_status("%returned", routine.returns)
        body = "\n  ".join([*self.lines, *self.after, "ret void"])
        return f"define internal void {symbol}({', '.join(given)}) noinline optnone nounwind {{\nentry:\n  {body}\n}}"

    def _keep_to_one_thread(self, routine: Routine, least: float, most: float) -> None:
        """Limit the library to one thread during the call if the routine's work is from `least` to `most`."""
        self.module.declare("@threads.enter", "declare i1 @threads.enter(i1)")
        self.module.declare("@threads.leave", "declare void @threads.leave(i1)")
        self.module.externals |= {"threads.enter", "threads.leave"}
        work = self._value(routine.work.expression())
        short = work.compare("oge", self.writer.constant("double", least))
        short = short & work.compare("ole", self.writer.constant("double", most))
        entered = self.writer.emit("i1", f"call i1 @threads.enter({short.operand})")
        self.after.append(f"call void @threads.leave({entered.operand})")

    def text_of_loop(self, symbol: str) -> str:
        """Return a function that loops over the elements of a result."""
        routine = self.routine
        given = [f"i64 %size.{name}" for name in routine.sizes] + [f"ptr %at.{p.name}" for p in routine.parameters]
        before: list[str] = []
        arguments = [self._argument_in_loop(argument, before) for argument in routine.arguments]
        dtypes = {p.name: p.dtype for p in routine.parameters}
        kind, kept = "void", []
        if routine.gives:
            kind = LLVM_TYPES[dtypes[routine.gives]]
            pointer = f"%place = getelementptr {kind}, ptr %at.{routine.gives}, i64 %k"
            kept = [pointer, f"store {kind} %element, ptr %place"]
        types = ", ".join(one.split()[0] for argument in arguments for one in argument.split(", "))
        function = self._function(routine.symbol, kind, types)
        if any(isinstance(argument, ElementCount) for argument in routine.arguments):
            calls = [*before, *self.lines, f"call void {function}({', '.join(arguments)})", "ret void"]
            return self._define_range(symbol, given, calls)
        lines = [
            *before,
            "%some = icmp slt i64 %first, %last",
            "br i1 %some, label %loop, label %done",
            "loop:",
            "%k = phi i64 [%first, %entry], [%k.next, %loop]",
            *self.lines,
            f"{'%element = ' * bool(routine.gives)}call {kind} {function}({', '.join(arguments)})",
            *kept,
            "%k.next = add i64 %k, 1",
            "%more = icmp slt i64 %k.next, %last",
            "br i1 %more, label %loop, label %done",
            "done:",
            "ret void",
        ]
        return self._define_range(symbol, given, lines)

    @staticmethod
    def _define_range(symbol: str, given: Sequence[str], lines: Sequence[str]) -> str:
        body = "\n  ".join(lines)
        head = f"define internal void {symbol}({', '.join([*given, 'i64 %first', 'i64 %last'])})"
        return f"{head} noinline nounwind {{\nentry:\n  {body}\n}}"

    def _argument_in_loop(self, argument: CArgument, before: list[str]) -> str:
        """Return an argument as text; code for it is appended to `before`, or to the loop's body."""
        if isinstance(argument, Bits):
            words = f"%at.{argument.value}"
            before += [f"%state = getelementptr i8, ptr {words}, i64 {HEADER}", f"store ptr %state, ptr {words}"]
            for part in range(2):
                before += _set_part(words, part)
            return f"ptr {words}"
        if isinstance(argument, (Element, RowPointer)):
            name = argument.value
            (parameter,) = (p for p in self.routine.parameters if p.name == name)
            count, *rest = (size.attr for size in parameter.shape)
            kind = LLVM_TYPES[parameter.dtype]
            before += [f"%one.{name} = icmp eq i64 %size.{count}, 1"]
            number = "%first" if any(isinstance(one, ElementCount) for one in self.routine.arguments) else "%k"
            self.lines += [f"%which.{name} = select i1 %one.{name}, i64 0, i64 {number}"]
            if isinstance(argument, RowPointer):
                (length,) = rest
                self.lines += [
                    f"%first.{name} = mul i64 %which.{name}, %size.{length}",
                    f"%p.{name} = getelementptr {kind}, ptr %at.{name}, i64 %first.{name}",
                ]
                return f"ptr %p.{name}"
            self.lines += [
                f"%p.{name} = getelementptr {kind}, ptr %at.{name}, i64 %which.{name}",
                f"%x.{name} = load {kind}, ptr %p.{name}",
            ]
            return f"{kind} %x.{name}"
        if isinstance(argument, Int64):
            return f"i64 %size.{argument.value.attr}"
        if isinstance(argument, Column):
            name = argument.value
            (parameter,) = (p for p in self.routine.parameters if p.name == name)
            before += [
                f"%many.{name} = icmp ne i64 %size.{parameter.shape[0].attr}, 1",
                f"%step.{name} = zext i1 %many.{name} to i64",
                f"%which.{name} = mul i64 %first, %step.{name}",
                f"%p.{name} = getelementptr {LLVM_TYPES[parameter.dtype]}, ptr %at.{name}, i64 %which.{name}",
            ]
            return f"ptr %p.{name}, i64 %step.{name}"
        if isinstance(argument, ElementCount):
            before += ["%count = sub i64 %last, %first"]
            return "i64 %count"
        if isinstance(argument, Place):
            (parameter,) = (p for p in self.routine.parameters if p.name == argument.value)
            before += [f"%to = getelementptr {LLVM_TYPES[parameter.dtype]}, ptr %at.{argument.value}, i64 %first"]
            return "ptr %to"
        if isinstance(argument, Scratch):
            kind = f"[{argument.value // 8} x i64]"
            before += [f"%scratch = alloca {kind}, align 16", f"store {kind} zeroinitializer, ptr %scratch"]
            return "ptr %scratch"
        if isinstance(argument, Null):
            return "ptr null"
        assert isinstance(argument, Number)
        return f"{LLVM_TYPES[argument.value.dtype]} {literal(argument.value.attr, argument.value.dtype)}"

    def _function(self, symbol: str, kind: str, types: str) -> str:
        """Declare a C function, or add one of our own to the module; return its symbol."""
        if symbol.startswith("draw."):
            return add_function(self.module, importlib.import_module(DRAWS).drawing_function(symbol))
        self.module.declare(f"@{symbol}", f"declare {kind} @{symbol}({types})")
        self.module.externals.add(symbol)
        return f"@{symbol}"

    def _argument(self, argument: CArgument) -> str:
        """Return an argument as text, after emitting code for it."""
        if isinstance(argument, Character):
            name = f"@character.{argument.value}"
            return f"ptr {self.module.helper(name, f'{name} = private constant i8 {ord(argument.value)}')}"
        if isinstance(argument, (Integer, Leading)):
            given = argument.value
            value = self._value(given if isinstance(argument, Integer) else op("maximum", given, const(1)))
            return self._spill(value.narrow("i32")).operand
        if isinstance(argument, ConstantPointer):
            numbers: Sequence[Expr] = argument.value
            kind = LLVM_TYPES[numbers[0].dtype]
            values = ", ".join(f"{kind} {literal(e.attr, e.dtype)}" for e in numbers)
            name = ".".join(["@constant", kind, *(str(e.attr) for e in numbers)])
            return f"ptr {self.module.helper(name, f'{name} = private constant [{len(numbers)} x {kind}] [{values}]')}"
        if isinstance(argument, Int64):
            return self._value(argument.value).operand
        if isinstance(argument, Data):
            return f"ptr %at.{argument.value}"
        if isinstance(argument, Status):
            pointer = self._spill(self.writer.constant("i32", 0))
            loaded = self.writer.names.fresh()
            self.after.append(f"{loaded} = load i32, ptr {pointer}")
            self._keep_status(loaded, argument.value)
            return pointer.operand
        if isinstance(argument, Pointers):
            return self._stack_array("ptr", [self._argument(one).split()[1] for one in argument.value])
        if isinstance(argument, Int64Array):
            return self._stack_array("i64", [self._value(e).name for e in argument.value])
        assert isinstance(argument, Null)
        return "ptr null"

    def _stack_array(self, kind: str, values: list[str]) -> str:
        """Return an array on the stack."""
        w = self.writer
        pointer = w.emit("ptr", f"alloca [{len(values)} x {kind}]")
        for k, value in enumerate(values):
            w.store(w.value(kind, value), w.at(pointer, k, kind))
        return pointer.operand

    def _spill(self, value: Value) -> Value:
        """Store a value on the stack and return the pointer."""
        pointer = self.writer.emit("ptr", f"alloca {value.kind}")
        self.writer.store(value, pointer)
        return pointer

    def _keep_status(self, value: str, operand: str) -> None:
        wide = self.writer.names.fresh()
        self.after += [f"{wide} = sext i32 {value} to i64", f"store i64 {wide}, ptr %at.{operand}"]

    def _value(self, e: Expr) -> Value:
        kind = LLVM_TYPES[e.dtype]
        if e.op == "var":
            return self.writer.value(kind, f"%size.{e.attr}")
        if e.is_const:
            return self.writer.constant(kind, e.attr)
        if e.op == "cast":
            (given,) = e.args
            return convert_dtype(self._value(given), given.dtype, e.dtype)
        return primitive(self.module, e.op, e.dtype, *map(self._value, e.args))


def _set_part(words: str, part: int) -> list[str]:
    """Point the state of a generator to a part, if it exists; otherwise store the old pointer again."""
    at = f"%part{part}"
    return [
        f"{at}.p = getelementptr i8, ptr {words}, i64 {PARTS + 8 * part}",
        f"{at}.offset = load i64, ptr {at}.p",
        f"{at}.none = icmp eq i64 {at}.offset, 0",
        f"{at}.there = getelementptr i8, ptr {words}, i64 {at}.offset",
        f"{at}.slot = getelementptr i8, ptr %state, i64 {8 * part}",
        f"{at}.old = load ptr, ptr {at}.slot",
        f"{at}.new = select i1 {at}.none, ptr {at}.old, ptr {at}.there",
        f"store ptr {at}.new, ptr {at}.slot",
    ]
