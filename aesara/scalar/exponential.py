"""Exponentials, logarithms, and numerically stable compositions of them."""

from __future__ import annotations

import math

import numpy as np

from aesara.scalar.comparison import ge, lt
from aesara.scalar.conditional import scalar_maximum, switch
from aesara.scalar.constants import literal
from aesara.scalar.native import Primitive
from aesara.scalar.op import UnaryScalarOp
from aesara.scalar.promotion import upgrade_to_float
from aesara.scalar.var import ScalarVariable

__all__ = [
    "Exp",
    "Exp2",
    "Expm1",
    "Log",
    "Log1mexp",
    "Log1p",
    "Log2",
    "Log10",
    "Sigmoid",
    "Softplus",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "sigmoid",
    "softplus",
]


class Exp(UnaryScalarOp):
    """The exponential function."""

    numpy = np.exp
    dtype = upgrade_to_float
    native = Primitive("exp")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * y,)


class Exp2(UnaryScalarOp):
    """2 to the power x."""

    numpy = np.exp2
    dtype = upgrade_to_float
    native = Primitive("exp2")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * y * literal(math.log(2), y),)


class Expm1(UnaryScalarOp):
    """exp(x) - 1, accurate near zero."""

    numpy = np.expm1
    dtype = upgrade_to_float
    native = Primitive("expm1")

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        # y + 1 would be inaccurate for negative x.
        return (g * exp(x),)


class Log(UnaryScalarOp):
    """Natural logarithm."""

    numpy = np.log
    dtype = upgrade_to_float
    native = Primitive("log")
    domain = (0.01, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / x,)


class Log2(UnaryScalarOp):
    """Logarithm to base 2."""

    numpy = np.log2
    dtype = upgrade_to_float
    native = Primitive("log2")
    domain = (0.01, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / (x * literal(math.log(2), x)),)


class Log10(UnaryScalarOp):
    """Logarithm to base 10."""

    numpy = np.log10
    dtype = upgrade_to_float
    native = Primitive("log10")
    domain = (0.01, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / (x * literal(math.log(10), x)),)


class Log1p(UnaryScalarOp):
    """Natural logarithm of 1 + x, accurate near zero."""

    numpy = np.log1p
    dtype = upgrade_to_float
    native = Primitive("log1p")
    domain = (-0.99, 10.0)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g / (x + literal(1, x)),)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(x):
        return 1 / (1 + np.exp(-x))
    decay = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, decay) / (1 + decay)


class Sigmoid(UnaryScalarOp):
    """1 / (1 + exp(-x)), without overflow."""

    numpy = _sigmoid
    nfunc_spec = ("scipy.special.expit", 1, 1)
    dtype = upgrade_to_float

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        one = literal(1, x)
        decay = exp(-abs(x))
        return switch(ge(x, literal(0, x)), one, decay) / (one + decay)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * y * (literal(1, y) - y),)


def _softplus(x: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(x):
        return np.log1p(np.exp(x))
    return np.logaddexp(np.zeros((), dtype=x.dtype), x)


class Softplus(UnaryScalarOp):
    """log(1 + exp(x)), without overflow and accurate for negative x."""

    numpy = _softplus
    dtype = upgrade_to_float

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return scalar_maximum(x, literal(0, x)) + log1p(exp(-abs(x)))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * sigmoid(x),)


_MINUS_LOG_2 = -math.log(2)


def _log1mexp(x: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(x):
        return np.log1p(-np.exp(x))
    return np.where(x < _MINUS_LOG_2, np.log1p(-np.exp(x)), np.log(-np.expm1(x)))


class Log1mexp(UnaryScalarOp):
    """log(1 - exp(x)) for x < 0, accurate near zero and for large negative x.

    The two formulas and the threshold between them are those of M. Maechler (2012), "Accurately computing log(1 -
    exp(-|a|))".
    """

    numpy = _log1mexp
    dtype = upgrade_to_float
    domain = (-10.0, -0.01)

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return switch(lt(x, literal(_MINUS_LOG_2, x)), log1p(-exp(x)), log(-expm1(x)))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        slope = g * exp(x)  # expm1(-x) would overflow
        if x.type.is_complex:
            return (slope / expm1(x),)
        # At zero, which may have either sign, the limit is minus infinity.
        return (-slope / abs(expm1(x)),)


exp = Exp(name="exp")
exp2 = Exp2(name="exp2")
expm1 = Expm1(name="expm1")
log = Log(name="log")
log2 = Log2(name="log2")
log10 = Log10(name="log10")
log1p = Log1p(name="log1p")
sigmoid = Sigmoid(name="sigmoid")
softplus = Softplus(name="scalar_softplus")
log1mexp = Log1mexp(name="scalar_log1mexp")
