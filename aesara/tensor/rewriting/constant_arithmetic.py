"""Arithmetic of constants in the canonical forms of sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.tensor.core.tensor_type import TensorType

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def mul_calculate(num: Sequence[Any], denum: Sequence[Any], aslist: bool = False, out_type: Any = None) -> Any:
    """Return the product of some numbers divided by the product of others.

    Parameters
    ----------
    num, denum
        The numbers.
    aslist
        Return a list: empty for one, else with the value.
    out_type
        The type of the result.
    """
    if not num and not denum:
        return [] if aslist else np.int8(1)
    dtype = working_dtype([*num, *denum], out_type)
    value = _product(num, dtype)
    if denum:
        value = value / _product(denum, dtype)
    value = np.asarray(value)[()]
    if aslist:
        return [] if np.all(value == 1) else [value]
    return value


def _product(values: Sequence[ArrayLike], dtype: np.dtype) -> np.ndarray:
    """Return the product of a few numbers in a dtype, without the overhead of `numpy.prod`."""
    product = np.ones((), dtype)
    for value in values:
        product = np.multiply(product, np.asarray(value, dtype))
    return product


def add_calculate(num: Sequence[Any], denum: Sequence[Any], aslist: bool = False, out_type: Any = None) -> Any:
    """Return the sum of some numbers less the sum of others; see `mul_calculate`."""
    dtype = working_dtype([*num, *denum], out_type)
    zero = np.asarray(0, dtype)
    value = sum((np.asarray(v, dtype) for v in num), zero) - sum((np.asarray(v, dtype) for v in denum), zero)
    value = np.asarray(value)[()]
    if aslist:
        return [] if np.all(value == 0) else [value]
    return value


def working_dtype(values: Sequence[ArrayLike], out_type: Any) -> np.dtype:
    """Return the dtype for arithmetic of constants: wide for floats, that of the result for integers, which wrap."""
    if out_type is None:
        return np.result_type(*[np.asarray(v) for v in values]) if values else np.dtype("int8")
    dtype = np.dtype(dtype_of_constant(values, out_type.dtype))
    return {"f": np.dtype("float64"), "c": np.dtype("complex128")}.get(dtype.kind, dtype)


def dtype_of_constant(values: Sequence[ArrayLike], dtype: str) -> str:
    """Return the dtype of the constant that replaces several ones in a sum or product of a dtype.

    In complex expressions, real constants stay real, since an infinity as a complex number makes products NaN.
    """
    if dtype[:7] != "complex" or any(np.iscomplexobj(v) for v in values):
        return dtype
    return "float32" if dtype == "complex64" else "float64"


def is_lost(value: ArrayLike, parts: Sequence[ArrayLike], out_type: TensorType | None) -> bool:
    """Return whether combining constants overflowed or underflowed."""
    if out_type is None or out_type.dtype[:5] not in ("float", "compl"):
        return False
    array = np.asarray(value).astype(out_type.dtype)
    if not np.all(np.isfinite(array)):
        return all(bool(np.all(np.isfinite(part))) for part in parts)
    tiny = np.abs(array) < np.finfo(out_type.dtype).tiny
    return bool(np.any(tiny)) and len(parts) > 1 and all(bool(np.all(part != 0)) for part in parts)
