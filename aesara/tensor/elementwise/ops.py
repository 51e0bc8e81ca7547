"""Elementwise functions of tensors.

Each function is an `Elemwise` op, whose arguments are tensors, arrays or numbers that broadcast. The computation, dtype
and gradient are declared by the scalar op in `aesara.scalar`.
"""

from __future__ import annotations

import numpy as np

from aesara import scalar as aes
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, continuous_dtypes, discrete_dtypes
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import tensor_function

__all__ = [
    # Comparisons
    "lt", "gt", "le", "ge", "eq", "neq",
    # Choice
    "switch", "second", "maximum", "minimum", "clip",
    # Logic and bits
    "and_", "or_", "xor", "invert",
    # Arithmetic
    "add", "sub", "mul", "true_divide", "floor_divide", "mod", "pow", "neg", "reciprocal", "abs", "sgn", "square",
    "sqrt",
    # Rounding
    "ceil", "floor", "trunc", "round_half_to_even", "round_half_away_from_zero",
    # Exponentials and logarithms
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "log1mexp", "sigmoid", "softplus",
    # Trigonometric and hyperbolic functions
    "deg2rad", "rad2deg", "cos", "arccos", "sin", "arcsin", "tan", "arctan", "arctan2", "cosh", "arccosh", "sinh",
    "arcsinh", "tanh", "arctanh",
    # Complex numbers
    "real", "imag", "angle", "complex", "complex_from_polar",
    # Other names of the same functions
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "expit", "log1pexp",
    # Functions of several ops
    "conj", "conjugate", "power", "isnan", "isinf", "divmod", "ceil_intdiv", "round", "iround", "isclose",
]  # fmt: skip

# Comparisons
lt = tensor_function(aes.lt, "lt")
gt = tensor_function(aes.gt, "gt")
le = tensor_function(aes.le, "le")
ge = tensor_function(aes.ge, "ge")
eq = tensor_function(aes.eq, "eq")
neq = tensor_function(aes.neq, "neq")
isnan_ = tensor_function(aes.isnan, "isnan")
isinf_ = tensor_function(aes.isinf, "isinf")

# Choice
switch = tensor_function(aes.switch, "switch")
second = tensor_function(aes.second, "second")
identity = tensor_function(aes.identity, "identity")
maximum = tensor_function(aes.scalar_maximum, "maximum")
minimum = tensor_function(aes.scalar_minimum, "minimum")
clip = tensor_function(aes.clip, "clip")

# Logic and bits
and_ = tensor_function(aes.and_, "and_")
or_ = tensor_function(aes.or_, "or_")
xor = tensor_function(aes.xor, "xor")
invert = tensor_function(aes.invert, "invert")

# Arithmetic
add = tensor_function(aes.add, "add")
sub = tensor_function(aes.sub, "sub")
mul = tensor_function(aes.mul, "mul")
true_divide = tensor_function(aes.true_divide, "true_divide")
floor_divide = tensor_function(aes.floor_divide, "floor_divide")
mod = tensor_function(aes.mod, "mod")
pow = tensor_function(aes.pow, "pow")
neg = tensor_function(aes.neg, "neg")
reciprocal = tensor_function(aes.reciprocal, "reciprocal")
abs = tensor_function(aes.abs, "abs")
sgn = tensor_function(aes.sgn, "sgn")
square = tensor_function(aes.square, "square")
sqrt = tensor_function(aes.sqrt, "sqrt")

# Rounding
ceil = tensor_function(aes.ceil, "ceil")
floor = tensor_function(aes.floor, "floor")
trunc = tensor_function(aes.trunc, "trunc")
round_half_to_even = tensor_function(aes.round_half_to_even, "round_half_to_even")
round_half_away_from_zero = tensor_function(aes.round_half_away_from_zero, "round_half_away_from_zero")

# Exponentials and logarithms
exp = tensor_function(aes.exp, "exp")
exp2 = tensor_function(aes.exp2, "exp2")
expm1 = tensor_function(aes.expm1, "expm1")
log = tensor_function(aes.log, "log")
log2 = tensor_function(aes.log2, "log2")
log10 = tensor_function(aes.log10, "log10")
log1p = tensor_function(aes.log1p, "log1p")
log1mexp = tensor_function(aes.log1mexp, "log1mexp")
sigmoid = tensor_function(aes.sigmoid, "sigmoid")
softplus = tensor_function(aes.softplus, "softplus")

# Trigonometric and hyperbolic functions
deg2rad = tensor_function(aes.deg2rad, "deg2rad")
rad2deg = tensor_function(aes.rad2deg, "rad2deg")
cos = tensor_function(aes.cos, "cos")
arccos = tensor_function(aes.arccos, "arccos")
sin = tensor_function(aes.sin, "sin")
arcsin = tensor_function(aes.arcsin, "arcsin")
tan = tensor_function(aes.tan, "tan")
arctan = tensor_function(aes.arctan, "arctan")
arctan2 = tensor_function(aes.arctan2, "arctan2")
cosh = tensor_function(aes.cosh, "cosh")
arccosh = tensor_function(aes.arccosh, "arccosh")
sinh = tensor_function(aes.sinh, "sinh")
arcsinh = tensor_function(aes.arcsinh, "arcsinh")
tanh = tensor_function(aes.tanh, "tanh")
arctanh = tensor_function(aes.arctanh, "arctanh")

# Complex numbers
real = tensor_function(aes.real, "real")
imag = tensor_function(aes.imag, "imag")
angle = tensor_function(aes.angle, "angle")
complex = tensor_function(aes.complex, "complex")
conj_ = tensor_function(aes.conj, "conj")
complex_from_polar = tensor_function(aes.complex_from_polar, "complex_from_polar")

