"""Functions for primitives: Python's floor division and modulo, and integer powers."""

from __future__ import annotations

import functools

from aesara.ir.definitions import INLINED, FunctionDefinition, FunctionParameter
from aesara.ir.instructions import InstructionWriter, Value
from aesara.link.llvm.types import LLVM_TYPES, is_unsigned

__all__ = ["division_by_constant", "float_division", "int_division", "int_power"]

_ATTRIBUTES = f"{INLINED} nounwind"


def _operands(w: InstructionWriter, dtype: str) -> tuple[Value, Value]:
    return w.value(LLVM_TYPES[dtype], "%a"), w.value(LLVM_TYPES[dtype], "%b")


def _function(name: str, dtype: str, w: InstructionWriter, result: Value, attributes: str) -> FunctionDefinition:
    kind = LLVM_TYPES[dtype]
    parameters = [FunctionParameter(kind, "%a"), FunctionParameter(kind, "%b")]
    lines = ["entry:", *w.lines, f"ret {result.operand}"]
    return FunctionDefinition(f"@ae.{name}.{dtype}", kind, parameters, attributes, lines)


@functools.cache
def float_division(name: str, dtype: str) -> FunctionDefinition:
    """Return ``intdiv`` or ``mod`` of floats; the remainder has the divisor's sign."""
    w = InstructionWriter()
    a, b = _operands(w, dtype)
    zero = w.constant(a.kind, 0)
    rest = w.emit(a.kind, f"frem {a.operand}, {b}")
    nonzero = rest.differs(0.0)
    fix = nonzero & ((rest < 0.0) ^ (b < 0.0))
    if name == "mod":
        result = fix.select(rest + b, nonzero.select(rest, zero.intrinsic("copysign", b)))
    else:
        quotient = (a - rest) / b
        quotient = fix.select(quotient - 1.0, quotient)
        low, plain = quotient.intrinsic("floor"), a / b
        near = (quotient - low > 0.5).select(low + 1.0, low)
        signed = quotient.differs(0.0).select(near, zero.intrinsic("copysign", plain))
        result = b.equals(0.0).select(plain, signed)
    return _function(name, dtype, w, result, _ATTRIBUTES)


@functools.cache
def int_division(name: str, dtype: str) -> FunctionDefinition:
    """Return ``intdiv`` or ``mod`` of integers; x // 0 == x % 0 == 0; the lowest value divided by -1 wraps."""
    w = InstructionWriter()
    a, b = _operands(w, dtype)
    by_zero = b.equals(0)
    if is_unsigned(dtype):
        divisor = by_zero.select(1, b)
        quotient = w.emit(a.kind, f"{'udiv' if name == 'intdiv' else 'urem'} {a.operand}, {divisor}")
        return _function(name, dtype, w, by_zero.select(0, quotient), _ATTRIBUTES)
    negative = b.equals(-1)
    special = by_zero | negative
    divisor = special.select(1, b)
    quotient = w.emit(a.kind, f"sdiv {a.operand}, {divisor}")
    rest = a - quotient * divisor
    fix = rest.differs(0) & ((rest ^ divisor) < 0)
    if name == "intdiv":
        floored = negative.select(-a, fix.select(quotient - 1, quotient))
        result = by_zero.select(0, floored)
    else:
        result = fix.select(rest + divisor, rest)  # zero if the divisor is 1
    return _function(name, dtype, w, result, _ATTRIBUTES)


def division_by_constant(name: str, dtype: str, a: Value, divisor: int) -> Value:
    """Emit ``intdiv`` or ``mod`` by a positive constant inline."""
    if not divisor & (divisor - 1):
        if name == "mod":
            return a & (divisor - 1)
        places = divisor.bit_length() - 1
        return a >> places if is_unsigned(dtype) else a.shift_arithmetic(places)
    quotient = a.writer.emit(a.kind, f"{'udiv' if is_unsigned(dtype) else 'sdiv'} {a.operand}, {divisor}")
    rest = a - quotient * divisor
    if is_unsigned(dtype):
        return quotient if name == "intdiv" else rest
    negative = rest < 0
    return negative.select(quotient - 1, quotient) if name == "intdiv" else negative.select(rest + divisor, rest)


@functools.cache
def int_power(dtype: str) -> FunctionDefinition:
    """Return the power by squaring, wrapping; a negative exponent gives the truncated quotient 1 / a**|b|."""
    w = InstructionWriter()
    a, b = _operands(w, dtype)
    one = w.constant(a.kind, 1)
    if not is_unsigned(dtype):
        w.branch(b < 0, "negative", "start")
        w.begin("negative")
        sign = (b & 1).equals(1).select(-1, one)
        w.add(f"ret {a.equals(1).select(one, a.equals(-1).select(sign, 0)).operand}")
        w.begin("start")
    _, _, result = w.loop(
        [a, b, one],
        lambda base, rest, power: rest.differs(0),
        lambda base, rest, power: [base * base, rest >> 1, (rest & 1).differs(0).select(power * base, power)],
    )
    return _function("pow", dtype, w, result, "nounwind")
