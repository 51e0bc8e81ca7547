"""Partial results of accumulations in lanes; see `aesara.ir.lanes`."""

from __future__ import annotations

from aesara.ir.instructions import InstructionWriter, Value, vector_of
from aesara.ir.lanes import lane_identity
from aesara.link.llvm.module import Module
from aesara.link.llvm.primitives import combine
from aesara.link.llvm.types import literal, memory_type

__all__ = ["join_lanes", "start_lanes"]


def start_lanes(kind: str, dtype: str, lanes: int, pointer: str) -> str:
    """Return the instruction that stores the identity element in all lanes."""
    t = memory_type(dtype)
    identity = lane_identity(kind, dtype).attr
    value = literal(identity, dtype) if dtype != "bool" else str(int(identity))
    return f"store <{lanes} x {t}> splat ({t} {value}), ptr {pointer}, align 64"


def join_lanes(kind: str, dtype: str, lanes: int, pointer: str, module: Module, w: InstructionWriter) -> Value:
    """Combine the lanes, the upper half with the lower, until one is left."""
    t = memory_type(dtype)
    whole = w.load(vector_of(t, lanes), pointer, ", align 64")
    while lanes > 1:
        lanes //= 2
        low, high = (whole.shuffle("poison", range(first, first + lanes)) for first in (0, lanes))
        whole = combine(module, kind, dtype, low, high)
    total = w.emit(t, f"extractelement {whole.operand}, i64 0")
    return total.differs(0) if dtype == "bool" else total
