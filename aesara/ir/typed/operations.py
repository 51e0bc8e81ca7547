"""Operations of typed functions that Python has no syntax for."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.ir.typed.translate import Operation
from aesara.ir.typed.types import (
    BOOL,
    INT64,
    UINT64,
    ArrayPointer,
    FunctionType,
    IntType,
    PointerType,
    TupleType,
    ValueType,
    VectorType,
    type_of_annotation,
)
from aesara.ir.typed.values import TypedValue, ValueWriter

__all__ = [
    "absolute", "address_of", "allocate", "any_lane", "atomic_add", "atomic_load", "bitcast", "call_pointer",
    "compare_exchange",
    "copy_bytes", "element", "exchange", "fill_bytes", "floor", "is_less_or_greater", "leading_zeros", "move_bytes",
    "multiply_checked", "pointer_to", "reference", "rotate_right", "select", "sqrt", "view", "with_element",
]  # fmt: skip

_MEMORY = "declare void @llvm.{name}.p0.p0.i64(ptr, ptr, i64, i1)"


def _only_native(name: str) -> Any:
    def refuse(*arguments: Any) -> Any:
        raise NotImplementedError(f"`{name}` works in machine code only")

    refuse.__name__ = name
    return refuse


def _of_memory(name: str) -> Operation:
    symbol = f"@llvm.{name}.p0.p0.i64"

    def emit(t: ValueWriter, target: TypedValue, source: TypedValue, size: Any) -> None:
        t.declarations[symbol] = _MEMORY.format(name=name)
        t.writer.add(
            f"call void {symbol}(ptr {target.text}, ptr {source.text}, {t.like(INT64, size).argument}, i1 false)"
        )

    return Operation(_only_native(name), emit)


def _float_function(name: str, reference: Any) -> Operation:
    return Operation(reference, lambda t, x: t.intrinsic(name, x))


sqrt = _float_function("sqrt", np.sqrt)
floor = _float_function("floor", np.floor)
absolute = _float_function("fabs", np.abs)


def _rotate_right(x: int, count: int) -> int:
    """Return an unsigned integer of 64 bits rotated by `count` bits, from 0 to 63."""
    return (x >> count | x << (64 - count)) & (2**64 - 1) if count else x


rotate_right = Operation(_rotate_right, lambda t, x, count: t.intrinsic("fshr", x, x, t.like(x.type, count)))


def _leading_zeros(x: int) -> int:
    """Return the number of zero bits above the highest bit of an integer of 64 bits."""
    return 64 - (x & (2**64 - 1)).bit_length()


def _emit_leading_zeros(t: ValueWriter, x: TypedValue) -> TypedValue:
    symbol = f"@llvm.ctlz.{x.type.llvm}"
    t.declarations[symbol] = f"declare {x.type.llvm} {symbol}({x.type.llvm}, i1)"
    return t.emit(x.type, f"call {x.type.llvm} {symbol}({x.argument}, i1 false)")


leading_zeros = Operation(_leading_zeros, _emit_leading_zeros)


def _bitcast(kind: Any, x: Any) -> Any:
    """Return the bits of a number of 64 bits as another type."""
    source = np.float64(x) if isinstance(x, float) else np.uint64(x & (2**64 - 1))
    return kind(source.view(np.uint64 if isinstance(kind, IntType) else np.float64))


bitcast = Operation(_bitcast, lambda t, kind, x: t.emit(kind, f"bitcast {x.argument} to {kind.llvm}"))


def _select(condition: bool, yes: Any, no: Any) -> Any:
    """Return one of two values; both are evaluated."""
    return yes if condition else no


select = Operation(_select, lambda t, condition, yes, no: t.select(condition, yes, no))


def _emit_allocate(t: ValueWriter, kind: Any, count: Any = 1) -> TypedValue:
    """Return a pointer to new elements on the stack of the function."""
    kind = type_of_annotation(kind)
    result = PointerType(kind)
    if isinstance(count, TypedValue):
        return t.emit(result, f"alloca {kind.llvm}, {count.argument}")
    name = t.writer.names.fresh("stack")
    what = kind.llvm if count == 1 else f"[{count} x {kind.llvm}]"
    t.stack.append(f"{name} = alloca {what}")
    return TypedValue(result, name)


allocate = Operation(_only_native("allocate"), _emit_allocate)


def _emit_reference(t: ValueWriter, value: TypedValue) -> TypedValue:
    """Return a pointer to a value, on the stack of the function, as Fortran passes arguments."""
    pointer = _emit_allocate(t, value.type)
    t.store(value.type, value, pointer.text)
    return pointer


reference = Operation(_only_native("reference"), _emit_reference)


def _emit_view(t: ValueWriter, base: TypedValue, offset: Any, kind: Any) -> TypedValue:
    """Return the address some bytes after a pointer, as a pointer of another type."""
    return TypedValue(type_of_annotation(kind), t.address(base, offset))


view = Operation(_only_native("view"), _emit_view)
copy_bytes = _of_memory("memcpy")
move_bytes = _of_memory("memmove")


def _emit_fill_bytes(t: ValueWriter, target: TypedValue, byte: Any, size: Any) -> None:
    symbol = "@llvm.memset.p0.i64"
    t.declarations[symbol] = f"declare void {symbol}(ptr, i8, i64, i1)"
    value = t.like(IntType(8, False), byte)
    t.writer.add(f"call void {symbol}(ptr {target.text}, {value.argument}, {t.like(INT64, size).argument}, i1 false)")


fill_bytes = Operation(_only_native("fill_bytes"), _emit_fill_bytes)


def _emit_address_of(t: ValueWriter, pointer: TypedValue) -> TypedValue:
    return t.emit(INT64, f"ptrtoint ptr {pointer.text} to i64")


address_of = Operation(_only_native("address_of"), _emit_address_of)


def _emit_pointer_to(t: ValueWriter, address: TypedValue, kind: Any) -> TypedValue:
    return t.emit(type_of_annotation(kind), f"inttoptr {address.argument} to ptr")


pointer_to = Operation(_only_native("pointer_to"), _emit_pointer_to)


def _emit_call_pointer(t: ValueWriter, signature: FunctionType, pointer: TypedValue, *arguments: Any) -> Any:
    return t.call(pointer.text, signature.result, signature.parameters, arguments)


#: call the function of a type at an address
call_pointer = Operation(_only_native("call_pointer"), _emit_call_pointer)


def _target(t: ValueWriter, pointer: TypedValue) -> ValueType:
    target = pointer.type.target if isinstance(pointer.type, PointerType) else None
    if target is None:
        t.refuse("a pointer to elements is expected")
    return target


def _atomic_load(pointer: ArrayPointer) -> Any:
    """Load an element that other threads may store to."""
    return pointer[0]


def _emit_atomic_load(t: ValueWriter, pointer: TypedValue) -> TypedValue:
    kind = _target(t, pointer)
    return t.emit(kind, f"load atomic {kind.llvm}, ptr {pointer.text} seq_cst, align 8")


atomic_load = Operation(_atomic_load, _emit_atomic_load)


def _compare_exchange(pointer: ArrayPointer, old: Any, new: Any) -> bool:
    """Store `new` to an element if it is `old`, in one step for other threads; return whether it was."""
    is_old = bool(pointer[0] == old)
    if is_old:
        pointer[0] = new
    return is_old


def _emit_compare_exchange(t: ValueWriter, pointer: TypedValue, old: Any, new: Any) -> TypedValue:
    kind = _target(t, pointer)
    a, b = t.like(kind, old), t.like(kind, new)
    pair = TupleType((kind, BOOL))
    exchanged = t.emit(pair, f"cmpxchg ptr {pointer.text}, {a.argument}, {b.argument} seq_cst seq_cst, align 8")
    return t.emit(BOOL, f"extractvalue {exchanged.argument}, 1")


compare_exchange = Operation(_compare_exchange, _emit_compare_exchange)


def _exchange(pointer: ArrayPointer, new: Any) -> Any:
    """Store `new` to an element and return what it was, in one step for other threads."""
    old = pointer[0]
    pointer[0] = new
    return old


def _emit_exchange(t: ValueWriter, pointer: TypedValue, new: Any) -> TypedValue:
    kind = _target(t, pointer)
    return t.emit(kind, f"atomicrmw xchg ptr {pointer.text}, {t.like(kind, new).argument} seq_cst, align 8")


exchange = Operation(_exchange, _emit_exchange)


def _atomic_add(pointer: ArrayPointer, number: Any) -> Any:
    """Add to an element and return what it was, in one step for other threads."""
    old = pointer[0]
    pointer[0] = old + number
    return old


def _emit_atomic_add(t: ValueWriter, pointer: TypedValue, number: Any) -> TypedValue:
    kind = _target(t, pointer)
    return t.emit(kind, f"atomicrmw add ptr {pointer.text}, {t.like(kind, number).argument} seq_cst, align 8")


atomic_add = Operation(_atomic_add, _emit_atomic_add)


def _multiply_checked(a: int, b: int) -> tuple[int, bool]:
    """Return a product of unsigned integers of 64 bits, and whether it is too large for them."""
    return a * b & (2**64 - 1), a * b >= 2**64


def _emit_multiply_checked(t: ValueWriter, a: TypedValue, b: TypedValue) -> TypedValue:
    symbol = "@llvm.umul.with.overflow.i64"
    t.declarations[symbol] = f"declare {{i64, i1}} {symbol}(i64, i64)"
    x, y = t.like(UINT64, a), t.like(UINT64, b)
    return t.emit(TupleType((UINT64, BOOL)), f"call {{i64, i1}} {symbol}({x.argument}, {y.argument})")


multiply_checked = Operation(_multiply_checked, _emit_multiply_checked)


def _is_less_or_greater(x: Any, y: Any) -> Any:
    """Return whether numbers differ; false if either is NaN."""
    return (x < y) | (x > y)


is_less_or_greater = Operation(_is_less_or_greater, lambda t, x, y: t.compare_floats("one", x, y))


def _emit_element(t: ValueWriter, vector: TypedValue, index: Any) -> TypedValue:
    """Return an element of a vector."""
    return t.emit(_vector(t, vector).element, f"extractelement {vector.argument}, {t.like(INT64, index).argument}")


element = Operation(_only_native("element"), _emit_element)


def _emit_with_element(t: ValueWriter, vector: TypedValue, index: Any, value: Any) -> TypedValue:
    """Return a vector with one element replaced."""
    inserted = t.like(_vector(t, vector).element, value).argument
    return t.emit(vector.type, f"insertelement {vector.argument}, {inserted}, {t.like(INT64, index).argument}")


with_element = Operation(_only_native("with_element"), _emit_with_element)


def _emit_any_lane(t: ValueWriter, mask: TypedValue) -> TypedValue:
    """Return whether any element of a vector of truth values is true; a single one is returned."""
    if mask.type == BOOL:
        return mask
    symbol = f"@llvm.vector.reduce.or.v{_vector(t, mask).lanes}i1"
    t.declarations[symbol] = f"declare i1 {symbol}({mask.type.llvm})"
    return t.emit(BOOL, f"call i1 {symbol}({mask.argument})")


any_lane = Operation(_only_native("any_lane"), _emit_any_lane)


def _vector(t: ValueWriter, value: TypedValue) -> VectorType:
    if not isinstance(value.type, VectorType):
        t.refuse("a vector is expected")
    return value.type
