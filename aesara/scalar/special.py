"""Special functions of mathematical physics and statistics."""

from __future__ import annotations

import math

import numpy as np

from aesara.graph.pullback import grad_not_implemented
from aesara.scalar import routines
from aesara.scalar.comparison import eq, neq
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.erfc_integrals import erfc_ratio
from aesara.scalar.exponential import exp, log, log1p
from aesara.scalar.native import Primitive, Special
from aesara.scalar.op import BinaryScalarOp, ScalarOp, UnaryScalarOp
from aesara.scalar.power import pow
from aesara.scalar.promotion import upgrade_to_float, upgrade_to_float64, upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.var import ScalarVariable

__all__ = [
    "BetaDensity",
    "BetaInc",
    "BetaIncDer",
    "Chi2SF",
    "Erf",
    "Erfc",
    "Erfcinv",
    "Erfcx",
    "ErfcxReciprocal",
    "Erfinv",
    "Gamma",
    "GammaDensity",
    "GammaInc",
    "GammaIncC",
    "GammaIncCDer",
    "GammaIncDer",
    "GammaL",
    "GammaLn",
    "GammaU",
    "Hyp2F1",
    "Hyp2F1Der",
    "Owens_t",
    "PolyGamma",
    "Psi",
    "TriGamma",
    "beta_density",
    "betainc",
    "betainc_der",
    "chi2sf",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfcx_reciprocal",
    "erfinv",
    "gamma",
    "gamma_density",
    "gammainc",
    "gammainc_der",
    "gammaincc",
    "gammaincc_der",
    "gammal",
    "gammaln",
    "gammau",
    "hyp2f1",
    "hyp2f1_der",
    "owens_t",
    "polygamma",
    "psi",
    "tri_gamma",
]

#: reason for a missing gradient
_SECOND = "There is no formula for a second derivative with respect to {} here."

_TWO_BY_SQRT_PI = 2 / math.sqrt(math.pi)


# Error functions


class Erf(UnaryScalarOp):
    """The error function."""

    numpy = SciPyFunction("erf")
    dtype = upgrade_to_float
    native = Primitive("erf")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(_TWO_BY_SQRT_PI, x) * exp(-x * x),)


class Erfc(UnaryScalarOp):
    """1 - erf(x), accurate for large x."""

    numpy = SciPyFunction("erfc")
    dtype = upgrade_to_float_no_complex
    native = Primitive("erfc")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * literal(_TWO_BY_SQRT_PI, x) * exp(-x * x),)


class Erfcx(UnaryScalarOp):
    """exp(x**2) * erfc(x), without overflow and underflow of the factors."""

    numpy = SciPyFunction("erfcx")
    dtype = upgrade_to_float_no_complex
    native = Special("erfcx")
    domain = (-3.0, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        # The difference 2 x y - 2 / sqrt(pi) would cancel for large x.
        return (literal(-2, x) * g * y * erfc_ratio(literal(1, x), x),)


_scipy_erfcx = SciPyFunction("erfcx")


def _erfcx_reciprocal(x: np.ndarray) -> np.ndarray:
    return np.reciprocal(_scipy_erfcx(x))


class ErfcxReciprocal(UnaryScalarOp):
    """1 / erfcx(x). Its derivatives are products with itself, which are zero where erfcx overflows."""

    numpy = _erfcx_reciprocal
    dtype = upgrade_to_float_no_complex
    domain = (-3.0, 10.0)

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return literal(1, x) / erfcx(x)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (literal(2, x) * g * y * erfc_ratio(literal(1, x), x),)


class Erfinv(UnaryScalarOp):
    """Inverse of the error function."""

    numpy = SciPyFunction("erfinv")
    dtype = upgrade_to_float_no_complex
    native = Special("erfinv")
    domain = (-0.95, 0.95)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * literal(1 / _TWO_BY_SQRT_PI, y) * exp(y * y),)


class Erfcinv(UnaryScalarOp):
    """Inverse of the complementary error function."""

    numpy = SciPyFunction("erfcinv")
    dtype = upgrade_to_float_no_complex
    native = Special("erfcinv")
    domain = (0.05, 1.95)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (-g * literal(1 / _TWO_BY_SQRT_PI, y) * exp(y * y),)


