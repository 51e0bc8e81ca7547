"""Building blocks of formulas for elementary functions.

A formula is an ordinary Python function over values of `aesara.ir.instructions`.  Only `fma_add` (``llvm.fma``) is
fused, on every processor, so that results are the same everywhere and exact steps stay exact whatever surrounds the
inlined function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from aesara.ir.definitions import INLINED, FunctionDefinition, FunctionParameter
from aesara.ir.instructions import InstructionWriter, Operand, Value
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

ATTRIBUTES = f"{INLINED} nounwind willreturn memory(none)"


def build(name: str, format: Format, parameters: Sequence[str], formula: Callable[..., Value]) -> FunctionDefinition:
    """Return the function `name` that computes `formula` over `parameters`."""
    writer = InstructionWriter()
    values = [writer.value(format.llvm, f"%{parameter}") for parameter in parameters]
    result = formula(*values)
    given = [FunctionParameter(value.kind, value.name) for value in values]
    return FunctionDefinition(f"@{name}", format.llvm, given, ATTRIBUTES, [*writer.lines, f"ret {result.operand}"])


def constant(like: Value, number: float | int) -> Value:
    """A constant of the type of `like`."""
    return like.writer.constant(like.kind, number)


def _first_value(*operands: Operand) -> Value:
    return next(operand for operand in operands if isinstance(operand, Value))


def fma_add(a: Operand, b: Operand, c: Operand) -> Value:
    """a * b + c, rounded once."""
    like = _first_value(a, b, c)
    first = a if isinstance(a, Value) else constant(like, a)
    return first.intrinsic("fma", b, c)


def select(condition: Value, yes: Operand, no: Operand) -> Value:
    return condition.select(yes, no)


def absolute(x: Value) -> Value:
    return x.intrinsic("fabs")


def square_root(x: Value) -> Value:
    return x.intrinsic("sqrt")


def copy_sign(magnitude: Value, sign: Value) -> Value:
    return magnitude.intrinsic("copysign", sign)


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
    return FLOAT64 if x.kind == "double" else FLOAT32


def split_constant(number: str, format: Format, high_bits: int, parts: int = 2) -> tuple[float, ...]:
    """A real constant as a sum of numbers of the format (Cody and Waite).

    All parts but the last have at most `high_bits` significant bits, so that their product with an integer of
    few enough bits is exact.

    Parameters
    ----------
    number
        Decimal digits of the constant.
    """
    # A fraction of integers: the class for these takes longer to import than all that is done with it here.
    digits, _, decimals = number.partition(".")
    rest, denominator = int(digits + decimals), 10 ** len(decimals)
    found = []
    for index in range(parts):
        common = math.gcd(rest, denominator)
        rest, denominator = rest // common, denominator // common
        bits = format.fraction_bits + 1 if index == parts - 1 else high_bits
        shift = bits + denominator.bit_length() - rest.bit_length()  # the part is a multiple of 2**-shift
        multiple, remainder = divmod(rest << shift, denominator)
        if 2 * remainder + multiple % 2 > denominator:  # to the nearest, and to even between two
            multiple += 1
        found.append(math.ldexp(multiple, -shift))
        rest, denominator = (rest << shift) - multiple * denominator, denominator << shift
    return tuple(found)
