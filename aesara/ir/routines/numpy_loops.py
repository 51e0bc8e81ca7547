"""Elementwise functions by the loops of NumPy's ufuncs, for results that are bitwise NumPy's.

`ir.vecmath` is as accurate, and often faster, but rounds differently.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any

import numpy as np

from aesara.ir.expr import const
from aesara.ir.routine import Data, Element, Int64Array, Null, Parameter, Pointers, Routine, family, size
from aesara.ir.work import Work

__all__ = ["has_matrix_loops", "loop", "loop_address", "matmul", "power_of_one", "svd"]

_N, _M = size("n"), size("m")
_ITEM = const(8)
_LETTERS = {"float64": "d"}
#: strides of rows and columns in bytes
_MATRIX = (_N * _ITEM, _ITEM)
#: offset in a ufunc of the pointers to its loops and to their data
_LOOPS = object.__basicsize__ + 16
_POINTER = ctypes.sizeof(ctypes.c_void_p)


@family("loop")
def loop(name: str, inputs: str) -> Routine:
    """Return an elementwise function of one ("d") or two ("dd") float64 vectors.

    The second operand is a vector ``y`` or one number: the size ``step`` is the stride of ``y`` in bytes, 8 or 0.

    Examples
    --------
    >>> loop("log", "d").symbol
    'numpy.loop.log.d.d'
    """
    x, out = Parameter("x", "float64", (_N,)), Parameter("out", "float64", (_N,), is_read=False, is_written=True)
    second = (Parameter("y", "float64", (_M,)),) if inputs == "dd" else ()
    steps = (_ITEM, size("step"), _ITEM) if second else (_ITEM, _ITEM)

    def reference(values: dict[str, Any], *arrays: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            getattr(np, name)(*arrays[:-1], out=arrays[-1])

    return Routine(
        name=f"loop.{name}.{inputs}",
        title=f"NumPy's {name}",
        symbol=f"numpy.loop.{name}.{inputs}.d",
        sizes=("n", "m", "step") if second else ("n",),
        parameters=(x, *second, out),
        arguments=(Pointers(*(Data(p.name) for p in (x, *second, out))), Int64Array(_N), Int64Array(*steps), Null()),
        work=Work({(_N,): 5.0, (): 20.0}),
        reference=reference,
    )


@family("power_of_one")
def power_of_one() -> Routine:
    """Return NumPy's power of scalars, which is the C library's."""

    def reference(values: dict[str, Any], x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            out[:] = [a**b for a, b in zip(x, y, strict=True)]

    return Routine(
        name="power_of_one",
        title="power",
        symbol="pow",
        sizes=("n", "m"),
        parameters=(
            Parameter("x", "float64", (_N,)),
            Parameter("y", "float64", (_M,)),
            Parameter("out", "float64", (_N,), is_read=False, is_written=True),
        ),
        arguments=(Element("x"), Element("y")),
        work=Work({(_N,): 20.0, (): 20.0}),
        reference=reference,
        each="n",
        gives="out",
    )


@family("numpy_svd")
def svd(dtype: str) -> Routine:
    """Return the factors of a square matrix by `numpy.linalg.svd`, ``a = u * s @ vt``; NaN if it does not converge."""

    def reference(values: dict[str, Any], a: np.ndarray, u: np.ndarray, s: np.ndarray, vt: np.ndarray) -> None:
        try:
            u[...], s[...], vt[...] = np.linalg.svd(a)
        except np.linalg.LinAlgError:
            for array in (u, s, vt):
                array[...] = np.nan

    return Routine(
        name=f"numpy_svd.{dtype}",
        title="singular values",
        symbol=f"numpy.loop.svd_f.{_LETTERS[dtype]}.ddd",
        sizes=("n",),
        parameters=(
            Parameter("a", "float64", (_N, _N)),
            Parameter("u", "float64", (_N, _N), is_read=False, is_written=True),
            Parameter("s", "float64", (_N,), is_read=False, is_written=True),
            Parameter("vt", "float64", (_N, _N), is_read=False, is_written=True),
        ),
        arguments=(
            Pointers(*map(Data, ("a", "u", "s", "vt"))),
            Int64Array(const(1), _N, _N, _N),
            Int64Array(*(_ITEM,) * 4, *_MATRIX, *_MATRIX, _ITEM, *_MATRIX),
            Null(),
        ),
        work=Work({(_N, _N, _N): 5.0, (): 2000.0}),
        reference=reference,
    )


@family("numpy_matmul")
def matmul(dtype: str) -> Routine:
    """Return the product of an m x n matrix and the transpose of an n x n matrix, by `numpy.matmul`."""

    def reference(values: dict[str, Any], x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        np.matmul(x, y.T, out=out)

    return Routine(
        name=f"numpy_matmul.{dtype}",
        title="matrix product",
        symbol=f"numpy.loop.matmul.{_LETTERS[dtype] * 2}.d",
        sizes=("m", "n"),
        parameters=(
            Parameter("x", "float64", (_M, _N)),
            Parameter("y", "float64", (_N, _N)),
            Parameter("out", "float64", (_M, _N), is_read=False, is_written=True),
        ),
        arguments=(
            Pointers(*map(Data, ("x", "y", "out"))),
            Int64Array(const(1), _M, _N, _N),
            Int64Array(*(_ITEM,) * 3, *_MATRIX, *reversed(_MATRIX), *_MATRIX),
            Null(),
        ),
        work=Work({(_M, _N, _N): 0.1, (): 100.0}),
        reference=reference,
    )


def has_matrix_loops() -> bool:
    """Return whether NumPy has the loops for matrices; NumPy 1 has others."""
    routines = svd("float64"), matmul("float64")
    return all(loop_address(*routine.symbol.split(".")[2:]) is not None for routine in routines)


@functools.cache
def loop_address(name: str, inputs: str, outputs: str) -> int | None:
    """Return the address of a loop of one of NumPy's ufuncs; None if it does not depend on the operands alone.

    This excludes loops with data, and loops of NumPy 1 whose results depend on the distance of arrays in memory.

    Examples
    --------
    >>> loop_address("nothing", "d", "d") is None
    True
    """
    ufunc = getattr(np, name, None) or getattr(_matrix_functions(), name, None)
    types = f"{inputs}->{outputs}"
    if not isinstance(ufunc, np.ufunc) or types not in ufunc.types:
        return None
    position = ufunc.types.index(types)
    loops, data = (ctypes.c_void_p * 2).from_address(id(ufunc) + _LOOPS)
    if data and ctypes.c_void_p.from_address(data + _POINTER * position).value:
        return None
    assert loops is not None
    address = ctypes.c_void_p.from_address(loops + _POINTER * position).value
    return address if address and (ufunc.signature or _agrees_on_adjacent_arrays(ufunc, address)) else None


@functools.cache
def _matrix_functions() -> Any:
    return importlib.import_module("numpy.linalg._umath_linalg")


def _agrees_on_adjacent_arrays(ufunc: np.ufunc, address: int, count: int = 1000) -> bool:
    """Return whether a loop on adjacent arrays agrees with the ufunc on separate ones."""
    memory = np.linspace(0.1, 0.9, ufunc.nargs * count)
    operands = np.split(memory, ufunc.nargs)
    expected = ufunc(*[operand.copy() for operand in operands[:-1]])
    pointers = (ctypes.c_void_p * ufunc.nargs)(*[operand.ctypes.data for operand in operands])
    steps = (ctypes.c_ssize_t * ufunc.nargs)(*[memory.itemsize] * ufunc.nargs)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)
    function(pointers, ctypes.byref(ctypes.c_ssize_t(count)), steps, None)
    return np.array_equal(operands[-1], expected)
