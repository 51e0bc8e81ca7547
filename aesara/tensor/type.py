"""The type of symbolic arrays, and the shorthands that make variables of it.

A `TensorType` is a dtype and a *static shape*: one entry per dimension, an
integer where the length is known and None where it is not. A dimension whose
static length is 1 is *broadcastable*; no other dimension is ever broadcast.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.nodes import Constant, Variable
from aesara.graph.source import user_source
from aesara.graph.type import HasDataType, HasShape, Type
from aesara.tensor.dtypes import (  # noqa: F401 - documented under this path
    all_dtypes,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    dtype_specs_map,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
)
from aesara.tensor.value_comparison import (  # noqa: F401 - documented under this path
    same_values,
    values_eq_approx,
    values_eq_approx_always_true,
    values_eq_approx_remove_inf,
    values_eq_approx_remove_inf_nan,
    values_eq_approx_remove_nan,
)

StaticShape = tuple[int | None, ...]

_NUMPY_DTYPES = {name: np.dtype(name) for name in dtype_specs_map}


def _dtype_name(dtype: Any) -> str:
    """The canonical name of a dtype, checked to be one that tensors can have."""
    if dtype == "floatX":
        return config.floatX
    try:
        name = np.dtype(dtype).name
    except TypeError as error:
        raise TypeError(f"Invalid dtype: {dtype!r}. Tensors have one of {', '.join(all_dtypes)}.") from error
    if name not in dtype_specs_map:
        raise TypeError(f"Unsupported dtype for TensorType: {name}. Tensors have one of {', '.join(all_dtypes)}.")
    return name


def refuse_without_values(data: Any) -> None:
    """Raise a `TypeError` about arrays of which an ndarray would not hold what is in them: masked and sparse ones."""
    if isinstance(data, np.ndarray):
        if type(data) is not np.ndarray and np.ma.is_masked(data):
            raise TypeError(
                f"The array has {np.ma.count_masked(data)} masked elements, which have no value: fill them, for "
                "example with array.filled(0.0), or leave them out."
            )
    elif hasattr(data, "toarray") and hasattr(data, "tocsr"):
        raise TypeError(f"Sparse matrices are not supported: convert them with toarray(). Got {type(data).__name__}.")


def _complain_about_float64() -> None:
    """Do what ``config.warn_float64`` wants when a float64 variable is made."""
    text = "A variable of dtype float64 is made. The option warn_float64 decides whether this is an error."
    if config.warn_float64 == "raise":
        raise TypeError(text)
    if config.warn_float64 == "pdb":
        breakpoint()
        return
    source = user_source()
    filename, lineno = ("<unknown>", 0) if source is None else (source.filename, source.lineno)
    warnings.warn_explicit(text, UserWarning, filename, lineno)


def _static_length(length: Any) -> int | None:
    """One entry of a static shape, in its canonical form: an int or None."""
    if length is None:
        return None
    if isinstance(length, (bool, np.bool_)):
        return 1 if length else None
    if isinstance(length, (int, np.integer)):
        if length < 0:
            raise ValueError(f"A static shape has lengths that are at least 0, or None if unknown; got {length}.")
        return int(length)
    raise TypeError(
        f"A static shape has integers, or None where a length is unknown; got {length!r} of type {type(length)}."
    )


class TensorType(Type, HasDataType, HasShape):
    """Symbolic type of `numpy.ndarray` values with a dtype and a partially known shape.

    Parameters
    ----------
    dtype
        A NumPy dtype or its name, or "floatX" for ``config.floatX``.
    shape
        One entry per dimension: its length, or None where it is not known.
        A Boolean is read as a broadcastable flag (True: length 1, False: unknown).
    name
        What the type is called when it is printed.
    broadcastable
        The older way of giving a shape: one Boolean per dimension.

    Examples
    --------
    >>> from aesara.tensor.type import TensorType
    >>> TensorType("float64", (2, None))
    TensorType(float64, (2, None))
    """

    __props__: tuple[str, ...] = ("dtype", "shape")

    variable_type: type[Variable]
    constant_type: type[Constant]

    #: Reject values that are not finite (slow; a debugging aid).
    filter_checks_isfinite = False

    def __init__(
        self,
        dtype: str | np.dtype | type,
        shape: Iterable[bool | int | None] | None = None,
        name: str | None = None,
        broadcastable: Iterable[bool] | None = None,
    ):
        if shape is None:
            if broadcastable is None:
                raise TypeError(
                    "TensorType needs a shape: a tuple with one entry per dimension, its length or None "
                    "if unknown, "
                    'as in TensorType("float64", (None, 3)).'
                )
            shape = [bool(flag) for flag in broadcastable]
        elif broadcastable is not None:
            raise TypeError("TensorType takes either shape or broadcastable, not both.")
        elif not isinstance(shape, Iterable) or isinstance(shape, str):
            raise TypeError(f"The shape of a TensorType is a tuple with one entry per dimension; got {shape!r}.")
        self.dtype: str = dtype if isinstance(dtype, str) and dtype in dtype_specs_map else _dtype_name(dtype)
        self.shape: StaticShape = tuple([_static_length(length) for length in shape])
        self.name = name
        self.numpy_dtype = _NUMPY_DTYPES[self.dtype]
        self._broadcastable = tuple([length == 1 for length in self.shape])
        self._hash = hash((type(self), self.dtype, self.shape))

    # -- variables --------------------------------------------------------

    def make_variable(self, name: str | None = None) -> Variable:
        """Return a new variable of this type."""
        if self.dtype == "float64" and config.warn_float64 != "ignore":
            _complain_about_float64()
        return self.variable_type(self, None, name=name)

    # -- identity ---------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return self.dtype == other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self):
        return _rebuild_tensor_type, (type(self), self.dtype, self.shape, self.name)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        return f"TensorType({self.dtype}, {self.shape})"

    __str__ = __repr__

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is known to be 1."""
        return self._broadcastable

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def clone(
        self,
        dtype: str | np.dtype | None = None,
        shape: Iterable[bool | int | None] | None = None,
        broadcastable: Iterable[bool] | None = None,
        **kwargs: Any,
    ) -> TensorType:
        """A copy of the type with another dtype or shape."""
        if dtype is None:
            dtype = self.dtype
        if broadcastable is not None:
            shape = [bool(flag) for flag in broadcastable]
        elif shape is None:
            shape = self.shape
        return type(self)(dtype, shape, name=kwargs.get("name", self.name))

    def dtype_specs(self) -> tuple[type, str, str]:
        """The Python type, the C type and the NumPy type number of the elements."""
        return dtype_specs_map[self.dtype]

    def to_scalar_type(self) -> aes.ScalarType:
        """The scalar type of the elements."""
        return aes.get_scalar_type(dtype=self.dtype)

    # -- relations to other types ------------------------------------------

    def in_same_class(self, otype: Type) -> bool:
        """Whether the other type has the same dtype and broadcasts along the same dimensions."""
        return isinstance(otype, TensorType) and otype.dtype == self.dtype and otype.broadcastable == self.broadcastable

    def is_super(self, otype: Type) -> bool:
        """Whether every value of the other type is also a value of this one."""
        if self is otype:
            return True
        if not isinstance(otype, TensorType) or otype.dtype != self.dtype or len(otype.shape) != len(self.shape):
            return False
        return all(mine is None or mine == theirs for mine, theirs in zip(self.shape, otype.shape))

    def convert_variable(self, var: Variable) -> Variable | None:
        """The variable, as one whose type is at least as specific as this type.

        Returns
        -------
        `var` itself if its type already says as much; `var` with a run-time
        check of its shape if it might be a value of this type; None if it
        never can be.
        """
        other = var.type
        if self.is_super(other):
            return var
        if not isinstance(other, TensorType) or other.dtype != self.dtype or len(other.shape) != len(self.shape):
            return None
        merged = []
        for mine, theirs in zip(self.shape, other.shape):
            if mine is not None and theirs is not None and mine != theirs:
                return None
            merged.append(theirs if mine is None else mine)
        return var.with_static_shape(tuple(merged))

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable:
        """A variable of this type, or of a more specific one, that stands for `other`.

        Parameters
        ----------
        other
            A variable, or a value to be made a constant of this type.
        allow_convert
            Whether a run-time check of the shape may be added.
        """
        if not isinstance(other, Variable):
            return self.constant_type(type=self, data=self.filter(other))
        if other.type == self:
            return other
        converted = self.convert_variable(other) if allow_convert else None
        if converted is None:
            raise TypeError(
                f"Cannot convert Type {other.type} (of Variable {other}) into Type {self}. "
                f"You can try to manually convert {other} into a {self}, for example with astype or "
                "specify_shape."
            )
        return converted

    # -- values -------------------------------------------------------------

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> np.ndarray:
        """The value as an array of this type.

        Parameters
        ----------
        data
            An array, a number or a nested sequence of numbers.
        strict
            Accept only an array that already has the dtype.
        allow_downcast
            True: cast to the dtype, whatever is lost. False or None: an array
            must have a dtype that casts safely, any other value must survive
            the cast unchanged; but under None a float scalar is accepted
            where the dtype is ``config.floatX``.

        Raises
        ------
        TypeError
            If the value does not fit; the message says what was expected,
            what came, and what to do about it.
        """
        if type(data) is not np.ndarray or data.dtype != self.numpy_dtype:
            data = self._cast(data, strict, allow_downcast)
        shape = data.shape
        if len(shape) != len(self.shape):
            raise TypeError(
                f"Wrong number of dimensions: expected {len(self.shape)}, got {len(shape)} with shape {shape}."
            )
        if shape != self.shape and any(
            known is not None and known != length for known, length in zip(self.shape, shape)
        ):
            raise TypeError(f"The type's shape ({self.shape}) is not compatible with the data's ({shape})")
        if not data.flags.aligned:
            if strict:
                raise TypeError(f"{self} expected an aligned ndarray; copy it to align it.")
            data = data.copy()
        if self.filter_checks_isfinite and not np.all(np.isfinite(data)):
            raise ValueError("Non-finite elements not allowed")
        return data

    def _cast(self, data: Any, strict: bool, allow_downcast: bool | None) -> np.ndarray:
        """The part of `filter` that is about the dtype."""
        if isinstance(data, Variable):
            raise TypeError(
                "Expected an array-like object, but found a Variable: maybe you are trying to call a function on a "
                "(possibly shared) variable instead of a numeric array?"
            )
        refuse_without_values(data)
        if isinstance(data, (list, tuple)) and any(isinstance(one, Variable) for one in data):
            raise TypeError(f"Expected numbers, but found a list with variables: {_excerpt(data)}. Use their values.")
        if isinstance(data, np.ndarray):
            if not isinstance(data, np.memmap):
                data = np.asarray(data)  # matrices have an arithmetic of their own
            if data.dtype == self.numpy_dtype:
                return data
        if strict:
            if isinstance(data, np.ndarray):
                raise TypeError(f"{self} expected an ndarray with dtype={self.dtype} (got {data.dtype}).")
            raise TypeError(f"{self} expected an ndarray object (got {type(data)}).")
        if isinstance(data, np.ndarray) and not allow_downcast:
            if np.can_cast(data.dtype, self.numpy_dtype, "safe"):
                return data.astype(self.numpy_dtype)
            raise TypeError(
                f"{self} cannot store a value of dtype {data.dtype} without risking loss of precision. "
                f"If you do not mind this loss, you can: 1) explicitly cast your data to {self.dtype}, "
                'for example with astype, or 2) set "allow_input_downcast=True" when calling "function". '
                f'Value: "{_excerpt(data)}"'
            )
        if allow_downcast is None and isinstance(data, (float, np.floating)) and self.dtype == config.floatX:
            return np.asarray(data, dtype=self.numpy_dtype)
        if not isinstance(data, np.generic) and isinstance(data, (type(None), dict, set, type)):
            raise TypeError(f"{self} expected an array, a number or a sequence of numbers (got {data!r}).")
        return self._cast_by_value(data, bool(allow_downcast))

    def _cast_by_value(self, data: Any, allow_downcast: bool) -> np.ndarray:
        """Cast something that is not an array; its values must survive unless downcasting is allowed."""
        original = np.asarray(data)
        # An explicit request to drop an imaginary part or to wrap around needs no warning,
        # and without one the comparison below refuses the value.
        source = original.real if original.dtype.kind == "c" and self.numpy_dtype.kind != "c" else original
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                converted = source.astype(self.numpy_dtype)
        except OverflowError:
            raise TypeError(self._inaccurate(data, "nothing at all: it is out of range")) from None
        if allow_downcast or same_values(original, converted):
            return converted
        if self.numpy_dtype.kind in "fc":
            converted = converted.astype(np.promote_types(original.dtype, converted.dtype))  # to show the difference
        raise TypeError(self._inaccurate(data, f"{_excerpt(converted, str)}"))

    def _inaccurate(self, data: Any, represented: str) -> str:
        return (
            f"{self} cannot store accurately value {_excerpt(data, str)}, it would be represented as {represented}. "
            "If you do not mind this precision loss, you can: 1) explicitly convert your data to a numpy array "
            f'of dtype {self.dtype}, or 2) set "allow_input_downcast=True" when calling "function".'
        )

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Whether two values could share memory; False unless both are arrays."""
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)

    @staticmethod
    def values_eq(a: Any, b: Any, force_same_dtype: bool = True) -> bool:
        """Whether two arrays are equal element by element; NaN equals NaN."""
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or (force_same_dtype and a.dtype != b.dtype):
            return False
        return same_values(a, b)

    @staticmethod
    def values_eq_approx(
        a: Any,
        b: Any,
        allow_remove_inf: bool = False,
        allow_remove_nan: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> bool:
        """Whether two arrays are equal but for rounding; see the function of that name."""
        return values_eq_approx(a, b, allow_remove_inf, allow_remove_nan, rtol, atol)

    def get_shape_info(self, obj: np.ndarray) -> tuple[int, ...]:
        """What `get_size` needs to know about a value."""
        return obj.shape

    def get_size(self, shape_info: tuple[int, ...]) -> int:
        """The number of bytes that a value of that shape takes."""
        size = self.numpy_dtype.itemsize
        for length in shape_info:
            size *= int(length)
        return size


def _rebuild_tensor_type(cls: type[TensorType], dtype: str, shape: StaticShape, name: str | None) -> TensorType:
    return cls(dtype, shape, name=name)


_interned: dict[tuple[str, StaticShape], TensorType] = {}


def tensor_type(dtype: str, shape: StaticShape) -> TensorType:
    """The nameless `TensorType` of a canonical dtype name and shape, made once and shared.

    Ops use it for their outputs: making one costs a dictionary look-up, and
    equal types are mostly identical, which makes comparing them quick.
    """
    key = (dtype, shape)
    found = _interned.get(key)
    if found is None:
        if len(_interned) > 10_000:
            _interned.clear()
        found = _interned[key] = TensorType(dtype, shape)
    return found


def _excerpt(value: Any, show: Callable[[Any], str] = repr) -> str:
    """A printed form of a value that is short enough for an error message."""
    text = show(value)
    return text if len(text) <= 300 else text[:300] + "..."


class DenseTypeMeta(type(TensorType)):
    """Makes every plain `TensorType` an instance of `DenseTensorType`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance) is TensorType or super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is TensorType or super().__subclasscheck__(subclass)


