"""Values of typed functions, and the emission of instructions for them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from aesara.ir.instructions import InstructionWriter, Value, literal, suffix
from aesara.ir.typed.types import (
    BOOL,
    FLOAT64,
    INT64,
    FloatType,
    IntType,
    PointerType,
    StructType,
    ValueType,
    VectorType,
    llvm_type,
    null,
)
from aesara.records import dataclass

__all__ = ["TypedPythonError", "TypedValue", "ValueWriter"]


class TypedPythonError(TypeError):
    """The source of a typed function has an unsupported construct or operands of different types."""


@dataclass(eq=False)
class TypedValue:
    """A value of a type, by its text in LLVM IR."""

    type: ValueType
    text: str

    @property
    def argument(self) -> str:
        """The type and the text, as in an argument list."""
        return f"{self.type.llvm} {self.text}"


_ARITHMETIC: dict[type, tuple[Callable[[Any, Any], Any], str, str, str]] = {
    # Python's operator, and the instructions for floats, signed and unsigned integers
    ast.Add: (operator.add, "fadd", "add", "add"),
    ast.Sub: (operator.sub, "fsub", "sub", "sub"),
    ast.Mult: (operator.mul, "fmul", "mul", "mul"),
    ast.Div: (operator.truediv, "fdiv", "", ""),
    ast.FloorDiv: (operator.floordiv, "", "sdiv", "udiv"),
    ast.Mod: (operator.mod, "", "srem", "urem"),
    ast.BitAnd: (operator.and_, "", "and", "and"),
    ast.BitOr: (operator.or_, "", "or", "or"),
    ast.BitXor: (operator.xor, "", "xor", "xor"),
    ast.LShift: (operator.lshift, "", "shl", "shl"),
    ast.RShift: (operator.rshift, "", "ashr", "lshr"),
    ast.Pow: (operator.pow, "", "", ""),
}
_COMPARISONS: dict[type, tuple[Callable[[Any, Any], Any], str, str, str]] = {
    ast.Lt: (operator.lt, "olt", "slt", "ult"),
    ast.LtE: (operator.le, "ole", "sle", "ule"),
    ast.Gt: (operator.gt, "ogt", "sgt", "ugt"),
    ast.GtE: (operator.ge, "oge", "sge", "uge"),
    ast.Eq: (operator.eq, "oeq", "eq", "eq"),
    ast.NotEq: (operator.ne, "une", "ne", "ne"),
}


_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


class ValueWriter:
    """Emits instructions for typed values and Python's numbers.

    Attributes
    ----------
    filename, line, name
        The source that is translated, for error messages.
    writer
        Writer of the function's body.
    stack
        Instructions at the beginning of the function that allocate arrays on the stack.
    declarations
        Declarations and definitions of other names, by name.
    """

    def __init__(self, filename: str, name: str) -> None:
        self.filename, self.line, self.name = filename, 0, name
        #: number of lines of the file before the first that `line` counts
        self.lines_before = 0
        self.writer = InstructionWriter()
        self.stack: list[str] = []
        self.declarations: dict[str, str] = {}

    def refuse(self, message: str) -> NoReturn:
        raise TypedPythonError(f"{message} ({self.filename}:{self.lines_before + self.line}, in {self.name})")

    def emit(self, kind: ValueType, instruction: str, stem: str = "t") -> TypedValue:
        """Append an instruction with a result."""
        name = self.writer.names.fresh(stem)
        self.writer.lines.append(f"{name} = {instruction}")
        return TypedValue(kind, name)

    def as_value(self, value: Any) -> TypedValue:
        """Return a value as an operand: Python's numbers have 64 bits."""
        if isinstance(value, TypedValue):
            return value
        if isinstance(value, bool):
            return self.like(BOOL, value)
        if isinstance(value, (int, float)):
            return self.like(FLOAT64 if isinstance(value, float) else INT64, value)
        if value is null:
            return TypedValue(PointerType(), "null")
        self.refuse(f"{value!r} is no value")

    def like(self, kind: ValueType, value: Any) -> TypedValue:
        """Return a value as an operand of a type; only Python's numbers and pointers are converted."""
        if isinstance(value, TypedValue):
            if value.type is kind:
                return value
            if value.type == kind or kind.llvm == value.type.llvm == "ptr":
                return TypedValue(kind, value.text)
            if isinstance(kind, VectorType) and value.type == kind.element:
                return self._splat(kind, value)
            self.refuse(f"a value of type {value.type!r} where {kind!r} is expected; convert it")
        if value is null and kind.llvm == "ptr":
            return TypedValue(kind, "null")
        element = kind.element if isinstance(kind, VectorType) else kind
        if isinstance(element, IntType) and isinstance(value, int):
            return TypedValue(kind, literal(kind.llvm, element(value)))
        if isinstance(element, FloatType) and isinstance(value, (int, float)):
            return TypedValue(kind, literal(kind.llvm, float(value)))
        self.refuse(f"{value!r} is no {kind!r}")

    def _splat(self, kind: VectorType, value: TypedValue) -> TypedValue:
        return TypedValue(kind, Value(self.writer, value.type.llvm, value.text).splat(kind.lanes).name)

    def cast(self, kind: ValueType, value: Any) -> TypedValue:
        """Convert a number."""
        if not isinstance(value, TypedValue):
            is_whole = isinstance(kind, IntType) and isinstance(value, float)
            return self.like(kind, int(value) if is_whole else value)
        source = value.type
        if source == kind or source.llvm == kind.llvm == "ptr":
            return TypedValue(kind, value.text)
        lanes = 0
        if isinstance(kind, VectorType) and not isinstance(source, VectorType):
            return self.like(kind, self.cast(kind.element, value))
        if isinstance(source, VectorType):
            lanes, source = source.lanes, source.element
            if isinstance(kind, VectorType):
                kind = kind.element
        whole: ValueType = VectorType(kind, lanes) if lanes and isinstance(kind, (IntType, FloatType)) else kind
        match source, kind:
            case IntType(), IntType():
                if source.bits == kind.bits:
                    return TypedValue(whole, value.text)
                wider = "sext" if source.signed else "zext"
                instruction = wider if kind.bits > source.bits else "trunc"
            case IntType(), FloatType():
                instruction = "sitofp" if source.signed else "uitofp"
            case FloatType(), IntType():
                instruction = "fptosi" if kind.signed else "fptoui"
            case FloatType(), FloatType():
                instruction = "fpext" if kind.bits > source.bits else "fptrunc"
            case _:
                self.refuse(f"no conversion of {source!r} to {kind!r}")
        return self.emit(whole, f"{instruction} {value.argument} to {whole.llvm}")

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def unary(self, op: ast.unaryop, value: Any) -> Any:
        if not isinstance(value, TypedValue):
            return _UNARY[type(op)](value)
        if isinstance(op, ast.Not):
            kind = value.type if isinstance(value.type, VectorType) else BOOL
            return self.emit(kind, f"xor {self.like(kind, value).argument}, {self.like(kind, True).text}")
        if isinstance(op, ast.USub) and is_float(value.type):
            return self.emit(value.type, f"fneg {value.argument}")
        if isinstance(op, ast.USub):
            return self.binary(ast.Sub(), 0, value)
        if isinstance(op, ast.Invert):
            return self.binary(ast.BitXor(), value, -1)
        self.refuse("typed Python has no unary +")

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if type(op) not in _ARITHMETIC:
            self.refuse("typed Python has no such operator")
        of_numbers, of_floats, signed, unsigned = _ARITHMETIC[type(op)]
        if not isinstance(left, TypedValue) and not isinstance(right, TypedValue):
            return of_numbers(left, right)
        kind = left.type if isinstance(left, TypedValue) else right.type
        if isinstance(kind, PointerType):
            return self._shift(op, left, right)
        a, b = self.like(kind, left), self.like(kind, right)
        if is_float(kind):
            instruction = of_floats
        else:
            element = kind.element if isinstance(kind, VectorType) else kind
            if not isinstance(element, IntType):
                self.refuse(f"no arithmetic with {kind}")
            if isinstance(op, (ast.FloorDiv, ast.Mod)):
                if isinstance(right, int) and right > 0 and right & (right - 1) == 0:
                    return self._divide_by_power(op, a, right)
                if element.signed:
                    return self._floor_divide(op, a, b)
            instruction = signed if element.signed else unsigned
        if not instruction:
            self.refuse(f"no such operation on {kind}")
        return self.emit(kind, f"{instruction} {kind.llvm} {a.text}, {b.text}")

    def _divide_by_power(self, op: ast.operator, a: TypedValue, divisor: int) -> Any:
        """Return a quotient by a power of two rounded down, or its remainder."""
        if isinstance(op, ast.FloorDiv):
            return self.binary(ast.RShift(), a, divisor.bit_length() - 1)
        return self.binary(ast.BitAnd(), a, divisor - 1)

    def _floor_divide(self, op: ast.operator, a: TypedValue, b: TypedValue) -> Any:
        """Return a quotient rounded down, or its remainder, which has the sign of the divisor."""
        kind = a.type
        rest = self.emit(kind, f"srem {kind.llvm} {a.text}, {b.text}")
        signs_differ = self.compare(ast.Lt, self.binary(ast.BitXor(), rest, b), 0)
        low = self.binary(ast.BitAnd(), self.compare(ast.NotEq, rest, 0), signs_differ)
        if isinstance(op, ast.Mod):
            return self.select(low, self.binary(ast.Add(), rest, b), rest)
        quotient = self.emit(kind, f"sdiv {kind.llvm} {a.text}, {b.text}")
        return self.binary(ast.Sub(), quotient, self.emit(kind, f"zext {low.argument} to {kind.llvm}"))

    def _shift(self, op: ast.operator, pointer: Any, count: Any) -> TypedValue:
        """Return a pointer some elements further on."""
        kind = pointer.type if isinstance(pointer, TypedValue) else None
        if not (isinstance(op, ast.Add) and isinstance(kind, PointerType) and kind.target is not None):
            self.refuse("a pointer to elements plus a number of elements is the only arithmetic with pointers")
        return TypedValue(kind, self.element(pointer, count)[0])

    def compare(self, op: type, left: Any, right: Any) -> Any:
        """Return a comparison, by a class of `ast`."""
        if op is ast.Is or op is ast.IsNot:
            op = ast.Eq if op is ast.Is else ast.NotEq
        if op not in _COMPARISONS:
            self.refuse("typed Python has no such comparison")
        of_numbers, of_floats, signed, unsigned = _COMPARISONS[op]
        if not isinstance(left, TypedValue) and not isinstance(right, TypedValue):
            return of_numbers(left, right)
        kind = left.type if isinstance(left, TypedValue) else right.type
        a, b = self.like(kind, left), self.like(kind, right)
        element = kind.element if isinstance(kind, VectorType) else kind
        if isinstance(element, FloatType):
            return self.compare_floats(of_floats, a, b)
        is_signed = isinstance(element, IntType) and element.signed
        predicate = signed if is_signed else unsigned
        return self.emit(_truth_type(kind), f"icmp {predicate} {kind.llvm} {a.text}, {b.text}")

    def compare_floats(self, predicate: str, left: TypedValue, right: Any) -> TypedValue:
        """Return a comparison of floats by a predicate of LLVM's `fcmp`."""
        b = self.like(left.type, right)
        return self.emit(_truth_type(left.type), f"fcmp {predicate} {left.argument}, {b.text}")

    def select(self, condition: TypedValue, yes: Any, no: Any) -> TypedValue:
        """Return one of two values by a condition."""
        kind = next((v.type for v in (yes, no) if isinstance(v, TypedValue)), None)
        a, b = (self.like(kind, v) if kind else self.as_value(v) for v in (yes, no))
        return self.emit(a.type, f"select {condition.argument}, {a.argument}, {b.argument}")

    def extreme(self, comparison: type, a: Any, b: Any) -> Any:
        """Return Python's `min` or `max` of two: the first extreme value."""
        if not isinstance(a, TypedValue) and not isinstance(b, TypedValue):
            return min(a, b) if comparison is ast.Lt else max(a, b)
        return self.select(self.compare(comparison, b, a), b, a)

    # -- memory ------------------------------------------------------------------------------------------------------

    def element(self, base: Any, index: Any) -> tuple[str, ValueType]:
        """Return the address and the type of an element."""
        if not (isinstance(base, TypedValue) and isinstance(base.type, PointerType) and base.type.target is not None):
            self.refuse("only a pointer to elements has elements")
        target = base.type.target
        at = index if isinstance(index, TypedValue) else TypedValue(INT64, str(index))
        if isinstance(at.type, IntType) and not at.type.signed and at.type.bits < 64:
            at = self.cast(INT64, at)
        if at.text == "0":
            return base.text, target
        return self.emit(base.type, f"getelementptr {target.llvm}, ptr {base.text}, {at.argument}", "p").text, target

    def field(self, base: Any, name: str) -> tuple[str, ValueType | None]:
        """Return the address and the type of a field; the type is None for a function."""
        if not (isinstance(base, TypedValue) and isinstance(base.type, StructType)):
            self.refuse(f"only a structure has fields, such as {name}")
        try:
            field, kind = base.type.cls.field_named(name)
        except AttributeError as error:
            self.refuse(str(error))
        return self.address(base, field.offset), kind

    def address(self, base: TypedValue, offset: Any) -> str:
        """Return a pointer some bytes further on, as text."""
        text = offset.text if isinstance(offset, TypedValue) else str(offset)
        if text == "0":
            return base.text
        return self.emit(PointerType(), f"getelementptr i8, ptr {base.text}, i64 {text}", "p").text

    def load(self, kind: ValueType, pointer: str) -> TypedValue:
        return self.emit(kind, f"load {kind.llvm}, ptr {pointer}{_alignment(kind)}", "x")

    def store(self, kind: ValueType, value: Any, pointer: str) -> None:
        self.writer.add(f"store {self.like(kind, value).argument}, ptr {pointer}{_alignment(kind)}")

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(
        self, function: str, result: ValueType | None, parameters: Sequence[ValueType], arguments: Sequence[Any]
    ) -> TypedValue | None:
        """Call a function by its symbol or address."""
        if len(arguments) != len(parameters):
            self.refuse(f"{function} takes {len(parameters)} arguments, not {len(arguments)}")
        passed = ", ".join(self.like(kind, one).argument for kind, one in zip(parameters, arguments))
        text = f"call {llvm_type(result)} {function}({passed})"
        if result is None:
            self.writer.add(text)
            return None
        return self.emit(result, text)

    def intrinsic(self, name: str, *operands: TypedValue) -> TypedValue:
        """Call an intrinsic on operands of one type, with a result of this type."""
        kind = operands[0].type
        symbol = f"@llvm.{name}.{suffix(kind.llvm)}"
        self.declarations[symbol] = f"declare {kind.llvm} {symbol}({', '.join([kind.llvm] * len(operands))})"
        return self.emit(kind, f"call {kind.llvm} {symbol}({', '.join(one.argument for one in operands)})")


def _alignment(kind: ValueType) -> str:
    """Return the alignment to state: memory is aligned to words, which is less than LLVM takes for 128 bits."""
    return ", align 8" if isinstance(kind, IntType) and kind.bits > 64 else ""


def _truth_type(kind: ValueType) -> ValueType:
    """Return the type of comparisons."""
    return VectorType(BOOL, kind.lanes) if isinstance(kind, VectorType) else BOOL


def is_float(kind: ValueType) -> bool:
    return isinstance(kind.element if isinstance(kind, VectorType) else kind, FloatType)
