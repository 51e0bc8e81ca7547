"""Inverses of the incomplete gamma and beta functions: quantiles of distributions.

Derivatives follow from those of the inverted functions by the implicit function theorem.
"""

from __future__ import annotations

from aesara.scalar.comparison import eq
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.native import Special
from aesara.scalar.op import BinaryScalarOp, ScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.special import beta_density, betainc_der, gamma_density, gammainc_der
from aesara.scalar.var import ScalarVariable

__all__ = [
    "BetaIncCInv",
    "BetaIncInv",
    "GammaIncCInv",
    "GammaIncInv",
    "betainccinv",
    "betaincinv",
    "gammainccinv",
    "gammaincinv",
]


def _quotient(x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
    """Return x / y, or 0 if x = 0: at the ends of the domain the parameters have no effect."""
    zero = literal(0, x)
    return switch(eq(x, zero), zero, x / y)


class _InverseGamma(BinaryScalarOp):
    dtype = upgrade_to_float_no_complex
    domain = ((0.5, 10.0), (0.05, 0.95))
    sign: int

    def pullback(self, k: ScalarVariable, p: ScalarVariable, x: ScalarVariable, g: ScalarVariable) -> tuple:
        slope = gamma_density(k, x)
        return -g * _quotient(gammainc_der(k, x), slope), literal(self.sign, g) * g / slope


class GammaIncInv(_InverseGamma):
    """The x for which the regularized lower incomplete gamma function P(k, x) is p."""

    numpy = SciPyFunction("gammaincinv")
    native = Special("gammaincinv")
    sign = 1


class GammaIncCInv(_InverseGamma):
    """The x for which the regularized upper incomplete gamma function Q(k, x) is q."""

    numpy = SciPyFunction("gammainccinv")
    native = Special("gammainccinv")
    sign = -1


class _InverseBeta(ScalarOp):
    nin = 3
    dtype = upgrade_to_float_no_complex
    domain = ((0.7, 6.0), (0.7, 6.0), (0.05, 0.95))
    sign: int

    def pullback(
        self, a: ScalarVariable, b: ScalarVariable, p: ScalarVariable, x: ScalarVariable, g: ScalarVariable
    ) -> tuple:
        slope = beta_density(a, b, x)
        return (
            -g * _quotient(betainc_der(a, b, x, literal(1, x)), slope),
            -g * _quotient(betainc_der(a, b, x, literal(0, x)), slope),
            literal(self.sign, g) * g / slope,
        )


class BetaIncInv(_InverseBeta):
    """The x for which the regularized incomplete beta function I_x(a, b) is p."""

    numpy = SciPyFunction("betaincinv")
    native = Special("betaincinv")
    sign = 1


class BetaIncCInv(_InverseBeta):
    """The x for which 1 - I_x(a, b) is q."""

    numpy = SciPyFunction("betainccinv")
    native = Special("betainccinv")
    sign = -1


gammaincinv = GammaIncInv(name="gammaincinv")
gammainccinv = GammaIncCInv(name="gammainccinv")
betaincinv = BetaIncInv(name="betaincinv")
betainccinv = BetaIncCInv(name="betainccinv")
