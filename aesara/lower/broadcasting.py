"""Broadcasting where lengths of 1 are found at run time: the common shape, and the index along each operand."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader
from aesara.lower.context import Context


def broadcast_shape(
    shapes: Sequence[Sequence[Expr]], kind: type[Exception], what: str, node: Apply, context: Context
) -> tuple[tuple[Expr, ...], list[object]]:
    """The common shape of operands, and its checks; a length of 1, known or not, is broadcast as in NumPy.

    `what` are the operands, for the message of the error.
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
            message = f"shape mismatch: {what} have sizes {{0}} and {{1}} along one dimension."
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


def index_along(index: Expr, size: Expr, whole: Expr, context: Context) -> Expr:
    """The index along one dimension of an operand of length `size`, in a region of length `whole`."""
    if size is ONE:
        return ZERO
    if context.same_size(size, whole):
        return index
    return stretched_index(index, size)


def stretched_index(index: Expr, size: Expr) -> Expr:
    """The index along a dimension that is broadcast if its length turns out to be 1.

    A step of 0 or 1, which loops can be made for, rather than a choice in every iteration.
    """
    return index * primitive("select", primitive("eq", size, ONE), ZERO, ONE)


def index_of(index: Index, shape: Sequence[Expr], whole: Sequence[Expr], context: Context) -> Index:
    """The index into an operand of shape `shape`, from one into what it is broadcast to."""
    lead = len(whole) - len(shape)
    return tuple(index_along(index[lead + d], n, whole[lead + d], context) for d, n in enumerate(shape))


def expands_along(flags: Sequence[bool]) -> bool:
    """Whether elements of what is broadcast along these axes are read again in inner loops.

    Those that only the trailing axes read again are hoisted out of their loops.
    """
    varying = [axis for axis, is_broadcast in enumerate(flags) if not is_broadcast]
    return bool(varying) and any(flags[: varying[-1]])


def stretched(
    array: Array, shape: Sequence[Expr], static: Sequence[int | None], what: str, guards: Sequence[object],
    node: Apply, context: Context,
) -> Array:  # fmt: skip
    """An array broadcast to a shape that has at least its dimensions.

    `static` is the array's static shape; `what` is the operation, for the message of the error.
    """
    checks = list(guards)
    lead = len(shape) - array.ndim
    own: list[Expr | None] = []  # for each dimension of the array: ONE, its size if that may be 1, None if it is not
    for d, size in enumerate(array.shape):
        wanted = shape[lead + d]
        if static[d] == 1:
            own.append(ONE)
        elif context.same_size(size, wanted):
            own.append(None)
        else:
            message = f"{what}: dimension {lead + d} of the result has size {{0}}, but the value has size {{1}}."
            fits = primitive("eq", wanted, size) | primitive("eq", size, ONE)
            checks += context.guard(fits, ValueError, message, node, [wanted, size])
            own.append(size)

    def along(d: int, moving: Expr) -> Expr:
        size = own[d]
        if size is None:
            return moving
        return ZERO if size is ONE else stretched_index(moving, size)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(along(d, i) for d, i in enumerate(index[lead:])))

    def strided(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return offset, (ZERO,) * lead + tuple(along(d, step) for d, step in enumerate(strides))

    expands = expands_along([True] * lead + [size is ONE for size in own])
    return Pointwise(array.dtype, shape, (array,), body, 0, [expands], checks, strided)