class DenseTensorType(TensorType, metaclass=DenseTypeMeta):
    """The tensor types whose values are dense arrays; for `isinstance` checks.

    A type for sparse arrays is a `TensorType` but no `DenseTensorType`.
    """


def tensor(*args: Any, **kwargs: Any) -> Variable:
    """A new variable with a dtype and a shape.

    Takes the arguments of `TensorType`; `name` is the name of the variable.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.tensor("float64", shape=(2, None), name="x").type
    TensorType(float64, (2, None))
    """
    name = kwargs.pop("name", None)
    if args and "dtype" in kwargs and isinstance(args[0], str):
        # tensor("x", dtype=..., shape=...): the name came first.
        name, args = args[0], args[1:]
    return TensorType(*args, **kwargs)(name=name)


def _plural(make: Callable[..., Variable]) -> Callable[..., list[Variable]]:
    """Make several variables at once: from a number, a string of one-letter names, or names."""

    def make_several(*names: Any) -> list[Variable]:
        if len(names) == 1:
            (names_or_count,) = names
            if isinstance(names_or_count, (int, np.integer)):
                return [make() for _ in range(names_or_count)]
            names = tuple(names_or_count)
        return [make(name) for name in names]

    make_several.__doc__ = f"Several variables of one type: {make}(3), or with names: ('x', 'y') or 'xy'."
    return make_several


