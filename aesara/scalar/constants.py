"""Python numbers as scalar constants: dtypes of numbers, and `as_scalar`.

Under ``cast_policy="custom"`` a Python number gets the smallest dtype that represents it, so that ``x + 1`` keeps the
dtype of ``x``. Under ``cast_policy="numpy+floatX"`` it gets NumPy's dtype, with float64 replaced by ``floatX``.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.scalar.types import ScalarType, get_scalar_type, upcast
from aesara.scalar.var import ScalarConstant, ScalarLike, ScalarVariable

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "NumpyAutocaster",
    "as_common_dtype",
    "as_scalar",
    "autocast_float",
    "autocast_float_as",
    "autocast_int",
    "constant",
    "convert",
    "literal",
    "literals_in_uint64",
    "register_as_scalar",
]


_INTEGER_RANGES = {
    dtype: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
}


class NumpyAutocaster:
    """Converts a Python number to the first of several dtypes that represents it.

    For integers (and arrays of them) the conversion must be exact. A float gets ``floatX`` if this is narrower than
    float64 and one of the dtypes; otherwise the first dtype that represents it exactly; otherwise the last one.

    Parameters
    ----------
    dtypes
        Candidate dtypes, narrowest first.

    Examples
    --------
    >>> from aesara.scalar import autocast_int
    >>> autocast_int(300).dtype
    dtype('int16')
    """

    def __init__(self, dtypes: Sequence[str]):
        self.dtypes = tuple(dtypes)

    def __call__(self, x: complex | np.ndarray | np.generic) -> np.ndarray:
        if config.cast_policy == "numpy+floatX":
            array = np.asarray(x)
            if isinstance(x, float) and not isinstance(x, np.generic):
                return _cast(array, config.floatX)
            return array
        if type(x) is int:
            # The most frequent case: `x + 1`.
            for dtype in self.dtypes:
                low, high = _INTEGER_RANGES.get(dtype, (1, 0))
                if low <= x <= high:
                    return np.array(x, dtype)
        if isinstance(x, (np.ndarray, np.generic)):
            return np.asarray(x)
        array = np.asarray(x)
        if array.dtype == object:
            raise OverflowError(f"The integer {x!r} needs more than 64 bits; pass it as a float or split it")
        return self._first_fit(array)

    def _first_fit(self, array: np.ndarray) -> np.ndarray:
        candidates = self._candidates()
        floating = array.dtype.kind == "f"
        for dtype in candidates:
            if floating and dtype == config.floatX:
                return _cast(array, dtype)
            cast_array = _cast(array, dtype)
            if np.array_equal(cast_array, array):
                return cast_array
        if floating:
            return _cast(array, candidates[-1])
        # NumPy has chosen uint64 for integers from 2**63 on.
        return array

    def _candidates(self) -> tuple[str, ...]:
        # float16 is chosen only if it is configured, since its precision is low.
        wide = tuple(dtype for dtype in self.dtypes if dtype != "float16" or config.floatX == "float16")
        return wide or self.dtypes


def _cast(array: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


autocast_int = NumpyAutocaster(("int8", "int16", "int32", "int64"))
autocast_float = NumpyAutocaster(("float16", "float32", "float64"))


class autocast_float_as:
    """Context in which Python floats get one of the given dtypes.

    It requires ``cast_policy="custom"``.

    Examples
    --------
    >>> from aesara.scalar import autocast_float_as, constant
    >>> with autocast_float_as("float32"):
    ...     constant(1.1).type
    ScalarType(float32)
    """

    def __init__(self, *dtypes: str):
        self.dtypes = dtypes
        if config.cast_policy != "custom":
            raise ValueError(f"autocast_float_as needs config.cast_policy='custom', but it is {config.cast_policy!r}")

    def __enter__(self) -> None:
        self.previous = autocast_float.dtypes
        autocast_float.dtypes = self.dtypes

    def __exit__(self, *args: object) -> None:
        autocast_float.dtypes = self.previous


def convert(x: complex | np.ndarray | np.generic, dtype: DTypeLike | None = None) -> np.ndarray:
    """Convert a value to an array; the cast policy determines the dtype of a Python number.

    Parameters
    ----------
    x
        A Python number, or anything that `numpy.asarray` accepts.
    dtype
        The dtype of the result, or ``"floatX"``; by default the cast policy determines it.

    Examples
    --------
    >>> from aesara.scalar.basic import convert
    >>> convert(1).dtype, convert(1, dtype="float32").dtype
    (dtype('int8'), dtype('float32'))
    """
    if dtype is not None:
        return np.asarray(x).astype(config.floatX if dtype == "floatX" else dtype)
    kind = type(x)
    if kind is int or kind is builtins.bool:
        if kind is builtins.bool and config.cast_policy == "custom":
            return np.asarray(x, dtype="int8")
        return autocast_int(x)
    if kind is float:
        return autocast_float(x)
    if isinstance(x, np.ndarray):
        return x
    return np.asarray(x)


def constant(
    x: complex | np.ndarray | np.generic, name: str | None = None, dtype: DTypeLike | None = None
) -> ScalarConstant:
    """Return a `ScalarConstant`.

    Parameters
    ----------
    x
        A number or an array without dimensions.
    name
        A name for the constant.
    dtype
        The dtype; by default the cast policy determines it for Python numbers.

    Examples
    --------
    >>> from aesara.scalar import constant
    >>> constant(3).type, constant(3, dtype="float64").type
    (ScalarType(int8), ScalarType(float64))
    """
    array = convert(x, dtype=dtype)
    if array.ndim != 0:
        raise TypeError(f"A scalar constant holds one number, got an array of shape {array.shape}")
    scalar_type = get_scalar_type(array.dtype.name)
    return scalar_type.constant_type(scalar_type, array[()], name=name)


def literal(value: complex | np.generic, like: Variable) -> ScalarConstant:
    """Return a constant with the dtype of the scalar variable `like`.

    Its dtype depends neither on the cast policy nor on ``floatX``; gradients and decompositions use it.
    """
    scalar_type = like.type
    with np.errstate(all="ignore"):
        number = scalar_type.numpy_type(value)
    return scalar_type.constant_type(scalar_type, number)


def literals_in_uint64(
    values: Sequence[object], dtypes: Sequence[str], result_dtypes: Callable[[tuple[str, ...]], Sequence[str]]
) -> list[int]:
    """Return the positions of Python integers that get the dtype uint64 of another operand, as in NumPy 2.

    No integer dtype represents the values of both uint64 and the signed dtype that a Python integer gets otherwise: the
    result would be a float, which is not exact, or an error. Integers that do not fit into uint64, and operands of
    operations with other results, get the dtypes of the cast policy.

    Parameters
    ----------
    values
        The operands before conversion.
    dtypes
        Their dtypes under the cast policy.
    result_dtypes
        A function from dtypes of operands to dtypes of results; it raises `TypeError` for unsupported ones.

    Examples
    --------
    >>> from aesara.scalar import upcast
    >>> literals_in_uint64(["u", 3], ["uint64", "int8"], lambda dtypes: [upcast(*dtypes)])
    [1]
    """
    if "uint64" not in dtypes or int not in map(type, values):
        return []
    literals = [k for k, value in enumerate(values) if type(value) is int and 0 <= value < 2**64]
    dtypes_with_uint64 = ["uint64" if k in literals else dtype for k, dtype in enumerate(dtypes)]
    if not _are_integers(dtypes_with_uint64, result_dtypes) or _are_integers(dtypes, result_dtypes):
        return []
    return literals


def _are_integers(dtypes: Sequence[str], result_dtypes: Callable[[tuple[str, ...]], Sequence[str]]) -> bool:
    try:
        return all(np.dtype(dtype).kind in "iub" for dtype in result_dtypes(tuple(dtypes)))
    except TypeError:
        return False


_as_scalar_converters: dict[type, Callable[[Any], Any]] = {}


def register_as_scalar(type_class: type, converter: Callable[[Any], Any]) -> None:
    """Register a conversion of variables of another type for `as_scalar`; the tensor layer registers its type."""
    _as_scalar_converters[type_class] = converter


def is_scalar(x: object) -> TypeGuard[ScalarVariable]:
    """Tell whether `x` is a variable of a scalar type."""
    return isinstance(x, Variable) and isinstance(x.type, ScalarType)


def as_scalar(x: ScalarLike, name: str | None = None, dtype: str | None = None) -> ScalarVariable:
    """Convert `x` to a scalar variable.

    Parameters
    ----------
    x
        A scalar variable, an Apply node with one output, a 0-d tensor variable, or a number.
    name, dtype
        The name and dtype of a new constant.

    Raises
    ------
    TypeError
        If `x` is none of these.

    Examples
    --------
    >>> from aesara.scalar import as_scalar
    >>> as_scalar(2).type
    ScalarType(int8)
    """
    if is_scalar(x):
        return x
    if isinstance(x, Variable):
        for type_class, converter in _as_scalar_converters.items():
            if isinstance(x.type, type_class):
                return converter(x)
        raise TypeError(f"Cannot convert the variable {describe(x)} of type {x.type} to a scalar")
    if isinstance(x, Apply):
        return as_scalar(x.default_output())
    return constant(x, name, dtype)


def as_common_dtype(*variables: ScalarVariable) -> Iterator[ScalarVariable]:
    """Return an iterator over the variables, cast to their common dtype."""
    dtype = upcast(*[variable.type.dtype for variable in variables])
    return (variable.astype(dtype) for variable in variables)
