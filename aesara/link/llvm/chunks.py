"""Classification of long loops, which run in chunks with checks for signals between them."""

from __future__ import annotations

from aesara.ir.expr import walk
from aesara.ir.kernel import Assign, Declare, For, Kernel, Statement, expressions_of, walk_statements
from aesara.ir.work import has_heavy_loops

__all__ = [
    "ELEMENTS",
    "assigned_scalars",
    "has_long_rows",
    "is_long_row",
    "is_over_blocks",
    "is_over_loops",
    "is_watched_in_parts",
    "kernel_per_loop",
    "only_loop",
]

#: number of iterations between checks for signals in nested accumulating loops over elements; a power of two
ELEMENTS = 1 << 20


def assigned_scalars(body: tuple[Statement, ...]) -> set[str]:
    return {s.name for s in walk_statements(body) if isinstance(s, Assign)}


def is_over_blocks(statement: Statement) -> bool:
    """Return whether each iteration of a loop has a block of a long accumulation."""
    return isinstance(statement, For) and any(isinstance(s, For) and s.lanes for s in statement.body)


def _accumulates(loop: For) -> bool:
    """Return whether a loop assigns scalars declared outside of it."""
    inside = {s.name for s in walk_statements(loop.body) if isinstance(s, Declare)}
    return not assigned_scalars(loop.body) <= inside


def is_long_row(statement: Statement) -> bool:
    """Return whether a loop over elements accumulates and has no bound by memory, since it reads no array along it."""
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
    """Return whether a loop accumulates over other loops."""
    return isinstance(statement, For) and any(isinstance(s, For) for s in statement.body) and _accumulates(statement)


def kernel_per_loop(kernel: Kernel) -> list[Kernel]:
    """Return a kernel for each of the outermost loops, if a kernel consists of these, or else the kernel itself."""
    if not all(isinstance(s, For) for s in kernel.body):
        return [kernel]
    return [Kernel(f"{kernel.name}.{k}", kernel.params, (loop,)) for k, loop in enumerate(kernel.body)]


def is_watched_in_parts(kernel: Kernel) -> bool:
    """Return whether a kernel that runs in parts checks for signals in nested loops, since these may be long."""
    loop = only_loop(kernel)
    return has_long_rows(kernel) or (loop is not None and has_heavy_loops(loop))


def has_long_rows(kernel: Kernel) -> bool:
    """Return whether nested loops accumulate and may be long enough to check for signals."""
    inside = [s for one in kernel.body if isinstance(one, For) for s in walk_statements(one.body)]
    return any(is_long_row(s) or is_over_loops(s) for s in inside)


def only_loop(kernel: Kernel) -> For | None:
    """Return the loop that is the whole kernel, if callers may split it: iterations are short or independent, and
    there is no load in its extent."""
    if len(kernel.body) != 1 or not isinstance(kernel.body[0], For):
        return None
    (loop,) = kernel.body
    assert isinstance(loop, For)
    heavy = has_heavy_loops(loop) and not loop.independent
    return None if heavy or any(e.op == "load" for e in walk([loop.extent])) else loop
