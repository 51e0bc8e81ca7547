"""Shared variables that hold one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.shared import SharedVariable
from aesara.scalar.types import get_scalar_type
from aesara.scalar.var import _scalar_py_operators

__all__ = ["ScalarSharedVariable", "shared"]


class ScalarSharedVariable(_scalar_py_operators, SharedVariable):
    """A shared variable whose value is a NumPy scalar."""


def shared(value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None) -> Any:
    """Return a shared variable of scalar type.

    Parameters
    ----------
    value
        A NumPy scalar, or a Python float, int or complex, which become float64, int64 and complex128.
    name
        The variable's name.
    strict, allow_downcast
        How later values are converted, see `ScalarType.filter`.

    Raises
    ------
    TypeError
        If `value` is not a single number.

    Examples
    --------
    >>> shared(1.5).type
    ScalarType(float64)
    """
    if not isinstance(value, np.number | np.bool_ | float | int | complex):
        raise TypeError(f"A scalar shared variable holds one number, got {value!r} of type {type(value).__name__}")
    number = np.asarray(value)[()]
    scalar_type = get_scalar_type(number.dtype.name)
    return ScalarSharedVariable(scalar_type, number, strict=strict, allow_downcast=allow_downcast, name=name)
