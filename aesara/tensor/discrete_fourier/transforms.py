"""Discrete Fourier transforms with the names, parameters and results of `numpy.fft`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import PartialShape, ShapeLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import conj, eq, minimum, or_, sqrt, switch
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.shapes.rearranging import moveaxis, normalize_axes

__all__ = [
    "FourierTransform",
    "InverseRealFourierTransform",
    "RealFourierTransform",
    "fft",
    "fft2",
    "fftn",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ihfft",
    "irfft2",
    "irfft_complex",
    "irfftn",
    "rfft2",
    "rfft_complex",
    "rfftn",
]

_COMPLEX = {"float32": "complex64", "complex64": "complex64"}
_REAL = {"complex64": "float32", "complex128": "float64"}


class FourierTransform(Op):
    """The Fourier transform over the last dimensions of a complex tensor, without normalization.

    The gradient of each direction is the transform in the other direction.

    Parameters
    ----------
    ndim
        Over how many dimensions.
    inverse
        Whether the sign of the exponent is positive.
    """

    __props__ = ("ndim", "inverse")

    def __init__(self, ndim: int = 1, inverse: bool = False):
        self.ndim = int(ndim)
        self.inverse = bool(inverse)

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.dtype not in _REAL:
            raise TypeError(f"{self} needs complex numbers; got {describe(x)} of type {x.type}.")
        if x.type.ndim < self.ndim:
            raise ValueError(f"{self} needs {self.ndim} or more dimensions; got {describe(x)} of type {x.type}.")
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        axes = tuple(range(-self.ndim, 0))
        if x.size == 0 and 0 not in x.shape[x.ndim - self.ndim :]:
            result = x.copy()
        elif self.inverse:
            result = np.fft.ifftn(x, axes=axes, norm="forward")
        else:
            result = np.fft.fftn(x, axes=axes)
        output_storage[0][0] = np.asarray(result, dtype=x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return shapes

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [FourierTransform(self.ndim, not self.inverse)(output_grads[0])]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return [None if point is None else self(point) for point in eval_points]


class RealFourierTransform(Op):
    """The Fourier transform over the last dimension of a real tensor: of n numbers the first n // 2 + 1."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if x.type.dtype not in ("float32", "float64") or x.type.ndim < 1:
            raise TypeError(f"{self} needs a tensor of float32 or float64 numbers; got {describe(x)} of {x.type}.")
        length = x.type.shape[-1]
        shape = (*x.type.shape[:-1], None if length is None else length // 2 + 1)
        return Apply(self, [x], [tensor_type(_COMPLEX.get(x.type.dtype, "complex128"), shape)()])

    def perform(self, node, inputs, output_storage, params=None):
        output_storage[0][0] = np.asarray(np.fft.rfft(inputs[0]), dtype=node.outputs[0].type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [(*shapes[0][:-1], shapes[0][-1] // 2 + 1)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        n = inputs[0].shape[-1]
        g = output_grads[0]
        return [InverseRealFourierTransform()(g * _weights(g, n, 0.5), n)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return [None if point is None else self(point) for point in eval_points]


class InverseRealFourierTransform(Op):
    """The real numbers whose Fourier transform over the last dimension is Hermitian, from its first half.

    The inputs are this half, of length n // 2 + 1, and n; there is no factor.
    """

    __props__ = ()

    def make_node(self, x: Any, n: Any) -> Apply:
        x, n = as_tensor_variable(x), as_tensor_variable(n)
        if x.type.dtype not in _REAL or x.type.ndim < 1:
            raise TypeError(f"{self} needs a tensor of complex numbers; got {describe(x)} of type {x.type}.")
        if n.type.ndim != 0 or n.type.dtype[0] not in "iu":
            raise TypeError(f"{self} needs the length of the result as an integer; got {describe(n)} of {n.type}.")
        length = known_integer(n)
        return Apply(self, [x, n], [tensor_type(_REAL[x.type.dtype], (*x.type.shape[:-1], length))()])

    def perform(self, node, inputs, output_storage, params=None):
        x, n = inputs
        if x.shape[-1] != int(n) // 2 + 1:
            raise ValueError(f"{self}: {x.shape[-1]} numbers are not the first half of a transform of length {n}.")
        output_storage[0][0] = np.asarray(np.fft.irfft(x, int(n), norm="forward"), dtype=node.outputs[0].type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [(*shapes[0][:-1], node.inputs[1])]

    def connection_pattern(self, node):
        return [[True], [False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        transformed = RealFourierTransform()(output_grads[0])
        return [transformed * _weights(transformed, inputs[1], 2.0), disconnected_type()]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        point = eval_points[0]
        return [None if point is None else self(point, inputs[1])]


def _weights(half: TensorVariable, n: TensorVariable, pairs: float) -> TensorVariable:
    """Return weights of frequencies: `pairs` for those that also occur in the other half, 1 for others."""
    dtype = _REAL[half.type.dtype]
    k = arange(half.shape[-1])
    return switch(or_(eq(k, 0), eq(2 * k, n)), np.asarray(1, dtype), np.asarray(pairs, dtype))


# -- functions ----------------------------------------------------------------------


def _as_complex(a: TensorLike) -> TensorVariable:
    x = as_tensor_variable(a)
    if x.type.dtype in _REAL:
        return x
    return x.astype("complex64" if x.type.dtype in ("float16", "float32") else "complex128")


def _as_real(name: str, a: TensorLike) -> TensorVariable:
    x = as_tensor_variable(a)
    if x.type.dtype in _REAL:
        raise TypeError(f"{name} takes real numbers; got {describe(x)} of type {x.type}.")
    if x.type.dtype in ("float32", "float64"):
        return x
    return x.astype("float32" if x.type.dtype == "float16" else "float64")


def _with_length(x: TensorVariable, n: TensorLike) -> TensorVariable:
    """Truncate the last dimension of a tensor, or pad it with zeros, to a length."""
    if n is None:
        return x
    n = as_tensor_variable(n)
    length = known_integer(n)
    if length is not None and length < 1:
        raise ValueError(f"Invalid number of data points ({length}) specified: there must be one or more.")
    if length is not None and length == x.type.shape[-1]:
        return x
    n_kept = minimum(x.shape[-1], n)
    empty = zeros([*[x.shape[k] for k in range(x.type.ndim - 1)], n], dtype=x.type.dtype)
    return set_subtensor(empty[..., :n_kept], x[..., :n_kept])


def _factor(norm: str | None, inverse: bool, n: TensorVariable, dtype: str) -> TensorVariable | None:
    """Return the scale factor of a transform of `n` numbers, or None if it is 1."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if norm == "ortho":
        return 1 / sqrt(n.astype(dtype))
    if (norm == "forward") == inverse:
        return None
    return 1 / n.astype(dtype)


def _scale(x: TensorVariable, norm: str | None, inverse: bool, n: TensorVariable) -> TensorVariable:
    factor = _factor(norm, inverse, n, _REAL.get(x.type.dtype, x.type.dtype))
    return x if factor is None else x * factor


def _lengths_and_axes(x: TensorVariable, s: Any, axes: Any) -> tuple[list[Any], list[int]]:
    """Return the length, or None, and the position of each transformed dimension."""
    lengths = None if s is None else list(s)
    if axes is None:
        chosen = list(range(x.type.ndim)) if lengths is None else list(range(x.type.ndim - len(lengths), x.type.ndim))
    else:
        chosen = list(normalize_axes(tuple(axes), x.type.ndim))
    if lengths is None:
        lengths = [None] * len(chosen)
    if len(lengths) != len(chosen):
        raise ValueError("Shape and axes have different lengths.")
    return lengths, chosen


def _transform(
    x: TensorVariable, lengths: PartialShape, axes: Sequence[int], norm: str | None, inverse: bool
) -> TensorVariable:
    if not axes:
        return x
    for length, axis in zip(lengths, axes):
        if length is not None:
            x = moveaxis(_with_length(moveaxis(x, axis, -1), length), -1, axis)
    positions = list(range(-len(axes), 0))
    moved = moveaxis(x, axes, positions)
    result = FourierTransform(len(axes), inverse)(moved)
    count = result.shape[-1]
    for position in positions[:-1]:
        count = count * result.shape[position]
    return moveaxis(_scale(result, norm, inverse, count), positions, axes)


def fft(a: TensorLike, n: TensorLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The Fourier transform along an axis, as a complex tensor; see `numpy.fft.fft`.

    Parameters
    ----------
    a
        The tensor.
    n
        The length of the transform: `a` is cut, or filled with zeros.
    axis
        The axis.
    norm
        Where the factor 1/n stands: ``"backward"``, the default, at the inverse, ``"forward"``, or its root at both:
        ``"ortho"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.fft([1.0, 0.0, 1.0, 0.0]).eval()
    array([2.+0.j, 0.+0.j, 2.+0.j, 0.+0.j])
    """
    return fftn(a, None if n is None else [n], [axis], norm)


def ifft(a: TensorLike, n: TensorLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The inverse of `fft`, with the same parameters.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.ifft([2.0, 0.0, 2.0, 0.0]).eval()
    array([1.+0.j, 0.+0.j, 1.+0.j, 0.+0.j])
    """
    return ifftn(a, None if n is None else [n], [axis], norm)


def fft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """The Fourier transform over two dimensions; see `fftn` for the parameters."""
    return fftn(a, s, axes, norm)


def ifft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """The inverse of `fft2`, with the same parameters."""
    return ifftn(a, s, axes, norm)


def fftn(a: TensorLike, s: Any = None, axes: Sequence[int] | None = None, norm: str | None = None) -> TensorVariable:
    """The Fourier transform over several dimensions, all by default; see `numpy.fft.fftn`.

    Parameters
    ----------
    a
        The tensor.
    s
        The lengths of the transform.
    axes
        The dimensions; by default as many of the last as there are lengths.
    norm
        As for `fft`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.fftn([[1.0, 1.0], [1.0, 1.0]]).eval().real
    array([[4., 0.],
           [0., 0.]])
    """
    x = _as_complex(a)
    return _transform(x, *_lengths_and_axes(x, s, axes), norm, False)


def ifftn(a: TensorLike, s: Any = None, axes: Sequence[int] | None = None, norm: str | None = None) -> TensorVariable:
    """The inverse of `fftn`, with the same parameters."""
    x = _as_complex(a)
    return _transform(x, *_lengths_and_axes(x, s, axes), norm, True)


def rfftn(a: TensorLike, s: Any = None, axes: Sequence[int] | None = None, norm: str | None = None) -> TensorVariable:
    """The Fourier transform of a real tensor, of which the last dimension keeps the first half; see `fftn`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.rfftn([[1.0, 1.0], [1.0, 1.0]]).eval().real
    array([[4., 0.],
           [0., 0.]])
    """
    x = _as_real("rfftn", a)
    lengths, axes = _lengths_and_axes(x, s, axes)
    if not axes:
        raise ValueError("rfftn needs one axis or more.")
    moved = _with_length(moveaxis(x, axes[-1], -1), lengths[-1])
    half = _scale(RealFourierTransform()(moved), norm, False, moved.shape[-1])
    return _transform(moveaxis(half, -1, axes[-1]), lengths[:-1], axes[:-1], norm, False)


def irfftn(a: TensorLike, s: Any = None, axes: Sequence[int] | None = None, norm: str | None = None) -> TensorVariable:
    """The inverse of `rfftn`. Without lengths, that of the last dimension is even.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.irfftn([[4.0, 0.0], [0.0, 0.0]]).eval()
    array([[1., 1.],
           [1., 1.]])
    """
    x = _as_complex(a)
    lengths, axes = _lengths_and_axes(x, s, axes)
    if not axes:
        raise ValueError("irfftn needs one axis or more.")
    x = moveaxis(_transform(x, lengths[:-1], axes[:-1], norm, True), axes[-1], -1)
    n = as_tensor_variable(2 * (x.shape[-1] - 1) if lengths[-1] is None else lengths[-1])
    result = InverseRealFourierTransform()(_with_length(x, n // 2 + 1), n)
    return moveaxis(_scale(result, norm, True, n), -1, axes[-1])


def rfft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """The Fourier transform of a real tensor over two dimensions; see `rfftn`."""
    return rfftn(a, s, axes, norm)


def irfft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> TensorVariable:
    """The inverse of `rfft2`; see `irfftn`."""
    return irfftn(a, s, axes, norm)


def rfft_complex(a: TensorLike, n: TensorLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The first half of the Fourier transform of a real tensor along an axis, as `numpy.fft.rfft` returns it.

    The function `rfft` of `aesara.tensor.fft` has Aesara's layout instead.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.rfft_complex([1.0, 0.0, 1.0, 0.0]).eval()
    array([2.+0.j, 0.+0.j, 2.+0.j])
    """
    return rfftn(a, None if n is None else [n], [axis], norm)


def irfft_complex(
    a: TensorLike, n: TensorLike | None = None, axis: int = -1, norm: str | None = None
) -> TensorVariable:
    """The inverse of `rfft_complex`; without `n` the length is even.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.irfft_complex([2.0, 0.0, 2.0]).eval()
    array([1., 0., 1., 0.])
    """
    return irfftn(a, None if n is None else [n], [axis], norm)


_OTHER_WAY = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def hfft(a: TensorLike, n: TensorLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The Fourier transform, which is real, of a Hermitian signal, from its first half; see `numpy.fft.hfft`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.hfft([1.0, 1.0, 1.0]).eval()
    array([4., 0., 0., 0.])
    """
    if norm not in _OTHER_WAY:
        _factor(norm, False, as_tensor_variable(1), "float64")
    return irfft_complex(conj(_as_complex(a)), n, axis, _OTHER_WAY[norm])


def ihfft(a: TensorLike, n: TensorLike | None = None, axis: int = -1, norm: str | None = None) -> TensorVariable:
    """The inverse of `hfft`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.ihfft([4.0, 0.0, 0.0, 0.0]).eval()
    array([1.-0.j, 1.-0.j, 1.-0.j])
    """
    if norm not in _OTHER_WAY:
        _factor(norm, False, as_tensor_variable(1), "float64")
    return conj(rfft_complex(a, n, axis, _OTHER_WAY[norm]))