def _variable(dtype: Any, shape: StaticShape, name: str | None) -> Variable:
    dtype = config.floatX if dtype is None or dtype == "floatX" else dtype
    return tensor_type(_dtype_name(dtype), shape)(name)


def scalar(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with no dimension; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (), name)


def vector(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with one dimension; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,), name)


def matrix(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with two dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None, None), name)


def row(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable of shape (1, n); `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (1, None), name)


def col(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable of shape (n, 1); `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None, 1), name)


def tensor3(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with three dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 3, name)


def tensor4(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with four dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 4, name)


def tensor5(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with five dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 5, name)


def tensor6(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with six dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 6, name)


def tensor7(name: str | None = None, dtype: Any = None) -> Variable:
    """A new variable with seven dimensions; `dtype` is ``config.floatX`` by default."""
    return _variable(dtype, (None,) * 7, name)


# Shorthands with a fixed dtype. The letter says which: b, w, i, l are int8, int16, int32, int64;
# f and d are float32 and float64; c and z are complex64 and complex128.

bscalar = TensorType("int8", ())
wscalar = TensorType("int16", ())
iscalar = TensorType("int32", ())
lscalar = TensorType("int64", ())
fscalar = TensorType("float32", ())
dscalar = TensorType("float64", ())
cscalar = TensorType("complex64", ())
zscalar = TensorType("complex128", ())
ubscalar = TensorType("uint8", ())
uwscalar = TensorType("uint16", ())
uiscalar = TensorType("uint32", ())
ulscalar = TensorType("uint64", ())

