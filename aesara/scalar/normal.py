"""The standard normal distribution function, its logarithm and its inverse; the logit function."""

from __future__ import annotations

import math

from aesara.scalar.comparison import ge, le
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.exponential import exp, log
from aesara.scalar.logic import and_
from aesara.scalar.native import Special
from aesara.scalar.op import UnaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.special import erfcx
from aesara.scalar.trigonometric import arctanh
from aesara.scalar.var import ScalarVariable

__all__ = ["LogNdtr", "Logit", "Ndtr", "Ndtri", "log_ndtr", "logit", "ndtr", "ndtri"]


class Ndtr(UnaryScalarOp):
    """The probability that a standard normal variable is at most x."""

    numpy = SciPyFunction("ndtr")
    dtype = upgrade_to_float_no_complex
    native = Special("ndtr")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(1 / math.sqrt(2 * math.pi), x) * exp(literal(-0.5, x) * x * x),)


class LogNdtr(UnaryScalarOp):
    """The logarithm of `Ndtr`, accurate if `Ndtr` underflows."""

    numpy = SciPyFunction("log_ndtr")
    dtype = upgrade_to_float_no_complex
    native = Special("log_ndtr")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        # The density divided by the probability, both of which underflow, in terms of erfcx.
        return (g * literal(math.sqrt(2 / math.pi), x) / erfcx(x * literal(-math.sqrt(0.5), x)),)


class Ndtri(UnaryScalarOp):
    """The x for which `Ndtr` is p: the quantile function of the standard normal distribution."""

    numpy = SciPyFunction("ndtri")
    dtype = upgrade_to_float_no_complex
    native = Special("ndtri")
    domain = (0.02, 0.98)

    def pullback(self, p: ScalarVariable, x: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(math.sqrt(2 * math.pi), x) * exp(literal(0.5, x) * x * x),)


class Logit(UnaryScalarOp):
    """log(p / (1 - p)): the inverse of the logistic sigmoid."""

    numpy = SciPyFunction("logit")
    dtype = upgrade_to_float_no_complex
    domain = (0.01, 0.99)

    def decompose(self, p: ScalarVariable) -> ScalarVariable:
        # Near p = 1/2, where the quotient is close to 1, 2 p - 1 is exact.
        one, two = literal(1, p), literal(2, p)
        near = and_(ge(p, literal(0.3, p)), le(p, literal(0.7, p)))
        return switch(near, two * arctanh(two * p - one), log(p / (one - p)))

    def pullback(self, p: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / (p * (literal(1, p) - p)),)


ndtr = Ndtr(name="ndtr")
log_ndtr = LogNdtr(name="log_ndtr")
ndtri = Ndtri(name="ndtri")
logit = Logit(name="logit")
