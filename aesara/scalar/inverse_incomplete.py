"""Inverses of the incomplete gamma and beta functions, which give quantiles of distributions.

Derivatives follow from those of the functions that they invert, by the implicit function theorem.
"""

from __future__ import annotations

from typing import Any

from aesara.scalar.constants import literal
from aesara.scalar.exponential import exp, log, log1p
from aesara.scalar.native import Special
from aesara.scalar.op import BinaryScalarOp, ScalarOp, SciPyFunction
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.special import betainc_der, gammainc_der, gammaln

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


class _InverseGamma(BinaryScalarOp):
    dtype = upgrade_to_float_no_complex
    domain = ((0.5, 10.0), (0.05, 0.95))
    sign: int

    def pullback(self, k: Any, p: Any, x: Any, g: Any) -> tuple:
        # 1 / density of P(k, x) with respect to x
        width = exp(x + gammaln(k) - (k - literal(1, k)) * log(x))
        return -g * gammainc_der(k, x) * width, literal(self.sign, g) * g * width


class GammaIncInv(_InverseGamma):
    """The x at which the regularized lower incomplete gamma function P(k, x) is p, for inputs k and p."""

    numpy = SciPyFunction("gammaincinv")
    native = Special("gammaincinv")
    sign = 1


class GammaIncCInv(_InverseGamma):
    """The x at which the regularized upper incomplete gamma function Q(k, x) is q, for inputs k and q."""

    numpy = SciPyFunction("gammainccinv")
    native = Special("gammainccinv")
    sign = -1


class _InverseBeta(ScalarOp):
    nin = 3
    dtype = upgrade_to_float_no_complex
    domain = ((0.7, 6.0), (0.7, 6.0), (0.05, 0.95))
    sign: int

    def pullback(self, a: Any, b: Any, p: Any, x: Any, g: Any) -> tuple:
        one, zero = literal(1, x), literal(0, x)
        log_beta = gammaln(a) + gammaln(b) - gammaln(a + b)
        width = exp(log_beta - (a - one) * log(x) - (b - one) * log1p(-x))
        return (
            -g * betainc_der(a, b, x, one) * width,
            -g * betainc_der(a, b, x, zero) * width,
            literal(self.sign, g) * g * width,
        )


class BetaIncInv(_InverseBeta):
    """The x at which the regularized incomplete beta function I_x(a, b) is p, for inputs a, b and p."""

    numpy = SciPyFunction("betaincinv")
    native = Special("betaincinv")
    sign = 1


class BetaIncCInv(_InverseBeta):
    """The x at which 1 - I_x(a, b) is q, for inputs a, b and q."""

    numpy = SciPyFunction("betainccinv")
    native = Special("betainccinv")
    sign = -1


gammaincinv = GammaIncInv(name="gammaincinv")
gammainccinv = GammaIncCInv(name="gammainccinv")
betaincinv = BetaIncInv(name="betaincinv")
betainccinv = BetaIncCInv(name="betainccinv")
