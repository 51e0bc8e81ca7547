"""Rules for the dtypes of results of scalar ops.

A rule takes the `ScalarType` of each input and returns a tuple with the type of each output. It raises `TypeError` if
the op is not defined for these inputs. ``ScalarOp.dtype`` is the rule of an op.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

import numpy as np

from aesara.configdefaults import config
from aesara.graph.utils import MetaObject
from aesara.scalar.types import (
    ScalarType,
    bool,
    float32,
    float64,
    get_scalar_type,
    int8,
    int64,
    upcast,
)

__all__ = [
    "ComplexError",
    "IntegerDivisionError",
    "bool_out",
    "complex_out",
    "divide_out",
    "float_out",
    "float_out_nocomplex",
    "int_out",
    "int_out_nocomplex",
    "integer_upcast_out",
    "real_out",
    "same_out",
    "same_out_float_only",
    "same_out_min8",
    "same_out_nobool",
    "same_out_nobool_nocomplex",
    "same_out_nocomplex",
    "specific_out",
    "transfer_type",
    "unary_out_lookup",
    "upcast_out",
    "upcast_out_min8",
    "upcast_out_no_complex",
    "upcast_out_nobool",
    "upcast_out_ordered",
    "upgrade_to_float",
    "upgrade_to_float64",
    "upgrade_to_float_no_complex",
]


class ComplexError(NotImplementedError):
    """Error of an operation that is not defined for complex numbers."""


class IntegerDivisionError(Exception):
    """Error of a division of integers that the configuration forbids."""


def _types_text(types: tuple[ScalarType, ...]) -> str:
    return ", ".join(scalar_type.dtype for scalar_type in types)


def _refuse_complex(types: tuple[ScalarType, ...]) -> None:
    for scalar_type in types:
        if scalar_type.is_complex:
            raise TypeError(f"complex arguments are not supported here, got {_types_text(types)}")


def _upcast_type(types: tuple[ScalarType, ...]) -> ScalarType:
    return get_scalar_type(upcast(*[scalar_type.dtype for scalar_type in types]))


def upcast_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs."""
    return (_upcast_type(types),)


