"""Functions of many numbers by the loops of NumPy's ufuncs, for results that are NumPy's to the last bit.

What `ir.vecmath` has for logarithms and the like is as accurate, and often faster, but rounds otherwise.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any

import numpy as np

from aesara.ir.expr import const
from aesara.ir.routine import Data, Element, Families, Int64Array, Null, Parameter, Pointers, Routine, size
from aesara.ir.work import Work

__all__ = ["FAMILIES", "loop", "loop_address", "matmul", "matrix_loops", "power_of_one", "svd"]

_N, _M = size("n"), size("m")
_ITEM = const(8)
_LETTERS = {"float64": "d"}
#: bytes from one row to the next, and from one column to the next
_MATRIX = (_N * _ITEM, _ITEM)
#: bytes from the beginning of a ufunc to the pointers to its loops, and to what these are called with
_LOOPS = object.__basicsize__ + 16
_POINTER = ctypes.sizeof(ctypes.c_void_p)


@functools.cache
def loop(name: str, inputs: str) -> Routine:
    """A function of one number of dtype float64, "d", or two, "dd", for all numbers of a vector.

    They are a vector ``x``, and a vector ``y`` or one number for all.

    The size ``step`` says how many bytes the elements of ``y`` are apart: 8, or 0 for one number.

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


@functools.cache
def power_of_one() -> Routine:
    """The powers that NumPy gives of its scalars, which are those of the C library."""

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


@functools.cache
def svd(dtype: str) -> Routine:
    """The factors of a square matrix that `numpy.linalg.svd` gives, ``a = u * s @ vt``; NaN if it finds none."""

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


@functools.cache
def matmul(dtype: str) -> Routine:
    """The product of an m x n matrix with the transpose of another one of order n, by `numpy.matmul`."""

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


def matrix_loops() -> bool:
    """Whether NumPy has the functions of matrices; NumPy 1 has others."""
    routines = svd("float64"), matmul("float64")
    return all(loop_address(*routine.symbol.split(".")[2:]) is not None for routine in routines)


@functools.cache
def loop_address(name: str, inputs: str, outputs: str) -> int | None:
    """Address of the loop of one of NumPy's ufuncs for these types; None if it cannot be called with numbers alone.

    Nor can loops for vectors in NumPy 1, where what one gives depends on whether arrays are neighbours in memory.

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
    return address if address and (ufunc.signature or _gives_the_same(ufunc, address)) else None


@functools.cache
def _matrix_functions() -> Any:
    return importlib.import_module("numpy.linalg._umath_linalg")


def _gives_the_same(ufunc: np.ufunc, address: int, count: int = 1000) -> bool:
    """Whether a loop, called with neighbours in memory, gives what the ufunc gives of other arrays."""
    memory = np.linspace(0.1, 0.9, ufunc.nargs * count)
    operands = np.split(memory, ufunc.nargs)
    expected = ufunc(*[operand.copy() for operand in operands[:-1]])
    pointers = (ctypes.c_void_p * ufunc.nargs)(*[operand.ctypes.data for operand in operands])
    steps = (ctypes.c_ssize_t * ufunc.nargs)(*[memory.itemsize] * ufunc.nargs)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)
    function(pointers, ctypes.byref(ctypes.c_ssize_t(count)), steps, None)
    return np.array_equal(operands[-1], expected)


#: by the first word of its name, what makes a routine
FAMILIES: Families = {"loop": loop, "power_of_one": power_of_one, "numpy_svd": svd, "numpy_matmul": matmul}
