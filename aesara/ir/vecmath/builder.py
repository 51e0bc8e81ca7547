"""A tiny expression helper that writes straight-line LLVM IR.

A formula is an ordinary Python function over `Value` objects; every arithmetic operator appends one
instruction to the `FunctionBuilder` the value belongs to. Nothing here carries fast-math flags: only `fma_add`
(``llvm.fma``) is fused, on every processor, so that results are the same everywhere and exact steps stay exact
whatever surrounds the inlined function.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeAlias

from aesara.records import dataclass


@dataclass(frozen=True)
class Format:
    """Facts about one IEEE binary format and the LLVM types that hold it."""

    dtype: str
    llvm: str
    integer: str
    suffix: str
    bits: int
    fraction_bits: int
    bias: int

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1

    @property
    def sign_bits(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def round_magic(self) -> float:
        """Adding this number rounds to an integer, which then stands in the low bits of the sum."""
        return 1.5 * 2.0**self.fraction_bits


FLOAT64 = Format("float64", "double", "i64", "f64", 64, 52, 1023)
FLOAT32 = Format("float32", "float", "i32", "f32", 32, 23, 127)
FORMATS = {format.dtype: format for format in (FLOAT64, FLOAT32)}

_BIT_WIDTH = {"i1": 1, "i32": 32, "i64": 64, "i128": 128}
_FLOAT_SUFFIX = {"double": "f64", "float": "f32"}


def _literal(type_: str, number: float | int | bool) -> str:
    """The LLVM spelling of a constant; floating constants are written in hexadecimal, hence exact."""
    if type_ in _FLOAT_SUFFIX:
        number = float(number)
        if type_ == "float":
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if type_ == "i1":
        return "true" if number else "false"
    width = _BIT_WIDTH[type_]
    number = int(number) & ((1 << width) - 1)
    return str(number - (1 << width) if number >> (width - 1) else number)


Operand: TypeAlias = "Value | float"  # int counts as float


class Value:
    """An SSA value; operators append instructions."""

    __slots__ = ("function", "name", "type")

    def __init__(self, function: FunctionBuilder, type_: str, name: str):
        self.function = function
        self.type = type_
        self.name = name

    @property
    def is_float(self) -> bool:
        return self.type in _FLOAT_SUFFIX

    def _operate(self, float_op: str | None, int_op: str | None, left: Operand, right: Operand) -> Value:
        op = float_op if self.is_float else int_op
        if op is None:
            raise TypeError(f"no such operation on {self.type}")
        return self.function.emit(self.type, f"{op} {self.type} {self._lift(left)}, {self._lift(right)}")

    def _lift(self, other: Operand) -> str:
        if isinstance(other, Value):
            if other.type != self.type:
                raise TypeError(f"operands of type {self.type} and {other.type}")
            return other.name
        return _literal(self.type, other)

    def __add__(self, other: Operand) -> Value:
        return self._operate("fadd", "add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self._operate("fadd", "add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self._operate("fsub", "sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self._operate("fsub", "sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self._operate("fmul", "mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self._operate("fmul", "mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self._operate("fdiv", None, self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._operate("fdiv", None, other, self)

    def __and__(self, other: Operand) -> Value:
        return self._operate(None, "and", self, other)

    def __or__(self, other: Operand) -> Value:
        return self._operate(None, "or", self, other)

    def __xor__(self, other: Operand) -> Value:
        return self._operate(None, "xor", self, other)

    def __lshift__(self, other: Operand) -> Value:
        return self._operate(None, "shl", self, other)

    def __rshift__(self, other: Operand) -> Value:
        """Logical shift: no sign extension (64-bit arithmetic shifts are missing from AVX2)."""
        return self._operate(None, "lshr", self, other)

    def shift_arithmetic(self, other: Operand) -> Value:
        return self._operate(None, "ashr", self, other)

    def __neg__(self) -> Value:
        if self.is_float:
            return self.function.emit(self.type, f"fneg {self.type} {self.name}")
        return 0 - self

    def __invert__(self) -> Value:
        return self ^ -1

    def _compare(self, float_predicate: str, int_predicate: str, other: Operand) -> Value:
        op = f"fcmp {float_predicate}" if self.is_float else f"icmp {int_predicate}"
        return self.function.emit("i1", f"{op} {self.type} {self.name}, {self._lift(other)}")

    # Ordered comparisons: false when either side is NaN.
    def __lt__(self, other: Operand) -> Value:
        return self._compare("olt", "slt", other)

    def __le__(self, other: Operand) -> Value:
        return self._compare("ole", "sle", other)

    def __gt__(self, other: Operand) -> Value:
        return self._compare("ogt", "sgt", other)

    def __ge__(self, other: Operand) -> Value:
        return self._compare("oge", "sge", other)

    def equals(self, other: Operand) -> Value:
        return self._compare("oeq", "eq", other)

    def differs(self, other: Operand) -> Value:
        return self._compare("une", "ne", other)

    def below(self, other: Operand) -> Value:
        """Unsigned integer `<`."""
        return self._compare("ult", "ult", other)

    def unordered(self, other: Operand) -> Value:
        """True where either is NaN."""
        return self._compare("uno", "", other)

    def __bool__(self) -> bool:
        raise TypeError("a value of generated code has no truth value; use select()")

    def _convert(self, op: str, type_: str) -> Value:
        if type_ == self.type:
            return self
        return self.function.emit(type_, f"{op} {self.type} {self.name} to {type_}")

    def as_bits(self) -> Value:
        return self._convert("bitcast", {"double": "i64", "float": "i32"}[self.type])

    def as_float(self) -> Value:
        return self._convert("bitcast", {"i64": "double", "i32": "float"}[self.type])

    def to_double(self) -> Value:
        return self._convert("fpext", "double")

    def to_single(self) -> Value:
        return self._convert("fptrunc", "float")

    def narrow(self, type_: str) -> Value:
        return self._convert("trunc", type_)

    def widen(self, type_: str) -> Value:
        """Zero-extend."""
        return self._convert("zext", type_)


ATTRIBUTES = "alwaysinline nounwind willreturn memory(none)"


class FunctionBuilder:
    """One function of a single basic block, or a block of a larger one, under construction."""

    def __init__(self, name: str, format: Format, parameters: Sequence[str]):
        self.name = name
        self.format = format
        self.lines: list[str] = []
        self.parameters = [Value(self, format.llvm, f"%{parameter}") for parameter in parameters]

    def emit(self, type_: str, text: str) -> Value:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return Value(self, type_, name)

    def text(self, result: Value) -> str:
        kind = self.format.llvm
        parameters = ", ".join(f"{kind} {value.name}" for value in self.parameters)
        return "\n".join(
            [
                f"define internal {kind} @{self.name}({parameters}) {ATTRIBUTES} {{",
                *self.lines,
                f"  ret {kind} {result.name}",
                "}",
                "",
            ]
        )


def build(name: str, format: Format, parameters: Sequence[str], formula: Callable[..., Value]) -> str:
    """IR text of the function `name` that computes `formula` over `parameters`."""
    function = FunctionBuilder(name, format, parameters)
    return function.text(formula(*function.parameters))


def constant(like: Value, number: float | int) -> Value:
    """A constant of the type of `like`."""
    return Value(like.function, like.type, _literal(like.type, number))


def _first_value(*operands: Operand) -> Value:
    return next(operand for operand in operands if isinstance(operand, Value))


def fma_add(a: Operand, b: Operand, c: Operand) -> Value:
    """a * b + c, rounded once."""
    like = _first_value(a, b, c)
    operands = ", ".join(f"{like.type} {like._lift(operand)}" for operand in (a, b, c))
    return like.function.emit(like.type, f"call {like.type} @llvm.fma.{_FLOAT_SUFFIX[like.type]}({operands})")


def select(condition: Value, yes: Operand, no: Operand) -> Value:
    like = _first_value(yes, no)
    operands = f"{like.type} {like._lift(yes)}, {like.type} {like._lift(no)}"
    return condition.function.emit(like.type, f"select i1 {condition.name}, {operands}")


def absolute(x: Value) -> Value:
    return x.function.emit(x.type, f"call {x.type} @llvm.fabs.{_FLOAT_SUFFIX[x.type]}({x.type} {x.name})")


def square_root(x: Value) -> Value:
    return x.function.emit(x.type, f"call {x.type} @llvm.sqrt.{_FLOAT_SUFFIX[x.type]}({x.type} {x.name})")


def copy_sign(magnitude: Value, sign: Value) -> Value:
    operands = f"{sign.type} {magnitude._lift(magnitude)}, {sign.type} {sign.name}"
    return sign.function.emit(sign.type, f"call {sign.type} @llvm.copysign.{_FLOAT_SUFFIX[sign.type]}({operands})")


def at_most(x: Value, limit: float) -> Value:
    """min(x, limit) that lets NaN through."""
    return select(x > limit, limit, x)


def at_least(x: Value, limit: float) -> Value:
    """max(x, limit) that lets NaN through."""
    return select(x < limit, limit, x)


def horner(coefficients: Sequence[float], x: Value) -> Value:
    """The polynomial with these coefficients (lowest degree first), evaluated from the top."""
    total = constant(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = fma_add(total, x, coefficient)
    return total


def polynomial(coefficients: Sequence[float], x: Value) -> Value:
    """The same polynomial as 1, 2 or 4 interleaved chains.

    The chains run side by side in the processor, which matters more than the one or two multiplications
    they cost.
    """
    count = len(coefficients)
    if count <= 3:
        return horner(coefficients, x)
    square = x * x
    if count <= 11:
        return fma_add(horner(coefficients[1::2], square), x, horner(coefficients[::2], square))
    fourth = square * square
    chains = [horner(coefficients[k::4], fourth) for k in range(4)]
    return fma_add(fma_add(chains[3], x, chains[2]), square, fma_add(chains[1], x, chains[0]))


def format_of(x: Value) -> Format:
    """The format of a floating value."""
    return FLOAT64 if x.type == "double" else FLOAT32


def split_constant(number: str, format: Format, high_bits: int, parts: int = 2) -> tuple[float, ...]:
    """A real constant as a sum of numbers of the format (Cody and Waite).

    All parts but the last have at most `high_bits` significant bits, so that their product with an integer of
    few enough bits is exact.

    Parameters
    ----------
    number
        Decimal digits of the constant.
    """
    from fractions import Fraction  # slow to import, and rarely needed

    rest = Fraction(number)
    found = []
    for index in range(parts):
        bits = format.fraction_bits + 1 if index == parts - 1 else high_bits
        magnitude = abs(rest)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() + 1
        quantum = Fraction(2) ** (exponent - bits - 1)
        part = round(rest / quantum) * quantum
        found.append(float(part))
        rest -= part
    return tuple(found)
