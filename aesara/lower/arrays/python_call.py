"""Nodes that run in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aesara.ir.buffers import Buffer
from aesara.ir.expr import Expr
from aesara.ir.steps import PythonCall, Step
from aesara.lower.arrays.base import Array, Item, ProgramBuilder
from aesara.lower.arrays.producer import Producer, ProducerResult
from aesara.lower.sizes import SizeFacts

__all__ = ["External", "PythonNode"]


class PythonNode(Producer):
    """A call of the Python implementation of a node."""

    __slots__ = ("index",)
    kind = "python"

    def __init__(self, index: int, operands: Sequence[Array]) -> None:
        super().__init__(operands)
        self.index = index

    def is_needed(self, needed: set[Item]) -> bool:
        """Return whether a result is read, or possibly the size of one."""
        return bool(self.defines()) or any(r in needed for r in self.results)

    def defines(self) -> list[str]:
        return [n.attr for result in self.results for n in result.shape if n.op == "var"]

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        def buffer(array: Array, shape: tuple[Expr, ...]) -> Buffer:
            return Buffer(builder.buffer_name(array), array.dtype, shape, array.has_pairs)

        operands = tuple(buffer(a, builder.shape(a)) for a in self.operands)
        yield PythonCall(self.index, operands, tuple(buffer(a, a.shape) for a in self.results))

    def space(self, sizes: SizeFacts) -> tuple[Expr, ...]:
        return ()


class External(ProducerResult):
    """A result of a `PythonNode`; the node defines its sizes when it runs."""

    __slots__ = ()
    is_made_here = False
    is_allocated = False
