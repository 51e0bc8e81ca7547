"""Shared variables of arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.shared import SharedVariable, shared, shared_constructor
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import _tensor_py_operators


class TensorSharedVariable(_tensor_py_operators, SharedVariable):
    """A shared variable whose value is a NumPy array."""

    def zero(self, borrow: bool = False) -> None:
        """Set all elements of the value to zero.

        Parameters
        ----------
        borrow
            Write into the present buffer, which also changes values got with ``get_value(borrow=True)``.
        """
        value = self.container.value
        if borrow:
            value[...] = 0
        else:
            self.container.value = np.zeros_like(value)


class ScalarSharedVariable(TensorSharedVariable):
    """A shared variable constructed from a number; its value is a 0-d array."""


def _check_target(target: str) -> None:
    if target != "cpu":
        raise TypeError(f"shared() keeps arrays on the host only: target must be 'cpu', got {target!r}")


@shared_constructor.register(np.ndarray)
def tensor_constructor(
    value: np.ndarray,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: tuple[int | None, ...] | None = None,
    target: str = "cpu",
    broadcastable: tuple[bool, ...] | None = None,
) -> TensorSharedVariable:
    """Make the shared variable for an array.

    Parameters
    ----------
    value
        The array.
    borrow
        Use `value` itself as buffer instead of a copy.
    shape
        Static shape.  By default nothing but the number of dimensions is fixed, so that later values
        may have any size, also where `value` has size one: such a dimension does not broadcast.
    broadcastable
        Which dimensions broadcast; an older way to say `shape`.
    """
    _check_target(target)
    if broadcastable is not None:
        if shape is not None:
            raise TypeError("Give either `shape` or `broadcastable`, not both.")
        shape = tuple(1 if broadcasts else None for broadcasts in broadcastable)
    if shape is None:
        shape = (None,) * value.ndim
    return TensorSharedVariable(
        type=TensorType(value.dtype, shape=shape),
        value=value if borrow else np.array(value, copy=True),
        strict=strict,
        allow_downcast=allow_downcast,
        name=name,
    )


@shared_constructor.register(list)
@shared_constructor.register(tuple)
def sequence_constructor(value: list | tuple, *args: Any, **kwargs: Any) -> SharedVariable:
    """Construct the shared variable for a list: a tensor if it contains numbers, else a generic variable."""
    array = _array_of_numbers(value)
    if array is None:
        return shared_constructor.dispatch(object)(value, *args, **kwargs)
    if array.dtype == object:
        raise TypeError(f"The values {value!r} of a shared variable fit no NumPy integer type (int64 at most).")
    return tensor_constructor(array, *args, **kwargs)


def _array_of_numbers(value: object) -> np.ndarray | None:
    """Convert a nested list of numbers to an array; return None if it is empty, ragged, or contains other objects."""
    numbers = 0
    pending: list[Any] = [value]
    while pending:
        for entry in pending.pop():
            if isinstance(entry, (list, tuple)):
                pending.append(entry)
            elif isinstance(entry, (int, float, complex, np.number, np.bool_)):
                numbers += 1
            else:
                return None
    if not numbers:
        return None
    try:
        return np.asarray(value)
    except ValueError:
        return None


@shared_constructor.register(np.number)
@shared_constructor.register(np.bool_)
@shared_constructor.register(float)
@shared_constructor.register(int)
@shared_constructor.register(complex)
def scalar_constructor(
    value: complex | np.generic,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    target: str = "cpu",
) -> ScalarSharedVariable:
    """Make the shared variable for a number: int64, float64, complex128, bool, or a NumPy scalar's dtype."""
    _check_target(target)
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"The value {value!r} of a shared variable fits no NumPy integer type (int64 at most).")
    return ScalarSharedVariable(
        type=TensorType(array.dtype, shape=()),
        value=array,
        strict=strict,
        allow_downcast=allow_downcast,
        name=name,
    )


def load_shared_variable(val: object) -> SharedVariable:
    """Return a shared variable for `val`; kept for files that were pickled with it."""
    return shared(val)


__all__ = [
    "ScalarSharedVariable",
    "TensorSharedVariable",
    "load_shared_variable",
    "scalar_constructor",
    "sequence_constructor",
    "tensor_constructor",
]
