"""Scalar ops on complex numbers as graphs of scalar ops on real and imaginary parts.

Native code supports only real numbers. For each scalar op on complex numbers this module defines how the parts of the
result follow from the parts of the operands; `complex_decomposition` evaluates this. Other ops are computed by
`ScalarOp.perform`.

A form gets its operands in the dtypes that `ScalarOp.operand_dtypes` returns: complex ones as `Parts`, real ones as
scalar variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.records import dataclass
from aesara.scalar.arithmetic import Abs, Add, Mul, Neg, Reciprocal, Sub, TrueDivide
from aesara.scalar.casting import Cast, Identity
from aesara.scalar.comparison import EQ, GE, GT, LE, LT, NEQ, IsInf, IsNan, eq, ge, gt, isinf, isnan, le, lt, neq
from aesara.scalar.complex import Angle, Complex, ComplexFromPolar, Conj, Imag, Real
from aesara.scalar.composite import Composite
from aesara.scalar.conditional import ScalarMaximum, ScalarMinimum, Second, Switch, switch
from aesara.scalar.constants import as_scalar, literal
from aesara.scalar.logic import and_, invert, or_
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, ScalarOp, to_dtype
from aesara.scalar.power import Sqr, sqrt
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.trigonometric import arctan2, cos, sin
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.scalar.var import ScalarVariable

__all__ = ["Parts", "complex_decomposition", "complex_form"]


class Parts(NamedTuple):
    """The real and imaginary part of a complex number, as real scalar variables."""

    re: ScalarVariable
    im: ScalarVariable


@dataclass(frozen=True)
class _Form:
    function: Callable[..., Any]
    wide: bool


_forms: dict[type[ScalarOp], _Form] = {}


def complex_form(*ops: type[ScalarOp], wide: bool = False) -> Callable[[Callable], Callable]:
    """Return a decorator that registers the form of classes of scalar ops for complex numbers.

    Parameters
    ----------
    ops
        The classes, without their subclasses.
    wide
        Whether to compute single precision in double precision, for functions whose rounding errors exceed a few ulp
        otherwise.

    Examples
    --------
    >>> from aesara.scalar import UnaryScalarOp, same_out
    >>> class TimesI(UnaryScalarOp):
    ...     dtype = same_out
    ...     numpy = lambda z: z * 1j
    >>> @complex_form(TimesI)
    ... def times_i(op, z):
    ...     return Parts(-z.im, z.re)
    """

    def declare(function: Callable) -> Callable:
        for op in ops:
            _forms[op] = _Form(function, wide)
        return function

    return declare


def complex_decomposition(
    op: ScalarOp, inputs: Sequence[ScalarVariable | Parts], input_types: Sequence[ScalarType]
) -> list:
    """Return the outputs of an op on complex numbers as real scalar variables, or as `Parts` if they are complex.

    Parameters
    ----------
    inputs
        Real scalar variables, or `Parts` for complex inputs.

    Raises
    ------
    NotImplementedError
        If the op has no form for complex numbers.
    """
    form = _forms.get(type(op))
    if form is None:
        raise NotImplementedError(f"scalar op {op} has no form for complex numbers")
    output_types = op.output_types(input_types)
    dtypes = op.operand_dtypes(input_types, output_types)
    operands = [convert_parts(x, dtype, form.wide) for x, dtype in zip(inputs, dtypes, strict=True)]
    results = form.function(op, *operands)
    if not isinstance(results, list):
        results = [results]
    return [convert_parts(x, t.dtype) for x, t in zip(results, output_types, strict=True)]


def part_dtype(dtype: str) -> str:
    """Return the dtype of the parts of a complex dtype."""
    return "float32" if dtype == "complex64" else "float64"


def convert_parts(x: ScalarVariable | Parts, dtype: str, wide: bool = False) -> ScalarVariable | Parts:
    """Convert a real variable or parts to a dtype; a real dtype takes the real part."""
    if not get_scalar_type(dtype).is_complex:
        real = x.re if isinstance(x, Parts) else x
        return to_dtype(real, "float64" if wide and dtype == "float32" else dtype)
    inner = "float64" if wide else part_dtype(dtype)
    if not isinstance(x, Parts):
        x = Parts(x, literal(0, x))
    return Parts(to_dtype(x.re, inner), to_dtype(x.im, inner))


class _CopySign(BinaryScalarOp):
    """The absolute value of x with the sign of y."""

    numpy = np.copysign
    dtype = upgrade_to_float_no_complex
    native = Primitive("copysign")


copysign = _CopySign(name="copysign")


def modulus(z: Parts) -> ScalarVariable:
    """Return the absolute value, without intermediate overflow or underflow."""
    x, y = abs(z.re), abs(z.im)
    size = switch(gt(x, y), x, y)
    up, down = scale_of(size)
    a, b = x * up, y * up
    return switch(or_(isinf(x), isinf(y)), literal(np.inf, x), sqrt(a * a + b * b) * down)


def scale_of(size: ScalarVariable) -> tuple[ScalarVariable, ScalarVariable]:
    """Return a power of two, mostly 1, that scales a number such that its square is in range, and its reciprocal."""
    limit, step = (500, 600) if size.type.dtype == "float64" else (60, 80)
    large, small = gt(size, literal(2.0**limit, size)), lt(size, literal(2.0**-limit, size))
    one, grown, shrunk = literal(1, size), literal(2.0**step, size), literal(2.0**-step, size)
    return switch(large, shrunk, switch(small, grown, one)), switch(large, grown, switch(small, shrunk, one))


# -- arithmetic ------------------------------------------------------------------------------------------------


@complex_form(Add)
def _add(op: ScalarOp, *terms: Parts) -> Parts:
    total, *others = terms
    for z in others:
        total = Parts(total.re + z.re, total.im + z.im)
    return total


@complex_form(Sub)
def _sub(op: ScalarOp, z: Parts, w: Parts) -> Parts:
    return Parts(z.re - w.re, z.im - w.im)


@complex_form(Neg)
def _neg(op: ScalarOp, z: Parts) -> Parts:
    return Parts(-z.re, -z.im)


def multiply(z: Parts, w: Parts) -> Parts:
    return Parts(z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re)


@complex_form(Mul)
def _mul(op: ScalarOp, *factors: Parts) -> Parts:
    product, *others = factors
    for z in others:
        product = multiply(product, z)
    return product


@complex_form(Sqr)
def _square(op: ScalarOp, z: Parts) -> Parts:
    return multiply(z, z)


def divide(z: Parts, w: Parts) -> Parts:
    """Return the quotient, without overflow of the square of the divisor.

    R. L. Smith (1962), "Algorithm 116: complex division".
    """
    flat = ge(abs(w.re), abs(w.im))
    larger, smaller = switch(flat, w.re, w.im), switch(flat, w.im, w.re)
    zero = and_(eq(w.re, literal(0, larger)), eq(w.im, literal(0, larger)))
    ratio = smaller / larger
    scale = literal(1, ratio) / (larger + smaller * ratio)
    re = switch(flat, z.re + z.im * ratio, z.re * ratio + z.im) * scale
    im = switch(flat, z.im - z.re * ratio, z.im * ratio - z.re) * scale
    nought = abs(larger)
    return Parts(switch(zero, z.re / nought, re), switch(zero, z.im / nought, im))


@complex_form(TrueDivide)
def _true_divide(op: ScalarOp, z: Parts, w: Parts) -> Parts:
    return divide(z, w)


@complex_form(Reciprocal)
def reciprocal(op: ScalarOp, z: Parts) -> Parts:
    flat = ge(abs(z.re), abs(z.im))
    larger, smaller = switch(flat, z.re, z.im), switch(flat, z.im, z.re)
    ratio = smaller / larger
    size = larger + smaller * ratio
    first, second = literal(1, size) / size, ratio / size
    return Parts(switch(flat, first, second), -switch(flat, second, first))


@complex_form(Abs)
def _abs(op: ScalarOp, z: Parts) -> ScalarVariable:
    if z.re.type.dtype == "float64":
        return modulus(z)
    # Squares of numbers of single precision neither overflow nor underflow in double precision.
    x, y = z.re.astype("float64"), z.im.astype("float64")
    infinite = or_(isinf(x), isinf(y))
    return switch(infinite, literal(np.inf, x), sqrt(x * x + y * y))


# -- parts -----------------------------------------------------------------------------------------------------


@complex_form(Real)
def _real(op: ScalarOp, z: Parts) -> ScalarVariable:
    return z.re


@complex_form(Imag)
def _imag(op: ScalarOp, z: Parts) -> ScalarVariable:
    return z.im


@complex_form(Angle)
def _angle(op: ScalarOp, z: Parts) -> ScalarVariable:
    return arctan2(z.im, z.re)


@complex_form(Conj)
def _conj(op: ScalarOp, z: Parts) -> Parts:
    return Parts(z.re, -z.im)


@complex_form(Complex)
def _complex(op: ScalarOp, re: ScalarVariable, im: ScalarVariable) -> Parts:
    return Parts(re, im)


@complex_form(ComplexFromPolar)
def _complex_from_polar(op: ScalarOp, magnitude: ScalarVariable, phase: ScalarVariable) -> Parts:
    return Parts(magnitude * cos(phase), magnitude * sin(phase))


# -- choice and conversion -------------------------------------------------------------------------------------


@complex_form(Identity)
def _identity(op: ScalarOp, z: Parts) -> Parts:
    return z


@complex_form(Second)
def _second(op: ScalarOp, shape: ScalarVariable, value: ScalarVariable) -> ScalarVariable | Parts:
    return value


def is_nonzero(z: ScalarVariable | Parts) -> ScalarVariable:
    if not isinstance(z, Parts):
        return z
    return or_(neq(z.re, literal(0, z.re)), neq(z.im, literal(0, z.im)))


def choose(condition: ScalarVariable, z: Parts, w: Parts) -> Parts:
    return Parts(switch(condition, z.re, w.re), switch(condition, z.im, w.im))


@complex_form(Switch)
def _switch(
    op: ScalarOp, condition: ScalarVariable | Parts, z: ScalarVariable | Parts, w: ScalarVariable | Parts
) -> ScalarVariable | Parts:
    test = is_nonzero(condition)
    return choose(test, z, w) if isinstance(z, Parts) and isinstance(w, Parts) else switch(test, z, w)


@complex_form(Cast)
def _cast(op: Cast, z: ScalarVariable | Parts) -> ScalarVariable | Parts:
    return is_nonzero(z) if op.o_type.dtype == "bool" else z


# -- tests -----------------------------------------------------------------------------------------------------


@complex_form(IsNan)
def _isnan(op: ScalarOp, z: Parts) -> ScalarVariable:
    return or_(isnan(z.re), isnan(z.im))


@complex_form(IsInf)
def _isinf(op: ScalarOp, z: Parts) -> ScalarVariable:
    return or_(isinf(z.re), isinf(z.im))


@complex_form(EQ)
def _eq(op: ScalarOp, z: Parts, w: Parts) -> ScalarVariable:
    return and_(eq(z.re, w.re), eq(z.im, w.im))


@complex_form(NEQ)
def _neq(op: ScalarOp, z: Parts, w: Parts) -> ScalarVariable:
    return or_(neq(z.re, w.re), neq(z.im, w.im))


@complex_form(LT, LE, GT, GE)
def _compare(op: ScalarOp, z: Parts, w: Parts) -> ScalarVariable:
    """Compare lexicographically, like NumPy."""
    strict = lt if isinstance(op, (LT, LE)) else gt
    numbers = invert(or_(isnan(z.im), isnan(w.im)))
    return or_(and_(strict(z.re, w.re), numbers), and_(eq(z.re, w.re), op(z.im, w.im)))


@complex_form(ScalarMaximum, ScalarMinimum)
def _extremum(op: ScalarOp, z: Parts, w: Parts) -> Parts:
    order = ge if isinstance(op, ScalarMaximum) else le
    return choose(or_(_isnan(op, z), _compare(order, z, w)), z, w)


# -- composites ------------------------------------------------------------------------------------------------


@complex_form(Composite)
def _composite(op: Composite, *operands: ScalarVariable | Parts) -> list:
    known: dict[Variable, ScalarVariable | Parts] = dict(zip(op.inputs, operands, strict=True))

    def value_of(variable: Variable) -> ScalarVariable | Parts:
        if isinstance(variable, Constant) and variable.type.is_complex:
            part = get_scalar_type(part_dtype(variable.type.dtype))()
            return Parts(literal(variable.data.real, part), literal(variable.data.imag, part))
        return known[variable] if variable in known else as_scalar(variable)

    for node in io_toposort(op.inputs, op.outputs):
        values = [value_of(variable) for variable in node.inputs]
        types = [variable.type for variable in node.inputs]
        if any(variable.type.is_complex for variable in (*node.inputs, *node.outputs)):
            results = complex_decomposition(node.op, values, types)
        else:
            results = node.op.make_node(*values).outputs
        known.update(zip(node.outputs, results, strict=True))
    return [value_of(variable) for variable in op.outputs]
