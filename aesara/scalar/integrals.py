"""Exponential integrals, Dawson's integral, and the imaginary error function."""

from __future__ import annotations

import math

from aesara.scalar.constants import literal
from aesara.scalar.exponential import exp
from aesara.scalar.native import Special
from aesara.scalar.op import UnaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.var import ScalarVariable

__all__ = ["Dawsn", "Erfi", "Exp1", "Expi", "dawsn", "erfi", "exp1", "expi"]


class Erfi(UnaryScalarOp):
    """The imaginary error function -i erf(i x)."""

    numpy = SciPyFunction("erfi")
    dtype = upgrade_to_float_no_complex
    native = Special("erfi")
    domain = (-2.0, 2.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(2 / math.sqrt(math.pi), x) * exp(x * x),)


class Dawsn(UnaryScalarOp):
    """Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x."""

    numpy = SciPyFunction("dawsn")
    dtype = upgrade_to_float_no_complex
    native = Special("dawsn")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * (literal(1, x) - literal(2, x) * x * y),)


class Exp1(UnaryScalarOp):
    """The exponential integral of exp(-t) / t from x to infinity."""

    numpy = SciPyFunction("exp1")
    dtype = upgrade_to_float_no_complex
    native = Special("exp1")
    domain = (0.2, 8.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * exp(-x) / x,)


class Expi(UnaryScalarOp):
    """The exponential integral: the principal value of the integral of exp(t) / t from minus infinity to x."""

    numpy = SciPyFunction("expi")
    dtype = upgrade_to_float_no_complex
    native = Special("expi")
    domain = (0.2, 5.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * exp(x) / x,)


erfi = Erfi(name="erfi")
dawsn = Dawsn(name="dawsn")
exp1 = Exp1(name="exp1")
expi = Expi(name="expi")
