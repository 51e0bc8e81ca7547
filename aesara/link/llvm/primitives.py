"""LLVM instructions for each primitive of the loop IR, by dtype.

Semantics are NumPy's: floor-like `intdiv` and `mod`, NaN-propagating `minimum`/`maximum`, integer division by zero
gives 0, shifts past the width give 0 (or the sign).
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from aesara.ir.instructions import Value
from aesara.link.llvm.division import division_by_constant, float_division, int_division, int_power
from aesara.link.llvm.module import Module
from aesara.link.llvm.types import LLVM_TYPES, is_float, is_unsigned
from aesara.primitives import PRIMITIVES

__all__ = ["combine", "convert_dtype", "primitive"]

#: primitives on bool as logical operations
_LOGIC = {"add": "or", "mul": "and", "maximum": "or", "minimum": "and", "sub": "xor"}
_OPERATORS: dict[str, Callable[..., Value]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


def primitive(module: Module, name: str, dtype: str, *operands: Value) -> Value:
    """Emit a primitive on operands of `dtype` (for `select`, the dtype of the values)."""
    a = operands[0]
    if name in _COMPARISONS:
        return a.compare(_predicate(name, dtype), operands[1])
    if name == "select":
        return a.select(*operands[1:])
    return (_of_floats if is_float(dtype) else _of_integers)(module, name, dtype, *operands)


def _predicate(name: str, dtype: str) -> str:
    """Return LLVM's predicate for a comparison."""
    if is_float(dtype):
        return ("u" if name == "ne" else "o") + name
    return name if name in ("eq", "ne") else ("u" if is_unsigned(dtype) else "s") + name


def _of_floats(module: Module, name: str, dtype: str, a: Value, *others: Value) -> Value:
    if name in _OPERATORS:
        return _OPERATORS[name](a, *others)
    if name == "neg":
        return -a
    intrinsic = PRIMITIVES[name].intrinsic
    if intrinsic is not None:
        return _intrinsic(module, intrinsic, a, *others)
    if name == "larger":
        function = module.intrinsic("maximum", a.kind, 2)
        return a.writer.emit(a.kind, f"call nsz {a.kind} {function}({a.operand}, {others[0].operand})")
    if name == "isnan":
        return a.is_unordered(a)
    if name == "isinf":
        return _intrinsic(module, "fabs", a).equals(float("inf"))
    if name in ("intdiv", "mod"):
        module.intrinsic("copysign", a.kind, 2)
        if name == "intdiv":
            module.intrinsic("floor", a.kind, 1)
        symbol = module.helper(f"@ae.{name}.{dtype}", float_division(name, dtype))
    elif dtype == "float16":
        # Computed in single precision and rounded, as in NumPy.
        wide = [x.convert("fpext", "float") for x in (a, *others)]
        return primitive(module, name, "float32", *wide).convert("fptrunc", "half")
    else:
        own = module.math(name, dtype)
        symbol = own or module.external(name + ("f" if dtype == "float32" else ""), dtype, [dtype] * (1 + len(others)))
    return a.writer.call(a.kind, symbol, a, *others)


def _of_integers(module: Module, name: str, dtype: str, a: Value, *others: Value) -> Value:
    unsigned = is_unsigned(dtype)
    if dtype == "bool":
        name = _LOGIC.get(name, name)
    if name in _OPERATORS and name != "div":
        # No nsw: operands may be data, which wraps.
        return _OPERATORS[name](a, *others)
    if name == "neg":
        return -a
    if name == "invert":
        return ~a
    if name == "abs":
        return a if unsigned else (a < 0).select(-a, a)
    if name in ("floor", "ceil", "trunc", "rint"):
        return a
    if name in ("minimum", "maximum"):
        return _intrinsic(module, ("u" if unsigned else "s") + name[:3], a, *others)
    if name in ("isnan", "isinf"):
        return a.writer.constant("i1", False)
    if name in ("shl", "shr"):
        return _shift(name, unsigned, a, *others)
    if name in ("intdiv", "mod"):
        divisor = others[0].name
        if divisor.isdecimal() and divisor != "0":
            return division_by_constant(name, dtype, a, int(divisor))
        symbol = module.helper(f"@ae.{name}.{dtype}", int_division(name, dtype))
    elif name == "pow":
        symbol = module.helper(f"@ae.pow.{dtype}", int_power(dtype))
    else:
        raise NotImplementedError(f"primitive {name!r} on {dtype}")
    return a.writer.call(a.kind, symbol, a, *others)


def _intrinsic(module: Module, name: str, a: Value, *others: Value) -> Value:
    module.intrinsic(name, a.kind, 1 + len(others))
    return a.intrinsic(name, *others)


def _shift(name: str, unsigned: bool, a: Value, count: Value) -> Value:
    bits = int(a.kind[1:])
    inside = count.below(bits)
    if name == "shr" and not unsigned:
        return a.shift_arithmetic(inside.select(count, bits - 1))
    amount = inside.select(count, 0)
    return inside.select(a << amount if name == "shl" else a >> amount, 0)


def combine(module: Module, name: str, dtype: str, a: Value, b: Value) -> Value:
    """Emit an accumulating primitive on two vectors of memory types."""
    if dtype == "bool":
        name = _LOGIC.get(name, name)
    if name in ("minimum", "maximum"):
        kind = name if is_float(dtype) else ("u" if is_unsigned(dtype) else "s") + name[:3]
        return _intrinsic(module, kind, a, b)
    return _OPERATORS[name](a, b)


def convert_dtype(x: Value, source: str, target: str) -> Value:
    """Convert a value to another dtype by C's (and NumPy's) rules; float to int is never undefined."""
    kind = LLVM_TYPES[target]
    if x.kind == kind:
        return x
    if target == "bool":
        return x.differs(0)
    if source == "float64" and target == "float16":
        return _double_to_half(x)
    if is_float(source) and is_float(target):
        order = ("float16", "float32", "float64")
        return x.convert("fpext" if order.index(source) < order.index(target) else "fptrunc", kind)
    if is_float(source):
        if target == "uint64":
            return _float_to_unsigned(x)
        # Through 64 bits, so that narrow integers wrap as they do in NumPy; NaN and overflow are frozen, not poison.
        return _freeze(x.convert("fptosi", "i64")).narrow(kind)
    if is_float(target):
        return x.convert("uitofp" if is_unsigned(source) else "sitofp", kind)
    if int(x.kind[1:]) > int(kind[1:]):
        return x.narrow(kind)
    return x.convert("zext" if is_unsigned(source) else "sext", kind)


def _freeze(x: Value) -> Value:
    return x.writer.emit(x.kind, f"freeze {x.operand}")


def _double_to_half(x: Value) -> Value:
    """Convert via single precision without double rounding: the first rounding is to odd, so the second is exact.

    Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
    """
    near = x.to_single()
    back, bits = near.to_double(), near.as_bits()
    # signs are equal: the magnitude was rounded up
    over = back.as_bits().compare("ugt", x.as_bits())
    keep = back.equals(x) | x.is_unordered(x)
    odd = (bits + over.convert("sext", "i32")) | 1
    return keep.select(bits, odd).as_float().convert("fptrunc", "half")


def _float_to_unsigned(x: Value) -> Value:
    """Convert to uint64 via signed integers: results of unsigned instructions for negative numbers are not portable."""
    high = x >= 2.0**63
    wide = _freeze(high.select(x - 2.0**63, x).convert("fptosi", "i64"))
    return wide ^ high.select(x.writer.constant("i64", -(2**63)), 0)
