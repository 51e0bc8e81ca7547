"""Fourier transforms of rows, by the loops of the ufuncs behind `numpy.fft` (pocketfft), which exist since NumPy 2."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np

from aesara.ir.buffers import ITEM_SIZES
from aesara.ir.expr import const
from aesara.ir.routine import ConstantPointer, Data, Int64Array, Null, Parameter, Pointers, Routine, family, size
from aesara.ir.work import Work

__all__ = ["is_available", "transform", "transform_of_real", "transform_to_real"]

_M, _N = size("m"), size("n")
_HALF = _N // 2 + 1
_ZERO = const(0)
#: nanoseconds for each element, and for a call
_WORK = Work({(_M, _N): 15.0, (): 200.0})


@functools.cache
def is_available() -> bool:
    """Return whether this release of NumPy has the ufuncs."""
    return importlib.util.find_spec("numpy.fft._pocketfft_umath") is not None


def _bytes(*factors: Any) -> Any:
    return functools.reduce(lambda a, b: a * b, factors)


@family("fourier")
def transform(direction: str, dtype: str) -> Routine:
    """Return the in-place transform, "forward" or "inverse", of m rows of n complex numbers, without normalization."""
    forward = direction == "forward"
    item = const(2 * ITEM_SIZES[dtype])
    row = _bytes(_N, item)

    def reference(values: dict[str, Any], x: np.ndarray) -> None:
        numbers = x[..., 0] + 1j * x[..., 1]
        result = np.fft.fft(numbers) if forward else np.fft.ifft(numbers, norm="forward")
        x[..., 0], x[..., 1] = result.real, result.imag

    return Routine(
        name=f"fourier.{direction}.{dtype}",
        title="Fourier transform",
        symbol=f"numpy.fft.{'fft' if forward else 'ifft'}.{dtype}",
        sizes=("m", "n"),
        parameters=(Parameter("x", dtype, (_M, _N, const(2)), is_written=True, is_complex=True),),
        arguments=(
            Pointers(Data("x"), ConstantPointer(const(1, dtype)), Data("x")),
            Int64Array(_M, _N, _N),
            Int64Array(row, _ZERO, row, item, item),
            ConstantPointer(const(int(forward), "int8")),
        ),
        work=_WORK,
        reference=reference,
    )


@family("fourier_of_real")
def transform_of_real(dtype: str) -> Routine:
    """Return the transform of m rows of n real numbers to the first n // 2 + 1 complex numbers of each."""
    real = const(ITEM_SIZES[dtype])
    item = const(2 * ITEM_SIZES[dtype])

    def reference(values: dict[str, Any], x: np.ndarray, half: np.ndarray) -> None:
        result = np.fft.rfft(x)
        half[..., 0], half[..., 1] = result.real, result.imag

    return Routine(
        name=f"fourier_of_real.{dtype}",
        title="Fourier transform of real numbers",
        symbol=f"numpy.fft.rfft_n_even.{dtype}",
        other=(_N % 2, f"numpy.fft.rfft_n_odd.{dtype}"),
        sizes=("m", "n"),
        parameters=(
            Parameter("x", dtype, (_M, _N)),
            Parameter("half", dtype, (_M, _HALF, const(2)), is_read=False, is_written=True, is_complex=True),
        ),
        arguments=(
            Pointers(Data("x"), ConstantPointer(const(1, dtype)), Data("half")),
            Int64Array(_M, _N, _HALF),
            Int64Array(_bytes(_N, real), _ZERO, _bytes(_HALF, item), real, item),
            Null(),
        ),
        work=_WORK,
        reference=reference,
    )


@family("fourier_to_real")
def transform_to_real(dtype: str) -> Routine:
    """Return the inverse of `transform_of_real`, without normalization (times n)."""
    real = const(ITEM_SIZES[dtype])
    item = const(2 * ITEM_SIZES[dtype])

    def reference(values: dict[str, Any], half: np.ndarray, x: np.ndarray) -> None:
        x[...] = np.fft.irfft(half[..., 0] + 1j * half[..., 1], x.shape[-1], norm="forward")

    return Routine(
        name=f"fourier_to_real.{dtype}",
        title="Fourier transform to real numbers",
        symbol=f"numpy.fft.irfft.{dtype}",
        sizes=("m", "n"),
        parameters=(
            Parameter("half", dtype, (_M, _HALF, const(2)), is_complex=True),
            Parameter("x", dtype, (_M, _N), is_read=False, is_written=True),
        ),
        arguments=(
            Pointers(Data("half"), ConstantPointer(const(1, dtype)), Data("x")),
            Int64Array(_M, _HALF, _N),
            Int64Array(_bytes(_HALF, item), _ZERO, _bytes(_N, real), item, real),
            Null(),
        ),
        work=_WORK,
        reference=reference,
    )
