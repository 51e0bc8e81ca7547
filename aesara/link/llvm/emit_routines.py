"""Wrappers of library routines, which follow the conventions of C and Fortran.

``@routine.<name>(sizes, pointers)`` takes the sizes as 64-bit integers and a pointer for each array, in the order of
the record; a status is stored in its array. A routine for many elements takes the index of the first one and of the end
in addition.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from aesara.ir.definitions import FunctionDefinition, FunctionParameter
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
        module.helper(symbol, wrapper.elements(symbol) if routine.each else wrapper.single_call(symbol))
    return symbol


class _Wrapper:
    """Writes the wrapper of a routine."""

    def __init__(self, routine: Routine, module: Module) -> None:
        self.routine, self.module = routine, module
        self.writer = writer = InstructionWriter()
        self.parameters = {p.name: p for p in routine.parameters}
        self.sizes = {name: writer.value("i64", f"%size.{name}") for name in routine.sizes}
        self.pointers = {name: writer.value("ptr", f"%at.{name}") for name in self.parameters}
        #: pointers to statuses, and names of the arrays to store them to
        self.statuses: list[tuple[Value, str]] = []

    def _definition(self, symbol: str, attributes: str, *more: Value) -> FunctionDefinition:
        given = (*self.sizes.values(), *self.pointers.values(), *more)
        parameters = [FunctionParameter(value.kind, value.name) for value in given]
        return FunctionDefinition(symbol, "void", parameters, attributes, ["entry:", *self.writer.lines, "ret void"])

    # -- one call --------------------------------------------------------------------------------------------

    def single_call(self, symbol: str) -> FunctionDefinition:
        """Return a function that calls the C function once."""
        routine, w = self.routine, self.writer
        arguments = [self._argument(argument) for argument in routine.arguments]
        kind = "void" if routine.returns is None else "i32"
        function = self._function(routine.symbol, kind, arguments)
        if routine.other is not None:
            condition, instead = routine.other
            pointers = (w.value("ptr", name) for name in (self._function(instead, kind, arguments), function))
            function = self._value(condition).differs(0).select(*pointers).name
        entered = None if routine.one_thread is None else self._limit_threads(*routine.one_thread)
        if routine.returns is None:
            w.call_void(function, *arguments)
        else:
            self._store_status(w.call(kind, function, *arguments), routine.returns)
        if entered is not None:
            w.call_void("@threads.leave", entered)
        for pointer, operand in self.statuses:
            self._store_status(w.load("i32", pointer), operand)
        return self._definition(symbol, "noinline optnone nounwind")

    def _limit_threads(self, least: float, most: float) -> Value:
        """Limit the library to one thread if the routine's work is in a range; return an argument of `leave`."""
        self.module.declare("@threads.enter", "declare i1 @threads.enter(i1)")
        self.module.declare("@threads.leave", "declare void @threads.leave(i1)")
        self.module.externals |= {"threads.enter", "threads.leave"}
        work = self._value(self.routine.work.expression())
        return self.writer.call("i1", "@threads.enter", work.compare("oge", least) & work.compare("ole", most))

    def _argument(self, argument: CArgument) -> Value:
        w = self.writer
        if isinstance(argument, Character):
            return self._constant(f"@character.{argument.value}", f"i8 {ord(argument.value)}")
        if isinstance(argument, (Integer, Leading)):
            given = argument.value
            value = self._value(given if isinstance(argument, Integer) else op("maximum", given, const(1)))
            return self._stack_array([value.narrow("i32")])
        if isinstance(argument, ConstantPointer):
            numbers: Sequence[Expr] = argument.value
            kind = LLVM_TYPES[numbers[0].dtype]
            values = ", ".join(f"{kind} {literal(e.attr, e.dtype)}" for e in numbers)
            name = ".".join(["@constant", kind, *(str(e.attr) for e in numbers)])
            return self._constant(name, f"[{len(numbers)} x {kind}] [{values}]")
        if isinstance(argument, Int64):
            return self._value(argument.value)
        if isinstance(argument, Data):
            return self.pointers[argument.value]
        if isinstance(argument, Status):
            pointer = self._stack_array([w.constant("i32", 0)])
            self.statuses.append((pointer, argument.value))
            return pointer
        if isinstance(argument, Pointers):
            return self._stack_array([self._argument(one) for one in argument.value])
        if isinstance(argument, Int64Array):
            return self._stack_array([self._value(e) for e in argument.value])
        assert isinstance(argument, Null)
        return w.value("ptr", "null")

    def _constant(self, name: str, value: str) -> Value:
        return self.writer.value("ptr", self.module.helper(name, f"{name} = private constant {value}"))

    def _stack_array(self, values: Sequence[Value]) -> Value:
        """Return a pointer to values on the stack."""
        w, kind = self.writer, values[0].kind
        pointer = w.emit("ptr", f"alloca [{len(values)} x {kind}]")
        for k, value in enumerate(values):
            w.store(value, w.at(pointer, k, kind) if k else pointer)
        return pointer

    def _store_status(self, status: Value, operand: str) -> None:
        self.writer.store(status.convert("sext", "i64"), self.pointers[operand])

    # -- elements --------------------------------------------------------------------------------------------

    def elements(self, symbol: str) -> FunctionDefinition:
        """Return a function that computes the elements of a result from a first one on."""
        routine, w = self.routine, self.writer
        first, end = w.value("i64", "%first"), w.value("i64", "%last")
        makers = [self._element_argument(argument, end) for argument in routine.arguments]
        kind = LLVM_TYPES[self.parameters[routine.gives].dtype] if routine.gives else "void"

        def call(number: Value) -> list[Value]:
            arguments = [argument for make in makers for argument in make(number)]
            function = self._function(routine.symbol, kind, arguments)
            if routine.gives:
                element = w.call(kind, function, *arguments)
                w.store(element, w.at(self.pointers[routine.gives], number, kind))
            else:
                w.call_void(function, *arguments)
            return []

        if any(isinstance(argument, ElementCount) for argument in routine.arguments):
            call(first)
        else:
            w.counted_loop(end, [], call, first)
        return self._definition(symbol, "noinline nounwind", first, end)

    def _element_argument(self, argument: CArgument, end: Value) -> Callable[[Value], list[Value]]:
        """Write the code before the loop for an argument; return a function that writes the values for an element."""
        w = self.writer
        if isinstance(argument, (Element, RowPointer, Column, Place)):
            return self._operand_argument(argument)
        if isinstance(argument, ElementCount):
            return lambda number: [end - number]
        if isinstance(argument, Bits):
            value = self.pointers[argument.value]
            self._set_state(value)
        elif isinstance(argument, Int64):
            value = self.sizes[argument.value.attr]
        elif isinstance(argument, Scratch):
            words = w.value(f"[{argument.value // 8} x i64]", "zeroinitializer")
            value = w.emit("ptr", f"alloca {words.kind}, align 16")
            w.store(words, value)
        elif isinstance(argument, Null):
            value = w.value("ptr", "null")
        else:
            assert isinstance(argument, Number)
            value = w.value(LLVM_TYPES[argument.value.dtype], literal(argument.value.attr, argument.value.dtype))
        return lambda number: [value]

    def _operand_argument(self, argument: CArgument) -> Callable[[Value], list[Value]]:
        """Return a function that writes the values for an element of an array, which may have only one."""
        w, pointer, parameter = self.writer, self.pointers[argument.value], self.parameters[argument.value]
        kind = LLVM_TYPES[parameter.dtype]
        if isinstance(argument, Place):
            return lambda number: [w.at(pointer, number, kind)]
        count = self.sizes[parameter.shape[0].attr]
        if isinstance(argument, Column):
            stride = count.differs(1).widen("i64")
            return lambda number: [w.at(pointer, number * stride, kind), stride]
        is_one = count.equals(1)
        if isinstance(argument, RowPointer):
            length = self.sizes[parameter.shape[1].attr]
            return lambda number: [w.at(pointer, is_one.select(0, number) * length, kind)]
        return lambda number: [w.load(kind, w.at(pointer, is_one.select(0, number), kind))]

    def _set_state(self, words: Value) -> None:
        """Store the pointers in the words of a generator: to its state, and in this to the parts that exist."""
        w = self.writer
        state = w.at(words, HEADER)
        w.store(state, words)
        for part in range(2):
            offset = w.load("i64", w.at(words, PARTS + 8 * part))
            place = w.at(state, 8 * part)
            old = w.load("ptr", place)
            w.store(offset.equals(0).select(old, w.at(words, offset)), place)

    # -- values ----------------------------------------------------------------------------------------------

    def _function(self, symbol: str, kind: str, arguments: Sequence[Value]) -> str:
        """Declare a C function, or add one of our own to the module; return its symbol."""
        if symbol.startswith("draw."):
            return add_function(self.module, importlib.import_module(DRAWS).drawing_function(symbol))
        types = ", ".join(argument.kind for argument in arguments)
        self.module.declare(f"@{symbol}", f"declare {kind} @{symbol}({types})")
        self.module.externals.add(symbol)
        return f"@{symbol}"

    def _value(self, e: Expr) -> Value:
        if e.op == "var":
            return self.sizes[e.attr]
        if e.is_const:
            return self.writer.constant(LLVM_TYPES[e.dtype], e.attr)
        if e.op == "cast":
            (given,) = e.args
            return convert_dtype(self._value(given), given.dtype, e.dtype)
        return primitive(self.module, e.op, e.dtype, *map(self._value, e.args))
