"""The partial results of accumulations in lanes: how they begin, and how they become one; see `aesara.ir.lanes`."""

from __future__ import annotations

from aesara.ir.lanes import neutral
from aesara.link.llvm.primitives import Fresh, Module, combine, literal, memory_type

__all__ = ["join_lanes", "start_lanes"]


def start_lanes(kind: str, dtype: str, lanes: int, place: str) -> str:
    """The line that fills the lanes at a place with what changes nothing."""
    t = memory_type(dtype)
    value = literal(neutral(kind, dtype).attr, dtype) if dtype != "bool" else str(int(neutral(kind, dtype).attr))
    return f"store <{lanes} x {t}> splat ({t} {value}), ptr {place}, align 64"


def join_lanes(kind: str, dtype: str, lanes: int, place: str, module: Module, fresh: Fresh) -> tuple[list[str], str]:
    """Lines that combine the lanes at a place, the upper half with the lower, until one is left, and its name."""
    t, whole = memory_type(dtype), fresh("all")
    lines = [f"{whole} = load <{lanes} x {t}>, ptr {place}, align 64"]
    while lanes > 1:
        half = lanes // 2
        low, high, both = fresh("low"), fresh("high"), fresh("both")
        for name, first in ((low, 0), (high, half)):
            numbers = ", ".join(f"i32 {k}" for k in range(first, first + half))
            part = f"shufflevector <{lanes} x {t}> {whole}, <{lanes} x {t}> poison, <{half} x i32> <{numbers}>"
            lines.append(f"{name} = {part}")
        lines.append(combine(kind, dtype, half, low, high, both, module))
        lanes, whole = half, both
    total = fresh("total")
    if dtype == "bool":
        byte = fresh("b")
        return [*lines, f"{byte} = extractelement <1 x i8> {whole}, i64 0", f"{total} = icmp ne i8 {byte}, 0"], total
    return [*lines, f"{total} = extractelement <1 x {t}> {whole}, i64 0"], total
