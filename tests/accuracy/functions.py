"""The elementwise functions whose accuracy is tested: the truth, and where it is hard to hit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from tests.accuracy.ulps import every_exponent, extremes, neighbours


@dataclass(frozen=True)
class Unary:
    """A function of one number.

    `truth` takes a finite number.  `near` are points where it is hard: zeros, poles, ends.  `inside` is the interval
    from which most points are drawn; outside of `domain` (both ends belong to it) only extremes are tried.
    `ours`: must be within 4 ulp, whatever the libraries give.
    """

    truth: Callable[[Any], Any]
    near: tuple[float, ...] = (0.0,)
    inside: tuple[float, float] = (-10.0, 10.0)
    domain: tuple[float, float] = (-np.inf, np.inf)
    ours: bool = False
    count: int = 60

    def points(self, dtype: str) -> np.ndarray:
        rng = np.random.default_rng(7)
        low, high = self.inside
        drawn = [every_exponent(dtype, self.count, rng), rng.uniform(low, high, self.count).astype(dtype)]
        drawn.append(neighbours([p for p in self.near if p], dtype))
        drawn.append(extremes(dtype)[:-1])
        x = np.concatenate(drawn)
        wide = x.astype("float64")  # limits may be beyond the range of narrower numbers
        inside = (wide >= self.domain[0]) & (wide <= self.domain[1]) & np.isfinite(x)
        return x[inside & ~((x == 0) & np.signbit(x))]  # mpmath has no negative zero


def _own(truth: Callable, **facts: Any) -> Unary:
    return Unary(truth, ours=True, **facts)


def _at_poles(function: Callable) -> Callable:
    def truth(x: Any) -> Any:
        try:
            return function(x)
        except (ValueError, ZeroDivisionError):
            return mpmath.nan

    return truth


def _erfc(x: Any) -> Any:
    return mpf(2 if x < 0 else 0) if abs(x) > 1e4 else mpmath.erfc(x)


def log_ndtr(x: Any) -> Any:
    """The logarithm of the distribution function of the standard normal distribution."""
    return mpmath.log(mpmath.ncdf(x)) if x < 0 else mpmath.log1p(-mpmath.ncdf(-x))


def _erfcx(x: Any) -> Any:
    if x > 1e10:  # DLMF 7.12.1
        return (1 - 1 / (2 * x * x)) / (x * mpmath.sqrt(mpmath.pi))
    return mpmath.inf if x < -1e4 else mpmath.exp(x * x) * mpmath.erfc(x)


PI = np.pi

UNARY: dict[str, Unary] = {
    "exp": _own(mpmath.exp, near=(709.78, -708.4, -745.0, 88.7, -87.3, -103.0, np.log(2) / 2), inside=(-40, 40)),
    "exp2": _own(lambda x: mpf(2) ** x, near=(1023.9, -1022.0, -1074.0, 127.9, -126.0, 0.5, 1.0), inside=(-40, 40)),
    "expm1": _own(mpmath.expm1, near=(-0.7, 0.35, -37.0, 709.7, 88.7), inside=(-4, 4)),
    "log": _own(mpmath.log, near=(1.0, 0.7071, 1.4142), inside=(0.1, 10), domain=(0, np.inf)),
    "log2": _own(lambda x: mpmath.log(x, 2), near=(1.0, 0.7071, 1.4142, 8.0), inside=(0.1, 10), domain=(0, np.inf)),
    "log10": _own(mpmath.log10, near=(1.0, 0.7071, 10.0, 1000.0), inside=(0.1, 10), domain=(0, np.inf)),
    "log1p": _own(mpmath.log1p, near=(-0.5, 0.41, -1.0, 1.0), inside=(-0.9, 4), domain=(-1, np.inf)),
    "sigmoid": _own(lambda x: 1 / (1 + mpmath.exp(-x)), near=(-709.0, -745.0, -88.0, 40.0, 1.0), inside=(-30, 30)),
    "softplus": _own(lambda x: mpmath.log1p(mpmath.exp(x)), near=(-709.0, -745.0, -88.0, 40.0, 1.0), inside=(-30, 30)),
    "log1mexp": _own(
        lambda x: mpmath.log(-mpmath.expm1(x)), near=(-np.log(2), -745.0, -37.0, -1e-3), inside=(-5, 0),
        domain=(-np.inf, 0),
    ),
    "sin": _own(mpmath.sin, near=(PI, PI / 2, 2 * PI, 1e5, 710 / 113), inside=(-20, 20)),
    "cos": _own(mpmath.cos, near=(PI, PI / 2, 2 * PI, 1e5), inside=(-20, 20)),
    "tan": _own(mpmath.tan, near=(PI, PI / 2, PI / 4, 1e5), inside=(-20, 20)),
    "arcsin": _own(mpmath.asin, near=(0.5, -0.5, 1.0, -1.0), inside=(-1, 1), domain=(-1, 1)),
    "arccos": _own(mpmath.acos, near=(0.5, -0.5, 1.0, -1.0), inside=(-1, 1), domain=(-1, 1)),
    "arctan": _own(mpmath.atan, near=(0.41421356, 1.0, 2.41421356)),
    "sinh": _own(mpmath.sinh, near=(0.35, 22.0, 709.78, 710.475, 88.7, 89.4), inside=(-5, 5)),
    "cosh": _own(mpmath.cosh, near=(0.35, 22.0, 709.78, 710.475, 88.7, 89.4), inside=(-5, 5)),
    "tanh": _own(mpmath.tanh, near=(0.35, 0.55, 9.0, 20.0), inside=(-5, 5)),
    "arcsinh": _own(mpmath.asinh, near=(0.5, 1.0, 1e8)),
    "arccosh": _own(mpmath.acosh, near=(1.0, 2.0, 1e8), inside=(1, 20), domain=(1, np.inf)),
    "arctanh": _own(mpmath.atanh, near=(0.5, -0.5, 1.0, -1.0), inside=(-1, 1), domain=(-1, 1)),
    "erf": _own(mpmath.erf, near=(0.5, 0.875, 1.0, 4.0, 6.0), inside=(-6, 6)),
    "erfc": _own(_erfc, near=(0.5, 1.0, 6.0, 26.5, 27.2, 9.0, 10.05), inside=(-3, 28)),
    "sqrt": _own(mpmath.sqrt, domain=(0, np.inf)),
    "square": _own(lambda x: x * x, near=(1e154, 1e-160)),
    "reciprocal": _own(lambda x: 1 / x if x else mpmath.inf, near=(1e-308, 1e-38)),
    "deg2rad": _own(lambda x: x * mpmath.pi / 180),
    "rad2deg": _own(lambda x: x * 180 / mpmath.pi),
    "cbrt": _own(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), near=(1.0, 8.0, 27.0)),
    "sinc": Unary(lambda x: mpmath.sincpi(x), near=(0.5, 1.0, 100.5), inside=(-20, 20)),
    "erfcx": Unary(_erfcx, near=(-26.0, 50.0, 1e7), inside=(-5, 30)),
    "erfinv": Unary(mpmath.erfinv, near=(0.5, 0.9, 1.0, -1.0), inside=(-1, 1), domain=(-1, 1)),
    "erfi": Unary(mpmath.erfi, near=(26.0, 1.0), inside=(-5, 5), domain=(-26.6, 26.6)),
    "gamma": Unary(_at_poles(mpmath.gamma), near=(1.0, 2.0, 1.4616, -0.5, 171.6), inside=(-5, 20), domain=(-180, 172)),
    "gammaln": Unary(
        _at_poles(lambda x: mpmath.log(abs(mpmath.gamma(x)))), near=(1.0, 2.0), inside=(0.1, 20), domain=(1e-300, 1e6)
    ),
    "psi": Unary(_at_poles(mpmath.digamma), near=(1.46163214,),
                 inside=(0.1, 20), domain=(1e-300, 1e300)),
    "tri_gamma": Unary(lambda x: mpmath.psi(1, x), near=(1.0, 12.0), inside=(0.1, 20), domain=(1e-150, 1e300)),
    "ndtr": Unary(lambda x: mpmath.ncdf(x), near=(-1.0, 1.0, -37.5), inside=(-10, 5), domain=(-40, 40)),
    "log_ndtr": Unary(log_ndtr, near=(-1.0, 1.0, -37.5), inside=(-30, 8),
                      domain=(-1e4, 38)),
    "logit": Unary(lambda x: mpmath.log(x / (1 - x)), near=(0.5, 0.3, 0.7, 1.0), inside=(0, 1),
                   domain=(1e-300, 1 - 1e-15)),
    "entr": Unary(lambda x: -x * mpmath.log(x), near=(1.0,), inside=(0, 5), domain=(1e-300, np.inf)),
    "exp1": Unary(mpmath.e1, near=(1.0,), inside=(0.01, 10), domain=(1e-300, 700)),
    "dawsn": Unary(lambda x: mpmath.exp(-x * x) * mpmath.erfi(x) * mpmath.sqrt(mpmath.pi) / 2, inside=(-5, 5),
                   domain=(-50, 50)),
    "j0": Unary(mpmath.j0, near=(2.404825557695773,), inside=(0, 20), domain=(-100, 100)),
    "i0": Unary(lambda x: mpmath.besseli(0, x), near=(8.0,), inside=(0, 20), domain=(-700, 700)),
    "i0e": Unary(lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), near=(8.0,), inside=(0, 20), domain=(-700, 700)),
    "k0": Unary(lambda x: mpmath.besselk(0, x), near=(2.0,), inside=(0.01, 20), domain=(1e-300, 700)),
}  # fmt: skip


@dataclass(frozen=True)
class Binary:
    """A function of two numbers: the `truth` of finite ones, and intervals of either from which points are drawn."""

    truth: Callable[[Any, Any], Any]
    inside: tuple[tuple[float, float], tuple[float, float]] = ((-10.0, 10.0), (-10.0, 10.0))
    near: tuple[tuple[float, float], ...] = ()
    positive: bool = False
    wide: bool = True

    def points(self, dtype: str) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(8)
        count = 80
        drawn = [[rng.uniform(low, high, count).astype(dtype)] for low, high in self.inside]
        for k, own in enumerate(drawn):
            if self.wide:
                own.append(every_exponent(dtype, count, rng))
            own.append(np.array([p[k] for p in self.near], dtype))
        x, y = (np.concatenate(own) for own in drawn)
        return (np.abs(x) if self.positive else x), y


def _power(x: Any, y: Any) -> Any:
    return mpmath.nan if x < 0 and y != mpmath.floor(y) else x**y


def _log_of_sum(x: Any, y: Any) -> Any:
    low, high = min(x, y), max(x, y)
    return high + mpmath.log1p(mpmath.exp(low - high))


BINARY: dict[str, Binary] = {
    "pow": Binary(_power, ((0, 10), (-20, 20)), near=((1.0001, 1e5), (0.999, -1e5), (2.0, 1023.0), (-2.0, 5.0))),
    "arctan2": Binary(mpmath.atan2, near=((1.0, 1.0), (1.0, -1.0), (1e-3, 1e3))),
    "hypot": Binary(mpmath.hypot, near=((3.0, 4.0),)),
    "true_divide": Binary(lambda x, y: x / y),
    "xlogy": Binary(lambda x, y: x * mpmath.log(y) if y > 0 else mpmath.nan, ((-5, 5), (0, 10))),
    "xlog1py": Binary(lambda x, y: x * mpmath.log1p(y) if y > -1 else mpmath.nan, ((-5, 5), (-1, 10))),
    "logaddexp": Binary(_log_of_sum, near=((1000.0, 1000.0), (-1000.0, -1000.5), (1e4, -1e4), (0.0, -700.0))),
}
