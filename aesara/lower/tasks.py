"""Tasks: the share of one stored array in a loop nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aesara.ir.expr import Expr, linear_offset, var
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.lower.arrays import Array

__all__ = ["LOOP", "Task", "own_element"]

#: the variables of the loops of a nest, from the outermost in
LOOP = tuple(var(f"v{d}") for d in range(64))


@dataclass(eq=False)
class Task:
    """One stored array's share of a loop nest.

    kind ``map``: buffer[offset] = value; ``reduce``: over the loops in `axes`; ``write``: stores to computed places.
    Expressions use the variables `LOOP` of the loops over `domain`.  A `prologue` fills the target before the nest
    starts.  A write goes to different places along its `distinct` axes; if it is not `parallel`, it has a nest of its
    own or shares one with such writes.
    """

    kind: str
    target: Array
    domain: tuple[Expr, ...]
    value: Expr
    offset: Expr
    axes: tuple[int, ...] = ()
    primitive: str = ""
    identity: Expr | None = None
    accumulate: bool = False
    parallel: bool = True
    distinct: frozenset[int] = frozenset()
    prologue: Task | None = None


def own_element(domain: tuple[Expr, ...]) -> Expr:
    """The offset of the element of the current iteration over `domain`."""
    return linear_offset(LOOP[: len(domain)], domain)
