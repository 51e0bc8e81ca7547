"""Conversion of Fourier transforms and convolutions."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.fourier import Fourier
from pytensor.tensor.signal.conv import Convolve1d, Convolve2d

import aesara.tensor as at
from aesara.graph.nodes import Constant
from aesara.pytensor.conversion import convert_op, perform_in_python
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.discrete_fourier.real_pairs import irfft_op, rfft_op
from aesara.tensor.fourier import fft
from aesara.tensor.nnet.conv_functions import conv2d


@convert_op.register(RFFTOp)
def _rfft(op: RFFTOp, node: PyTensorApply, x: Any, lengths: Any) -> Any:
    return rfft_op(x, lengths)


@convert_op.register(IRFFTOp)
def _irfft(op: IRFFTOp, node: PyTensorApply, x: Any, lengths: Any) -> Any:
    return irfft_op(x, lengths)


@convert_op.register(Fourier)
def _fourier(op: Fourier, node: PyTensorApply, x: Any, n: Any, axis: Any) -> Any:
    if not isinstance(axis, Constant):
        return perform_in_python(node, [x, n, axis])
    return fft(x, n, axis)


def _part_of_convolution(full: Any, sizes: list[tuple[Any, Any]], full_mode: Any) -> Any:
    """Return a full convolution, or its valid part."""
    slices = []
    for n, k in sizes:
        start = at.switch(full_mode, 0, at.minimum(n, k) - 1)
        stop = at.switch(full_mode, n + k - 1, at.maximum(n, k))
        slices.append(slice(start, stop))
    return full[tuple(slices)]


@convert_op.register(Convolve1d)
def _convolve1d(op: Convolve1d, node: PyTensorApply, x: Any, y: Any, full_mode: Any) -> Any:
    if isinstance(full_mode, Constant):
        return at.convolve(x, y, "full" if full_mode.data else "valid")
    return _part_of_convolution(at.convolve(x, y), [(x.shape[0], y.shape[0])], full_mode)


@convert_op.register(Convolve2d)
def _convolve2d(op: Convolve2d, node: PyTensorApply, x: Any, y: Any, full_mode: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    if not dtype.startswith("float"):
        return perform_in_python(node, [x, y, full_mode])
    images, filters = (at.cast(z, dtype).dimshuffle("x", "x", 0, 1) for z in (x, y))
    full = conv2d(images, filters, border_mode="full")[0, 0]
    if isinstance(full_mode, Constant) and full_mode.data:
        return full
    sizes = [(x.shape[d], y.shape[d]) for d in (0, 1)]
    larger = [at.ge(n, k) for n, k in sizes]
    smaller = [at.le(n, k) for n, k in sizes]
    message = "For a valid convolution one matrix must be at least as large as the other in both dimensions."
    fits = full_mode | (larger[0] & larger[1]) | (smaller[0] & smaller[1])
    return _part_of_convolution(Assert(message)(full, fits), sizes, full_mode)
