"""Transposition, insertion and removal of dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader

__all__ = ["with_dimensions"]


def with_dimensions(array: Array, order: Sequence[int | None]) -> Array:
    """Return a strided view with dimensions in the given order; None is a new dimension of size 1.

    Dimensions that are left out must have size 1.
    """
    if list(order) == list(range(array.ndim)):
        return array
    back = {d: k for k, d in enumerate(order) if d is not None}

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(index[back[d]] if d in back else ZERO for d in range(array.ndim)))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return offset, tuple(ZERO if d is None else strides[d] for d in order)

    shape = [ONE if d is None else array.shape[d] for d in order]
    return Pointwise(array.dtype, shape, (array,), body, 0, strided=restride)
