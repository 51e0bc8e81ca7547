"""Fourier transforms. `rfft` and `irfft` have Aesara's layout of real pairs; the others are those of `numpy.fft`.

They live in `aesara.tensor.discrete_fourier`.
"""

from aesara.tensor.discrete_fourier.frequencies import *
from aesara.tensor.discrete_fourier.real_pairs import *
from aesara.tensor.discrete_fourier.transforms import *
from aesara.tensor.elementwise.ops import sqrt
