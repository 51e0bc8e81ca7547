"""Sequential loops that carry a complex number along axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.ir.expr import Expr, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, Statement
from aesara.lower.arrays import ZERO, Index, Reader, Sequential, Writer, loops_over
from aesara.lower.complex import ComplexArray, split
from aesara.lower.context import Context

__all__ = ["Pair", "carry", "product"]

#: real and imaginary part
Pair = tuple[Expr, Expr]

_CARRIED = ("r0", "r1")


def product(z: Pair, w: Pair) -> Pair:
    """Return the product of two complex numbers."""
    (a, b), (c, d) = z, w
    re = a * c - b * d
    return re, a * d + b * c


def carry(
    operands: Sequence[ComplexArray], axes: Sequence[int], first: Callable[[Sequence[Pair]], Pair],
    step: Callable[[Pair, Sequence[Pair]], Pair], context: Context, start: complex | None = None,
    every: bool = False, position: Callable[[Index], Index] = lambda index: index,
    requires: Sequence[object] = (),
) -> ComplexArray:  # fmt: skip
    """Carry a number along axes of operands of equal shape, in row-major order.

    `first` returns it for the first elements, `step` for the carried number and the next elements.  The result holds
    the last number (`start`, if there are no elements), or each number if `every`.  `position` maps the index of an
    iteration to that of its elements.
    """
    shape, dtype = operands[0].real.shape, operands[0].real.dtype
    loops = tuple(var(f"v{d}") for d in range(len(shape)))
    kept = [d for d in range(len(shape)) if d not in axes]
    state = (var(_CARRIED[0], dtype), var(_CARRIED[1], dtype))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        own = position(loops)
        elements = [(readers[k](own), readers[k + 1](own)) for k in range(0, len(readers), 2)]
        is_first = functools.reduce(lambda a, b: a & b, [primitive("eq", loops[d], ZERO) for d in axes])
        values = zip(first(elements), step(state, elements), strict=True)
        re, im = (primitive("select", is_first, a, b) for a, b in values)
        # compute both parts before the first is assigned
        statements: tuple[Statement, ...] = (Declare("r2", re), Assign("r1", im), Assign("r0", var("r2", dtype)))
        index = own if every else tuple(loops[d] for d in kept)
        stores = tuple(write((*index, const(k)), state[k]) for k in (0, 1))
        if every:
            statements += stores
        initial = complex(start or 0)
        statements = (
            Declare("r0", const(initial.real, dtype)),
            Declare("r1", const(initial.imag, dtype)),
            *loops_over(axes, shape, statements),
            *(() if every else stores),
        )
        return loops_over(kept, shape, statements)

    arrays = [part for operand in operands for part in operand.parts]
    result_shape = shape if every else [shape[d] for d in kept]
    whole = Sequential(dtype, (*result_shape, const(2)), arrays, body, requires=requires)
    return split(context.add(whole))
