"""The memory of a program: buffers, strided operands, and slots of the workspace."""

from __future__ import annotations

import functools

from aesara.ir.expr import COMPLEX_OF, Expr, const
from aesara.records import dataclass

__all__ = ["ITEM_SIZES", "Buffer", "Operand", "Slot", "longest"]

#: bytes of one element in memory
ITEM_SIZES = {
    "bool": 1,
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": 2,
    "float32": 4,
    "float64": 8,
}


def longest(dtype: str, ndim: int) -> int:
    """Return the largest length that a dimension of an array can have.

    NumPy requires the product of the item size and of all lengths other than 0 to fit into a signed 64-bit word. A
    vector has to be allocated, which bounds its length further.

    Examples
    --------
    >>> longest("float64", 2) == 2**60 - 1
    True
    """
    return min((2**63 - 1) // ITEM_SIZES[dtype], 2**63 - 1 if ndim > 1 else 2**62)


@dataclass(frozen=True)
class Buffer:
    """A block of memory: `name`, `dtype`, and its shape in sizes of the program.

    With `is_complex`, callers see an array of complex numbers, whose real and imaginary parts are along a last
    dimension of length 2.
    """

    name: str
    dtype: str
    shape: tuple[Expr, ...]
    is_complex: bool = False

    @property
    def outer_dtype(self) -> str:
        """The dtype of the ndarray that wraps this buffer."""
        return COMPLEX_OF[self.dtype] if self.is_complex else self.dtype

    @property
    def outer_shape(self) -> tuple[Expr, ...]:
        """The shape of the ndarray that wraps this buffer."""
        return self.shape[:-1] if self.is_complex else self.shape

    @property
    def bytes(self) -> Expr:
        """The size of the buffer in bytes."""
        return functools.reduce(lambda a, b: a * b, self.shape, const(ITEM_SIZES[self.dtype]))


@dataclass(frozen=True)
class Operand:
    """A view into a buffer: element offset, and strides of the leading dimensions in elements."""

    buffer: str
    offset: Expr
    strides: tuple[Expr, ...] = ()

    def expressions(self) -> tuple[Expr, ...]:
        """Return the offset and the strides."""
        return self.offset, *self.strides


@dataclass(frozen=True)
class Slot:
    """A region of the workspace of `size` bytes; `late` if the size is known only while the program runs."""

    size: Expr
    late: bool
