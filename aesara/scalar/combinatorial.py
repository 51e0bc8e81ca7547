"""The beta function, binomial coefficients, rising factorials, and the zeta function."""

from __future__ import annotations

from aesara.graph.pullback import grad_not_implemented
from aesara.scalar.constants import literal
from aesara.scalar.native import Special
from aesara.scalar.op import BinaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.routines import hurwitz_zeta
from aesara.scalar.special import psi
from aesara.scalar.var import ScalarVariable

__all__ = ["Beta", "BetaLn", "Binom", "Poch", "Zeta", "beta", "betaln", "binom", "poch", "zeta"]


class Beta(BinaryScalarOp):
    """The beta function gamma(a) gamma(b) / gamma(a + b)."""

    numpy = SciPyFunction("beta")
    dtype = upgrade_to_float_no_complex
    native = Special("beta")
    domain = (0.3, 8.0)

    def pullback(self, a: ScalarVariable, b: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        both = psi(a + b)
        return g * y * (psi(a) - both), g * y * (psi(b) - both)


class BetaLn(BinaryScalarOp):
    """The logarithm of the absolute value of the beta function, without overflow and without cancellation."""

    numpy = SciPyFunction("betaln")
    dtype = upgrade_to_float_no_complex
    native = Special("betaln")
    domain = (0.3, 20.0)

    def pullback(self, a: ScalarVariable, b: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        both = psi(a + b)
        return g * (psi(a) - both), g * (psi(b) - both)


class Binom(BinaryScalarOp):
    """The binomial coefficient of n over k, extended to real numbers by gamma functions."""

    numpy = SciPyFunction("binom")
    dtype = upgrade_to_float_no_complex
    native = Special("binom")
    domain = ((4.1, 8.9), (0.1, 3.9))

    def pullback(self, n: ScalarVariable, k: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        one = literal(1, n)
        rest = psi(n - k + one)
        return g * y * (psi(n + one) - rest), g * y * (rest - psi(k + one))


class Poch(BinaryScalarOp):
    """The rising factorial gamma(z + m) / gamma(z), also called Pochhammer's symbol."""

    numpy = SciPyFunction("poch")
    dtype = upgrade_to_float_no_complex
    native = Special("poch")
    domain = (0.3, 5.0)

    def pullback(self, z: ScalarVariable, m: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        above = psi(z + m)
        return g * y * (above - psi(z)), g * y * above


class Zeta(BinaryScalarOp):
    """The Hurwitz zeta function, the sum of (q + n)**-s over n >= 0."""

    numpy = hurwitz_zeta
    dtype = upgrade_to_float_no_complex
    native = hurwitz_zeta
    domain = ((1.5, 8.0), (0.3, 10.0))

    def pullback(self, s: ScalarVariable, q: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, s, "There is no formula for the derivative with respect to s here.")
        return undefined, -g * s * zeta(s + literal(1, s), q)


beta = Beta(name="beta")
betaln = BetaLn(name="betaln")
binom = Binom(name="binom")
poch = Poch(name="poch")
zeta = Zeta(name="zeta")
