"""The memory of a program: buffers, strided parts of them, and places in the workspace."""

from __future__ import annotations

import functools

from aesara.ir.expr import Expr, const
from aesara.records import dataclass

__all__ = ["COMPLEX_OF", "ITEM_SIZES", "Buffer", "Operand", "Slot", "longest"]

#: bytes of one element in memory
ITEM_SIZES = {
    "bool": 1,
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": 2,
    "float32": 4,
    "float64": 8,
}

#: complex dtype by the dtype of its parts
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}


def longest(dtype: str, ndim: int) -> int:
    """The greatest length that a dimension of an array may have.

    The product of the lengths but those that are 0, and of the size of an element, fits into a signed word of 64 bits.
    A vector takes memory, of which no machine has so much.

    Examples
    --------
    >>> longest("float64", 2) == 2**60 - 1
    True
    """
    return min((2**63 - 1) // ITEM_SIZES[dtype], 2**63 - 1 if ndim > 1 else 2**62)


@dataclass(frozen=True)
class Buffer:
    """A block of memory: `name`, `dtype`, and its shape in sizes of the program.

    `is_complex`: outside of the program it is an array of complex numbers; the last dimension, of length 2, holds
    their real and imaginary parts.
    """

    name: str
    dtype: str
    shape: tuple[Expr, ...]
    is_complex: bool = False

    @property
    def outer_dtype(self) -> str:
        """The dtype of the ndarray that holds this memory."""
        return COMPLEX_OF[self.dtype] if self.is_complex else self.dtype

    @property
    def outer_shape(self) -> tuple[Expr, ...]:
        """The shape of the ndarray that holds this memory."""
        return self.shape[:-1] if self.is_complex else self.shape

    @property
    def bytes(self) -> Expr:
        """The size of this memory."""
        return functools.reduce(lambda a, b: a * b, self.shape, const(ITEM_SIZES[self.dtype]))


@dataclass(frozen=True)
class Operand:
    """An array inside a buffer: element offset, and the strides of leading dimensions in elements."""

    buffer: str
    offset: Expr
    strides: tuple[Expr, ...] = ()

    def expressions(self) -> tuple[Expr, ...]:
        """Offset and strides."""
        return self.offset, *self.strides


@dataclass(frozen=True)
class Slot:
    """A place in the workspace of `size` bytes.  `late`: the size is known only in the course of the program."""

    size: Expr
    late: bool
