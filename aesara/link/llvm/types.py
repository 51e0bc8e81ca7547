"""LLVM types of dtypes."""

from __future__ import annotations

from aesara.ir import instructions

__all__ = ["LLVM_TYPES", "is_float", "is_unsigned", "literal", "memory_type"]

LLVM_TYPES = {
    "bool": "i1",
    **{f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": "half",
    "float32": "float",
    "float64": "double",
}


def memory_type(dtype: str) -> str:
    return "i8" if dtype == "bool" else LLVM_TYPES[dtype]


def is_float(dtype: str) -> bool:
    return dtype.startswith("float")


def is_unsigned(dtype: str) -> bool:
    return dtype.startswith("u") or dtype == "bool"


def literal(value: float, dtype: str) -> str:
    """Return a constant of a dtype as LLVM text."""
    return instructions.literal(LLVM_TYPES[dtype], value)
