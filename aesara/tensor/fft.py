"""Fourier transforms. `rfft` and `irfft` have Aesara's layout of real pairs; the others are those of `numpy.fft`.

They live in `aesara.tensor.discrete_fourier`.
"""

from aesara.tensor.discrete_fourier.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from aesara.tensor.discrete_fourier.real_pairs import IRFFTOp, RFFTOp, irfft, irfft_op, rfft, rfft_op
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft2,
    irfft_complex,
    irfftn,
    rfft2,
    rfft_complex,
    rfftn,
)
from aesara.tensor.elementwise.ops import sqrt

__all__ = [
    "FourierTransform",
    "IRFFTOp",
    "InverseRealFourierTransform",
    "RFFTOp",
    "RealFourierTransform",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfft_complex",
    "irfft_op",
    "irfftn",
    "rfft",
    "rfft2",
    "rfft_complex",
    "rfft_op",
    "rfftfreq",
    "rfftn",
    "sqrt",
]
