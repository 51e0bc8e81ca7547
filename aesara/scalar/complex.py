"""Complex numbers and their parts.

The gradient of a real cost C with respect to a complex z is ``dC/dRe(z) + 1j * dC/dIm(z)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.scalar.constants import literal
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp, zero_gradient
from aesara.scalar.promotion import complex_out, real_out, same_out_min8, specific_out
from aesara.scalar.trigonometric import arctan2, cos, sin
from aesara.scalar.types import ScalarType, float64
from aesara.scalar.var import ScalarVariable

__all__ = [
    "Angle",
    "Complex",
    "ComplexFromPolar",
    "Conj",
    "Imag",
    "Real",
    "angle",
    "complex",
    "complex_from_polar",
    "conj",
    "imag",
    "real",
]


class _ComplexOp(UnaryScalarOp):
    """An op on complex numbers that also accepts real numbers."""

    operands = "as_is"
    holomorphic = False


class Real(_ComplexOp):
    """The real part."""

    numpy = np.real
    dtype = real_out

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return x

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (complex(g, literal(0, g)) if x.type.is_complex else g,)


def _imag(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.imag(x))


class Imag(_ComplexOp):
    """The imaginary part; zero for real numbers."""

    numpy = _imag
    nfunc_spec = ("imag", 1, 1)
    dtype = real_out

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return literal(0, x)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (complex(literal(0, g), g) if x.type.is_complex else zero_gradient(x),)


def _angle(x: np.ndarray) -> np.ndarray:
    return np.angle(x if np.iscomplexobj(x) else np.asarray(x).astype("float64"))


class Angle(_ComplexOp):
    """The argument of a complex number in radians, as float64; its gradient at zero is NaN."""

    numpy = _angle
    nfunc_spec = ("angle", 1, 1)
    dtype = specific_out(float64)

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        wide = x.astype("float64")
        return arctan2(literal(0, wide), wide)

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        if not x.type.is_complex:
            return (zero_gradient(x),)
        re, im = real(x), imag(x)
        scaled = g / (re * re + im * im)
        return (complex(-scaled * im, scaled * re),)


class Conj(_ComplexOp):
    """The complex conjugate."""

    numpy = np.conjugate
    nfunc_spec = ("conj", 1, 1)
    dtype = same_out_min8

    def decompose(self, x: ScalarVariable) -> ScalarVariable:
        return x

    def pullback(self, x: ScalarVariable, y: ScalarVariable, g: ScalarVariable) -> tuple:
        return (conj(g) if x.type.is_complex else g,)


def _complex(re: np.ndarray, im: np.ndarray, /) -> np.ndarray:
    parts = np.broadcast_arrays(re, im)
    result = np.empty(parts[0].shape, dtype=np.result_type(parts[0].dtype, parts[1].dtype, np.complex64))
    result.real, result.imag = parts
    return result


class Complex(BinaryScalarOp):
    """The complex number with the given real and imaginary parts."""

    numpy = _complex
    dtype = complex_out
    holomorphic = False

    def operand_dtypes(self, input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]) -> list[str]:
        return [real_out(output_types[0])[0].dtype] * 2

    def pullback(self, re: ScalarVariable, im: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return real(g), imag(g)


def _complex_from_polar(magnitude: np.ndarray, phase: np.ndarray, /) -> np.ndarray:
    return _complex(magnitude * np.cos(phase), magnitude * np.sin(phase))


class ComplexFromPolar(Complex):
    """The complex number with the given absolute value and argument in radians."""

    numpy = _complex_from_polar

    def pullback(self, magnitude: ScalarVariable, phase: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        along, across = real(g), imag(g)
        radial = along * cos(phase) + across * sin(phase)
        tangential = across * cos(phase) - along * sin(phase)
        return radial, magnitude * tangential


real = Real(name="real")
imag = Imag(name="imag")
angle = Angle(name="angle")
conj = Conj(name="conj")
complex = Complex(name="complex")
complex_from_polar = ComplexFromPolar(name="complex_from_polar")
