"""Sequential reductions by any scalar op."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.ir.expr import Expr, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, Statement
from aesara.lower.arrays import ZERO, Array, Index, Reader, Sequential, Writer, loops_over

#: from the accumulator and an element to the new accumulator
Combine = Callable[[Expr, Expr], Expr]


def fold(
    array: Array, axes: Sequence[int], combine: Combine, identity: Expr | None, requires: Sequence[object] = ()
) -> Array:
    """Reduce an array over axes, in row-major order.

    Without `identity` the first element is the initial value, and axes must not be empty.
    """
    loops = tuple(var(f"v{d}") for d in range(array.ndim))
    kept = [d for d in range(array.ndim) if d not in axes]
    total = var("r0", array.dtype)

    def start(index: Index) -> Index:
        return tuple(ZERO if d in axes else i for d, i in enumerate(index))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        element = readers[0](loops)
        value = combine(total, element)
        first = identity
        if first is None:
            first = readers[0](start(loops))
            is_first = functools.reduce(lambda a, b: a & b, [primitive("eq", loops[d], ZERO) for d in axes])
            value = primitive("select", is_first, element, value)
        loop = loops_over(axes, array.shape, (Assign("r0", value),))
        store = write(tuple(loops[d] for d in kept), total)
        return loops_over(kept, array.shape, (Declare("r0", first), *loop, store))

    return Sequential(array.dtype, [array.shape[d] for d in kept], (array,), body, requires=requires)
