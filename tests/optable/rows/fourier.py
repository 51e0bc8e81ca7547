"""Rows of Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.ir.routines.fourier import is_available
from aesara.tensor import fft
from tests.optable.inputs import integer, real
from tests.optable.table import case, row

#: Nodes that run in Python
POCKETFFT = {} if is_available() else {"FourierTransform|FFTOp": "the functions of NumPy 1 are for Python"}


def bound(*values: np.ndarray, **_: Any) -> float:
    """Return the scale of rounding errors: twice the sum of all absolute values."""
    return 2 * float(np.abs(values[0]).sum())


def in_precision_of_input(function: Any) -> Any:
    """The function with results in single precision where the input is, which NumPy 1 transforms in double."""

    def oracle(*values: Any, **options: Any) -> Any:
        result = function(*values, **options)
        narrow = str(getattr(values[0], "dtype", "")) in ("float32", "complex64") if values else False
        kinds = {"float64": "float32", "complex128": "complex64"} if narrow else {}
        return np.asarray(result, dtype=kinds.get(str(result.dtype), result.dtype))

    return oracle


def transform(name: str, cases: Any, oracle: Any = None, **facts: Any) -> None:
    """Add a row of a transform."""
    facts = {"error": "sum", "magnitude": bound, "python": POCKETFFT, "fuzzed": False, **facts}
    row(name, in_precision_of_input(oracle or getattr(np.fft, name)), cases, getattr(fft, name), **facts)


WAYS = [
    case(real(6)),
    case(real(2, 5), n=7, axis=0),
    case(real(3, 4), n=3, norm="ortho"),
    case(real(5), norm="forward"),
]
COMPLEX_WAYS = [case(real(6, dtype="complex128")), case(real(3, 4, dtype="complex128"), n=3, norm="ortho")]
DTYPES = ("bool", "int32", "float32", "complex64")
for name in ("fft", "ifft", "hfft"):
    transform(name, WAYS, complex_cases=COMPLEX_WAYS, dtypes=DTYPES)
transform("ihfft", WAYS, dtypes=DTYPES[:3])
transform("rfft_complex", WAYS, np.fft.rfft, dtypes=DTYPES[:3])
transform("irfft_complex", WAYS, np.fft.irfft, complex_cases=COMPLEX_WAYS, dtypes=DTYPES)
PLANES = [case(real(3, 4)), case(real(2, 3, 5), s=(3, 4), axes=(2, 0)), case(real(2, 4), norm="ortho")]
COMPLEX_PLANES = [case(real(3, 4, dtype="complex128"))]
for name in ("fftn", "ifftn", "irfftn", "fft2", "ifft2", "irfft2"):
    transform(name, PLANES, complex_cases=COMPLEX_PLANES, dtypes=("float32", "complex64"))
for name in ("rfftn", "rfft2"):
    transform(name, PLANES, dtypes=("int32", "float32"))


def _pairs(a: np.ndarray, norm: str | None = None) -> np.ndarray:
    result = np.fft.rfftn(a, axes=tuple(range(1, a.ndim)), norm="ortho" if norm == "ortho" else None)
    return np.stack([result.real, result.imag], axis=-1)


def _from_pairs(a: np.ndarray, norm: str | None = None, is_odd: bool = False) -> np.ndarray:
    numbers = a[..., 0] + 1j * a[..., 1]
    lengths = [*numbers.shape[1:-1], 2 * (numbers.shape[-1] - 1) + is_odd]
    norm = {None: "backward", "ortho": "ortho", "no_norm": "forward"}[norm]
    return np.fft.irfftn(numbers, s=lengths, axes=tuple(range(1, numbers.ndim)), norm=norm)


transform(
    "rfft",
    [case(real(2, 5)), case(real(2, 3, 4)), case(real(2, 4), norm="ortho"), case(real(2, 4), norm="no_norm")],
    _pairs,
    dtypes=("float32",),
    covers=("rfft_op",),
)
transform(
    "irfft",
    [
        case(real(2, 4, 2)),
        case(real(2, 3, 3, 2), is_odd=True),
        case(real(2, 4, 2), norm="ortho"),
        case(real(2, 3, 2), norm="no_norm"),
    ],
    _from_pairs,
    dtypes=("float32",),
    covers=("irfft_op",),
)
ORDERS = {"python": {}, "error": "exact"}
for name in ("fftshift", "ifftshift"):
    transform(name, [case(real(5)), case(real(3, 4)), case(real(3, 4), axes=1)], **ORDERS)
for name, frequencies in (("fftfreq", np.fft.fftfreq), ("rfftfreq", np.fft.rfftfreq)):
    transform(
        name,
        [case(integer(low=n, high=n), d=0.5) for n in (1, 4, 5)],
        lambda n, d, frequencies=frequencies: frequencies(int(n), d),
        python={},
        error=1.0,
        gradient=False,
        needs_values="the length is a value",
    )