class Owens_t(BinaryScalarOp):
    """Owen's T function of h and a."""

    numpy = SciPyFunction("owens_t")
    dtype = upgrade_to_float_no_complex
    native = Special("owens_t")
    domain = (-3.0, 3.0)

    def pullback(self, h: ScalarVariable, a: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        half = literal(0.5, h)
        widened = literal(1, a) + a * a
        wrt_h = exp(-half * h * h) * erf(h * a * literal(math.sqrt(0.5), h)) * literal(-0.5 / math.sqrt(2 * math.pi), h)
        wrt_a = exp(-half * h * h * widened) / (widened * literal(2 * math.pi, h))
        return g * wrt_h, g * wrt_a


# Gamma functions


class Gamma(UnaryScalarOp):
    """The gamma function."""

    numpy = SciPyFunction("gamma")
    dtype = upgrade_to_float
    native = Special("gamma")
    domain = (0.1, 8.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * y * psi(x),)


class GammaLn(UnaryScalarOp):
    """The logarithm of the absolute value of the gamma function."""

    numpy = SciPyFunction("gammaln")
    dtype = upgrade_to_float_no_complex
    native = Special("gammaln")
    domain = (0.1, 20.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * psi(x),)


class Psi(UnaryScalarOp):
    """The digamma function, the derivative of gammaln."""

    numpy = SciPyFunction("psi")
    dtype = upgrade_to_float
    native = Special("psi")
    domain = (0.1, 20.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        if x.type.is_complex:
            return (grad_not_implemented(self, 0, x, "There is no trigamma function of complex numbers."),)
        return (g * tri_gamma(x),)


def _trigamma(x: np.ndarray) -> np.ndarray:
    return _polygamma(np.ones((), dtype=np.asarray(x).dtype), x)


class TriGamma(UnaryScalarOp):
    """The trigamma function, the second derivative of gammaln."""

    numpy = _trigamma
    dtype = upgrade_to_float_no_complex
    native = routines.trigamma_function
    domain = (0.1, 20.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * polygamma(literal(2, x), x),)


_scipy_polygamma = SciPyFunction("polygamma")


def _polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    n = np.asarray(n)
    is_order = (n >= 0) & (n == np.floor(n)) & np.isfinite(n)
    return np.where(is_order, _scipy_polygamma(np.where(is_order, n, 0).astype("int64"), x), np.nan)


class PolyGamma(BinaryScalarOp):
    """The derivative of order n + 1 of gammaln, at x > 0 for n > 1."""

    numpy = _polygamma
    dtype = upgrade_to_float_no_complex
    native = routines.polygamma_function
    domain = ((1.0, 1.0), (0.1, 20.0))

    def pullback(self, n: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, n, "The order is a whole number.")
        return undefined, g * polygamma(n + literal(1, n), x)


class GammaInc(BinaryScalarOp):
    """The regularized lower incomplete gamma function P(k, x)."""

    numpy = SciPyFunction("gammainc")
    dtype = upgrade_to_float_no_complex
    native = Special("gammainc")
    domain = ((0.3, 10.0), (0.1, 15.0))

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * gammainc_der(k, x), g * gamma_density(k, x)


class GammaIncC(BinaryScalarOp):
    """The regularized upper incomplete gamma function Q(k, x)."""

    numpy = SciPyFunction("gammaincc")
    dtype = upgrade_to_float_no_complex
    native = Special("gammaincc")
    domain = ((0.3, 10.0), (0.1, 15.0))

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * gammaincc_der(k, x), -g * gamma_density(k, x)


class GammaDensity(BinaryScalarOp):
    """The derivative of P(k, x) with respect to x, the density of the gamma distribution."""

    numpy = routines.gamma_density
    dtype = upgrade_to_float_no_complex
    native = routines.gamma_density
    domain = ((0.3, 10.0), (0.1, 15.0))

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        one = literal(1, x)
        return g * y * (log(x) - psi(k)), g * y * ((k - one) / x - one)


class GammaIncDer(BinaryScalarOp):
    """The derivative of P(k, x) with respect to k."""

    numpy = routines.gammainc_derivative
    dtype = upgrade_to_float_no_complex
    native = routines.gammainc_derivative
    domain = ((0.3, 10.0), (0.1, 15.0))

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, k, _SECOND.format("k"))
        return undefined, g * gamma_density(k, x) * (log(x) - psi(k))


class GammaIncCDer(BinaryScalarOp):
    """The derivative of Q(k, x) with respect to k."""

    numpy = routines.gammaincc_derivative
    dtype = upgrade_to_float_no_complex
    native = routines.gammaincc_derivative
    domain = ((0.3, 10.0), (0.1, 15.0))

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, k, _SECOND.format("k"))
        return undefined, g * gamma_density(k, x) * (psi(k) - log(x))


