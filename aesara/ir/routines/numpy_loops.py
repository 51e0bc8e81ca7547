"""Functions of many numbers by the loops of NumPy's ufuncs, for results that are NumPy's to the last bit.

What `ir.vecmath` has for logarithms and the like is as accurate, and often faster, but rounds otherwise.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from aesara.ir.expr import const
from aesara.ir.routine import Data, Element, Int64Array, Null, Parameter, Pointers, Routine, size
from aesara.ir.work import Work

__all__ = ["loop", "loop_address", "power_of_one"]

_N, _M = size("n"), size("m")
_ITEM = const(8)
#: bytes from the beginning of a ufunc to the pointers to its loops, and to what these are called with
_LOOPS = object.__basicsize__ + 16
_POINTER = ctypes.sizeof(ctypes.c_void_p)


@functools.cache
def loop(name: str, arity: int) -> Routine:
    """A function of one or two float64 numbers, called for a vector ``x``, and a vector ``y`` or one number for all.

    The size ``step`` says how many bytes the elements of ``y`` are apart: 8, or 0 for one number.

    Examples
    --------
    >>> loop("log", 1).symbol
    'numpy.loop.log.1'
    """
    x, out = Parameter("x", "float64", (_N,)), Parameter("out", "float64", (_N,), is_read=False, is_written=True)
    second = (Parameter("y", "float64", (_M,)),) if arity == 2 else ()
    steps = (_ITEM, size("step"), _ITEM) if second else (_ITEM, _ITEM)

    def reference(values: dict[str, Any], *arrays: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            getattr(np, name)(*arrays[:-1], out=arrays[-1])

    return Routine(
        name=f"loop.{name}",
        title=f"NumPy's {name}",
        symbol=f"numpy.loop.{name}.{arity}",
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
def loop_address(name: str, arity: int) -> int | None:
    """Address of the loop of one of NumPy's ufuncs for float64 numbers; None if it cannot be called with numbers alone.

    Nor can it in NumPy 1, where what a loop gives depends on whether arrays are neighbours in memory.

    Examples
    --------
    >>> loop_address("nothing", 1) is None
    True
    """
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc) or f"{'d' * arity}->d" not in ufunc.types:
        return None
    position = ufunc.types.index(f"{'d' * arity}->d")
    loops, data = (ctypes.c_void_p * 2).from_address(id(ufunc) + _LOOPS)
    if data and ctypes.c_void_p.from_address(data + _POINTER * position).value:
        return None
    assert loops is not None
    address = ctypes.c_void_p.from_address(loops + _POINTER * position).value
    return address if address and _gives_the_same(ufunc, address) else None


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
