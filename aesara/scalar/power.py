"""Powers and roots."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Constant
from aesara.scalar.comparison import eq
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.exponential import log
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp
from aesara.scalar.promotion import same_out, upcast_out_min8, upgrade_to_float
from aesara.scalar.var import ScalarVariable

__all__ = ["Pow", "Sqr", "Sqrt", "pow", "sqrt", "square"]


class Sqr(UnaryScalarOp):
    """x * x."""

    numpy = np.square
    dtype = same_out

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return x * x

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * x * literal(2, x),)


class Sqrt(UnaryScalarOp):
    """The square root; NaN for negative real x."""

    numpy = np.sqrt
    dtype = upgrade_to_float
    native = Primitive("sqrt")
    domain = (0.01, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(0.5, y) / y,)


class Pow(BinaryScalarOp):
    """x to the power y.

    The derivative with respect to x is zero for y = 0, even at x = 0; the one with respect to y is zero at
    x = 0.
    """

    numpy = np.power
    dtype = upcast_out_min8
    native = Primitive("pow")
    domain = ((0.1, 4.0), (-3.0, 3.0))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        zero = literal(0, g)
        slope = g * y * pow(x, y - literal(1, y))
        if not isinstance(y, Constant):
            slope = switch(eq(y, literal(0, y)), zero, slope)
        elif y.data == 0:
            slope = zero
        return slope, switch(eq(x, literal(0, x)), zero, g * z * log(x))


square = Sqr(name="square")
sqrt = Sqrt(name="sqrt")
pow = Pow(name="pow")
