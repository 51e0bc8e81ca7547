"""The partial results of accumulations in lanes: how they begin, and how they become one; see `aesara.ir.lanes`."""

from __future__ import annotations

from aesara.ir.lanes import neutral
from aesara.link.llvm.primitives import Module, combine, literal, memory_type

__all__ = ["join_lanes", "start_lanes"]


def start_lanes(kind: str, dtype: str, lanes: int, place: str) -> str:
    """The line that fills the lanes at a place with what changes nothing."""
    t = memory_type(dtype)
    value = literal(neutral(kind, dtype).attr, dtype) if dtype != "bool" else str(int(neutral(kind, dtype).attr))
    return f"store <{lanes} x {t}> splat ({t} {value}), ptr {place}, align 64"


def join_lanes(kind: str, dtype: str, lanes: int, place: str, module: Module) -> list[str]:
    """Lines that combine the lanes at a place, the upper half with the lower, until ``place.1`` is all of them."""
    t = memory_type(dtype)
    lines, whole = [f"{place}.all = load <{lanes} x {t}>, ptr {place}, align 64"], f"{place}.all"
    while lanes > 1:
        half = lanes // 2
        for name, first in (("low", 0), ("high", half)):
            numbers = ", ".join(f"i32 {k}" for k in range(first, first + half))
            part = f"shufflevector <{lanes} x {t}> {whole}, <{lanes} x {t}> poison, <{half} x i32> <{numbers}>"
            lines.append(f"{place}.{name}.{half} = {part}")
        lines.append(
            combine(kind, dtype, half, f"{place}.low.{half}", f"{place}.high.{half}", f"{place}.v{half}", module)
        )
        lanes, whole = half, f"{place}.v{half}"
    if dtype == "bool":
        return [
            *lines,
            f"{place}.byte = extractelement <1 x i8> {whole}, i64 0",
            f"{place}.1 = icmp ne i8 {place}.byte, 0",
        ]
    return [*lines, f"{place}.1 = extractelement <1 x {t}> {whole}, i64 0"]
