"""Constants whose values are arrays."""

from __future__ import annotations

import copy
from numbers import Number

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.variable import ArrayType, TensorVariable, functions
from aesara.utils import hash_from_code


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
    def sum(self) -> np.generic:
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

    def __init__(self, type: ArrayType, data: object, name: str | None = None):
        data = type.filter(data)
        if type.shape != data.shape:
            type = type.with_shape(data.shape)
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
    def unique_value(self) -> Number | None:
        """The value that all elements have; None if they differ."""
        try:
            return self._unique_value
        except AttributeError:
            self._unique_value: Number | None = get_unique_value(self)
            return self._unique_value

    def signature(self) -> TensorConstantSignature:
        """Return the merge key of the constant; equal constants have equal keys."""
        try:
            return self._signature
        except AttributeError:
            self._signature: TensorConstantSignature = TensorConstantSignature((self.type, self._data))
            return self._signature

    def equals(self, other: object) -> bool:
        """Return whether `other`, a constant or a value, has the same type and value."""
        if isinstance(other, (np.ndarray, Number, np.generic)):
            other = functions.as_tensor_variable(other)
        return super().equals(other)

    def __copy__(self) -> Constant:
        # The value of a constant is immutable, so that copies share it.
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> TensorConstant:
        return self.__class__(copy.deepcopy(self.type, memo), copy.deepcopy(self._data, memo), self.name)
