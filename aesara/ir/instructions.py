"""LLVM IR as text: what writes instructions, and names their values and blocks.

A `Value` is what an instruction gives; arithmetic with it appends instructions to the `InstructionWriter` that it
belongs to.  Nothing here carries fast-math flags, and integers wrap.

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
import struct
from collections.abc import Callable, Sequence
from typing import TypeAlias

__all__ = ["InstructionWriter", "Names", "Operand", "Value", "literal", "suffix", "vector_of"]

#: LLVM's floating types: how intrinsics name them
_FLOATS = {"half": "f16", "float": "f32", "double": "f64"}


def literal(kind: str, number: float) -> str:
    """A constant of an LLVM type as text; floats are written in hexadecimal, so exactly.

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
        return f"0xH{struct.unpack('<H', struct.pack('<e', _rounded(number, '<e')))[0]:04X}"
    if kind == "float":
        number = _rounded(number, "<f")
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _rounded(number: float, form: str) -> float:
    try:
        return float(struct.unpack(form, struct.pack(form, number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def vector_of(kind: str, lanes: int) -> str:
    """The type of a vector."""
    return f"<{lanes} x {kind}>"


def element_of(kind: str) -> str:
    """The type of a vector's elements; other types are their own."""
    return kind[:-1].partition(" x ")[2] if kind[0] == "<" else kind


def suffix(kind: str) -> str:
    """What a type is called in the names of intrinsics.

    Examples
    --------
    >>> suffix("double"), suffix("i32"), suffix("<4 x float>")
    ('f64', 'i32', 'v4f32')
    """
    if kind[0] == "<":
        return f"v{kind[1 : kind.index(' ')]}{suffix(element_of(kind))}"
    return _FLOATS.get(kind, kind)


class Value:
    """What an instruction gives, or a parameter; operators append instructions."""

    __slots__ = ("kind", "name", "writer")

    def __init__(self, writer: InstructionWriter, kind: str, name: str) -> None:
        self.writer, self.kind, self.name = writer, kind, name

    def __str__(self) -> str:
        return self.name

    @property
    def typed(self) -> str:
        """As an argument: the type and the name."""
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
        """An operand that has the type of this value, as text."""
        if isinstance(other, Value):
            if other.kind != self.kind:
                raise TypeError(f"operands of type {self.kind} and {other.kind}")
            return other.name
        return literal(self.kind, other)

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
            return self.writer.emit(self.kind, f"fneg {self.kind} {self.name}")
        return 0 - self

    def __invert__(self) -> Value:
        return self ^ (1 if self.kind == "i1" else -1)

    def compare(self, predicate: str, other: Operand) -> Value:
        """A comparison by LLVM's name of it."""
        op = "fcmp" if self.is_float else "icmp"
        kind = self.kind.replace(element_of(self.kind), "i1")
        return self.writer.emit(kind, f"{op} {predicate} {self.kind} {self.name}, {self.like(other)}")

    # Ordered comparisons: false when either side is NaN.
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

    def unordered(self, other: Operand) -> Value:
        """True where either is NaN."""
        return self.compare("uno", other)

    def __bool__(self) -> bool:
        raise TypeError("a value of generated code has no truth value; use select()")

    def select(self, yes: Operand, no: Operand) -> Value:
        """One of two, by this truth value."""
        like = yes if isinstance(yes, Value) else no
        assert isinstance(like, Value)
        operands = f"{like.kind} {like.like(yes)}, {like.kind} {like.like(no)}"
        return self.writer.emit(like.kind, f"select {self.typed}, {operands}")

    def convert(self, instruction: str, kind: str) -> Value:
        """A conversion by LLVM's name of it, unless the value has the type."""
        if kind == self.kind:
            return self
        return self.writer.emit(kind, f"{instruction} {self.typed} to {kind}")

    def as_bits(self) -> Value:
        return self.convert("bitcast", {"double": "i64", "float": "i32"}[self.kind])

    def as_float(self) -> Value:
        return self.convert("bitcast", {"i64": "double", "i32": "float"}[self.kind])

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
        """An intrinsic of this value and others of its type, which gives one of that type."""
        operands = ", ".join([self.typed, *(f"{self.kind} {self.like(other)}" for other in others)])
        return self.writer.emit(self.kind, f"call {self.kind} @llvm.{name}.{suffix(self.kind)}({operands})")

    def splat(self, lanes: int) -> Value:
        """The same value in each lane of a vector."""
        first = self.writer.emit(
            vector_of(self.kind, lanes), f"insertelement <{lanes} x {self.kind}> poison, {self.typed}, i64 0"
        )
        return first.shuffle("poison", [0] * lanes)

    def shuffle(self, other: Value | str, order: Sequence[int]) -> Value:
        """The lanes of these numbers, of this vector and another."""
        numbers = ", ".join(f"i32 {k}" for k in order) if any(order) else ""
        mask = f"<{len(order)} x i32> " + (f"<{numbers}>" if numbers else "zeroinitializer")
        kind = vector_of(element_of(self.kind), len(order))
        return self.writer.emit(kind, f"shufflevector {self.typed}, {self.kind} {other}, {mask}")


Operand: TypeAlias = Value | float  # int counts as float


class Names:
    """The names of a function's values and blocks: they share one name space, and each number is given once."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def fresh(self, stem: str = "t") -> str:
        """A name for a value.

        Names without a number (``%frame``, ``entry``) are written where they are fixed.
        """
        return f"%{stem}.{next(self._numbers)}"

    def label(self, stem: str) -> str:
        """A name for a block."""
        return f"{stem}.{next(self._numbers)}"


class InstructionWriter:
    """Writes the body of a function, or a part of one that shares its `names` with others.

    Attributes
    ----------
    lines
        What has been written.
    block
        The label of the block that is written to.
    """

    def __init__(self, names: Names | None = None, block: str = "entry") -> None:
        self.names = names or Names()
        self.lines: list[str] = []
        self.block = block

    def text(self) -> str:
        """All of a function's body, from its first label on."""
        return "\n".join(["entry:", *self.lines])

    def add(self, *lines: str) -> None:
        """Instructions without a value."""
        self.lines.extend(lines)

    def emit(self, kind: str, instruction: str, stem: str = "t") -> Value:
        """An instruction; returns its value."""
        name = self.names.fresh(stem)
        self.lines.append(f"{name} = {instruction}")
        return Value(self, kind, name)

    def value(self, kind: str, name: str) -> Value:
        """A value that has a name already."""
        return Value(self, kind, name)

    def constant(self, kind: str, number: float) -> Value:
        return Value(self, kind, literal(kind, number))

    def call(self, kind: str, function: str, *arguments: Value, attributes: str = "") -> Value:
        """Call a function that gives a value."""
        return self.emit(kind, f"call {kind} {function}({', '.join(a.typed for a in arguments)}){attributes}")

    # -- memory ----------------------------------------------------------------------------------------------

    def at(self, pointer: Value | str, offset: Value | int | str, element: str = "i8", flags: str = "") -> Value:
        """The address so many elements from a pointer on."""
        return self.emit("ptr", f"getelementptr {flags}{element}, ptr {pointer}, i64 {offset}", "p")

    def load(self, kind: str, pointer: Value | str, note: str = "") -> Value:
        return self.emit(kind, f"load {kind}, ptr {pointer}{note}", "x")

    def store(self, value: Value, pointer: Value | str, note: str = "") -> None:
        self.lines.append(f"store {value.typed}, ptr {pointer}{note}")

    # -- blocks ----------------------------------------------------------------------------------------------

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.lines.append(f"br label %{label}")

    def branch(self, condition: Value | str, yes: str, no: str, note: str = "") -> None:
        self.lines.append(f"br i1 {condition}, label %{yes}, label %{no}{note}")

    def phi(self, kind: str, *ways: tuple[Value | str, str]) -> Value:
        """A value that depends on the block from which this one is entered."""
        return self.emit(kind, f"phi {kind} " + ", ".join(f"[{value}, %{block}]" for value, block in ways))

    def loop(
        self,
        carried: Sequence[Value],
        more: Callable[..., Value],
        body: Callable[..., Sequence[Value]],
    ) -> list[Value]:
        """A loop, and its last values.

        Parameters
        ----------
        carried
            The first value of each value that changes.
        more
            Writes a condition: whether there is another round, given the values.
        body
            Writes a round; returns the next values.
        """
        head, inside, after = map(self.names.label, ("head", "round", "after"))
        before = self.block
        self.jump(head)
        self.begin(head)
        place = len(self.lines)
        values = [Value(self, first.kind, self.names.fresh()) for first in carried]
        self.branch(more(*values), inside, after)
        self.begin(inside)
        following = body(*values)
        self.jump(head)
        self.lines[place:place] = [
            f"{value} = phi {value.kind} [{first}, %{before}], [{later}, %{self.block}]"
            for value, first, later in zip(values, carried, following, strict=True)
        ]
        self.begin(after)
        return values
