"""Lowering of ops that extract, create and fill diagonals."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ZERO, Array, Assembled, Index, Pointwise, Reader, Write, literal
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag, FillDiagonal, FillDiagonalOffset

#: offset of a diagonal beyond the end of any matrix
_FAR = 2**62


@lower_op.register
def _extract_diag(op: ExtractDiag, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    rows, columns = op.axis1 % array.ndim, op.axis2 % array.ndim
    down, right = const(max(0, -op.offset)), const(max(0, op.offset))
    if abs(op.offset) > _FAR:
        down, right = const(_FAR), ZERO
    length = primitive("minimum", array.shape[rows] - down, array.shape[columns] - right)
    if op.offset:
        length = primitive("maximum", length, ZERO)
    others = [d for d in range(array.ndim) if d not in (rows, columns)]

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        position = dict(zip(others, index[:-1], strict=True))
        position[rows] = index[-1] + down
        position[columns] = index[-1] + right
        return readers[0](tuple(position[d] for d in range(array.ndim)))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        offset = offset + down * strides[rows]
        offset = offset + right * strides[columns]
        return offset, (*[strides[d] for d in others], strides[rows] + strides[columns])

    shape = [*[array.shape[d] for d in others], length]
    return [Pointwise(array.dtype, shape, (array,), body, 0, strided=restride)]


@lower_op.register
def _alloc_diag(op: AllocDiag, node: Apply, context: Context) -> Sequence[Array]:
    diagonals = context.array(node.inputs[0])
    distance = min(abs(op.offset), _FAR)
    size = diagonals.shape[-1] + distance
    down, right = const(distance if op.offset < 0 else 0), const(distance if op.offset > 0 else 0)
    first, second = sorted((op.axis1, op.axis2))

    def arrange(leading: Sequence[Expr], row: Expr, column: Expr) -> tuple[Expr, ...]:
        entries = list(leading)
        entries.insert(first, row if first == op.axis1 else column)
        entries.insert(second, column if second == op.axis2 else row)
        return tuple(entries)

    def position(index: Index, readers: Sequence[Reader]) -> Index:
        return arrange(index[:-1], index[-1] + down, index[-1] + right)

    shape = arrange(diagonals.shape[:-1], size, size)
    zeros = context.add(literal(0, diagonals.dtype, shape))
    write = Write(diagonals.shape, (diagonals,), position, lambda index, readers: readers[0](index))
    return [Assembled(diagonals.dtype, shape, zeros, [write])]


@lower_op.register
def _fill_diagonal(op: FillDiagonal, node: Apply, context: Context) -> Sequence[Array]:
    array, value = (context.array(v) for v in node.inputs)
    guards: list[object] = []
    if array.ndim > 2:
        for d, size in enumerate(array.shape[1:], 1):
            message = (
                f"All dimensions of input must be of equal length: dimension 0 has {{0}}, dimension {d} has {{1}}."
            )
            guards += context.require_equal(array.shape[0], size, ValueError, message, node)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        on_diagonal = functools.reduce(lambda a, b: a & b, [primitive("eq", index[0], i) for i in index[1:]])
        return primitive("select", on_diagonal, readers[1](()), readers[0](index))

    return [Pointwise(array.dtype, array.shape, (array, value), body, array.ndim, [False, True], guards)]


@lower_op.register
def _fill_diagonal_offset(op: FillDiagonalOffset, node: Apply, context: Context) -> Sequence[Array]:
    array, value = (context.array(v) for v in node.inputs[:2])
    offset = context.size_from(context.array(node.inputs[2]))

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        on_diagonal = primitive("eq", index[1] - index[0], offset)
        return primitive("select", on_diagonal, readers[1](()), readers[0](index))

    return [Pointwise(array.dtype, array.shape, (array, value), body, 3, [False, True])]
