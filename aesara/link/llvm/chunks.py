"""Which loops of a kernel take long: those run in chunks, between which signals are looked for."""

from __future__ import annotations

from aesara.ir.expr import walk
from aesara.ir.kernel import Assign, Declare, For, Kernel, Statement, expressions_of, walk_statements
from aesara.ir.work import has_heavy_loops

__all__ = ["ELEMENTS", "assigned", "has_long_rows", "is_long_row", "is_over_blocks", "is_over_loops", "only_loop"]

#: loops over elements that accumulate inside of other loops look for signals after so many rounds, a power of two
ELEMENTS = 1 << 20


def assigned(body: tuple[Statement, ...]) -> set[str]:
    return {s.name for s in walk_statements(body) if isinstance(s, Assign)}


def is_over_blocks(statement: Statement) -> bool:
    """Whether a loop has a block of a long sum, or of something else that is accumulated, in each round."""
    return isinstance(statement, For) and any(isinstance(s, For) and s.lanes for s in statement.body)


def _accumulates(loop: For) -> bool:
    """Whether a loop changes what stands around it."""
    inside = {s.name for s in walk_statements(loop.body) if isinstance(s, Declare)}
    return not assigned(loop.body) <= inside


def is_long_row(statement: Statement) -> bool:
    """Whether a loop over elements accumulates, and memory does not bound its length: it reads no array along it."""
    return (
        isinstance(statement, For)
        and not statement.lanes
        and not (statement.extent.is_const and statement.extent.attr <= ELEMENTS)
        and not any(isinstance(s, For) for s in statement.body)
        and _accumulates(statement)
        and not any(_reads_along(statement.var, s) for s in walk_statements(statement.body))
    )


def _reads_along(variable: str, statement: Statement) -> bool:
    loads = (e for e in walk(expressions_of(statement)) if e.op == "load")
    return any(e.op == "var" and e.attr == variable for e in walk(loads))


def is_over_loops(statement: Statement) -> bool:
    """Whether a loop accumulates over other loops."""
    return isinstance(statement, For) and any(isinstance(s, For) for s in statement.body) and _accumulates(statement)


def has_long_rows(kernel: Kernel) -> bool:
    """Whether loops inside of other loops look for signals, because they accumulate and may take long."""
    inside = [s for one in kernel.body if isinstance(one, For) for s in walk_statements(one.body)]
    return any(is_long_row(s) or is_over_loops(s) for s in inside)


def only_loop(kernel: Kernel) -> For | None:
    """The loop that is all of a kernel, if callers may run it in parts: iterations are short, the length is no load."""
    if len(kernel.body) != 1 or not isinstance(kernel.body[0], For):
        return None
    (loop,) = kernel.body
    assert isinstance(loop, For)
    heavy = has_heavy_loops(loop)
    return None if heavy or any(e.op == "load" for e in walk([loop.extent])) else loop
