"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math

import numpy as np

from aesara.scalar.constants import literal
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp
from aesara.scalar.power import sqrt
from aesara.scalar.promotion import upgrade_to_float, upgrade_to_float_no_complex
from aesara.scalar.var import ScalarVariable

__all__ = [
    "ArcCos",
    "ArcCosh",
    "ArcSin",
    "ArcSinh",
    "ArcTan",
    "ArcTan2",
    "ArcTanh",
    "Cos",
    "Cosh",
    "Deg2Rad",
    "Rad2Deg",
    "Sin",
    "Sinh",
    "Tan",
    "Tanh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cos",
    "cosh",
    "deg2rad",
    "rad2deg",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


def _one_minus_square(x: ScalarVariable) -> ScalarVariable:
    """Return 1 - x * x without cancellation near x = 1 and x = -1."""
    one = literal(1, x)
    return (one - x) * (one + x)


class Sin(UnaryScalarOp):
    """Sine of an angle in radians."""

    numpy = np.sin
    dtype = upgrade_to_float
    native = Primitive("sin")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * cos(x),)


class Cos(UnaryScalarOp):
    """Cosine of an angle in radians."""

    numpy = np.cos
    dtype = upgrade_to_float
    native = Primitive("cos")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * sin(x),)


class Tan(UnaryScalarOp):
    """Tangent of an angle in radians."""

    numpy = np.tan
    dtype = upgrade_to_float
    native = Primitive("tan")
    domain = (-1.4, 1.4)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * (literal(1, y) + y * y),)


class ArcSin(UnaryScalarOp):
    """Inverse sine, in radians."""

    numpy = np.arcsin
    dtype = upgrade_to_float
    native = Primitive("asin")
    domain = (-0.99, 0.99)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / sqrt(_one_minus_square(x)),)


class ArcCos(UnaryScalarOp):
    """Inverse cosine, in radians."""

    numpy = np.arccos
    dtype = upgrade_to_float
    native = Primitive("acos")
    domain = (-0.99, 0.99)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g / sqrt(_one_minus_square(x)),)


class ArcTan(UnaryScalarOp):
    """Inverse tangent, in radians."""

    numpy = np.arctan
    dtype = upgrade_to_float
    native = Primitive("atan")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / (literal(1, x) + x * x),)


class ArcTan2(BinaryScalarOp):
    """The angle of the point (second input, first input), in radians."""

    numpy = np.arctan2
    dtype = upgrade_to_float_no_complex
    native = Primitive("atan2")

    def pullback(self, y: ScalarVariable, x: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        ratio = g / (x * x + y * y)
        return ratio * x, -ratio * y


class Sinh(UnaryScalarOp):
    """Hyperbolic sine."""

    numpy = np.sinh
    dtype = upgrade_to_float
    native = Primitive("sinh")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * cosh(x),)


class Cosh(UnaryScalarOp):
    """Hyperbolic cosine."""

    numpy = np.cosh
    dtype = upgrade_to_float
    native = Primitive("cosh")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * sinh(x),)


class Tanh(UnaryScalarOp):
    """Hyperbolic tangent."""

    numpy = np.tanh
    dtype = upgrade_to_float
    native = Primitive("tanh")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * (literal(1, y) - y * y),)


class ArcSinh(UnaryScalarOp):
    """Inverse hyperbolic sine."""

    numpy = np.arcsinh
    dtype = upgrade_to_float
    native = Primitive("asinh")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / sqrt(literal(1, x) + x * x),)


class ArcCosh(UnaryScalarOp):
    """Inverse hyperbolic cosine, for x >= 1."""

    numpy = np.arccosh
    dtype = upgrade_to_float
    native = Primitive("acosh")
    domain = (1.01, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        one = literal(1, x)
        return (g / (sqrt(x - one) * sqrt(x + one)),)


class ArcTanh(UnaryScalarOp):
    """Inverse hyperbolic tangent, for -1 <= x <= 1."""

    numpy = np.arctanh
    dtype = upgrade_to_float
    native = Primitive("atanh")
    domain = (-0.99, 0.99)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / _one_minus_square(x),)


class Deg2Rad(UnaryScalarOp):
    """Conversion of degrees to radians."""

    numpy = np.deg2rad
    dtype = upgrade_to_float_no_complex
    domain = (-360.0, 360.0)

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return x * literal(math.pi / 180, x)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(math.pi / 180, g),)


class Rad2Deg(UnaryScalarOp):
    """Conversion of radians to degrees."""

    numpy = np.rad2deg
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return x * literal(180 / math.pi, x)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(180 / math.pi, g),)


sin = Sin(name="sin")
cos = Cos(name="cos")
tan = Tan(name="tan")
arcsin = ArcSin(name="arcsin")
arccos = ArcCos(name="arccos")
arctan = ArcTan(name="arctan")
arctan2 = ArcTan2(name="arctan2")
sinh = Sinh(name="sinh")
cosh = Cosh(name="cosh")
tanh = Tanh(name="tanh")
arcsinh = ArcSinh(name="arcsinh")
arccosh = ArcCosh(name="arccosh")
arctanh = ArcTanh(name="arctanh")
deg2rad = Deg2Rad(name="deg2rad")
rad2deg = Rad2Deg(name="rad2deg")
