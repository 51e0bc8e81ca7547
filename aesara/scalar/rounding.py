"""Rounding to integers. The gradients are zero."""

from __future__ import annotations

import numpy as np

from aesara.scalar.comparison import ge, lt
from aesara.scalar.conditional import switch
from aesara.scalar.constants import literal
from aesara.scalar.native import Primitive
from aesara.scalar.op import UnaryScalarOp, zero_gradient
from aesara.scalar.promotion import same_out_float_only, upgrade_to_float_no_complex
from aesara.scalar.var import ScalarVariable

__all__ = [
    "Ceil",
    "Floor",
    "RoundHalfAwayFromZero",
    "RoundHalfToEven",
    "Trunc",
    "ceil",
    "floor",
    "round_half_away_from_zero",
    "round_half_away_from_zero_",
    "round_half_away_from_zero_vec",
    "round_half_to_even",
    "trunc",
]


class _Rounding(UnaryScalarOp):
    """A step function."""

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (zero_gradient(x),)


class Ceil(_Rounding):
    """The smallest integer that is not less than x."""

    numpy = np.ceil
    dtype = upgrade_to_float_no_complex
    native = Primitive("ceil")


class Floor(_Rounding):
    """The largest integer that is not greater than x."""

    numpy = np.floor
    dtype = upgrade_to_float_no_complex
    native = Primitive("floor")


class Trunc(_Rounding):
    """The integer part of x."""

    numpy = np.trunc
    dtype = upgrade_to_float_no_complex
    native = Primitive("trunc")


class RoundHalfToEven(_Rounding):
    """The nearest integer; ties are rounded to the even one."""

    numpy = np.rint
    nfunc_spec = ("around", 1, 1)
    dtype = same_out_float_only
    native = Primitive("rint")


def round_half_away_from_zero_vec(a: np.ndarray | float) -> np.ndarray | np.floating:
    """Round numbers to the nearest integer; ties are rounded away from zero.

    Examples
    --------
    >>> import numpy as np
    >>> round_half_away_from_zero_vec(np.array([-1.5, 0.5, 2.4]))
    array([-2.,  1.,  2.])
    """
    # Adding 0.5 before truncation would round 0.49999999999999994 up, and change large odd numbers.
    whole = np.trunc(a)
    with np.errstate(invalid="ignore"):
        away = np.abs(a - whole) >= 0.5
    return np.where(away, whole + np.copysign(np.ones_like(whole), a), whole)[()]


def round_half_away_from_zero_(a: float) -> np.ndarray | np.floating:
    """Round a number; see `round_half_away_from_zero_vec`."""
    return round_half_away_from_zero_vec(a)


class RoundHalfAwayFromZero(_Rounding):
    """The nearest integer; ties are rounded away from zero."""

    numpy = round_half_away_from_zero_vec
    dtype = same_out_float_only

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        whole = trunc(x)
        one = literal(1, x)
        step = switch(lt(x, literal(0, x)), -one, one)
        return switch(ge(abs(x - whole), literal(0.5, x)), whole + step, whole)


ceil = Ceil(name="ceil")
floor = Floor(name="floor")
trunc = Trunc(name="trunc")
round_half_to_even = RoundHalfToEven()
round_half_away_from_zero = RoundHalfAwayFromZero()
