"""Complex numbers in lowering: a complex variable is a pair of real arrays.

Nothing below this layer knows of complex numbers.  In memory they are real numbers with one more dimension, of length
2: an input, a constant or the result of a Python node is read through two rules (`split`), and what leaves the
program is written by one loop with two stores (`Interleaved`).
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.buffers import COMPLEX_OF
from aesara.ir.expr import Expr, const
from aesara.lower.arrays import Array, Index, Interleaved, Pointwise, Reader, literal
from aesara.records import dataclass

__all__ = ["ComplexArray", "complex_from_real", "part_dtype", "split"]

#: dtype of the parts by the complex dtype
_PARTS = {whole: part for part, whole in COMPLEX_OF.items()}


@dataclass(eq=False)
class ComplexArray:
    """The real and the imaginary part of a complex variable; `whole` is memory that holds both, if there is some."""

    real: Array
    imag: Array
    whole: Array | None = None

    @property
    def dtype(self) -> str:
        """The complex dtype."""
        return COMPLEX_OF[self.real.dtype]

    @property
    def shape(self) -> tuple[Expr, ...]:
        return self.real.shape

    @property
    def ndim(self) -> int:
        return self.real.ndim

    @property
    def parts(self) -> tuple[Array, Array]:
        return self.real, self.imag

    def in_memory(self) -> Array:
        """The array that holds both parts, as the outside of a program wants them."""
        if self.whole is None:
            self.whole = Interleaved(self.real, self.imag)
        return self.whole


def part_dtype(dtype: str) -> str:
    """The dtype of the parts of a complex dtype; a real dtype is its own."""
    return _PARTS.get(dtype, dtype)


def split(whole: Array) -> ComplexArray:
    """The parts of complex numbers in memory."""
    whole.is_complex = True
    return ComplexArray(_part(whole, 0), _part(whole, 1), whole)


def _part(whole: Array, k: int) -> Array:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((*index, const(k)))

    def strided(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return offset + strides[-1] * k, strides[:-1]

    return Pointwise(whole.dtype, whole.shape[:-1], (whole,), body, 0, strided=strided)


def complex_from_real(array: Array) -> ComplexArray:
    """A real array as complex numbers."""
    return ComplexArray(array, literal(0, array.dtype, array.shape))
