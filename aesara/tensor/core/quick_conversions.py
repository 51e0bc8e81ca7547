"""Fast conversions of frequent values to arrays of a tensor type.

A conversion returns exactly what `TensorType.filter` returns, as an aligned, C-contiguous array with the descriptor of
the type. It may also return None or raise any error; then `filter` is called. Static lengths are not checked here, but
by the code that reads the array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.tensor.core.dtypes import all_dtypes

#: takes a value of one class; returns an array, or None if `filter` has to decide
Conversion = Callable[[Any], Any]

#: kinds of casts: those that keep all values; those that change integers without a floating-point form; others
_EXACT, _INTEGERS, _LOSSY = range(3)

#: whether NumPy has casts that raise an error where they would change a value
_CASTS_COMPARE = np.lib.NumpyVersion(np.__version__) >= "2.4.0"

#: the flags C_CONTIGUOUS and ALIGNED
_PLAIN = 0x1 | 0x100
#: the square of the least positive integer beside which not every integer is a float64
_SQUARE = 2.0**106
_MOST = 2**53
#: longer products may start threads of BLAS, for which the time that the filter takes is no reason
_LONG = 4096

_DTYPES = {name: np.dtype(name) for name in all_dtypes}
_INTEGER_CLASSES = (
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
)  # fmt: skip
#: classes of numbers, except integers, that are converted quickly, and the dtype that NumPy gives each
_OTHER_NUMBERS = {
    bool: "bool", np.bool_: "bool", np.float16: "float16", np.float32: "float32", float: "float64",
    np.float64: "float64", np.complex64: "complex64", complex: "complex128", np.complex128: "complex128",
}  # fmt: skip
#: classes of elements of lists, except integers, that are converted quickly
_NO_INTEGERS = frozenset({bool, float, np.bool_, np.float32, np.float64})
_ELEMENTS = frozenset({*_NO_INTEGERS, int, np.int64})
_BUILT_IN = frozenset({bool, float, int})
#: per floating-point dtype: the least normal number and the largest number, both rounded to the safe side
_NORMAL = {"float16": (1e-4, 6e4), "float32": (1e-37, 1e38)}


@functools.cache
def conversions(dtype: str, is_scalar: bool, strict: bool, allow_downcast: bool | None) -> dict[type, Conversion]:
    """Return the quick conversions of values, by their classes.

    Parameters
    ----------
    dtype
        The dtype of the type.
    is_scalar
        Whether the type has no dimensions.
    strict, allow_downcast
        What `TensorType.filter` is called with.
    """
    target = _DTYPES[dtype]
    casts = {} if strict else {source: _cast_kind(source, target) for source in _DTYPES.values()}
    result: dict[type, Conversion] = {np.ndarray: _from_array(target, casts, strict, bool(allow_downcast))}
    if strict:
        return result
    if is_scalar:
        return result | _from_numbers(target, casts, allow_downcast)
    sequence = _from_sequence(target, casts, bool(allow_downcast))
    return result | {list: sequence, tuple: sequence}


def _cast_kind(source: np.dtype[Any], target: np.dtype[Any]) -> int:
    if not np.can_cast(source, target, "safe"):
        return _LOSSY
    # NumPy considers the cast from int64 to float64 safe.
    return _INTEGERS if source.kind in "iu" and source.itemsize == 8 and target.kind in "fc" else _EXACT


def _from_array(
    target: np.dtype[Any], casts: dict[np.dtype[Any], int], strict: bool, allow_downcast: bool
) -> Conversion:
    """Return the conversion of arrays."""
    cast_of = {source: sort for source, sort in casts.items() if source != target}.get
    is_complex = target.kind == "c"

    def convert(value: np.ndarray) -> np.ndarray | None:
        dtype = value.dtype
        if dtype is target:
            flags = value.flags
            if flags.num & _PLAIN == _PLAIN:
                return value
            return None if strict and not flags.aligned else value.copy()
        sort = cast_of(dtype)
        if sort is None:
            return None
        if allow_downcast and (sort == _LOSSY or dtype.kind in "fc"):
            return _cast(value, target) if is_complex or dtype.kind != "c" else None
        if sort == _EXACT or allow_downcast:
            return value.astype(target, "C")
        if sort == _LOSSY or is_complex:
            return None
        return _exactly(value, target)

    return convert


def _exactly(integers: np.ndarray, target: np.dtype[Any]) -> np.ndarray | None:
    """Integers of 64 bits as floating-point numbers, if all are exact."""
    if _CASTS_COMPARE:
        return integers.astype(target, "C", "same_value")  # type: ignore[call-overload]  # NumPy's stubs lack it
    converted = integers.astype(target, "C")
    flat = converted if converted.ndim == 1 else converted.ravel()
    # Each square is at most the sum, in any order of summation.
    return converted if len(flat) <= _LONG and flat.dot(flat) < _SQUARE else None


def _cast(value: np.ndarray, target: np.dtype[Any]) -> np.ndarray:
    """Cast without checks, as `filter` does if downcasting is allowed."""
    with np.errstate(invalid="ignore", over="ignore"):
        return value.astype(target, "C")


def _from_numbers(
    target: np.dtype[Any], casts: dict[np.dtype[Any], int], allow_downcast: bool | None
) -> dict[type, Conversion]:
    """Return conversions of numbers, by class."""
    array = np.array

    def exact(value: Any) -> np.ndarray:
        return array(value, target)

    def floating(value: Any) -> np.ndarray | None:
        number = float(value)
        return array(number, target) if number == number else None  # casts of some NaNs warn

    def complex_number(value: Any) -> np.ndarray | None:
        return array(value, target) if value == value else None

    least, most = _exact_integers(target)

    def integer(value: int) -> np.ndarray | None:
        return array(value, target) if least <= value <= most else None

    def numpy_integer(value: Any) -> np.ndarray | None:
        return integer(int(value))

    result: dict[type, Conversion] = {int: integer}
    for integer_class in _INTEGER_CLASSES:
        result[integer_class] = exact if casts[np.dtype(integer_class)] == _EXACT else numpy_integer
    for kind, name in _OTHER_NUMBERS.items():
        if name == target.name:
            result[kind] = exact
        elif casts[_DTYPES[name]] == _EXACT:
            result[kind] = {"b": exact, "f": floating, "c": complex_number}[_DTYPES[name].kind]
    if target.name in _NORMAL:
        result[float] = result[np.float64] = _narrowing_conversion(target, allow_downcast)
    elif target.kind in "iu":
        result[float] = result[np.float64] = lambda value: integer(int(value)) if value.is_integer() else None
    return result


def _exact_integers(target: np.dtype[Any]) -> tuple[int, int]:
    """Return the bounds of the range of integers that a dtype represents exactly."""
    if target.kind == "b":
        return 0, 1
    if target.kind in "iu":
        info = np.iinfo(target)
        return int(info.min), int(info.max)
    most = 2 ** (np.finfo(target).nmant + 1)
    return -most, most


def _narrowing_conversion(target: np.dtype[Any], allow_downcast: bool | None) -> Conversion:
    """Return the conversion of float64 to a floating-point dtype of lower precision."""
    array, name = np.array, target.name
    least, largest = _NORMAL[name]

    def convert(value: float) -> np.ndarray | None:
        if not (least < value < largest or -largest < value < -least or value == 0.0):
            return None
        converted = array(value, target)
        if allow_downcast or converted.item() == value or (allow_downcast is None and config.floatX == name):
            return converted
        return None

    return convert


def _from_sequence(target: np.dtype[Any], casts: dict[np.dtype[Any], int], allow_downcast: bool) -> Conversion:
    """Return the conversion of lists and tuples of numbers, possibly nested."""
    array, cast_of, is_complex, is_real = np.array, casts.get, target.kind == "c", target.kind in "iuf"

    def convert(value: Any) -> np.ndarray | None:
        kinds = set(map(type, value))
        is_nested = kinds == {list} or kinds == {tuple}
        if is_nested:
            kinds.clear()
            for row in value:
                kinds.update(map(type, row))
        if not kinds <= _ELEMENTS:
            return None
        original = array(value)
        dtype = original.dtype
        if not kinds <= _NO_INTEGERS and dtype.kind == "f":
            # Integers are rounded in a list with floating-point numbers.
            if not kinds <= _BUILT_IN or not all(_are_small(row) for row in (value if is_nested else (value,))):
                return None
        if dtype is target:
            return original
        sort = cast_of(dtype)
        if sort is None:
            return None
        if sort == _EXACT or allow_downcast:
            return _cast(original, target) if sort == _LOSSY or dtype.kind == "f" else original.astype(target)
        if sort == _INTEGERS:
            return None if is_complex else _exactly(original, target)
        return _cast_if_exact(original, target) if is_real else None

    return convert


def _cast_if_exact(original: np.ndarray, target: np.dtype[Any]) -> np.ndarray | None:
    """Cast numbers to another dtype if this is exact, else return None."""
    if _CASTS_COMPARE:
        return original.astype(target, "C", "same_value")  # type: ignore[call-overload]  # as above
    converted = _cast(original, target)
    # Python compares numbers exactly.
    return converted if converted.tolist() == original.tolist() else None


def _are_small(numbers: Any) -> bool:
    """Return whether the integers among numbers are so small that each is a float64; False if the first one is NaN."""
    return bool(max(map(abs, numbers), default=0) < _MOST)
