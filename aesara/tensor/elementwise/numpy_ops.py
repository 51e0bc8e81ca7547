"""Elementwise functions of NumPy beyond the documented ones, and aliases with NumPy's names."""

from __future__ import annotations

import numpy as np

from aesara import scalar as aes
from aesara.graph.messages import describe
from aesara.scalar import ufuncs
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.elemwise import tensor_function

__all__ = [
    "absolute", "acos", "acosh", "around", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_invert",
    "bitwise_left_shift", "bitwise_right_shift", "cbrt", "copysign", "degrees", "divide", "equal", "fabs", "fix",
    "float_power", "fmax", "fmin", "fmod", "greater", "greater_equal", "heaviside", "hypot", "iscomplex", "isfinite",
    "isneginf", "isposinf", "isreal", "left_shift", "less", "less_equal", "logaddexp2", "logical_and", "logical_not",
    "logical_or", "logical_xor", "modf", "multiply", "nan_to_num", "negative", "not_equal", "positive", "radians",
    "remainder", "right_shift", "rint", "sign", "signbit", "sinc", "subtract",
]  # fmt: skip

# NumPy's names
equal = ops.eq
not_equal = ops.neq
greater = ops.gt
greater_equal = ops.ge
less = ops.lt
less_equal = ops.le
absolute = ops.abs
subtract = ops.sub
multiply = ops.mul
divide = ops.true_divide
negative = ops.neg
remainder = ops.mod
sign = ops.sgn
degrees = ops.rad2deg
radians = ops.deg2rad
bitwise_invert = ops.bitwise_not
acos = ops.arccos
acosh = ops.arccosh
asin = ops.arcsin
asinh = ops.arcsinh
atan = ops.arctan
atan2 = ops.arctan2
atanh = ops.arctanh

isfinite = tensor_function(ufuncs.isfinite, "isfinite")
signbit = tensor_function(ufuncs.signbit, "signbit")
copysign = tensor_function(ufuncs.copysign, "copysign")
heaviside = tensor_function(ufuncs.heaviside, "heaviside")
fmod = tensor_function(ufuncs.fmod, "fmod")
fmax = tensor_function(ufuncs.fmax, "fmax")
fmin = tensor_function(ufuncs.fmin, "fmin")
hypot = tensor_function(ufuncs.hypot, "hypot")
cbrt = tensor_function(ufuncs.cbrt, "cbrt")
sinc = tensor_function(ufuncs.sinc, "sinc")
left_shift = tensor_function(ufuncs.left_shift, "left_shift")
right_shift = tensor_function(ufuncs.right_shift, "right_shift")
logaddexp2_ = tensor_function(aes.logaddexp2, "logaddexp2")
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift


def _as_real(name: str, x: TensorLike) -> TensorVariable:
    x = as_tensor_variable(x)
    if x.type.dtype in complex_dtypes:
        raise TypeError(f"{name} is not defined for complex numbers; got {describe(x)} of type {x.type}.")
    return x


def _as_floats(x: TensorVariable) -> TensorVariable:
    """Integers as the smallest of float32 and float64 that holds them."""
    return x.astype(np.promote_types(x.type.dtype, "float32").name) if x.type.dtype in discrete_dtypes else x


def positive(x: TensorLike) -> TensorVariable:
    """The tensor itself; Booleans have no sign.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.positive([-1.0, 2.0]).eval()
    array([-1.,  2.])
    """
    x = as_tensor_variable(x)
    if x.type.dtype == "bool":
        raise TypeError(f"Booleans have no sign; got {describe(x)} of type {x.type}.")
    return x


def fabs(x: TensorLike) -> TensorVariable:
    """The absolute values, as floating-point numbers.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fabs([-1, 2]).type.dtype
    'float64'
    """
    x = _as_real("fabs", x)
    return ops.abs(_as_floats(x))


def isposinf(x: TensorLike) -> TensorVariable:
    """Return whether each element is positive infinity."""
    x = _as_real("isposinf", x)
    return ops.and_(ops.isinf(x), ops.gt(x, 0))


def isneginf(x: TensorLike) -> TensorVariable:
    """Return whether each element is negative infinity."""
    x = _as_real("isneginf", x)
    return ops.and_(ops.isinf(x), ops.lt(x, 0))


def iscomplex(x: TensorLike) -> TensorVariable:
    """Return whether each element has an imaginary part that is not zero."""
    x = as_tensor_variable(x)
    return ops.neq(ops.imag(x), 0) if x.type.dtype in complex_dtypes else ops.second(x, np.array(False))


def isreal(x: TensorLike) -> TensorVariable:
    """Return whether each element has no imaginary part, or one that is zero."""
    x = as_tensor_variable(x)
    return ops.eq(ops.imag(x), 0) if x.type.dtype in complex_dtypes else ops.second(x, np.array(True))


