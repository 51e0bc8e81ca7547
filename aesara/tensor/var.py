"""Tensor variables and constants."""

from __future__ import annotations

import copy
from numbers import Number
from typing import Any

import numpy as np

from aesara.configdefaults import config  # noqa: F401 - documented under this path
from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.shared import expression_of_shared
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.operators import NoAttribute, _tensor_py_operators
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType, tensor_type
from aesara.tensor.type_other import NoneConst  # noqa: F401 - documented under this path
from aesara.utils import hash_from_code

__all__ = ["TensorConstant", "TensorVariable"]


def _is_no_shared_variable(x: Variable) -> str:
    """Return the error message for reading or setting the value of a variable that is not shared."""
    description = expression_of_shared(x) or (
        "has no value that could be read or set: make it by aesara.shared(value), or give its value as an argument of "
        "a function."
    )
    return f"{describe(x)} {description}"


class TensorVariable(_tensor_py_operators, Variable):
    """A symbolic array."""

    get_value = set_value = NoAttribute(_is_no_shared_variable)


TensorType.variable_type = TensorVariable


class TensorConstantSignature(tuple):
    """Merge key of a constant: its type and the bits of its value, with all NaNs equal.

    Zero and negative zero are different: their reciprocals are. All NaN are equal.
    """

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or self[0] != other[0]:
            return False
        return self._content() == other._content()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((TensorConstantSignature, self[0], self._content()))

    def __reduce__(self) -> tuple:
        return type(self), (tuple(self),)  # without the bytes that it has kept

    def _content(self) -> bytes:
        """Return the elements as bytes, with a canonical representation of NaN."""
        try:
            return self._bytes
        except AttributeError:
            data = self[1]
            if data.dtype.kind in "fc" and np.isnan(data).any():
                data = np.where(np.isnan(data), np.array(np.nan, dtype=data.dtype), data)
            self._bytes: bytes = data.tobytes()
            return self._bytes

    def aesara_hash(self) -> str:
        """Return a hash of the value that is the same in every process."""
        data = self[1]
        return hash_from_code(repr((data.dtype.str, data.shape)).encode() + self._content())

    @property
    def no_nan(self) -> np.ma.MaskedArray | np.ndarray:
        """The value, with NaN masked."""
        data = self[1]
        if data.dtype.kind not in "fc" or not np.isnan(data).any():
            return data
        return np.ma.masked_array(data, np.isnan(data))

    @property
    def sum(self) -> Any:
        """The sum of the elements that are not NaN."""
        return self.no_nan.sum()


def get_unique_value(x: Variable) -> Number | None:
    """Return the common value of all elements of a constant; None if they differ, or if `x` is not a constant."""
    if not isinstance(x, Constant):
        return None
    data = np.asarray(x.data)
    if data.size == 0:
        return None
    first = data.flat[0]
    if data.ndim == 0 or np.array_equal(data, np.broadcast_to(first, data.shape), equal_nan=data.dtype.kind in "fc"):
        return first
    return None


class TensorConstant(TensorVariable, Constant):
    """An array with a fixed value.

    Parameters
    ----------
    type
        Its type. That of the constant has the shape of the value.
    data
        The value.
    name
        For printing.
    """

    def __init__(self, type: TensorType, data: Any, name: str | None = None):
        data = type.filter(data)
        if type.shape != data.shape:
            type = tensor_type(type.dtype, data.shape) if type.__class__ is TensorType else type.clone(shape=data.shape)
        self.type = type
        self.name = name
        self._data = data

    def __str__(self) -> str:
        value = self.unique_value
        if value is not None:
            data = self._data
            shown = f"{data.shape} of {value}" if data.ndim else f"{value}"
        else:
            shown = str(self._data).replace("\n", " ")
            if len(shown) > 20:
                shown = f"{shown[:10]}..{shown[-10:]}"
        return f"{self.name or 'TensorConstant'}{{{shown}}}"

    @property
    def unique_value(self) -> Any:
        """The value that all elements have; None if they differ."""
        try:
            return self._unique_value
        except AttributeError:
            self._unique_value: Any = get_unique_value(self)
            return self._unique_value

    def signature(self) -> TensorConstantSignature:
        """Return the merge key of the constant; equal constants have equal keys."""
        try:
            return self._signature
        except AttributeError:
            self._signature: TensorConstantSignature = TensorConstantSignature((self.type, self._data))
            return self._signature

    def equals(self, other: Any) -> bool:
        """Return whether `other`, a constant or a value, has the same type and value."""
        if isinstance(other, (np.ndarray, Number, np.generic)):
            other = as_tensor_variable(other)
        return super().equals(other)

    def __copy__(self) -> Constant:
        # The value of a constant is immutable, so that copies share it.
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorConstant:
        return self.__class__(copy.deepcopy(self.type, memo), copy.deepcopy(self._data, memo), self.name)


TensorType.constant_type = TensorConstant


class _DenseMeta(type(TensorVariable)):  # type: ignore[misc]  # the class of a class is known
    """Metaclass by which variables and constants of dense types are instances of the classes below."""

    plain: type[TensorVariable]

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, cls.plain) or not isinstance(instance.type, DenseTensorType):
            return False
        # Constants are variables, but `isinstance(x, TensorVariable)` is meant to exclude them.
        return issubclass(cls.plain, TensorConstant) or not isinstance(instance, TensorConstant)


class DenseVariableMeta(_DenseMeta):
    """Metaclass by which variables of dense types, except constants, are instances of `DenseTensorVariable`."""

    plain = TensorVariable


class DenseTensorVariable(TensorVariable, metaclass=DenseVariableMeta):
    """The variables whose values are dense arrays; for `isinstance` checks."""


class DenseConstantMeta(_DenseMeta):
    """Metaclass by which constants of dense types are instances of `DenseTensorConstant`."""

    plain = TensorConstant


class DenseTensorConstant(TensorConstant, metaclass=DenseConstantMeta):
    """The constants whose values are dense arrays; for `isinstance` checks."""
