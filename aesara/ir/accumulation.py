"""Accumulating loops in two kernels: partial results, whose iterations are independent, and their combination.

Several threads may run the first kernel, and the result has the same bits whatever their number.

A reduction to a number is a loop over blocks, each of which computes partial results and adds them to totals at its
end. The partial results of blocks are stored instead::

    let r0 = 0.0                              kernel partials:
    for vb < blocks:                              independent for vb < blocks:
        let r0b = 0.0                                 let r0b = 0.0
        for vi < ...: r0b = r0b + ...                 for vi < ...: r0b = r0b + ...
        r0 = r0 + r0b                                 p0[vb] = r0b
    b1[0] = r0
                                              kernel combination:
                                                  let r0 = 0.0
                                                  for vb < blocks: r0 = r0 + p0[vb]
                                                  b1[0] = r0

A reduction of each column of a matrix adds rows to a row of results. Each block of rows gets a row of its own, and long
rows are divided into strips, which stay in the processor's cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence

from aesara.ir.expr import Expr, const, load, op, substitute, var, walk
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    Kernel,
    Statement,
    Store,
    expressions_of,
    map_expressions,
    walk_statements,
)
from aesara.ir.lanes import ACCUMULATIONS
from aesara.records import dataclass

__all__ = ["SplitAccumulation", "split_accumulation"]

#: least number of rows in a block, maximum number of blocks of rows, and number of columns in a strip
_ROWS, _BLOCKS_OF_ROWS, _COLUMNS = 256, 64, 4096


@dataclass(frozen=True)
class SplitAccumulation:
    """An accumulating loop in two kernels, which take the parameters of the one, and then buffers of partial results.

    Attributes
    ----------
    partials, combination
        The kernels. The first consists of a loop.
    blocks
        Number of blocks, in the parameters of the kernels, as are the other sizes.
    elements
        Number of elements of each buffer of partial results.
    buffers
        Number of these buffers.
    results
        Parameters of buffers that can take the place of those of partial results if there is one block: no combination
        is needed then. Empty if there are none.
    """

    partials: Kernel
    combination: Kernel
    blocks: Expr
    elements: Expr
    buffers: int
    results: tuple[str, ...] = ()

    @property
    def loop(self) -> For:
        """The loop of the first kernel over blocks."""
        (loop,) = self.partials.body
        assert isinstance(loop, For)
        return loop

    @property
    def loop_over_strips(self) -> For | None:
        """The loop over strips of a block; None if blocks are not divided."""
        (strip, *others) = self.loop.body
        return strip if not others and isinstance(strip, For) and strip.independent else None

    @property
    def has_long_blocks(self) -> bool:
        """True if a block, or a strip of one, takes so long that a call for each of them costs nothing."""
        return not any(isinstance(s, For) and s.lanes for s in self.loop.body)


def split_accumulation(kernel: Kernel) -> SplitAccumulation | None:
    """Split a kernel that accumulates over the iterations of its outer loop; return None for any other kernel."""
    return _split_totals(kernel) or _split_columns(kernel)


def _split_totals(kernel: Kernel) -> SplitAccumulation | None:
    """Split a loop whose iterations are independent but for totals that they assign last."""
    loops = [k for k, s in enumerate(kernel.body) if isinstance(s, For)]
    if len(loops) != 1 or not all(isinstance(s, (For, Declare, Assign, Store)) for s in kernel.body):
        return None
    (at,) = loops
    loop = kernel.body[at]
    assert isinstance(loop, For)
    block, totals = _split_body(loop.body)
    if not loop.independent or not totals or _loads([loop.extent]):
        return None
    local = {s.name: s.value.dtype for s in block if isinstance(s, Declare)}
    inside = {s.name for s in walk_statements(block) if isinstance(s, Declare)}
    assigned = {s.name for s in walk_statements(block) if isinstance(s, Assign)}
    outer = {s.name for s in kernel.body[:at] if isinstance(s, Declare)}
    if not assigned <= inside or _names_read(block) & outer or {s.name for s in totals} & inside:
        return None
    read = _names_read(totals)
    if loop.var in read or not read & inside <= set(local) or any(_loads(expressions_of(s)) for s in totals):
        return None
    partial = {name: (f"p{k}", local[name]) for k, name in enumerate(sorted(read & set(local)))}
    index = var(loop.var)
    stores = tuple(Store(buffer, index, var(name, dtype)) for name, (buffer, dtype) in partial.items())
    values = {var(name, dtype): load(buffer, dtype, index) for name, (buffer, dtype) in partial.items()}
    combine = tuple(_with_replaced(s, values.get) for s in totals)
    first = dataclasses.replace(loop, body=(*block, *stores))
    second = (*kernel.body[:at], For(loop.var, loop.extent, combine), *kernel.body[at + 1 :])
    return _split(kernel, [*partial.values()], first, second, loop.extent, loop.extent)


def _split_columns(kernel: Kernel) -> SplitAccumulation | None:
    """Split a nest that adds the rows of a matrix to rows of results."""
    *fills, rows = kernel.body
    if not isinstance(rows, For) or len(rows.body) != 1 or not isinstance(rows.body[0], For):
        return None
    columns = rows.body[0]
    filled = dict(map(_filled_row, fills))
    width, column = columns.extent, var(columns.var)
    stores = [s for s in columns.body if isinstance(s, Store)]
    others = [s for s in columns.body if not isinstance(s, Store)]
    results = {s.buffer: s for s in stores}
    if (
        None in filled
        or set(filled) != set(results)
        or len(stores) != len(results)
        or not all(isinstance(s, (Declare, Assign)) for s in others)
        or any(isinstance(loop, For) and loop.extent is not width for loop in fills)
        or not all(_adds_to(s, column) for s in stores)
        or _loads([rows.extent, width])
        or _loads([s.value.args[1] for s in stores] + _expressions(others), results)
    ):
        return None

    rows_in_block = op("maximum", const(_ROWS), (rows.extent + (_BLOCKS_OF_ROWS - 1)) // const(_BLOCKS_OF_ROWS))
    blocks = op("maximum", const(1), (rows.extent + rows_in_block - 1) // rows_in_block)
    strips = op("maximum", const(1), (width + (_COLUMNS - 1)) // const(_COLUMNS))
    block, start = var("vk"), var("vs") * const(_COLUMNS)
    names = {buffer: f"p{k}" for k, buffer in enumerate(results)}
    indices = {column: start + column, var(rows.var): block * rows_in_block + var(rows.var)}

    def accumulate(s: Statement) -> Statement:
        if not isinstance(s, Store):
            return _with_replaced(s, indices.get)
        buffer, place = names[s.buffer], block * width + (start + column)
        term = substitute([s.value.args[1]], indices.get, {})[0]
        return Store(buffer, place, op(s.value.op, load(buffer, term.dtype, place), term))

    length = op("minimum", const(_COLUMNS), width - start)
    inner = For(columns.var, length, tuple(map(accumulate, columns.body)), interleave=columns.interleave)
    height = op("minimum", rows_in_block, rows.extent - block * rows_in_block)
    zeros = tuple(
        mark_parallel(For(columns.var, length, (Store(names[b], block * width + (start + column), filled[b]),)))
        for b in results
    )
    strip = For("vs", strips, (*zeros, For(rows.var, height, (mark_parallel(inner),))), independent=True)
    first = For("vk", blocks, (strip,), independent=True)
    added = tuple(_add_row(s, column, names[s.buffer], var("vb") * width + column) for s in results.values())
    second = (*fills, For("vb", blocks, (mark_parallel(For(columns.var, width, added)),)))
    buffers = [(names[b], s.value.dtype) for b, s in results.items()]
    return dataclasses.replace(_split(kernel, buffers, first, second, blocks, blocks * width), results=tuple(results))


def _filled_row(statement: Statement) -> tuple[str | None, Expr]:
    """Return the buffer that a loop fills with a constant, and the constant; None for other statements."""
    if isinstance(statement, For) and len(statement.body) == 1 and isinstance(statement.body[0], Store):
        store = statement.body[0]
        if store.offset is var(statement.var) and store.value.is_const:
            return store.buffer, store.value
    return None, const(0)


def _add_row(store: Store, column: Expr, partial: str, offset: Expr) -> Store:
    """Return the store that adds a partial result to the element of a column."""
    old, term = load(store.buffer, store.value.dtype, column), load(partial, store.value.dtype, offset)
    return Store(store.buffer, column, op(store.value.op, old, term))


def _adds_to(store: Store, column: Expr) -> bool:
    """Return whether a store accumulates a value to the element of a column."""
    e = store.value
    if store.offset is not column or e.op not in ACCUMULATIONS or len(e.args) != 2:
        return False
    old, _ = e.args
    return old.op == "load" and old.attr == store.buffer and old.args[0] is column and not e.dtype.startswith("complex")


def _split(
    kernel: Kernel,
    buffers: Sequence[tuple[str, str]],
    first: For,
    second: tuple[Statement, ...],
    blocks: Expr,
    elements: Expr,
) -> SplitAccumulation:
    buffers = list(buffers)
    written = tuple(BufferParam(name, dtype, True) for name, dtype in buffers)
    read = tuple(BufferParam(name, dtype) for name, dtype in buffers)
    return SplitAccumulation(
        Kernel(f"{kernel.name}p", (*kernel.params, *written), (first,)),
        Kernel(f"{kernel.name}c", (*kernel.params, *read), second),
        blocks,
        elements,
        len(buffers),
    )


def _with_replaced(statement: Statement, change: Callable[[Expr], Expr | None]) -> Statement:
    """Return a statement with expressions replaced where `change` does not return None."""
    return map_expressions(statement, lambda e: substitute([e], change, {})[0])


def _split_body(body: Sequence[Statement]) -> tuple[tuple[Statement, ...], tuple[Assign, ...]]:
    """Split the statements of a loop into those of its block, and the assignments at its end."""
    start = len(body)
    while start and isinstance(body[start - 1], Assign):
        start -= 1
    return tuple(body[:start]), tuple(s for s in body[start:] if isinstance(s, Assign))


def _expressions(body: Sequence[Statement]) -> list[Expr]:
    return list(walk([e for s in walk_statements(tuple(body)) for e in expressions_of(s)]))


def _names_read(body: Sequence[Statement]) -> set[str]:
    """Return the names of the variables and mutable scalars that statements read."""
    return {e.attr for e in _expressions(body) if e.op == "var"}


def _loads(expressions: Sequence[Expr], buffers: Collection[str] | None = None) -> bool:
    """Return whether expressions load from any of these buffers; by default from any at all."""
    return any(e.op == "load" and (buffers is None or e.attr in buffers) for e in walk(expressions))
