"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aesara.ir.expr import Expr, NoComplexForm, linear_offset
from aesara.lower.arrays.base import Array, ElementTracer, Task
from aesara.lower.iteration_space import LOOP

__all__ = ["Reduction", "is_trailing_run"]


class Reduction(Array):
    """Reduction of `operand` over sorted `axes` by the primitive `kind` (add, mul, minimum, maximum, and, or, xor)."""

    __slots__ = ("axes", "identity", "kind", "operand")
    may_be_result = True

    def __init__(
        self, operand: Array, axes: tuple[int, ...], kind: str, identity: Expr, requires: Sequence[object] = ()
    ):
        kept = [n for d, n in enumerate(operand.shape) if d not in axes]
        super().__init__(operand.dtype, kept, requires)
        self.operand, self.axes, self.kind, self.identity = operand, axes, kind, identity

    def split(self) -> tuple[Array, Array]:
        if self.kind != "add":
            raise NoComplexForm(f"reduction by {self.kind}")
        parts = zip(self.operand.parts, self.identity.args, strict=True)
        real, imag = (Reduction(part, self.axes, self.kind, identity, self.requires) for part, identity in parts)
        return real, imag

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.operand, False)]

    def tasks(self, tracer: ElementTracer) -> Iterator[Task]:
        domain = tracer.shape(self.operand)
        loops = LOOP[: len(domain)]
        kept = [d for d in range(len(domain)) if d not in self.axes]
        (value,) = tracer.canonical([tracer.read(self.operand, loops)])
        shape = tuple(domain[d] for d in kept)
        offset = linear_offset([loops[d] for d in kept], shape)
        task = Task("reduce", self, domain, value, offset, self.axes, primitive=self.kind, identity=self.identity)
        if not is_trailing_run(self.axes, len(domain)):
            task.prologue = Task("map", self, shape, self.identity, linear_offset(LOOP[: len(shape)], shape))
        yield task


def is_trailing_run(axes: tuple[int, ...], rank: int) -> bool:
    """Return whether the (sorted) axes are exactly the last ones, so that the accumulator can be a register."""
    return axes == tuple(range(rank - len(axes), rank))
