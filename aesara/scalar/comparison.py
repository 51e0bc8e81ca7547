"""Comparisons and tests of numbers, with Boolean results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.scalar.constants import constant, literal
from aesara.scalar.native import Primitive, Special
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp, to_dtype
from aesara.scalar.promotion import bool_out, specific_out
from aesara.scalar.routine import FloatRoutine
from aesara.scalar.types import ScalarType, int8
from aesara.scalar.var import ScalarVariable

__all__ = [
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "NEQ",
    "FixedLogicalComparison",
    "InRange",
    "IsInf",
    "IsNan",
    "LogicalComparison",
    "eq",
    "ge",
    "gt",
    "inclosedrange",
    "inopenrange",
    "isinf",
    "isnan",
    "le",
    "lt",
    "neq",
]


class LogicalComparison(BinaryScalarOp):
    """A comparison of two numbers, which are promoted to a common dtype.

    Signed integers and uint64, which have no common dtype that represents both exactly, are compared without promotion.
    """

    dtype = bool_out
    operands = "common"
    commutative = False
    associative = False
    identity: float | None = False

    def operand_dtypes(self, input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]) -> list[str]:
        if _signed_and_uint64(input_types):
            return [scalar_type.dtype for scalar_type in input_types]
        return super().operand_dtypes(input_types, output_types)

    def native_fact(self, input_types: Sequence[ScalarType]) -> Primitive | Special | FloatRoutine | None:
        return None if _signed_and_uint64(input_types) else super().native_fact(input_types)

    def decomposition(self, *inputs: ScalarVariable) -> list | None:
        if not _signed_and_uint64([variable.type for variable in inputs]):
            return super().decomposition(*inputs)
        signed = 0 if inputs[0].type.dtype != "uint64" else 1
        number = inputs[signed]
        zero = literal(0, number)
        unsigned = self(*[to_dtype(variable, "uint64") for variable in inputs])
        # A negative number is less than any unsigned one.
        compare: Any = self.numpy
        if compare(signed, 1 - signed):
            return [lt(number, zero) | unsigned]
        return [ge(number, zero) & unsigned]


def _signed_and_uint64(types: Sequence[ScalarType]) -> bool:
    kinds = [scalar_type.numpy_dtype.kind for scalar_type in types]
    return kinds in (["i", "u"], ["u", "i"]) and any(scalar_type.dtype == "uint64" for scalar_type in types)


class FixedLogicalComparison(UnaryScalarOp):
    """A test of a number."""

    dtype = bool_out
    operands = "as_is"


class LT(LogicalComparison):
    """x < y."""

    numpy = np.less
    native = Primitive("lt")


class GT(LogicalComparison):
    """x > y."""

    numpy = np.greater
    native = Primitive("gt")


class LE(LogicalComparison):
    """x <= y."""

    numpy = np.less_equal
    native = Primitive("le")


class GE(LogicalComparison):
    """x >= y."""

    numpy = np.greater_equal
    native = Primitive("ge")


class EQ(LogicalComparison):
    """x == y; NaN equals nothing."""

    numpy = np.equal
    native = Primitive("eq")
    commutative = True


class NEQ(LogicalComparison):
    """x != y; NaN differs from everything."""

    numpy = np.not_equal
    native = Primitive("ne")
    commutative = True


class _FloatTest(FixedLogicalComparison):
    """A test that is false for integers."""

    def native_fact(self, input_types: Sequence[ScalarType]) -> Primitive | Special | FloatRoutine | None:
        return None if input_types[0].is_discrete else super().native_fact(input_types)

    def decomposition(self, *inputs: ScalarVariable) -> list | None:
        return [constant(np.bool_(False))] if inputs[0].type.is_discrete else None


class IsNan(_FloatTest):
    """Test whether x is not a number."""

    numpy = np.isnan
    native = Primitive("isnan")


class IsInf(_FloatTest):
    """Test whether x is plus or minus infinity."""

    numpy = np.isinf
    native = Primitive("isinf")


class InRange(LogicalComparison):
    """Test whether x is between low and high, with an int8 result.

    Parameters
    ----------
    openlow, openhi
        Whether the lower and the upper bound are excluded.
    """

    nin = 3
    dtype = specific_out(int8)
    operands = "common"

    def __init__(self, openlow: bool, openhi: bool):
        super().__init__()
        self.openlow = openlow
        self.openhi = openhi

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.openlow, self.openhi) == (other.openlow, other.openhi)

    def __hash__(self) -> int:
        return hash((type(self), self.openlow, self.openhi))

    def digest_facts(self) -> tuple[object, ...]:
        return self.openlow, self.openhi

    def __str__(self) -> str:
        return f"InRange{{openlow={self.openlow}, openhi={self.openhi}}}"

    @property
    def numpy(self) -> Callable[..., np.ndarray]:  # type: ignore[override]  # it follows from what is open
        above = np.greater if self.openlow else np.greater_equal
        below = np.less if self.openhi else np.less_equal
        return lambda x, low, high: np.logical_and(above(x, low), below(x, high))

    def decompose(self, x: ScalarVariable, low: ScalarVariable, high: ScalarVariable) -> ScalarVariable:
        above = gt(x, low) if self.openlow else ge(x, low)
        below = lt(x, high) if self.openhi else le(x, high)
        return above & below


lt = LT()
gt = GT()
le = LE()
ge = GE()
eq = EQ()
neq = NEQ()
isnan = IsNan()
isinf = IsInf()
inopenrange = InRange(openlow=True, openhi=True)
inclosedrange = InRange(openlow=False, openhi=False)
