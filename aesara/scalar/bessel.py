"""Bessel functions of real order and real argument.

Derivatives are those of DLMF 10.6.1, 10.29.1 and, for scaled functions, of their products with exponentials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aesara.graph.pullback import grad_not_implemented
from aesara.scalar.arithmetic import sgn
from aesara.scalar.constants import literal
from aesara.scalar.native import Special
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import SciPyFunction
from aesara.scalar.var import ScalarVariable

if TYPE_CHECKING:
    pass

__all__ = [
    "I0",
    "I0e",
    "I1",
    "I1e",
    "Iv",
    "Ive",
    "J0",
    "J1",
    "Jv",
    "K0",
    "K0e",
    "K1",
    "K1e",
    "Kv",
    "Kve",
    "Y0",
    "Y1",
    "Yv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kv",
    "kve",
    "y0",
    "y1",
    "yv",
]

_ORDER = "There is no formula for the derivative with respect to the order of a Bessel function here."


class _BesselFunction(BinaryScalarOp):
    """A Bessel function of order v and argument x; `slope` is its derivative with respect to x."""

    dtype = upgrade_to_float_no_complex
    domain = ((0.0, 3.0), (0.1, 5.0))

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        raise NotImplementedError

    def neighbours(self, v: ScalarVariable, x: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable]:
        """Return the values of order v - 1 and v + 1."""
        one = literal(1, v)
        return self(v - one, x), self(v + one, x)

    def pullback(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return grad_not_implemented(self, 0, v, _ORDER), g * self.slope(v, x, y)


class _BesselFunctionOfFixedOrder(UnaryScalarOp):
    """A Bessel function of a fixed order; `slope` is its derivative."""

    dtype = upgrade_to_float_no_complex
    domain = (0.1, 10.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        raise NotImplementedError

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (g * self.slope(x, y),)


class Jv(_BesselFunction):
    """Bessel function of the first kind, of real order v."""

    numpy = SciPyFunction("jv")
    native = Special("jv")
    domain = ((0.0, 3.0), (0.1, 10.0))

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        below, above = self.neighbours(v, x)
        return (below - above) * literal(0.5, x)


class Yv(_BesselFunction):
    """Bessel function of the second kind, of real order v."""

    numpy = SciPyFunction("yv")
    native = Special("yv")
    domain = ((0.0, 3.0), (0.3, 10.0))

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        below, above = self.neighbours(v, x)
        return (below - above) * literal(0.5, x)


class Iv(_BesselFunction):
    """Modified Bessel function of the first kind, of real order v."""

    numpy = SciPyFunction("iv")
    native = Special("iv")

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        below, above = self.neighbours(v, x)
        return (below + above) * literal(0.5, x)


class Ive(_BesselFunction):
    """exp(-|x|) times `Iv`, which does not overflow."""

    numpy = SciPyFunction("ive")
    native = Special("ive")

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        below, above = self.neighbours(v, x)
        return (below + above) * literal(0.5, x) - sgn(x) * y


class Kv(_BesselFunction):
    """Modified Bessel function of the second kind, of real order v."""

    numpy = SciPyFunction("kv")
    native = Special("kv")
    domain = ((0.0, 3.0), (0.3, 5.0))

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        below, above = self.neighbours(v, x)
        return (below + above) * literal(-0.5, x)


class Kve(_BesselFunction):
    """exp(x) times `Kv`, which does not underflow."""

    numpy = SciPyFunction("kve")
    native = Special("kve")
    domain = ((0.0, 3.0), (0.3, 5.0))

    def slope(self, v: ScalarVariable, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        below, above = self.neighbours(v, x)
        return y - (below + above) * literal(0.5, x)


class J0(_BesselFunctionOfFixedOrder):
    """Bessel function of the first kind, of order 0."""

    numpy = SciPyFunction("j0")
    native = Special("j0")
    domain = (-5.0, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return -j1(x)


class J1(_BesselFunctionOfFixedOrder):
    """Bessel function of the first kind, of order 1."""

    numpy = SciPyFunction("j1")
    native = Special("j1")
    domain = (-5.0, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return (j0(x) - jv(literal(2, x), x)) * literal(0.5, x)


class Y0(_BesselFunctionOfFixedOrder):
    """Bessel function of the second kind, of order 0."""

    numpy = SciPyFunction("y0")
    native = Special("y0")
    domain = (0.3, 10.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return -y1(x)


class Y1(_BesselFunctionOfFixedOrder):
    """Bessel function of the second kind, of order 1."""

    numpy = SciPyFunction("y1")
    native = Special("y1")
    domain = (0.3, 10.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return (y0(x) - yv(literal(2, x), x)) * literal(0.5, x)


class I0(_BesselFunctionOfFixedOrder):
    """Modified Bessel function of the first kind, of order 0."""

    numpy = SciPyFunction("i0")
    native = Special("i0")
    domain = (-5.0, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return i1(x)


class I0e(_BesselFunctionOfFixedOrder):
    """exp(-|x|) times `I0`, which does not overflow."""

    numpy = SciPyFunction("i0e")
    native = Special("i0e")

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return i1e(x) - sgn(x) * y


class I1(_BesselFunctionOfFixedOrder):
    """Modified Bessel function of the first kind, of order 1."""

    numpy = SciPyFunction("i1")
    native = Special("i1")
    domain = (-5.0, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return (i0(x) + iv(literal(2, x), x)) * literal(0.5, x)


class I1e(_BesselFunctionOfFixedOrder):
    """exp(-|x|) times `I1`, which does not overflow."""

    numpy = SciPyFunction("i1e")
    native = Special("i1e")

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return (i0e(x) + ive(literal(2, x), x)) * literal(0.5, x) - sgn(x) * y


class K0(_BesselFunctionOfFixedOrder):
    """Modified Bessel function of the second kind, of order 0."""

    numpy = SciPyFunction("k0")
    native = Special("k0")
    domain = (0.3, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return -k1(x)


class K0e(_BesselFunctionOfFixedOrder):
    """exp(x) times `K0`, which does not underflow."""

    numpy = SciPyFunction("k0e")
    native = Special("k0e")
    domain = (0.3, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return y - k1e(x)


class K1(_BesselFunctionOfFixedOrder):
    """Modified Bessel function of the second kind, of order 1."""

    numpy = SciPyFunction("k1")
    native = Special("k1")
    domain = (0.3, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return (k0(x) + kv(literal(2, x), x)) * literal(-0.5, x)


class K1e(_BesselFunctionOfFixedOrder):
    """exp(x) times `K1`, which does not underflow."""

    numpy = SciPyFunction("k1e")
    native = Special("k1e")
    domain = (0.3, 5.0)

    def slope(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return y - (k0e(x) + kve(literal(2, x), x)) * literal(0.5, x)


jv = Jv(name="jv")
yv = Yv(name="yv")
iv = Iv(name="iv")
ive = Ive(name="ive")
kv = Kv(name="kv")
kve = Kve(name="kve")
j0 = J0(name="j0")
j1 = J1(name="j1")
y0 = Y0(name="y0")
y1 = Y1(name="y1")
i0 = I0(name="i0")
i0e = I0e(name="i0e")
i1 = I1(name="i1")
i1e = I1e(name="i1e")
k0 = K0(name="k0")
k0e = K0e(name="k0e")
k1 = K1(name="k1")
k1e = K1e(name="k1e")
