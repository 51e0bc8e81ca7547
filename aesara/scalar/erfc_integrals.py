"""Ratios of repeated integrals of the complementary error function."""

from __future__ import annotations

from aesara.graph.pullback import grad_not_implemented
from aesara.scalar import routines
from aesara.scalar.constants import literal
from aesara.scalar.op import BinaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.var import ScalarVariable

__all__ = ["ErfcRatio", "erfc_ratio"]


class ErfcRatio(BinaryScalarOp):
    """The repeated integral of erfc of order n, divided by that of order n - 1.

    The derivative of ``erfcx(x)`` is ``-2 * erfcx(x) * erfc_ratio(1, x)``, a product without cancellation; derivatives
    of higher order are of the same kind.
    """

    numpy = routines.erfc_ratio
    dtype = upgrade_to_float_no_complex
    native = routines.erfc_ratio
    domain = ((1.0, 1.0), (-3.0, 10.0))

    def pullback(self, n: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        undefined = grad_not_implemented(self, 0, n, "The order is a whole number.")
        next_order = n + literal(1, n)
        return undefined, g * (literal(2, y) * y * (n * y - next_order * erfc_ratio(next_order, x)))


erfc_ratio = ErfcRatio(name="erfc_ratio")
