"""Formulas as users write them, of which stable forms are known: `python -m tests.accuracy.stable` measures them.

A check compares the value or the slope of a formula at one point with that of mpmath.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.nodes import Variable
from aesara.tensor.special import ndtr
from tests.accuracy.campaign import errors
from tests.accuracy.written import truth

Formula = Callable[[Variable], Variable]

SIZES = np.array(
    [1e-300, 1e-100, 1e-40, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.3, 1.0, 2.5, 7.0, 20.0, 40.0, 100.0, 355.0, 700.0]
    + [711.0, 800.0, 1e4, 1e8, 1e16, 1e40, 1e100, 1e160, 1e300]
)
SIGNED = np.concatenate([-SIZES[::-1], SIZES])
#: Relative errors up to this are rounding, also those of differences of logarithms of moderate numbers.
TOLERANCE = 1e-12
#: Smaller numbers than the normal ones have fewer digits.
SMALLEST = 1e-300


ORDERS = ("value", "slope")


@dataclass(frozen=True)
class Row:
    """A formula with its points, and the results that are compared: the slopes of some are differences that cancel."""

    build: Formula
    points: np.ndarray
    orders: tuple[str, ...] = ORDERS


def everywhere(build: Formula) -> Row:
    return Row(build, SIGNED)


def positive(build: Formula) -> Row:
    return Row(build, SIZES)


def proper(build: Formula) -> Row:
    return Row(build, SIGNED[np.abs(SIGNED) < 1])


def moderate(build: Formula, largest: float) -> Row:
    return Row(build, SIGNED[np.abs(SIGNED) <= largest])


def without_overflow(build: Formula) -> Row:
    """All points but those at which an exponential is infinite where its quotient with the argument is not."""
    return Row(build, SIGNED[~np.isin(np.abs(SIGNED), (355, 711))])


def values(build: Formula) -> Row:
    """Only values, up to where 1 + x is x."""
    return Row(build, SIGNED[np.abs(SIGNED) <= 1e8], orders=("value",))


FORMULAS: dict[str, Row] = {
    # Quotients of exponential differences
    "expm1(x) / x": without_overflow(lambda x: at.expm1(x) / x),
    "(exp(x) - 1) / x": without_overflow(lambda x: (at.exp(x) - 1) / x),
    "(1 - exp(-x)) / x": without_overflow(lambda x: (1 - at.exp(-x)) / x),
    "(exp(2*x) - 1) / x": without_overflow(lambda x: (at.exp(2 * x) - 1) / x),
    "(exp(2*x) - 1) / (2*x)": without_overflow(lambda x: (at.exp(2 * x) - 1) / (2 * x)),
    "x / expm1(x)": everywhere(lambda x: x / at.expm1(x)),
    "x / (exp(x) - 1)": everywhere(lambda x: x / (at.exp(x) - 1)),
    "x / (1 - exp(-x))": everywhere(lambda x: x / (1 - at.exp(-x))),
    "x / (1 - exp(x))": everywhere(lambda x: x / (1 - at.exp(x))),
    "x * exp(x) / (exp(x) - 1)": everywhere(lambda x: x * at.exp(x) / (at.exp(x) - 1)),
    "x**2 / (exp(x) - 1)": moderate(lambda x: x**2 / (at.exp(x) - 1), 1e100),
    "1 / (exp(x) - 1)": everywhere(lambda x: 1 / (at.exp(x) - 1)),
    "1 / (1 - exp(-x))": everywhere(lambda x: 1 / (1 - at.exp(-x))),
    "log((exp(x) - 1) / x)": everywhere(lambda x: at.log((at.exp(x) - 1) / x)),
    "log((1 - exp(-x)) / x)": everywhere(lambda x: at.log((1 - at.exp(-x)) / x)),
    "log(x / (exp(x) - 1))": everywhere(lambda x: at.log(x / (at.exp(x) - 1))),
    "log(x / (1 - exp(-x)))": everywhere(lambda x: at.log(x / (1 - at.exp(-x)))),
    "log(sinh(x) / x)": everywhere(lambda x: at.log(at.sinh(x) / x)),
    "log(x / sinh(2*x))": everywhere(lambda x: at.log(x / at.sinh(2 * x))),
    "sin(x) / x": moderate(lambda x: at.sin(x) / x, 1e8),
    "tanh(x) / x": everywhere(lambda x: at.tanh(x) / x),
    "x / tanh(x)": moderate(lambda x: x / at.tanh(x), 1e8),
    "erf(x) / x": everywhere(lambda x: at.erf(x) / x),
    "sinh(x) / x": moderate(lambda x: at.sinh(x) / x, 700),
    "log(1 + x) / x": positive(lambda x: at.log(1 + x) / x),
    "log(1 - x) / x": proper(lambda x: at.log(1 - x) / x),
    "log1p(x) / x": positive(lambda x: at.log1p(x) / x),
    "log1p(x) / x, around 0": proper(lambda x: at.log1p(x) / x),
    "x / log(1 + x)": positive(lambda x: x / at.log(1 + x)),
    "x / log1p(x), around 0": proper(lambda x: x / at.log1p(x)),
    "-log(1 - x) / x": proper(lambda x: -at.log(1 - x) / x),
    # Hyperbolic functions
    "1 - tanh(x)**2": everywhere(lambda x: 1 - at.tanh(x) ** 2),
    "log(1 - tanh(x)**2)": everywhere(lambda x: at.log(1 - at.tanh(x) ** 2)),
    "1 / cosh(x)**2": everywhere(lambda x: 1 / at.cosh(x) ** 2),
    "1 - tanh(x)": everywhere(lambda x: 1 - at.tanh(x)),
    "x * (1 - tanh(x)**2)": everywhere(lambda x: x * (1 - at.tanh(x) ** 2)),
    "cosh(x) / cosh(x + 1)": values(lambda x: at.cosh(x) / at.cosh(x + 1)),
    "log(cosh(x) / cosh(x + 1))": values(lambda x: at.log(at.cosh(x) / at.cosh(x + 1))),
    # Quotients of sums of exponentials
    "(exp(x) + 1) / (exp(x) + 2)": everywhere(lambda x: (at.exp(x) + 1) / (at.exp(x) + 2)),
    "(1 + 2*exp(x)) / (3 + exp(x))": everywhere(lambda x: (1 + 2 * at.exp(x)) / (3 + at.exp(x))),
    "(exp(2*x) + exp(x)) / (exp(2*x) + 1)": values(
        lambda x: (at.exp(2 * x) + at.exp(x)) / (at.exp(2 * x) + 1)
    ),
    "exp(x) / (1 + exp(x))**2": everywhere(lambda x: at.exp(x) / (1 + at.exp(x)) ** 2),
    "exp(2*x) / (1 + exp(x))**2": everywhere(lambda x: at.exp(2 * x) / (1 + at.exp(x)) ** 2),
    "(exp(x) - 1) / (exp(x) + 1)": everywhere(lambda x: (at.exp(x) - 1) / (at.exp(x) + 1)),
    "(exp(x) - 1) / (exp(x) + 2)": everywhere(lambda x: (at.exp(x) - 1) / (at.exp(x) + 2)),
    "exp(x) / (exp(x) + 5)": everywhere(lambda x: at.exp(x) / (at.exp(x) + 5)),
    # Quotients of error functions
    "ndtr(x) / ndtr(x + 1)": everywhere(lambda x: ndtr(x) / ndtr(x + 1)),
    "erfc(x) / erfc(x + 1)": moderate(lambda x: at.erfc(x) / at.erfc(x + 1), 100),
    "erfc(x + 1) / erfc(x)": everywhere(lambda x: at.erfc(x + 1) / at.erfc(x)),
    "(1 - erf(x + 1)) / (1 - erf(x))": everywhere(lambda x: (1 - at.erf(x + 1)) / (1 - at.erf(x))),
    "erf(x + 1) / erf(x)": everywhere(lambda x: at.erf(x + 1) / at.erf(x)),
    "exp(-x**2) / erfc(x)": everywhere(lambda x: at.exp(-(x**2)) / at.erfc(x)),
    # Roots and logarithms that cancel
    "sqrt(x + 1) - sqrt(x)": positive(lambda x: at.sqrt(x + 1) - at.sqrt(x)),
    "sqrt(x) - sqrt(x + 1)": positive(lambda x: at.sqrt(x) - at.sqrt(x + 1)),
    "sqrt(1 + x) - 1": positive(lambda x: at.sqrt(1 + x) - 1),
    "sqrt(1 + x**2) - 1": moderate(lambda x: at.sqrt(1 + x**2) - 1, 1e100),
    "log(1 + x) - log(1 - x)": proper(lambda x: at.log(1 + x) - at.log(1 - x)),
    # Zero-inflated densities
    "log(0.3 + 0.7*exp(-x))": positive(lambda x: at.log(0.3 + 0.7 * at.exp(-x))),
    "log(p + (1 - p)*exp(-3))": Row(lambda p: at.log(p + (1 - p) * np.exp(-3.0)), SIZES[SIZES <= 1]),
    "log(p + (1 - p)*exp(-l)), small l": positive(lambda x: at.log(1e-3 + (1 - 1e-3) * at.exp(-x))),
    "log(s + (1 - s)*exp(-2)), s of x": everywhere(
        lambda x: at.log(at.sigmoid(x) + (1 - at.sigmoid(x)) * np.exp(-2.0))
    ),
    "log(s + (1 - s)*exp(-exp(x)))": everywhere(
        lambda x: at.log(at.sigmoid(x) + (1 - at.sigmoid(x)) * at.exp(-at.exp(x)))
    ),
    "log((1 - p)*x**3*exp(-x)/6)": positive(lambda x: at.log((1 - 0.3) * x**3 * at.exp(-x) / 6)),
    # Log-densities
    "log Student 4": everywhere(lambda x: at.log(3 / 8 * (1 + x**2 / 4) ** -2.5)),
    "log Student 4, as sum": everywhere(lambda x: np.log(3 / 8) - 2.5 * at.log(1 + x**2 / 4)),
    "log Student 4, log1p": everywhere(lambda x: np.log(3 / 8) - 2.5 * at.log1p(x**2 / 4)),
    "log Student 4, of quotient": everywhere(lambda x: np.log(3 / 8) - 2.5 * at.log1p((x / 2) ** 2)),
    "log Cauchy": everywhere(lambda x: at.log(1 / (np.pi * (1 + x**2)))),
    "log Cauchy, as sum": everywhere(lambda x: -np.log(np.pi) - at.log(1 + x**2)),
    "log Pareto": positive(lambda x: at.log(2.5 * 1.2**2.5 / x**3.5)),
    "log Pareto, small exponent": positive(lambda x: at.log(1.5 * 1.2**1.5 / x**2.5)),
    "log Pareto of alpha": positive(lambda x: at.log(x * 1.2**x / 3.0 ** (x + 1))),
    "log Lomax": positive(lambda x: at.log(2.5 / 3 * (1 + x / 3) ** -3.5)),
    "log inverse gamma": positive(lambda x: at.log(x**-3.5 * at.exp(-1 / x))),
    "log inverse gamma 5": positive(lambda x: at.log(x**-5.5 * at.exp(-1 / x) / 24)),
    "log inverse gamma, quotient": positive(lambda x: at.log(at.exp(-2 / x) / x**3.5)),
    "log gamma": positive(lambda x: at.log(x**1.5 * at.exp(-x) / 1.33)),
    "log gamma, 5": positive(lambda x: at.log(x**4.5 * at.exp(-2 * x) / 11.6)),
    "log gamma, shape 2": positive(lambda x: at.log(x * at.exp(-x))),
    "log gamma, shape 3": positive(lambda x: at.log(x**2 * at.exp(-x) / 2)),
    "log Maxwell": positive(lambda x: at.log(x**2 * at.exp(-(x**2) / 2))),
    "log Rayleigh": positive(lambda x: at.log(x * at.exp(-(x**2) / 2))),
    "log Weibull": positive(lambda x: at.log(1.5 * x**0.5 * at.exp(-(x**1.5)))),
    "log chi": positive(lambda x: at.log(x**3 * at.exp(-(x**2) / 2) / 2)),
    "log Levy": positive(lambda x: at.log(at.exp(-0.5 / x) / x**1.5)),
    "log Gauss": everywhere(lambda x: at.log(at.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))),
    "log Laplace": everywhere(lambda x: at.log(at.exp(-abs(x) / 3) / 6)),
    "log beta": Row(lambda x: at.log(x**1.5 * (1 - x) ** 2.5 / 0.02), SIZES[SIZES < 1]),
    "log beta prime": positive(lambda x: at.log(x**1.5 * (1 + x) ** -4.5 / 0.02)),
    "log F": positive(lambda x: at.log(x**0.5 / (1 + 3 * x / 5) ** 4)),
    "log-logistic": positive(lambda x: at.log(2.5 * x**1.5 / (1 + x**2.5) ** 2)),
    "log half-Cauchy": positive(lambda x: at.log(2 / (np.pi * (1 + x**2)))),
    "log-normal density": positive(lambda x: at.log(at.exp(-0.5 * at.log(x) ** 2) / x)),
    "log Frechet": positive(lambda x: at.log(2.5 * x**-3.5 * at.exp(-(x**-2.5)))),
    "log of two powers": positive(lambda x: at.log(x**1.5 / (1 + x) ** 2.5)),
    "log(x**3 / (exp(x) - 1))": positive(lambda x: at.log(x**3 / (at.exp(x) - 1))),
    "x * exp(-x**2)": everywhere(lambda x: x * at.exp(-(x**2))),
}  # fmt: skip


@dataclass(frozen=True)
class Check:
    """A result, and what it should be; `error` is relative."""

    name: str
    order: str
    x: float
    wanted: float
    found: float
    error: float

    def __str__(self) -> str:
        return f"{self.name}: {self.order} at {self.x:g} is {self.found:.17g}, should be {self.wanted:.17g}"


RULES = Mode(linker="py", optimizer="fast_run")


def checks(name: str, row: Row, mode: Mode = RULES) -> list[Check]:
    """All checks of a formula for which mpmath knows the result."""
    x = at.dvector("x")
    out = row.build(x)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted, _ = truth([x], out, [row.points])
        # Alone, as the value is computed for itself, and with its slope.
        value = aesara.function([x], out, mode=mode)(row.points)
        both = aesara.function([x], [out, aesara.grad(out.sum(), x)], mode=mode)(row.points)
    found = []
    for order, want, results in zip(ORDERS, wanted, ([value, both[0]], [both[1]])):
        if order not in row.orders:
            continue
        for got in results:
            with np.errstate(all="ignore"):
                far = errors(got, want)
                error = np.where(far <= SMALLEST, 0, far / np.abs(want))
            for k in np.flatnonzero(~np.isnan(want)):
                found.append(Check(name, order, *map(float, (row.points[k], want[k], got[k], error[k]))))
    return found


def main(only: str = "") -> int:
    total, failed = 0, []
    for name, row in FORMULAS.items():
        if only in name:
            found = checks(name, row)
            bad = [one for one in found if not one.error <= TOLERANCE]
            total += len(found)
            failed += bad
            for one in bad:
                print(one, flush=True)
    print(f"{len(FORMULAS)} formulas, {total} checks, {len(failed)} failed")
    return len(failed)


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:2])))
