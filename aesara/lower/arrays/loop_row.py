"""Rows of arrays that the body of a loop reads."""

from __future__ import annotations

from aesara.ir.expr import Expr
from aesara.lower.arrays.base import Array
from aesara.records import dataclass

__all__ = ["LoopRow"]


@dataclass(frozen=True)
class LoopRow:
    """Buffer `name` of a loop's body: row `first + step` of `array` (modulo the length of a ring), or all of it (None).

    `spacing` is the offset of the row of step 0 and the distance between rows of successive steps, in elements.
    """

    name: str
    array: Array
    first: int | None
    shape: tuple[Expr, ...]
    spacing: tuple[Expr, Expr] | None = None
