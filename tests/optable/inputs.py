"""Inputs of the cases of the op table: which values are drawn, and in which memory they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = ("bool", *INTEGERS, *FLOATS)
ALL = (*REAL, *COMPLEX)


@dataclass(frozen=True)
class Arg:
    """An input of a case.

    ``low`` and ``high`` bound what is drawn; with ``spaced`` values lie apart, so that no small change alters their
    order. ``values`` are used as they are. ``varies`` says that the input takes other dtypes where a test goes
    through them, ``differentiable`` that gradients are checked, ``static`` that the type always knows these lengths.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    low: float = -3.0
    high: float = 3.0
    spaced: bool = False
    values: Any = None
    varies: bool = True
    differentiable: bool = True
    static: tuple[int | None, ...] | None = None
    #: the largest and the smallest integer are among the values
    extreme: bool = False

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        if self.values is not None:
            return np.array(self.values, dtype=self.dtype)
        kind, shape = np.dtype(self.dtype).kind, self.shape
        if kind == "b":
            return np.asarray(rng.random(shape) < 0.5)
        if self.spaced:
            ordered = np.linspace(self.low, self.high, max(2, int(np.prod(shape))), endpoint=False)
            drawn = rng.permutation(ordered[: int(np.prod(shape))]).reshape(shape)
        elif kind in "iu":
            limits = np.iinfo(self.dtype)
            low, high = max(int(np.ceil(self.low)), limits.min), min(int(np.floor(self.high)), limits.max)
            drawn = np.asarray(rng.integers(low, high, shape, endpoint=True)).astype(self.dtype)
            if self.extreme:
                drawn[rng.random(shape) < 0.2] = limits.max
                drawn[rng.random(shape) < 0.2] = limits.min
            return drawn
        else:
            drawn = rng.uniform(self.low, self.high, shape)
        if kind == "c":
            return np.asarray(drawn + 1j * rng.uniform(self.low, self.high, shape)).astype(self.dtype)
        if kind in "iu":
            drawn = np.clip(np.round(drawn), np.iinfo(self.dtype).min, np.iinfo(self.dtype).max)
        return np.asarray(drawn).astype(self.dtype)

    def to(self, dtype: str) -> Arg:
        return replace(self, dtype=dtype) if self.varies else self

    @property
    def gradient_wanted(self) -> bool:
        return self.differentiable and self.dtype in ("float64", "complex128")


def real(*shape: int, low: float = -3.0, high: float = 3.0, **options: Any) -> Arg:
    """Real numbers."""
    return Arg(shape, low=low, high=high, **options)


def positive(*shape: int, low: float = 0.25, high: float = 4.0, **options: Any) -> Arg:
    """Real numbers above zero."""
    return Arg(shape, low=low, high=high, **options)


def spaced(*shape: int, low: float = -6.0, high: float = 6.0, **options: Any) -> Arg:
    """Real numbers without ties or near ties."""
    return Arg(shape, low=low, high=high, spaced=True, **options)


def integer(*shape: int, low: int = -3, high: int = 3, dtype: str = "int64", **options: Any) -> Arg:
    """Integers from `low` to `high`, both included; of this dtype in every test."""
    return Arg(shape, dtype=dtype, low=low, high=high, varies=options.pop("varies", False), **options)


def boolean(*shape: int, **options: Any) -> Arg:
    """Truth values."""
    return Arg(shape, dtype="bool", varies=False, **options)


def exactly(values: Any, dtype: str | None = None, **options: Any) -> Arg:
    """These values, in every test."""
    values = np.asarray(values, dtype=dtype)
    return Arg(values.shape, dtype=str(values.dtype), values=values, varies=False, **options)


def _fortran(x: np.ndarray) -> np.ndarray:
    return np.array(x, order="F")


def _strided(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x.copy()


def _reversed(x: np.ndarray) -> np.ndarray:
    order = (slice(None, None, -1),) * x.ndim
    return x[order].copy()[order]


def _read_only(x: np.ndarray) -> np.ndarray:
    y = x.copy()
    y.setflags(write=False)
    return y


def _misaligned(x: np.ndarray) -> np.ndarray:
    memory = np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:]
    return memory.view(x.dtype).reshape(x.shape)


def _other_endian(x: np.ndarray) -> np.ndarray:
    return x.astype(x.dtype.newbyteorder())


def _broadcast(x: np.ndarray) -> np.ndarray:
    """Memory with a stride of zero where the values allow it: a first dimension of one row."""
    return np.broadcast_to(x[:1], x.shape) if x.ndim and len(x) and (x == x[:1]).all() else x.copy()


#: the same values in other memory
LAYOUTS = {
    "Fortran order": _fortran,
    "strided": _strided,
    "reversed": _reversed,
    "read-only": _read_only,
    "misaligned": _misaligned,
    "other byte order": _other_endian,
    "stride of zero": _broadcast,
}