bvector = TensorType("int8", (None,))
wvector = TensorType("int16", (None,))
ivector = TensorType("int32", (None,))
lvector = TensorType("int64", (None,))
fvector = TensorType("float32", (None,))
dvector = TensorType("float64", (None,))
cvector = TensorType("complex64", (None,))
zvector = TensorType("complex128", (None,))

bmatrix = TensorType("int8", (None, None))
wmatrix = TensorType("int16", (None, None))
imatrix = TensorType("int32", (None, None))
lmatrix = TensorType("int64", (None, None))
fmatrix = TensorType("float32", (None, None))
dmatrix = TensorType("float64", (None, None))
cmatrix = TensorType("complex64", (None, None))
zmatrix = TensorType("complex128", (None, None))

brow = TensorType("int8", (1, None))
wrow = TensorType("int16", (1, None))
irow = TensorType("int32", (1, None))
lrow = TensorType("int64", (1, None))
frow = TensorType("float32", (1, None))
drow = TensorType("float64", (1, None))
crow = TensorType("complex64", (1, None))
zrow = TensorType("complex128", (1, None))

bcol = TensorType("int8", (None, 1))
wcol = TensorType("int16", (None, 1))
icol = TensorType("int32", (None, 1))
lcol = TensorType("int64", (None, 1))
fcol = TensorType("float32", (None, 1))
dcol = TensorType("float64", (None, 1))
ccol = TensorType("complex64", (None, 1))
zcol = TensorType("complex128", (None, 1))

