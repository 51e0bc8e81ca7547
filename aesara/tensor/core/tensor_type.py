"""The type of symbolic arrays.

A `TensorType` is a dtype and a *static shape*: one entry per dimension, an
integer where the length is known and None where it is not. A dimension whose
static length is 1 is *broadcastable*; no other dimension is ever broadcast.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.messages import describe, lengths_text
from aesara.graph.nodes import Variable
from aesara.graph.source import user_source
from aesara.graph.type import CType, HasDataType, HasShape, Type
from aesara.tensor.core.dtypes import all_dtypes, dtype_specs_map
from aesara.tensor.core.tensor_constant import TensorConstant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.value_comparison import (
    all_exact_as_float64,
    same_integers,
    same_values,
    values_eq_approx,
)
from aesara.tensor.core.variable import TensorVariable
from aesara.user_code import warn_user

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

StaticShape = tuple[int | None, ...]

_NUMPY_DTYPES = {name: np.dtype(name) for name in dtype_specs_map}


def dtype_name(dtype: DTypeLike) -> str:
    """Return the canonical name of a dtype; raise an error if tensors do not support it."""
    if dtype == "floatX":
        return config.floatX
    try:
        name = np.dtype(dtype).name
    except TypeError as error:
        raise TypeError(f"Invalid dtype: {dtype!r}. Tensors have one of {', '.join(all_dtypes)}.") from error
    if name not in dtype_specs_map:
        raise TypeError(f"Unsupported dtype for TensorType: {name}. Tensors have one of {', '.join(all_dtypes)}.")
    return name


def refuse_without_values(data: object) -> None:
    """Raise a `TypeError` for arrays that NumPy would not convert faithfully: masked and sparse ones."""
    if isinstance(data, np.ndarray):
        if type(data) is not np.ndarray and np.ma.is_masked(data):
            raise TypeError(
                f"The array has {np.ma.count_masked(data)} masked elements, which have no value: fill them, for "
                "example with array.filled(0.0), or leave them out."
            )
    elif hasattr(data, "toarray") and hasattr(data, "tocsr"):
        raise TypeError(f"Sparse matrices are not supported: convert them with toarray(). Got {type(data).__name__}.")


def _complain_about_float64() -> None:
    """Warn or raise an error about a new float64 variable, as ``config.warn_float64`` requires."""
    text = "A variable of dtype float64 is made. The option warn_float64 decides whether this is an error."
    if config.warn_float64 == "raise":
        raise TypeError(text)
    if config.warn_float64 == "pdb":
        breakpoint()
        return
    source = user_source()
    filename, lineno = ("<unknown>", 0) if source is None else (source.filename, source.lineno)
    warnings.warn_explicit(text, UserWarning, filename, lineno)


def _shape_of_flags(broadcastable: Iterable[bool]) -> list[bool]:
    """Return the static shape for broadcastable flags, the older parameter of types."""
    warn_user(
        "The parameter broadcastable of TensorType is deprecated; give a shape, with 1 for a dimension that is "
        "broadcast and None for one whose length is not known.",
        DeprecationWarning,
    )
    return [bool(flag) for flag in broadcastable]


def _static_length(length: object) -> int | None:
    """Convert an entry of a static shape to an int or None."""
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


#: The number of dimensions that NumPy's arrays have at most.
MOST_DIMENSIONS = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


class TensorType(CType, HasDataType, HasShape):
    """Symbolic type of `numpy.ndarray` values with a dtype and a partially known shape.

    Parameters
    ----------
    dtype
        A NumPy dtype or its name, or "floatX" for ``config.floatX``.
    shape
        One entry per dimension: its length, or None where it is not known.
        A Boolean is read as a broadcastable flag (True: length 1, False: unknown).
    name
        The name of the type in prints.
    broadcastable
        The older way of giving a shape: one Boolean per dimension.

    Examples
    --------
    >>> from aesara.tensor.type import TensorType
    >>> TensorType("float64", (2, None))
    TensorType(float64, (2, None))
    >>> print(TensorType("float64", (2, None)))
    TensorType(float64, (2, ?))
    """

    __props__: tuple[str, ...] = ("dtype", "shape")

    variable_type: type[TensorVariable] = TensorVariable
    constant_type: type[TensorConstant] = TensorConstant
    if TYPE_CHECKING:

        def __call__(self, name: str | None = None) -> TensorVariable: ...

        def make_constant(self, value: object, name: str | None = None) -> TensorConstant: ...

    #: Reject values that are not finite (slow; a debugging aid).
    filter_checks_isfinite = False

    #: Whether values are arrays; those of sparse types are not.
    is_dense = True

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
            shape = _shape_of_flags(broadcastable)
        elif broadcastable is not None:
            raise TypeError("TensorType takes either shape or broadcastable, not both.")
        elif not isinstance(shape, Iterable) or isinstance(shape, str):
            raise TypeError(f"The shape of a TensorType is a tuple with one entry per dimension; got {shape!r}.")
        self.dtype: str = dtype if isinstance(dtype, str) and dtype in dtype_specs_map else dtype_name(dtype)
        self.shape: StaticShape = tuple([_static_length(length) for length in shape])
        if len(self.shape) > MOST_DIMENSIONS:
            raise ValueError(
                f"A tensor has at most {MOST_DIMENSIONS} dimensions, as arrays of NumPy have; got {len(self.shape)}."
            )
        self.name = name
        self.numpy_dtype = _NUMPY_DTYPES[self.dtype]
        self._broadcastable = tuple([length == 1 for length in self.shape])
        self._hash = hash((type(self), self.dtype, self.shape))

    # -- variables --------------------------------------------------------

    def make_variable(self, name: str | None = None) -> TensorVariable:
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
        return rebuild_tensor_type, (type(self), self.dtype, self.shape, self.name)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        return f"TensorType({self.dtype}, {self.shape})"

    def __str__(self) -> str:
        return self.name or f"TensorType({self.dtype}, {lengths_text(self.shape)})"

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
            shape = _shape_of_flags(broadcastable)
        elif shape is None:
            shape = self.shape
        return type(self)(dtype, shape, name=kwargs.get("name", self.name))

    def with_shape(self, shape: StaticShape) -> TensorType:
        """Return the type with another static shape, of whose lengths each is an int or None."""
        return tensor_type(self.dtype, shape) if type(self) is TensorType else self.clone(shape=shape)

    def dtype_specs(self) -> tuple[type, str, str]:
        """The Python type, the C type and the NumPy type number of the elements."""
        return dtype_specs_map[self.dtype]

    def to_scalar_type(self) -> aes.ScalarType:
        """The scalar type of the elements."""
        return aes.get_scalar_type(dtype=self.dtype)

    # -- relations to other types ------------------------------------------

    def in_same_class(self, otype: Type) -> bool:
        """Return whether the other type has the same dtype and broadcasts along the same dimensions."""
        return (
            isinstance(otype, TensorType)
            and otype.dtype == self.dtype
            and otype.broadcastable == self.broadcastable
            and otype.is_dense == self.is_dense
        )

    def is_super(self, otype: Type) -> bool:
        """Return whether every value of the other type is also a value of this one."""
        if self is otype:
            return True
        if not isinstance(otype, TensorType) or otype.dtype != self.dtype or len(otype.shape) != len(self.shape):
            return False
        if otype.is_dense != self.is_dense:
            return False
        return all(mine is None or mine == theirs for mine, theirs in zip(self.shape, otype.shape))

    def convert_variable(self, var: Any) -> TensorVariable | None:
        """The variable, as one whose type is at least as specific as this type.

        Returns
        -------
        `var` itself if its type is as specific; `var` with a run-time
        check of its shape if it might be a value of this type; None if it
        never can be.
        """
        other = var.type
        if self.is_super(other):
            return var
        if not isinstance(other, TensorType) or other.dtype != self.dtype or len(other.shape) != len(self.shape):
            return None
        if other.is_dense != self.is_dense:
            return None
        merged = []
        for mine, theirs in zip(self.shape, other.shape):
            if mine is not None and theirs is not None and mine != theirs:
                return None
            merged.append(theirs if mine is None else mine)
        return var.with_static_shape(tuple(merged))

    def filter_variable(self, other: object, allow_convert: bool = True) -> TensorVariable:
        """Convert `other` to a variable of this type, or of a more specific one.

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
            return other  # type: ignore[return-value]  # its class follows from its type
        converted = self.convert_variable(other) if allow_convert else None
        if converted is None:
            raise TypeError(
                f"Cannot convert Type {other.type} (of Variable {describe(other)}) into Type {self}. "
                f"You can try to manually convert {other} into a {self}, for example with astype or "
                "specify_shape."
            )
        return converted

    # -- values -------------------------------------------------------------

    def filter(self, data: object, strict: bool = False, allow_downcast: bool | None = None) -> np.ndarray:
        """Convert a value to an array of this type.

        Parameters
        ----------
        data
            An array, a number or a nested sequence of numbers.
        strict
            Accept only an array that already has the dtype.
        allow_downcast
            True: cast to the dtype, even if that changes values. False or None: an array
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

    def external_value(self, value: object) -> object:
        """Return an array of NumPy."""
        is_stored_so = value is None or isinstance(value, np.ndarray) or not self.is_dense
        return value if is_stored_so else np.asarray(value)

    def _cast(self, data: object, strict: bool, allow_downcast: bool | None) -> np.ndarray:
        """Convert the dtype of a value; a part of `filter`."""
        if isinstance(data, Variable):
            raise TypeError(
                "Expected an array-like object, but found a Variable: maybe you are trying to call a function on a "
                "(possibly shared) variable instead of a numeric array?"
            )
        refuse_without_values(data)
        if isinstance(data, (list, tuple)) and any(isinstance(entry, Variable) for entry in data):
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
                converted = data.astype(self.numpy_dtype)
                # NumPy considers the cast from int64 to float64 safe.
                if self.numpy_dtype.kind in "fc" and data.dtype.kind in "iu":
                    if not all_exact_as_float64(data) and not same_integers(data, converted):
                        raise TypeError(self._inaccurate(data, f"{_excerpt(converted, str)}"))
                return converted
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

    def _cast_by_value(self, data: object, allow_downcast: bool) -> np.ndarray:
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
        if allow_downcast or (same_values(original, converted) and not _has_rounded_integers(data, original)):
            return converted
        if self.numpy_dtype.kind in "fc":
            converted = converted.astype(np.promote_types(original.dtype, converted.dtype))  # to show the difference
        raise TypeError(self._inaccurate(data, f"{_excerpt(converted, str)}"))

    def _inaccurate(self, data: object, represented: str) -> str:
        return (
            f"{self} cannot store accurately value {_excerpt(data, str)}, it would be represented as {represented}. "
            "If you do not mind this precision loss, you can: 1) explicitly convert your data to a numpy array "
            f'of dtype {self.dtype}, or 2) set "allow_input_downcast=True" when calling "function".'
        )

    @staticmethod
    def may_share_memory(a: object, b: object) -> bool:
        """Return whether two values could share memory; False unless both are arrays."""
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)

    @staticmethod
    def values_eq(a: object, b: object, force_same_dtype: bool = True) -> bool:
        """Return whether two arrays are equal element by element; NaN equals NaN."""
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or (force_same_dtype and a.dtype != b.dtype):
            return False
        return same_values(a, b)

    @staticmethod
    def values_eq_approx(
        a: TensorLike,
        b: TensorLike,
        allow_remove_inf: bool = False,
        allow_remove_nan: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> bool:
        """Return whether two arrays are equal but for rounding; see the function of that name."""
        return values_eq_approx(a, b, allow_remove_inf, allow_remove_nan, rtol, atol)

    def get_shape_info(self, obj: np.ndarray) -> tuple[int, ...]:
        """Return the information that `get_size` takes."""
        return obj.shape

    def get_size(self, shape_info: tuple[int, ...]) -> int:
        """Return the number of bytes of a value with the given shape information."""
        size = self.numpy_dtype.itemsize
        for length in shape_info:
            size *= int(length)
        return size


def rebuild_tensor_type(cls: type[TensorType], dtype: str, shape: StaticShape, name: str | None) -> TensorType:
    """Reconstruct a type from a pickle."""
    return cls(dtype, shape, name=name)


_interned: dict[tuple[str, StaticShape], TensorType] = {}


def tensor_type(dtype: str, shape: StaticShape) -> TensorType:
    """Return the `TensorType` without a name for a canonical dtype name and shape; types are cached.

    Ops use it for the types of their outputs: this is a dictionary look-up, and comparisons of identical types are
    fast.
    """
    key = (dtype, shape)
    result = _interned.get(key)
    if result is None:
        if len(_interned) > 10_000:
            _interned.clear()
        result = _interned[key] = TensorType(dtype, shape)
    return result


def _has_rounded_integers(data: object, as_array: np.ndarray) -> bool:
    """Return whether NumPy rounded integers when it converted a list of integers and floats to an array."""
    if not isinstance(data, (list, tuple)) or as_array.dtype.kind not in "fc" or not np.any(np.abs(as_array) >= 2**53):
        return False
    pending: list[Any] = [data]
    while pending:
        for entry in pending.pop():
            if isinstance(entry, (list, tuple)):
                pending.append(entry)
            elif not isinstance(entry, (float, complex, np.inexact)):
                integer = np.asarray(entry)
                if integer.dtype.kind in "iuO" and not same_values(integer, integer.astype(as_array.dtype)):
                    return True
    return False


def _excerpt(value: object, show: Callable[[object], str] = repr) -> str:
    """Return the text of a value, abbreviated for error messages."""
    text = show(value)
    return text if len(text) <= 300 else text[:300] + "..."


class DenseTypeMeta(type(TensorType)):  # type: ignore[misc]  # the class of a class is known
    """Metaclass by which every plain `TensorType` is an instance of `DenseTensorType`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance) is TensorType or super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is TensorType or super().__subclasscheck__(subclass)


class DenseTensorType(TensorType, metaclass=DenseTypeMeta):
    """The tensor types whose values are dense arrays; for `isinstance` checks.

    A type for sparse arrays is a `TensorType` but no `DenseTensorType`.
    """
