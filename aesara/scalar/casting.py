"""Conversion between dtypes."""

from __future__ import annotations

import numpy as np

from aesara.configdefaults import config
from aesara.scalar.constants import as_scalar
from aesara.scalar.native import Primitive
from aesara.scalar.op import UnaryScalarOp
from aesara.scalar.promotion import same_out, specific_out
from aesara.scalar.types import ScalarType, all_types, float16, float32, get_scalar_type
from aesara.scalar.var import ScalarLike, ScalarVariable

__all__ = [
    "Cast",
    "Identity",
    "cast",
    "identity",
    *[f"convert_to_{scalar_type.dtype}" for scalar_type in all_types],
]


def _identity(x: np.ndarray) -> np.ndarray:
    return x


class Identity(UnaryScalarOp):
    """The identity function."""

    dtype = same_out
    numpy = _identity

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return x

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g,)


class Cast(UnaryScalarOp):
    """Conversion of x to another dtype, as by `numpy.ndarray.astype`.

    Parameters
    ----------
    o_type
        The type to convert to.
    name
        The name in printed graphs.
    """

    numpy = _identity
    native = Primitive("cast")
    operands = "as_is"
    holomorphic = False

    def __init__(self, o_type: ScalarType, name: str | None = None):
        if not isinstance(o_type, ScalarType):
            raise TypeError(f"Cast expects a ScalarType, got {o_type!r}")
        super().__init__(specific_out(o_type), name=name)
        self.o_type = o_type

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.o_type == other.o_type)

    def __hash__(self) -> int:
        return hash((type(self), self.o_type))

    def digest_facts(self) -> tuple[object, ...]:
        return (self.o_type,)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.o_type.dtype}}}"

    def clone_float32(self) -> Cast:
        """Return a cast to float32 if this is a cast to float16, else this op."""
        return Cast(float32, name="convert_to_float32") if self.o_type == float16 else self

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g,)


_casts = {scalar_type.dtype: Cast(scalar_type, name=f"convert_to_{scalar_type.dtype}") for scalar_type in all_types}

identity = Identity(name="identity")
convert_to_bool = _casts["bool"]
convert_to_int8 = _casts["int8"]
convert_to_int16 = _casts["int16"]
convert_to_int32 = _casts["int32"]
convert_to_int64 = _casts["int64"]
convert_to_uint8 = _casts["uint8"]
convert_to_uint16 = _casts["uint16"]
convert_to_uint32 = _casts["uint32"]
convert_to_uint64 = _casts["uint64"]
convert_to_float16 = _casts["float16"]
convert_to_float32 = _casts["float32"]
convert_to_float64 = _casts["float64"]
convert_to_complex64 = _casts["complex64"]
convert_to_complex128 = _casts["complex128"]


def cast(x: ScalarLike, dtype: str | np.dtype) -> ScalarVariable:
    """Convert a scalar to a dtype; a variable of this dtype is returned unchanged.

    Parameters
    ----------
    x
        A scalar variable or a number.
    dtype
        A dtype, or ``"floatX"``.

    Raises
    ------
    TypeError
        If the dtype is not supported, or if a complex number would lose its imaginary part.

    Examples
    --------
    >>> from aesara.scalar import cast, int8
    >>> cast(int8("x"), "float32").type
    ScalarType(float32)
    """
    target = get_scalar_type(config.floatX if isinstance(dtype, str) and dtype == "floatX" else dtype)
    variable = as_scalar(x)
    if variable.type.dtype == target.dtype:
        return variable
    if variable.type.is_complex and not target.is_complex:
        raise TypeError("Casting from complex to real is ambiguous: consider real(), imag(), angle() or abs()")
    return _casts[target.dtype](variable)
