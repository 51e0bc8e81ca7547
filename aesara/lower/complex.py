"""Complex arrays in lowering: pairs of real arrays.

Lower layers have no complex numbers.  In memory a complex array has one more dimension, of length 2: `split` makes
strided views of the parts of an input, a constant or the result of a Python node, and `Interleaved` writes results.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.buffers import COMPLEX_OF
from aesara.ir.expr import Expr, const
from aesara.lower.arrays import Array, Index, Interleaved, Pointwise, Reader, literal
from aesara.records import dataclass

__all__ = ["ComplexArray", "complex_from_real", "part_dtype", "split"]

#: dtypes of parts by complex dtype
_PARTS = {whole: part for part, whole in COMPLEX_OF.items()}


@dataclass(eq=False)
class ComplexArray:
    """Real and imaginary part of a complex variable; `whole` is the interleaved array, if there is one."""

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
        """Return the interleaved array."""
        if self.whole is None:
            self.whole = Interleaved(self.real, self.imag)
        return self.whole


def part_dtype(dtype: str) -> str:
    """Return the dtype of the parts of a complex dtype; real dtypes are returned unchanged."""
    return _PARTS.get(dtype, dtype)


def split(whole: Array) -> ComplexArray:
    """Split an interleaved array into views of its parts."""
    whole.is_complex = True
    return ComplexArray(_part(whole, 0), _part(whole, 1), whole)


def _part(whole: Array, k: int) -> Array:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0]((*index, const(k)))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return offset + strides[-1] * k, strides[:-1]

    return Pointwise(whole.dtype, whole.shape[:-1], (whole,), body, 0, strided=restride)


def complex_from_real(array: Array) -> ComplexArray:
    """Convert a real array to a complex one with zero imaginary part."""
    return ComplexArray(array, literal(0, array.dtype, array.shape))
