"""Lowering of draws that are transforms of uniform or gamma numbers, by functions of NumPy and SciPy.

See `aesara.tensor.random.distributions.formulas`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routine import Routine
from aesara.ir.routines.numpy_loops import loop, loop_address, power_of_one
from aesara.ir.routines.special import special
from aesara.lower.arrays import Alias, Array
from aesara.lower.calling import call_routine
from aesara.lower.errors import Unsupported
from aesara.lower.random.drawing import AT_LEAST_ZERO, Constraint, Drawing, number, unless
from aesara.lower.reductions.careduce import convert
from aesara.lower.shape_arithmetic import count_of

__all__ = [
    "cauchy", "generalized_gamma", "gumbel", "half_cauchy", "inverse_gamma", "pareto", "shift_and_scale",
    "truncated_exponential",
]  # fmt: skip

#: unlike `POSITIVE`, true for NaN as well
_ABOVE_ZERO = Constraint(unless("gt", 0.0), "{name} <= 0")


def gumbel(drawing: Drawing) -> Array:
    """Draw ``loc - scale * log(-log(u))``."""
    loc, scale = _location_and_scale(drawing)
    inner = _function(drawing, "log", _uniform(drawing))
    outer = _function(drawing, "log", drawing.map(lambda x: -x, "float64", inner))
    return shift_and_scale(drawing, drawing.map(lambda x: -x, "float64", outer), loc, scale)


def cauchy(drawing: Drawing) -> Array:
    """Draw ``loc + scale * tan(pi * u - pi / 2)``."""
    return _tangents(drawing, lambda u: number(np.pi) * u - number(np.pi / 2))


def half_cauchy(drawing: Drawing) -> Array:
    """Draw ``loc + scale * tan(pi / 2 * u)``."""
    return _tangents(drawing, lambda u: number(np.pi / 2) * u)


def _tangents(drawing: Drawing, angle: Callable[[Expr], Expr]) -> Array:
    loc, scale = _location_and_scale(drawing)
    angles = drawing.map(angle, "float64", _uniform(drawing))
    return shift_and_scale(drawing, _function(drawing, "tan", angles), loc, scale)


def pareto(drawing: Drawing) -> Array:
    """Draw ``scale * (1 - u) ** (-1 / b)``."""
    b, scale = _numbers(drawing)
    drawing.require(_ABOVE_ZERO, "b", b)
    drawing.require(AT_LEAST_ZERO, "scale", scale)
    exponent = drawing.map(lambda b: number(-1.0) / b, "float64", b)
    complement = drawing.map(lambda u: number(1.0) - u, "float64", _uniform(drawing))
    return _times(drawing, _power(drawing, complement, exponent, of_scalars=True), scale)


def generalized_gamma(drawing: Drawing) -> Array:
    """Draw powers of gamma numbers."""
    alpha, p, scale = _numbers(drawing)
    drawing.refuse(lambda p: primitive("eq", p, number(0.0)), "p == 0", p)
    shape = drawing.map(lambda a, p: a / p, "float64", alpha, p)
    drawing.require(_ABOVE_ZERO, "alpha / p", shape)
    drawing.require(AT_LEAST_ZERO, "lambd", scale)
    drawn = drawing.draw("standard_gamma", shape)
    exponent = drawing.map(lambda p: number(1.0) / p, "float64", p)
    return _times(drawing, _power(drawing, drawn, exponent, of_scalars=False), scale)


def inverse_gamma(drawing: Drawing) -> Array:
    """Draw by the inverse of the distribution function."""
    shape, scale = _numbers(drawing)
    drawing.require(_ABOVE_ZERO, "shape", shape)
    drawing.require(AT_LEAST_ZERO, "scale", scale)

    def body(u: Expr, a: Expr, scale: Expr) -> Expr:
        return number(1.0) / special("gammainccinv", 2)(a, u) * scale

    return drawing.map(body, "float64", _uniform(drawing), shape, scale)


def truncated_exponential(drawing: Drawing) -> Array:
    """Draw exponential numbers below a bound."""
    b, loc, scale = _numbers(drawing)
    drawing.require(_ABOVE_ZERO, "b", b)
    drawing.require(AT_LEAST_ZERO, "scale", scale)

    def body(u: Expr, b: Expr, loc: Expr, scale: Expr) -> Expr:
        return -special("log1p", 1)(u * special("expm1", 1)(-b)) * scale + loc

    return drawing.map(body, "float64", _uniform(drawing), b, loc, scale)


def shift_and_scale(drawing: Drawing, numbers: Array, loc: Array, scale: Array) -> Array:
    """Return ``numbers * scale + loc``."""

    def body(x: Expr, m: Expr, s: Expr) -> Expr:
        return x * s + m

    return drawing.map(body, "float64", numbers, loc, scale)


def _times(drawing: Drawing, numbers: Array, scale: Array) -> Array:
    return drawing.map(lambda x, s: x * s, "float64", numbers, scale)


def _location_and_scale(drawing: Drawing) -> list[Array]:
    loc, scale = _numbers(drawing)
    drawing.require(AT_LEAST_ZERO, "scale", scale)
    return [loc, scale]


def _numbers(drawing: Drawing) -> list[Array]:
    """Return the parameters in double precision."""
    return [convert(array, "float64") for array in drawing.params]


def _uniform(drawing: Drawing) -> Array:
    return drawing.draw("standard_uniform")


def _function(drawing: Drawing, name: str, *arrays: Array) -> Array:
    """Apply a function of NumPy to an array of the shape of the draws, and maybe one that broadcasts to it."""
    if loop_address(name, "d" * len(arrays), "d") is None:
        raise Unsupported(f"NumPy does not export its loop for {name}")
    return _call(drawing, loop(name, "d" * len(arrays)), arrays)


def _call(drawing: Drawing, routine: Routine, arrays: tuple[Array, ...]) -> Array:
    arguments, sizes, shape = {}, {}, drawing.shape
    for name, length, array in zip(("x", "y"), ("n", "m"), arrays):
        if array.ndim:
            wide = drawing.context.add(drawing.broadcast(array, shape))
            array = wide if len(shape) == 1 else drawing.context.add(Alias(wide, (count_of(shape),)))
        else:
            array = drawing.for_each(array)
        arguments[name], sizes[length] = array, array.shape[0]
    if "step" in routine.sizes:
        sizes["step"] = const(8 if arrays[1].ndim else 0)
    results = call_routine(drawing.context, drawing.node, routine, sizes, arguments)
    return drawing.context.add(Alias(results["out"], shape))


def _power(drawing: Drawing, base: Array, exponent: Array, of_scalars: bool) -> Array:
    """Return powers of an array of the shape of the draws; see `aesara.tensor.random.distributions.formulas.powers`.

    NumPy has special cases for some scalar exponents.  A 0-d base is a NumPy scalar if `of_scalars`, else an array.
    """
    if not drawing.shape and of_scalars:
        return _call(drawing, power_of_one(), (base, exponent))
    powers = _function(drawing, "power", base, exponent)
    if exponent.ndim:
        return powers

    def special_case(x: Expr, e: Expr, power: Expr) -> Expr:
        for value, result in ((-1.0, number(1.0) / x), (0.5, primitive("sqrt", x)), (1.0, x), (2.0, x * x)):
            power = primitive("select", primitive("eq", e, number(value)), result, power)
        return power

    return drawing.map(special_case, "float64", base, exponent, powers)
