"""Sequential reductions by any scalar op, and accumulations along an axis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.ir.expr import Expr, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, For, Statement
from aesara.lower.arrays import ONE, ZERO, Array, Index, Reader, Sequential, Writer, loops_over

#: from the accumulator and an element to the new accumulator
Combine = Callable[[Expr, Expr], Expr]
#: from readers of the operands, the previous result, its index and the current index to the current result
Step = Callable[[Sequence[Reader], Expr, Index, Index], Expr]


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
        return loops_over(kept, array.shape, (Declare("r0", first), *loop, store), independent=True)

    return Sequential(array.dtype, [array.shape[d] for d in kept], (array,), body, requires=requires)


def accumulate(
    operands: Sequence[Array], axis: int, step: Step, backwards: bool = False, requires: Sequence[object] = ()
) -> Array:
    """Compute each entry along an axis from the one before; the first is that of the last operand.

    Along the last axis a register carries the entry; along others each row is computed from the row before.
    """
    terms = operands[-1]
    loops = tuple(var(f"v{d}") for d in range(terms.ndim))
    size, counter = terms.shape[axis], loops[axis]
    steps, after = size - ONE, counter + ONE

    def at(position: Expr) -> Index:
        return (*loops[:axis], position, *loops[axis + 1 :])

    start = at(steps if backwards else ZERO)
    previous, current = map(at, (steps - counter, steps - after) if backwards else (counter, after))

    def in_register(readers: Sequence[Reader], write: Writer) -> tuple[Statement, ...]:
        value = var("r0", terms.dtype)
        advance = Assign("r0", step(readers, value, previous, current))
        following = For(f"v{axis}", steps, (advance, write(current, value)))
        whole = (Declare("r0", readers[-1](start)), write(start, value), following)
        return (For("r1", primitive("minimum", size, ONE), whole),)

    def in_memory(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        def row(index: Index, value: Expr) -> tuple[Statement, ...]:
            return loops_over(range(axis + 1, terms.ndim), terms.shape, (write(index, value),), parallel=True)

        first = For("r0", primitive("minimum", size, ONE), row(start, readers[-1](start)))
        return (first, For(f"v{axis}", steps, row(current, step(readers, read(previous), previous, current))))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        is_last = axis == terms.ndim - 1
        statements = in_register(readers, write) if is_last else in_memory(readers, read, write)
        return loops_over(range(axis), terms.shape, statements, independent=True)

    return Sequential(terms.dtype, terms.shape, operands, body, requires)
