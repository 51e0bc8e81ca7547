"""A writer of LLVM IR text, which names values and blocks.

Arithmetic on a `Value` appends instructions to its `InstructionWriter`. No instruction carries fast-math flags, and
integers wrap.

Examples
--------
>>> w = InstructionWriter()
>>> n = w.value("i64", "%n")
>>> print(w.loop([w.constant("i64", 0)], lambda i: i < n, lambda i: [i + 4])[0])
%t.4
>>> print(w.text())
entry:
br label %head.1
head.1:
%t.4 = phi i64 [0, %entry], [%t.6, %round.2]
%t.5 = icmp slt i64 %t.4, %n
br i1 %t.5, label %round.2, label %after.3
round.2:
%t.6 = add i64 %t.4, 4
br label %head.1
after.3:
"""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

__all__ = [
    "CallInstruction", "InstructionWriter", "Names", "Operand", "Value", "literal", "rename_values", "suffix",
    "vector_of",
]  # fmt: skip

#: suffix of intrinsics by LLVM's floating-point type
_FLOATS = {"half": "f16", "float": "f32", "double": "f64"}


def literal(kind: str, number: float) -> str:
    """Return a constant of an LLVM type as text; floats are exact, in hexadecimal.

    Examples
    --------
    >>> literal("double", 0.1), literal("i1", 1), literal("<2 x i64>", 3)
    ('0x3FB999999999999A', 'true', 'splat (i64 3)')
    """
    if kind[0] == "<":
        if not number and math.copysign(1, number) > 0:
            return "zeroinitializer"
        element = element_of(kind)
        return f"splat ({element} {literal(element, number)})"
    if kind == "i1":
        return "true" if number else "false"
    if kind not in _FLOATS:
        return str(int(number))
    if kind == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', _round_to_format(number, '<e')))[0]:04X}"
    if kind == "float":
        number = _round_to_format(number, "<f")
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _round_to_format(number: float, form: str) -> float:
    try:
        return float(struct.unpack(form, struct.pack(form, number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def vector_of(kind: str, lanes: int) -> str:
    """Return the type of a vector."""
    return f"<{lanes} x {kind}>"


def element_of(kind: str) -> str:
    """Return the element type of a vector type; other types are returned unchanged."""
    return kind[:-1].partition(" x ")[2] if kind[0] == "<" else kind


def suffix(kind: str) -> str:
    """Return the suffix of intrinsics for a type.

    Examples
    --------
    >>> suffix("double"), suffix("i32"), suffix("<4 x float>")
    ('f64', 'i32', 'v4f32')
    """
    if kind[0] == "<":
        return f"v{kind[1 : kind.index(' ')]}{suffix(element_of(kind))}"
    return _FLOATS.get(kind, kind)


Operand: TypeAlias = "Value | float"
_Operator: TypeAlias = "Callable[[Value, Operand], Value]"


def _operator(float_op: str | None, int_op: str | None) -> _Operator:
    return lambda self, other: self._operate(float_op, int_op, self, other)


def _reflect(float_op: str, int_op: str | None) -> _Operator:
    return lambda self, other: self._operate(float_op, int_op, other, self)


class Value:
    """The result of an instruction, or a parameter; operators append instructions."""

    __slots__ = ("kind", "name", "writer")

    def __init__(self, writer: InstructionWriter, kind: str, name: str) -> None:
        self.writer, self.kind, self.name = writer, kind, name

    def __str__(self) -> str:
        return self.name

    @property
    def operand(self) -> str:
        """The type and the name, as in an argument list."""
        return f"{self.kind} {self.name}"

    @property
    def is_float(self) -> bool:
        return element_of(self.kind) in _FLOATS

    def _operate(self, float_op: str | None, int_op: str | None, left: Operand, right: Operand) -> Value:
        op = float_op if self.is_float else int_op
        if op is None:
            raise TypeError(f"no such operation on {self.kind}")
        return self.writer.emit(self.kind, f"{op} {self.kind} {self.like(left)}, {self.like(right)}")

    def like(self, other: Operand) -> str:
        """Return an operand of this value's type as text."""
        if isinstance(other, Value):
            if other.kind != self.kind:
                raise TypeError(f"operands of type {self.kind} and {other.kind}")
            return other.name
        return literal(self.kind, other)

    __add__ = _operator("fadd", "add")
    __radd__ = _reflect("fadd", "add")
    __sub__ = _operator("fsub", "sub")
    __rsub__ = _reflect("fsub", "sub")
    __mul__ = _operator("fmul", "mul")
    __rmul__ = _reflect("fmul", "mul")
    __truediv__ = _operator("fdiv", None)
    __rtruediv__ = _reflect("fdiv", None)
    __and__ = _operator(None, "and")
    __or__ = _operator(None, "or")
    __xor__ = _operator(None, "xor")
    __lshift__ = _operator(None, "shl")
    #: a logical shift: AVX2 lacks arithmetic shifts of 64 bits
    __rshift__ = _operator(None, "lshr")
    shift_arithmetic = _operator(None, "ashr")

    def __mod__(self, divisor: int) -> Value:
        """Return the signed remainder by a positive integer, rounded down: it is never negative."""
        rest = self._operate(None, "srem", self, divisor)
        last_bit = int(element_of(self.kind)[1:]) - 1
        return rest + (rest.shift_arithmetic(last_bit) & divisor)

    def __neg__(self) -> Value:
        if self.is_float:
            return self.writer.emit(self.kind, f"fneg {self.kind} {self.name}")
        return 0 - self

    def __invert__(self) -> Value:
        return self ^ (1 if self.kind == "i1" else -1)

    def compare(self, predicate: str, other: Operand) -> Value:
        """Emit an `icmp` or `fcmp` with this predicate."""
        op = "fcmp" if self.is_float else "icmp"
        kind = self.kind.replace(element_of(self.kind), "i1")
        return self.writer.emit(kind, f"{op} {predicate} {self.kind} {self.name}, {self.like(other)}")

    # Ordered comparisons: false if either side is NaN.
    def __lt__(self, other: Operand) -> Value:
        return self.compare("olt" if self.is_float else "slt", other)

    def __le__(self, other: Operand) -> Value:
        return self.compare("ole" if self.is_float else "sle", other)

    def __gt__(self, other: Operand) -> Value:
        return self.compare("ogt" if self.is_float else "sgt", other)

    def __ge__(self, other: Operand) -> Value:
        return self.compare("oge" if self.is_float else "sge", other)

    def equals(self, other: Operand) -> Value:
        return self.compare("oeq" if self.is_float else "eq", other)

    def differs(self, other: Operand) -> Value:
        return self.compare("une" if self.is_float else "ne", other)

    def below(self, other: Operand) -> Value:
        """Unsigned integer `<`."""
        return self.compare("ult", other)

    def is_unordered(self, other: Operand) -> Value:
        """True if either is NaN."""
        return self.compare("uno", other)

    def __bool__(self) -> bool:
        raise TypeError("a value of generated code has no truth value; use select()")

    def select(self, yes: Operand, no: Operand) -> Value:
        """Select `yes` or `no` by this condition."""
        like = yes if isinstance(yes, Value) else no
        assert isinstance(like, Value)
        operands = f"{like.kind} {like.like(yes)}, {like.kind} {like.like(no)}"
        return self.writer.emit(like.kind, f"select {self.operand}, {operands}")

    def convert(self, instruction: str, kind: str) -> Value:
        """Emit a conversion instruction, unless the value has the type already."""
        if kind == self.kind:
            return self
        return self.writer.emit(kind, f"{instruction} {self.operand} to {kind}")

    def as_bits(self) -> Value:
        return self._cast_elements({"double": "i64", "float": "i32"})

    def as_float(self) -> Value:
        return self._cast_elements({"i64": "double", "i32": "float"})

    def _cast_elements(self, kinds: Mapping[str, str]) -> Value:
        element = element_of(self.kind)
        return self.convert("bitcast", self.kind.replace(element, kinds[element]))

    def to_double(self) -> Value:
        return self.convert("fpext", "double")

    def to_single(self) -> Value:
        return self.convert("fptrunc", "float")

    def narrow(self, kind: str) -> Value:
        return self.convert("trunc", kind)

    def widen(self, kind: str) -> Value:
        """Zero-extend."""
        return self.convert("zext", kind)

    def intrinsic(self, name: str, *others: Operand) -> Value:
        """Call an intrinsic on operands of this type, with a result of this type."""
        operands = ", ".join([self.operand, *(f"{self.kind} {self.like(other)}" for other in others)])
        return self.writer.emit(self.kind, f"call {self.kind} @llvm.{name}.{suffix(self.kind)}({operands})")

    def splat(self, lanes: int) -> Value:
        """Broadcast the value to a vector."""
        first = self.writer.emit(
            vector_of(self.kind, lanes), f"insertelement <{lanes} x {self.kind}> poison, {self.operand}, i64 0"
        )
        return first.shuffle("poison", [0] * lanes)

    def shuffle(self, other: Value | str, order: Sequence[int]) -> Value:
        """Select lanes of this vector and another by number."""
        numbers = ", ".join(f"i32 {k}" for k in order) if any(order) else ""
        mask = f"<{len(order)} x i32> " + (f"<{numbers}>" if numbers else "zeroinitializer")
        kind = vector_of(element_of(self.kind), len(order))
        return self.writer.emit(kind, f"shufflevector {self.operand}, {self.kind} {other}, {mask}")


class Names:
    """Generator of unique names for the values and blocks of a function, which share one name space."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def fresh(self, stem: str = "t") -> str:
        """Return a new name for a value.

        Fixed names (``%frame``, ``entry``) have no number.
        """
        return f"%{stem}.{next(self._numbers)}"

    def label(self, stem: str) -> str:
        """Return a new name for a block."""
        return f"{stem}.{next(self._numbers)}"


class CallInstruction(str):
    """A call of a function of the module, which may be replaced by the function's body.

    Attributes
    ----------
    result
        Name of its value; empty if the function returns nothing.
    kind
        Type of the result.
    function
        Name of the function, with ``@``.
    arguments
        The arguments with their types.

    Examples
    --------
    >>> CallInstruction("%y", "double", "@twice", ("double %x",))
    '%y = call double @twice(double %x)'
    """

    result: str
    kind: str
    function: str
    arguments: tuple[str, ...]

    def __new__(cls, result: str, kind: str, function: str, arguments: Iterable[str]) -> CallInstruction:
        arguments = tuple(arguments)
        call = f"call {kind} {function}({', '.join(arguments)})"
        made = super().__new__(cls, f"{result} = {call}" if result else call)
        made.result, made.kind, made.function, made.arguments = result, kind, function, arguments
        return made

    def with_names(self, names: Mapping[str, str]) -> CallInstruction:
        """Return the call with other names for all values."""
        arguments = [rename_values(argument, names) for argument in self.arguments]
        return CallInstruction(names[self.result] if self.result else "", self.kind, self.function, arguments)


_VALUE_NAME = re.compile(r"%[\w.]+")


def rename_values(instruction: str, names: Mapping[str, str]) -> str:
    """Return an instruction, or an operand, with other names for all values.

    Examples
    --------
    >>> rename_values("%y = fadd double %x, 0x3FF0000000000000", {"%x": "%a", "%y": "%b"})
    '%b = fadd double %a, 0x3FF0000000000000'
    """
    return _VALUE_NAME.sub(lambda match: names[match[0]], instruction)


class InstructionWriter:
    """Writes the body of a function, or a part of one that shares `names` with others.

    Attributes
    ----------
    lines
        The text so far.
    block
        Label of the current block.
    """

    def __init__(self, names: Names | None = None, block: str = "entry") -> None:
        self.names = names or Names()
        self.lines: list[str] = []
        self.block = block

    def text(self) -> str:
        """Return the function's body, from its first label on."""
        return "\n".join(["entry:", *self.lines])

    def add(self, *lines: str) -> None:
        """Append instructions without a result."""
        self.lines.extend(lines)

    def emit(self, kind: str, instruction: str, stem: str = "t") -> Value:
        """Append an instruction and return its value."""
        name = self.names.fresh(stem)
        self.lines.append(f"{name} = {instruction}")
        return Value(self, kind, name)

    def value(self, kind: str, name: str) -> Value:
        """Return a value with an existing name."""
        return Value(self, kind, name)

    def constant(self, kind: str, number: float) -> Value:
        return Value(self, kind, literal(kind, number))

    def call(self, kind: str, function: str, *arguments: Value, attributes: str = "") -> Value:
        """Call a function that returns a value."""
        typed = [argument.operand for argument in arguments]
        if attributes:
            return self.emit(kind, f"call {kind} {function}({', '.join(typed)}){attributes}")
        name = self.names.fresh()
        self.lines.append(CallInstruction(name, kind, function, typed))
        return Value(self, kind, name)

    def call_void(self, function: str, *arguments: Value) -> None:
        """Call a function that returns nothing."""
        self.lines.append(CallInstruction("", "void", function, [argument.operand for argument in arguments]))

    # -- memory ----------------------------------------------------------------------------------------------

    def at(self, pointer: Value | str, offset: Value | int | str, element: str = "i8", flags: str = "") -> Value:
        """Return the address `offset` elements past a pointer."""
        return self.emit("ptr", f"getelementptr {flags}{element}, ptr {pointer}, i64 {offset}", "p")

    def load(self, kind: str, pointer: Value | str, note: str = "") -> Value:
        return self.emit(kind, f"load {kind}, ptr {pointer}{note}", "x")

    def store(self, value: Value, pointer: Value | str, note: str = "") -> None:
        self.lines.append(f"store {value.operand}, ptr {pointer}{note}")

    # -- blocks ----------------------------------------------------------------------------------------------

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.lines.append(f"br label %{label}")

    def branch(self, condition: Value | str, yes: str, no: str, note: str = "") -> None:
        self.lines.append(f"br i1 {condition}, label %{yes}, label %{no}{note}")

    def phi(self, kind: str, *incoming: tuple[Value | str, str]) -> Value:
        """Emit a phi of ``(value, block)`` pairs."""
        return self.emit(kind, f"phi {kind} " + ", ".join(f"[{value}, %{block}]" for value, block in incoming))

    def loop(
        self,
        carried: Sequence[Value],
        condition: Callable[..., Value],
        body: Callable[..., Sequence[Value]],
    ) -> list[Value]:
        """Write a loop and return the final values of what it carries.

        Parameters
        ----------
        carried
            Initial values of the loop-carried variables.
        condition
            Writes the condition to continue, given the variables.
        body
            Writes one iteration; returns the next values.
        """
        head, inside, after = map(self.names.label, ("head", "round", "after"))
        before = self.block
        self.jump(head)
        self.begin(head)
        position = len(self.lines)
        values = [Value(self, first.kind, self.names.fresh()) for first in carried]
        self.branch(condition(*values), inside, after)
        self.begin(inside)
        following = body(*values)
        self.jump(head)
        self.lines[position:position] = [
            f"{value} = phi {value.kind} [{first}, %{before}], [{later}, %{self.block}]"
            for value, first, later in zip(values, carried, following, strict=True)
        ]
        self.begin(after)
        return values

    def counted_loop(
        self,
        count: Value,
        carried: Sequence[Value],
        body: Callable[..., Sequence[Value]],
        start: Value | None = None,
    ) -> None:
        """Write a rotated loop of the iterations from `start`, or 0, to `count`, whose condition is tested at the end.

        Parameters
        ----------
        carried
            Initial values of the variables of the loop.
        body
            Writes an iteration, given its number and the variables; returns their next values.
        """
        inside, after = map(self.names.label, ("round", "after"))
        before = self.block
        first = [self.constant(count.kind, 0) if start is None else start, *carried]
        self.branch(count > first[0], inside, after)
        self.begin(inside)
        place = len(self.lines)
        number, *variables = [Value(self, one.kind, self.names.fresh()) for one in first]
        following = body(number, *variables)
        last = [number + 1, *following]
        self.branch(last[0] < count, inside, after)
        self.lines[place:place] = [
            f"{value} = phi {value.kind} [{initial}, %{before}], [{later}, %{self.block}]"
            for value, initial, later in zip([number, *variables], first, last, strict=True)
        ]
        self.begin(after)
