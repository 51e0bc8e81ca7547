"""Primitives on NumPy scalars: arithmetic, casts, and functions of SciPy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.ir.expr import COMPARISONS, TESTS
from aesara.ir.verify import IRError
from aesara.primitives import PRIMITIVES

_INT64_LIMIT = 2.0**63


@functools.cache
def _kind(dtype: str) -> Any:
    """Return the scalar type of a dtype."""
    return np.dtype(dtype).type


def wrap_integer(value: int, dtype: str) -> Any:
    """Wrap a Python integer to the width of the dtype (two's complement)."""
    if dtype == "int64" and -(2**63) <= value < 2**63:
        return np.int64(value)
    if dtype == "bool":
        return np.bool_(value & 1)
    bits = int(dtype.lstrip("uint"))
    value &= 2**bits - 1
    if dtype[0] != "u" and value >> (bits - 1):
        value -= 2**bits
    return _kind(dtype)(value)


def convert(value: Any, dtype: str) -> Any:
    """Cast a scalar to another dtype."""
    if dtype == "bool":
        return np.bool_(value != 0)
    if dtype.startswith("float"):
        with np.errstate(all="ignore"):
            return _kind(dtype)(value)
    if isinstance(value, np.floating):
        number = float(value)
        limit = 2 * _INT64_LIMIT if dtype == "uint64" else _INT64_LIMIT
        fits = math.isfinite(number) and -_INT64_LIMIT <= number < limit
        return wrap_integer(int(number) if fits else 2**63, dtype)  # as int64 the most negative number
    return wrap_integer(int(value), dtype)


def _floor_quotient(a: int, b: int) -> int:
    return a // b if b else 0


def _remainder(a: int, b: int) -> int:
    return a % b if b else 0


def _int_power(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 2**64) if a >= 0 else (-1 if b & 1 else 1) * pow(-a, b, 2**64)
    return 1 if a == 1 else (-1 if b & 1 else 1) if a == -1 else 0


_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": min,
    "maximum": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "neg": lambda a: -a,
    "abs": abs,
    "invert": lambda a: ~a,
    "intdiv": _floor_quotient,
    "mod": _remainder,
    "pow": _int_power,
    **{name: (lambda a: a) for name in ("floor", "ceil", "trunc", "rint")},
}
_LOGIC = {"add": "or", "mul": "and", "sub": "xor", "maximum": "or", "minimum": "and"}


def apply_primitive(name: str, args: Sequence[Any]) -> Any:
    """Return the value of a primitive on NumPy scalars of one dtype (for ``select``, a bool and two of one dtype)."""
    return primitive(name, str(args[0].dtype))(*args)


@functools.cache
def primitive(name: str, dtype: str) -> Callable[..., Any]:
    """Return a primitive as a function of NumPy scalars of `dtype`; for ``select``, that of the condition."""
    if name == "select":
        return lambda condition, a, b: a if condition else b
    if name in COMPARISONS:
        compare = _reference(name, dtype)
        return lambda a, b: np.bool_(compare(a, b))
    if name in TESTS and not dtype.startswith("float"):
        return lambda a: np.False_
    if dtype.startswith("float"):
        return _float_primitive(name, dtype)
    if name in ("shl", "shr"):
        return lambda a, by: _shift(name, int(a), int(by), dtype)
    compute = _INTEGER.get(_LOGIC.get(name, name) if dtype == "bool" else name)
    if compute is None:
        raise IRError(f"{name} is not defined on {dtype}")
    return lambda *args: wrap_integer(compute(*map(int, args)), dtype)


def _reference(name: str, dtype: str) -> Callable[..., Any]:
    reference = PRIMITIVES[name].reference
    if reference is None:
        raise IRError(f"{name} is not defined on {dtype}")
    return reference


def _float_primitive(name: str, dtype: str) -> Callable[..., Any]:
    compute = _reference(name, dtype)
    kind = np.bool_ if name in TESTS else _kind(dtype)
    via_float32 = dtype == "float16"

    def value(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return kind(compute(*map(np.float32, args)) if via_float32 else compute(*args))

    return value


def _shift(name: str, a: int, by: int, dtype: str) -> Any:
    bits = 1 if dtype == "bool" else int(dtype.lstrip("uint"))
    if not 0 <= by < bits:
        return wrap_integer(-1 if name == "shr" and a < 0 else 0, dtype)
    return wrap_integer(a << by if name == "shl" else a >> by, dtype)
