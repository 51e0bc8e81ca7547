"""Lowering of linear recurrences: loops that carry the last value in a register or in memory."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, For, Statement
from aesara.lower.arrays import ONE, ZERO, Array, Index, Reader, Sequential, Writer, loops_over
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported
from aesara.tensor.sequences.recurrence import LinearRecurrence


@lower_op.register
def _linear_recurrence(op: LinearRecurrence, node: Apply, context: Context) -> Sequence[Array]:
    factors, terms = (context.array(v) for v in node.inputs)
    if terms.dtype == "bool":
        raise Unsupported("a recurrence of booleans")
    guards: list[object] = []
    message = "LinearRecurrence: the factors have size {0} in a dimension, the terms {1}."
    for of_a, of_b in zip(factors.shape, terms.shape, strict=True):
        guards += context.require_equal(of_a, of_b, ValueError, message, node)
    return [_recurrence(factors, terms, op.axis, op.backwards, guards)]


def _recurrence(factors: Array, terms: Array, axis: int, backwards: bool, guards: Sequence[object]) -> Array:
    """Return the recurrence along an axis."""
    size = terms.shape[axis]
    loops = tuple(var(f"v{d}") for d in range(terms.ndim))
    one_less = size - ONE
    counter = loops[axis]
    after = counter + ONE
    start = one_less if backwards else ZERO
    last = one_less - counter if backwards else counter
    current = one_less - after if backwards else after
    # A backward step has the factor of the forward step between the same elements.
    of_factor = last if backwards else current

    def at(position: Expr) -> Index:
        return (*loops[:axis], position, *loops[axis + 1 :])

    def step(readers: Sequence[Reader], previous: Expr) -> Expr:
        return readers[0](at(of_factor)) * previous + readers[1](at(current))

    def in_register(readers: Sequence[Reader], write: Writer) -> tuple[Statement, ...]:
        value = var("r0", terms.dtype)
        move = Assign("r0", step(readers, value))
        following = For(f"v{axis}", one_less, (move, write(at(current), value)))
        first = (Declare("r0", readers[1](at(start))), write(at(start), value), following)
        return (For("r1", primitive("minimum", size, ONE), first),)

    def in_memory(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        def row(index: Index, value: Expr) -> tuple[Statement, ...]:
            return loops_over(range(axis + 1, terms.ndim), terms.shape, (write(index, value),), parallel=True)

        first = For("r0", primitive("minimum", size, ONE), row(at(start), readers[1](at(start))))
        return (first, For(f"v{axis}", one_less, row(at(current), step(readers, read(at(last))))))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        inner = axis == terms.ndim - 1
        statements = in_register(readers, write) if inner else in_memory(readers, read, write)
        return loops_over(range(axis), terms.shape, statements)

    return Sequential(terms.dtype, terms.shape, (factors, terms), body, requires=guards)
