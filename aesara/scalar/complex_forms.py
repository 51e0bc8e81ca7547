"""Scalar ops on complex numbers as graphs of scalar ops on their real and imaginary parts.

Native code knows real numbers only.  For each scalar op that has a meaning for complex numbers this module states
how the parts of the result follow from the parts of the operands; `complex_decomposition` looks it up.  An op
without an entry is computed by `ScalarOp.perform`.

A form gets its operands in the dtypes that `ScalarOp.operand_dtypes` states: complex ones as `Parts`, real ones as
scalar variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aesara.scalar.arithmetic import Abs, Add, Mul, Neg, Sub
from aesara.scalar.complex import Complex, Conj, Imag, Real
from aesara.scalar.constants import literal
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, ScalarOp, to_dtype
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.types import ScalarType, get_scalar_type

__all__ = ["Parts", "complex_decomposition", "complex_form"]


class Parts(NamedTuple):
    """The real and the imaginary part of a complex number, as real scalar variables."""

    re: Any
    im: Any


@dataclass(frozen=True)
class _Form:
    function: Callable[..., Any]
    wide: bool


_forms: dict[type[ScalarOp], _Form] = {}


def complex_form(*ops: type[ScalarOp], wide: bool = False) -> Callable[[Callable], Callable]:
    """Declare the form of scalar op classes on complex numbers.

    Parameters
    ----------
    ops
        The classes; their subclasses have to be declared on their own.
    wide
        Whether to compute single precision in double precision: for what loses more than the last digit otherwise.

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


def complex_decomposition(op: ScalarOp, inputs: Sequence[Any], input_types: Sequence[ScalarType]) -> list | None:
    """The outputs of an op with complex inputs or outputs as real scalar variables (`Parts` where they are complex).

    Parameters
    ----------
    inputs
        Real scalar variables, or `Parts` for those inputs whose type is complex.

    Returns
    -------
    list or None
        None where the op has no form for complex numbers.
    """
    form = _forms.get(type(op))
    if form is None:
        return None
    output_types = op.output_types(input_types)
    dtypes = op.operand_dtypes(input_types, output_types)
    operands = [convert_parts(x, dtype, form.wide) for x, dtype in zip(inputs, dtypes, strict=True)]
    results = form.function(op, *operands)
    if op.nout == 1:
        results = [results]
    return [convert_parts(x, t.dtype) for x, t in zip(results, output_types, strict=True)]


def part_dtype(dtype: str) -> str:
    """The dtype of the parts of a complex dtype."""
    return "float32" if dtype == "complex64" else "float64"


def convert_parts(x: Any, dtype: str, wide: bool = False) -> Any:
    """A real variable or parts as the dtype wants them; a real dtype takes the real part."""
    if not get_scalar_type(dtype).is_complex:
        real = x.re if isinstance(x, Parts) else x
        return to_dtype(real, "float64" if wide and dtype == "float32" else dtype)
    inner = "float64" if wide else part_dtype(dtype)
    if not isinstance(x, Parts):
        x = Parts(x, literal(0, x))
    return Parts(to_dtype(x.re, inner), to_dtype(x.im, inner))


class _Hypot(BinaryScalarOp):
    """The square root of x * x + y * y, without overflow on the way."""

    numpy = np.hypot
    dtype = upgrade_to_float_no_complex
    native = Primitive("hypot")


hypot = _Hypot(name="hypot")


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


def times(z: Parts, w: Parts) -> Parts:
    return Parts(z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re)


@complex_form(Mul)
def _mul(op: ScalarOp, *factors: Parts) -> Parts:
    product, *others = factors
    for z in others:
        product = times(product, z)
    return product


@complex_form(Neg)
def _neg(op: ScalarOp, z: Parts) -> Parts:
    return Parts(-z.re, -z.im)


@complex_form(Abs)
def _abs(op: ScalarOp, z: Parts) -> Any:
    return hypot(z.re, z.im)


# -- parts -----------------------------------------------------------------------------------------------------


@complex_form(Real)
def _real(op: ScalarOp, z: Parts) -> Any:
    return z.re


@complex_form(Imag)
def _imag(op: ScalarOp, z: Parts) -> Any:
    return z.im


@complex_form(Conj)
def _conj(op: ScalarOp, z: Parts) -> Parts:
    return Parts(z.re, -z.im)


@complex_form(Complex)
def _complex(op: ScalarOp, re: Any, im: Any) -> Parts:
    return Parts(re, im)