def upcast_out_nobool(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs; it must not be Boolean."""
    result = _upcast_type(types)
    if result == bool:
        raise TypeError("booleans alone are not supported here: use xor, invert or a logical op, or cast to an integer")
    return (result,)


def upcast_out_min8(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs, with Boolean replaced by int8."""
    result = _upcast_type(types)
    return (int8 if result == bool else result,)


def upcast_out_no_complex(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs; complex numbers raise an error."""
    _refuse_complex(types)
    return (_upcast_type(types),)


def upcast_out_ordered(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs; complex numbers, for which // and % are not defined, raise an error."""
    if any(scalar_type.is_complex for scalar_type in types):
        raise ComplexError(f"complex numbers support neither // nor %, got {_types_text(types)}")
    return (_upcast_type(types),)


def integer_upcast_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """Boolean for Booleans, the promotion for integers; other types raise an error."""
    booleans = sum(scalar_type == bool for scalar_type in types)
    if booleans == len(types):
        return (bool,)
    if booleans or not all(scalar_type.is_discrete for scalar_type in types):
        hint = ""
        if booleans:
            hint = ". Convert with astype('bool'), or compare; True and False as constants are np.array(True) and so on"
        raise TypeError(f"expected either only booleans or only integers, got {_types_text(types)}{hint}")
    result = _upcast_type(types)
    if not result.is_discrete:
        raise TypeError(f"no integer dtype holds the values of both {' and '.join(t.dtype for t in types)}: cast one")
    return (result,)


def same_out(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the input."""
    return (type,)


def same_out_nobool(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the input; Booleans raise an error."""
    if type == bool:
        raise TypeError("a boolean is not supported here: use invert (~) for the logical opposite")
    return (type,)


def same_out_min8(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the input, with Boolean replaced by int8."""
    return (int8 if type == bool else type,)


def same_out_nocomplex(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the input; complex numbers raise an error."""
    _refuse_complex((type,))
    return (type,)


def same_out_nobool_nocomplex(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the input; Booleans and complex numbers raise an error."""
    _refuse_complex((type,))
    return same_out_nobool(type)


def same_out_float_only(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the input, which must be a real floating-point type."""
    if type.numpy_dtype.kind != "f":
        raise TypeError(f"only floating-point arguments are supported here, got {type.dtype}")
    return (type,)


def real_out(type: ScalarType) -> tuple[ScalarType, ...]:
    """The type of the real part of the input."""
    if type.is_complex:
        return (float32 if type.dtype == "complex64" else float64,)
    return (type,)


_FLOAT_OF_DISCRETE = {"bool": float32, "int8": float32, "uint8": float32, "int16": float32, "uint16": float32}


def _float_of(scalar_type: ScalarType) -> ScalarType:
    if not scalar_type.is_discrete:
        return scalar_type
    return _FLOAT_OF_DISCRETE.get(scalar_type.dtype, float64)


def upgrade_to_float(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs, with integers replaced by the smaller of float32 and float64 that represents them
    exactly.
    """
    return (get_scalar_type(upcast(*[_float_of(scalar_type).dtype for scalar_type in types])),)


def upgrade_to_float_no_complex(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The rule `upgrade_to_float`; complex numbers raise an error."""
    _refuse_complex(types)
    return upgrade_to_float(*types)


def upgrade_to_float64(*types: ScalarType) -> tuple[ScalarType, ...]:
    """float64 for real inputs; complex numbers raise an error."""
    _refuse_complex(types)
    return (float64,)


def divide_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """The promotion of all inputs; ``floatX`` for integers."""
    if all(scalar_type.is_discrete for scalar_type in types):
        return (get_scalar_type(config.floatX),)
    return (_upcast_type(types),)


def complex_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """complex64 if the real inputs promote to at most float32, else complex128."""
    _refuse_complex(types)
    width = np.promote_types(_upcast_type(types).dtype, "float32")
    return (get_scalar_type("complex64" if width == np.float32 else "complex128"),)


def bool_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """Boolean."""
    return (bool,)


def int_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """int64."""
    return (int64,)


def int_out_nocomplex(*types: ScalarType) -> tuple[ScalarType, ...]:
    """int64; complex numbers raise an error."""
    _refuse_complex(types)
    return (int64,)


def float_out(*types: ScalarType) -> tuple[ScalarType, ...]:
    """float64."""
    return (float64,)


def float_out_nocomplex(*types: ScalarType) -> tuple[ScalarType, ...]:
    """float64; complex numbers raise an error."""
    _refuse_complex(types)
    return (float64,)


class transfer_type(MetaObject):
    """A rule that returns the types of the inputs with the given positions.

    Instead of a position, a function from input types to a type may be given, as for `specific_out`.
    """

    __slots__ = ("transfer",)

    def __init__(self, *transfer: int | Callable[[Sequence[ScalarType]], ScalarType]):
        for position in transfer:
            if not (isinstance(position, int) or callable(position)):
                raise TypeError(f"transfer_type expects positions or functions, got {position!r}")
        self.transfer = transfer

    def __str__(self) -> str:
        return f"transfer_type{self.transfer}"

    def __call__(self, *types: ScalarType) -> tuple[ScalarType, ...]:
        return tuple(types[position] if isinstance(position, int) else position(types) for position in self.transfer)

    def __eq__(self, other: object) -> builtins.bool:
        return type(self) is type(other) and self.transfer == other.transfer

    def __hash__(self) -> int:
        return hash((type(self), self.transfer))


class specific_out(MetaObject):
    """A rule that always returns the same types."""

    __slots__ = ("spec",)

    def __init__(self, *spec: ScalarType):
        self.spec = spec

    def __str__(self) -> str:
        return f"specific_out{self.spec}"

    def __call__(self, *types: ScalarType) -> tuple[ScalarType, ...]:
        return self.spec

    def __eq__(self, other: object) -> builtins.bool:
        return type(self) is type(other) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash((type(self), self.spec))


class unary_out_lookup(MetaObject):
    """A rule for one input, given by a dictionary from input type to output type."""

    __slots__ = ("tbl",)

    def __init__(self, type_table: dict[ScalarType, ScalarType]):
        self.tbl = type_table

    def __call__(self, *types: ScalarType) -> tuple[ScalarType, ...]:
        if len(types) != 1 or types[0] not in self.tbl:
            raise TypeError(f"expected one of {', '.join(map(str, self.tbl))}, got {_types_text(types)}")
        result = self.tbl[types[0]]
        return tuple(result) if isinstance(result, (list, tuple)) else (result,)

    def __eq__(self, other: object) -> builtins.bool:
        return type(self) is type(other) and self.tbl == other.tbl

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.tbl.items())))
