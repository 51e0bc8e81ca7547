"""Tasks: loop bodies that compute one stored array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aesara.ir.expr import Expr, linear_offset, var
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.lower.arrays import Array

__all__ = ["LOOP", "Task", "own_element"]

#: loop variables of a nest, from the outermost loop
LOOP = tuple(var(f"v{d}") for d in range(64))


@dataclass(eq=False)
class Task:
    """A loop body that computes one stored array.

    kind ``map``: buffer[offset] = value; ``reduce``: over the loops in `axes`; ``write``: stores to computed positions.
    Expressions use the variables `LOOP` of the loops over `domain`.  A `prologue` fills the target before the nest
    starts.  Iterations along `distinct` axes write to distinct positions; a write that is not `parallel` shares a nest
    only with such writes.
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
    """Return the offset of the element of the current iteration over `domain`."""
    return linear_offset(LOOP[: len(domain)], domain)
