"""Padding of arrays with a constant."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr
from aesara.lower.arrays import Array, Assembled, Index, Reader, Write, literal

__all__ = ["pad"]


def pad(
    array: Array,
    before: Sequence[Expr],
    shape: Sequence[Expr],
    fill: float | int | bool = 0,
    requires: Sequence[object] = (),
) -> Array:
    """Pad an array to the given shape, with `before` elements in front of it along each of the last dimensions."""
    lead = array.ndim - len(before)

    def position(index: Index, readers: Sequence[Reader]) -> Index:
        return (*index[:lead], *(i + n for i, n in zip(index[lead:], before, strict=True)))

    write = Write(array.shape, (array,), position, lambda index, readers: readers[0](index))
    return Assembled(array.dtype, shape, literal(fill, array.dtype, shape), [write], requires)
