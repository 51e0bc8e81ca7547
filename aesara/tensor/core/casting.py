"""Conversion of tensors between dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import aesara.scalar as aes
from aesara.configdefaults import config
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import dtype_specs_map
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.utils import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["cast"]


def _conversion_to(dtype: str) -> Elemwise:
    """Return the elementwise op that converts to `dtype`."""
    return Elemwise(getattr(aes, f"convert_to_{dtype}"))


_convert_to_bool = _conversion_to("bool")
_convert_to_int8 = _conversion_to("int8")
_convert_to_int16 = _conversion_to("int16")
_convert_to_int32 = _conversion_to("int32")
_convert_to_int64 = _conversion_to("int64")
_convert_to_uint8 = _conversion_to("uint8")
_convert_to_uint16 = _conversion_to("uint16")
_convert_to_uint32 = _conversion_to("uint32")
_convert_to_uint64 = _conversion_to("uint64")
_convert_to_float16 = _conversion_to("float16")
_convert_to_float32 = _conversion_to("float32")
_convert_to_float64 = _conversion_to("float64")
_convert_to_complex64 = _conversion_to("complex64")
_convert_to_complex128 = _conversion_to("complex128")

_cast_mapping = {
    "bool": _convert_to_bool,
    "int8": _convert_to_int8,
    "int16": _convert_to_int16,
    "int32": _convert_to_int32,
    "int64": _convert_to_int64,
    "uint8": _convert_to_uint8,
    "uint16": _convert_to_uint16,
    "uint32": _convert_to_uint32,
    "uint64": _convert_to_uint64,
    "float16": _convert_to_float16,
    "float32": _convert_to_float32,
    "float64": _convert_to_float64,
    "complex64": _convert_to_complex64,
    "complex128": _convert_to_complex128,
}


def resolve_dtype(dtype: DTypeLike) -> str:
    """Return the name of `dtype`, with ``"floatX"`` replaced by the configured one.

    Examples
    --------
    >>> resolve_dtype(np.int8)
    'int8'
    """
    if isinstance(dtype, str) and dtype == "floatX":
        return config.floatX
    try:
        return np.dtype(dtype).name
    except TypeError:
        hint = did_you_mean(dtype, dtype_specs_map) if isinstance(dtype, str) else ""
        raise TypeError(f"{dtype!r} is no dtype; there are {', '.join(dtype_specs_map)}.{hint}") from None


def cast(x: TensorLike, dtype: str | np.dtype) -> TensorVariable:
    """Convert a tensor to another dtype.

    Parameters
    ----------
    x
        A tensor, or anything that converts to one.
    dtype
        A NumPy dtype, its name, or ``"floatX"``.

    Returns
    -------
    TensorVariable
        `x` itself when it has the dtype already.

    Raises
    ------
    TypeError
        If `x` is complex and `dtype` is not.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> cast(at.lvector("x"), "float32").dtype
    'float32'
    """
    dtype = resolve_dtype(dtype)
    tensor = as_tensor_variable(x)
    if tensor.type.dtype == dtype:
        return tensor
    if tensor.type.dtype.startswith("complex") and not dtype.startswith("complex"):
        raise TypeError(
            f"Casting from {tensor.type.dtype} to {dtype} is ambiguous: choose `real`, `imag`, `abs` or `angle`."
        )
    conversion = _cast_mapping.get(dtype)
    if conversion is None:
        raise TypeError(f"Cannot cast to {dtype}; supported are {', '.join(_cast_mapping)}.")
    return conversion(tensor)
