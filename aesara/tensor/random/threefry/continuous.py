"""Floating-point draws: uniform numbers, and transformations of them by inverse distribution functions.

For standard parameters, uniform numbers and formulas are those of JAX. Parameters are applied to standard draws, so
that derivatives with respect to parameters are those of these formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import exp, log, log1p, sgn, sqrt, tan
from aesara.tensor.elementwise.special import erfinv
from aesara.tensor.random.parameters import SizeLike
from aesara.tensor.random.threefry.bits import bits_of_shape
from aesara.tensor.random.threefry.parameters import float_dtype, floats_of, is_number, refuse, shape_and_params

__all__ = [
    "cauchy",
    "exponential",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "normal",
    "pareto",
    "rayleigh",
    "uniform",
    "weibull",
]


def standard_uniform(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    """Multiples of the distance of floating-point numbers below 1, in [0, 1)."""
    info = np.finfo(dtype)
    drawn = bits_of_shape(key, shape, f"uint{info.bits}")
    fraction = drawn >> np.array(info.bits - info.nmant, dtype=drawn.type.dtype)
    return cast(fraction, dtype) * np.array(2.0**-info.nmant, dtype=dtype)


def uniform(
    key: TensorLike, low: TensorLike = 0.0, high: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Draw uniform numbers from [`low`, `high`).

    Parameters
    ----------
    key
        The key.
    low, high
        The bounds; they broadcast to `size`.
    size
        Shape of the draws; that of the bounds without it.
    dtype
        A floating dtype; `config.floatX` by default.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.uniform(threefry.key(42), size=2).eval()
    array([0.42672757, 0.01501007])
    """
    dtype = float_dtype(dtype)
    lowest, highest = floats_of(dtype, low, high)
    highest = refuse(highest, lambda high, low: high < low, "high < low", lowest)
    shape, (lowest, highest) = shape_and_params(size, lowest, highest)
    u = standard_uniform(key, shape, dtype)
    return u if is_number(low, 0) and is_number(high, 1) else u * (highest - lowest) + lowest


def normal(
    key: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Normal numbers.

    Parameters
    ----------
    key
        The key.
    loc, scale
        Mean and standard deviation; they broadcast to `size`.
    size
        Shape of the draws; that of the parameters without it.
    dtype
        A floating dtype; `config.floatX` by default.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.normal(threefry.key(42), 10.0, 2.0, size=3).type
    TensorType(float64, (3,))
    """
    return _of_standard(key, _standard_normal, loc, scale, size, dtype)


def lognormal(
    key: TensorLike, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers whose logarithms are normal, with mean `mean` and standard deviation `sigma`; see `normal`."""
    return exp(_of_standard(key, _standard_normal, mean, sigma, size, dtype, "sigma"))


def laplace(
    key: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the Laplace, or double exponential, distribution; see `normal`."""
    return _of_standard(key, _standard_laplace, loc, scale, size, dtype)


def logistic(
    key: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the logistic distribution; see `normal`."""
    return _of_standard(key, _standard_logistic, loc, scale, size, dtype)


def gumbel(
    key: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the Gumbel distribution, that of the largest of many numbers; see `normal`."""
    return _of_standard(key, standard_gumbel, loc, scale, size, dtype)


def cauchy(
    key: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the Cauchy distribution; see `normal`."""
    return _of_standard(key, _standard_cauchy, loc, scale, size, dtype)


def exponential(
    key: TensorLike, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the exponential distribution with mean `scale`; see `normal`."""
    return _of_standard(key, _standard_exponential, 0.0, scale, size, dtype)


def rayleigh(
    key: TensorLike, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Lengths of vectors of two normal numbers with standard deviation `scale`; see `normal`."""
    return _of_standard(key, _standard_rayleigh, 0.0, scale, size, dtype)


def weibull(key: TensorLike, shape: TensorLike, size: SizeLike = None, dtype: str | None = None) -> TensorVariable:
    """Numbers of the Weibull distribution with exponent `shape` and scale 1; see `normal`."""
    dtype = float_dtype(dtype)
    (exponent,) = floats_of(dtype, shape)
    exponent = refuse(exponent, lambda exponent: exponent <= 0, "shape <= 0")
    sizes, (exponent,) = shape_and_params(size, exponent)
    return _standard_exponential(key, sizes, dtype) ** (1 / exponent)


def pareto(
    key: TensorLike, b: TensorLike, scale: TensorLike = 1.0, size: SizeLike = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers of the Pareto distribution with exponent `b`, none below `scale`; see `normal`."""
    dtype = float_dtype(dtype)
    exponent, least = floats_of(dtype, b, scale)
    exponent = refuse(exponent, lambda exponent: exponent <= 0, "b <= 0")
    least = refuse(least, lambda least: least <= 0, "scale <= 0")
    sizes, (exponent, least) = shape_and_params(size, exponent, least)
    drawn = exp(_standard_exponential(key, sizes, dtype) / exponent)
    return drawn if is_number(scale, 1) else drawn * least


def _of_standard(
    key: TensorLike,
    standard: Callable[[TensorLike, Sequence[IntegerLike], str], TensorVariable],
    loc: TensorLike,
    scale: TensorLike,
    size: SizeLike,
    dtype: str | None,
    name: str = "scale",
) -> TensorVariable:
    """``loc + scale * standard``."""
    dtype = float_dtype(dtype)
    distance, factor = floats_of(dtype, loc, scale)
    factor = refuse(factor, lambda factor: factor < 0, f"{name} < 0")
    shape, (distance, factor) = shape_and_params(size, distance, factor)
    drawn = standard(key, shape, dtype)
    drawn = drawn if is_number(scale, 1) else drawn * factor
    return drawn if is_number(loc, 0) else drawn + distance


def _two_sided(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    """Draw uniform numbers from (-1, 1)."""
    unit, two = np.array(1, dtype=dtype), np.array(2, dtype=dtype)
    return standard_uniform(key, shape, dtype) * two + np.nextafter(-unit, unit)


def _positive(
    key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str, least: np.floating
) -> TensorVariable:
    """Draw uniform numbers from [`least`, 1), for a very small positive `least`."""
    return standard_uniform(key, shape, dtype) + np.array(least, dtype=dtype)


def _standard_normal(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    return erfinv(_two_sided(key, shape, dtype)) * np.array(math.sqrt(2), dtype=dtype)


def _standard_exponential(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    return -log1p(-standard_uniform(key, shape, dtype))


def _standard_rayleigh(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    return sqrt(log(_positive(key, shape, dtype, np.finfo(dtype).tiny)) * np.array(-2, dtype=dtype))


def _standard_laplace(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    u = _two_sided(key, shape, dtype)
    return sgn(u) * log1p(-absolute(u))


def _standard_logistic(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    u = _positive(key, shape, dtype, np.finfo(dtype).tiny)
    return log(u) - log1p(-u)


def standard_gumbel(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    """Draw numbers of the Gumbel distribution, by the inverse of its distribution function."""
    return -log(-log(_positive(key, shape, dtype, np.finfo(dtype).tiny)))


def _standard_cauchy(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    u = _positive(key, shape, dtype, np.finfo(dtype).eps)
    return tan((u - np.array(0.5, dtype=dtype)) * np.array(math.pi, dtype=dtype))
