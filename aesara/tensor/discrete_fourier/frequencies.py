"""Frequencies of Fourier transforms, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import AxisLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import lt, switch
from aesara.tensor.shapes.rearranging import normalize_axes, roll

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: TensorLike, d: TensorLike = 1.0) -> TensorVariable:
    """Return the frequencies of a transform of `n` numbers with sample spacing `d`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.fftfreq(4).eval()
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    n = as_tensor_variable(n)
    k = arange(n)
    return switch(lt(k, (n + 1) // 2), k, k - n) / (n * as_tensor_variable(d))


def rfftfreq(n: TensorLike, d: TensorLike = 1.0) -> TensorVariable:
    """Return the nonnegative frequencies of a transform of `n` numbers with sample spacing `d`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.rfftfreq(4).eval()
    array([0.  , 0.25, 0.5 ])
    """
    n = as_tensor_variable(n)
    return arange(n // 2 + 1) / (n * as_tensor_variable(d))


def _axes(x: TensorVariable, axes: Any) -> Sequence[int]:
    return range(x.type.ndim) if axes is None else normalize_axes(axes, x.type.ndim)


def fftshift(x: TensorLike, axes: AxisLike = None) -> TensorVariable:
    """The elements with the frequency zero in the middle of each axis, all by default.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.fftshift([0, 1, -2, -1]).eval()
    array([-2, -1,  0,  1])
    """
    x = as_tensor_variable(x)
    for axis in _axes(x, axes):
        x = roll(x, x.shape[axis] // 2, axis)
    return x


def ifftshift(x: TensorLike, axes: AxisLike = None) -> TensorVariable:
    """The inverse of `fftshift`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.ifftshift([-2, -1, 0, 1]).eval()
    array([ 0,  1, -2, -1])
    """
    x = as_tensor_variable(x)
    for axis in _axes(x, axes):
        x = roll(x, -(x.shape[axis] // 2), axis)
    return x
