"""Evaluate a formula, as written, in mpmath: its value and first two derivatives, or that they are not known.

Numbers are the first coefficients of Taylor series. A formula is computed twice, the second time with every result
changed a little, and with more digits until both agree to more than a double has: where terms cancel, the digits that
are left are known to be right. Numbers that no double can be told from zero or infinity count as such. Changed by as
much as a double is rounded, results tell how many digits the formula costs, for lack of digits and not of range.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath as mp
import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: In bits. Next to 1, what the second of them cannot show is below the smallest double.
PRECISIONS = (160, 1200, 5000)
#: Gamma functions take long to more bits.
SLOW = 400
#: Numbers of this many bits have exponentials whose exponents would fill the memory.
MOST_BITS = 2000
#: Results that agree in so many digits are known.
DIGITS = 1e-18

#: A value and its derivatives.
Jet = tuple[Any, Any, Any]


class Unknown(ArithmeticError):
    """A formula has no value, or it takes too many digits to find it."""


class NoValue(Unknown):
    """A formula takes the logarithm or the root of a negative number."""


class Arithmetic:
    """Functions of numbers in mpmath; each result is changed by at most ``2**-bits`` of it."""

    def __init__(self, bits: int | None = None, seed: int = 5):
        self.random = None if bits is None else random.Random(seed)
        self.bits = bits

    def rounded(self, jet: Jet) -> Jet:
        if self.random is None:
            return jet
        return tuple(v * (1 + mp.ldexp(self.random.uniform(-1, 1), -self.bits)) for v in jet)

    def exp(self, x: Any) -> Any:
        if x and mp.mag(x) > MOST_BITS:
            # Which number this is must not matter.
            return mp.ldexp(1, int(mp.sign(x)) * 10**18 * (1 if self.random is None else 2))
        return mp.exp(x)

    # Functions, with their first two derivatives

    def of_exp(self, x: Any) -> Jet:
        y = self.exp(x)
        return y, y, y

    def of_expm1(self, x: Any) -> Jet:
        y = self.exp(x)
        return mp.expm1(x) if abs(x) < 1 else y - 1, y, y

    def of_log(self, x: Any) -> Jet:
        if not x > 0:
            raise NoValue if x < 0 else Unknown
        return mp.log(x), 1 / x, -1 / x**2

    def of_log1p(self, x: Any) -> Jet:
        if not x > -1:
            raise NoValue if x < -1 else Unknown
        return mp.log1p(x), 1 / (1 + x), -1 / (1 + x) ** 2

    def of_log1mexp(self, x: Any) -> Jet:
        if not x < 0:
            raise Unknown
        p = self.exp(x)
        q = -mp.expm1(x) if x > -1 else 1 - p
        return mp.log(q) if x > -1 else mp.log1p(-p), -p / q, -p / q**2

    def of_sqrt(self, x: Any) -> Jet:
        if not x > 0:
            raise NoValue if x < 0 else Unknown
        y = mp.sqrt(x)
        return y, 1 / (2 * y), -1 / (4 * x * y)

    def of_sqr(self, x: Any) -> Jet:
        return x * x, 2 * x, mp.mpf(2)

    def of_reciprocal(self, x: Any) -> Jet:
        if x == 0:
            raise Unknown
        return 1 / x, -1 / x**2, 2 / x**3

    def of_neg(self, x: Any) -> Jet:
        return -x, mp.mpf(-1), mp.mpf(0)

    def of_abs(self, x: Any) -> Jet:
        if x == 0:
            raise Unknown
        return abs(x), mp.sign(x), mp.mpf(0)

    def of_cast(self, x: Any) -> Jet:
        return x, mp.mpf(1), mp.mpf(0)

    def of_sinh(self, x: Any) -> Jet:
        p = self.exp(x)
        y = mp.sinh(x) if abs(x) < 1 else (p - 1 / p) / 2
        return y, (p + 1 / p) / 2, y

    def of_cosh(self, x: Any) -> Jet:
        y, slope, _ = self.of_sinh(x)
        return slope, y, slope

    def of_tanh(self, x: Any) -> Jet:
        p = self.exp(-2 * abs(x))
        y = mp.tanh(x) if abs(x) < 1 else mp.sign(x) * (1 - p) / (1 + p)
        slope = 4 * p / (1 + p) ** 2
        return y, slope, -2 * y * slope

    def of_sigmoid(self, x: Any) -> Jet:
        p = self.exp(-abs(x))
        y, other = (1 / (1 + p), p / (1 + p)) if x >= 0 else (p / (1 + p), 1 / (1 + p))
        slope = y * other
        return y, slope, -slope * self.of_tanh(x / 2)[0]

    def of_softplus(self, x: Any) -> Jet:
        y, slope, _ = self.of_sigmoid(x)
        return max(x, mp.mpf(0)) + mp.log1p(self.exp(-abs(x))), y, slope

    def of_erf(self, x: Any) -> Jet:
        slope = 2 / mp.sqrt(mp.pi) * self.exp(-x * x)
        if abs(x) < 1:
            return mp.erf(x), slope, -2 * x * slope
        return mp.sign(x) * (1 - self.erfc(abs(x))), slope, -2 * x * slope

    def erfc(self, x: Any) -> Any:
        return mp.erfc(x) if mp.mag(x) < 40 else self.exp(-x * x) / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x))

    def of_erfc(self, x: Any) -> Jet:
        _, slope, second = self.of_erf(x)
        return self.erfc(x) if x > 1 else 2 - self.erfc(-x) if x < -1 else mp.erfc(x), -slope, -second

    def of_ndtr(self, x: Any) -> Jet:
        y, slope, second = self.of_erfc(-x / mp.sqrt(2))
        return y / 2, -slope / mp.sqrt(8), second / 4

    def of_log_ndtr(self, x: Any) -> Jet:
        y, slope, second = self.of_ndtr(x)
        value = mp.log1p(-self.erfc(x / mp.sqrt(2)) / 2) if x > 1 else mp.log(y)
        return value, slope / y, second / y - (slope / y) ** 2

    def of_erfcx(self, x: Any) -> Jet:
        if mp.mag(x) > 40:
            raise Unknown
        with mp.extraprec(200):
            y = self.exp(x * x) * self.of_erfc(x)[0]
            slope = 2 * x * y - 2 / mp.sqrt(mp.pi)
            return y, slope, 2 * y + 2 * x * slope

    def of_gamma(self, x: Any) -> Jet:
        if mp.mag(x) > 60 or self.is_far(x):
            raise Unknown
        y, slope = mp.gamma(x), mp.psi(0, x)
        return y, y * slope, y * (slope**2 + mp.psi(1, x))

    def of_gammaln(self, x: Any) -> Jet:
        if self.is_far(x):
            raise Unknown
        y = mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x)))
        return y, mp.psi(0, x), mp.psi(1, x)

    def of_psi(self, x: Any) -> Jet:
        if self.is_far(x):
            raise Unknown
        return mp.psi(0, x), mp.psi(1, x), mp.psi(2, x)

    def is_far(self, x: Any) -> bool:
        """Return whether gamma functions have no value at `x`, or take long."""
        return mp.mp.prec > SLOW or (x <= 0 and (mp.isint(x) or mp.mag(x) > 15))

    def of_sin(self, x: Any) -> Jet:
        return mp.sin(x), mp.cos(x), -mp.sin(x)

    def of_cos(self, x: Any) -> Jet:
        return mp.cos(x), -mp.sin(x), -mp.cos(x)

    def of_erfinv(self, x: Any) -> Jet:
        y = mp.erfinv(x)
        slope = mp.sqrt(mp.pi) / 2 * self.exp(y * y)
        return y, slope, 2 * y * slope**2

    def of_ndtri(self, x: Any) -> Jet:
        y = mp.sqrt(2) * mp.erfinv(2 * x - 1)
        slope = mp.sqrt(2 * mp.pi) * self.exp(y * y / 2)
        return y, slope, y * slope**2

    def of_logit(self, x: Any) -> Jet:
        if not 0 < x < 1:
            raise Unknown
        product = x * (1 - x)
        return mp.log(x) - mp.log1p(-x), 1 / product, (2 * x - 1) / product**2

    def of_entr(self, x: Any) -> Jet:
        return -x * mp.log(x), -mp.log(x) - 1, -1 / x

    def of_trigamma(self, x: Any) -> Jet:
        if self.is_far(x):
            raise Unknown
        return mp.psi(1, x), mp.psi(2, x), mp.psi(3, x)

    def of_arcsinh(self, x: Any) -> Jet:
        root = mp.sqrt(1 + x * x)
        return mp.asinh(x), 1 / root, -x / root**3

    def of_arctanh(self, x: Any) -> Jet:
        rest = (1 - x) * (1 + x)
        return mp.atanh(x), 1 / rest, 2 * x / rest**2

    def of_arctan(self, x: Any) -> Jet:
        return mp.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2

    def of_i0(self, x: Any) -> Jet:
        one = self.bessel(1, x)
        return self.bessel(0, x), one, (self.bessel(0, x) + self.bessel(2, x)) / 2

    def of_i1(self, x: Any) -> Jet:
        slope = (self.bessel(0, x) + self.bessel(2, x)) / 2
        return self.bessel(1, x), slope, (3 * self.bessel(1, x) + self.bessel(3, x)) / 4

    def of_i0e(self, x: Any) -> Jet:
        with mp.extraprec(100):
            power = self.exp(-abs(x))
            return self.product((power, -mp.sign(x) * power, power), self.of_i0(x))

    def bessel(self, n: int, x: Any) -> Any:
        if mp.mag(x) > 12:
            raise Unknown
        return mp.besseli(n, x)

    # How they are put together

    def chained(self, function: Callable[[Any], Jet], x: Jet) -> Jet:
        value, slope, second = function(x[0])
        return value, slope * x[1], slope * x[2] + second * x[1] ** 2

    def product(self, x: Jet, y: Jet) -> Jet:
        return x[0] * y[0], x[0] * y[1] + x[1] * y[0], x[0] * y[2] + 2 * x[1] * y[1] + x[2] * y[0]

    def quotient(self, x: Jet, y: Jet) -> Jet:
        return self.product(x, self.chained(self.of_reciprocal, y))

    def power(self, x: Jet, y: Jet) -> Jet:
        if y[1] == y[2] == 0 and (x[0] > 0 or mp.isint(y[0])) and x[0] != 0:
            n, base = y[0], x[0]
            if abs(n) > 10**6:
                raise Unknown
            return self.chained(lambda _: (base**n, n * base ** (n - 1), n * (n - 1) * base ** (n - 2)), x)
        return self.chained(self.of_exp, self.product(y, self.chained(self.of_log, x)))

    def result(self, name: str, operands: Sequence[Jet]) -> Jet:
        if name in ("add", "mul"):
            total = operands[0]
            for other in operands[1:]:
                pair = self.product(total, other) if name == "mul" else tuple(a + b for a, b in zip(total, other))
                total = self.rounded(pair)
            return total
        if name == "sub":
            return self.rounded(tuple(a - b for a, b in zip(*operands)))
        if name == "true_div":
            return self.rounded(self.quotient(*operands))
        if name == "pow":
            return self.rounded(self.power(*operands))
        if name == "second":
            return operands[1]
        return self.rounded(self.chained(getattr(self, f"of_{name}"), operands[0]))


#: What functions are called here, by the classes of scalar ops.
NAMES = {"TrueDivide": "true_div", "TrueDiv": "true_div", "Psi": "psi", "Sqr": "sqr", "Cast": "cast"}


def name_of(op: Any) -> str:
    kind = type(op.scalar_op).__name__
    return NAMES.get(kind, {"LogNdtr": "log_ndtr", "GammaLn": "gammaln"}.get(kind, kind.lower()))


def evaluated(nodes: Sequence[Any], out: Variable, values: Mapping[Variable, Jet], arithmetic: Arithmetic) -> Jet:
    """The value of a variable that `nodes` compute."""
    known = dict(values)

    def jet(var: Variable) -> Jet:
        if isinstance(var, Constant):
            return mp.mpf(float(var.data.reshape(-1)[0])), mp.mpf(0), mp.mpf(0)
        return known[var]

    for node in nodes:
        if isinstance(node.op, DimShuffle):
            known[node.outputs[0]] = jet(node.inputs[0])
        elif isinstance(node.op, Elemwise):
            known[node.outputs[0]] = arithmetic.result(name_of(node.op), [jet(v) for v in node.inputs])
        else:
            raise TypeError(f"{node.op} is not elementwise")
    return jet(out)


def truth(
    inputs: Sequence[Variable], out: Variable, points: Sequence[Sequence[float]]
) -> tuple[np.ndarray, np.ndarray]:
    """The value and the derivatives by the first input at each point, and how far rounding takes them from that.

    Parameters
    ----------
    inputs
        Vectors.
    out
        An elementwise function of them.
    points
        A row of finite numbers for each input.

    Returns
    -------
    numpy.ndarray, numpy.ndarray
        Three rows each. The first are rounded to doubles; NaN for what is not known. The second are the errors of a
        machine that rounds to as many digits as a double has, and has no largest or smallest number; NaN where it is
        known that there is no value.
    """
    nodes = io_toposort(inputs, [out])
    found = [_at_point(nodes, inputs, out, point) for point in zip(*points, strict=True)]
    return np.array([row for row, _ in found]).T, np.array([row for _, row in found]).T


def _at_point(
    nodes: Sequence[Any], inputs: Sequence[Variable], out: Variable, point: Sequence[float]
) -> tuple[list[float], list[float]]:
    known, noise = [np.nan] * 3, [np.inf] * 3
    for precision in PRECISIONS:
        with mp.workprec(precision):
            values = {
                var: (mp.mpf(float(v)), mp.mpf(k == 0), mp.mpf(0)) for k, (var, v) in enumerate(zip(inputs, point))
            }
            try:
                exact, changed = (
                    evaluated(nodes, out, values, arithmetic)
                    for arithmetic in (Arithmetic(), Arithmetic(precision - 6))
                )
            except NoValue:
                if np.isnan(known).all():
                    noise = [np.nan] * 3
                continue
            except UNKNOWN:
                continue
            known = [as_double(a) if agree(a, b) else np.nan for a, b in zip(exact, changed)]
            try:
                rounded = [evaluated(nodes, out, values, Arithmetic(52, seed)) for seed in (5, 6)]
                noise = [as_double(max(abs(b - a) for b in of_order)) for a, *of_order in zip(exact, *rounded)]
            except UNKNOWN:
                noise = [np.inf] * 3
        if not any(np.isnan(known)):
            break
    return known, noise


#: What functions in mpmath raise for lack of a value, or of time.
UNKNOWN = (Unknown, ZeroDivisionError, ValueError, OverflowError, mp.libmp.ComplexResult, NotImplementedError)


def agree(one: Any, other: Any) -> bool:
    """Return whether two numbers are almost equal, or both round to zero, or to the same infinity, as doubles."""
    if not (mp.isfinite(one) and mp.isfinite(other)):
        return False
    if abs(one - other) <= DIGITS * abs(one):
        return True
    if max(abs(one), abs(other)) < mp.ldexp(1, -1080):
        return True
    return min(abs(one), abs(other)) > mp.ldexp(1, 1030) and mp.sign(one) == mp.sign(other)


def as_double(x: Any) -> float:
    if abs(x) > mp.ldexp(1, 1024):
        return float(mp.sign(x)) * np.inf
    return float(x) if x and mp.mag(x) > -1100 else 0.0