btensor3 = TensorType("int8", (None, None, None))
wtensor3 = TensorType("int16", (None, None, None))
itensor3 = TensorType("int32", (None, None, None))
ltensor3 = TensorType("int64", (None, None, None))
ftensor3 = TensorType("float32", (None, None, None))
dtensor3 = TensorType("float64", (None, None, None))
ctensor3 = TensorType("complex64", (None, None, None))
ztensor3 = TensorType("complex128", (None, None, None))

btensor4 = TensorType("int8", (None, None, None, None))
wtensor4 = TensorType("int16", (None, None, None, None))
itensor4 = TensorType("int32", (None, None, None, None))
ltensor4 = TensorType("int64", (None, None, None, None))
ftensor4 = TensorType("float32", (None, None, None, None))
dtensor4 = TensorType("float64", (None, None, None, None))
ctensor4 = TensorType("complex64", (None, None, None, None))
ztensor4 = TensorType("complex128", (None, None, None, None))

btensor5 = TensorType("int8", (None, None, None, None, None))
wtensor5 = TensorType("int16", (None, None, None, None, None))
itensor5 = TensorType("int32", (None, None, None, None, None))
ltensor5 = TensorType("int64", (None, None, None, None, None))
ftensor5 = TensorType("float32", (None, None, None, None, None))
dtensor5 = TensorType("float64", (None, None, None, None, None))
ctensor5 = TensorType("complex64", (None, None, None, None, None))
ztensor5 = TensorType("complex128", (None, None, None, None, None))

