"""Broadcasting with lengths that may be 1 at run time: the common shape, and indices into operands."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader
from aesara.lower.context import Context


def broadcast_shape(
    shapes: Sequence[Sequence[Expr]], kind: type[Exception], operands: str, node: Apply, context: Context
) -> tuple[tuple[Expr, ...], list[object]]:
    """Return the broadcast shape of operands, and the checks that they are compatible.

    `operands` describes them in the error message.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    common: list[Expr] = []
    guards: list[object] = []
    for d in range(rank):
        size: Expr = ONE
        for shape in shapes:
            k = d - (rank - len(shape))
            if k < 0 or shape[k] is ONE or context.same_size(size, shape[k]):
                continue
            other = shape[k]
            if size is ONE:
                size = other
                continue
            message = f"shape mismatch: {operands} have sizes {{0}} and {{1}} along one dimension."
            fits = primitive("eq", size, other) | primitive("eq", other, ONE)
            if not size.is_const:
                fits = fits | primitive("eq", size, ONE)
            guards += context.guard(fits, kind, message, node, [size, other])
            if other.is_const:
                size = other
            elif not size.is_const:
                size = primitive("select", primitive("eq", size, ONE), other, size)
        common.append(size)
    return tuple(common), guards


def operand_index_along(index: Expr, size: Expr, whole: Expr, context: Context) -> Expr:
    """Return the index along a dimension of length `size` that is broadcast to length `whole`."""
    if size is ONE:
        return ZERO
    if context.same_size(size, whole):
        return index
    return broadcast_index(index, size)


def broadcast_index(index: Expr, size: Expr) -> Expr:
    """Return the index along a dimension that is broadcast if its length is 1 at run time.

    The factor of 0 or 1 is a stride, which can be hoisted from loops; a `select` of the index could not.
    """
    return index * primitive("select", primitive("eq", size, ONE), ZERO, ONE)


def operand_index(index: Index, shape: Sequence[Expr], whole: Sequence[Expr], context: Context) -> Index:
    """Return the index into an operand of shape `shape` that is broadcast to shape `whole`."""
    lead = len(whole) - len(shape)
    return tuple(operand_index_along(index[lead + d], n, whole[lead + d], context) for d, n in enumerate(shape))


def expands_along(flags: Sequence[bool]) -> bool:
    """Return whether elements of an operand that is broadcast along these axes are read repeatedly.

    Loads that are invariant in the innermost loops are hoisted, so trailing axes do not count.
    """
    varying = [axis for axis, is_broadcast in enumerate(flags) if not is_broadcast]
    return bool(varying) and any(flags[: varying[-1]])


def broadcast_array(
    array: Array, shape: Sequence[Expr], static: Sequence[int | None], name: str, guards: Sequence[object],
    node: Apply, context: Context,
) -> Array:  # fmt: skip
    """Broadcast an array to a shape with at least as many dimensions.

    `static` is the static shape of the array; `name` is the operation, for the error message.
    """
    checks = list(guards)
    lead = len(shape) - array.ndim
    lengths: list[Expr | None] = []  # ONE, a size that may be 1, or None if the dimension is not broadcast
    for d, size in enumerate(array.shape):
        wanted = shape[lead + d]
        if static[d] == 1:
            lengths.append(ONE)
        elif context.same_size(size, wanted):
            lengths.append(None)
        else:
            message = f"{name}: dimension {lead + d} of the result has size {{0}}, but the value has size {{1}}."
            fits = primitive("eq", wanted, size) | primitive("eq", size, ONE)
            checks += context.guard(fits, ValueError, message, node, [wanted, size])
            lengths.append(size)

    def along(d: int, index: Expr) -> Expr:
        size = lengths[d]
        if size is None:
            return index
        return ZERO if size is ONE else broadcast_index(index, size)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(along(d, i) for d, i in enumerate(index[lead:])))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return offset, (ZERO,) * lead + tuple(along(d, step) for d, step in enumerate(strides))

    expands = expands_along([True] * lead + [size is ONE for size in lengths])
    return Pointwise(array.dtype, shape, (array,), body, 0, [expands], checks, restride)
