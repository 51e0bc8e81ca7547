"""Scalar types: a `ScalarType` for each dtype, and tables of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.type import CType, HasDataType, HasShape, Type

if TYPE_CHECKING:
    pass

__all__ = [
    "ScalarType",
    "all_types",
    "bool",
    "complex64",
    "complex128",
    "complex_types",
    "complexs",
    "continuous_types",
    "discrete_dtypes",
    "discrete_types",
    "float16",
    "float32",
    "float64",
    "float_types",
    "floats",
    "get_scalar_type",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_types",
    "integer_types",
    "ints",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint_types",
    "upcast",
]

#: the supported dtypes, ordered by kind and size, with names in C and in NumPy's enumeration
_DTYPE_SPECS: dict[str, tuple[type, str, str]] = {
    "bool": (np.bool_, "npy_bool", "Bool"),
    "int8": (np.int8, "npy_int8", "Int8"),
    "int16": (np.int16, "npy_int16", "Int16"),
    "int32": (np.int32, "npy_int32", "Int32"),
    "int64": (np.int64, "npy_int64", "Int64"),
    "uint8": (np.uint8, "npy_uint8", "UInt8"),
    "uint16": (np.uint16, "npy_uint16", "UInt16"),
    "uint32": (np.uint32, "npy_uint32", "UInt32"),
    "uint64": (np.uint64, "npy_uint64", "UInt64"),
    "float16": (np.float16, "npy_float16", "Float16"),
    "float32": (np.float32, "npy_float32", "Float32"),
    "float64": (np.float64, "npy_float64", "Float64"),
    "complex64": (np.complex64, "aesara_complex64", "Complex64"),
    "complex128": (np.complex128, "aesara_complex128", "Complex128"),
}


class ScalarType(CType, HasDataType, HasShape):
    """The type of numbers of one dtype.

    Parameters
    ----------
    dtype
        One of the NumPy dtypes ``bool``, ``int8`` to ``int64``, ``uint8`` to ``uint64``, ``float16`` to
        ``float64``, ``complex64``, ``complex128``, or ``"floatX"`` for the configured floating-point dtype.

    Examples
    --------
    >>> from aesara.scalar import ScalarType
    >>> type(ScalarType("float32").filter(1)).__name__
    'float32'
    """

    __props__ = ("dtype",)
    ndim = 0
    shape = ()

    # `aesara.scalar.var` sets the classes of variables.
    variable_type: type
    constant_type: type

    def __init__(self, dtype: str | np.dtype | type):
        if isinstance(dtype, str) and dtype == "floatX":
            dtype = config.floatX
        try:
            name = np.dtype(dtype).name
        except TypeError:
            raise TypeError(_unsupported_dtype_message(dtype)) from None
        if name not in _DTYPE_SPECS:
            raise TypeError(_unsupported_dtype_message(name))
        self.dtype = name
        self.numpy_type = _DTYPE_SPECS[name][0]
        self.numpy_dtype = np.dtype(name)
        self._hash = hash((ScalarType, name))

    def __eq__(self, other: object) -> bool_:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return self.dtype == other.dtype

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Callable, tuple[str]]:
        if type(self) is ScalarType:
            return get_scalar_type, (self.dtype,)
        return type(self), (self.dtype,)

    def __str__(self) -> str:
        return self.dtype

    def __repr__(self) -> str:
        return f"ScalarType({self.dtype})"

    def clone(self, dtype: str | None = None, **kwargs: Any) -> ScalarType:
        """Return the type with another dtype."""
        if dtype is None or dtype == self.dtype:
            return self
        return type(self)(dtype)

    def in_same_class(self, other: Type) -> bool_:
        return self == other

    def filter(self, data: object, strict: bool_ = False, allow_downcast: bool_ | None = None) -> Any:
        """Convert `data` to a NumPy scalar of this dtype.

        Parameters
        ----------
        data
            A number or a 0-d array.
        strict
            Accept only NumPy scalars of this dtype.
        allow_downcast
            True permits loss of precision and overflow, False does not; None permits them only for Python floats that
            are converted to ``floatX``.

        Raises
        ------
        TypeError
            If `data` is not a number, or cannot be converted under these rules.
        """
        if type(data) is self.numpy_type:
            return data
        if strict:
            raise TypeError(
                f"{self.dtype} expected a {self.numpy_type.__name__} because strict=True, "
                f"but got {data!r} of type {type(data).__name__}"
            )
        array = self._as_number(data)
        with np.errstate(all="ignore"):
            converted = array.astype(self.numpy_dtype)
        accept = (
            allow_downcast
            or (allow_downcast is None and isinstance(data, (float, np.floating)) and self.dtype == config.floatX)
            or _same_number(array, converted)
        )
        if not accept:
            raise TypeError(
                f"Could not convert {data!r} of type {type(data).__name__} to {self.dtype} without "
                "changing its value; pass allow_downcast=True to permit that, or cast it explicitly"
            )
        return converted[()]

    def _as_number(self, data: object) -> np.ndarray:
        """Convert `data` to a 0-d array of a supported dtype."""
        try:
            array = np.asarray(data)
        except Exception:
            array = None
        if array is not None and array.dtype.kind == "O" and isinstance(data, int):
            raise TypeError(f"Could not convert {data!r} to {self.dtype}: the integer needs more than 64 bits")
        if array is None or array.ndim != 0 or array.dtype.name not in _DTYPE_SPECS:
            raise TypeError(
                f"Could not convert {data!r} of type {type(data).__name__} to {self.dtype}: expected a single number"
            )
        if array.dtype.kind == "c" and self.numpy_dtype.kind != "c":
            raise TypeError(
                f"Could not convert the complex number {data!r} to {self.dtype}; "
                "take real(), imag(), angle() or abs() first"
            )
        return array

    def is_valid_value(self, value: object, strict: bool_ = True) -> bool_:
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def values_eq(self, a: np.generic, b: np.generic) -> bool_:  # type: ignore[override]  # a class has no values here
        """Return whether two values are equal; NaN differs from NaN, as in Aesara 2.9.4."""
        return a == b

    def values_eq_approx(self, a: np.generic, b: np.generic, tolerance: float = 1e-4) -> bool_ | np.bool_:  # type: ignore[override]  # the same
        """Return whether two values are equal up to rounding errors."""
        if a == b or (a != a and b != b):
            return True
        if self.is_discrete or not (np.isfinite(a) and np.isfinite(b)):
            return False
        wide = np.complex128 if self.is_complex else np.float64
        a, b = wide(a), wide(b)
        return abs(a - b) <= tolerance * max(abs(a), abs(b))

    @staticmethod
    def may_share_memory(a: object, b: object) -> bool_:
        """Return False: scalars are immutable values, which never share memory."""
        return False

    def upcast(self, *others: ScalarType) -> str:
        """Return the common dtype of this type and `others`."""
        return upcast(self.dtype, *[other.dtype for other in others])

    def make_variable(self, name: str | None = None) -> Any:
        """Return a new variable of this type."""
        return self.variable_type(self, None, name=name)

    def __call__(self, name: str | None = None) -> Any:
        return self.variable_type(self, None, name=name)

    def dtype_specs(self) -> tuple[type, str, str]:
        """Return the NumPy scalar class, the C type name and the NumPy enumeration name."""
        return _DTYPE_SPECS[self.dtype]

    def get_shape_info(self, obj: np.generic) -> int:
        """Return the number of bytes of a value, for profilers."""
        return obj.itemsize

    def get_size(self, shape_info: int) -> int:
        """Return the number of bytes, given the result of `get_shape_info`."""
        return shape_info

    @property
    def is_discrete(self) -> bool_:
        """True for booleans and integers."""
        return self.numpy_dtype.kind in "biu"

    @property
    def is_complex(self) -> bool_:
        return self.numpy_dtype.kind == "c"


def _unsupported_dtype_message(dtype: object) -> str:
    return f"Unsupported dtype for ScalarType: {dtype}; expected one of {', '.join(_DTYPE_SPECS)}, floatX"


def _same_number(original: np.ndarray, converted: np.ndarray) -> bool_:
    with np.errstate(all="ignore"):
        if bool_(original != original):
            return bool_(converted != converted)
        # NumPy compares integers of different signedness through float64, which would hide a wrapped value.
        if original.dtype.kind in "biu" and converted.dtype.kind in "biu":
            return int(original) == int(converted)
        return bool_(original == converted)


# The public names below hide the builtin.
bool_ = bool

_TYPES: dict[object, ScalarType] = {name: ScalarType(name) for name in _DTYPE_SPECS}


def get_scalar_type(dtype: str | np.dtype | type, cache: dict[object, ScalarType] | None = None) -> ScalarType:
    """Return the `ScalarType` of a dtype; there is only one for each.

    Parameters
    ----------
    dtype
        A dtype, or a value that `numpy.dtype` accepts.
    cache
        A dictionary of types by dtype, in which the type is looked up and stored; None for the global one.

    Examples
    --------
    >>> from aesara.scalar import get_scalar_type
    >>> get_scalar_type("int8")
    ScalarType(int8)
    """
    if cache is None:
        cache = _TYPES
    try:
        return cache[dtype]
    except (KeyError, TypeError):
        scalar_type = ScalarType(dtype)
        return cache.setdefault(scalar_type.dtype, scalar_type)


bool: ScalarType = _TYPES["bool"]
int8: ScalarType = _TYPES["int8"]
int16: ScalarType = _TYPES["int16"]
int32: ScalarType = _TYPES["int32"]
int64: ScalarType = _TYPES["int64"]
uint8: ScalarType = _TYPES["uint8"]
uint16: ScalarType = _TYPES["uint16"]
uint32: ScalarType = _TYPES["uint32"]
uint64: ScalarType = _TYPES["uint64"]
float16: ScalarType = _TYPES["float16"]
float32: ScalarType = _TYPES["float32"]
float64: ScalarType = _TYPES["float64"]
complex64: ScalarType = _TYPES["complex64"]
complex128: ScalarType = _TYPES["complex128"]

int_types = (int8, int16, int32, int64)
uint_types = (uint8, uint16, uint32, uint64)
float_types = (float16, float32, float64)
complex_types = (complex64, complex128)
integer_types = int_types + uint_types
discrete_types = (bool,) + integer_types
continuous_types = float_types + complex_types
all_types = discrete_types + continuous_types
discrete_dtypes = tuple(scalar_type.dtype for scalar_type in discrete_types)


_promotions: dict[tuple, str] = {}


def upcast(dtype: str, *dtypes: str) -> str:
    """Return the name of the common dtype of several dtypes, by NumPy's promotion.

    Under ``cast_policy="numpy+floatX"``, float64 is replaced by ``floatX`` if it is only due to integers, so that
    integers do not increase the precision of computations in float32.

    Examples
    --------
    >>> from aesara.scalar import upcast
    >>> upcast("int8", "float32")
    'float32'
    """
    key = (dtype, *dtypes)
    try:
        promoted = _promotions[key]
    except (KeyError, TypeError):
        promoted = _promote(key)
    if promoted == "float64" and config.cast_policy == "numpy+floatX" and config.floatX != "float64":
        return _avoid_float64(key)
    return promoted


def _promote(dtypes: tuple) -> str:
    names = [str(np.dtype(config.floatX if name == "floatX" else name)) for name in dict.fromkeys(dtypes)]
    result = np.dtype(names[0])
    for name in names[1:]:
        result = np.promote_types(result, name)
    if result.name not in _DTYPE_SPECS:
        raise TypeError(f"The dtypes {', '.join(names)} promote to {result}, which is not supported")
    if "floatX" not in dtypes:
        _promotions[dtypes] = result.name
    return result.name


def _avoid_float64(dtypes: tuple) -> str:
    floats_in = [np.dtype(name) for name in dtypes if np.dtype(name).kind == "f"]
    if all(np.can_cast(dtype, config.floatX) for dtype in floats_in):
        return config.floatX
    return "float64"


def _variables_of(scalar_type: ScalarType) -> Callable:
    def make(*names: str | int) -> Any:
        flat: list[str | None] = []
        for name in names:
            if isinstance(name, int):
                flat.extend([None] * name)
            else:
                flat.extend(name.split() if " " in name.strip() else list(name))
        variables = [scalar_type(name) for name in flat]
        return variables[0] if len(variables) == 1 else variables

    make.__doc__ = f"Return {scalar_type.dtype} variables, one for each name (or each letter of a name)."
    return make


floats = _variables_of(float64)
ints = _variables_of(int64)
complexs = _variables_of(complex128)
