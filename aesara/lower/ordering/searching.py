"""Lowering of searches in sorted vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Assign, Declare, For, If, Statement, While
from aesara.ir.lanes import identity_of
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Reader, Sequential, Writer
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import check_dtype
from aesara.lower.ranges import require_range
from aesara.lower.reductions.careduce import convert
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.ordering.searching import SearchsortedOp

#: number of values in a block, and length of vectors up to which the block is not narrowed first
_BLOCK, _SHORT = 128, 64


def sorts_before(a: Expr, b: Expr) -> Expr:
    """Return whether a precedes b in the order of NumPy, where NaN is the largest number."""
    if not a.dtype.startswith("float"):
        return a < b
    only_b = primitive("isnan", b) & ~primitive("isnan", a)
    return (a < b) | only_b


@lower_op.register
def _searchsorted(op: SearchsortedOp, node: Apply, context: Context) -> Sequence[Array]:
    vector, values, *sorters = (context.array(v) for v in node.inputs)
    dtype = np.result_type(vector.dtype, values.dtype).name
    check_dtype(dtype)
    dtype = "int8" if dtype == "bool" else dtype
    operands = [convert(vector, dtype), convert(values, dtype), *sorters]
    size = vector.shape[0]
    guards: list[object] = []
    if sorters:
        (sorter,) = sorters
        message = "sorter.size must equal a.size: they are {0} and {1}."
        guards += context.require_equal(sorter.shape[0], size, ValueError, message, node)
        message = "Sorter index out of range: {3} for a vector of {2} entries."
        guards += require_range(sorter, ZERO, size, ValueError, message, node, context)

    return [sorted_positions(context, operands, op.side, guards)]


def sorted_positions(context: Context, operands: Sequence[Array], side: str, guards: Sequence[object] = ()) -> Array:
    """Return the insertion positions of values in a sorted vector: before equal entries ("left"), or after them.

    Parameters
    ----------
    operands
        The vector, the values, of the same dtype, and optionally a permutation that sorts the vector.
    side
        "left" or "right".
    guards
        Checks that must pass first.
    """
    vector, values, *_ = operands = list(operands)
    flat = values
    if values.ndim != 1:
        flat = operands[1] = context.add(Alias(context.add(flat), (count_of(values.shape),)))
    number = flat.shape[0]

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        return _BlockSearch(vector, number, side == "left", readers, read, write).statements()

    positions = Sequential("int64", flat.shape, operands, body, guards)
    return positions if values.ndim == 1 else Alias(context.add(positions), values.shape)


class _BlockSearch:
    """A bisection for a block of values in lockstep, so that the loop over values vectorizes.

    The result holds the lower bounds meanwhile.
    """

    def __init__(
        self, vector: Array, number: Expr, left: bool, readers: Sequence[Reader], read: Reader, write: Writer
    ) -> None:
        self.size, self.dtype, self.left = vector.shape[0], vector.dtype, left
        self.number, self.readers, self.read, self.write = number, readers, read, write
        self.start = var("v0") * _BLOCK
        self.index = (self.start + var("v1"),)
        self.value = readers[1](self.index)
        #: first position and length of the range of the vector that holds the results of the block
        self.first, self.count = var("r0"), var("r1")

    def statements(self) -> tuple[Statement, ...]:
        first, count, half = self.first, self.count, primitive("shr", self.count, ONE)
        low = self.read(self.index)
        block = (
            Declare(first.attr, ZERO), Declare(count.attr, self.size),
            If(self.size > _SHORT, self._narrow()),
            self._for_each(self.write(self.index, first)),
            While(count > ONE, (
                self._for_each(self.write(self.index, self._bisect(low, self.value, half))),
                Assign(count.attr, count - half),
            )),
            If(count > ZERO, (self._for_each(self.write(self.index, self._finish(low, self.value))),)),
        )  # fmt: skip
        blocks = (self.number + (_BLOCK - 1)) // _BLOCK
        return (For("v0", blocks, block),)

    def _narrow(self) -> tuple[Statement, ...]:
        """Bound the search by the positions of the smallest and largest value of the block."""
        value = self.value
        low, high, end, left = var("r2", self.dtype), var("r3", self.dtype), var("r4"), var("r5")
        half, bound, numbers = primitive("shr", left, ONE), identity_of("minimum", self.dtype), value
        if self.dtype.startswith("float"):
            numbers = primitive("select", primitive("isnan", value), bound, value)
        ends = ((self.first, low), (end, high))
        return (
            Declare(low.attr, bound), Declare(high.attr, identity_of("maximum", self.dtype)),
            self._for_each(
                Assign(low.attr, primitive("minimum", low, numbers), reassociate=True),
                Assign(high.attr, primitive("maximum", high, value), reassociate=True),
            ),
            Declare(end.attr, ZERO), Declare(left.attr, self.size),
            While(left > ONE, (
                *(Assign(edge.attr, self._bisect(edge, extreme, half)) for edge, extreme in ends),
                Assign(left.attr, left - half),
            )),
            *(Assign(edge.attr, self._finish(edge, extreme)) for edge, extreme in ends),
            Assign(self.count.attr, end - self.first),
        )  # fmt: skip

    def _precedes(self, position: Expr, value: Expr) -> Expr:
        """Return whether the result for a value is after a position."""
        is_permuted = len(self.readers) > 2
        entry = self.readers[0]((cast(self.readers[2]((position,)), "int64") if is_permuted else position,))
        return sorts_before(entry, value) if self.left else ~sorts_before(value, entry)

    def _bisect(self, first: Expr, value: Expr, half: Expr) -> Expr:
        """Return the first position of the half of a range that holds the result."""
        middle = first + half
        return primitive("select", self._precedes(middle - ONE, value), middle, first)

    def _finish(self, first: Expr, value: Expr) -> Expr:
        """Return the result, given a range of one position."""
        return first + cast(self._precedes(first, value), "int64")

    def _for_each(self, *statements: Statement) -> For:
        """Run statements for each value of the block."""
        extent = primitive("minimum", const(_BLOCK), self.number - self.start)
        return mark_parallel(For("v1", extent, statements))