# Other names of the same functions
bitwise_and = and_
bitwise_or = or_
bitwise_xor = xor
bitwise_not = invert
expit = sigmoid
log1pexp = softplus


def conj(x: object) -> TensorVariable:
    """The complex conjugate, element by element; the tensor itself if it is not complex."""
    x = as_tensor_variable(x)
    return conj_(x) if x.type.dtype in complex_dtypes else x


conjugate = conj


def gradient_as(gradient: TensorVariable, dtype: str) -> TensorVariable:
    """Convert a gradient to the dtype of its operand; the gradient for a real number is the real part."""
    if gradient.type.dtype in complex_dtypes and dtype not in complex_dtypes:
        gradient = real(gradient)
    return gradient if gradient.type.dtype == dtype else gradient.astype(dtype)


def power(x: object, y: object) -> TensorVariable:
    """`x` to the power of `y`, element by element."""
    return pow(x, y)


def isnan(a: object) -> TensorVariable:
    """Return whether each element is NaN; no element of an integer or Boolean tensor is."""
    a = as_tensor_variable(a)
    return isnan_(a) if a.type.dtype in continuous_dtypes else _all_false(a)


def isinf(a: object) -> TensorVariable:
    """Return whether each element is infinite; no element of an integer or Boolean tensor is."""
    a = as_tensor_variable(a)
    return isinf_(a) if a.type.dtype in continuous_dtypes else _all_false(a)


def _all_false(a: TensorVariable) -> TensorVariable:
    return second(a, np.array(False))


def mod_check(x: object, y: object) -> TensorVariable:
    """The remainder of `x` by `y`, with the sign of `y`; complex numbers have none."""
    dtypes = [as_tensor_variable(operand).type.dtype for operand in (x, y)]
    if any(dtype in complex_dtypes for dtype in dtypes):
        raise aes.ComplexError(
            f"The mod operator (%) is not defined for complex numbers; got dtypes {dtypes[0]} and {dtypes[1]}."
        )
    return mod(x, y)


def divmod(x: object, y: object) -> tuple[TensorVariable, TensorVariable]:
    """Quotient, rounded down, and remainder of `x` by `y`, element by element."""
    return floor_divide(x, y), mod_check(x, y)


def ceil_intdiv(a: object, b: object) -> TensorVariable:
    """The quotient of two tensors of integers, rounded up."""
    quotient = floor_divide(a, b)
    return quotient + neq(mod(a, b), 0).astype(quotient.type.dtype)


def round(a: object, mode: str | int | None = None, decimals: int = 0) -> TensorVariable:
    """Each element rounded to an integer, or to a number of decimals, in the dtype of `a`.

    Parameters
    ----------
    a
        A tensor of floating-point numbers; integers are returned as they are.
    mode
        "half_to_even" (the default, as in NumPy) or "half_away_from_zero"; an
        integer in this place is taken as `decimals`.
    decimals
        How many decimals are kept; negative to round to tens, hundreds, ...

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.round([0.5, 1.5, 2.567]).eval()
    array([0., 2., 3.])
    >>> at.round([0.5, 1.5, 2.567], 2).eval()
    array([0.5 , 1.5 , 2.57])
    """
    if isinstance(mode, (int, np.integer)) and not isinstance(mode, bool):
        decimals = int(mode)
        mode = None
    if isinstance(decimals, bool) or not isinstance(decimals, (int, np.integer)):
        raise TypeError(f"decimals must be an integer; got {decimals!r}.")
    if mode is None or mode == "half_to_even":
        function = round_half_to_even
    elif mode == "half_away_from_zero":
        function = round_half_away_from_zero
    else:
        raise ValueError(f'round mode {mode!r} is not one of "half_to_even" and "half_away_from_zero".')
    a = as_tensor_variable(a)
    if a.type.dtype in complex_dtypes:
        return complex(round(real(a), mode, decimals), round(imag(a), mode, decimals))
    if a.type.dtype in discrete_dtypes:
        if decimals >= 0:
            return a
        return round(a.astype("float64"), mode, decimals).astype(a.type.dtype)
    if decimals == 0:
        return function(a)
    power = np.asarray(10.0 ** (decimals if decimals > 0 else -decimals), dtype=a.type.dtype)
    return function(a * power) / power if decimals > 0 else function(a / power) * power


def iround(a: object, mode: str | None = None) -> TensorVariable:
    """Each element rounded to an integer, as int64; see `round`."""
    return round(a, mode).astype("int64")


def isclose(a: object, b: object, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> TensorVariable:
    """Return whether each pair of elements is equal within a tolerance.

    Finite `a` and `b` are close if ``|a - b| <= atol + rtol * |b|``; infinite
    ones if they are equal.

    Parameters
    ----------
    a, b
        The tensors to compare.
    rtol, atol
        Relative and absolute tolerance.
    equal_nan
        Whether NaN is close to NaN.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.isclose([1e10, 1e-7], [1.00001e10, 1e-8]).eval()
    array([ True, False])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.dtype in discrete_dtypes and b.type.dtype in discrete_dtypes:
        # Differences of unsigned integers wrap around, and Booleans cannot be subtracted.
        a, b = a.astype("float64"), b.astype("float64")
    near = le(abs(sub(a, b)), atol + rtol * abs(b))
    either_special = or_(or_(isnan(a), isnan(b)), or_(isinf(a), isinf(b)))
    close = or_(eq(a, b), and_(near, invert(either_special)))
    if equal_nan:
        close = or_(close, and_(isnan(a), isnan(b)))
    return close
