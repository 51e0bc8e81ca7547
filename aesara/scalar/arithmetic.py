"""Addition, multiplication, division and related ops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from aesara.scalar.comparison import eq, gt, lt
from aesara.scalar.complex import complex, imag, real
from aesara.scalar.conditional import switch
from aesara.scalar.constants import as_scalar, literal
from aesara.scalar.native import Primitive, Special
from aesara.scalar.op import BinaryScalarOp, ScalarOp, UnaryScalarOp, zero_gradient
from aesara.scalar.promotion import (
    ComplexError,
    divide_out,
    real_out,
    same_out_nobool,
    same_out_nobool_nocomplex,
    upcast_out,
    upcast_out_nobool,
    upcast_out_ordered,
    upgrade_to_float,
    upgrade_to_float64,
)
from aesara.scalar.routine import FloatRoutine
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.scalar.var import ScalarLike, ScalarVariable

__all__ = [
    "Abs",
    "Add",
    "FloorDivide",
    "Mean",
    "Mod",
    "Mul",
    "Neg",
    "Reciprocal",
    "Sgn",
    "Sub",
    "TrueDivide",
    "abs",
    "add",
    "divide",
    "floor_divide",
    "mean",
    "mod",
    "mod_check",
    "mul",
    "neg",
    "reciprocal",
    "sgn",
    "sub",
    "true_divide",
]


def _sum(*terms: np.ndarray) -> np.ndarray:
    return reduce(np.add, terms)


def _product(*factors: np.ndarray) -> np.ndarray:
    return reduce(np.multiply, factors)


class Add(ScalarOp):
    """The sum of the inputs, from left to right; for Booleans the logical or."""

    numpy = _sum
    nfunc_spec = ("add", 2, 1)
    nfunc_variadic = "sum"
    dtype = upcast_out
    native = Primitive("add")
    native_of_booleans = Primitive("or")
    commutative = True
    associative = True
    identity: float | None = 0

    def pullback(self, *arguments: ScalarVariable) -> tuple:
        *inputs, _z, g = arguments
        return (g,) * len(inputs)


class Mul(ScalarOp):
    """The product of the inputs, from left to right; for Booleans the logical and."""

    numpy = _product
    nfunc_spec = ("multiply", 2, 1)
    nfunc_variadic = "product"
    dtype = upcast_out
    native = Primitive("mul")
    native_of_booleans = Primitive("and")
    commutative = True
    associative = True
    identity: float | None = 1

    def pullback(self, *arguments: ScalarVariable) -> tuple:
        *inputs, _z, g = arguments
        # The product of the other factors; z / x would be NaN at x = 0.
        return tuple(mul(g, *inputs[:i], *inputs[i + 1 :]) for i in range(len(inputs)))


class Sub(BinaryScalarOp):
    """x - y."""

    numpy = np.subtract
    dtype = upcast_out_nobool
    native = Primitive("sub")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g, -g


class TrueDivide(BinaryScalarOp):
    """x / y; for integers the result has dtype ``floatX``."""

    numpy = np.true_divide
    nfunc_spec = ("true_divide", 2, 1)
    dtype = divide_out
    native = Primitive("div")
    domain = ((-5.0, 5.0), (0.5, 5.0))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g / y, -(g * z) / y


class FloorDivide(BinaryScalarOp):
    """The largest integer that is not greater than x / y. Its gradient is zero."""

    numpy = np.floor_divide
    dtype = upcast_out_ordered
    native = Primitive("intdiv")
    domain = ((-5.0, 5.0), (0.5, 5.0))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return zero_gradient(x), zero_gradient(y)


class Mod(BinaryScalarOp):
    """The remainder of x // y, with the sign of y."""

    numpy = np.remainder
    nfunc_spec = ("mod", 2, 1)
    dtype = upcast_out_ordered
    native = Primitive("mod")
    domain = ((-5.0, 5.0), (0.5, 5.0))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g, -g * floor_divide(x, y)


class Neg(UnaryScalarOp):
    """-x."""

    numpy = np.negative
    dtype = same_out_nobool
    native = Primitive("neg")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g,)


class Reciprocal(UnaryScalarOp):
    """1 / x."""

    numpy = np.reciprocal
    dtype = upgrade_to_float
    domain = (0.5, 5.0)

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return literal(1, x) / x

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * y * y,)


class Abs(UnaryScalarOp):
    """The absolute value. The gradient at zero is zero."""

    numpy = np.absolute
    nfunc_spec = ("abs", 1, 1)
    dtype = real_out
    operands = "as_is"
    holomorphic = False
    native = Primitive("abs")

    def native_fact(self, input_types: Sequence[ScalarType]) -> Primitive | Special | FloatRoutine | None:
        return None if input_types[0].numpy_dtype.kind in "bu" else super().native_fact(input_types)

    def decomposition(self, *inputs: ScalarVariable) -> list | None:
        return [inputs[0]] if inputs[0].type.numpy_dtype.kind in "bu" else None

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        if not x.type.is_complex:
            return (g * sgn(x),)
        at_zero = eq(y, literal(0, y))
        ratio = switch(at_zero, literal(0, g), g / switch(at_zero, literal(1, y), y))
        return (complex(ratio * real(x), ratio * imag(x)),)


class Sgn(UnaryScalarOp):
    """-1 for negative x, 0 for zero, 1 for positive x, NaN for NaN."""

    numpy = np.sign
    dtype = same_out_nobool_nocomplex

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        zero = literal(0, x)
        one = literal(1, x)
        if x.type.numpy_dtype.kind == "u":
            return switch(eq(x, zero), zero, one)
        # The innermost branch returns NaN for NaN.
        remainder = zero if x.type.is_discrete else switch(eq(x, zero), zero, x)
        return switch(gt(x, zero), one, switch(lt(x, zero), -one, remainder))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (zero_gradient(x),)


def _mean(*terms: np.ndarray) -> np.ndarray:
    return reduce(np.add, terms) / len(terms) if terms else np.zeros(())


class Mean(ScalarOp):
    """The arithmetic mean of the inputs, in float64; 0 without inputs."""

    numpy = _mean
    nfunc_spec = ("mean", 2, 1)
    nfunc_variadic = "mean"
    dtype = upgrade_to_float64
    commutative = True
    associative = False
    identity: float | None = 0
    allows_no_inputs = True

    def decompose(self, *inputs: ScalarVariable) -> ScalarVariable:
        return add(*inputs) / literal(len(inputs), inputs[0]) if inputs else literal(0, get_scalar_type("float64")())

    def pullback(self, *arguments: ScalarVariable) -> tuple:
        *inputs, _z, g = arguments
        return (g / literal(len(inputs), g),) * len(inputs)


add = Add(name="add")
mul = Mul(name="mul")
sub = Sub(name="sub")
true_divide = TrueDivide(name="true_divide")
divide = true_divide
floor_divide = FloorDivide(name="floor_divide")
mod = Mod(name="mod")
neg = Neg(name="neg")
reciprocal = Reciprocal(name="reciprocal")
abs = Abs()
sgn = Sgn(name="sgn")
mean = Mean(name="mean")


def mod_check(x: ScalarLike, y: ScalarLike) -> ScalarVariable:
    """Return ``mod(x, y)``, or raise `ComplexError` for complex numbers."""
    types = [as_scalar(operand).type for operand in (x, y)]
    if any(scalar_type.is_complex for scalar_type in types):
        raise ComplexError(f"complex numbers do not support %, got {types[0]} and {types[1]}")
    return mod(x, y)
