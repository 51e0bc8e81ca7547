"""x log(y) and related terms of entropies, with their limits at zero."""

from __future__ import annotations

import math

from aesara.scalar.comparison import eq, gt, isnan, lt
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.exponential import log, log1p
from aesara.scalar.logic import and_, invert
from aesara.scalar.native import Special
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.var import ScalarVariable

__all__ = ["Entr", "KLDiv", "RelEntr", "XLog1pY", "XLogY", "entr", "kl_div", "rel_entr", "xlog1py", "xlogy"]


def _unless_zero(x: ScalarVariable, y: ScalarVariable, value: ScalarVariable) -> ScalarVariable:
    """Return `value`, or zero if x is 0 and y is not NaN."""
    return switch(and_(eq(x, literal(0, x)), invert(isnan(y))), literal(0, value), value)


class XLogY(BinaryScalarOp):
    """x * log(y), with 0 for x = 0."""

    numpy = SciPyFunction("xlogy")
    dtype = upgrade_to_float_no_complex
    domain = ((-3.0, 3.0), (0.1, 5.0))

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return _unless_zero(x, y, x * log(y))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * log(y), g * _unless_zero(x, y, x / y)


class XLog1pY(BinaryScalarOp):
    """x * log(1 + y), with 0 for x = 0."""

    numpy = SciPyFunction("xlog1py")
    dtype = upgrade_to_float_no_complex
    domain = ((-3.0, 3.0), (-0.9, 5.0))

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return _unless_zero(x, y, x * log1p(y))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * log1p(y), g * _unless_zero(x, y, x / (literal(1, y) + y))


class Entr(UnaryScalarOp):
    """-x log(x), with 0 at 0 and minus infinity for negative x: a term of the entropy."""

    numpy = SciPyFunction("entr")
    dtype = upgrade_to_float_no_complex
    domain = (0.05, 5.0)

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        zero = literal(0, x)
        outside = switch(lt(x, zero), literal(-math.inf, x), -x * log(x))
        return switch(eq(x, zero), zero, outside)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * (literal(1, x) + log(x)),)


class RelEntr(BinaryScalarOp):
    """x log(x / y), with 0 for x = 0 and infinity outside of its domain: a term of the relative entropy."""

    numpy = SciPyFunction("rel_entr")
    dtype = upgrade_to_float_no_complex
    native = Special("rel_entr")
    domain = (0.05, 5.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * (literal(1, x) + log(x / y)), -g * _unless_zero(x, y, x / y)


class KLDiv(BinaryScalarOp):
    """x log(x / y) - x + y, which is nonnegative: a term of the Kullback-Leibler divergence."""

    numpy = SciPyFunction("kl_div")
    dtype = upgrade_to_float_no_complex
    native = Special("kl_div")
    domain = (0.05, 5.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        positive = gt(y, literal(0, y))
        return g * log(x / y), g * switch(positive, literal(1, y) - _unless_zero(x, y, x / y), literal(math.nan, y))


xlogy = XLogY(name="xlogy")
xlog1py = XLog1pY(name="xlog1py")
entr = Entr(name="entr")
rel_entr = RelEntr(name="rel_entr")
kl_div = KLDiv(name="kl_div")
