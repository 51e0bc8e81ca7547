"""Logarithms of sums of two exponentials, without overflow."""

from __future__ import annotations

import math

import numpy as np

from aesara.scalar.comparison import eq, isinf
from aesara.scalar.conditional import scalar_maximum, switch
from aesara.scalar.constants import literal
from aesara.scalar.exponential import exp, exp2, log1p, sigmoid
from aesara.scalar.logic import and_
from aesara.scalar.op import BinaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.var import ScalarVariable

__all__ = ["LogAddExp", "LogAddExp2", "logaddexp", "logaddexp2"]


def _difference(x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
    """Return x - y, or 0 for equal infinities."""
    return switch(and_(isinf(x), eq(x, y)), literal(0, x), x - y)


class LogAddExp(BinaryScalarOp):
    """log(exp(x) + exp(y)), without overflow."""

    numpy = np.logaddexp
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return scalar_maximum(x, y) + log1p(exp(-abs(_difference(x, y))))

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        difference = _difference(x, y)
        return g * sigmoid(difference), g * sigmoid(-difference)


class LogAddExp2(BinaryScalarOp):
    """The logarithm to base 2 of 2**x + 2**y, without overflow."""

    numpy = np.logaddexp2
    dtype = upgrade_to_float_no_complex

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return scalar_maximum(x, y) + log1p(exp2(-abs(_difference(x, y)))) * literal(1 / math.log(2), x)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        difference = _difference(x, y) * literal(math.log(2), x)
        return g * sigmoid(difference), g * sigmoid(-difference)


logaddexp = LogAddExp(name="logaddexp")
logaddexp2 = LogAddExp2(name="logaddexp2")