_scipy_gamma = SciPyFunction("gamma")
_scipy_gammainc = SciPyFunction("gammainc")
_scipy_gammaincc = SciPyFunction("gammaincc")


def _gammau(k: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _scipy_gammaincc(k, x) * _scipy_gamma(k)


def _gammal(k: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _scipy_gammainc(k, x) * _scipy_gamma(k)


class GammaU(BinaryScalarOp):
    """The upper incomplete gamma function of k and x."""

    numpy = _gammau
    dtype = upgrade_to_float_no_complex
    domain = ((0.3, 6.0), (0.1, 10.0))

    def decompose(self, k: ScalarVariable, x: ScalarVariable) -> ScalarVariable:
        return gammaincc(k, x) * gamma(k)

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * (gammaincc_der(k, x) * gamma(k) + y * psi(k)), -g * pow(x, k - literal(1, k)) * exp(-x)


class GammaL(BinaryScalarOp):
    """The lower incomplete gamma function of k and x."""

    numpy = _gammal
    dtype = upgrade_to_float_no_complex
    domain = ((0.3, 6.0), (0.1, 10.0))

    def decompose(self, k: ScalarVariable, x: ScalarVariable) -> ScalarVariable:
        return gammainc(k, x) * gamma(k)

    def pullback(self, k: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return g * (gammainc_der(k, x) * gamma(k) + y * psi(k)), g * pow(x, k - literal(1, k)) * exp(-x)


def _chi2sf(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    return _scipy_gammaincc(k / 2, x / 2)


class Chi2SF(BinaryScalarOp):
    """The probability that a chi-squared variable with k degrees of freedom exceeds x, in float64."""

    numpy = _chi2sf
    nfunc_spec = ("scipy.stats.chi2.sf", 2, 1)
    dtype = upgrade_to_float64
    domain = ((0.1, 20.0), (0.5, 10.0))

    def decompose(self, x: ScalarVariable, k: ScalarVariable) -> ScalarVariable:
        half = literal(0.5, x)
        return gammaincc(k * half, x * half)

    def pullback(self, x: ScalarVariable, k: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        half = literal(0.5, x)
        return -g * half * gamma_density(k * half, x * half), g * half * gammaincc_der(k * half, x * half)


# Beta and hypergeometric functions


class BetaInc(ScalarOp):
    """The regularized incomplete beta function of a, b and x."""

    nin = 3
    numpy = SciPyFunction("betainc")
    dtype = upgrade_to_float_no_complex
    native = Special("betainc")
    domain = ((0.3, 6.0), (0.3, 6.0), (0.05, 0.95))

    def pullback(
        self, a: ScalarVariable, b: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable
    ) -> tuple:
        return (
            g * betainc_der(a, b, x, literal(1, x)),
            g * betainc_der(a, b, x, literal(0, x)),
            g * beta_density(a, b, x),
        )


class BetaDensity(ScalarOp):
    """The derivative of the regularized incomplete beta function of a, b and x with respect to x: the beta density."""

    nin = 3
    numpy = routines.beta_density
    dtype = upgrade_to_float_no_complex
    native = routines.beta_density
    domain = ((0.3, 6.0), (0.3, 6.0), (0.05, 0.95))

    def pullback(
        self, a: ScalarVariable, b: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable
    ) -> tuple:
        one, both = literal(1, x), psi(a + b)
        return (
            g * y * (log(x) - psi(a) + both),
            g * y * (log1p(-x) - psi(b) + both),
            g * y * ((a - one) / x - (b - one) / (one - x)),
        )


class BetaIncDer(ScalarOp):
    """The derivative of the regularized incomplete beta function with respect to a parameter.

    The inputs are a, b, x, and a number that selects the parameter: zero for b, any other for a.
    """

    nin = 4
    numpy = routines.betainc_derivative
    dtype = upgrade_to_float_no_complex
    native = routines.betainc_derivative
    domain = ((0.3, 6.0), (0.3, 6.0), (0.05, 0.95), (1.0, 1.0))

    def pullback(
        self,
        a: ScalarVariable,
        b: ScalarVariable,
        x: ScalarVariable,
        wrt_a: ScalarVariable,
        y: ScalarVariable,
        g: ScalarVariable,
    ) -> tuple:
        slope = switch(neq(wrt_a, literal(0, wrt_a)), log(x) - psi(a), log1p(-x) - psi(b)) + psi(a + b)
        return (
            grad_not_implemented(self, 0, a, _SECOND.format("a")),
            grad_not_implemented(self, 1, b, _SECOND.format("b")),
            g * beta_density(a, b, x) * slope,
            grad_not_implemented(self, 3, wrt_a, "It says with respect to which parameter the derivative is."),
        )


class Hyp2F1(ScalarOp):
    """Gauss's hypergeometric function of a, b, c and z."""

    nin = 4
    numpy = SciPyFunction("hyp2f1")
    dtype = upgrade_to_float_no_complex
    native = Special("hyp2f1")
    domain = ((0.2, 3.0), (0.2, 3.0), (1.0, 4.0), (-0.9, 0.7))

    def pullback(
        self,
        a: ScalarVariable,
        b: ScalarVariable,
        c: ScalarVariable,
        z: ScalarVariable,
        y: ScalarVariable,
        g: ScalarVariable,
    ) -> tuple:
        one = literal(1, z)
        slope = a * b / c * hyp2f1(a + one, b + one, c + one, z)  # DLMF 15.5.1
        return *(g * hyp2f1_der(a, b, c, z, literal(position, z)) for position in range(3)), g * slope


class Hyp2F1Der(ScalarOp):
    """The derivative of Gauss's hypergeometric function with respect to a parameter.

    The inputs are a, b, c, z, and a number that selects the parameter: 0 for a, 1 for b, 2 for c, 3 for z.
    """

    nin = 5
    numpy = routines.hyp2f1_derivative
    dtype = upgrade_to_float_no_complex
    native = routines.hyp2f1_derivative
    domain = ((0.2, 3.0), (0.2, 3.0), (1.0, 4.0), (-0.9, 0.7), (3.0, 3.0))

    def pullback(
        self,
        a: ScalarVariable,
        b: ScalarVariable,
        c: ScalarVariable,
        z: ScalarVariable,
        position: ScalarVariable,
        y: ScalarVariable,
        g: ScalarVariable,
    ) -> tuple:
        # Through dF/dz = a b / c F(a + 1, b + 1; c + 1; z), DLMF 15.5.1.
        one = literal(1, z)
        shifted = (a + one, b + one, c + one, z)
        factor = literal(0, z)
        for k, value in enumerate((b / c, a / c, -a * b / (c * c))):
            factor = switch(eq(position, literal(k, position)), value, factor)
        return (
            *(grad_not_implemented(self, k, v, _SECOND.format("abc"[k])) for k, v in enumerate((a, b, c))),
            g * (factor * hyp2f1(*shifted) + a * b / c * hyp2f1_der(*shifted, position)),
            grad_not_implemented(self, 4, position, "It says with respect to which input the derivative is."),
        )


erf = Erf(name="erf")
erfc = Erfc(name="erfc")
erfcx = Erfcx(name="erfcx")
erfcx_reciprocal = ErfcxReciprocal(name="erfcx_reciprocal")
erfinv = Erfinv(name="erfinv")
erfcinv = Erfcinv(name="erfcinv")
owens_t = Owens_t(name="owens_t")
gamma = Gamma(name="gamma")
gammaln = GammaLn(name="gammaln")
psi = Psi(name="psi")
tri_gamma = TriGamma(name="tri_gamma")
polygamma = PolyGamma(name="polygamma")
gamma_density = GammaDensity(name="gamma_density")
gammainc = GammaInc(name="gammainc")
gammaincc = GammaIncC(name="gammaincc")
gammainc_der = GammaIncDer(name="gammainc_der")
gammaincc_der = GammaIncCDer(name="gammaincc_der")
gammau = GammaU(name="gammau")
gammal = GammaL(name="gammal")
chi2sf = Chi2SF(name="chi2sf")
beta_density = BetaDensity(name="beta_density")
betainc = BetaInc(name="betainc")
betainc_der = BetaIncDer(name="betainc_der")
hyp2f1 = Hyp2F1(name="hyp2f1")
hyp2f1_der = Hyp2F1Der(name="hyp2f1_der")
