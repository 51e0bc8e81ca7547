"""Materialized complex arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aesara.ir.expr import const, linear_offset
from aesara.lower.arrays.base import Array
from aesara.lower.tasks import LOOP, Task

if TYPE_CHECKING:
    from aesara.lower.schedule.tracing import Tracer

__all__ = ["Interleaved"]


class Interleaved(Array):
    """A complex array in memory, with `real` and `imag` interleaved; one loop writes both."""

    __slots__ = ("imag", "real")
    is_elementwise = True
    is_interleaved = True
    may_be_result = True

    def __init__(self, real: Array, imag: Array) -> None:
        super().__init__(real.dtype, (*real.shape, const(2)))
        self.real, self.imag = real, imag
        self.is_complex = True

    def reads(self) -> list[tuple[Array, bool]]:
        return [(self.real, False), (self.imag, False)]

    def tasks(self, tracer: Tracer) -> Iterator[Task]:
        shape = tracer.shape(self)
        domain = shape[:-1]
        loops = LOOP[: len(domain)]
        for k, part in enumerate((self.real, self.imag)):
            (value,) = tracer.canonical([tracer.read(part, loops)])
            yield Task("map", self, domain, value, linear_offset((*loops, const(k)), shape))