btensor6 = TensorType("int8", (None, None, None, None, None, None))
wtensor6 = TensorType("int16", (None, None, None, None, None, None))
itensor6 = TensorType("int32", (None, None, None, None, None, None))
ltensor6 = TensorType("int64", (None, None, None, None, None, None))
ftensor6 = TensorType("float32", (None, None, None, None, None, None))
dtensor6 = TensorType("float64", (None, None, None, None, None, None))
ctensor6 = TensorType("complex64", (None, None, None, None, None, None))
ztensor6 = TensorType("complex128", (None, None, None, None, None, None))

btensor7 = TensorType("int8", (None, None, None, None, None, None, None))
wtensor7 = TensorType("int16", (None, None, None, None, None, None, None))
itensor7 = TensorType("int32", (None, None, None, None, None, None, None))
ltensor7 = TensorType("int64", (None, None, None, None, None, None, None))
ftensor7 = TensorType("float32", (None, None, None, None, None, None, None))
dtensor7 = TensorType("float64", (None, None, None, None, None, None, None))
ctensor7 = TensorType("complex64", (None, None, None, None, None, None, None))
ztensor7 = TensorType("complex128", (None, None, None, None, None, None, None))

scalars = _plural(scalar)
dscalars = _plural(dscalar)
fscalars = _plural(fscalar)
iscalars = _plural(iscalar)
lscalars = _plural(lscalar)
vectors = _plural(vector)
dvectors = _plural(dvector)
fvectors = _plural(fvector)
ivectors = _plural(ivector)
lvectors = _plural(lvector)
matrices = _plural(matrix)
dmatrices = _plural(dmatrix)
fmatrices = _plural(fmatrix)
imatrices = _plural(imatrix)
lmatrices = _plural(lmatrix)
rows = _plural(row)
drows = _plural(drow)
frows = _plural(frow)
irows = _plural(irow)
lrows = _plural(lrow)
cols = _plural(col)
dcols = _plural(dcol)
fcols = _plural(fcol)
icols = _plural(icol)
lcols = _plural(lcol)
tensor3s = _plural(tensor3)
dtensor3s = _plural(dtensor3)
ftensor3s = _plural(ftensor3)
itensor3s = _plural(itensor3)
ltensor3s = _plural(ltensor3)
tensor4s = _plural(tensor4)
dtensor4s = _plural(dtensor4)
ftensor4s = _plural(ftensor4)
itensor4s = _plural(itensor4)
ltensor4s = _plural(ltensor4)
tensor5s = _plural(tensor5)
dtensor5s = _plural(dtensor5)
ftensor5s = _plural(ftensor5)
itensor5s = _plural(itensor5)
ltensor5s = _plural(ltensor5)
tensor6s = _plural(tensor6)
dtensor6s = _plural(dtensor6)
ftensor6s = _plural(ftensor6)
itensor6s = _plural(itensor6)
ltensor6s = _plural(ltensor6)
tensor7s = _plural(tensor7)
dtensor7s = _plural(dtensor7)
ftensor7s = _plural(ftensor7)
itensor7s = _plural(itensor7)
ltensor7s = _plural(ltensor7)

int_types = int_scalar_types = (bscalar, wscalar, iscalar, lscalar)
float_types = float_scalar_types = (fscalar, dscalar)
complex_types = complex_scalar_types = (cscalar, zscalar)
int_vector_types = (bvector, wvector, ivector, lvector)
float_vector_types = (fvector, dvector)
complex_vector_types = (cvector, zvector)
int_matrix_types = (bmatrix, wmatrix, imatrix, lmatrix)
float_matrix_types = (fmatrix, dmatrix)
complex_matrix_types = (cmatrix, zmatrix)