def _truth(x: TensorLike) -> TensorVariable:
    x = as_tensor_variable(x)
    return x if x.type.dtype == "bool" else ops.neq(x, 0)


def logical_and(x1: TensorLike, x2: TensorLike) -> TensorVariable:
    """Return whether both elements are true (not zero).

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.logical_and([0.0, 2.0], [1, 1]).eval()
    array([False,  True])
    """
    return ops.and_(_truth(x1), _truth(x2))


def logical_or(x1: TensorLike, x2: TensorLike) -> TensorVariable:
    """Return whether an element is true (not zero)."""
    return ops.or_(_truth(x1), _truth(x2))


def logical_xor(x1: TensorLike, x2: TensorLike) -> TensorVariable:
    """Return whether exactly one element is true (not zero)."""
    return ops.xor(_truth(x1), _truth(x2))


def logical_not(x: TensorLike) -> TensorVariable:
    """Return whether each element is false (zero)."""
    return ops.invert(_truth(x))


def float_power(x1: TensorLike, x2: TensorLike) -> TensorVariable:
    """`x1` to the power of `x2`, computed in float64 or complex128.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.float_power([2, 4], -1).eval()
    array([0.5 , 0.25])
    """
    x1, x2 = as_tensor_variable(x1), as_tensor_variable(x2)
    is_complex = x1.type.dtype in complex_dtypes or x2.type.dtype in complex_dtypes
    dtype = "complex128" if is_complex else "float64"
    return ops.pow(x1.astype(dtype), x2.astype(dtype))


def logaddexp2(x1: TensorLike, x2: TensorLike) -> TensorVariable:
    """The logarithm to base 2 of the sum of powers of 2, without overflow.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.logaddexp2([2000.0], [2000.0]).eval()
    array([2001.])
    """
    return logaddexp2_(_as_real("logaddexp2", x1), _as_real("logaddexp2", x2))


def rint(x: TensorLike) -> TensorVariable:
    """Each element rounded to the nearest integer, the even one of two, as a floating-point number.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.rint([0.5, 1.5, -1.2]).eval()
    array([ 0.,  2., -1.])
    """
    x = as_tensor_variable(x)
    if x.type.dtype in complex_dtypes:
        return ops.complex(ops.round_half_to_even(ops.real(x)), ops.round_half_to_even(ops.imag(x)))
    return ops.round_half_to_even(_as_floats(x))


def fix(x: TensorLike) -> TensorVariable:
    """Each element rounded to an integer towards zero; integers are returned as they are."""
    x = _as_real("fix", x)
    return x if x.type.dtype in discrete_dtypes else ops.trunc(x)


def around(a: TensorLike, decimals: int = 0) -> TensorVariable:
    """Each element rounded to a number of decimals, to the even one of two equally near.

    Parameters
    ----------
    a
        The tensor.
    decimals
        How many decimals are kept; negative to round to tens, hundreds, ...

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.around([1.25, 17.5], 1).eval()
    array([ 1.2, 17.5])
    >>> at.around([17, 25], -1).eval()
    array([20, 20])
    """
    return ops.round(a, None, decimals)


def modf(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """The fraction and the integer part of each element, both with its sign.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> fraction, whole = at.modf([-3.5])
    >>> fraction.eval(), whole.eval()
    (array([-0.5]), array([-3.]))
    """
    x = _as_floats(_as_real("modf", x))
    whole = ops.trunc(x)
    fraction = ops.switch(ops.isinf(x), np.int8(0), x - whole)
    return ops.switch(ops.isnan(x), x, copysign(fraction, x)), whole


def nan_to_num(
    x: TensorLike, nan: TensorLike = 0.0, posinf: TensorLike | None = None, neginf: TensorLike | None = None
) -> TensorVariable:
    """Replace NaN and infinities by numbers.

    Parameters
    ----------
    x
        The tensor; integers are returned as they are.
    nan
        The replacement of NaN.
    posinf, neginf
        The replacements of positive and negative infinity; by default the
        largest and the smallest number of the dtype.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.nan_to_num([1.0, at.nan, at.inf], posinf=99.0).eval()
    array([ 1.,  0., 99.])
    """
    x = as_tensor_variable(x)
    if x.type.dtype in discrete_dtypes:
        return x
    if x.type.dtype in complex_dtypes:
        return ops.complex(nan_to_num(ops.real(x), nan, posinf, neginf), nan_to_num(ops.imag(x), nan, posinf, neginf))
    largest = np.finfo(x.type.dtype).max
    nan, posinf, neginf = [
        as_tensor_variable(value).astype(x.type.dtype)
        for value in (nan, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    ]
    infinite = ops.switch(ops.gt(x, 0), posinf, neginf)
    return ops.switch(ops.isnan(x), nan, ops.switch(ops.isinf(x), infinite, x))
