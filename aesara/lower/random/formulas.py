"""Distributions whose draws are computed of uniform or gamma numbers, by functions of NumPy and SciPy.

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
from aesara.lower.context import Unsupported
from aesara.lower.random.drawing import AT_LEAST_ZERO, Constraint, Drawing, number, unless
from aesara.lower.reductions.careduce import converted
from aesara.lower.shape_arithmetic import count_of

__all__ = ["cauchy", "generalized_gamma", "gumbel", "half_cauchy", "inverse_gamma", "moved", "pareto", "truncated"]

#: unlike `POSITIVE`, true for NaN as well
_ABOVE_ZERO = Constraint(unless("gt", 0.0), "{name} <= 0")


def gumbel(drawing: Drawing) -> Array:
    """Logarithms of logarithms."""
    loc, scale = _location_and_scale(drawing)
    inner = _function(drawing, "log", _uniform(drawing))
    outer = _function(drawing, "log", drawing.combined(lambda x: -x, "float64", inner))
    return moved(drawing, drawing.combined(lambda x: -x, "float64", outer), loc, scale)


def cauchy(drawing: Drawing) -> Array:
    """Tangents of angles between right ones."""
    return _tangents(drawing, lambda u: number(np.pi) * u - number(np.pi / 2))


def half_cauchy(drawing: Drawing) -> Array:
    """Tangents of angles up to a right one."""
    return _tangents(drawing, lambda u: number(np.pi / 2) * u)


def _tangents(drawing: Drawing, angle: Callable[[Expr], Expr]) -> Array:
    loc, scale = _location_and_scale(drawing)
    angles = drawing.combined(angle, "float64", _uniform(drawing))
    return moved(drawing, _function(drawing, "tan", angles), loc, scale)


def pareto(drawing: Drawing) -> Array:
    """Powers of uniform numbers."""
    b, scale = _numbers(drawing)
    drawing.require(_ABOVE_ZERO, "b", b)
    drawing.require(AT_LEAST_ZERO, "scale", scale)
    exponent = drawing.combined(lambda b: number(-1.0) / b, "float64", b)
    left = drawing.combined(lambda u: number(1.0) - u, "float64", _uniform(drawing))
    return _times(drawing, _power(drawing, left, exponent, of_scalars=True), scale)


def generalized_gamma(drawing: Drawing) -> Array:
    """Powers of gamma numbers."""
    alpha, p, scale = _numbers(drawing)
    drawing.refuse(lambda p: primitive("eq", p, number(0.0)), "p == 0", p)
    shape = drawing.combined(lambda a, p: a / p, "float64", alpha, p)
    drawing.require(_ABOVE_ZERO, "alpha / p", shape)
    drawing.require(AT_LEAST_ZERO, "lambd", scale)
    drawn = drawing.draw("standard_gamma", shape)
    exponent = drawing.combined(lambda p: number(1.0) / p, "float64", p)
    return _times(drawing, _power(drawing, drawn, exponent, of_scalars=False), scale)


def inverse_gamma(drawing: Drawing) -> Array:
    """The inverse of the distribution function at uniform numbers."""
    shape, scale = _numbers(drawing)
    drawing.require(_ABOVE_ZERO, "shape", shape)
    drawing.require(AT_LEAST_ZERO, "scale", scale)

    def body(u: Expr, a: Expr, scale: Expr) -> Expr:
        return number(1.0) / special("gammainccinv", 2)(a, u) * scale

    return drawing.combined(body, "float64", _uniform(drawing), shape, scale)


def truncated(drawing: Drawing) -> Array:
    """Exponential numbers up to a bound."""
    b, loc, scale = _numbers(drawing)
    drawing.require(_ABOVE_ZERO, "b", b)
    drawing.require(AT_LEAST_ZERO, "scale", scale)

    def body(u: Expr, b: Expr, loc: Expr, scale: Expr) -> Expr:
        return -special("log1p", 1)(u * special("expm1", 1)(-b)) * scale + loc

    return drawing.combined(body, "float64", _uniform(drawing), b, loc, scale)


def moved(drawing: Drawing, numbers: Array, loc: Array, scale: Array) -> Array:
    """The numbers times a scale, plus a location."""

    def body(x: Expr, m: Expr, s: Expr) -> Expr:
        return x * s + m

    return drawing.combined(body, "float64", numbers, loc, scale)


def _times(drawing: Drawing, numbers: Array, scale: Array) -> Array:
    return drawing.combined(lambda x, s: x * s, "float64", numbers, scale)


def _location_and_scale(drawing: Drawing) -> list[Array]:
    loc, scale = _numbers(drawing)
    drawing.require(AT_LEAST_ZERO, "scale", scale)
    return [loc, scale]


def _numbers(drawing: Drawing) -> list[Array]:
    """The parameters, in which all is computed in double precision."""
    return [converted(array, "float64") for array in drawing.params]


def _uniform(drawing: Drawing) -> Array:
    return drawing.draw("standard_uniform")


def _function(drawing: Drawing, name: str, *arrays: Array) -> Array:
    """A function of NumPy's of an array of the shape of the draws, and of one that broadcasts to it."""
    if loop_address(name, "d" * len(arrays), "d") is None:
        raise Unsupported(f"NumPy does not show how it computes {name}")
    return _called(drawing, loop(name, "d" * len(arrays)), arrays)


def _called(drawing: Drawing, routine: Routine, arrays: tuple[Array, ...]) -> Array:
    given, sizes, shape = {}, {}, drawing.shape
    for name, length, array in zip(("x", "y"), ("n", "m"), arrays):
        if array.ndim:
            wide = drawing.context.add(drawing.stretch(array, shape))
            array = wide if len(shape) == 1 else drawing.context.add(Alias(wide, (count_of(shape),)))
        else:
            array = drawing.for_each(array)
        given[name], sizes[length] = array, array.shape[0]
    if "step" in routine.sizes:
        sizes["step"] = const(8 if arrays[1].ndim else 0)
    made = call_routine(drawing.context, drawing.node, routine, sizes, given)
    return drawing.context.add(Alias(made["out"], shape))


def _power(drawing: Drawing, base: Array, exponent: Array, of_scalars: bool) -> Array:
    """The powers of an array of the shape of the draws; see `aesara.tensor.random.distributions.formulas.powers`.

    Where the exponent is a scalar, NumPy has formulas of its own for certain ones.  If the base has no dimensions, it
    is a scalar of NumPy if `of_scalars`, else an array.
    """
    if not drawing.shape and of_scalars:
        return _called(drawing, power_of_one(), (base, exponent))
    powers = _function(drawing, "power", base, exponent)
    if exponent.ndim:
        return powers

    def chosen(x: Expr, e: Expr, power: Expr) -> Expr:
        for apart, simple in ((-1.0, number(1.0) / x), (0.5, primitive("sqrt", x)), (1.0, x), (2.0, x * x)):
            power = primitive("select", primitive("eq", e, number(apart)), simple, power)
        return power

    return drawing.combined(chosen, "float64", base, exponent, powers)
